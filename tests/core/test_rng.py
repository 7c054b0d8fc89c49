# SPDX-License-Identifier: BSD-3-Clause
"""Streams are Philox; structure points are a uniform subset of fixed size."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from mrforest import _core
from mrforest.forests.sampling import Partition, seed_from, tree_key
from tests.naive import rng as naive
from tests.naive.sample import partition

WORDS = st.integers(0, 2**64 - 1)


@given(key=st.tuples(WORDS, WORDS), path=WORDS, purpose=st.integers(0, 2))
def test_words_are_philox(key, path, purpose):
    key = np.array(key, dtype=np.uint64)
    words = _core.words(key, path, purpose, 11)
    counter = np.array([0, path, purpose, 0], dtype=np.uint64)
    numpy = np.random.Philox(key=key, counter=counter)
    np.testing.assert_array_equal(words, numpy.random_raw(11))
    stream = naive.Stream(key, path, purpose)
    assert [stream.word() for _ in range(11)] == words.tolist()


@given(
    seed=st.integers(0, 2**128),
    limits=st.lists(st.sampled_from([1, 1, 1, 2, 10, 2**31]), min_size=1, max_size=40),
)
def test_an_index_takes_a_word_even_if_there_is_no_choice(seed, limits):
    key = tree_key(seed, 0)
    drawn = _core.indices(key, 5, naive.SPLIT, np.array(limits))
    stream = naive.Stream(key, 5, naive.SPLIT)
    assert drawn.tolist() == [int(stream.uniform() * limit) for limit in limits]


@given(
    seed=st.integers(0, 2**128), n=st.integers(1, 200), fraction=st.floats(1e-3, 0.999)
)
def test_partition_equals_the_twin(seed, n, fraction):
    key = tree_key(seed, 3)
    for side, expected in zip(
        Partition(fraction)(key, n), partition(key, n, fraction), strict=True
    ):
        np.testing.assert_array_equal(side, expected)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 63, 64, 65, 3000, 30_001])
def test_points_of_many_rows_equal_those_of_sorted_words(n):
    for tree in range(3):
        key = tree_key(n, tree)
        words = _core.words(key, 0, 0, n)
        order = np.argsort(words, kind="stable")
        for n_structure in {0, 1, n // 3, n // 2, n - 1, n}:
            structure, estimation = _core.partition_points(key, n, n_structure)
            np.testing.assert_array_equal(structure, np.sort(order[:n_structure]))
            np.testing.assert_array_equal(estimation, np.sort(order[n_structure:]))
        uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        bag = np.sort(np.floor(uniform * n))
        np.testing.assert_array_equal(_core.bootstrap_points(key, n), bag)


def test_every_half_is_equally_likely():
    halves = list(combinations(range(6), 3))
    counts = dict.fromkeys(halves, 0)
    for seed in range(20_000):
        structure, _ = _core.partition_points(tree_key(seed, 0), 6, 3)
        counts[tuple(structure.tolist())] += 1
    assert chisquare(list(counts.values())).pvalue > 1e-4


@pytest.mark.parametrize(
    ("n", "fraction", "size"),
    [
        *[(1, 0.5, 0), (2, 0.5, 1), (3, 0.5, 2), (10, 1 - 1e-9, 1), (10, 1e-9, 9)],
        *[(9, 2 / 3, 3), (50, 0.93, 4), (5, np.float32(0.7), 2)],
    ],
)
def test_size_of_the_structure_side(n, fraction, size):
    assert Partition(fraction).n_structure(n) == size


@pytest.mark.parametrize("structure", range(1, 10))
@pytest.mark.parametrize("estimation", range(1, 10))
def test_halves_of_a_point_are_structure(structure, estimation):
    """In whole numbers, for simple fractions and any number of points."""
    whole = structure + estimation
    partition_of = Partition(estimation / whole)
    for n in range(2, 10_001):
        size = (2 * n * structure + whole) // (2 * whole)
        assert partition_of.n_structure(n) == min(max(size, 1), n - 1)


def test_trees_have_keys_of_their_own():
    keys = {tuple(tree_key(seed, tree)) for seed in range(10) for tree in range(10)}
    assert len(keys) == 100


def test_a_random_state_is_used_up():
    state = np.random.RandomState(0)
    first, second = seed_from(state), seed_from(state)
    assert first != second
    assert first == seed_from(np.random.RandomState(0))
    assert seed_from(7) == 7
