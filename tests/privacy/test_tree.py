# SPDX-License-Identifier: BSD-3-Clause
"""Trees of several blocks: each is drawn from the candidates of its box."""

import itertools
import math
from collections import Counter
from functools import partial

import numpy as np
import pytest
from scipy.stats import chi2

from mrforest.privacy.grid import Grid, Numeric
from mrforest.privacy.plan import Block, Plan
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.subtree import Leaf, Split
from mrforest.privacy.tree import Coded, Place, TreeMechanism

GRID = Grid.of([Numeric(0, 2, is_whole=True), ["a"]])
CODES = np.array([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]], dtype=np.uint8)
Y = np.array([0, 0, 1, 1, 0], dtype=np.int32)


def mechanism(n_rows, *blocks, leaf="joint"):
    rows = Coded(CODES[:n_rows], Y[:n_rows], 2, GRID, False)
    return TreeMechanism(rows, Plan(0.0, 1, 2, blocks, leaf, 1.0, False), 3.0)


def trees(allowed, depths, stop):
    """List every tree, given what each feature may still be.

    Candidates of a block are those of the region it starts from.
    """
    if not depths:
        return [Leaf(0), Leaf(1)]
    numbers, letters = allowed
    splits = [(0, code) for code in numbers[:-1]]
    splits += [(1, code) for code in letters if len(letters) > 1]
    if stop and len(depths) == 1:
        splits.append((2, 0))
    if not splits:
        return trees(allowed, depths[1:], stop)

    def below(allowed, depth):
        if depth == 0:
            return trees(allowed, depths[1:], stop)
        found = []
        for split in splits:
            parts = [below(side, depth - 1) for side in sides(allowed, split)]
            found += [Split(*split, *pair) for pair in itertools.product(*parts)]
        return found

    return below(allowed, depths[0])


def sides(allowed, split):
    (numbers, letters), (feature, code) = allowed, split
    if feature == 2:
        return [allowed, allowed]
    if feature == 1:
        return [(numbers, [code]), allowed]
    left = [number for number in numbers if number <= code]
    return [(left, letters), ([n for n in numbers if n > code], letters)]


@pytest.mark.parametrize("n_rows", [0, 1, 5])
@pytest.mark.parametrize(
    "blocks",
    [
        (Block(1, 0.8), Block(1, 1.3, 2)),
        (Block(2, 1.1),),
        (Block(1, 0.5), Block(1, 0.9)),
    ],
    ids=str,
)
def test_trees_are_drawn_as_they_say(blocks, n_rows):
    """Probabilities of all trees sum to 1, and frequencies are as they are."""
    drawn = mechanism(n_rows, *blocks)
    every = trees(([0, 1, 2], [0, 1]), [b.depth for b in blocks], blocks[-1].stop)
    chances = {tree: math.exp(drawn.log_probability(tree)) for tree in every}
    assert sum(chances.values()) == pytest.approx(1, abs=1e-9)
    n = 8000

    def streams(region, block, number):
        return RandomBits(bytes([region, block]) + number.to_bytes(30, "little"))

    seen = Counter(drawn.draw(partial(streams, number=i)) for i in range(n))
    assert set(seen) <= set(chances)
    expected = n * np.array(list(chances.values()))
    observed = np.array([seen[tree] for tree in chances])
    common = expected >= 5
    rest = expected[~common].sum()
    distance = ((observed - expected)[common] ** 2 / expected[common]).sum()
    distance += (observed[~common].sum() - rest) ** 2 / max(rest, 1)
    assert chi2.sf(distance, common.sum()) > 1e-6


@pytest.mark.parametrize("leaf", ["joint", "label", "counts"])
@pytest.mark.parametrize("n_rows", [0, 5])
def test_every_region_is_a_step(leaf, n_rows):
    steps = []
    drawn = mechanism(n_rows, Block(2, 1.0), Block(1, 1.0, 4), leaf=leaf)
    drawn.step = partial(steps.append, None)
    drawn.draw(partial(RandomBits.seeded, 3))
    assert len(steps) == 5


def test_a_region_has_random_bits_of_its_own():
    """So it can be drawn anywhere, whatever was drawn before."""
    asked = []

    def streams(region, block):
        asked.append((region, block))
        return RandomBits.seeded(3, region, block)

    whole = mechanism(5, Block(1, 1.0), Block(1, 1.0), leaf="counts")
    tree = whole.draw(streams)
    assert sorted(asked) == [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2), (7, 2)]
    left, _ = whole.blocks[0].part(
        np.arange(5, dtype=np.int32), tree.feature, tree.code
    )
    place, _ = Place(block=1).parts(whole.blocks[0].boxes, tree)
    assert whole.draw_below(left, left, place, streams) == tree.left


def test_a_region_that_is_not_split_has_other_bits_for_its_next_block():
    asked = []

    def streams(region, block):
        asked.append((region, block))
        return RandomBits.seeded(3, region, block)

    grid = Grid.of([Numeric(1, 1)])
    rows = Coded(np.zeros((4, 1), dtype=np.uint8), Y[:4], 2, grid, False)
    blocks = Block(2, 1.0), Block(1, 1.0)
    TreeMechanism(rows, Plan(0.0, 1, 1, blocks, "label", 1.0, False), 3.0).draw(streams)
    assert asked == [(1, 0), (1, 1), (1, 2)]
