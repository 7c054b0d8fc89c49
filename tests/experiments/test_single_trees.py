# SPDX-License-Identifier: BSD-3-Clause
"""Accuracies of single trees."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("matplotlib")

from mrforest.experiments import single_trees
from mrforest.experiments._folds import cut
from mrforest.experiments.protocol import make_forest
from tests.experiments import tables


@pytest.fixture(autouse=True)
def small_data(monkeypatch):
    monkeypatch.setattr("mrforest.experiments._folds.load_table", tables.flowers)


def some_tasks():
    return [
        {**task, "n_trees": 5}
        for task in single_trees.tasks(quick=True, datasets=["echocardiogram", "other"])
    ]


def test_there_are_ten_thousand_trees_of_each_forest_on_each_dataset():
    tasks = pd.DataFrame(single_trees.tasks())
    n_trees = tasks.groupby(["dataset", "forest"])["n_trees"].sum()
    assert len(n_trees) == 12
    assert (n_trees == 10_000).all()
    assert not tasks.duplicated().any()


def test_mean_accuracy_of_trees_is_the_mean_vote_for_the_right_class():
    fold = cut("flowers", repetition=0, fold=0)
    forest = fold.fit(make_forest("MRF", "stop", n_estimators=20, random_state=0))
    accuracies = fold.tree_accuracies(forest)
    assert accuracies.shape == (20,)
    votes = forest.predict_proba(fold.X_test)  # votes are hard
    right = votes[np.arange(len(fold.y_test)), fold.y_test]
    assert accuracies.mean() == pytest.approx(100 * right.mean())


def test_folds_are_apart_and_cover_all_rows():
    folds = [cut("flowers", repetition=1, fold=i) for i in range(10)]
    assert sum(len(fold.y_test) for fold in folds) == 150
    assert all(len(fold.y_train) + len(fold.y_test) == 150 for fold in folds)
    assert folds[0].is_categorical.tolist() == [False] * 4 + [True]


def test_measures_are_the_same_twice():
    task = some_tasks()[0]
    found = single_trees.measure(task)
    assert single_trees.measure(task) == found
    assert len(found["tree_accuracies"]) == 5
    assert found["n_test"] == 15
    assert found["forest_accuracy"] > 60


def test_summary_by_hand():
    frame = pd.DataFrame(
        {
            "dataset": "car",
            "forest": forest,
            "tree_accuracies": accuracies,
            "forest_accuracy": whole,
        }
        for forest, accuracies, whole in (
            ("Breiman", [50.0, 60.0], 70.0),
            ("Breiman", [70.0, 80.0], 80.0),
            ("MRF", [90.0, 92.0], 95.0),
        )
    )
    table = single_trees.summary(frame).set_index("forest")
    assert table.index.tolist() == ["MRF", "Breiman"]
    breiman = table.loc["Breiman"]
    assert breiman["n_trees"] == 4
    assert breiman["tree_mean"] == 65
    assert breiman["tree_deviation"] == pytest.approx(np.sqrt(500 / 3))
    assert breiman["tree_p5"] == pytest.approx(51.5)
    assert breiman["tree_p95"] == pytest.approx(78.5)
    assert breiman["forest_mean"] == 75


@given(st.integers(1, 5000), st.data())
def test_every_accuracy_is_inside_a_bar(n_test, data):
    counts = st.lists(st.integers(0, n_test), min_size=1, max_size=20)
    values = 100 * np.array(data.draw(counts)) / n_test
    edges = np.array(single_trees.bars(values, n_test))
    assert np.histogram(values, edges)[0].sum() == len(values)
    # No accuracy that is possible lies on an edge, where rounding would decide.
    steps = edges / (100 / n_test)
    assert np.abs(steps - np.round(steps)).min() > 0.4
    assert len(edges) <= 2 * single_trees.N_BARS + 1


def test_figure_has_a_panel_for_each_dataset():
    frame = tables.measured(single_trees, some_tasks())
    figure = single_trees.draw(frame)
    figure.canvas.draw()
    assert [panel.get_title() for panel in figure.axes] == ["Echo", "other"]
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    mean = single_trees.summary(frame)["tree_mean"][0]
    assert labels[0].startswith(f"MRF: {mean:.1f} ± ")
