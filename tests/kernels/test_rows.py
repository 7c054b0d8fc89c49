# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of rows of codes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.library import Struct
from tests.kernels.samples import CODE_STYLES, LENGTHS, codes_of, seeds, sizes
from tests.naive import kernels as twin

# --- Copies ---------------------------------------------------------------------------


def check_copy(kernels, n_bytes, n, compare, style, seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(1, 2 * n + 2))
    table = rng.integers(256, size=(n_rows, n_bytes), dtype=np.uint8)
    if style == "equal":
        table[:] = table[0]
    elif style == "one bit":
        table[:] = table[0]
        table[rng.integers(n_rows), rng.integers(n_bytes)] ^= 1 << rng.integers(8)
    rows = rng.integers(n_rows, size=n).astype(np.int32)
    copy = np.zeros((n, n_bytes), np.uint8)
    differ = rng.integers(256, size=n_bytes, dtype=np.uint8) if compare else None
    kernels.copy_rows(table, n_bytes, n_rows, rows, n, copy, differ)
    expected, expected_differ = twin.copy_rows(table, rows)
    assert copy.tolist() == expected.tolist()
    if compare:
        assert differ.tolist() == expected_differ.tolist()


@pytest.mark.parametrize("compare", [False, True])
def test_rows_of_any_length_are_copied(kernels, compare):
    for n_bytes in LENGTHS:
        for n in (1, 2, 9):
            for style in ("any", "one bit"):
                check_copy(kernels, n_bytes, n, compare, style, n_bytes)


@given(
    sizes(300, LENGTHS),
    sizes(40, LENGTHS),
    st.booleans(),
    st.sampled_from(["any", "equal", "one bit"]),
    seeds,
)
def test_rows_are_copied(kernels, n_bytes, n, compare, style, seed):
    check_copy(kernels, n_bytes, n, compare, style, seed)


# --- Partition ------------------------------------------------------------------------


def check_part(kernels, is_wide, n, stride, style, seed):
    rng = np.random.default_rng(seed)
    high = 65536 if is_wide else 256
    n_codes = int(rng.choice([2, 3, 200, high - 1]))
    n_rows = n + int(rng.integers(5))
    codes = codes_of(rng, n_rows, n_codes, style)
    missing = n_codes  # codes of values are below it
    share_missing = rng.choice([0, 0.2, 1], p=[0.5, 0.4, 0.1])
    codes[rng.random(n_rows) < share_missing] = missing
    bin_ = int(rng.choice([rng.choice(codes), rng.integers(n_codes), 0, n_codes - 1]))
    all_codes = rng.integers(high, size=(n_rows - 1) * stride + 1)
    all_codes[::stride] = codes
    all_codes = all_codes.astype(np.uint16 if is_wide else np.uint8)
    rows = rng.permutation(n_rows)[:n].astype(np.int32)
    part = kernels.part_rows_of_shorts if is_wide else kernels.part_rows_of_bytes
    for is_equality in (0, 1):
        for missing_left in (0, 1):
            cut = bin_, is_equality, missing, missing_left
            left, right = twin.part_rows(codes, rows, *cut)
            names = ("bin", "is_equality", "missing", "missing_left")
            parted, scratch = rows.copy(), np.zeros(n, np.int32)
            n_left = part(
                all_codes,
                stride,
                n_rows,
                parted,
                n,
                Struct("left_codes", **dict(zip(names, cut, strict=True))),
                scratch,
            )
            assert n_left == len(left)
            assert parted.tolist() == left + right


@pytest.mark.parametrize("is_wide", [False, True])
def test_rows_are_parted_at_limits(kernels, is_wide):
    for n in LENGTHS:
        for stride in (1, 3):
            for style in CODE_STYLES:
                check_part(kernels, is_wide, n, stride, style, n)


@given(
    st.booleans(),
    sizes(400, LENGTHS),
    st.integers(1, 9),
    st.sampled_from(CODE_STYLES),
    seeds,
)
def test_rows_are_parted(kernels, is_wide, n, stride, style, seed):
    check_part(kernels, is_wide, n, stride, style, seed)


@pytest.mark.parametrize("is_wide", [False, True])
def test_no_row_is_parted(kernels, is_wide):
    part = kernels.part_rows_of_shorts if is_wide else kernels.part_rows_of_bytes
    codes = np.zeros(3, np.uint16 if is_wide else np.uint8)
    rows, scratch = np.zeros(0, np.int32), np.zeros(0, np.int32)
    left = Struct("left_codes", bin=0, is_equality=0, missing=9, missing_left=0)
    assert part(codes, 1, 3, rows, 0, left, scratch) == 0
