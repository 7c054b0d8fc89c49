# SPDX-License-Identifier: BSD-3-Clause
"""Shards: the rows that workers hold, and which of them are in which nodes.

partitions ─► join_rows: codes in the order of their hashes ─► ranks ─► shard

All but `ShardTasks` runs on workers. None of these functions changes its arguments, so
the cluster can run any of them again when a worker is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._cluster import Cluster, Future
from mrforest.dask._partitions import EncodedRows
from mrforest.dask._specs import RowSpec


class ShardTasks:
    """Tasks on the shards of a table.

    Parameters
    ----------
    cluster : Cluster
    shards : sequence of (future of Shard, int)
        Which together have all rows, and the worker of each.
    """

    def __init__(self, cluster: Cluster, shards: Sequence[tuple[Future, int]]) -> None:
        self.cluster = cluster
        self.futures = [shard for shard, _ in shards]
        self.workers = [worker for _, worker in shards]

    def map(
        self,
        function: Callable[..., Any],
        *args: Any,
        per_shard: Sequence[Sequence[Any]] = (),
    ) -> list[Future]:
        """Call a function with each shard and args.

        Before the shard come arguments that differ between shards: `per_shard` has a
        sequence for each of them, with one value a shard.
        """
        return [
            self.cluster.submit(function, *own, *args, worker=worker)
            for worker, *own in zip(self.workers, *per_shard, self.futures, strict=True)
        ]

    def draw_points(self, trees: Sequence[Any]) -> list[Future]:
        """Find the points of trees among the rows of each shard."""
        return self.map(draw_points, trees)

    def count_classes(
        self,
        points: Sequence[Future],
        nodes: Sequence[int],
        n_classes: int,
        n_first: int = 0,
    ) -> list[NodeCounts]:
        """Count the points of nodes by class; see `count_classes`."""
        parts = self.cluster.gather(
            self.map(count_classes, nodes, n_classes, n_first, per_shard=[points])
        )
        structure = np.sum([part.structure for part in parts], axis=0)
        estimation = np.sum([part.estimation for part in parts], axis=0)
        by_shard = np.stack([part.structure.sum(axis=1) for part in parts], axis=1)
        columns = (
            structure,
            estimation,
            by_shard,
            by_shard.sum(axis=1).tolist(),
            estimation.sum(axis=1).tolist(),
            np.sum([part.n_first for part in parts], axis=0).tolist(),
        )
        return [NodeCounts(*row) for row in zip(*columns, strict=True)]


# ---- the canonical order -------------------------------------------------------------


def join_rows(parts: Sequence[EncodedRows | None], rows: RowSpec) -> EncodedRows:
    """Join the rows of partitions, in the order of their hashes."""
    present = [part for part in parts if part is not None]
    if not present:
        return EncodedRows(
            np.empty((0, rows.n_features), dtype=rows.binning.code_dtype),
            np.empty(0, dtype=np.int32),
            np.empty(0, dtype=np.uint64),
        )
    hashes = np.concatenate([part.hashes for part in present])
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    codes = np.concatenate([part.codes for part in present])
    _core.put_in_order(codes, order)
    y = np.concatenate([part.y for part in present])[order]
    return EncodedRows(codes, y, hashes[order])


def range_starts(rows: EncodedRows, n_ranges: int) -> NDArray[np.int64]:
    """Return where the hashes of equally wide ranges begin, and the end of the last."""
    ends = [((i << 64) // n_ranges) for i in range(1, n_ranges)]
    inner = np.searchsorted(rows.hashes, np.array(ends, dtype=np.uint64))
    return np.concatenate([[0], inner, [len(rows.hashes)]]).astype(np.int64)


def hashes_in_range(
    rows: EncodedRows, n_ranges: int, number: int
) -> NDArray[np.uint64]:
    """Return the hashes of one range."""
    start = range_starts(rows, n_ranges)
    return rows.hashes[start[number] : start[number + 1]]


def rank_hashes(parts: Sequence[NDArray[np.uint64]]) -> list[NDArray[np.int32]]:
    """Return the ranks of the hashes of one range, for each shard.

    Rows with equal hashes are equal, so their order does not matter.
    """
    lengths = [len(part) for part in parts]
    order = np.argsort(np.concatenate(parts), kind="stable")
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return np.split(ranks, np.cumsum(lengths)[:-1])


@dataclass(frozen=True)
class Shard:
    """Rows of a table, ascending by their place.

    Attributes
    ----------
    codes, y : ndarray
        See `EncodedRows`.
    places : ndarray of shape (n_rows,), dtype=int32
        Of the rows in the canonical order of the whole table: the numbers of the
        points.
    table : TrainingTable or None
        The rows as the engine reads them; None: there are none.
    """

    codes: NDArray[Any]
    y: NDArray[np.int32]
    places: NDArray[np.int32]
    table: _core.TrainingTable | None

    def __sizeof__(self) -> int:
        return self.codes.nbytes + self.y.nbytes + self.places.nbytes

    def n_before(self, place: int) -> int:
        """Return how many rows of the shard come before a place."""
        return int(np.searchsorted(self.places, place))


def make_shard(
    encoded: EncodedRows,
    ranks: Sequence[Sequence[NDArray[np.int32]]],
    number: int,
    first: Sequence[int],
    rows: RowSpec,
) -> Shard:
    """Make a shard of rows whose ranks are known.

    Parameters
    ----------
    encoded : EncodedRows
    ranks : sequence
        Of each range of hashes, what `rank_hashes` returned.
    number : int
        Of the shard.
    first : sequence of int
        Of each range, how many rows have smaller hashes.
    rows : RowSpec
    """
    codes, y = encoded.codes, encoded.y
    if len(y) == 0:
        return Shard(codes, y, np.empty(0, dtype=np.int32), None)
    places = [
        of_all[number] + np.int32(n) for of_all, n in zip(ranks, first, strict=True)
    ]
    return Shard(codes, y, np.concatenate(places), rows.table(codes, y))


# ---- shards that follow one another --------------------------------------------------


@dataclass(frozen=True)
class ShardSlice:
    """Rows of a shard whose places are in one range.

    Attributes
    ----------
    codes, y, places : ndarray
        See `Shard`.
    """

    codes: NDArray[Any]
    y: NDArray[np.int32]
    places: NDArray[np.int32]

    def __sizeof__(self) -> int:
        return self.codes.nbytes + self.y.nbytes + self.places.nbytes


def slice_shard(shard: Shard, first: int, end: int) -> ShardSlice:
    """Return the rows of a shard at the places from first to end."""
    rows = slice(shard.n_before(first), shard.n_before(end))
    return ShardSlice(shard.codes[rows], shard.y[rows], shard.places[rows])


def join_slices(slices: Sequence[ShardSlice], rows: RowSpec) -> Shard:
    """Return the shard that has all rows of one range of places."""
    places = np.concatenate([one.places for one in slices])
    order = np.argsort(places).astype(np.int32)
    codes = np.concatenate([one.codes for one in slices])
    _core.put_in_order(codes, order)
    y = np.concatenate([one.y for one in slices])[order]
    return Shard(codes, y, places[order], rows.table(codes, y) if len(y) else None)


# ---- points of nodes -----------------------------------------------------------------


@dataclass(frozen=True)
class NodePoints:
    """The rows of a shard in the nodes of some trees that grow.

    Attributes
    ----------
    structure : ndarray of int32
        Rows of the shard, with repetition.
    estimation : ndarray of int32, or None
        None: the structure points.
    spans : dict
        Where the points of each node begin and end, in both arrays.
    """

    structure: NDArray[np.int32]
    estimation: NDArray[np.int32] | None
    spans: dict[int, tuple[int, int, int, int]]

    def __sizeof__(self) -> int:
        return self.structure.nbytes + (
            0 if self.estimation is None else self.estimation.nbytes
        )

    def of_nodes(
        self, nodes: Sequence[int], *, of_estimation: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Return an array of points, and where those of each node begin and end."""
        rows, at = self.structure, 0
        if of_estimation and self.estimation is not None:
            rows, at = self.estimation, 2
        spans = np.array([self.spans[node] for node in nodes], dtype=np.int64)
        spans = spans.reshape(-1, 4)
        first = np.ascontiguousarray(spans[:, at])
        return rows, first, np.ascontiguousarray(spans[:, at + 1])


