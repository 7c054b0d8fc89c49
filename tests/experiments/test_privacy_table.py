# SPDX-License-Identifier: BSD-3-Clause
"""The privacy table: what is claimed, what is spent, what is told."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from mrforest import MultinomialForestClassifier, PrivateForestClassifier
from mrforest.experiments import privacy_table
from mrforest.experiments.privacy_figure import draw
from mrforest.experiments.privacy_table import claimed_epsilon, public_facts
from mrforest.experiments.protocol import Table
from mrforest.privacy import allocate
from tests.experiments import tables


@pytest.fixture(autouse=True)
def small_data(monkeypatch):
    for module in ("_folds", "privacy_table"):
        name = f"mrforest.experiments.{module}.load_table"
        monkeypatch.setattr(name, tables.tumours)


def fold_tasks(dataset="wdbc", n_trees=5):
    """All models on one fold, with few trees."""
    return [
        {**task, "n_trees": n_trees} if "n_trees" in task else task
        for task in privacy_table.tasks(quick=True, datasets=[dataset])
        if task["fold"] == 0
    ]


@pytest.mark.parametrize("budget", privacy_table.LABEL_BUDGETS)
@pytest.mark.parametrize(("n_trees", "depth"), [(1, 10), (100, 10), (100, 17), (7, 3)])
def test_claims_are_those_of_the_theorem(budget, n_trees, depth):
    budgets = allocate(budget, n_estimators=1, depth=privacy_table.DEPTH)
    # The paper's B1 and B2 beside B3 = 1 are 0.05.
    assert budgets["feature_budget"] == pytest.approx(budget / 20)
    forest = MultinomialForestClassifier(n_trees, max_depth=depth, **budgets)
    report = forest.privacy_report()
    assert report.theorem_epsilon == pytest.approx(
        claimed_epsilon(budget, n_trees, depth)
    )
    assert report.epsilon == np.inf  # and yet nothing holds


def test_tasks_spend_what_the_table_would():
    tasks = pd.DataFrame(privacy_table.tasks())
    assert not tasks.duplicated().any()
    private = tasks[tasks["model"] == "private"]
    assert {0.5, 1, 2, 4, 5, 10, 20, 100, 500, 1000, 2000} == set(private["epsilon"])
    assert set(tasks["model"]) == set(privacy_table.MEASURES)
    assert set(tasks["label_budget"].dropna()) == {1, 5, 10, 20}
    assert tasks["dataset"].unique().tolist() == ["wdbc", "cmc", "connect-4"]


def test_all_models_are_measured_the_same_way_twice():
    tasks = fold_tasks()
    first, second = (tables.measured(privacy_table, tasks) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    best = first.set_index("model")["accuracy"]
    assert best["not private"] > best["majority class"]
    assert first.loc[first["model"] == "private", "accuracy"].max() > 85


def test_a_tree_with_drawn_labels_is_hardly_better_than_a_coin():
    # In a pure leaf of two classes its label is right with probability 0.62.
    (task,) = [
        task
        for task in fold_tasks(n_trees=30)
        if task["model"] == "printed" and task["label_budget"] == 1
    ]
    found = privacy_table.measure(task)
    assert 45 < found["tree_accuracy"] < 66
    quiet = privacy_table.measure({**task, "model": "printed, majorities"})
    assert quiet["tree_accuracy"] > found["tree_accuracy"] + 10


def test_public_facts_are_bounds_and_lists(monkeypatch):
    X = np.array([[0.5, 1, 2], [np.nan, 7, 0], [2.5, 3, np.nan]])
    table = Table(X, np.array([False, False, True]), np.array([0, 2, 1]))
    monkeypatch.setattr(privacy_table, "load_table", lambda name: table)
    facts = public_facts("made up")
    assert facts == {
        "bounds": {0: (0.5, 2.5), 1: (1, 7)},
        "categories": {2: [0, 1, 2]},
        "classes": [0, 1, 2],
    }
    assert isinstance(facts["bounds"][1][0], int)  # whole numbers only
    PrivateForestClassifier(1.0, **facts).fit(X, table.y)  # nothing is missing


def made_up():
    """Accuracies that tell where they come from."""
    rows = [
        {"model": "majority class", "accuracy": 40.0},
        {"model": "not private", "accuracy": 90.0, "depth": 30},
    ]
    for budget in privacy_table.LABEL_BUDGETS:
        common = {"label_budget": budget, "depth": 15, "n_trees": 100}
        printed = {"accuracy": 60 + budget, "tree_accuracy": 50 + budget}
        rows.append({"model": "printed", **common, **printed})
        rows.append({"model": "printed, majorities", **common, "accuracy": 85.0})
    for epsilon in (0.5, 1.0, 2.0, 4.0, 5.0, 10.0, 20.0, 100.0, 500.0, 1000.0, 2000.0):
        # Two folds
        rows.append({"model": "private", "epsilon": epsilon, "accuracy": 70 + epsilon})
        rows.append({"model": "private", "epsilon": epsilon, "accuracy": 72 + epsilon})
    return pd.DataFrame(rows).assign(dataset="cmc")


def test_summary_by_hand():
    table = privacy_table.summary(made_up())
    assert table["label_budget"].tolist() == [1, 5, 10, 20]
    row = table.iloc[1]
    assert row["printed"] == 52.79
    assert (row["one_tree"], row["vote"], row["majorities"]) == (55, 65, 85)
    assert row["claimed_vote"] == 500
    assert row["claimed_seen"] == 750
    assert row["private_b3"] == 76
    assert row["private_claimed"] == 571
    assert row[[f"private_{e}" for e in ("0.5", "1", "2", "4")]].tolist() == [
        71.5,
        72,
        73,
        75,
    ]
    assert (row["not_private"], row["majority_class"]) == (90, 40)


def test_figure_says_that_the_printed_mechanism_is_not_private():
    figure = draw(pd.concat([made_up(), made_up().assign(dataset="wdbc")]))
    figure.canvas.draw()
    assert "not private" in figure.get_suptitle()
    assert [panel.get_title() for panel in figure.axes] == ["WDBC", "CMC"]
    votes = next(
        line
        for line in figure.axes[0].lines
        if str(line.get_label()).startswith("printed mechanism, vote")
    )
    assert votes.get_xdata().tolist() == [100, 500, 1000, 2000]
