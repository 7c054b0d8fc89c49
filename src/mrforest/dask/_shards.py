# SPDX-License-Identifier: BSD-3-Clause
"""Points of trees among the rows of one worker.

These functions run on workers. None changes what it is given, so the cluster can do any
of them again when a worker is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._order import Shard
from mrforest.dask._problem import Problem
from mrforest.forests.sampling import Partition


@dataclass(frozen=True)
class Points:
    """Which rows of a shard stand in which nodes of some growing trees.

    Attributes
    ----------
    structure : ndarray of int32
        Rows of the shard, with repetition.
    estimation : ndarray of int32, or None
        None: the structure points.
    nodes : dict
        For each node where its points begin and end, in both arrays.
    """

    structure: NDArray[np.int32]
    estimation: NDArray[np.int32] | None
    nodes: dict[int, tuple[int, int, int, int]]

    def __sizeof__(self) -> int:
        return self.structure.nbytes + (
            0 if self.estimation is None else self.estimation.nbytes
        )

    def slices(
        self, numbers: Sequence[int], *, of_estimation: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Return points, and where those of some nodes begin and end."""
        rows, at = self.structure, 0
        if of_estimation and self.estimation is not None:
            rows, at = self.estimation, 2
        spans = np.array([self.nodes[i] for i in numbers], dtype=np.int64)
        spans = spans.reshape(-1, 4)
        first = np.ascontiguousarray(spans[:, at])
        return rows, first, np.ascontiguousarray(spans[:, at + 1])


def draw_points(shard: Shard, trees: Sequence[Any], problem: Any) -> Points:
    """Draw the points of trees that are among the rows of a shard.

    Parameters
    ----------
    shard : Shard
    trees : sequence of Tree, or of PrivateTree
    problem : Problem, or PrivateProblem
    """
    structure, estimation, nodes = [], [], {}
    n_structure = n_estimation = 0
    for tree in trees:
        own, others = problem.own_points(shard.points, tree)
        structure.append(own)
        begin = n_structure, n_estimation
        n_structure += len(own)
        if others is not None:
            estimation.append(others)
            n_estimation += len(others)
        nodes[tree.root] = (begin[0], n_structure, begin[1], n_estimation)
    return Points(
        np.concatenate(structure),
        np.concatenate(estimation) if estimation else None,
        nodes,
    )


def boundaries(
    keys: Sequence[NDArray[np.uint64]], problem: Problem
) -> list[tuple[int, int]]:
    """Return for each tree up to which word points are structure points."""
    if not isinstance(problem.sampler, Partition):
        return [(0, -1)] * len(keys)
    n_structure = problem.sampler.n_structure(problem.n_points)
    return [
        _core.structure_boundary(key, problem.n_points, n_structure) for key in keys
    ]


@dataclass(frozen=True)
class Cuts:
    """Nodes that are split.

    Attributes
    ----------
    nodes : list of int
    cuts : ndarray of shape (n_nodes, 4), dtype=int32
        As `Chooser.choose` returns them.
    children : ndarray of shape (n_nodes, 2), dtype=int64
        Numbers of the left and the right child.
    """

    nodes: list[int]
    cuts: NDArray[np.int32]
    children: NDArray[np.int64]


def part(points: Points, shard: Shard, cuts: Cuts) -> Points:
    """Send the points of nodes to their children."""
    structure = points.structure.copy()
    estimation = None if points.estimation is None else points.estimation.copy()
    moved = replace(points, structure=structure, estimation=estimation)
    n_left = part_one(moved, shard, cuts, of_estimation=False)
    e_left = n_left * 0
    if estimation is not None:
        e_left = part_one(moved, shard, cuts, of_estimation=True)
    nodes = dict(points.nodes)
    for i, node in enumerate(cuts.nodes):
        s0, s2, e0, e2 = nodes.pop(node)
        left, right = cuts.children[i].tolist()
        s1, e1 = s0 + int(n_left[i]), e0 + int(e_left[i])
        nodes[left] = (s0, s1, e0, e1)
        nodes[right] = (s1, s2, e1, e2)
    return replace(moved, nodes=nodes)


