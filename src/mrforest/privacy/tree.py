# SPDX-License-Identifier: BSD-3-Clause
"""Private trees, drawn block by block as a plan says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mrforest.privacy.boxes import EVERYWHERE, Box
from mrforest.privacy.grid import Grid
from mrforest.privacy.mechanisms import Geometric, PermuteAndFlip
from mrforest.privacy.plan import Plan
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.scoring import MOST_EPSILON
from mrforest.privacy.sensitivity import CORRECT_RANGE, squares, squares_range
from mrforest.privacy.subtree import (
    Leaf,
    Scoring,
    Split,
    SubtreeMechanism,
    Tree,
)

Rows = NDArray[np.int32]

# In an honest tree one block in so many, on average, does not look at the rows: so
# every cell of the grid is cut off sooner or later, whatever the rows say.
BLIND_BLOCKS = 16


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

    def only(self, columns: NDArray[np.intp]) -> Coded:
        """Return the rows with some of their columns."""
        if len(columns) == self.codes.shape[1]:
            return self
        codes = np.ascontiguousarray(self.codes[:, columns])
        return replace(self, codes=codes, grid=self.grid.only(columns))

    def counts(self, rows: Rows) -> NDArray[np.int64]:
        """Rows of each class."""
        return np.bincount(self.y[rows], minlength=self.n_classes)


class TreeMechanism:
    """Draws trees from rows.

    Parameters
    ----------
    rows : Coded
    plan : Plan
    norm : float
        Of the score of splits that have no labels.
    n_jobs : int or None
    """

    def __init__(
        self, rows: Coded, plan: Plan, norm: float, n_jobs: int | None = None
    ) -> None:
        self.rows, self.plan, self.norm, self.n_jobs = rows, plan, norm, n_jobs

    @cached_property
    def blocks(self) -> list[SubtreeMechanism]:
        """The mechanism of each block.

        After the columns of the rows there is one in which all have the same code.
        """
        last = len(self.plan.blocks) - 1
        codes = np.pad(self.rows.codes, ((0, 0), (0, 1)))
        return [
            SubtreeMechanism(
                codes,
                self.rows.y,
                self.rows.n_classes,
                self.rows.grid.with_stop(block.stop),
                Scoring(
                    # What is drawn with less costs less.
                    min(block.epsilon, MOST_EPSILON),
                    None if self.plan.leaf == "joint" and number == last else self.norm,
                    self.rows.squares,
                ),
                self.n_jobs,
            )
            for number, block in enumerate(self.plan.blocks)
        ]

    # ---- draw ------------------------------------------------------------------------

    def draw(self, random: RandomBits, step: Callable[[], None] = lambda: None) -> Tree:
        """Draw a tree; `step` is called after each draw of a block in a region."""
        self.step = step
        everything = np.arange(len(self.rows.y), dtype=np.int32)
        if not self.plan.honest:
            return self._grow(everything, everything, 0, EVERYWHERE, random)
        # A coin for each row: which half it falls into has nothing to do with others.
        bytes_ = random.words((len(everything) + 7) // 8).view(np.uint8)
        shapes = (bytes_[: len(everything)] & 1).astype(bool)
        halves = everything[shapes], everything[~shapes]
        return self._grow(*halves, 0, EVERYWHERE, random)

    def _grow(
        self,
        structure: Rows,
        estimation: Rows,
        block: int,
        box: Box,
        random: RandomBits,
    ) -> Tree:
        """Draw what is below a region, from a block on."""
        if block == len(self.plan.blocks):
            return self._draw_leaf(estimation, random)
        looks = not self.plan.honest or random.below(BLIND_BLOCKS) > 0
        seen = structure if looks else structure[:0]
        mechanism = self.blocks[block].inside(box)
        drawn = mechanism.draw(seen, self.plan.blocks[block].depth, random)
        self.step()
        return self._extend(drawn, structure, estimation, block + 1, box, random)

    def _extend(
        self,
        tree: Tree,
        structure: Rows,
        estimation: Rows,
        block: int,
        box: Box,
        random: RandomBits,
    ) -> Tree:
        """Put the next block below each leaf of a drawn one."""
        if isinstance(tree, Leaf):
            if tree.label is not None:
                return tree
            return self._grow(structure, estimation, block, box, random)
        shaping = self._part(tree, structure)
        filling = self._part(tree, estimation) if self.plan.honest else shaping
        boxes = self._boxes(tree, box)
        left = self._extend(tree.left, shaping[0], filling[0], block, boxes[0], random)
        right = self._extend(
            tree.right, shaping[1], filling[1], block, boxes[1], random
        )
        return Split(tree.feature, tree.code, left, right)

    def _boxes(self, split: Split, box: Box) -> tuple[Box, Box]:
        return self.blocks[0].boxes.parts(box, split.feature, split.code)

    def _part(self, split: Split, rows: Rows) -> tuple[Rows, Rows]:
        if len(rows) == 0:  # most regions of a deep tree
            return rows, rows
        return self.blocks[0].part(rows, split.feature, split.code)

    def _draw_leaf(self, rows: Rows, random: RandomBits) -> Leaf:
        counts = self.rows.counts(rows)
        epsilon = self.plan.leaf_epsilon
        if self.plan.leaf == "counts":
            noisy = Geometric(epsilon).draw(counts, random)
            return Leaf(None, tuple(noisy.tolist()))
        scores = counts
        sensitivity = CORRECT_RANGE
        if self.rows.squares:
            scores = squares(counts, np.arange(self.rows.n_classes))
            sensitivity = squares_range(self.rows.n_classes)
        return Leaf(PermuteAndFlip(epsilon, sensitivity).draw(scores, random))

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
            self._boxes(tree, box),
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
