# SPDX-License-Identifier: BSD-3-Clause
"""Trees of regions without rows: drawn at once, from base measures alone."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from mrforest.privacy.grid import Grid, Numeric
from mrforest.privacy.plan import Block, Plan
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.subtree import Leaf
from mrforest.privacy.tree import Coded, TreeMechanism

GRID = Grid.of([Numeric(0, 2, is_whole=True), ["a", "b"]])
# Feature and code of each split with its share, which the stop has in the last block.
SPLITS = {(0, 0): 3, (0, 1): 3, (1, 0): 2, (1, 1): 2, (1, 2): 2}
STOP = (2, 0)
N_CLASSES = 3


def mechanism(leaf, n_rows=0):
    blocks = (Block(2, 1.0, 0), Block(1, 1.0, 4))
    rng = np.random.default_rng(0)
    rows = Coded(
        rng.integers(0, 3, (n_rows, 2), dtype=np.uint8),
        rng.integers(0, N_CLASSES, n_rows, dtype=np.int32),
        N_CLASSES,
        GRID,
        False,
    )
    return TreeMechanism(rows, Plan(0.0, 1, 2, blocks, leaf, 1.0, False), 3.0)


def levels_of(tree):
    """Yield the nodes of each level."""
    level = [tree]
    while level:
        yield level
        level = [c for n in level if not isinstance(n, Leaf) for c in (n.left, n.right)]


@pytest.mark.parametrize("leaf", ["joint", "label", "counts"])
def test_a_region_without_rows_is_drawn_from_base_measures(leaf):
    random, n = RandomBits.seeded(1), 500
    steps = []
    drawn = mechanism(leaf)
    trees = [drawn.draw(random, lambda: steps.append(None)) for _ in range(n)]
    assert len(steps) == n * 5
    nodes = [Counter() for _ in range(4)]
    for tree in trees:
        levels = list(levels_of(tree))
        assert [len(level) for level in levels] == [1, 2, 4, 8]
        for seen, level in zip(nodes, levels, strict=True):
            for node in level:
                is_leaf = isinstance(node, Leaf)
                seen[node.label if is_leaf else (node.feature, node.code)] += 1
    for seen in nodes[:2]:
        assert set(seen) == set(SPLITS)
        shares = np.array([SPLITS[split] for split in seen])
        assert chisquare(list(seen.values()), shares * seen.total() / 12)[1] > 1e-6
    # Two features weigh 1 each, the stop 4.
    expected = {**SPLITS, STOP: 24}
    shares = np.array([expected[split] for split in nodes[2]])
    assert set(nodes[2]) == set(expected)
    assert chisquare(list(nodes[2].values()), shares * n * 4 / 36)[1] > 1e-6
    labels = {None} if leaf == "counts" else {0, 1, 2}
    assert set(nodes[3]) == labels
    assert chisquare(list(nodes[3].values()))[1] > 1e-6 or leaf == "counts"


def test_steps_are_as_many_with_rows():
    steps = []
    mechanism("joint", 7).draw(RandomBits.seeded(3), lambda: steps.append(None))
    assert len(steps) == 5
