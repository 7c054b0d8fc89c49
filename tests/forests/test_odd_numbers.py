# SPDX-License-Identifier: BSD-3-Clause
"""Huge, tiny and neighbouring values, budgets at their limits, negative zero."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.forests import every as forests
from tests.forests.every import every, target_of
from tests.forests.sound import assert_sound

INF = math.inf
UP = np.nextafter(1.0, 2.0)
ODD = [
    [-1e308, 1e308],
    [-1.7e308, -1e308, 1e308, 1.7e308],
    [0.0, 5e-324],
    [-5e-324, 0.0, 5e-324],
    [-5e-324, 5e-324, 1e-323],
    [1.0, UP],
    [1.0, UP, np.nextafter(UP, 2.0)],
    [np.nextafter(-1.0, -2.0), -1.0],
    [2.0**53, 2.0**53 + 2, 2.0**53 + 4],
    [-1e308, 5e-324, 1.0, UP, 1e308],
]
# scikit-learn's own look for infinity adds up all numbers.
quiet = pytest.mark.filterwarnings(
    "ignore:invalid value encountered in reduce:RuntimeWarning"
)


def forest_of(name: str, **params):
    return forests.forest_of(
        name, **{"min_samples_split": 2, "n_estimators": 10, **params}
    )


@quiet
@pytest.mark.parametrize("name", ["multinomial", "breiman", "breiman-r", "data-driven"])
@pytest.mark.parametrize("values", ODD)
def test_values_that_are_hard_to_tell_apart(name, values):
    """A greedy forest learns one target a value, to the last bit."""
    X = np.tile(values, 60)[:, None]
    y = np.tile(np.arange(len(values)), 60)
    for max_bins in (255, "exact", 5):
        forest = forest_of(
            name,
            feature_budget=INF,
            split_budget=INF,
            max_features=None,
            max_bins=max_bins,
            n_estimators=5,
        ).fit(X, y)
        assert_sound(forest, X[:10])
        assert_array_equal(forest.predict(np.array(values)[:, None]), y[: len(values)])
        thresholds = np.concatenate([tree.threshold for tree in forest.estimators_])
        assert np.isfinite(thresholds[~np.isnan(thresholds)]).all()


@quiet
@every
def test_any_forest_lives_with_them(name):
    for values in ODD:
        X = np.tile(values, 30)[:, None]
        y = target_of(name, np.tile(np.arange(len(values)), 30))
        forest = forest_of(name, n_estimators=3).fit(X, y)
        assert_sound(forest, X[:10])
        if hasattr(forest.estimators_[0], "threshold"):
            thresholds = np.concatenate([tree.threshold for tree in forest.estimators_])
            assert np.isfinite(thresholds[~np.isnan(thresholds)]).all()


@pytest.mark.parametrize("budget", [5e-324, 1e-300, 745.0, 1e6, 1e300, 1.7e308])
@pytest.mark.parametrize("name", ["multinomial", "multinomial-r", "data-driven"])
def test_extreme_budgets(name, budget):
    """Tiny ones draw as 0 does, huge ones as infinity: exponents do not overflow."""
    rng = np.random.default_rng(4)
    X = rng.random((60, 3))
    y = target_of(name, np.where(rng.random(60) < 0.2, 2, X[:, 0] > 0.5))
    names = ("feature_budget", "split_budget", "label_budget")
    forest = forest_of(name, **dict.fromkeys(names, budget)).fit(X, y)
    assert_sound(forest, X)
    limit = 0.0 if budget < 1 else INF
    if not 1 < budget < 1e6:
        same = forest_of(name, **dict.fromkeys(names, limit)).fit(X, y)
        assert_array_equal(forest.apply(X), same.apply(X))


@every
def test_negative_zero(name):
    """It is zero: same cuts, same leaves."""
    X = np.tile([-1.0, 0.0, 1.0], 40)[:, None]
    y = target_of(name, np.tile([0, 1, 0], 40))
    signs = X.copy()
    signs[1::6] = -0.0
    plain, mixed = forest_of(name).fit(X, y), forest_of(name).fit(signs, y)
    assert plain._forest.nodes.tobytes() == mixed._forest.nodes.tobytes()
    assert_array_equal(plain.apply(signs), plain.apply(X))
    assert_array_equal(mixed.predict([[-0.0]]), mixed.predict([[0.0]]))
    if name != "purely-random":  # whose cells are wider than the values
        told = mixed.predict([[-0.0], [1.0]])
        assert told[0] > told[1]
