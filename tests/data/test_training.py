# SPDX-License-Identifier: BSD-3-Clause
"""Rows in canonical order: the given order and repetition do not show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest.data.training import Classes, as_mass, prepare


def make(X, y, sample_weight=None):
    return prepare(
        X,
        Classes(y.astype(np.int32), 3, None, "gini"),
        n_categories=np.full(X.shape[1], -1, dtype=np.int32),
        max_bins=5,
        sample_weight=sample_weight,
    )


def rows_of(training):
    """Codes, class and mass of every point."""
    _, (target, _, table, *_) = training.table.__reduce__()
    y, _, mass, *_ = target.__reduce__()[1]
    codes = table["codes"]
    columns = [codes, y[:, None]] + ([] if mass is None else [mass[:, None]])
    return np.hstack(columns)[training.points]


@given(seed=st.integers(0, 2**32), n=st.integers(1, 60), real=st.booleans())
def test_order_does_not_show(seed, n, real):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (n, 3)).astype(float)
    y = rng.integers(0, 3, n)
    weight = rng.random(n) + 0.1 if real else None
    order = rng.permutation(n)
    straight = make(X, y, weight)
    shuffled = make(X[order], y[order], None if weight is None else weight[order])
    np.testing.assert_array_equal(rows_of(straight), rows_of(shuffled))
    # Each point knows the user's row it came from, or one of equal codes and class.
    np.testing.assert_array_equal(y[straight.origin], y[order][shuffled.origin])
    assert sorted(straight.origin) == list(range(n))


@given(seed=st.integers(0, 2**32), n=st.integers(1, 40))
def test_whole_weights_are_repetitions(seed, n):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 8, (n, 2)).astype(float), rng.integers(0, 3, n)
    weight = rng.integers(0, 4, n)
    weight[0] = 1
    repeated = make(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    weighted = make(X, y, weight.astype(float))
    np.testing.assert_array_equal(rows_of(repeated), rows_of(weighted))
    assert set(weighted.origin) == set(np.flatnonzero(weight))


@pytest.mark.parametrize("scale", [1.0, 1e-310, 1e300])
def test_real_weights_become_exact_masses(scale):
    weight = np.array([0.1, 0.2, 1e-9, 123.4])
    mass, unit = as_mass(weight * scale)
    assert 2**50 <= mass.sum() <= 2**51
    assert np.log2(unit) == int(np.log2(unit))
    np.testing.assert_allclose(
        mass[:2] / mass[3], weight[:2] / weight[3], rtol=1e-10 if scale >= 1 else 1e-2
    )
    assert mass.min() >= 1
    assert 0.25 < mass.mean() * unit < 2


def test_too_many_repetitions():
    with pytest.raises(ValueError, match=r"sample_weight.*at most 2147483647"):
        make(np.zeros((2, 1)), np.zeros(2), np.array([2.0**31, 1.0]))
