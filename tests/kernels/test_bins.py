# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of points that are counted in bins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.library import Struct
from tests.kernels.samples import AROUND_LANES, CLASSES, classes_of, seeds, sizes
from tests.kernels.test_lists import assert_cuts, cuts_with_room_for
from tests.naive import kernels as twin

READ_BEHIND = 3  # cells behind the last bin of a class
BINS = (*AROUND_LANES, 255, 256, 257, 511, 512, 513, 700)
# Around the roots of 2^31, 2^32 and 2^53; sums of squares are below the last one.
POINTS = (1, 2, 46_340, 46_341, 65_535, 65_536, 94_906_265)


def bins_of(rng, n_points, n_bins, n_classes):
    """Return counts of classes x bins, of which few, many, or but one are empty."""
    n_used = rng.choice([1, 2, min(n_bins, 5), n_bins])
    used = np.sort(rng.choice(n_bins, min(n_used, n_bins), replace=False))
    cells = rng.dirichlet(
        np.full(len(used) * n_classes, rng.choice([0.05, 1.0, 100.0]))
    )
    counts = np.zeros((n_classes, n_bins), np.int32)
    counts[:, used] = rng.multinomial(n_points, cells).reshape(n_classes, -1)
    return counts


def level_bins(rng, n_points, n_bins, n_classes):
    """Return counts whose class shares on both sides of all cuts are the same, nearly.

    So scores are near ties. Most points are in the first bin and in the last one.
    """
    up_to = np.sort(rng.uniform(0.49, 0.51, n_bins)) * n_points
    up_to[-1] = n_points
    if rng.random() < 0.5:
        shares = rng.dirichlet(np.full(n_classes, 10.0))
        left = np.outer(shares, up_to).astype(np.int64)
        left[:, :-1] += rng.integers(0, 2, (n_classes, n_bins - 1))
    else:  # all cuts are one point away from equal shares
        left = np.tile((up_to / n_classes).astype(np.int64), (n_classes, 1))
        left[0, :-1] += 1
        left[1, :-1] -= 1
    counts = np.diff(left, prepend=0)
    return np.maximum(counts, 0).astype(np.int32)


def with_stride(rng, counts, stride):
    """Return the counts with what does not count between the classes."""
    n_classes, n_bins = counts.shape
    wide = rng.integers(1000, size=(n_classes, stride), dtype=np.int32)
    wide[:, :n_bins] = counts
    behind = rng.integers(1000, size=READ_BEHIND, dtype=np.int32)
    return np.append(wide.reshape(-1)[: (n_classes - 1) * stride + n_bins], behind)


def check_bins(
    kernels, n_points, n_bins, n_classes, n_features, gap, seed, made=bins_of
):
    rng = np.random.default_rng(seed)
    counts = [made(rng, n_points, n_bins, n_classes)]
    for _ in range(n_features - 1):
        # The same points in other bins, in some features all in one.
        order = rng.permutation(n_bins)
        others = counts[0][:, order]
        if rng.random() < 0.2:
            others = np.zeros_like(others)
            others[:, rng.integers(n_bins)] = counts[0].sum(axis=1)
        counts.append(others)
    totals = counts[0].sum(axis=1, dtype=np.int64)
    given_ = [with_stride(rng, some, n_bins + gap) for some in counts]
    work = np.zeros(129 * n_classes, np.int64)
    best = np.zeros(n_features)
    kernels.best_in_bins(
        given_, n_features, n_bins, n_bins + gap, n_classes, totals, work, best
    )
    expected = [twin.cuts_in_bins(some) for some in counts]
    assert best.tolist() == [max(cuts.scores, default=twin.NO_CUT) for cuts in expected]
    cuts = cuts_with_room_for(n_bins)
    for some, of_feature in zip(given_, expected, strict=True):
        n_cuts = kernels.cuts_in_bins(
            some, n_bins, n_bins + gap, n_classes, totals, work, cuts
        )
        assert_cuts(cuts, n_cuts, of_feature)


def test_any_number_of_bins(kernels):
    for n_bins in BINS:
        for n_classes in (1, 2, 3, 5):
            check_bins(kernels, 500, n_bins, n_classes, 4, 1, n_bins)


def test_any_number_of_classes(kernels):
    for n_classes in CLASSES:
        for n_bins in (5, 40):
            check_bins(kernels, 3000, n_bins, n_classes, 2, 1, n_classes)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 20])
def test_any_number_of_points(kernels, n_classes):
    for n_points in POINTS:
        for seed in range(8):
            check_bins(kernels, n_points, 18, n_classes, 3, 0, seed)


@given(
    sizes(94_906_265, POINTS) | st.integers(1, 300),
    sizes(700, BINS),
    sizes(40, CLASSES),
    st.integers(1, 9),
    st.integers(0, 3),
    seeds,
)
def test_bins(kernels, n_points, n_bins, n_classes, n_features, gap, seed):
    check_bins(kernels, n_points, n_bins, n_classes, n_features, gap, seed)