def draw_points(shard: Shard, trees: Sequence[Any]) -> NodePoints:
    """Draw the points of trees that are among the rows of a shard.

    Parameters
    ----------
    shard : Shard
    trees : sequence of ShardedTree, HeldOutTree or PrivateTree
    """
    structure, estimation, spans = [], [], {}
    n_structure = n_estimation = 0
    for tree in trees:
        own, others = tree.points_among(shard.places)
        structure.append(own)
        begin = n_structure, n_estimation
        n_structure += len(own)
        if others is not None:
            estimation.append(others)
            n_estimation += len(others)
        spans[tree.root] = (begin[0], n_structure, begin[1], n_estimation)
    return NodePoints(
        np.concatenate(structure),
        np.concatenate(estimation) if estimation else None,
        spans,
    )


@dataclass(frozen=True)
class NodeSplits:
    """Nodes that are split.

    Attributes
    ----------
    nodes : list of int
    cuts : ndarray of shape (n_nodes, 4), dtype=int32
        As `_core.Chooser.choose` returns them.
    children : ndarray of shape (n_nodes, 2), dtype=int64
        Numbers of the left and the right child.
    """

    nodes: list[int]
    cuts: NDArray[np.int32]
    children: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        splits: Sequence[tuple[int, tuple[int, int, int, int], tuple[int, int]]],
    ) -> NodeSplits:
        """Make arrays of triples of a node, its cut and its children."""
        return cls(
            [node for node, _, _ in splits],
            np.array([cut for _, cut, _ in splits], dtype=np.int32).reshape(-1, 4),
            np.array([pair for *_, pair in splits], dtype=np.int64).reshape(-1, 2),
        )


