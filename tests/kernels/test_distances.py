# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that tell which of two rows is nearer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels import library
from tests.kernels.library import Struct
from tests.kernels.samples import AROUND_LANES, seeds, sizes
from tests.naive import kernels as twin

KINDS = (library.NUMBERS, library.CATEGORIES, library.GAPS)
ROWS = (1, 2, 3, 4, 5, 7, 8, 9, 17)


def table_of(rng, n_rows, n, kind, style):
    """Return rows, and which features are categorical, of a kind of table."""
    X = rng.normal(size=(n_rows, n)) * 10.0 ** rng.integers(-3, 4, size=n)
    if style == "ties":
        X = rng.integers(-1, 2, size=(n_rows, n)).astype(float)
        X[rng.random(X.shape) < 0.1] = -0.0
    elif style == "rounded":  # sums of other orders have other last bits
        X = rng.choice([0.1, 0.3, 0.7, 1e16, 3.0], size=(n_rows, n))
    elif style == "extreme":
        X = rng.choice([1e308, -1e308, 5e-324, 1e-170, 0.0, 1.0], size=(n_rows, n))
    is_categorical = np.zeros(n, np.uint8)
    if kind != library.NUMBERS:
        is_categorical = (rng.random(n) < 0.4).astype(np.uint8)
        of_category = is_categorical.astype(bool)
        X[:, of_category] = rng.integers(3, size=(n_rows, of_category.sum()))
    if kind == library.GAPS:
        X[rng.random(X.shape) < rng.choice([0.02, 0.3])] = np.nan
    return X, is_categorical


def check_compare(kernels, kind, n, n_rows, style, seed):
    rng = np.random.default_rng(seed)
    X, is_categorical = table_of(rng, n_rows + 2, n, kind, style)
    p, q = X[n_rows], X[n_rows + 1]
    if rng.random() < 0.2:  # as near to both
        q = p.copy()
    X = X[:n_rows].copy()
    rows = rng.integers(n_rows, size=n_rows).astype(np.int32)
    left = np.full(n_rows, 7, np.uint8)
    kernels.compare(X, rows, n_rows, p, q, n, is_categorical, kind, left)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = [twin.is_nearer(X[row], p, q, is_categorical) for row in rows]
    assert left.tolist() == expected
    for row, is_left in zip(rows, expected, strict=True):
        found = kernels.is_nearer(X[row], p, q, n, is_categorical, kind)
        assert bool(found) == is_left


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_rows(kernels, kind):
    for n_rows in ROWS:
        for style in ("any", "ties"):
            for n in (1, 2, 5):
                check_compare(kernels, kind, n, n_rows, style, n_rows)


@given(
    st.sampled_from(KINDS),
    sizes(130, AROUND_LANES),
    sizes(20, ROWS),
    st.sampled_from(["any", "ties", "rounded", "extreme"]),
    seeds,
)
def test_rows_are_compared(kernels, kind, n, n_rows, style, seed):
    check_compare(kernels, kind, n, n_rows, style, seed)


# --- Packed features ------------------------------------------------------------------


def packed_words(codes: np.ndarray, n_bits: int) -> np.ndarray:
    """Return the words of rows of codes: for 64 features one of each of their bits."""
    groups = [codes[:, first : first + 64] for first in range(0, codes.shape[1], 64)]
    words = [
        twin.words_of((group.T >> bit & 1).astype(bool)).reshape(-1)
        for group in groups
        for bit in range(n_bits)
    ]
    return np.column_stack(words)


def check_packed(kernels, kind, n_plain, n_packed, n_bits, n_rows, style, seed):
    rng = np.random.default_rng(seed)
    n_all = n_rows + 2
    plain, is_plain_categorical = table_of(rng, n_all, n_plain, kind, style)
    # Few codes: rows have many alike. A number has two, which are 0 and 1.
    codes = rng.choice(rng.integers(2**n_bits, size=3), size=(n_all, n_packed))
    is_categorical = np.ones(n_packed, np.uint8)
    is_number = rng.random(n_packed) < 0.5
    if kind == library.NUMBERS:
        is_number[:] = True
    is_categorical[is_number] = 0
    codes[:, is_number] = rng.integers(2, size=(n_all, is_number.sum()))
    X = np.ascontiguousarray(np.hstack([plain, codes.astype(float)]))
    is_categorical = np.concatenate([is_plain_categorical, is_categorical])
    words = packed_words(codes, n_bits)
    packing = Struct("packing", n_plain=n_plain, n_words=words.shape[1], n_bits=n_bits)
    p, q = n_rows, n_rows + rng.integers(2)
    rows = rng.integers(n_all, size=n_rows).astype(np.int32)
    left = np.full(n_rows, 7, np.uint8)
    kernels.compare_packed(
        X, rows, n_rows, p, q, X.shape[1], is_categorical, kind, words, packing, left
    )
    with np.errstate(over="ignore", invalid="ignore"):
        expected = [twin.is_nearer(X[r], X[p], X[q], is_categorical) for r in rows]
    assert left.tolist() == expected
    for row, is_left in zip(rows, expected, strict=True):
        found = kernels.is_nearer_packed(
            *(X[i, :n_plain].copy() for i in (row, p, q)),
            is_categorical[:n_plain].copy(),
            kind,
            *(words[i] for i in (row, p, q)),
            packing,
        )
        assert bool(found) == is_left


@pytest.mark.parametrize("n_plain", [0, 1, 5])
def test_any_number_of_packed_features(kernels, n_plain):
    for n_packed in [1, 8, 63, 64, 65, 128, 130]:
        for kind in KINDS:
            for n_bits in (1, 3):
                check_packed(
                    kernels, kind, n_plain, n_packed, n_bits, 9, "ties", n_packed
                )


@given(
    st.sampled_from(KINDS),
    st.integers(0, 6),
    st.integers(1, 140),
    st.integers(1, 8),
    sizes(20, ROWS),
    st.sampled_from(["any", "ties", "rounded", "extreme"]),
    seeds,
)
def test_packed_rows_are_compared(
    kernels, kind, n_plain, n_packed, n_bits, n_rows, style, seed
):
    check_packed(kernels, kind, n_plain, n_packed, n_bits, n_rows, style, seed)


def test_ones_are_added_one_after_the_other(kernels):
    # The plain features give 2^53, and 2^53 + 1 is 2^53: many ones at once give more.
    X = np.zeros((3, 2 + 64))
    x, p, q = 0, 1, 2
    X[p, :2], X[q, :2] = 2.0**26, -(2.0**26)
    packing = Struct("packing", n_plain=2, n_words=1, n_bits=1)
    is_categorical = np.zeros(66, np.uint8)
    rows, left = np.array([x], np.int32), np.zeros(1, np.uint8)
    for n_p, n_q in np.ndindex(5, 5):
        X[p, 2:], X[q, 2:] = np.arange(64) < n_p, np.arange(64) < n_q
        words = packed_words(X[:, 2:].astype(int), 1)
        kind = library.NUMBERS
        kernels.compare_packed(
            X, rows, 1, p, q, 66, is_categorical, kind, words, packing, left
        )
        assert bool(left[0]) == twin.is_nearer(X[x], X[p], X[q], is_categorical)
