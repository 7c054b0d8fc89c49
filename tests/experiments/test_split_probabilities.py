# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of features and cuts, in closed form and counted."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from sklearn.datasets import load_iris

from mrforest.experiments import split_probabilities as splits
from tests.experiments import tables


@pytest.fixture(autouse=True)
def small_data(monkeypatch):
    X, y = load_iris(return_X_y=True, as_frame=True)
    dataset = SimpleNamespace(X=X, y=y.to_numpy())
    monkeypatch.setattr(splits, "load", lambda name: dataset)


@pytest.fixture(scope="module")
def cuts():
    return pd.DataFrame(
        {
            "feature": [0, 0, 0, 1, 1, 2],
            "decrease": [0.0, 0.4, 0.2, 0.2, 0.1, 0.0],
        }
    )


def some_tasks(n_draws=300):
    return [{**task, "n_draws": n_draws} for task in splits.tasks(dataset="flowers")]


def test_features_are_drawn_by_the_softmax_of_their_best_cuts(cuts):
    found = splits.feature_probabilities(cuts, budget=4.0)
    assert found.index.tolist() == [0, 1, 2]
    # 0.4, 0.2 and 0 become 1, 0.5 and 0; half the budget is 2.
    weights = np.exp([2.0, 1.0, 0.0])
    np.testing.assert_allclose(found, weights / weights.sum())


def test_without_a_budget_all_are_alike(cuts):
    np.testing.assert_allclose(splits.feature_probabilities(cuts, budget=0), 1 / 3)
    np.testing.assert_allclose(splits.drawn_with(np.full(5, 0.3), 10), 0.2)


def test_what_is_counted_is_what_the_formula_says():
    (task,) = [task for task in some_tasks(20_000) if task["forest"] == "MRF"]
    row = pd.Series({**task, **splits.measure(task)})
    table = splits.cuts_of(row)
    chance = splits.feature_probabilities(table, budget=10)
    expected = np.zeros(len(table))
    for feature, own in table.groupby("feature"):
        within = splits.drawn_with(own["decrease"].to_numpy(), 10)
        expected[own.index] = chance[feature] * within
    assert expected.sum() == pytest.approx(1)
    error = np.sqrt(expected * (1 - expected) / task["n_draws"])
    assert (np.abs(table["probability"] - expected) < 5 * error + 1e-4).all()


def test_summary_of_what_can_be_counted_by_hand():
    frame = pd.DataFrame(
        [
            {
                "forest": "MRF",
                "feature": [0, 0, 1, 1],
                "threshold": [1.0, 2.0, 1.0, 2.0],
                "decrease": [0.4, 0.2, 0.1, 0.0],
                "probability": [0.25, 0.25, 0.25, 0.25],
            }
        ]
    )
    row = splits.summary(frame).iloc[0]
    assert row["best_cut"] == 0.25
    assert row["best_feature"] == 0.5
    assert row["expected_decrease"] == pytest.approx(0.25 * 0.7 / 0.4)
    assert row["effective_cuts"] == pytest.approx(4)


def test_greedy_forests_keep_to_the_best_and_random_ones_do_not():
    frame = tables.measured(splits, some_tasks())
    table = splits.summary(frame).set_index("forest")
    assert table.index.tolist() == list(splits.FORESTS)
    spread = table["effective_cuts"]
    assert spread["Breiman"] < spread["MRF"] < spread["completely random"]
    assert table.loc["Breiman", "expected_decrease"] > 0.8
    figure = splits.draw(frame)
    figure.canvas.draw()
    assert len(figure.axes) == 4
    assert all(panel.get_ylabel().startswith("probability") for panel in figure.axes)
