# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a private forest, what workers know of it, and what they draw.

None of the functions changes its arguments, so the cluster can run any of them again
when a worker is lost. A draw that is lost before it was used is drawn anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._partitions import (
    PartitionError,
    RowsAndTargets,
    check_lengths,
    naming_partition,
)
from mrforest.dask._shards import NodePoints, Shard
from mrforest.dask._specs import PointPair, halves
from mrforest.dask._subtrees import GatheredRows, JoinedRows
from mrforest.data.table import read_target
from mrforest.privacy.boxes import Boxes
from mrforest.privacy.counted import Bins, CountedMechanism, Counts
from mrforest.privacy.grid import Grid
from mrforest.privacy.plan import Plan
from mrforest.privacy.randomness import RandomBits, coins
from mrforest.privacy.subtree import Tree
from mrforest.privacy.tree import (
    ROOT,
    Coded,
    Place,
    TreeMechanism,
    draw_block,
    scoring_of,
)

# Bits of the number of a region
REGION_BITS = 32

# Codes and classes of a partition
CodesAndClasses = tuple[NDArray[np.uint8], NDArray[np.int32]]


# ---- what workers know ---------------------------------------------------------------


@dataclass(frozen=True)
class PrivateRowSpec:
    """The encoded rows of a table, wherever they are.

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
        """Counters of a region of which two levels are drawn together."""
        return Bins.of(self.grid.with_stop(1)).n_pairs * self.n_classes

    def table(
        self, codes: NDArray[np.uint8], y: NDArray[np.int32]
    ) -> _core.TrainingTable:
        """Return rows as the engine partitions them."""
        return _core.TrainingTable(
            _core.Target(y, self.n_classes, None, None, None, "gini"),
            self.grid.is_categorical,
            codes=codes,
            n_bins=self.grid.n_codes,
            cuts=self.grid.cuts,
            cuts_start=self.grid.cuts_start,
        )


@dataclass(frozen=True)
class PrivateForestSpec:
    """What every worker must know of the private forest that is drawn.

    Attributes
    ----------
    rows : PrivateRowSpec
    plan : Plan
    norm : float
        Of the score of splits that have no labels.
    seed : int or None
        None: the random bits of every draw are secret.
    """

    rows: PrivateRowSpec
    plan: Plan
    norm: float
    seed: int | None

    @property
    def n_cells(self) -> int:
        """Counters of a region, approximately."""
        if max(block.depth for block in self.plan.blocks) > 1:
            return self.rows.most_cells
        return int(self.rows.grid.slot[-1]) * self.rows.n_classes

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
        Those that it uses.
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

    def points_among(self, places: NDArray[np.int32]) -> PointPair:
        """Return structure and estimation points of the tree among the rows of a shard.

        Parameters
        ----------
        places : ndarray of int32
            Numbers of the rows in the whole table, which follow one another.
        """
        if self.halving_key is None:
            return np.arange(len(places), dtype=np.int32), None
        first = int(places[0]) if len(places) else 0
        return halves(coins(self.halving_key, first, len(places)))


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
        """Its number and block: without a split it waits for the next block, too."""
        return self.node, self.place.block


class TreeGrids:
    """The grids of trees in the blocks of a plan.

    Parameters
    ----------
    spec : PrivateForestSpec
    """

    def __init__(self, spec: PrivateForestSpec) -> None:
        self._spec = spec
        self._known: dict[tuple[int, int], Boxes] = {}

    def boxes(self, tree: PrivateTree, block: int) -> Boxes:
        """Return the boxes of a tree in a block."""
        key = tree.number, block
        if key not in self._known:
            grid = self._spec.rows.grid.only(tree.columns)
            stop = self._spec.plan.blocks[block].stop
            self._known[key] = Boxes(grid.with_stop(stop))
        return self._known[key]

    def bins(self, region: Region) -> Bins:
        """Return the bins that the candidate splits of a region distinguish."""
        boxes = self.boxes(region.tree, region.place.block)
        return Bins.of(boxes.inside(region.place.box))


# ---- the table -----------------------------------------------------------------------


@naming_partition
def read(number: int, part: RowsAndTargets, forest: Any) -> CodesAndClasses | None:
    """Read a partition as the local forest does; None: it has no rows."""
    X, y = part
    check_lengths(X, y)
    if len(X) == 0:
        return None
    rows = forest._read_rows(X, read_target(y))
    return rows.codes, rows.y


class PartitionDigest(NamedTuple):
    """The number of rows of a partition, and a hash of them."""

    n_rows: int
    digest: bytes


def digest_of(rows: CodesAndClasses | None) -> PartitionDigest:
    """Return the number of rows, and a hash of them."""
    digest = hashlib.blake2b()
    for array in rows or ():
        content: Any = np.ascontiguousarray(array)
        digest.update(content)
    return PartitionDigest(0 if rows is None else len(rows[1]), digest.digest())


def join(
    parts: Sequence[CodesAndClasses | None],
    numbers: Sequence[int],
    digests: Sequence[PartitionDigest],
    first: int,
    rows: PrivateRowSpec,
) -> Shard:
    """Join neighbouring partitions.

    Partitions are read again when a worker is lost. If a collection returned other rows
    then, a row could be used twice, although the budget was charged only once.

    Parameters
    ----------
    parts : sequence of (CodesAndClasses or None)
    numbers : sequence of int
        Of the partitions.
    digests : sequence of PartitionDigest
        Of the rows that were read first.
    first : int
        Number of the first row in the whole table.
    rows : PrivateRowSpec
    """
    for number, part, expected in zip(numbers, parts, digests, strict=True):
        if digest_of(part) != expected:
            raise PartitionError(
                f"partition {number}: its rows are not those that were first read; a "
                "collection must return the same rows each time (persist it)"
            )
    present = [part for part in parts if part is not None]
    if not present:
        nothing = np.empty(0, dtype=np.int32)
        codes = np.empty((0, len(rows.grid.n_codes)), dtype=np.uint8)
        return Shard(codes, nothing, nothing, None)
    codes = np.concatenate([codes for codes, _ in present])
    y = np.concatenate([y for _, y in present])
    places = np.arange(first, first + len(y), dtype=np.int32)
    return Shard(codes, y, places, rows.table(codes, y))


# ---- large regions -------------------------------------------------------------------


def count(
    points: NodePoints,
    shard: Shard,
    region: Region,
    bins: Bins,
    spec: PrivateForestSpec,
) -> NDArray[np.int32]:
    """Count the structure points of a region for its block."""
    rows, first, end = points.of_nodes([region.node], of_estimation=False)
    # The last feature stands for "do not split"; all rows are in its only bin.
    columns = np.append(region.tree.columns, 0).astype(np.int32)
    return bins.count(
        shard.codes,
        shard.y,
        rows[first[0] : end[0]],
        columns,
        spec.rows.n_classes,
        depth=counted_depth(region, spec),
    )


def counted_depth(region: Region, spec: PrivateForestSpec) -> int:
    """Return for how many levels rows are counted; a leaf needs their classes, too."""
    return max(spec.plan.blocks[region.place.block].depth, 1)


def add(one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the counts of both."""
    return one + other


