# SPDX-License-Identifier: BSD-3-Clause
"""Private forests that tell a number."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_diabetes

from mrforest import PrivateForestRegressor
from mrforest.privacy import Accountant
from tests.forests.private import X, fit_seeded


def test_a_regression_learns_within_its_budget():
    X, y = load_diabetes(return_X_y=True)
    public = {"bounds": (-0.2, 0.2), "target_bounds": (25, 350)}
    seeded = fit_seeded(X, y, PrivateForestRegressor, epsilon=8.0, **public)
    assert seeded.score(X, y) > 0.2
    forest = PrivateForestRegressor(8.0, **public).fit(X, y)
    assert forest.epsilon_ <= 8.0
    told = forest.predict(X)
    assert told.min() >= 25
    assert told.max() <= 350
    exact = PrivateForestRegressor(
        math.inf, bounds=(-0.2, 0.2), target_bounds=(25, 350)
    )
    assert exact.fit(X, y).score(X, y) > 0.4


def test_targets_beyond_the_bounds_are_clipped():
    y = X[:, 0] * 10
    tables = [y, np.where(y > 8, 1e9, y)]
    public = {"bounds": (0.0, 1.0), "target_bounds": (0.0, 8.0)}
    forests = [
        fit_seeded(X, target, PrivateForestRegressor, epsilon=4.0, **public)
        for target in tables
    ]
    assert_array_equal(forests[0]._forest.leaf_value, forests[1]._forest.leaf_value)
    assert_array_equal(forests[0]._forest.nodes, forests[1]._forest.nodes)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"target_bounds": None}, "target_bounds: give the range of y"),
        ({"target_bounds": (1.0, 0.0)}, "target_bounds: .* lower one first"),
        ({"target_bounds": (1.0,)}, "target_bounds: .* two numbers"),
    ],
)
def test_bad_bounds_of_the_target(wrong, match):
    accountant = Accountant(1.0)
    forest = PrivateForestRegressor(bounds=(0.0, 1.0), accountant=accountant, **wrong)
    with pytest.raises(ValueError, match=match):
        forest.fit(X, X[:, 0])
    assert accountant.spent == 0


def test_a_row_changes_a_regression_by_epsilon_at_most():
    x, y = np.round(X[:30] * 3).astype(int), X[:30, 0]
    forest = PrivateForestRegressor(
        1.0, bounds=(0, 3), target_bounds=(0.0, 1.0), max_depth=2, n_estimators=1
    ).fit(x, y)
    whole = forest.log_probability(x, y)
    losses = [
        whole - forest.log_probability(np.delete(x, row, 0), np.delete(y, row))
        for row in range(30)
    ]
    assert 0.01 < np.abs(losses).max() <= 1 + 1e-9
