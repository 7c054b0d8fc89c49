# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of bit columns and masks of points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.samples import AROUND_LANES, CLASSES, random_words, seeds, sizes
from tests.naive import kernels as twin

WORDS = (1, 2, 3, 4, 5, 8, 9, 16, 17)
DENSITIES = (0.0, 0.02, 0.5, 0.98, 1.0)
UNTOUCHED = -77


def disjoint_masks(rng, n_masks, n_words, density):
    """Return masks of which no two have a point together, as those of classes."""
    owner = rng.integers(n_masks, size=64 * n_words)
    owner[rng.random(64 * n_words) >= density] = -1
    bits = owner[:, None] == np.arange(n_masks)
    return np.ascontiguousarray(twin.words_of(bits).T)


def columns_of(rng, n_words, stride):
    """Return words of columns, some of them all zeros or all ones."""
    words = random_words(rng, (n_words, stride), rng.choice([0.05, 0.5, 0.95]))
    words[:, rng.random(stride) < 0.1] = 0
    words[:, rng.random(stride) < 0.1] = 2**64 - 1
    return words


def bits_under(masks):
    return [twin.bits_of(mask[:, None])[:, 0] for mask in masks]


# --- Counts and scores ----------------------------------------------------------------


def check_counts(kernels, n_words, n, n_masks, density, seed):
    rng = np.random.default_rng(seed)
    stride = n + int(rng.integers(4))
    capacity = n + int(rng.integers(4))
    words = columns_of(rng, n_words, stride)
    masks = disjoint_masks(rng, n_masks, n_words, density)
    bits = twin.bits_of(words)
    counts = np.full((n_masks, capacity), UNTOUCHED, np.int32)
    expected = counts.copy()
    expected[:, :n] = twin.count_left(bits[:, :n], bits_under(masks))
    # Where the last rows are cut short, nobody may ask for what is not there.
    end = (n_words - 1) * stride + n
    counts = counts.reshape(-1)[: (n_masks - 1) * capacity + n].copy()
    kernels.count_left(
        words.reshape(-1)[:end].copy(),
        stride,
        n,
        masks,
        n_masks,
        n_words,
        capacity,
        counts,
    )
    assert counts.tolist() == expected.reshape(-1)[: len(counts)].tolist()

    columns = rng.integers(stride, size=n).astype(np.int32)
    expected[:, :n] = twin.count_left(bits[:, columns], bits_under(masks))
    counts[:] = UNTOUCHED
    kernels.count_left_of_some(
        words, stride, columns, n, masks, n_masks, n_words, capacity, counts
    )
    assert counts.tolist() == expected.reshape(-1)[: len(counts)].tolist()
    check_scores(kernels, words, masks, columns, capacity, counts)


def check_scores(kernels, words, masks, columns, capacity, counts):
    """Score columns from their counts; then count and score them at once."""
    n_masks, n_words = masks.shape
    n = len(columns)
    totals = np.array([bits.sum() for bits in bits_under(masks)], float)
    n_points = float(totals.sum())
    used = np.array([counts[k * capacity : k * capacity + n] for k in range(n_masks)])
    n_left, scores = np.zeros(n, np.int32), np.zeros(n)
    kernels.score_columns(
        counts, capacity, n, totals, n_masks, n_points, n_left, scores
    )
    expected_left, expected_scores = twin.score_columns(used, totals)
    assert n_left.tolist() == expected_left.tolist()
    assert scores.tolist() == expected_scores

    stride = words.shape[1]
    n_left, scores = np.full(stride, UNTOUCHED, np.int32), np.full(stride, -77.0)
    kernels.score_some(
        words,
        stride,
        columns,
        n,
        masks,
        n_words,
        totals,
        n_masks,
        n_points,
        n_left,
        scores,
    )
    assert n_left[columns].tolist() == expected_left.tolist()
    assert scores[columns].tolist() == expected_scores
    others = np.setdiff1d(np.arange(stride), columns)
    assert (n_left[others] == UNTOUCHED).all()
    assert (scores[others] == -77.0).all()


def test_any_number_of_columns(kernels):
    for n in AROUND_LANES:
        for n_words in (1, 3):
            for n_masks in (1, 2, 3):
                check_counts(kernels, n_words, n, n_masks, 0.7, n)