def partition_points(
    points: NodePoints, shard: Shard, splits: NodeSplits
) -> NodePoints:
    """Send the points of nodes to their children."""
    structure = points.structure.copy()
    estimation = None if points.estimation is None else points.estimation.copy()
    moved = replace(points, structure=structure, estimation=estimation)
    n_left = partition_in_place(moved, shard, splits, of_estimation=False)
    e_left = n_left * 0
    if estimation is not None:
        e_left = partition_in_place(moved, shard, splits, of_estimation=True)
    spans = dict(points.spans)
    for i, node in enumerate(splits.nodes):
        s0, s2, e0, e2 = spans.pop(node)
        left, right = splits.children[i].tolist()
        s1, e1 = s0 + int(n_left[i]), e0 + int(e_left[i])
        spans[left] = (s0, s1, e0, e1)
        spans[right] = (s1, s2, e1, e2)
    return replace(moved, spans=spans)


def partition_in_place(
    points: NodePoints, shard: Shard, splits: NodeSplits, *, of_estimation: bool
) -> NDArray[np.int64]:
    """Partition the points of one kind; return how many go left."""
    rows, first, end = points.of_nodes(splits.nodes, of_estimation=of_estimation)
    if shard.table is None:
        return np.zeros(len(first), dtype=np.int64)
    return _core.part_nodes(shard.table, rows, first, end, splits.cuts)


@dataclass(frozen=True)
class ClassCounts:
    """The points of some nodes in one shard, by class.

    Attributes
    ----------
    structure, estimation : ndarray of shape (n_nodes, n_classes), dtype=int64
    n_first : ndarray of shape (n_nodes,), dtype=int64
        Estimation points among the first rows of the table.
    """

    structure: NDArray[np.int64]
    estimation: NDArray[np.int64]
    n_first: NDArray[np.int64]


class NodeCounts(NamedTuple):
    """The points of one node in all shards.

    Attributes
    ----------
    structure, estimation : ndarray of shape (n_classes,), dtype=int64
        By class.
    by_shard : ndarray of shape (n_shards,), dtype=int64
        Structure points in each shard.
    n_structure, n_estimation : int
    n_first : int
        Estimation points among the first rows of the table.
    """

    structure: NDArray[np.int64]
    estimation: NDArray[np.int64]
    by_shard: NDArray[np.int64]
    n_structure: int
    n_estimation: int
    n_first: int


def count_classes(
    points: NodePoints, shard: Shard, nodes: Sequence[int], n_classes: int, n_first: int
) -> ClassCounts:
    """Count the points of nodes by class, and those among the first `n_first` rows."""
    among_first = np.zeros(len(nodes), dtype=np.int64)
    if shard.table is None:
        none = np.zeros((len(nodes), n_classes), dtype=np.int64)
        return ClassCounts(none, none, among_first)
    own = points.of_nodes(nodes, of_estimation=False)
    structure = _core.count_node_classes(shard.table, *own)
    if points.estimation is None:
        return ClassCounts(structure, structure, among_first)
    rows, first, end = points.of_nodes(nodes, of_estimation=True)
    estimation = _core.count_node_classes(shard.table, rows, first, end)
    if (n_here := shard.n_before(n_first)) > 0:
        # The rows of a shard ascend by place, and so do the points of a node in it.
        for i, (a, b) in enumerate(zip(first.tolist(), end.tolist(), strict=True)):
            among_first[i] = np.searchsorted(rows[a:b], n_here)
    return ClassCounts(structure, estimation, among_first)