def draw(
    cells: NDArray[np.int32], region: Region, bins: Bins, spec: PrivateForestSpec
) -> Tree:
    """Draw the block of a region from the counts of all its points."""
    plan, place, rows = spec.plan, region.place, spec.rows
    scoring = scoring_of(plan, place.block, spec.norm, squares=rows.squares)
    mechanism = CountedMechanism(bins, rows.n_classes, scoring, rows.n_points)
    depth = counted_depth(region, spec)
    counts = Counts.of(cells, depth, bins.grid.slot, rows.n_classes)
    random = spec.random(region.tree, place.region, place.block)
    return bins.as_codes(draw_block(plan, place, mechanism, counts, random))


# ---- small regions -------------------------------------------------------------------


def finish(
    parts: Sequence[GatheredRows | None],
    regions: Sequence[Region],
    spec: PrivateForestSpec,
) -> list[Tree]:
    """Draw all that is below regions from their rows."""
    rows, row_spec = JoinedRows(parts), spec.rows
    coded = Coded(
        rows.codes, rows.y, row_spec.n_classes, row_spec.grid, row_spec.squares
    )
    mechanisms: dict[int, TreeMechanism] = {}
    drawn = []
    for region in regions:
        tree = region.tree
        if tree.number not in mechanisms:
            mechanisms[tree.number] = TreeMechanism(
                coded.only(tree.columns),
                spec.plan,
                spec.norm,
                n_points=row_spec.n_points,
            )
        structure, estimation = rows.points(region.node)
        below = mechanisms[tree.number].draw_below(
            structure,
            structure if estimation is None else estimation,
            region.place,
            partial(spec.random, tree),
        )
        drawn.append(below)
    return drawn