@pytest.mark.parametrize(("n_classes", "n_tries"), [(2, 20), (3, 20), (16, 8)])
def test_near_ties(kernels, n_classes, n_tries):
    for seed in range(n_tries):
        n_points = (94_000_000, 46_000, 50_000, 12_000_000)[seed % 4]
        n_features = (1, 4)[seed // 4 % 2]
        check_bins(kernels, n_points, 250, n_classes, n_features, 0, seed, level_bins)


# --- Rows into bins -------------------------------------------------------------------


def check_count_rows(kernels, n_features, n_rows, n_classes, seed):
    rng = np.random.default_rng(seed)
    n_bins = rng.integers(1, 257, size=n_features)
    start = np.zeros((n_classes, n_features), np.int32)
    # Each class has its cells together, or each feature.
    sizes_ = np.tile(n_bins, (n_classes, 1))
    if rng.random() < 0.5:
        start.flat[1:] = np.cumsum(sizes_)[:-1]
    else:
        start.T.flat[1:] = np.cumsum(sizes_.T)[:-1]
    codes = np.column_stack([rng.integers(n, size=n_rows) for n in n_bins])
    codes = codes.astype(np.uint8)
    y = classes_of(rng, n_rows, n_classes).astype(np.int32)
    rows = rng.integers(n_rows, size=rng.integers(2 * n_rows) + 1).astype(np.int32)
    copies = None
    if rng.random() < 0.5:
        copies = rng.integers(1, 2**20, size=n_rows).astype(np.int32)
    counts = rng.integers(1000, size=sizes_.sum()).astype(np.int32)
    expected = twin.count_rows(codes, y, copies, rows, start, counts)
    node = Struct(
        "counted",
        codes=codes,
        n_features=n_features,
        n_rows=n_rows,
        y=y,
        copies=copies,
        rows=rows,
        n=len(rows),
    )
    kernels.count_rows(node, start.reshape(-1), len(counts), counts)
    assert counts.tolist() == expected.tolist()


def test_rows_of_any_features_are_counted(kernels):
    for n_features in AROUND_LANES:
        check_count_rows(kernels, n_features, 9, 3, n_features)


@given(sizes(70, AROUND_LANES), st.integers(1, 20), sizes(40, CLASSES), seeds)
def test_rows_are_counted(kernels, n_features, n_rows, n_classes, seed):
    check_count_rows(kernels, n_features, n_rows, n_classes, seed)


def test_no_rows_are_counted(kernels):
    counts = np.arange(6, dtype=np.int32)
    node = Struct(
        "counted",
        codes=np.zeros((1, 3), np.uint8),
        n_features=3,
        n_rows=1,
        y=np.zeros(1, np.int32),
        copies=None,
        rows=np.zeros(0, np.int32),
        n=0,
    )
    kernels.count_rows(node, np.zeros(3, np.int32), 6, counts)
    assert counts.tolist() == list(range(6))


def tied_counts(rng, n_points, n_ones, n_features):
    """Return counts of three bins whose two cuts differ in doubles, but not in floats.

    With x of the L points on the left in class 1, cuts are ordered by
    (n x - n_1 L)^2 / (L R). Floats put the two of a feature in the wrong order.
    """
    L = rng.integers(1, n_points, 400_000)
    x = rng.integers(np.maximum(0, n_ones - (n_points - L)), np.minimum(n_ones, L) + 1)
    distance, area = n_points * x - n_ones * L, L * (n_points - L)
    gain = distance.astype(float) ** 2 / area
    single = distance.astype(np.float32) ** 2 / (
        L.astype(np.float32) * (n_points - L).astype(np.float32)
    )
    order = np.argsort(gain)
    low, high = order[:-1], order[1:]
    is_wrong = (single[low] > single[high]) & (gain[high] > gain[low] * (1 + 2**-50))
    first = np.where(L[low] < L[high], low, high)
    last = np.where(L[low] < L[high], high, low)
    is_possible = (x[first] <= x[last]) & (L[first] - x[first] <= L[last] - x[last])
    found = np.flatnonzero(is_wrong & is_possible & (L[first] < L[last]))[:n_features]
    assert len(found) == n_features
    ends = np.full(n_features, n_points), np.full(n_features, n_ones)
    points = np.stack([L[first[found]], L[last[found]], ends[0]], axis=1)
    ones = np.stack([x[first[found]], x[last[found]], ends[1]], axis=1)
    counts = np.stack([points - ones, ones], axis=1)
    return np.diff(counts, axis=2, prepend=0).astype(np.int32)


@pytest.mark.parametrize("n_points", [46_340, 20_000])
def test_ties_that_floats_cannot_break(kernels, n_points):
    rng = np.random.default_rng(n_points)
    counts = tied_counts(rng, n_points, n_points // 3, n_features=24)
    given_ = [with_stride(rng, some, 4) for some in counts]
    best = np.zeros(len(counts))
    kernels.best_in_bins(
        given_,
        len(counts),
        3,
        4,
        2,
        counts[0].sum(axis=1, dtype=np.int64),
        np.zeros(258, np.int64),
        best,
    )
    assert best.tolist() == [max(twin.cuts_in_bins(some).scores) for some in counts]
