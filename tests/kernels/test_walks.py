# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of prediction: codes of rows, and the leaves that rows reach."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels import library
from tests.kernels.library import At, Struct
from tests.kernels.samples import AROUND_LANES, seeds, sizes
from tests.naive import kernels as twin

ROWS = (*AROUND_LANES, 255, 256, 257)
EXTREMES = (0.0, -0.0, np.inf, -np.inf, 5e-324, 1.7976931348623157e308)


def numbers_of(rng, shape, share_missing=0.0):
    """Return numbers with many ties, extreme ones among them."""
    X = rng.integers(-4, 5, size=shape).astype(float)
    is_extreme = rng.random(shape) < 0.1
    X[is_extreme] = rng.choice(EXTREMES, is_extreme.sum())
    X[rng.random(shape) < share_missing] = np.nan
    return X


# --- Missing values -------------------------------------------------------------------


def test_missing_values_are_found_anywhere(kernels):
    for n in [0, *ROWS]:
        rng = np.random.default_rng(n)
        X = numbers_of(rng, n)
        assert not kernels.has_missing(X, n)
        for place in range(n):
            with_one = X.copy()
            with_one[place] = rng.choice([np.nan, -np.nan])
            assert kernels.has_missing(with_one, n)


# --- Codes ----------------------------------------------------------------------------


def thresholds_of(rng, n):
    """Return n ascending values, among them perhaps extreme ones."""
    values = np.unique(rng.integers(-n, n + 1, size=3 * n + 9) / 2)
    values = np.sort(rng.choice(values, n, replace=False))
    if n > 2 and rng.random() < 0.3:
        values[0], values[-1] = -1.7976931348623157e308, 1.7976931348623157e308
    return values


def numbers_around(rng, values, n):
    """Return numbers that are values, or just beside one, or far away."""
    X = rng.choice(values, n) if len(values) else np.zeros(n)
    with np.errstate(over="ignore"):
        beside = np.nextafter(X, rng.choice([-np.inf, np.inf], n))
    X = np.where(rng.random(n) < 0.5, X, beside)
    is_extreme = rng.random(n) < 0.1
    X[is_extreme] = rng.choice(EXTREMES, is_extreme.sum())
    return X


def check_count_below(kernels, n_values, n, stride, seed):
    rng = np.random.default_rng(seed)
    values = thresholds_of(rng, n_values)
    x = rng.normal(size=(n - 1) * stride + 1)
    x[::stride] = numbers_around(rng, values, n)
    x[::stride][rng.random(n) < 0.1] = np.nan
    below = np.zeros(n, np.int32)
    kernels.count_below(values, n_values, x, stride, n, below)
    assert below.tolist() == [twin.count_below(values, each) for each in x[::stride]]


def test_values_below_at_limits(kernels):
    for n_values in [*ROWS, 65_535]:
        for n in (1, 2, 15, 16):
            check_count_below(kernels, n_values, n, 3, n_values)


@given(sizes(300, ROWS), st.integers(1, 16), st.integers(1, 5), seeds)
def test_values_below(kernels, n_values, n, stride, seed):
    check_count_below(kernels, n_values, n, stride, seed)


def columns_of(rng, n_columns, n_features, most_values):
    """Return columns: of thresholds or of equality, several of a feature or none."""
    columns = []
    for feature in np.sort(rng.integers(n_features, size=n_columns)):
        is_equality = bool(rng.random() < 0.3)
        n_values = 1 if is_equality else int(rng.choice([1, 2, 9, most_values]))
        values = thresholds_of(rng, n_values)
        if is_equality:
            values = rng.choice([-1.0, 0.0, -0.0, 2.0], 1)
        columns.append((values, int(feature), is_equality))
    return columns


def as_structs(columns):
    """Return the columns as kernels take them, their values one after the other."""
    values = np.concatenate([values for values, _, _ in columns])
    starts = np.cumsum([0, *(len(values) for values, _, _ in columns)])
    return [
        Struct(
            "column",
            values=At(values, start),
            n_values=len(own),
            feature=feature,
            is_equality=is_equality,
        )
        for start, (own, feature, is_equality) in zip(starts, columns, strict=False)
    ]