@pytest.mark.parametrize("density", DENSITIES)
def test_any_number_of_words(kernels, density):
    for n_words in WORDS:
        check_counts(kernels, n_words, 9, 2, density, n_words)


def test_any_number_of_classes(kernels):
    for n_masks in CLASSES:
        check_counts(kernels, 3, 7, n_masks, 1.0, n_masks)


@given(
    sizes(20, WORDS),
    sizes(70, AROUND_LANES),
    sizes(40, CLASSES),
    st.sampled_from(DENSITIES),
    seeds,
)
def test_columns(kernels, n_words, n, n_masks, density, seed):
    check_counts(kernels, n_words, n, n_masks, density, seed)


@pytest.mark.parametrize("n_points", [46_340, 46_341, 65_535, 65_536, 70_000])
def test_columns_of_many_points(kernels, n_points):
    n_words = -(-n_points // 64)
    for n_left in (1, n_points // 2, n_points - 1):
        points = np.arange(64 * n_words)[:, None]
        words, mask = twin.words_of(points < n_left), twin.words_of(points < n_points)
        totals, n_found, scores = (
            np.array([n_points]),
            np.zeros(1, np.int32),
            np.zeros(1),
        )
        counts = np.zeros(1, np.int32)
        kernels.count_left(words, 1, 1, mask, 1, n_words, 1, counts)
        assert counts[0] == n_left
        kernels.score_some(
            words,
            1,
            np.zeros(1, np.int32),
            1,
            mask,
            n_words,
            totals.astype(float),
            1,
            n_points,
            n_found,
            scores,
        )
        assert (n_found[0], scores[0]) == (n_left, n_points)


@pytest.mark.parametrize("n_points", [46_340, 46_341, 65_536, 94_906_265])
def test_scores_of_many_points(kernels, n_points):
    rng = np.random.default_rng(n_points)
    for n_classes in (1, 2, 3, 20):
        totals = rng.multinomial(n_points, rng.dirichlet(np.ones(n_classes)))
        counts = np.column_stack([rng.binomial(totals, p) for p in rng.random(9)])
        counts[:, 0], counts[:, 8] = 0, totals
        counts = np.ascontiguousarray(counts, np.int32)
        n_left, scores = np.zeros(9, np.int32), np.zeros(9)
        kernels.score_columns(
            counts, 9, 9, totals.astype(float), n_classes, n_points, n_left, scores
        )
        expected_left, expected_scores = twin.score_columns(counts, totals)
        assert n_left.tolist() == expected_left.tolist()
        assert scores.tolist() == expected_scores


# --- Sides ----------------------------------------------------------------------------


def check_sides(kernels, n_words, n, density, seed):
    rng = np.random.default_rng(seed)
    words = columns_of(rng, n_words, n)
    mask = random_words(rng, n_words, density)
    if rng.random() < 0.3:  # one point decides
        mask[:] = 0
        mask[rng.integers(n_words)] = np.uint64(1) << np.uint64(rng.integers(64))
    left, right = np.full(n, 7, np.uint64), np.full(n, 7, np.uint64)
    kernels.find_sides(words, n, mask, n_words, left, right)
    is_left, is_right = twin.find_sides(twin.bits_of(words), bits_under([mask])[0])
    assert (left != 0).tolist() == is_left.tolist()
    assert (right != 0).tolist() == is_right.tolist()


def test_sides_of_any_number_of_columns(kernels):
    for n in AROUND_LANES:
        for n_words in (1, 2, 7):
            check_sides(kernels, n_words, n, 0.1, n)


@given(sizes(20, WORDS), sizes(70, AROUND_LANES), st.sampled_from(DENSITIES), seeds)
def test_sides(kernels, n_words, n, density, seed):
    check_sides(kernels, n_words, n, density, seed)


# --- Points taken from columns --------------------------------------------------------


def out_words(rng, first, n_points, n_columns):
    """Return words for points from bit `first` on; only bits below may be set."""
    bits = np.zeros((first + n_points, n_columns), bool)
    bits[:first] = rng.random((first, n_columns)) < 0.5
    return twin.words_of(bits)


def check_squeeze(kernels, n_words, n_columns, n_kept, first, density, seed):
    rng = np.random.default_rng(seed)
    words = random_words(rng, (n_words, n_columns))
    kept = rng.integers(n_columns, size=n_kept).astype(np.int32)
    mask = random_words(rng, n_words, density)
    points = twin.bits_of(words)[bits_under([mask])[0]][:, kept]
    out = out_words(rng, first, len(points), n_kept)
    expected = twin.append_points(out, first, points)
    kernels.squeeze(words, n_columns, kept, n_kept, mask, n_words, first, out)
    assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("first", [0, 1, 63, 64, 65, 130])
def test_points_are_squeezed_at_limits(kernels, first):
    for density in DENSITIES:
        for n_words in (1, 2, 5):
            for n_kept in (1, 4, 5, 17):
                check_squeeze(kernels, n_words, 20, n_kept, first, density, n_kept)


@given(
    sizes(12, WORDS),
    st.integers(1, 40),
    sizes(70, AROUND_LANES),
    st.integers(0, 200),
    st.sampled_from(DENSITIES),
    seeds,
)
def test_points_are_squeezed(kernels, n_words, n_columns, n_kept, first, density, seed):
    check_squeeze(kernels, n_words, n_columns, n_kept, first, density, seed)


def check_gather(kernels, n_words, n_columns, first, n, seed):
    rng = np.random.default_rng(seed)
    words = random_words(rng, (n_words, n_columns))
    points = rng.integers(64 * n_words, size=first + n).astype(np.int32)
    out = out_words(rng, first, n, n_columns)
    expected = twin.append_points(out, first, twin.bits_of(words)[points[first:]])
    kernels.gather_points(words, n_columns, points, first, first + n, out)
    assert out.tolist() == expected.tolist()


def test_points_of_any_columns_are_gathered(kernels):
    for n_columns in AROUND_LANES:
        for first, n in (
            (0, 1),
            (0, 64),
            (0, 65),
            (63, 1),
            (63, 2),
            (64, 64),
            (5, 130),
        ):
            check_gather(kernels, 3, n_columns, first, n, n_columns)


@given(
    sizes(12, WORDS),
    sizes(70, AROUND_LANES),
    st.integers(0, 200),
    st.integers(0, 200),
    seeds,
)
def test_points_are_gathered(kernels, n_words, n_columns, first, n, seed):
    check_gather(kernels, n_words, n_columns, first, n, seed)


# --- Masks ----------------------------------------------------------------------------


@given(sizes(70, WORDS), st.sampled_from(DENSITIES), seeds)
def test_bits_are_counted(kernels, n_words, density, seed):
    mask = random_words(np.random.default_rng(seed), n_words, density)
    assert kernels.count_bits(mask, n_words) == bits_under([mask])[0].sum()


@given(sizes(20, WORDS), sizes(256, CLASSES), st.sampled_from(DENSITIES), seeds)
def test_points_are_parted_by_class(kernels, n_words, n_classes, density, seed):
    rng = np.random.default_rng(seed)
    classes = disjoint_masks(rng, n_classes, n_words, 1.0).T.copy()
    classes[:, rng.random(n_classes) < 0.2] = 0
    mask = random_words(rng, n_words, density)
    expected, masks = twin.part_by_class(twin.bits_of(classes), bits_under([mask])[0])
    totals = np.full(n_classes, -77, np.int64)
    present_totals = np.full(n_classes, -77.0)
    present = np.zeros((n_classes, n_words), np.uint64)
    n = kernels.part_by_class(
        classes, n_classes, mask, n_words, totals, present_totals, present
    )
    assert totals.tolist() == expected
    assert n == len(masks)
    assert present_totals[:n].tolist() == [total for total in expected if total > 0]
    assert [bits.tolist() for bits in bits_under(present[:n])] == [
        bits.tolist() for bits in masks
    ]


@given(sizes(20, WORDS), st.sampled_from(DENSITIES), seeds)
def test_rows_of_a_mask(kernels, n_words, density, seed):
    rng = np.random.default_rng(seed)
    mask = random_words(rng, n_words, density)
    bits = bits_under([mask])[0]
    # No row behind that of the last bit
    rows = rng.integers(2**31, size=int(np.flatnonzero(bits).max(initial=-1)) + 1)
    rows = rows.astype(np.int32)
    out = np.zeros(bits.sum(), np.int32)
    assert kernels.rows_of_mask(rows, mask, n_words, out) == len(out)
    assert out.tolist() == rows[bits[: len(rows)]].tolist()
