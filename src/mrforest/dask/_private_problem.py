# SPDX-License-Identifier: BSD-3-Clause
"""What every worker knows of the private forest that is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.privacy.boxes import Boxes
from mrforest.privacy.counted import Bins
from mrforest.privacy.grid import Grid
from mrforest.privacy.plan import Plan
from mrforest.privacy.randomness import RandomBits, coins
from mrforest.privacy.tree import ROOT, Place

# Bits of the number of a region
REGION_BITS = 32


@dataclass(frozen=True)
class PrivateRows:
    """Rows on the grid, wherever they are.

    Attributes
    ----------
    n_points : int
    n_classes : int
    grid : Grid
    squares : bool
        See `mrforest.privacy.tree.Coded`.
    """

    n_points: int
    n_classes: int
    grid: Grid
    squares: bool

    @property
    def row_bytes(self) -> int:
        """Bytes of a row: codes, class, and its place."""
        return len(self.grid.n_codes) + 8

    @property
    def most_cells(self) -> int:
        """Counters of two levels of a region."""
        return Bins.of(self.grid.with_stop(1)).n_pairs * self.n_classes

    def table(
        self, codes: NDArray[np.uint8], y: NDArray[np.int32]
    ) -> _core.TrainingTable:
        """Return rows as the engine parts them."""
        return _core.TrainingTable(
            _core.Target(y, self.n_classes, None, None, None, "gini"),
            self.grid.is_categorical,
            codes=codes,
            n_bins=self.grid.n_codes,
            cuts=self.grid.cuts,
            cuts_start=self.grid.cuts_start,
        )


@dataclass(frozen=True)
class PrivateProblem:
    """The question, and how it is answered.

    Attributes
    ----------
    rows : PrivateRows
    plan : Plan
    norm : float
        Of the score of splits that have no labels.
    seed : int or None
        None: every draw has random bits that nobody knows.
    """

    rows: PrivateRows
    plan: Plan
    norm: float
    seed: int | None

    @property
    def n_points(self) -> int:
        """Rows of the whole table."""
        return self.rows.n_points

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.rows.row_bytes

    @property
    def n_cells(self) -> int:
        """Counters of a region, about."""
        if max(block.depth for block in self.plan.blocks) > 1:
            return self.rows.most_cells
        return int(self.rows.grid.slot[-1]) * self.rows.n_classes

    def own_points(
        self, numbers: NDArray[np.int32], tree: PrivateTree
    ) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        """Return structure and estimation points of a tree among the rows of a shard.

        Parameters
        ----------
        numbers : ndarray of int32
            Of the rows, among those of the whole table: one after the other.
        tree : PrivateTree
        """
        if tree.halving_key is None:
            return np.arange(len(numbers), dtype=np.int32), None
        first = int(numbers[0]) if len(numbers) else 0
        shapes = coins(tree.halving_key, first, len(numbers))
        return (
            np.flatnonzero(shapes).astype(np.int32),
            np.flatnonzero(~shapes).astype(np.int32),
        )

    def random(self, tree: PrivateTree, *path: int) -> RandomBits:
        """Return random bits of a tree, see `mrforest.privacy.tree.Streams`."""
        return RandomBits.of(self.seed, 1, tree.number, *path)


@dataclass(frozen=True)
class PrivateTree:
    """A tree that is drawn on all workers.

    Attributes
    ----------
    number : int
    columns : ndarray of intp
        That it looks at.
    halving_key : bytes or None
        Of the coins that halve its rows; None: it is not honest.
    """

    number: int
    columns: NDArray[np.intp]
    halving_key: bytes | None

    def node(self, region: int) -> int:
        """Return the number of a region among those of all trees."""
        return self.number << REGION_BITS | region

    @property
    def root(self) -> int:
        """Number of the region of all rows."""
        return self.node(ROOT)


@dataclass(frozen=True)
class Region:
    """A region that waits for its block.

    Attributes
    ----------
    tree : PrivateTree
    place : Place
    """

    tree: PrivateTree
    place: Place

    @property
    def node(self) -> int:
        """Its number among the regions of all trees."""
        return self.tree.node(self.place.region)

    @property
    def key(self) -> tuple[int, int]:
        """What it is found by; without a split a region waits again, for a block."""
        return self.node, self.place.block


class Grids:
    """The grids of trees, as the blocks of a plan look at them.

    Parameters
    ----------
    problem : PrivateProblem
    """

    def __init__(self, problem: PrivateProblem) -> None:
        self._problem = problem
        self._known: dict[tuple[int, int], Boxes] = {}

    def boxes(self, tree: PrivateTree, block: int) -> Boxes:
        """Return the boxes of a tree in a block."""
        key = tree.number, block
        if key not in self._known:
            grid = self._problem.rows.grid.only(tree.columns)
            stop = self._problem.plan.blocks[block].stop
            self._known[key] = Boxes(grid.with_stop(stop))
        return self._known[key]

    def bins(self, region: Region) -> Bins:
        """Return the codes that the candidates of a region tell apart."""
        boxes = self.boxes(region.tree, region.place.block)
        return Bins.of(boxes.inside(region.place.box))