def rows_around(rng, columns, n_rows, n_features):
    """Return rows whose numbers are near to the thresholds."""
    X = numbers_of(rng, (n_rows, n_features))
    for values, feature, _ in columns:
        some = rng.random(n_rows) < 0.5
        X[some, feature] = numbers_around(rng, values, some.sum())
    return X


def check_codes(kernels, is_wide, n_columns, n_rows, seed):
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(1, 9))
    most = int(rng.choice([30, 1000])) if is_wide else int(rng.choice([30, 255]))
    columns = columns_of(rng, n_columns, n_features, most)
    X = rows_around(rng, columns, n_rows, n_features)
    stride = n_columns + int(rng.integers(4))
    dtype = np.uint16 if is_wide else np.uint8
    codes = np.full((n_rows - 1) * stride + n_columns, 199, dtype)
    code = kernels.code_shorts if is_wide else kernels.code_bytes
    code(as_structs(columns), n_columns, X, n_features, n_rows, codes, stride)
    padded = np.full((n_rows, stride), 199)
    for i, (row, j) in enumerate(np.ndindex(n_rows, n_columns)):
        values, feature, is_equality = columns[j]
        padded[row, j] = twin.code_of(values, is_equality, X[row, feature])
        assert i == row * n_columns + j
    assert codes.tolist() == padded.reshape(-1)[: len(codes)].tolist()


@pytest.mark.parametrize("is_wide", [False, True])
def test_codes_of_any_number_of_rows(kernels, is_wide):
    for n_rows in ROWS:
        check_codes(kernels, is_wide, 3, n_rows, n_rows)


@given(st.booleans(), st.integers(1, 40), sizes(70, ROWS), seeds)
def test_codes(kernels, is_wide, n_columns, n_rows, seed):
    check_codes(kernels, is_wide, n_columns, n_rows, seed)


@pytest.mark.parametrize("is_wide", [False, True])
def test_as_many_thresholds_as_codes_count(kernels, is_wide):
    n = 65_535 if is_wide else 255
    values = np.arange(n) * 0.5
    X = np.array([-1.0, 0.0, 0.25, values[-2], values[-1], np.inf])
    codes = np.zeros(6, np.uint16 if is_wide else np.uint8)
    code = kernels.code_shorts if is_wide else kernels.code_bytes
    code(as_structs([(values, 0, False)]), 1, X, 1, 6, codes, 1)
    assert codes.tolist() == [0, 0, 1, n - 2, n - 1, n]


# --- Walks ----------------------------------------------------------------------------

SHAPES = ("bushy", "chain left", "chain right", "any")


def children_of(rng, n_splits, shape):
    """Return for each node the left one of two neighbours, or -1 for a leaf."""
    child, leaves = [-1], [0]
    for _ in range(n_splits):
        place = {"bushy": 0, "chain left": -2, "chain right": -1}.get(shape)
        if place is None or len(leaves) == 1:
            place = rng.integers(len(leaves))
        here = leaves.pop(place)
        child[here] = len(child)
        leaves += [len(child), len(child) + 1]
        child += [-1, -1]
    return np.array(child)


def check_walk(kernels, n_splits, n_rows, shape, is_plain, seed):
    rng = np.random.default_rng(seed)
    child = children_of(rng, n_splits, shape)
    n_features = int(rng.integers(1, 6))
    nodes = np.zeros(len(child), library.header().dtype("mrforest_node"))
    nodes["child"] = np.where(child < 0, -1 - np.arange(len(child)), child)
    nodes["threshold"] = numbers_of(rng, len(child))
    nodes["feature"] = rng.integers(n_features, size=len(child))
    X = numbers_of(rng, (n_rows, n_features), 0.0 if is_plain else 0.2)
    if not is_plain:
        for flag in (library.MISSING_LEFT, library.EQUALITY):
            nodes["feature"] |= flag * (rng.random(len(child)) < 0.4).astype(np.uint32)
    else:  # the side of missing values may be there, too: nobody asks
        flags = (rng.random(len(child)) < 0.4).astype(np.uint32)
        nodes["feature"] |= library.MISSING_LEFT * flags
    expected = [twin.walk(nodes, row) for row in X]
    for walk in (kernels.walk_any, kernels.walk_plain)[: 1 + is_plain]:
        where = np.full(n_rows, -7, np.int32)
        walk(nodes, X, n_features, n_rows, where)
        assert where.tolist() == expected


