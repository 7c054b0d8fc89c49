# SPDX-License-Identifier: BSD-3-Clause
"""Cuts and codes equal the twin's; a midpoint separates its neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

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
    cuts = cuts_of(values, max_bins, counts)
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
