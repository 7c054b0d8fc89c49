# SPDX-License-Identifier: BSD-3-Clause
"""No cell and no record moves a score beyond the range that is claimed."""

import math
from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest.privacy.sensitivity import (
    CORRECT_RANGE,
    GINI_RANGE,
    NORM_RANGE,
    correct,
    gini,
    largest_range,
    norm,
    squares,
    squares_range,
)

PS = [1.5, 2, 3, math.inf]
COUNTS = st.lists(st.integers(0, 2**28), min_size=1, max_size=7)


@pytest.mark.parametrize(("n_classes", "n_most"), [(2, 200), (3, 40), (5, 10)])
def test_search_for_violations(n_classes, n_most):
    def search(score):
        return largest_range(score, n_classes, n_most)

    assert search(partial(correct, label=0)) == (0, CORRECT_RANGE)
    labels = np.arange(n_classes)
    for label in labels:
        # The farthest class adds least, which is nothing if both are at the ends.
        farthest = max(label, n_classes - 1 - label)
        least = squares_range(n_classes) - farthest**2
        assert search(partial(squares, label=label)) == (
            least,
            squares_range(n_classes),
        )
    smallest, largest = search(lambda counts: squares(counts, labels).max(axis=-1))
    assert 0 <= smallest <= largest == squares_range(n_classes)
    for p in PS:
        smallest, largest = search(partial(norm, p=p))
        assert smallest >= 0
        # A record of a class that is alone is worth a whole unit.
        assert 2**16 <= largest <= NORM_RANGE
    smallest, largest = search(gini)
    assert -GINI_RANGE <= smallest <= largest == 0


def test_the_search_finds_violations():
    # Gini moves by more than one unit, and a mean by less than none.
    assert largest_range(gini, 2, 50)[0] < -(2**16) * 1.9
    smallest, largest = largest_range(lambda c: c[:, 0] - c[:, 1], 3, 5)
    assert (smallest, largest) == (-1, 1)
    assert largest_range(lambda c: c.sum(axis=1) ** 2, 2, 9) == (1, 17)


@given(counts=COUNTS, label=st.integers(0, 6), p=st.sampled_from(PS))
def test_large_cells_stay_in_range(counts, label, p):
    before = np.array(counts)
    after = before.copy()
    after[label % len(counts)] += 1
    labels = np.arange(len(counts))
    assert 0 <= norm(after, p) - norm(before, p) <= NORM_RANGE
    more = squares(after, labels) - squares(before, labels)
    assert more.min() >= 0
    assert more.max() == squares_range(len(counts))
    best = squares(after, labels).max() - squares(before, labels).max()
    assert 0 <= best <= squares_range(len(counts))
    assert -GINI_RANGE <= gini(after) - gini(before) <= 0


def test_the_largest_cells_stay_in_range():
    n = 2**31 - 1
    for before in ([n, 0], [n // 2, n // 2], [0, n], [n // 3, n - n // 3], [n - 1, 1]):
        for added in ([1, 0], [0, 1]):
            after = np.add(before, added)
            for p in PS:
                assert 0 <= norm(after, p) - norm(np.array(before), p) <= NORM_RANGE
            assert -GINI_RANGE <= gini(after) - gini(np.array(before)) <= 0


@given(counts=COUNTS, p=st.sampled_from(PS))
def test_norm_is_the_norm(counts, p):
    found = int(norm(np.array(counts), p))
    with localcontext(prec=60):
        exponent = Decimal(str(p)) if p < math.inf else None
        if exponent is None or max(counts) == 0:
            true = Decimal(max(counts))
        else:
            powers = sum(Decimal(c) ** exponent for c in counts if c)
            true = powers ** (1 / exponent)
        # Floor, and less than one unit of rounding
        assert -2 < found - true * 2**16 < 1
        assert sum(c > 0 for c in counts) > 1 or found == max(counts) * 2**16


@given(counts=COUNTS)
def test_gini_is_the_impurity(counts):
    n = sum(counts)
    excess = n * n - sum(c * c for c in counts)
    assert gini(np.array(counts)) == (-(2**16 * excess // n) if n else 0)


@given(counts=st.lists(st.integers(0, 2**22), min_size=1, max_size=256))
def test_squares_are_sums_of_squares(counts):
    n_classes = len(counts)
    found = squares(np.array(counts), np.arange(n_classes))
    for label in {0, n_classes // 2, n_classes - 1}:
        far = sum(c * (label - k) ** 2 for k, c in enumerate(counts))
        assert found[label] == sum(counts) * (n_classes - 1) ** 2 - far
        assert squares(np.array(counts), label) == found[label]


@pytest.mark.parametrize("p", PS)
def test_norms_of_a_wrong_guess(p, monkeypatch):
    """The library's roots only make it fast."""
    from mrforest.privacy import sensitivity

    counts = np.random.default_rng(1).integers(0, 1000, (50, 4))
    expected = norm(counts, p)
    worse = {
        q: (power, lambda x, root=root: root(x) + np.arange(len(x)) % 7 - 3)
        for q, (power, root) in sensitivity.POWERS.items()
    }
    monkeypatch.setattr(sensitivity, "POWERS", worse)
    np.testing.assert_array_equal(norm(counts, p), expected)


def test_scores_of_many_cells_at_once():
    counts = np.random.default_rng(0).integers(0, 10**6, (4, 5, 3))
    scores = [gini, partial(norm, p=1.5), partial(correct, label=2)]
    for score in (*scores, partial(squares, label=2)):
        together = score(counts)
        assert together.shape == (4, 5)
        assert together.dtype == np.int64
        for place in np.ndindex(4, 5):
            assert together[place] == score(counts[place])
    # Small integers do not overflow.
    small = np.array([200, 100], dtype=np.uint8)
    assert gini(small) == gini(small.astype(np.int64))
    assert norm(small, 3) == norm(small.astype(np.int64), 3)


def test_bad_counts():
    for counts in (np.array([-1, 2]), np.array([2**31, 1]), np.array([2**62, 2**62])):
        scores = [gini, partial(norm, p=2), partial(correct, label=0)]
        for score in (*scores, partial(squares, label=0)):
            with pytest.raises(ValueError, match=r"counts from .* must be in \[0, 2"):
                score(counts)
    with pytest.raises(ValueError, match="counts of type float64"):
        gini(np.array([0.5]))
    with pytest.raises(ValueError, match="p=4 must be"):
        norm(np.array([1]), 4)
    with pytest.raises(ValueError, match=r"below 2\*\*37"):
        norm(np.array([2**31] + [0] * 70), 2)
    with pytest.raises(ValueError, match=r"label=3 must be in \[0, 3\)"):
        squares(np.array([1, 2, 3]), 3)
    with pytest.raises(ValueError, match=r"n_classes=257 must be in \[1, 256\]"):
        squares(np.zeros(257, dtype=np.int64), 0)
    with pytest.raises(ValueError, match="n_classes=0"):
        largest_range(gini, 0, 3)
