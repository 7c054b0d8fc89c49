# SPDX-License-Identifier: BSD-3-Clause
"""Cuts of parts are the cuts of the whole."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mrforest.dask._quantiles import (
    QuantileRanges,
    cuts_from_ranges,
    cuts_or_ranges,
    rank_values,
    values_in_ranges,
)
from mrforest.data.binning import cuts_of


def cuts_of_parts(parts, max_bins, n_ranked):
    ranked = [rank_values(part, n_ranked) for part in parts]
    found = cuts_or_ranges(ranked, max_bins)
    if isinstance(found, QuantileRanges):
        values = [values_in_ranges(part, found) for part in parts]
        found = cuts_from_ranges(values, found)
    return found


def dealt(rng, values, n_parts):
    """Deal values out to parts, some of which are empty."""
    part = rng.integers(0, max(n_parts // 2, 1), len(values)) * 2 % max(n_parts, 1)
    return [values[part == i] for i in range(n_parts)]


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 400),
    n_values=st.integers(1, 400),
    n_parts=st.integers(1, 17),
    max_bins=st.integers(2, 60),
    more=st.integers(1, 40),
)
@example(seed=0, n=1, n_values=1, n_parts=17, max_bins=2, more=1)
def test_cuts_of_parts(seed, n, n_values, n_parts, max_bins, more):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n_values)[rng.integers(0, n_values, n) % n_values]
    # Some values are frequent, and some are missing.
    values[rng.random(n) < 0.3] = rng.choice(values)
    values[rng.random(n) < 0.1] = np.nan
    parts = dealt(rng, values, n_parts)
    assert sum(map(len, parts)) == n
    found = cuts_of_parts(parts, max_bins, max_bins + more)
    np.testing.assert_array_equal(found, cuts_of(values.copy(), max_bins))


@pytest.mark.parametrize("n_parts", [1, 3, 17])
def test_quantiles_of_many_values(n_parts):
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(size=50_000), np.repeat(0.25, 20_000)])
    rng.shuffle(values)
    found = cuts_of_parts(dealt(rng, values, n_parts), 255, 4096)
    np.testing.assert_array_equal(found, cuts_of(values.copy(), 255))


def test_second_pass_looks_at_few_values():
    """One in eight, as its documentation says; without the first pass it were all."""
    rng = np.random.default_rng(4)
    parts = [rng.normal(size=100_000) for _ in range(4)]
    ranges = cuts_or_ranges([rank_values(part, 4096) for part in parts], 255)
    n_looked = sum(
        len(values) for p in parts for values in values_in_ranges(p, ranges).values
    )
    assert 0 < n_looked < 400_000 / 6
