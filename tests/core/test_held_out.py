# SPDX-License-Identifier: BSD-3-Clause
"""Points that are held out of a tree, by groups of trees: the same as the twin's."""

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mrforest.forests._sampling import HeldOutGroups
from tests.naive.sampled import held_out_points, share_held_out, trees_of_group

SEEDS = st.integers(0, 2**64)
SHARES = st.one_of(
    st.integers(1, 90), st.floats(0, 1), st.sampled_from([0.5, 0.75, 0.8, 0.9, 1.0])
)


@given(seed=SEEDS, tree=st.integers(0, 1000), n=st.integers(1, 80), max_samples=SHARES)
@example(seed=0, tree=5, n=1, max_samples=0.8)
@example(seed=0, tree=5, n=2, max_samples=1)
@example(seed=0, tree=5, n=10, max_samples=10)
def test_same_points_as_the_twin(seed, tree, n, max_samples):
    points, n_structure = HeldOutGroups(max_samples).points(seed, tree, n)
    structure, held = held_out_points(seed, tree, n, max_samples)
    assert n_structure == len(structure)
    assert points.dtype == np.int32
    assert points.tolist() == structure + held


@given(
    seed=SEEDS, group=st.integers(0, 100), n=st.integers(1, 2000), max_samples=SHARES
)
@example(seed=0, group=1, n=100, max_samples=0.8)
@example(seed=0, group=1, n=103, max_samples=0.8)
@example(seed=0, group=1, n=100, max_samples=99)
def test_every_row_is_held_out_at_most_once_in_a_group(seed, group, n, max_samples):
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
        assert abs(n - n_structure - n * share) <= 1
        times[points[n_structure:]] += 1
    assert times.max() <= 1
    if n_trees > 1 and n >= n_trees and n_trees * share > 1 - 1e-9:
        assert times.min() == 1
