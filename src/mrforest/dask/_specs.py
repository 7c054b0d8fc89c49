# SPDX-License-Identifier: BSD-3-Clause
"""What every worker must know of a table and of the forest that grows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.data.binning import Binning
from mrforest.forests.growing import add_views
from mrforest.forests.held_out import MAX_SCORED, MIN_MINORITY
from mrforest.forests.sampling import (
    Bootstrap,
    HeldOutGroups,
    Partition,
    Sampler,
    tree_key,
)

# The arrays of a tree, by name
Arrays = dict[str, NDArray[Any]]
# Structure and estimation points of a node; None: the structure points again
PointPair = tuple[NDArray[np.int32], NDArray[np.int32] | None]


@dataclass(frozen=True)
class RowSpec:
    """The encoded rows of a table, wherever they are.

    Attributes
    ----------
    n_points : int
        Rows of the whole table.
    binning : Binning
    n_classes : int
    class_weight : ndarray of shape (n_classes,), or None
    criterion : {"gini", "entropy"}
    """

    n_points: int
    binning: Binning
    n_classes: int
    class_weight: NDArray[np.float64] | None
    criterion: str

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.binning.n_bins)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row: codes, class, and its place."""
        return self.n_features * int(np.dtype(self.binning.code_dtype).itemsize) + 8

    @property
    def n_cells(self) -> int:
        """Counters of a node, by feature, bin and class."""
        return int((self.binning.n_bins + 1).sum()) * self.n_classes

    def table(self, codes: NDArray[Any], y: NDArray[np.int32]) -> _core.TrainingTable:
        """Return rows as the engine reads them."""
        return _core.TrainingTable(
            _core.Target(
                y, self.n_classes, None, self.class_weight, None, self.criterion
            ),
            self.binning.is_categorical,
            codes=codes,
            n_bins=self.binning.n_bins,
            cuts=self.binning.cuts,
            cuts_start=self.binning.cuts_start,
            equal_values=self.binning.equal_values,
            equal_start=self.binning.equal_start,
        )

    def blank_table(self) -> _core.TrainingTable:
        """Return a table for objects that need one, but none of its rows."""
        blank = np.zeros((1, self.n_features), dtype=self.binning.code_dtype)
        return self.table(blank, np.zeros(1, dtype=np.int32))


class SubtreeRoot(NamedTuple):
    """A node whose subtree grows on one worker.

    Attributes
    ----------
    number : int
    key : ndarray of shape (2,), dtype=uint64
        Of its tree.
    n_structure : int
    below : tuple of path, depth, root weight and least weight
        See `_core.grow_tree`.
    """

    number: int
    key: NDArray[np.uint64]
    n_structure: int
    below: tuple[int, int, float, float]


# ---- forests whose nodes are split by counts -----------------------------------------


@dataclass(frozen=True)
class ForestSpec:
    """A forest whose large nodes are split by the counts of all their points.

    Attributes
    ----------
    rows : RowSpec
    sampler : Sampler
    rule : SplitRule
    limits : Limits
    """

    rows: RowSpec
    sampler: Sampler
    rule: _core.SplitRule
    limits: _core.Limits

    @property
    def is_honest(self) -> bool:
        """Whether the points that fill the leaves are not those that shape the tree."""
        return isinstance(self.sampler, Partition)

    @property
    def needs_estimation_bins(self) -> bool:
        """Whether a split depends on the bins of the estimation points, too."""
        return self.limits.min_leaf > 0 and self.is_honest

    def chooser(self) -> _core.Chooser:
        """Return what splits and weighs nodes."""
        return _core.Chooser(
            self.rows.blank_table(), self.limits, self.rule, is_honest=self.is_honest
        )

    def subtree_table(
        self, codes: NDArray[Any], y: NDArray[np.int32]
    ) -> _core.TrainingTable:
        """Return rows from which subtrees grow."""
        table = self.rows.table(codes, y)
        add_views(table, self.rule, n_threads=1)
        return table

    def grow_subtree(
        self,
        root: SubtreeRoot,
        table: _core.TrainingTable,
        points: PointPair,
        places: NDArray[np.int32],
        idle: list[Any],
    ) -> Arrays:
        """Grow what is below a node.

        Parameters
        ----------
        root : SubtreeRoot
        table : TrainingTable
        points : pair
            Structure and estimation points of the node, rows of the table.
        places : ndarray of int32
            Of the rows, in the canonical order of the whole table.
        idle : list
            Work space of subtrees that have been grown.
        """
        if self.rule.restricts:
            # A rule that draws single points numbers them in the canonical order.
            own, others = points
            points = own[np.argsort(places[own], kind="stable")], others
        return _core.grow_tree(
            table,
            *points,
            root.key,
            self.limits,
            rule=self.rule,
            idle=idle,
            below=root.below,
        )


