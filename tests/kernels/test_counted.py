# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of points that are counted by code and class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels import library
from tests.kernels.library import Struct
from tests.kernels.samples import (
    AROUND_LANES,
    CLASSES,
    CODE_STYLES,
    LENGTHS,
    classes_of,
    codes_of,
    seeds,
    sizes,
)
from tests.naive import kernels as twin

KINDS = {
    "order": library.ORDER_CUTS,
    "order and equality": library.ORDER_AND_EQUAL_CUTS,
    "equality": library.EQUAL_CUTS,
}
CODES = (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256)


def points_of(kernels, classes, n_classes, f):
    """Return the points of a node, all set."""
    totals = np.bincount(classes, minlength=n_classes).astype(np.int32)
    points = Struct(
        "points",
        n=len(classes),
        classes=classes.astype(np.uint8),
        n_classes=n_classes,
        totals=totals,
        xlogx=f,
    )
    kernels.sum_totals(points)
    assert points.all_right == twin.sum_totals(totals, f)
    assert (points.n, points.n_classes) == (len(classes), n_classes)
    return points


def new_histogram(n_codes, n_classes):
    """Return a histogram in which nothing is set."""
    return Struct(
        "histogram",
        counts=np.full(n_codes * n_classes, -77, np.int32),
        left=np.full(n_classes, -77, np.int32),
    )


def assert_histogram(histogram, expected):
    """Check what is set: `of_two` of two classes, otherwise all the rest."""
    n_codes, n_classes = expected.shape
    sizes_of_codes = expected.sum(axis=1)
    if n_classes == 2:
        of_two = sizes_of_codes + (expected[:, 1] << 32)
        assert histogram.of_two[:n_codes].tolist() == of_two.tolist()
        return
    assert histogram.sizes[:n_codes].tolist() == sizes_of_codes.tolist()
    assert histogram.counts.tolist() == expected.reshape(-1).tolist()
    for code in range(n_codes):
        marks = twin.bits_of(histogram.marks[code][:, None])[:n_classes, 0]
        assert marks.tolist() == (expected[code] > 0).tolist()


def assert_cuts(kernels, points, histogram, expected, f):
    """Check the scores and cuts that are read from a histogram."""
    n_codes = len(expected)
    for kind, number in KINDS.items():
        cuts = twin.counted_cuts(expected, kind, f)
        best = kernels.best_counted_cut(points, histogram, n_codes, number)
        assert best == max((cut[0] for cut in cuts), default=twin.NO_CUT)
        found = np.zeros(2 * n_codes, library.header().dtype("mrforest_cut"))
        n = kernels.all_counted_cuts(points, histogram, n_codes, number, found)
        assert found[:n].tolist() == cuts


def check_histogram(kernels, n, n_codes, n_classes, is_entropy, style, seed):
    rng = np.random.default_rng(seed)
    n_classes = min(n, n_classes)
    f = twin.x_log_x(n) if is_entropy else None
    classes = classes_of(rng, n, n_classes, all_there=True)
    codes = codes_of(rng, n, n_codes, style).astype(np.uint8)
    points = points_of(kernels, classes, n_classes, f)
    histogram = new_histogram(n_codes, n_classes)
    kernels.fill_histogram(points, codes, n_codes, histogram)
    expected = twin.fill_histogram(codes, classes, n_codes, n_classes)
    assert_histogram(histogram, expected)
    assert_cuts(kernels, points, histogram, expected, f)


@pytest.mark.parametrize("is_entropy", [False, True])
def test_any_number_of_codes(kernels, is_entropy):
    for n_codes in CODES:
        for n_classes in (1, 2, 3):
            for n in (1, 50):
                check_histogram(
                    kernels, n, n_codes, n_classes, is_entropy, "any", n_codes
                )


@pytest.mark.parametrize("is_entropy", [False, True])
def test_any_number_of_classes(kernels, is_entropy):
    for n_classes in CLASSES:
        for n_codes, n in ((3, 2), (6, 600), (64, 65)):
            check_histogram(
                kernels, n, n_codes, n_classes, is_entropy, "any", n_classes
            )


@given(
    sizes(400, LENGTHS),
    sizes(256, CODES),
    sizes(256, CLASSES),
    st.booleans(),
    st.sampled_from(CODE_STYLES),
    seeds,
)
def test_histograms(kernels, n, n_codes, n_classes, is_entropy, style, seed):
    check_histogram(kernels, n, n_codes, n_classes, is_entropy, style, seed)


