# SPDX-License-Identifier: BSD-3-Clause
"""Counts of rows that never meet draw the subtrees that the rows themselves draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest.privacy import subtree
from mrforest.privacy.boxes import Boxes
from mrforest.privacy.counted import Bins, CountedMechanism, Counts
from mrforest.privacy.grid import Grid, Numeric
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.subtree import Scoring, SubtreeMechanism
from tests.privacy.test_subtree import SCORES, all_rows, problems, table


def counted_in_parts(bins, codes, y, n_classes, depth, cuts=()):
    """Counts of several parts of the rows, added up."""
    columns = np.arange(codes.shape[1], dtype=np.int32)
    parts = np.split(np.arange(len(y), dtype=np.int32), cuts)
    cells = [
        bins.count(codes, y, part, columns, n_classes, depth=depth) for part in parts
    ]
    slot = bins.grid.slot
    return Counts.of(np.sum(cells, axis=0, dtype=np.int32), depth, slot, n_classes)


def pair_of(problem, scoring):
    _, y, n_classes, grid = problem
    whole = SubtreeMechanism(*problem, scoring)
    bins = Bins.of(grid)
    return whole, bins, CountedMechanism(bins, n_classes, scoring, len(y))


@pytest.mark.parametrize("score", SCORES, ids=str)
@given(
    problem=problems(most_features=4, most_rows=30),
    depth=st.integers(1, 2),
    cut=st.integers(0, 30),
    epsilon=st.sampled_from([0.1, 1.0, 20.0]),
    seed=st.integers(0, 2**32),
)
def test_same_subtree_as_of_rows(score, problem, depth, cut, epsilon, seed):
    codes, y, n_classes, _ = problem
    whole, bins, counted = pair_of(problem, Scoring(epsilon, *score))
    counts = counted_in_parts(bins, codes, y, n_classes, depth, [cut])
    rows = all_rows(whole)
    assert counted.log_sum(counts, depth) == pytest.approx(whole.log_sum(rows, depth))
    expected = whole.draw(rows, depth, RandomBits.seeded(seed))
    drawn = counted.draw(counts, depth, RandomBits.seeded(seed))
    assert bins.as_codes(drawn) == expected


@pytest.mark.parametrize("score", SCORES, ids=str)
def test_same_subtree_if_floats_cannot_tell(score, monkeypatch):
    """Decimals are taken of parts of counts."""
    monkeypatch.setattr(subtree, "margin", lambda n, error: 2.0)
    rng = np.random.default_rng(0)
    grid = Grid.of([Numeric(0, 3, is_whole=True), ["a", "b"], Numeric(0.0, 1.0)])
    grid = Boxes(grid).inside({2: (40, 60)}).with_stop(3)
    problem = table(rng, grid, 25, 3)
    whole, bins, counted = pair_of(problem, Scoring(0.5, *score))
    counts = counted_in_parts(bins, *problem[:3], 2, [7])
    for seed in range(3):
        expected = whole.draw(all_rows(whole), 2, RandomBits.seeded(seed))
        drawn = counted.draw(counts, 2, RandomBits.seeded(seed))
        assert bins.as_codes(drawn) == expected


def test_same_subtree_of_many_rows():
    rng = np.random.default_rng(1)
    grid = Grid.of([Numeric(0.0, 1.0)] * 4 + [list("abcde")] * 2)
    problem = table(rng, grid, 20_000, 5)
    whole, bins, counted = pair_of(problem, Scoring(0.01, 3.0))
    counts = counted_in_parts(bins, *problem[:3], 2, [1, 1, 9000])
    for seed in range(20):
        expected = whole.draw(all_rows(whole), 2, RandomBits.seeded(seed))
        drawn = counted.draw(counts, 2, RandomBits.seeded(seed))
        assert bins.as_codes(drawn) == expected


@given(problem=problems(most_features=4, most_rows=30), seed=st.integers(0, 99))
def test_parts_of_counts_are_counts_of_parts(problem, seed):
    codes, y, n_classes, _ = problem
    whole, bins, counted = pair_of(problem, Scoring(1.0, None))
    counts = counted_in_parts(bins, codes, y, n_classes, 2)
    feature = seed % len(bins.grid.n_codes)
    code = seed // len(bins.grid.n_codes) % bins.grid.n_codes[feature]
    last = int(bins.last_code[feature][code])
    parts = whole.part(all_rows(whole), feature, last)
    for part, found in zip(parts, counted.part(counts, feature, code), strict=True):
        expected = counted_in_parts(bins, codes[part], y[part], n_classes, 1)
        np.testing.assert_array_equal(found.bins, expected.bins)
        np.testing.assert_array_equal(found.classes, expected.classes)
        assert len(found) == len(part)


def test_bins_are_what_candidates_tell_apart():
    grid = Grid.of([Numeric(0, 7, is_whole=True), ["a", "b"]])
    measure = np.array([0, 0, 5, 0, 0, 1, 0, 0])
    bins = Bins.of(grid.with_measures({0: measure}))
    assert bins.of_code[0, :8].tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert bins.last_code[0].tolist() == [2, 5, 7]
    assert bins.of_code[1, :3].tolist() == [0, 1, 2]
    assert bins.grid.measure.tolist() == [5, 1, 0, 1, 1, 1]
    assert bins.n_pairs == 3 * 6 + 3 * 3
