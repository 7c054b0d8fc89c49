# SPDX-License-Identifier: BSD-3-Clause
"""Budgets of the paper's theorem: its equations, and never more than ε."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest import MultinomialForestClassifier
from mrforest.privacy import allocate
from tests.privacy.costs import costs

counts = st.integers(1, 10_000)


def test_the_equations_of_the_theorem():
    budgets = allocate(1.0, n_estimators=100, depth=10)
    assert budgets["feature_budget"] == budgets["split_budget"]
    structure = budgets["feature_budget"] + budgets["split_budget"]
    assert structure == pytest.approx(1.0 / (10 * 100))
    assert budgets["label_budget"] == pytest.approx(1.0 / 100)


@given(costs, counts, counts)
def test_exact_sums_do_not_exceed_epsilon(epsilon, n_estimators, depth):
    feature, split, label = allocate(epsilon, n_estimators, depth).values()
    structure = n_estimators * depth * (Fraction(feature) + Fraction(split))
    labels = n_estimators * Fraction(label)
    assert structure <= Fraction(epsilon)
    assert labels <= Fraction(epsilon)
    if epsilon > 1e-300:  # where floats are dense enough
        assert structure >= Fraction(epsilon) * (1 - Fraction(1, 2**50))
        assert labels >= Fraction(epsilon) * (1 - Fraction(1, 2**50))


def test_nothing_and_everything():
    assert set(allocate(0, 5, 3).values()) == {0.0}
    assert set(allocate(math.inf, 5, 3).values()) == {math.inf}


def test_numbers_of_numpy():
    plain = allocate(2.0, 10, 4)
    assert allocate(np.float64(2.0), np.int64(10), np.int32(4)) == plain


def test_the_forest_takes_them():
    forest = MultinomialForestClassifier(10, max_depth=4, **allocate(2.0, 10, 4))
    X = np.arange(40.0)[:, None]
    assert forest.fit(X, np.arange(40) % 2).depths_.max() <= 4


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ((-1.0, 10, 5), "epsilon"),
        ((math.nan, 10, 5), "epsilon"),
        (("1", 10, 5), "epsilon"),
        ((True, 10, 5), "epsilon"),
        ((1.0, 0, 5), "n_estimators"),
        ((1.0, 10.0, 5), "n_estimators"),
        ((1.0, True, 5), "n_estimators"),
        ((1.0, 10, 0), "depth"),
        ((1.0, 10, None), "depth"),
        ((1.0, 10, "5"), "depth"),
    ],
)
def test_bad_input_is_named(arguments, parameter):
    bad = arguments[("epsilon", "n_estimators", "depth").index(parameter)]
    with pytest.raises(ValueError, match=f"{parameter} must be .* at least .*{bad!r}"):
        allocate(*arguments)
