# SPDX-License-Identifier: BSD-3-Clause
"""Private trees, drawn block by block as a plan says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest.privacy.boxes import EVERYWHERE, Box, Boxes
from mrforest.privacy.grid import Grid
from mrforest.privacy.mechanisms import Geometric, PermuteAndFlip
from mrforest.privacy.plan import Plan
from mrforest.privacy.randomness import RandomBits, coins
from mrforest.privacy.scoring import MOST_EPSILON
from mrforest.privacy.sensitivity import CORRECT_RANGE, squares_range
from mrforest.privacy.sensitivity import squares as score_squares
from mrforest.privacy.subtree import (
    Leaf,
    Scoring,
    Split,
    SubtreeMechanism,
    Tree,
)

Rows = NDArray[np.int32]
# The random bits of each region of a tree, by its number and that of the block; of 0
# alone: of the coins that halve its rows
Streams = Callable[..., RandomBits]

# In an honest tree one block in so many, on average, does not look at the rows: so
# every cell of the grid is cut off sooner or later, whatever the rows say.
BLIND_BLOCKS = 16

# Number of the region of all rows; below region i are 2 i and 2 i + 1.
ROOT = 1


@dataclass(frozen=True)
class Coded:
    """Rows on the grid.

    Attributes
    ----------
    codes : ndarray of shape (n_rows, n_features), dtype=uint8
    y : ndarray of shape (n_rows,), dtype=int32
        Class, or cell of the target.
    n_classes : int
    grid : Grid
    squares : bool
        Whether classes are cells of a number, where near is better than far.
    """

    codes: NDArray[np.uint8]
    y: NDArray[np.int32]
    n_classes: int
    grid: Grid
    squares: bool

    @property
    def n_points(self) -> int:
        """How many rows there are."""
        return len(self.y)

    def only(self, columns: NDArray[np.intp]) -> Coded:
        """Return the rows with some of their columns."""
        if len(columns) == self.codes.shape[1]:
            return self
        codes = np.ascontiguousarray(self.codes[:, columns])
        return replace(self, codes=codes, grid=self.grid.only(columns))

    def counts(self, rows: Rows) -> NDArray[np.int64]:
        """Rows of each class."""
        return np.bincount(self.y[rows], minlength=self.n_classes)


@dataclass(frozen=True)
class Place:
    """Where in a tree a region is.

    Attributes
    ----------
    region : int
        Its number.
    block : int
        That is drawn in it.
    box : Box
    """

    region: int = ROOT
    block: int = 0
    box: Box = field(default_factory=lambda: EVERYWHERE)

    @property
    def next_block(self) -> Place:
        """The same region, when its block has been drawn."""
        return replace(self, block=self.block + 1)

    def parts(self, boxes: Boxes, split: Split) -> tuple[Place, Place]:
        """Return the places left and right of a split."""
        left, right = boxes.parts(self.box, split.feature, split.code)
        return (
            Place(2 * self.region, self.block, left),
            Place(2 * self.region + 1, self.block, right),
        )


def halving_key(streams: Streams) -> bytes:
    """Draw the key of coins that halve the rows of an honest tree.

    A coin for each row: which half it falls into has nothing to do with others.
    """
    return streams(0).words(4).tobytes()


def scoring_of(plan: Plan, block: int, norm: float, *, squares: bool) -> Scoring:
    """Return what leaves of a block are worth."""
    is_labelled = plan.leaf == "joint" and block == len(plan.blocks) - 1
    return Scoring(
        # What is drawn with less costs less.
        min(plan.blocks[block].epsilon, MOST_EPSILON),
        None if is_labelled else norm,
        squares,
    )


def draw_block(
    plan: Plan,
    place: Place,
    mechanism: SubtreeMechanism,
    rows: Any,
    random: RandomBits,
) -> Tree:
    """Draw the block of a region."""
    depth = plan.blocks[place.block].depth
    if plan.honest and random.below(BLIND_BLOCKS) == 0:
        return mechanism.draw_blind(depth, random)
    return mechanism.draw(rows, depth, random)


def draw_leaf(
    plan: Plan, counts: NDArray[np.int64], random: RandomBits, *, squares: bool
) -> Leaf:
    """Draw what a leaf tells of its class counts."""
    if plan.leaf == "counts":
        noisy = Geometric(plan.leaf_epsilon).draw(counts, random)
        return Leaf(None, tuple(noisy.tolist()))
    scores, sensitivity = counts, CORRECT_RANGE
    if squares:
        scores = score_squares(counts, np.arange(len(counts)))
        sensitivity = squares_range(len(counts))
    return Leaf(PermuteAndFlip(plan.leaf_epsilon, sensitivity).draw(scores, random))


class TreeMechanism:
    """Draws trees from rows.

    Parameters
    ----------
    rows : Coded
    plan : Plan
    norm : float
        Of the score of splits that have no labels.
    n_jobs : int or None
    n_points : int or None
        See `SubtreeMechanism`.
    step : callable
        Is called after each draw of a block in a region.
    """

    def __init__(
        self,
        rows: Coded,
        plan: Plan,
        norm: float,
        n_jobs: int | None = None,
        n_points: int | None = None,
        step: Callable[[], None] = lambda: None,
    ) -> None:
        self.rows, self.plan, self.norm = rows, plan, norm
        self.n_jobs, self.n_points, self.step = n_jobs, n_points, step

    @cached_property
    def blocks(self) -> list[SubtreeMechanism]:
        """The mechanism of each block.

        After the columns of the rows there is one in which all have the same code.
        """
        codes = np.pad(self.rows.codes, ((0, 0), (0, 1)))
        return [
            SubtreeMechanism(
                codes,
                self.rows.y,
                self.rows.n_classes,
                self.rows.grid.with_stop(block.stop),
                scoring_of(self.plan, number, self.norm, squares=self.rows.squares),
                self.n_jobs,
                self.n_points,
            )
            for number, block in enumerate(self.plan.blocks)
        ]

    # ---- draw ------------------------------------------------------------------------

    def draw(self, streams: Streams) -> Tree:
        """Draw a tree."""
        everything = np.arange(len(self.rows.y), dtype=np.int32)
        if not self.plan.honest:
            return self.draw_below(everything, everything, Place(), streams)
        shapes = coins(halving_key(streams), 0, len(everything))
        halves = everything[shapes], everything[~shapes]
        return self.draw_below(*halves, Place(), streams)

    def draw_below(
        self, structure: Rows, estimation: Rows, place: Place, streams: Streams
    ) -> Tree:
        """Draw what is below a region, from a block on."""
        random = streams(place.region, place.block)
        if place.block == len(self.plan.blocks):
            counts = self.rows.counts(estimation)
            return draw_leaf(self.plan, counts, random, squares=self.rows.squares)
        mechanism = self.blocks[place.block].inside(place.box)
        drawn = draw_block(self.plan, place, mechanism, structure, random)
        self.step()
        return self._extend(drawn, structure, estimation, place.next_block, streams)

    def _extend(
        self,
        tree: Tree,
        structure: Rows,
        estimation: Rows,
        place: Place,
        streams: Streams,
    ) -> Tree:
        """Put the next block below each leaf of a drawn one."""
        if isinstance(tree, Leaf):
            if tree.label is not None:
                return tree
            return self.draw_below(structure, estimation, place, streams)
        shaping = self._part(tree, structure)
        filling = self._part(tree, estimation) if self.plan.honest else shaping
        places = place.parts(self.blocks[0].boxes, tree)
        sides = zip(shaping, filling, places, strict=True)
        left, right = next(sides), next(sides)
        return Split(
            tree.feature,
            tree.code,
            self._extend(tree.left, *left, streams),
            self._extend(tree.right, *right, streams),
        )

    def _part(self, split: Split, rows: Rows) -> tuple[Rows, Rows]:
        if len(rows) == 0:  # most regions of a deep tree
            return rows, rows
        return self.blocks[0].part(rows, split.feature, split.code)

    # ---- probability -----------------------------------------------------------------

    def log_probability(self, tree: Tree) -> float:
        """Log of the probability that the rows' tree is this one."""
        if self.plan.honest:
            raise ValueError(
                "honest=True: the tree does not tell which half a row is in, and its "
                "probability is a sum over all ways to halve the rows"
            )
        everything = np.arange(len(self.rows.y), dtype=np.int32)
        found = self._log_probabilities(tree, everything, 0, EVERYWHERE)
        return math.fsum(found)

    def _log_probabilities(
        self, tree: Tree, rows: Rows, block: int, box: Box
    ) -> Iterator[float]:
        """Yield the logs of what was drawn, draw by draw."""
        if block == len(self.plan.blocks):
            assert isinstance(tree, Leaf)
            if tree.counts is not None:
                noise = np.array(tree.counts) - self.rows.counts(rows)
                mechanism = Geometric(self.plan.leaf_epsilon)
                yield float(mechanism.log_probabilities(noise).sum())
            return
        drawn = self.blocks[block].inside(box)
        # Without any candidate a block is a leaf.
        depth = self.plan.blocks[block].depth if drawn.has_candidates else 0
        yield drawn.log_probability(cut_off(tree, depth), rows, depth)
        for below, part, its_box in self._regions(tree, rows, depth, box):
            yield from self._log_probabilities(below, part, block + 1, its_box)

    def _regions(
        self, tree: Tree, rows: Rows, depth: int, box: Box
    ) -> Iterator[tuple[Tree, Rows, Box]]:
        """Yield what stands below so many levels, with its rows and its box."""
        if depth == 0:
            yield tree, rows, box
            return
        assert isinstance(tree, Split)
        for child, part, its_box in zip(
            (tree.left, tree.right),
            self._part(tree, rows),
            self.blocks[0].boxes.parts(box, tree.feature, tree.code),
            strict=True,
        ):
            yield from self._regions(child, part, depth - 1, its_box)


def cut_off(tree: Tree, depth: int) -> Tree:
    """Return the upper levels of a tree; a leaf that is there keeps its label."""
    if isinstance(tree, Leaf):
        return Leaf(tree.label)
    if depth == 0:
        return Leaf(None)
    return Split(
        tree.feature,
        tree.code,
        cut_off(tree.left, depth - 1),
        cut_off(tree.right, depth - 1),
    )