def part_one(
    points: Points, shard: Shard, cuts: Cuts, *, of_estimation: bool
) -> NDArray[np.int64]:
    """Part the points of one kind, where they are; return how many go left."""
    rows, first, end = points.slices(cuts.nodes, of_estimation=of_estimation)
    if shard.table is None:
        return np.zeros(len(first), dtype=np.int64)
    return _core.part_nodes(shard.table, rows, first, end, cuts.cuts)


# ---- what is counted -----------------------------------------------------------------


@dataclass(frozen=True)
class Sizes:
    """Points of each class in some nodes.

    Attributes
    ----------
    structure, estimation : ndarray of shape (n_nodes, n_classes), dtype=int64
    """

    structure: NDArray[np.int64]
    estimation: NDArray[np.int64]

    @classmethod
    def added_up(cls, parts: Sequence[Sizes]) -> Sizes:
        """Return the sizes of nodes of which shards have a part each."""
        return cls(
            np.sum([part.structure for part in parts], axis=0),
            np.sum([part.estimation for part in parts], axis=0),
        )


def sizes(points: Points, shard: Shard, nodes: Sequence[int], n_classes: int) -> Sizes:
    """Count the points of nodes by class."""
    shape = len(nodes), n_classes
    if shard.table is None:
        return Sizes(np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    own = points.slices(nodes, of_estimation=False)
    structure = _core.count_node_classes(shard.table, *own)
    if points.estimation is None:
        return Sizes(structure, structure)
    others = points.slices(nodes, of_estimation=True)
    return Sizes(structure, _core.count_node_classes(shard.table, *others))


@dataclass(frozen=True)
class Counts:
    """What is counted in some nodes for a `Chooser`.

    Attributes
    ----------
    structure : ndarray of shape (n_nodes, n_cells), dtype=int32
    estimation : ndarray of shape (n_nodes, n_bins), dtype=int32, or None
        None: nobody asks for it.
    """

    structure: NDArray[np.int32]
    estimation: NDArray[np.int32] | None

    def __sizeof__(self) -> int:
        return self.structure.nbytes + (
            0 if self.estimation is None else self.estimation.nbytes
        )


def count(
    points: Points, shard: Shard, nodes: Sequence[int], problem: Problem
) -> Counts | None:
    """Count the points of nodes by feature, bin and class; None: there are none."""
    if shard.table is None:
        return None
    own = points.slices(nodes, of_estimation=False)
    structure = _core.count_nodes(shard.table, *own)
    if not problem.needs_points:
        return Counts(structure, None)
    others = points.slices(nodes, of_estimation=True)
    return Counts(structure, _core.count_node_points(shard.table, *others))


# ---- single points -------------------------------------------------------------------


def numbers(
    points: Points, shard: Shard, nodes: Sequence[int]
) -> list[NDArray[np.int32]]:
    """Return the numbers of the structure points of nodes, among all points."""
    rows, first, end = points.slices(nodes, of_estimation=False)
    return [
        shard.points[rows[a:b]]
        for a, b in zip(first.tolist(), end.tolist(), strict=True)
    ]


@dataclass(frozen=True)
class Wanted:
    """Points of a node that a rule asks for.

    Attributes
    ----------
    features : ndarray of shape (n_features,), dtype=int32
    points : ndarray of shape (n_features, n_drawn), dtype=int32
        Their numbers, for each of these features.
    """

    features: NDArray[np.int32]
    points: NDArray[np.int32]


def codes_at(shard: Shard, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
    """Return the codes of single points; -1 for those of other shards."""
    found = []
    for want in wanted:
        codes = np.full(want.points.shape, -1, dtype=np.int32)
        if len(shard.points):
            place = np.searchsorted(shard.points, want.points)
            place = np.minimum(place, len(shard.points) - 1)
            is_here = shard.points[place] == want.points
            features = np.broadcast_to(want.features[:, np.newaxis], place.shape)
            codes[is_here] = shard.codes[place[is_here], features[is_here]]
        found.append(codes)
    return found
