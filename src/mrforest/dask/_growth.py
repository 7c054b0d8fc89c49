# SPDX-License-Identifier: BSD-3-Clause
"""Many trees grow at once, level by level, on rows that stay where they are.

    splits of large nodes ─► partition ─► class counts ─► children ─► splits ...
                                                             │
                                                             └─► small subtrees

How the splits of large nodes are drawn depends on the forest: from the counts of all
their points (`_counts`), or from samples of them (`_samples`). A node with few points
leaves this loop: its rows are gathered on one worker, which grows the subtree. The
driver sees splits and class counts, but no rows.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mrforest._core import PATH_OF_ROOT, paths_below
from mrforest.dask._cluster import Future, LevelProgress, MemoryPlan, share
from mrforest.dask._shards import NodeCounts, NodeSplits, ShardTasks, partition_points
from mrforest.dask._specs import (
    Arrays,
    ForestSpec,
    HeldOutTree,
    SampledForestSpec,
    ShardedTree,
    SubtreeRoot,
)
from mrforest.dask._subtrees import (
    SubtreeRows,
    TopNode,
    gather_rows,
    grow_subtrees,
    join_subtrees,
    top_leaf,
)

# Numbers from here on are those of nodes below a root; a root has that of its tree.
FIRST_CHILD = 1 << 32

# (cut, threshold and feature, decrease), see `_core.Chooser.choose`; None: a leaf
SplitOrLeaf = tuple[tuple[int, int, bool, bool], tuple[float, int], float] | None


@dataclass
class GrowingTree:
    """A tree as the driver knows it.

    Attributes
    ----------
    tree : ShardedTree or HeldOutTree
    root_weight : float
        Weight of its structure points.
    min_weight : float
        A child must have so much weight.
    nodes : dict of TopNode
        By number.
    leaves, small : list of int
        Nodes that are leaves, and those whose subtrees grow on one worker.
    """

    tree: ShardedTree | HeldOutTree
    root_weight: float
    min_weight: float
    nodes: dict[int, TopNode] = field(default_factory=dict)
    leaves: list[int] = field(default_factory=list)
    small: list[int] = field(default_factory=list)


class SplitQuestion(NamedTuple):
    """A node to be split, as arguments that all choosers of `_core` take.

    Attributes
    ----------
    key : ndarray of shape (2,), dtype=uint64
        Of its tree.
    path, depth : int
    n_structure, n_points : int
        Number of structure points, and of those that fill the leaves.
    root_weight : float
        Weight of the structure points of the tree.
    """

    key: NDArray[np.uint64]
    path: int
    depth: int
    n_structure: int
    n_points: int
    root_weight: float


class WaitingNode(NamedTuple):
    """A node that waits for its split.

    Attributes
    ----------
    owner : GrowingTree
    number : int
    parent : int or None
    by_shard : ndarray of shape (n_shards,), dtype=int64
        Its structure points in each shard.
    """

    owner: GrowingTree
    number: int
    parent: int | None
    by_shard: NDArray[np.int64]

    @property
    def top(self) -> TopNode:
        """What else is known of the node."""
        return self.owner.nodes[self.number]

    @property
    def question(self) -> SplitQuestion:
        """What a chooser must know of the node."""
        top = self.owner.nodes[self.number]
        return SplitQuestion(
            self.owner.tree.key,
            top.path,
            top.depth,
            top.n_structure,
            top.n_points,
            self.owner.root_weight,
        )


class DrawnSplits(NamedTuple):
    """The splits of a level.

    Attributes
    ----------
    splits : dict of SplitOrLeaf
        By node.
    kept
        What the next level needs of this one.
    n_counted : int
        Nodes whose points were counted.
    """

    splits: dict[int, SplitOrLeaf]
    kept: Any = None
    n_counted: int = 0


class LargeNodes(Protocol):
    """How large nodes are split."""

    def node(self, path: int, depth: int, counts: NodeCounts) -> TopNode:
        """Return a node with these points."""

    def is_leaf(self, node: TopNode, counts: NodeCounts) -> bool:
        """Whether a node is a leaf in any case."""

    def draw(
        self, points: Sequence[Future], waiting: Sequence[WaitingNode], kept: Any
    ) -> DrawnSplits:
        """Draw the splits of a level.

        Parameters
        ----------
        points : sequence of (future of NodePoints)
            Of each shard.
        waiting : sequence of WaitingNode
        kept
            What was kept of the level above; None: there is none.
        """


class ForestGrowth:
    """Grows trees of one forest.

    Parameters
    ----------
    shards : ShardTasks
    spec : ForestSpec or SampledForestSpec
    large_nodes : LargeNodes
    memory : MemoryPlan
    on_level : callable
        Is called with the `LevelProgress` of each level.
    n_first : int
        Estimation points among the first so many rows are counted, too.
    """

    def __init__(
        self,
        shards: ShardTasks,
        spec: ForestSpec | SampledForestSpec,
        large_nodes: LargeNodes,
        memory: MemoryPlan,
        on_level: Callable[[LevelProgress], object],
        n_first: int = 0,
    ) -> None:
        self._shards = shards
        self._cluster = shards.cluster
        self._spec = spec
        self._shared_spec = share(self._cluster, spec)
        self._large_nodes = large_nodes
        self._memory = memory
        self._on_level = on_level
        self._n_first = n_first
        self._chooser = spec.chooser()
        self._numbers = itertools.count(FIRST_CHILD)

    def grow(
        self, trees: Sequence[ShardedTree | HeldOutTree]
    ) -> Iterator[tuple[Any, Arrays]]:
        """Yield each tree with its arrays."""
        points = self._shards.draw_points(trees)
        counts = self._count_classes(points, [tree.root for tree in trees])
        if not all(of_root.n_structure for of_root in counts):
            trees = [
                tree if of_root.n_structure else tree.shaped_by_all()
                for tree, of_root in zip(trees, counts, strict=True)
            ]
            points = self._shards.draw_points(trees)
            counts = self._count_classes(points, [tree.root for tree in trees])
        growing, waiting = self._add_roots(trees, counts)
        kept = None
        for depth in itertools.count():
            if not waiting:
                break
            begun = time.perf_counter()
            level = waiting
            drawn = self._large_nodes.draw(points, level, kept)
            kept = drawn.kept
            splits = self._set_splits(level, drawn.splits)
            points = self._shards.map(partition_points, splits, per_shard=[points])
            waiting = self._add_children(points, level, splits)
            self._on_level(
                LevelProgress(
                    depth,
                    len(level),
                    drawn.n_counted,
                    sum(node.top.n_structure for node in level),
                    time.perf_counter() - begun,
                )
            )
        arrays = self._grow_small(points, growing)
        yield from zip(trees, arrays, strict=True)

    def _count_classes(
        self, points: Sequence[Future], nodes: Sequence[int]
    ) -> list[NodeCounts]:
        n_classes = self._spec.rows.n_classes
        return self._shards.count_classes(points, nodes, n_classes, self._n_first)

    # ---- nodes ----------------------------------------------------------------------

    def _add_roots(
        self,
        trees: Sequence[ShardedTree | HeldOutTree],
        counts: Sequence[NodeCounts],
    ) -> tuple[list[GrowingTree], list[WaitingNode]]:
        growing: list[GrowingTree] = []
        waiting: list[WaitingNode] = []
        weight = self._chooser.weight
        for tree, of_root in zip(trees, counts, strict=True):
            root = self._large_nodes.node(PATH_OF_ROOT, 0, of_root)
            min_weight = self._spec.limits.min_weight * weight(root.counts)
            owner = GrowingTree(tree, weight(of_root.structure), min_weight)
            growing.append(owner)
            waiting += self._add(owner, tree.root, root, None, of_root)
        return growing, waiting

    def _add_children(
        self,
        points: Sequence[Future],
        parents: Sequence[WaitingNode],
        splits: NodeSplits,
    ) -> list[WaitingNode]:
        """Add the children of nodes that are split; return those that wait."""
        if not splits.nodes:
            return []
        counts = self._count_classes(points, splits.children.ravel().tolist())
        first = {number: 2 * i for i, number in enumerate(splits.nodes)}
        waiting: list[WaitingNode] = []
        for parent in parents:
            owner, top = parent.owner, parent.top
            if top.children is None:
                continue
            i = first[parent.number]
            pair = counts[i : i + 2]
            children = [
                self._large_nodes.node(path, top.depth + 1, of_child)
                for path, of_child in zip(paths_below(top.path), pair, strict=True)
            ]
            if any(self._is_refused(owner, child) for child in children):
                top.children, top.threshold, top.feature = None, 0.0, 0
                top.decrease = 0.0
                owner.leaves.append(parent.number)
                continue
            for number, child, of_child in zip(
                top.children, children, pair, strict=True
            ):
                waiting += self._add(owner, number, child, parent.number, of_child)
        return waiting

    def _add(
        self,
        owner: GrowingTree,
        number: int,
        node: TopNode,
        parent: int | None,
        counts: NodeCounts,
    ) -> Iterator[WaitingNode]:
        """Add a node; yield it if it waits for its split."""
        owner.nodes[number] = node
        if self._large_nodes.is_leaf(node, counts):
            owner.leaves.append(number)
        elif self._n_points(node) <= self._memory.gather_rows:
            owner.small.append(number)
        else:
            yield WaitingNode(owner, number, parent, counts.by_shard)

    def _is_refused(self, owner: GrowingTree, child: TopNode) -> bool:
        """Whether a child would have too few points, or too little weight."""
        if child.n_points < self._spec.limits.min_side:
            return True
        least = owner.min_weight
        return least > 0 and self._chooser.weight(child.counts) < least

    def _n_points(self, node: TopNode) -> int:
        """Return how many points a node has, of both kinds."""
        return node.n_points + node.n_structure * self._spec.is_honest

    def _set_splits(
        self, level: Sequence[WaitingNode], drawn: dict[int, SplitOrLeaf]
    ) -> NodeSplits:
        """Split nodes; those without a split become leaves."""
        splits = []
        for node in level:
            split = drawn[node.number]
            if split is None:
                node.owner.leaves.append(node.number)
                continue
            top = node.top
            cut, (top.threshold, top.feature), top.decrease = split
            top.children = next(self._numbers), next(self._numbers)
            splits.append((node.number, cut, top.children))
        return NodeSplits.of(splits)

    # ---- small subtrees -------------------------------------------------------------

    def _grow_small(
        self, points: Sequence[Future], growing: Sequence[GrowingTree]
    ) -> Iterator[Arrays]:
        """Let small subtrees grow, and yield the arrays of whole trees."""
        futures: dict[int, list[Future]] = {}
        n_workers = self._cluster.n_workers
        for worker in range(n_workers):
            small = (
                ((owner, number), self._n_points(owner.nodes[number]))
                for owner in growing[worker::n_workers]
                for number in owner.small
            )
            for bundle in self._memory.bundles(small):
                self._grow_bundle(points, bundle, worker, futures)
        for owner in growing:
            key, root = owner.tree.key, owner.tree.root
            below: dict[int, Arrays] = {}
            for grown in self._cluster.gather(futures.pop(root, [])):
                below |= grown
            for number in owner.leaves:
                below[number] = top_leaf(owner.nodes[number], key, self._chooser)
            yield join_subtrees(root, owner.nodes, below, self._spec.rows.n_features)

    def _grow_bundle(
        self,
        points: Sequence[Future],
        bundle: Sequence[tuple[GrowingTree, int]],
        worker: int,
        futures: dict[int, list[Future]],
    ) -> None:
        """Let the subtrees of a bundle grow, with a task for each tree."""
        nodes = [number for _, number in bundle]
        gathered = self._shards.map(gather_rows, nodes, per_shard=[points])
        submit, spec = self._cluster.submit, self._shared_spec
        rows = submit(SubtreeRows, gathered, spec, worker=worker)
        for root, of_tree in itertools.groupby(bundle, lambda pair: pair[0].tree.root):
            roots = [subtree_root(owner, number) for owner, number in of_tree]
            grown = submit(grow_subtrees, rows, roots, spec, worker=worker)
            futures.setdefault(root, []).append(grown)


def subtree_root(owner: GrowingTree, number: int) -> SubtreeRoot:
    """Return what a worker must know of a node to grow its subtree."""
    node = owner.nodes[number]
    below = node.path, node.depth, owner.root_weight, owner.min_weight
    return SubtreeRoot(number, owner.tree.key, node.n_structure, below)
