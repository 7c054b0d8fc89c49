# SPDX-License-Identifier: BSD-3-Clause
"""Surfaces over the two budgets."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from mrforest.experiments import hyperparameters
from mrforest.experiments.hyperparameters import budgets, gap_error, surface
from tests.experiments import tables


@pytest.fixture
def made_up():
    """B1 gains 1 a step, B2 half a step, but for the best cell; two folds."""

    def accuracy(b1, b2):
        return 100.0 if (b1, b2) == (20, 10) else 50 + b1 / 5 + b2 / 10

    return pd.DataFrame(
        {
            "dataset": dataset,
            "feature_budget": b1,
            "split_budget": b2,
            "repetition": 0,
            "accuracy": accuracy(b1, b2),
            # Folds differ by 20 in all cells, and by B1 / 10 more.
            "fold_accuracies": [
                accuracy(b1, b2) - 10 - b1 / 20,
                accuracy(b1, b2) + 10 + b1 / 20,
            ],
        }
        for dataset in ("connect-4", "cmc")
        for b1 in budgets(5)
        for b2 in budgets(5)
    )


def test_budgets_meet_the_papers():
    for step in (1, 2, 2.5, 10):
        values = budgets(step)
        assert {0.0, 10.0, 20.0} <= set(values)
        np.testing.assert_allclose(np.diff(values), step)


@pytest.mark.parametrize("step", [0, -1, 3, 20, float("nan")])
def test_a_step_that_misses_them_is_refused(step):
    with pytest.raises(ValueError, match=r"step=.* must be 10 divided by"):
        budgets(step)


def test_tasks_are_all_cells_of_six_datasets():
    full, quick = hyperparameters.tasks(), hyperparameters.tasks(quick=True)
    for tasks, n_cells in ((full, 121), (quick, 25)):
        assert len({tuple(task.items()) for task in tasks}) == len(tasks)
        cells = pd.DataFrame(tasks).groupby("dataset")[
            ["feature_budget", "split_budget"]
        ]
        assert (cells.apply(lambda c: len(c.drop_duplicates())) == n_cells).all()
        assert len(cells) == 6
    assert all(task["n_trees"] == 100 for task in full)
    assert len(hyperparameters.tasks(quick=True, step=10, datasets=["cmc"])) == 9


def test_a_cell_is_measured_the_same_way_twice(monkeypatch):
    monkeypatch.setattr("mrforest.experiments._folds.load_table", tables.flowers)
    (task,) = [
        {**some, "n_trees": 5, "n_folds": 2}
        for some in hyperparameters.tasks(quick=True, step=10, datasets=["cmc"])
        if some["feature_budget"] == some["split_budget"] == 10
    ]
    found = hyperparameters.measure(task)
    assert hyperparameters.measure(task) == found
    assert found["accuracy"] == np.mean(found["fold_accuracies"]) > 80
    assert len(found["fold_accuracies"]) == 2


def test_budgets_reach_the_forest(monkeypatch):
    monkeypatch.setattr("mrforest.experiments._folds.load_table", tables.tumours)
    task = {"dataset": "tumours", "n_trees": 3, "n_folds": 1, "repetition": 0}
    found = {
        (b1, b2): hyperparameters.measure(
            {**task, "feature_budget": b1, "split_budget": b2}
        )["accuracy"]
        for b1 in (0.0, 1000.0)
        for b2 in (0.0, 1000.0)
    }
    assert len(set(found.values())) > 1


def test_surface_has_b1_down(made_up):
    grid = surface(made_up, "cmc")
    assert grid.loc[20.0, 0.0] == 54
    assert grid.loc[0.0, 20.0] == 52


def test_summary_by_hand(made_up):
    table = hyperparameters.summary(made_up).set_index("dataset")
    assert table.index.tolist() == ["cmc", "connect-4"]  # as in the paper's figure
    row = table.loc["cmc"]
    assert row["default"] == 53
    assert (row["best"], row["best_feature_budget"], row["best_split_budget"]) == (
        100,
        20,
        10,
    )
    assert row["uniform"] == 50
    assert row["feature_budget_gain"] == pytest.approx(2)
    assert row["split_budget_gain"] == pytest.approx(1)
    assert row["plateau_range"] == pytest.approx(100 - 53)


def test_error_of_a_gap_by_hand(made_up):
    # Two folds whose gaps to the default differ by |B1 - 10| / 10 have a standard error
    # of half of that. B1 = 10: 4 cells of 0; 5 or 15: 10 cells of 0.25; else 0.5.
    assert gap_error(made_up, "cmc") == pytest.approx(0.25)
    single = made_up.assign(fold_accuracies=[[0.0]] * len(made_up))
    assert np.isnan(gap_error(single, "cmc"))


def test_a_surface_without_the_default_is_told_as_such(made_up):
    partly = made_up[made_up["feature_budget"] != 10]
    row = hyperparameters.summary(partly).iloc[0]
    assert np.isnan(row["default"])
    assert np.isnan(row["gap_error"])
    assert row["best"] == 100
    hyperparameters.draw(partly).canvas.draw()


def test_figure_marks_the_best_cell_and_the_default(made_up):
    figure = hyperparameters.draw(made_up)
    figure.canvas.draw()
    panel = figure.axes[0]
    assert panel.get_title() == "CMC"
    assert len(panel.texts) == 25
    star, square = panel.lines
    assert star.get_xdata()[0] == 2  # B2 = 10
    assert round(star.get_ydata()[0]) == 4  # B1 = 20
    corners = np.array(square.get_data())[:, :4]
    np.testing.assert_allclose(corners.mean(axis=1), 2)  # B1 = B2 = 10
