# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that other parameters switch off, and defaults that depend on others."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from mrforest import (
    ComparisonForestClassifier,
    CompletelyRandomForestClassifier,
    MultinomialForestClassifier,
    MultinomialForestRegressor,
    RuleForestClassifier,
)

X, Y = load_iris(return_X_y=True)


class Best:
    """A rule in Python."""

    def choose(self, node, candidates, rng):
        return candidates.decrease.argmax()


def is_first_nearer(i, j, k):
    """Answer for an oracle."""
    return abs(i - j) <= abs(i - k)


UNUSED = [
    (MultinomialForestClassifier, {"voting": "soft"}, {"label_budget": 2.0}),
    (CompletelyRandomForestClassifier, {"cuts": "range"}, {"max_bins": 20}),
    (CompletelyRandomForestClassifier, {"cuts": "range"}, {"honest_fraction": 0.3}),
    (CompletelyRandomForestClassifier, {"honest": False}, {"honest_fraction": 0.3}),
    (ComparisonForestClassifier, {"honest": False}, {"honest_fraction": 0.3}),
    (ComparisonForestClassifier, {"oracle": is_first_nearer}, {"metric": "cosine"}),
    (RuleForestClassifier, {"rule": Best(), "honest": False}, {"honest_fraction": 0.3}),
]


@pytest.mark.parametrize(("kind", "params", "unused"), UNUSED)
def test_a_parameter_without_effect_is_refused(kind, params, unused):
    ((name, value),) = unused.items()
    rows = X if "oracle" not in params else [[i] for i in range(len(X))]
    default = kind(**params).get_params()[name]
    message = rf"^{name}={value!r} has no effect with .*; it must be {default!r}$"
    forest = kind(**params, **unused, n_estimators=1)
    with pytest.raises(ValueError, match=message):
        forest.fit(rows, Y)
    forest.set_params(**{name: default}).fit(rows, Y)


def test_bootstrap_samples_are_not_honest():
    with pytest.raises(ValueError, match="bootstrap=True with honest=True"):
        RuleForestClassifier(Best(), bootstrap=True).fit(X, Y)


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ({}, {"min_samples_split": 6}),
        ({"min_samples_leaf": 1}, {"min_samples_split": 2, "min_samples_leaf": 1}),
        ({"min_samples_leaf": 2}, {"min_samples_split": 3, "min_samples_leaf": 2}),
        ({"min_samples_leaf": 3}, {"min_samples_split": 6, "min_samples_leaf": 3}),
    ],
)
def test_default_of_min_samples_split(given, same):
    options = {"n_estimators": 5, "random_state": 0}
    one = MultinomialForestRegressor(**given, **options).fit(X, Y)
    other = MultinomialForestRegressor(**same, **options).fit(X, Y)
    assert_array_equal(one._forest.nodes, other._forest.nodes)


def test_both_limits_hold():
    forest = MultinomialForestClassifier(
        20, min_samples_split=20, min_samples_leaf=4, random_state=0
    ).fit(X, Y)
    smallest = len(X)
    for number, tree in enumerate(forest.estimators_):
        left, right = tree.children_left, tree.children_right
        leaf = tree.apply(X[forest.estimation_samples(number)])
        points = np.bincount(leaf, minlength=len(left))
        for node in reversed(np.flatnonzero(left >= 0)):
            points[node] = points[left[node]] + points[right[node]]
            assert points[node] >= 20
        assert points.min() >= 4
        smallest = min(smallest, points.min())
    assert smallest < 10