@pytest.mark.parametrize("n", [46_340, 46_341, 65_535, 70_000])
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_many_points(kernels, n_classes, n):
    for is_entropy in (False, True):
        for style in ("equal", "two", "any", "one other"):
            check_histogram(kernels, n, 5, n_classes, is_entropy, style, n)


# --- All features at once -------------------------------------------------------------


def check_histograms(kernels, n, n_features, n_codes, n_classes, share_missing, seed):
    """Fill the histograms of all features, read some of them with fewer codes, too."""
    rng = np.random.default_rng(seed)
    n_classes = min(n, n_classes)
    classes = np.sort(classes_of(rng, n, n_classes, all_there=True))
    f = twin.x_log_x(n) if seed % 2 else None
    points = points_of(kernels, classes, n_classes, f)
    n_rows = n + 3
    table = np.empty((n_rows, n_features), np.uint8)
    for feature in range(n_features):
        style = rng.choice(CODE_STYLES)
        table[:, feature] = codes_of(rng, n_rows, n_codes, style)
    is_missing = rng.random(table.shape) < share_missing
    table[is_missing] = rng.choice([n_codes, 8, 255], is_missing.sum())
    rows = rng.permutation(n_rows)[:n].astype(np.int32)
    if rng.random() < 0.5:
        rows = rng.integers(n_rows, size=n).astype(np.int32)
    histograms = Struct(
        "histograms",
        counts=rng.integers(
            65536, size=n_classes * n_codes * n_features, dtype=np.uint16
        ),
        differ=rng.integers(256, size=n_features, dtype=np.uint8),
        n_codes=n_codes,
        n_features=n_features,
    )
    kernels.fill_histograms(points, table, rows, histograms)
    counts, differ = twin.fill_histograms(
        table[rows], np.bincount(classes, minlength=n_classes), n_codes
    )
    assert histograms.counts.tolist() == counts.reshape(-1).tolist()
    assert histograms.differ.astype(bool).tolist() == differ.tolist()
    some = rng.choice(n_features, min(n_features, 3), replace=False)
    for feature in some:
        of_feature = table[rows, feature]
        for codes_read in {2, 3, n_codes}:
            if codes_read > n_codes:
                continue
            histogram = new_histogram(codes_read, n_classes)
            is_whole = kernels.read_histogram(
                points, histograms, feature, codes_read, histogram
            )
            assert bool(is_whole) == (of_feature < codes_read).all()
            if is_whole:
                expected = counts[:, :codes_read, feature].T
                assert_histogram(histogram, expected)
                assert_cuts(kernels, points, histogram, expected, f)


@pytest.mark.parametrize("n_codes", [2, 4, 8])
def test_histograms_of_any_features(kernels, n_codes):
    for n_features in [n for n in AROUND_LANES if n >= 8]:
        check_histograms(kernels, 40, n_features, n_codes, 3, 0.02, n_features)


def test_histograms_of_any_classes(kernels):
    for n_classes in range(1, library.HISTOGRAMS_MOST_CLASSES + 1):
        for n_codes in (2, 4, 8):
            for n in (1, 100):
                check_histograms(kernels, n, 9, n_codes, n_classes, 0, n_classes)


@given(
    sizes(600, (*LENGTHS, 257, 511, 512)),
    st.integers(library.HISTOGRAMS_LEAST_FEATURES, 70),
    st.sampled_from([2, 4, 8]),
    st.integers(1, library.HISTOGRAMS_MOST_CLASSES),
    st.sampled_from([0, 0.001, 0.3]),
    seeds,
)
def test_all_histograms(
    kernels, n, n_features, n_codes, n_classes, share_missing, seed
):
    check_histograms(kernels, n, n_features, n_codes, n_classes, share_missing, seed)


@pytest.mark.parametrize("n_codes", [2, 4, 8])
def test_as_many_points_as_16_bits_count(kernels, n_codes):
    n = library.HISTOGRAMS_MOST_POINTS
    totals = np.array([n, n], np.int32)
    table = np.zeros((2, 9), np.uint8)
    table[1] = n_codes - 1
    rows = np.repeat(np.array([0, 1], np.int32), n)
    points = Struct("points", n=2 * n, classes=None, n_classes=2, totals=totals)
    histograms = Struct(
        "histograms",
        counts=np.zeros(2 * n_codes * 9, np.uint16),
        differ=np.zeros(9, np.uint8),
        n_codes=n_codes,
        n_features=9,
    )
    kernels.fill_histograms(points, table, rows, histograms)
    expected = np.zeros((2, n_codes, 9), int)
    expected[0, 0] = expected[1, n_codes - 1] = n
    assert histograms.counts.tolist() == expected.reshape(-1).tolist()
    assert histograms.differ.all()
