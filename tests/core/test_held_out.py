# SPDX-License-Identifier: BSD-3-Clause
"""Points that are held out of a tree, by groups of trees: the same as the twin's."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.stats import binom, chisquare

from mrforest import _core
from mrforest.forests.sampling import HeldOutGroups
from tests.naive.rng import SAMPLE, Stream
from tests.naive.sampled import held_out_points, share_held_out, trees_of_group

SEEDS = st.integers(0, 2**64)
WORDS = st.integers(0, 2**64 - 1)
SHARES = st.one_of(
    st.integers(1, 90), st.floats(0, 1), st.sampled_from([0.5, 0.75, 0.8, 0.9, 1.0])
)
# Keys are fixed, so a test that passes once passes always.
P_VALUE = 1e-4


@given(seed=SEEDS, tree=st.integers(0, 1000), n=st.integers(1, 80), max_samples=SHARES)
@example(seed=0, tree=5, n=1, max_samples=0.8)
@example(seed=0, tree=5, n=2, max_samples=1)
@example(seed=0, tree=5, n=10, max_samples=10)
@example(seed=0, tree=5, n=10, max_samples=1.0)
@example(seed=0, tree=5, n=10, max_samples=1e-9)
def test_same_points_as_the_twin(seed, tree, n, max_samples):
    points, n_structure = HeldOutGroups(max_samples).points(seed, tree, n)
    structure, held = held_out_points(seed, tree, n, max_samples)
    assert n_structure == len(structure)
    assert points.dtype == np.int32
    assert points.tolist() == structure + held


@given(
    key=st.tuples(WORDS, WORDS),
    n=st.integers(0, 100),
    edges=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
)
@example(key=(0, 0), n=10, edges=(0.0, 1.0))
@example(key=(0, 0), n=10, edges=(0.5, 0.5))
def test_points_with_numbers_in_a_range_are_held_out(key, n, edges):
    """From the lower edge on, below the upper one; all of them may be."""
    low, high = edges
    key = np.array(key, dtype=np.uint64)
    stream = Stream(key, 0, SAMPLE)
    is_held = np.array([low <= stream.uniform() < high for _ in range(n)], dtype=bool)
    points, n_structure = _core.held_out_points(key, n, low, high)
    assert n_structure == n - is_held.sum()
    expected = np.concatenate([np.flatnonzero(~is_held), np.flatnonzero(is_held)])
    np.testing.assert_array_equal(points, expected)


def test_a_number_at_an_edge():
    """It belongs to the range that begins with it."""
    key = np.array([1, 2], dtype=np.uint64)
    stream = Stream(key, 0, SAMPLE)
    numbers = [stream.uniform() for _ in range(20)]
    edge = numbers[7]
    above, n_above = _core.held_out_points(key, 20, edge, 1.0)
    below, n_below = _core.held_out_points(key, 20, 0.0, edge)
    assert 7 in above[n_above:]
    assert 7 in below[:n_below]


@pytest.mark.parametrize("n", [63, 64, 65, 4096, 30_001])
def test_points_of_many_rows(n):
    """All numbers of a stream, in blocks or not."""
    key = np.array([n, 9], dtype=np.uint64)
    numbers = (_core.words(key, 0, SAMPLE, n) >> np.uint64(11)) * 2.0**-53
    for low, high in [(0.0, 0.2), (0.2, 0.4), (0.8, 1.0), (0.3, 0.3)]:
        points, n_structure = _core.held_out_points(key, n, low, high)
        is_held = (low <= numbers) & (numbers < high)
        np.testing.assert_array_equal(points[:n_structure], np.flatnonzero(~is_held))
        np.testing.assert_array_equal(points[n_structure:], np.flatnonzero(is_held))


@given(
    seed=SEEDS, group=st.integers(0, 100), n=st.integers(1, 2000), max_samples=SHARES
)
@example(seed=0, group=1, n=100, max_samples=0.8)
@example(seed=0, group=1, n=103, max_samples=0.8)
@example(seed=0, group=1, n=100, max_samples=99)
@example(seed=0, group=1, n=3, max_samples=2)
@example(seed=0, group=1, n=1, max_samples=0.5)
def test_every_row_is_held_out_at_most_once_in_a_group(seed, group, n, max_samples):
    """Exactly once if shares add up to 1, but for trees that all rows shape."""
    assume(trees_of_group(n, max_samples) < 200)
    sampler = HeldOutGroups(max_samples)
    n_trees = sampler.trees_of_group(n)
    assert n_trees == trees_of_group(n, max_samples)
    share = share_held_out(n, max_samples)
    times = np.zeros(n, dtype=int)
    for tree in range(group * n_trees, (group + 1) * n_trees):
        assert sampler.group_of(tree, n) == group
        points, n_structure = sampler.points(seed, tree, n)
        assert sorted(points.tolist()) == list(range(n))
        assert n_structure >= 1
        times[points[n_structure:]] += 1
    assert times.max() <= 1
    if n_trees * share > 1 - 1e-9:
        # All or none: all rows may have their numbers in the same part.
        assert times.min() == times.max()
        assert times.min() == 1 or n < 100 or n_trees == 1


@pytest.mark.parametrize("max_samples", [0.8, 0.5, 0.63, 0.95, 0.3, 18])
def test_numbers_of_held_out_rows_are_binomial(max_samples):
    """Each of n rows is out of a tree with the probability that is asked for."""
    n, n_groups = 20, 3000
    sampler = HeldOutGroups(max_samples)
    n_trees = sampler.trees_of_group(n)
    share = share_held_out(n, max_samples)
    chances = binom.pmf(np.arange(n + 1), n, share)
    common = n_groups * chances > 5
    for place in {0, n_trees - 1}:
        sizes = [
            n - sampler.points(17, group * n_trees + place, n)[1]
            for group in range(n_groups)
        ]
        counts = np.bincount(sizes, minlength=n + 1)
        # Numbers that are rare are one kind.
        observed = np.append(counts[common], counts[~common].sum())
        expected = n_groups * np.append(chances[common], chances[~common].sum())
        some = expected > 1
        assert chisquare(observed[some], expected[some], sum_check=False).pvalue > (
            P_VALUE
        )


@given(seed=SEEDS, tree=st.integers(0, 50), share=st.floats(0.1, 0.9))
def test_share_of_many_rows_that_is_held_out(seed, tree, share):
    """Farther off by chance once in 10^9 times."""
    n = 20_000
    _, n_structure = HeldOutGroups(1 - share).points(seed, tree, n)
    low, high = binom.ppf([5e-10, 1 - 5e-10], n, share)
    assert low <= n - n_structure <= high


def test_groups_are_independent():
    """A row that was out of the first tree of one group may be out of any of others."""
    n, sampler = 20_000, HeldOutGroups(0.8)
    first, second = (
        np.isin(np.arange(n), points[n_structure:])
        for points, n_structure in (sampler.points(3, tree, n) for tree in (0, 5))
    )
    low, high = binom.ppf([1e-5, 1 - 1e-5], n, 0.2 * 0.2)
    assert low <= (first & second).sum() <= high
