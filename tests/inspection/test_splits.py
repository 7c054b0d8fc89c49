# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of the cuts of one node."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare
from sklearn.datasets import load_iris

from mrforest import (
    BernoulliForestClassifier,
    BreimanForestClassifier,
    CenteredForestClassifier,
    CompletelyRandomForestClassifier,
    MultinomialForestClassifier,
    MultinomialForestRegressor,
)
from mrforest.inspection import plot_split_probabilities, split_probabilities
from tests.leaves import leaf_options

N_DRAWS = 4_000


def table() -> tuple[np.ndarray, np.ndarray]:
    """Three features of few values, of which the first tells most."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60, 3)).astype(float)
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=60) > 2).astype(int)
    return X, y


def gini_decrease(x: np.ndarray, y: np.ndarray, threshold: float) -> float:
    def impurity(labels: np.ndarray) -> float:
        return 1 - ((np.bincount(labels) / len(labels)) ** 2).sum()

    left = x <= threshold
    parts = [y[left], y[~left]]
    return impurity(y) - sum(len(p) / len(y) * impurity(p) for p in parts)


def softmax(scores: np.ndarray, budget: float) -> np.ndarray:
    scaled = (scores - scores.min()) / (scores.max() - scores.min())
    weights = np.exp(budget / 2 * scaled)
    return weights / weights.sum()


def assert_drawn_from(found, probability: np.ndarray) -> None:
    counts = found.probability * found.n_draws
    expected = probability * found.n_draws
    assert counts[expected == 0].sum() == 0
    some = expected > 0
    assert chisquare(counts[some], expected[some]).pvalue > 1e-4


def test_cuts_and_decreases():
    X, y = table()
    found = split_probabilities(MultinomialForestClassifier(), X, y, n_draws=10)
    assert found.feature.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert found.threshold.tolist() == [0.5, 1.5, 2.5] * 3
    wanted = [
        gini_decrease(X[:, f], y, t)
        for f, t in zip(found.feature, found.threshold, strict=True)
    ]
    np.testing.assert_allclose(found.decrease, wanted, atol=1e-12)


@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
def test_multinomial(leaf_rule):
    X, y = table()
    forest = MultinomialForestClassifier(
        feature_budget=3.0, split_budget=2.0, **leaf_options(leaf_rule, 5)
    )
    found = split_probabilities(forest, X, y, n_draws=N_DRAWS)
    of_feature = [found.decrease[found.feature == f] for f in range(3)]
    first = softmax(np.array([d.max() for d in of_feature]), 3.0)
    probability = np.concatenate(
        [p * softmax(d, 2.0) for p, d in zip(first, of_feature, strict=True)]
    )
    assert_drawn_from(found, probability)


def test_breiman():
    """One feature of three, its best cut."""
    X, y = table()
    found = split_probabilities(BreimanForestClassifier(), X, y, n_draws=N_DRAWS)
    probability = np.zeros(9)
    for feature in range(3):
        cuts = np.flatnonzero(found.feature == feature)
        probability[cuts[found.decrease[cuts].argmax()]] = 1 / 3
    assert_drawn_from(found, probability)


def test_bernoulli():
    """All three features (0.7) or one (0.3); the best cut (0.6) or any (0.4)."""
    X, y = table()
    forest = BernoulliForestClassifier(
        max_features=None, random_feature_probability=0.3, random_cut_probability=0.4
    )
    found = split_probabilities(forest, X, y, n_draws=N_DRAWS)
    best = [
        np.flatnonzero(found.feature == f)[found.decrease[found.feature == f].argmax()]
        for f in range(3)
    ]
    probability = np.full(9, 0.4 / 9)
    probability[best] += 0.6 * 0.3 / 3
    probability[found.decrease.argmax()] += 0.6 * 0.7
    assert_drawn_from(found, probability)


def test_completely_random():
    X, y = table()
    forest = CompletelyRandomForestClassifier()
    found = split_probabilities(forest, X, y, n_draws=N_DRAWS)
    assert_drawn_from(found, np.full(9, 1 / 9))


def test_regression_categories_and_missing_values():
    """Every cut has its place, also those that differ only in where missing goes."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "number": np.where(rng.random(80) < 0.2, np.nan, rng.integers(0, 3, 80)),
            "kind": pd.Categorical(rng.choice(list("abc"), 80)),
        }
    )
    y = rng.normal(size=80) + (X["kind"] == "b")
    found = split_probabilities(MultinomialForestRegressor(), X, y, n_draws=500)
    assert found.probability.sum() == pytest.approx(1)
    assert found.is_equality.sum() == 3
    assert np.isinf(found.threshold).sum() == 1
    assert found.decrease[found.probability.argmax()] > 0.5 * found.decrease.max()


def test_forests_without_a_list_of_cuts_are_refused():
    X, y = table()
    for forest in (
        CenteredForestClassifier(),
        CompletelyRandomForestClassifier(cuts="range"),
    ):
        with pytest.raises(ValueError, match="draws cuts that are in no list"):
            split_probabilities(forest, X, y)


def test_a_node_without_cuts_is_refused():
    X, _ = table()
    with pytest.raises(ValueError, match="the node has no cut"):
        split_probabilities(MultinomialForestClassifier(), X, np.zeros(60, dtype=int))


def test_plot():
    pytest.importorskip("matplotlib")
    X, y = load_iris(return_X_y=True, as_frame=True)
    forests = {
        "Breiman": BreimanForestClassifier(),
        "MRF": MultinomialForestClassifier(),
    }
    figure = plot_split_probabilities(forests, X, y, n_draws=50)
    panels = figure.axes
    assert [panel.get_title(loc="left") for panel in panels] == list(forests)
    names = [label.get_text() for label in panels[-1].get_xticklabels()]
    assert names == list(X.columns)