@pytest.mark.parametrize("is_plain", [False, True])
def test_walks_of_any_number_of_rows(kernels, is_plain):
    for n_rows in ROWS:
        for shape in SHAPES:
            for n_splits in (0, 1, 6):
                check_walk(kernels, n_splits, n_rows, shape, is_plain, n_rows)


@given(
    st.integers(0, 40),
    sizes(70, ROWS),
    st.sampled_from(SHAPES),
    st.booleans(),
    seeds,
)
def test_walks(kernels, n_splits, n_rows, shape, is_plain, seed):
    check_walk(kernels, n_splits, n_rows, shape, is_plain, seed)


def check_coded_walk(kernels, n_splits, n_rows, shape, width, seed):
    """Walk by codes of two bytes, of one byte, or of one byte in slim nodes."""
    rng = np.random.default_rng(seed)
    child = children_of(rng, n_splits, shape)
    n_nodes = len(child)
    highest = 65_535 if width == "shorts" else 255
    stride = (
        2 ** int(rng.integers(4, 9)) if width == "slim" else int(rng.integers(1, 40))
    )
    n_columns = int(rng.choice([1, stride, rng.integers(1, stride + 1)]))
    column = rng.integers(n_columns, size=n_nodes)
    few = rng.choice([3, highest])
    high = rng.integers(few, size=n_nodes)
    is_leaf = child < 0
    high[is_leaf] = highest
    child[is_leaf] = np.flatnonzero(is_leaf)
    codes = rng.integers(few + 1, size=(n_rows, stride))
    codes = codes.astype(np.uint16 if width == "shorts" else np.uint8)
    twins = list(zip(child.tolist(), column.tolist(), high.tolist(), strict=True))
    expected = [twin.walk_codes(twins, row) for row in codes]
    if width == "slim":
        further = child - np.arange(n_nodes)
        nodes = (high | column << 8 | further << 16).astype(np.uint32)
    else:
        nodes = np.zeros(n_nodes, library.header().dtype("mrforest_coded_node"))
        nodes["child"], nodes["column"], nodes["high"] = child, column, high
    where = np.full(n_rows, -7, np.int32)
    waiting = np.full(n_rows, -7, np.int32)
    walk = getattr(kernels, f"walk_{width}")
    walk(nodes, n_nodes, codes, stride, n_rows, where, waiting)
    assert where.tolist() == expected


WIDTHS = ("slim", "bytes", "shorts")


@pytest.mark.parametrize("width", WIDTHS)
def test_coded_walks_of_any_number_of_rows(kernels, width):
    for n_rows in ROWS:
        for shape in SHAPES:
            for n_splits in (0, 1, 2, 20):
                check_coded_walk(kernels, n_splits, n_rows, shape, width, n_rows)


@given(
    st.integers(0, 300),
    sizes(70, ROWS),
    st.sampled_from(SHAPES),
    st.sampled_from(WIDTHS),
    seeds,
)
def test_coded_walks(kernels, n_splits, n_rows, shape, width, seed):
    check_coded_walk(kernels, n_splits, n_rows, shape, width, seed)


@pytest.mark.parametrize("width", WIDTHS)
def test_walks_over_far_children(kernels, width):
    # The children of the root are as far on as 16 bits tell, with all codes in use.
    n_nodes, highest = 65_537, 65_535 if width == "shorts" else 255
    child = np.arange(n_nodes)
    child[0] = 65_535
    high = np.full(n_nodes, highest)
    high[0] = highest - 1
    if width == "slim":
        nodes = (high | (child - np.arange(n_nodes)) << 16).astype(np.uint32)
    else:
        nodes = np.zeros(n_nodes, library.header().dtype("mrforest_coded_node"))
        nodes["child"], nodes["high"] = child, high
    codes = np.zeros((2, 16), np.uint16 if width == "shorts" else np.uint8)
    codes[1, 0] = highest
    where, waiting = np.zeros(2, np.int32), np.zeros(2, np.int32)
    walk = getattr(kernels, f"walk_{width}")
    walk(nodes, n_nodes, codes, 16, 2, where, waiting)
    assert where.tolist() == [65_535, 65_536]
