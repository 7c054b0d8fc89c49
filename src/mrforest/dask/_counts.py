# SPDX-License-Identifier: BSD-3-Clause
"""Large nodes are split by the counts of all their points.

    shards    count_bins ──┐
                           + ─ choose ─► splits
    shards    count_bins ──┘

Of two children only the one with fewer points is counted: the counts of the other one
are what it leaves of those of their parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._cluster import Future, share
from mrforest.dask._growth import (
    DrawnSplits,
    SplitOrLeaf,
    SplitQuestion,
    WaitingNode,
)
from mrforest.dask._shards import NodeCounts, NodePoints, Shard, ShardTasks
from mrforest.dask._specs import ForestSpec, ShardedTree
from mrforest.dask._subtrees import TopNode
from mrforest.forests.sampling import Partition, Sampler, tree_key

# Instead of a split: the rule needs the points of more features.
NEEDS_POINTS = "needs points"


class CountedNodes:
    """Draws the splits of large nodes; see `LargeNodes` of `_growth`.

    Parameters
    ----------
    shards : ShardTasks
    spec : ForestSpec
    """

    def __init__(self, shards: ShardTasks, spec: ForestSpec) -> None:
        self._shards = shards
        self._cluster = shards.cluster
        self._spec = spec
        self._shared_spec = share(self._cluster, spec)

    def node(self, path: int, depth: int, counts: NodeCounts) -> TopNode:
        """Return a node with these points."""
        n_structure, n_points = counts.n_structure, counts.n_estimation
        return TopNode(path, depth, n_structure, counts.estimation, n_points)

    def is_leaf(self, node: TopNode, counts: NodeCounts) -> bool:
        """No: the chooser finds out."""
        return False

    def draw(
        self,
        points: Sequence[Future],
        waiting: Sequence[WaitingNode],
        kept: dict[int, Future] | None,
    ) -> DrawnSplits:
        """Draw the splits of a level.

        The counts of a tree are added on one worker, which keeps them for the level
        below. The trees of a worker are one group.
        """
        n_workers = self._cluster.n_workers
        nodes_of: dict[int, list[WaitingNode]] = {}
        for node in waiting:
            nodes_of.setdefault(node.owner.tree.root % n_workers, []).append(node)
        groups = [
            self._begin_group(points, nodes, group, (kept or {}).get(group))
            for group, nodes in nodes_of.items()
        ]
        multiple, needs_points = 1, True
        while needs_points:
            chosen = [self._choose(points, group, multiple) for group in groups]
            splits = self._cluster.gather(
                [
                    self._cluster.submit(splits_of, future, worker=group.worker)
                    for group, future in zip(groups, chosen, strict=True)
                ]
            )
            needs_points = any(NEEDS_POINTS in of_group for of_group in splits)
            multiple *= 4
        return DrawnSplits(
            {
                request.number: split
                for group, of_group in zip(groups, splits, strict=True)
                for request, split in zip(group.requests, of_group, strict=True)
            },
            dict(zip(nodes_of, chosen, strict=True)),
            sum(group.n_counted for group in groups),
        )

    def _begin_group(
        self,
        points: Sequence[Future],
        waiting: Sequence[WaitingNode],
        worker: int,
        before: Future | None,
    ) -> Group:
        """Let the nodes of a group be counted."""
        counted_for = [counted_node(node) for node in waiting]
        counted = sorted(set(counted_for))
        index = {number: i for i, number in enumerate(counted)}
        requests = [
            CountedRequest(
                node.number,
                node.question,
                index[number],
                None if number == node.number else node.parent,
            )
            for node, number in zip(waiting, counted_for, strict=True)
        ]
        counts = self._shards.map(
            count_bins, counted, self._shared_spec, per_shard=[points]
        )
        return Group(worker, requests, counts, before, len(counted))

    def _choose(self, points: Sequence[Future], group: Group, multiple: int) -> Future:
        """Choose splits from counts, and from what was chosen for the parents."""
        spec, requests = self._shared_spec, group.requests
        submit = partial(self._cluster.submit, worker=group.worker)
        arguments = group.counts, group.before, requests, spec
        if not self._spec.rule.restricts:
            return submit(choose, *arguments)
        numbers = [request.number for request in requests]
        places = self._shards.map(structure_places, numbers, per_shard=[points])
        wanted = submit(points_to_look_at, places, requests, spec, multiple)
        return submit(choose, *arguments, wanted, self._shards.map(codes_at, wanted))


class Group(NamedTuple):
    """Nodes of a level whose splits are chosen on one worker.

    Attributes
    ----------
    worker : int
    requests : list of CountedRequest
    counts : list of (future of BinCounts)
        Of each shard.
    before : future of ChosenSplits, or None
        Those of the parents; None: the nodes are roots.
    n_counted : int
    """

    worker: int
    requests: list[CountedRequest]
    counts: list[Future]
    before: Future | None
    n_counted: int


def counted_node(node: WaitingNode) -> int:
    """Return the node that is counted to split a node: itself, or its sibling."""
    if node.parent is None:
        return node.number
    nodes = node.owner.nodes
    children = nodes[node.parent].children
    assert children is not None
    left, right = children
    return left if nodes[left].n_structure <= nodes[right].n_structure else right


# ---- trees ---------------------------------------------------------------------------


def begin_trees(
    shards: ShardTasks, spec: ForestSpec, seed: int, numbers: range
) -> list[ShardedTree]:
    """Return the trees of these numbers; workers find which points shape them."""
    sampler, n_points = spec.sampler, spec.rows.n_points
    keys = [tree_key(seed, number) for number in numbers]
    cluster, n = shards.cluster, shards.cluster.n_workers
    futures = [
        cluster.submit(boundaries, keys[worker::n], sampler, n_points, worker=worker)
        for worker in range(n)
    ]
    found = cluster.gather(futures)
    return [
        ShardedTree(number, key, sampler, n_points, found[i % n][i // n])
        for i, (number, key) in enumerate(zip(numbers, keys, strict=True))
    ]


def boundaries(
    keys: Sequence[NDArray[np.uint64]], sampler: Sampler, n_points: int
) -> list[tuple[int, int]]:
    """Return for each tree up to which word points are structure points."""
    if not isinstance(sampler, Partition):
        return [(0, -1)] * len(keys)
    n_structure = sampler.n_structure(n_points)
    return [_core.structure_boundary(key, n_points, n_structure) for key in keys]


# ---- on the workers of the shards ----------------------------------------------------


@dataclass(frozen=True)
class BinCounts:
    """The points of some nodes, counted for a `_core.Chooser`.

    Attributes
    ----------
    structure : ndarray of shape (n_nodes, n_cells), dtype=int32
        By feature, bin and class.
    estimation : ndarray of shape (n_nodes, n_bins), dtype=int32, or None
        None: no split depends on it.
    """

    structure: NDArray[np.int32]
    estimation: NDArray[np.int32] | None

    def __sizeof__(self) -> int:
        return self.structure.nbytes + (
            0 if self.estimation is None else self.estimation.nbytes
        )


def count_bins(
    points: NodePoints, shard: Shard, nodes: Sequence[int], spec: ForestSpec
) -> BinCounts | None:
    """Count the points of nodes by feature, bin and class; None: there are none."""
    if shard.table is None:
        return None
    own = points.of_nodes(nodes, of_estimation=False)
    structure = _core.count_nodes(shard.table, *own)
    if not spec.needs_estimation_bins:
        return BinCounts(structure, None)
    others = points.of_nodes(nodes, of_estimation=True)
    return BinCounts(structure, _core.count_node_points(shard.table, *others))


def structure_places(
    points: NodePoints, shard: Shard, nodes: Sequence[int]
) -> list[NDArray[np.int32]]:
    """Return the places of the structure points of nodes."""
    rows, first, end = points.of_nodes(nodes, of_estimation=False)
    return [
        shard.places[rows[a:b]]
        for a, b in zip(first.tolist(), end.tolist(), strict=True)
    ]


@dataclass(frozen=True)
class SinglePoints:
    """Points of a node that the rule looks at.

    Attributes
    ----------
    features : ndarray of shape (n_features,), dtype=int32
    places : ndarray of shape (n_features, n_drawn), dtype=int32
        Of the points, for each of these features.
    """

    features: NDArray[np.int32]
    places: NDArray[np.int32]


def codes_at(shard: Shard, wanted: Sequence[SinglePoints]) -> list[NDArray[np.int32]]:
    """Return the codes of single points; -1 for those of other shards."""
    found = []
    for of_node in wanted:
        codes = np.full(of_node.places.shape, -1, dtype=np.int32)
        if len(shard.places):
            row = np.searchsorted(shard.places, of_node.places)
            row = np.minimum(row, len(shard.places) - 1)
            is_here = shard.places[row] == of_node.places
            features = np.broadcast_to(of_node.features[:, np.newaxis], row.shape)
            codes[is_here] = shard.codes[row[is_here], features[is_here]]
        found.append(codes)
    return found


# ---- on the worker of a group of trees -----------------------------------------------


class CountedRequest(NamedTuple):
    """A node whose split is to be chosen.

    Attributes
    ----------
    number : int
    question : SplitQuestion
    counted : int
        Index of the node, or of its sibling, among the nodes that were counted.
    rest_of : int or None
        The parent, if the sibling was counted instead of the node.
    """

    number: int
    question: SplitQuestion
    counted: int
    rest_of: int | None


@dataclass(frozen=True)
class ChosenSplits:
    """The splits of some nodes, and the counts of those that have one.

    Attributes
    ----------
    splits : list of (SplitOrLeaf or NEEDS_POINTS)
    counts : dict
        Of structure and estimation points, by node; for the larger child.
    """

    splits: list[SplitOrLeaf | str]
    counts: dict[int, tuple[NDArray[np.int32], NDArray[np.int32] | None]]

    def __sizeof__(self) -> int:
        arrays = [a for pair in self.counts.values() for a in pair if a is not None]
        return sum(array.nbytes for array in arrays)


def choose(
    counts: Sequence[BinCounts | None],
    before: ChosenSplits | None,
    requests: Sequence[CountedRequest],
    spec: ForestSpec,
    wanted: Sequence[SinglePoints] | None = None,
    codes: Sequence[Sequence[NDArray[np.int32]]] = (),
) -> ChosenSplits:
    """Choose the splits of nodes.

    Parameters
    ----------
    counts : sequence of (BinCounts or None)
        Of each shard.
    before : ChosenSplits or None
        Those of the parents; None: the nodes are roots.
    requests : sequence of CountedRequest
    spec : ForestSpec
    wanted : sequence of SinglePoints, default=None
        Points of each node that the rule looks at; None: it looks at none.
    codes : sequence
        Of each shard what `codes_at` returned for these.
    """
    structure = sum_arrays([c.structure for c in counts if c is not None])
    estimation = None
    if spec.needs_estimation_bins:
        estimation = sum_arrays([c.estimation for c in counts if c is not None])
    chooser = spec.chooser()
    splits: list[SplitOrLeaf | str] = []
    kept = {}
    for i, node in enumerate(requests):
        own = structure[node.counted]
        others = None if estimation is None else estimation[node.counted]
        if node.rest_of is not None:
            assert before is not None
            of_parent, others_of_parent = before.counts[node.rest_of]
            own = of_parent - own
            others = None if others is None else others_of_parent - others
        looked_at: list[NDArray[Any]] = []
        if wanted is not None:
            looked_at = codes_by_feature(wanted[i], [part[i] for part in codes], spec)
        split = chooser.choose(own, others, *node.question, *looked_at)
        if chooser.lacks:
            splits.append(NEEDS_POINTS)
            continue
        splits.append(split)
        if split is not None:
            kept[node.number] = own, others
    return ChosenSplits(splits, kept)


def splits_of(chosen: ChosenSplits) -> list[SplitOrLeaf | str]:
    """Return the splits without the counts."""
    return chosen.splits


def sum_arrays(arrays: Sequence[Any]) -> NDArray[np.int32]:
    """Add arrays."""
    total: NDArray[np.int32] = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    return total


def codes_by_feature(
    wanted: SinglePoints, parts: Sequence[NDArray[np.int32]], spec: ForestSpec
) -> list[NDArray[Any]]:
    """Return codes of the points that a rule looks at, and which features have them."""
    if len(wanted.features) == 0:  # The rule looks at all points of the node.
        return []
    n_features = spec.rows.n_features
    codes = np.zeros((n_features, wanted.places.shape[1]), dtype=np.int32)
    # A point is in one shard; the others say -1.
    codes[wanted.features] = np.max(parts, axis=0)
    is_known = np.zeros(n_features, dtype=np.uint8)
    is_known[wanted.features] = 1
    return [codes, is_known]


def points_to_look_at(
    parts: Sequence[Sequence[NDArray[np.int32]]],
    requests: Sequence[CountedRequest],
    spec: ForestSpec,
    multiple: int,
) -> list[SinglePoints]:
    """Return which points of nodes the rule looks at.

    Parameters
    ----------
    parts : sequence
        Of each shard, the places of the structure points of each node.
    requests : sequence of CountedRequest
    spec : ForestSpec
    multiple : int
        Number of features, as a multiple of those that are needed in any case.
    """
    chooser = spec.chooser()
    wanted = []
    for i, node in enumerate(requests):
        key, path, _, n_structure, *_ = node.question
        features, indices, n_first = chooser.points_wanted(key, path, n_structure)
        # The structure points of a node ascend by place.
        places = np.sort(np.concatenate([part[i] for part in parts]))
        n = n_first * multiple
        wanted.append(SinglePoints(features[:n], places[indices[:n]]))
    return wanted
