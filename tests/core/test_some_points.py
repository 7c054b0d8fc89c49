# SPDX-License-Identifier: BSD-3-Clause
"""Whoever has some of the points knows their side, and their copies in the bag."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mrforest import _core
from mrforest.forests.sampling import tree_key


def some_of(seed, n):
    rng = np.random.default_rng(seed)
    return np.flatnonzero(rng.random(n) < rng.random()).astype(np.int32)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 3000), share=st.floats(0, 1))
@example(seed=0, n=1, share=0.0)
@example(seed=0, n=1, share=1.0)
def test_sides_of_some_points(seed, n, share):
    key, n_structure = tree_key(seed, 0), round(share * n)
    structure, _ = _core.partition_points(key, n, n_structure)
    boundary = _core.structure_boundary(key, n, n_structure)
    points = some_of(seed, n)
    side = _core.is_structure(key, points, *boundary)
    assert side.dtype == bool
    np.testing.assert_array_equal(points[side], np.intersect1d(points, structure))


def test_ties_are_told_apart():
    """Of points with the word of the boundary, those up to its point are taken."""
    key = tree_key(1, 2)
    words = _core.words(key, 0, 0, 10)
    points = np.arange(10, dtype=np.int32)
    fifth = int(np.sort(words)[4])
    place = int(np.flatnonzero(words == fifth)[0])
    with_it = _core.is_structure(key, points, fifth, place)
    without = _core.is_structure(key, points, fifth, place - 1)
    assert with_it.sum() == 5
    assert without.sum() == 4
    assert not without[place]


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 3000),
    edges=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
)
@example(seed=0, n=1, edges=[0.0, 0.0])
@example(seed=0, n=9, edges=[0.0, 1.0])
def test_some_points_that_are_held_out(seed, n, edges):
    key = tree_key(seed, 0)
    of_all, n_structure = _core.held_out_points(key, n, *edges)
    points = some_of(seed, n)
    is_held = _core.is_held_out(key, points, *edges)
    assert is_held.dtype == bool
    expected = np.intersect1d(points, of_all[n_structure:])
    np.testing.assert_array_equal(points[is_held], expected)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 3000),
    share=st.floats(0, 1),
    first_word=st.integers(0, 50),
    ends=st.lists(st.integers(0, 3000), max_size=5),
)
@example(seed=0, n=1, share=1.0, first_word=0, ends=[])
@example(seed=0, n=129, share=128 / 129, first_word=3, ends=[1, 1, 128])
def test_samples_of_some_points(seed, n, share, first_word, ends):
    """Shards together have the sample of which each draws its part."""
    key, size = tree_key(seed, 0), max(round(share * n), 1)
    edges = np.arange(size + 1) * n // size
    # Words before the first one are drawn for nothing.
    limits = np.concatenate([np.full(first_word, 2), np.diff(edges)])
    drawn = _core.indices(key, 5, _core.SPLIT_PURPOSE, limits)[first_word:]
    starts = [0, *sorted(min(end, n) for end in ends), n]
    parts = [
        start + _core.sample_places(key, 5, n, size, first_word, start, end)
        for start, end in itertools.pairwise(starts)
    ]
    np.testing.assert_array_equal(np.concatenate(parts), edges[:-1] + drawn)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 3000))
@example(seed=0, n=1)
@example(seed=0, n=64)
def test_copies_of_some_points(seed, n):
    key = tree_key(seed, 0)
    bag = _core.bootstrap_points(key, n)
    points = some_of(seed, n)
    copies = _core.copies_in_bag(key, n, points)
    np.testing.assert_array_equal(copies, np.bincount(bag, minlength=n)[points])


@pytest.mark.parametrize("n", [1_000_003])
def test_many_points(n):
    key = tree_key(7, 7)
    everyone = np.arange(n, dtype=np.int32)
    structure, _ = _core.partition_points(key, n, n // 3)
    boundary = _core.structure_boundary(key, n, n // 3)
    side = _core.is_structure(key, everyone, *boundary)
    np.testing.assert_array_equal(np.flatnonzero(side), structure)
    copies = _core.copies_in_bag(key, n, everyone)
    np.testing.assert_array_equal(
        copies, np.bincount(_core.bootstrap_points(key, n), minlength=n)
    )