@dataclass(frozen=True)
class ShardedTree:
    """A tree that grows on all workers.

    Attributes
    ----------
    root : int
        Number of the tree in the forest, and of its root among the nodes of all trees.
    key : ndarray of shape (2,), dtype=uint64
        Of its random streams.
    sampler : Sampler
    n_points : int
        Rows of the whole table.
    boundary : tuple of int
        Which points are structure points, see `_core.structure_boundary`.
    """

    root: int
    key: NDArray[np.uint64]
    sampler: Sampler
    n_points: int
    boundary: tuple[int, int]

    def points_among(self, places: NDArray[np.int32]) -> PointPair:
        """Return structure and estimation points of the tree among the rows of a shard.

        Parameters
        ----------
        places : ndarray of int32
            Of the rows, in the canonical order of the whole table.
        """
        if isinstance(self.sampler, Partition):
            is_structure = _core.is_structure(self.key, places, *self.boundary)
            return halves(is_structure)
        rows = np.arange(len(places), dtype=np.int32)
        if isinstance(self.sampler, Bootstrap):
            copies = _core.copies_in_bag(self.key, self.n_points, places)
            rows = np.repeat(rows, copies)
        return rows, None

    def shaped_by_all(self) -> ShardedTree:
        """Return the tree itself: its points do not depend on where it grows."""
        return self


def halves(
    is_first: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the rows for which it is true, and the others."""
    return (
        np.flatnonzero(is_first).astype(np.int32),
        np.flatnonzero(~is_first).astype(np.int32),
    )


# ---- forests whose nodes are split by samples ----------------------------------------


@dataclass(frozen=True)
class SampledForestSpec:
    """A forest whose large nodes are split by samples of their points.

    Some rows shape a tree, and all rows fill it.

    Attributes
    ----------
    rows : RowSpec
    sampler : HeldOutGroups
    rule : SplitRule
    limits : Limits
    seed : int
        Of the forest.
    equality : bool
        Whether numeric features that offer it are cut by equality, too.
    n_asked : int
        Only nodes that hold out one of the first so many points are split; -1: all are.
    """

    rows: RowSpec
    sampler: HeldOutGroups
    rule: _core.SplitRule
    limits: _core.Limits
    seed: int
    equality: bool
    n_asked: int

    @property
    def n_cells(self) -> int:
        """Memory of the sample of a node, as a number of counters of four bytes."""
        return MAX_SCORED * (self.rows.row_bytes // 4 + 1)

    @property
    def is_honest(self) -> bool:
        """No: the points that shape a tree fill it, too."""
        return False

    def tree(self, number: int) -> HeldOutTree:
        """Return a tree that is about to grow."""
        return HeldOutTree(
            number,
            tree_key(self.seed, number),
            self.sampler.group_of(number, self.rows.n_points) % 2,
            *self.sampler.edges(self.seed, number, self.rows.n_points),
        )

    def chooser(self) -> _core.Chooser:
        """Return what weighs nodes and makes leaves."""
        return _core.Chooser(
            self.rows.blank_table(), self.limits, self.rule, is_honest=False
        )

    def sample_chooser(self, table: _core.TrainingTable) -> _core.SampleChooser:
        """Return what splits nodes by samples of their points."""
        return _core.SampleChooser(
            table, self.limits, rule=self.rule, **self._how_scored()
        )

    def subtree_table(
        self, codes: NDArray[Any], y: NDArray[np.int32]
    ) -> _core.TrainingTable:
        """Return rows from which subtrees grow."""
        return self.rows.table(codes, y)

    def grow_subtree(
        self,
        root: SubtreeRoot,
        table: _core.TrainingTable,
        points: PointPair,
        places: NDArray[np.int32],
        idle: list[Any],
    ) -> Arrays:
        """Grow what is below a node; parameters are those of `ForestSpec`."""
        own, held = points
        assert held is not None
        n_asked = -1
        if self.n_asked >= 0:
            # The rows stand in the canonical order.
            n_asked = int(np.searchsorted(places, self.n_asked))
        tree = _core.grow_sampled_tree(
            table,
            np.concatenate([own, held]),
            n_structure=len(own),
            key=root.key,
            limits=self.limits,
            rule=self.rule,
            n_asked=n_asked,
            idle=idle,
            below=root.below,
            **self._how_scored(),
        )
        n_held, impurity = _core.held_impurity(table, tree, held)
        del tree["held_leaf"]
        return tree | {"held_points": n_held, "held_impurity": impurity}

    def _how_scored(self) -> dict[str, Any]:
        return {
            "offers_equality": self.equality,
            "max_scored": MAX_SCORED,
            "min_minority": MIN_MINORITY,
        }


@dataclass(frozen=True)
class HeldOutTree:
    """A tree that grows on all workers and holds out some points.

    Attributes
    ----------
    root : int
        Number of the tree in the forest, and of its root among the nodes of all trees.
    key : ndarray of shape (2,), dtype=uint64
        Of its random streams.
    half : int
        Whether its group is an even or an odd one.
    group_key, low, high
        Which points are held out, see `HeldOutGroups.edges`.
    """

    root: int
    key: NDArray[np.uint64]
    half: int
    group_key: NDArray[np.uint64]
    low: float
    high: float

    def is_held(self, places: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which points are held out of the tree."""
        return _core.is_held_out(self.group_key, places, self.low, self.high)

    def points_among(self, places: NDArray[np.int32]) -> PointPair:
        """Return the rows of a shard that shape the tree, and those it holds out."""
        return halves(~self.is_held(places))

    def shaped_by_all(self) -> HeldOutTree:
        """Return the tree without points that are held out."""
        return replace(self, low=0.0, high=0.0)
