# SPDX-License-Identifier: BSD-3-Clause
"""Cuts and codes equal the twin's; a midpoint separates its neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mrforest import _core
from mrforest.data.binning import cuts_of, find_bins, midpoints
from tests.naive import binning as naive

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.one_of(FINITE, st.integers(-3, 3).map(float), st.just(np.nan))
COLUMNS = arrays(np.float64, st.integers(1, 80), elements=NUMBERS)


@given(values=COLUMNS, max_bins=st.sampled_from([2, 3, 7, 255]), data=st.data())
def test_cuts_and_codes_equal_the_twin(values, max_bins, data):
    counts = data.draw(
        st.none() | arrays(np.int64, len(values), elements=st.integers(1, 5))
    )
    cuts = cuts_of(values.copy(), max_bins, counts)
    np.testing.assert_array_equal(cuts, naive.cuts_of(values, max_bins, counts))
    assert len(cuts) < max_bins
    binning = find_bins(
        values[:, None], np.array([-1], dtype=np.int32), max_bins, counts
    )
    np.testing.assert_array_equal(
        binning.encode(np.ascontiguousarray(values[:, None]))[:, 0],
        naive.encode(values, cuts),
    )


@given(a=FINITE, b=FINITE)
def test_a_midpoint_separates(a, b):
    low, high = sorted([a, b])
    if low < high:
        (middle,) = midpoints(np.array([low]), np.array([high]))
        assert low <= middle < high


@given(values=COLUMNS.filter(lambda v: not np.isnan(v).all()))
def test_codes_keep_the_order(values):
    binning = find_bins(values[:, None], np.array([-1], dtype=np.int32), "exact", None)
    codes = binning.encode(np.ascontiguousarray(values[:, None]))[:, 0]
    present = ~np.isnan(values)
    _, ranks = np.unique(values[present], return_inverse=True)
    np.testing.assert_array_equal(codes[present], ranks)
    assert (codes[~present] == binning.n_bins[0]).all()


@pytest.mark.parametrize(
    ("n_values", "max_bins", "n_bins", "dtype"),
    [
        (255, 255, 255, np.uint8),
        (256, 255, 255, np.uint8),
        (256, "exact", 256, np.uint16),
        (65_535, "exact", 65_535, np.uint16),
        (70_000, "exact", 65_535, np.uint16),
    ],
)
def test_width_of_codes(n_values, max_bins, n_bins, dtype):
    values = np.arange(n_values, dtype=float)[:, None]
    binning = find_bins(values, np.array([-1], dtype=np.int32), max_bins, None)
    assert binning.n_bins[0] == n_bins
    codes = binning.encode(np.vstack([values, [[np.nan]]]))
    assert codes.dtype == dtype
    assert codes[-1, 0] == n_bins
    # Quantiles: no bin holds much more than its share.
    assert np.bincount(codes[:-1, 0]).max() <= np.ceil(n_values / n_bins) + 1


@pytest.mark.parametrize("n_values", [0, 1, 2, 254, 255, 256, 257, 3000])
def test_distinct_values_at_their_limit(n_values):
    """Up to 255 values are found, however they are ordered; NaN is none of them."""
    rng = np.random.default_rng(n_values)
    values = rng.permutation(np.repeat(np.arange(n_values) - 100.5, 2))
    X = np.column_stack([np.append(values, [np.nan] * 3), np.zeros(len(values) + 3)])
    found, n_found = _core.distinct_values(X)
    assert n_found.tolist() == [min(n_values, 256), 1]
    if n_values <= 255:
        np.testing.assert_array_equal(found[0, :n_values], np.unique(values))
    assert not found[1].any()


@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(0, 30), st.integers(1, 20)),
        elements=st.one_of(NUMBERS, st.sampled_from([0.0, -0.0, np.inf, -np.inf])),
    )
)
def test_distinct_values_of_a_table(X):
    values, n_values = _core.distinct_values(X)
    for column, found, n in zip(X.T, values, n_values, strict=True):
        expected = np.unique(column[~np.isnan(column)])
        np.testing.assert_array_equal(found[:n], expected)
        assert not np.signbit(found[found == 0]).any()
        places = _core.places(np.ascontiguousarray(column), found[:n])
        np.testing.assert_array_equal(places[np.isnan(column)], -1)
        known = places >= 0
        np.testing.assert_array_equal(found[places[known]], column[known])
        assert known.sum() == (~np.isnan(column)).sum()


@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(0, 40), st.integers(1, 20)),
        elements=st.one_of(
            st.integers(-20, 60).map(float),
            st.sampled_from([-0.0, 0.5, 47.0, 48.0, -16.0, -17.0, 1e300, np.nan]),
        ),
    ),
    data=st.data(),
)
def test_distinct_values_of_some_columns_of_small_whole_numbers(X, data):
    begin = data.draw(st.integers(0, X.shape[1]))
    end = data.draw(st.integers(begin, X.shape[1]))
    values, n_values = _core.distinct_values(X, begin, end)
    assert len(values) == len(n_values) == end - begin
    for column, found, n in zip(X.T[begin:end], values, n_values, strict=True):
        np.testing.assert_array_equal(found[:n], np.unique(column[~np.isnan(column)]))
        assert not found[n:].any()


@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(1, 40), st.integers(1, 12)),
        elements=st.one_of(
            st.integers(0, 3).map(float), st.just(np.nan), st.floats(-5, 5)
        ),
    ),
    n_threads=st.integers(1, 4),
)
def test_codes_of_few_and_many_cuts(X, n_threads):
    n_categories = np.full(X.shape[1], -1, dtype=np.int32)
    binning = find_bins(X, n_categories, 255, None, n_threads)
    codes = binning.encode(X, n_threads)
    for j, column in enumerate(X.T):
        cuts = binning.cuts[binning.cuts_start[j] : binning.cuts_start[j + 1]]
        np.testing.assert_array_equal(cuts, naive.cuts_of(column, 255))
        np.testing.assert_array_equal(codes[:, j], naive.encode(column, cuts))


def test_cuts_of_a_table_are_those_of_its_columns():
    """Columns of few and of many values, categories, and none but missing ones."""
    rng = np.random.default_rng(0)
    X = rng.integers([2, 9, 300, 4, 1], size=(700, 5)).astype(float)
    X[:, 4] = np.nan
    for max_bins in (2, 16, 255, "exact"):
        binning = find_bins(
            X, np.array([-1, -1, -1, 4, -1], dtype=np.int32), max_bins, None
        )
        limit = 65534 if max_bins == "exact" else max_bins
        for j in range(5):
            cuts = binning.cuts[binning.cuts_start[j] : binning.cuts_start[j + 1]]
            expected = [] if j == 3 else naive.cuts_of(X[:, j], limit)
            np.testing.assert_array_equal(cuts, expected)
