# SPDX-License-Identifier: BSD-3-Clause
"""Candidates lie inside the bounds and depend on nothing else."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest.privacy.grid import MOST_CODES, Grid, Numeric

BOUND = st.floats(-1e12, 1e12, allow_nan=False)


@given(low=BOUND, high=BOUND, is_whole=st.booleans())
def test_cuts_lie_between_the_bounds(low, high, is_whole):
    low, high = min(low, high), max(low, high)
    if is_whole:
        low, high = math.floor(low), math.floor(high)
    cuts = Numeric(low, high, is_whole).cuts()
    assert (np.diff(cuts) > 0).all()
    assert len(cuts) < MOST_CODES
    if low < high:
        assert low <= cuts[0]
        assert cuts[-1] < high
    else:
        assert len(cuts) == 0
    if is_whole:
        assert set((cuts % 1).tolist()) <= {0.5}


def test_edges_are_finer_near_the_bounds():
    cuts = Numeric(0, 2**14).cuts()
    uniform = [128 * i for i in range(1, 128)]
    near = [2**i + 2**i * j / 8 for i in range(7) for j in range(8)]
    assert cuts.tolist() == sorted(uniform + near + [2**14 - x for x in near])


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 4), (1, 17), (0, 254), (5, 5)])
def test_few_whole_numbers_are_cut_between(low, high):
    cuts = Numeric(low, high, is_whole=True).cuts()
    assert cuts.tolist() == [x + 0.5 for x in range(low, high)]


@pytest.mark.parametrize(
    ("n_features", "n_cells"), [(1, 64), (6, 64), (7, 32), (12, 32), (13, 16), (99, 16)]
)
def test_candidates_are_the_edges_of_cells_and_halvings(n_features, n_cells):
    few = [Numeric(0, 16, is_whole=True)]
    grid = Grid.of(few + n_features * [Numeric(0, 2048)])
    uniform = set(range(2048 // n_cells, 2048, 2048 // n_cells))
    near = {2**i for i in range(11)}
    near = (near | {2048 - x for x in near}) - uniform
    assert grid.measure[:17].tolist() == 16 * [1] + [0]
    for feature in range(1, n_features + 1):
        measure = grid.measure[grid.slot[feature] : grid.slot[feature + 1] - 1]
        cuts = grid.cuts[grid.cuts_start[feature] : grid.cuts_start[feature + 1]]
        assert set(cuts[measure == 10].tolist()) == uniform
        assert set(cuts[measure == 1].tolist()) == near
        assert set(cuts[measure == 0].tolist()) == set(cuts.tolist()) - uniform - near
    assert (grid.total[1:] == 10 * len(uniform) + len(near)).all()


def test_codes_of_a_grid():
    """A category more than the list has: other."""
    grid = Grid.of([Numeric(0, 2, is_whole=True), ["a", "b", "c"], Numeric(1, 1)])
    assert grid.n_codes.tolist() == [3, 4, 1]
    assert grid.slot.tolist() == [0, 3, 7, 8]
    assert grid.measure.tolist() == [1, 1, 0, 1, 1, 1, 1, 0]
    assert grid.is_categorical.tolist() == [False, True, False]
    assert grid.cuts.tolist() == [0.5, 1.5]
    assert grid.cuts_start.tolist() == [0, 2, 2, 2]
    assert grid.n_candidates == 6
    assert [grid.feature_of(i) for i in (0, 2, 3, 6, 7)] == [
        (0, 0),
        (0, 2),
        (1, 0),
        (1, 3),
        (2, 0),
    ]


def test_not_to_split_is_one_more_candidate():
    grid = Grid.of([Numeric(0, 2, is_whole=True), ["a"]]).with_stop(7)
    assert grid.n_codes.tolist() == [3, 2, 1]
    assert grid.measure.tolist() == [1, 1, 0, 1, 1, 7]
    assert grid.total.tolist() == [2, 2, 1]
    assert grid.feature_of(5) == (2, 0)
    only = grid.only(np.array([2, 0]))
    assert only.measure.tolist() == [7, 1, 1, 0]
    assert only.total.tolist() == [1, 2]
