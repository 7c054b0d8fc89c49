# SPDX-License-Identifier: BSD-3-Clause
"""Candidates lie inside the bounds and depend on nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest.privacy.grid import Grid, Numeric

BOUND = st.floats(-1e12, 1e12, allow_nan=False)


@given(low=BOUND, high=BOUND)
def test_cuts_lie_between_the_bounds(low, high):
    low, high = min(low, high), max(low, high)
    cuts, measure = Numeric(low, high).cuts()
    assert (np.diff(cuts) > 0).all()
    assert (measure > 0).all()
    assert len(cuts) == len(measure)
    if low < high:
        assert low <= cuts[0]
        assert cuts[-1] <= high
    else:
        assert len(cuts) == 0


def test_uniform_and_dyadic_edges():
    cuts, measure = Numeric(0, 2048).cuts()
    uniform = [64 * i for i in range(1, 32)]
    near = [1, 2, 4, 8, 16, 32]
    assert cuts.tolist() == sorted(uniform + near + [2048 - x for x in near])
    weights = dict(zip(cuts.tolist(), measure.tolist(), strict=True))
    assert {weights[x] for x in uniform} == {10}
    assert {weights[x] for x in near} == {1}


@pytest.mark.parametrize(("n_features", "n_cells"), [(1, 64), (7, 64), (8, 32)])
def test_the_grid_is_finer_where_there_is_time(n_features, n_cells):
    grid = Grid.of(n_features * [Numeric(0, 2048)])
    uniform = set(range(2048 // n_cells, 2048, 2048 // n_cells))
    near = {2**i for i in range(11)}
    expected = uniform | near | {2048 - x for x in near}
    parts = np.split(grid.cuts, grid.cuts_start[1:-1])
    assert [set(cuts.tolist()) for cuts in parts] == n_features * [expected]
    assert (grid.total == 10 * len(uniform) + len(expected - uniform)).all()


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 4), (1, 17), (0, 64), (5, 5)])
def test_few_whole_numbers_are_cut_between(low, high):
    cuts, measure = Numeric(low, high, is_whole=True).cuts()
    assert cuts.tolist() == [x + 0.5 for x in range(low, high)]
    assert set(measure.tolist()) <= {1}


def test_many_whole_numbers_are_cut_at_halves():
    cuts, _ = Numeric(0, 100, is_whole=True).cuts()
    assert set((cuts % 1).tolist()) == {0.5}
    assert cuts[0] > 0
    assert cuts[-1] < 101


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
