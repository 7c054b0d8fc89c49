# SPDX-License-Identifier: BSD-3-Clause
"""Budgets and scores that are taken, and powers that are right to the last bit."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest.privacy.exact import precise
from mrforest.privacy.scoring import (
    DIGIT,
    FARTHEST,
    MOST_EPSILON,
    Scoring,
    powers,
    powers_of,
    powers_up_to,
)
from mrforest.privacy.sensitivity import NORM_RANGE


def test_the_budget_of_a_step():
    assert Scoring(0.5, None).unit(7) == Fraction(1, 2)
    assert Scoring(0.5, 2.0).unit(7) == Fraction(1, 2) / NORM_RANGE
    assert Scoring(0.5, None, squares=True).unit(7) == Fraction(1, 72)
    assert Scoring(0.5, math.inf, squares=True).unit(256) == Fraction(1, 2 * 255**2)
    assert Scoring(0.5, None, squares=True).unit(1) == Fraction(1, 2)


def test_scores_of_labels():
    counts = np.array([2, 0, 1])
    assert Scoring(1.0, None).of_labels(counts).tolist() == [2, 0, 1]
    assert Scoring(1.0, None, squares=True).of_labels(counts).tolist() == [8, 9, 4]


@given(
    unit=st.fractions(Fraction(1, 10**6), MOST_EPSILON),
    steps=st.integers(0, 2**40),
)
def test_powers(unit, steps):
    """Five roundings, or too small to matter."""
    tables = powers_up_to(2**40, unit)
    found = float(powers_of(np.array([steps]), tables)[0])
    if unit * steps >= FARTHEST:
        assert found == 0
        return
    with localcontext(precise(60)):
        true = (-Decimal(unit.numerator) * steps / unit.denominator).exp()
        assert abs(Decimal(found) / true - 1) <= Decimal(5.01 * 2**-53)


def test_tables_are_no_longer_than_needed():
    tables = powers_up_to(10**9, Fraction(1))
    assert [len(t) for t in tables[:3]] == [DIGIT, DIGIT, 1]
    assert tables.negligible == FARTHEST
    tables = powers_up_to(2**22, Fraction(1, 10**100))
    assert len(tables.hundreds) == 5
    assert tables.negligible == 2**22 + 1
    assert powers(Fraction(1, 3), 9) is powers(Fraction(1, 3), 9)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan, 2.0**21])
def test_budgets_that_are_refused(epsilon):
    with pytest.raises(ValueError, match=r"epsilon=.* must be in \(0, 2\*\*20\]"):
        Scoring(epsilon, None)


def test_scores_that_are_refused():
    with pytest.raises(ValueError, match="norm=4 with squares=False must be"):
        Scoring(1.0, 4)
    with pytest.raises(ValueError, match=r"norm=2\.0 with squares=True must be"):
        Scoring(1.0, 2.0, squares=True)
    with pytest.raises(ValueError, match=r"n_classes=257 must be in \[1, 256\]"):
        Scoring(1.0, None, squares=True).unit(257)
