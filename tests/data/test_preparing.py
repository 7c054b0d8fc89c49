# SPDX-License-Identifier: BSD-3-Clause
"""Preparing a table: fast kernels and plain ones agree; threads do not show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mrforest import _core
from mrforest.data.training import SERIAL_WORK, Classes, prepare
from tests.naive.rng import mix

WORD = 2**64
SEEDS = st.integers(0, 2**32)


def fingerprint(row, y):
    """Hash a row, cell by cell."""
    h = mix(y + 1)
    for cell in row.tolist():
        h = (h ^ (mix(cell) if row.dtype == np.uint64 else cell)) * 0x100000001B3 % WORD
    return mix(h)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint64])
@given(data=st.data())
def test_fingerprints(dtype, data):
    shape = st.tuples(st.integers(1, 11), st.integers(1, 6))
    cells = data.draw(arrays(dtype, shape))
    y = np.arange(len(cells), dtype=np.int32) % 3
    expected = [fingerprint(row, int(k)) for row, k in zip(cells, y, strict=True)]
    found = np.empty(len(cells), dtype=np.uint64)
    _core.fingerprints(cells, y, found)
    assert found.tolist() == expected


@given(seed=SEEDS, n_rows=st.integers(1, 50), dtype=st.sampled_from("BH"))
def test_rows_are_put_in_order(seed, n_rows, dtype):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, size=(n_rows, 3)).astype(dtype)
    order = rng.permutation(n_rows).astype(np.int32)
    expected = codes[order]
    _core.put_in_order(codes, order)
    np.testing.assert_array_equal(codes, expected)


@given(seed=SEEDS, n_rows=st.integers(1, 200), dtype=st.sampled_from("BH"))
def test_slices(seed, n_rows, dtype):
    rng = np.random.default_rng(seed)
    n_slices = rng.integers(0, 8, size=9)
    codes = rng.integers(0, n_slices + 1, size=(n_rows, 9)).astype(dtype)
    is_categorical = rng.integers(0, 2, size=9).astype(np.uint8)
    start = np.concatenate([[0], np.cumsum(n_slices)]).astype(np.int32)
    words = np.full(((n_rows + 63) // 64, start[-1]), 7, dtype=np.uint64)
    _core.write_cut_bits(codes, start, is_categorical, words)
    for j in range(9):
        for s in range(n_slices[j]):
            column = codes[:, j]
            is_left = column == s if is_categorical[j] else column <= s
            bits = [int(word) for word in words[:, start[j] + s]]
            for i in range(64 * len(bits)):
                expected = bool(is_left[i]) if i < n_rows else False
                assert bits[i // 64] >> (i % 64) & 1 == expected


@pytest.mark.parametrize("weight", ["none", "whole", "real"])
@pytest.mark.parametrize("max_bins", [16, "exact", None])
def test_threads_do_not_show(max_bins, weight):
    rng = np.random.default_rng(0)
    n_rows = SERIAL_WORK // 10 + 77
    few = rng.integers(0, [2, 3, 9], size=(n_rows, 3))
    X = np.column_stack([few, rng.normal(size=(n_rows, 7)).round(3)])
    X[rng.random(X.shape) < 0.01] = np.nan
    weights = {
        "none": None,
        "whole": rng.integers(0, 3, n_rows).astype(float),
        "real": rng.random(n_rows) + 0.1,
    }
    target = Classes(rng.integers(0, 3, n_rows).astype(np.int32), 3, None, "gini")

    def arrays_of(n_threads):
        training = prepare(
            X,
            target,
            n_categories=np.full(10, -1, dtype=np.int32),
            max_bins=max_bins,
            sample_weight=weights[weight],
            n_threads=n_threads,
        )
        _, (_, _, table, *_) = training.table.__reduce__()
        return [training.points, training.row_origin, *table.values()]

    for one, other in zip(arrays_of(1), arrays_of(3), strict=True):
        np.testing.assert_array_equal(one, other)
