# SPDX-License-Identifier: BSD-3-Clause
"""Small subtrees grow on one worker, and are joined to the nodes above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._shards import NodePoints, Shard
from mrforest.dask._specs import (
    Arrays,
    ForestSpec,
    PointPair,
    SampledForestSpec,
    SubtreeRoot,
)
from mrforest.model.nodes import FEATURE_MASK

# ---- rows that are gathered on one worker --------------------------------------------


@dataclass(frozen=True)
class GatheredRows:
    """The rows of a shard that are in some nodes, each once.

    Attributes
    ----------
    codes, y, places : ndarray
        As in a `Shard`.
    points : dict
        Structure and estimation points of each node, as indices of these rows.
    """

    codes: NDArray[Any]
    y: NDArray[np.int32]
    places: NDArray[np.int32]
    points: dict[int, PointPair]

    def __sizeof__(self) -> int:
        points = [p for pair in self.points.values() for p in pair if p is not None]
        return self.codes.nbytes + self.y.nbytes + sum(p.nbytes for p in points)


def gather_rows(
    points: NodePoints, shard: Shard, nodes: Sequence[int]
) -> GatheredRows | None:
    """Take the rows of some nodes out of a shard; None: there are none."""
    if shard.table is None:
        return None
    of_node: dict[int, PointPair] = {}
    is_used = np.zeros(len(shard.places), dtype=bool)
    for node in nodes:
        s0, s1, e0, e1 = points.spans[node]
        own = points.structure[s0:s1]
        others = None if points.estimation is None else points.estimation[e0:e1]
        is_used[own] = True
        if others is not None:
            is_used[others] = True
        of_node[node] = own, others
    index = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    return GatheredRows(
        shard.codes[is_used],
        shard.y[is_used],
        shard.places[is_used],
        {
            node: (index[own], None if others is None else index[others])
            for node, (own, others) in of_node.items()
        },
    )


class JoinedRows:
    """The rows of some nodes, from all shards.

    Parameters
    ----------
    parts : sequence of (GatheredRows or None)
        Of each shard; at least one has rows.
    """

    def __init__(self, parts: Sequence[GatheredRows | None]) -> None:
        present = [part for part in parts if part is not None]
        lengths = [len(part.y) for part in present]
        first = np.cumsum([0, *lengths])[:-1].astype(np.int32)
        self.codes = np.concatenate([part.codes for part in present])
        self.y = np.concatenate([part.y for part in present])
        self.places = np.concatenate([part.places for part in present])
        self._parts = list(zip(first, present, strict=True))

    def points(self, node: int) -> PointPair:
        """Return the structure and the estimation points of a node; new arrays."""
        own = np.concatenate([p.points[node][0] + first for first, p in self._parts])
        if self._parts[0][1].points[node][1] is None:
            return own, None
        others = [part.points[node][1] + first for first, part in self._parts]
        return own, np.concatenate(others)


# ---- subtrees ------------------------------------------------------------------------


class SubtreeRows:
    """The rows of some nodes as the engine reads them.

    Parameters
    ----------
    parts : sequence of (GatheredRows or None)
        Of each shard.
    spec : ForestSpec or SampledForestSpec
    """

    def __init__(
        self,
        parts: Sequence[GatheredRows | None],
        spec: ForestSpec | SampledForestSpec,
    ) -> None:
        self._arguments = parts, spec
        self.rows = JoinedRows(parts)
        self.table = spec.subtree_table(self.rows.codes, self.rows.y)
        # Work space of subtrees that are finished, for the next ones
        self.idle: list[Any] = []

    def __sizeof__(self) -> int:
        return 2 * sum(part.__sizeof__() for part in self._arguments[0] if part)

    def __reduce__(self) -> Any:
        return type(self), self._arguments


def grow_subtrees(
    gathered: SubtreeRows,
    roots: Sequence[SubtreeRoot],
    spec: ForestSpec | SampledForestSpec,
) -> dict[int, Arrays]:
    """Grow the subtrees of nodes."""
    grown = {}
    # The largest first: the others find work space that is large enough.
    for root in sorted(roots, key=lambda root: -root.n_structure):
        points = gathered.rows.points(root.number)
        grown[root.number] = spec.grow_subtree(
            root, gathered.table, points, gathered.rows.places, gathered.idle
        )
    return grown


# ---- whole trees ---------------------------------------------------------------------


@dataclass
class TopNode:
    """A node that the driver knows.

    Attributes
    ----------
    path, depth : int
    n_structure : int
        Number of structure points.
    counts : ndarray of shape (n_classes,), dtype=int64
        The points that fill the leaves below it.
    n_points : int
        Number of these.
    children : tuple of int, or None
        Numbers; None: a leaf, or its subtree grows on one worker.
    threshold, feature, decrease
        Of the split.
    held_points, held_impurity : float or None
        See `_core.held_impurity`; None: trees of this forest hold out no points.
    """

    path: int
    depth: int
    n_structure: int
    counts: NDArray[np.int64]
    n_points: int
    children: tuple[int, int] | None = None
    threshold: float = 0.0
    feature: int = 0
    decrease: float = 0.0
    held_points: float | None = None
    held_impurity: float | None = None


# Arrays of subtrees with a value for each node, and the attribute of a node above
NODE_ARRAYS = {
    "node_decrease": "decrease",
    "held_points": "held_points",
    "held_impurity": "held_impurity",
}


def top_leaf(node: TopNode, key: NDArray[np.uint64], chooser: _core.Chooser) -> Arrays:
    """Return a leaf as a tree."""
    label, masses = chooser.leaf(node.counts, key, node.path)
    present = np.flatnonzero(node.counts)
    nodes = np.zeros(1, dtype=_core.NODE_DTYPE)
    nodes["child"] = -1
    leaf = {
        "nodes": nodes,
        "leaf_points": np.array([node.n_points], dtype=np.uint32),
        "node_decrease": np.zeros(1),
        "leaf_label": np.array([label], dtype=np.uint16),
        "mass_start": np.array([0, len(present)]),
        "mass_class": present.astype(np.uint16),
        "mass": masses[present].astype(np.float32),
    }
    if node.held_points is not None:
        leaf |= {
            "count": node.counts[present],
            "held_points": np.array([node.held_points]),
            "held_impurity": np.array([node.held_impurity]),
        }
    return leaf


def join_subtrees(
    root: int, top: Mapping[int, TopNode], below: Mapping[int, Arrays], n_features: int
) -> Arrays:
    """Return a tree as `_core.grow_tree` does, with all arrays that subtrees have.

    Parameters
    ----------
    root : int
    top : mapping
        Nodes of the tree, by number.
    below : mapping
        The subtrees of those that have no children.
    n_features : int
    """
    inner = [number for number, node in top.items() if node.children is not None]
    roots = [number for number, node in top.items() if node.children is None]
    trees = [below[number] for number in roots]
    # Inner nodes are laid out first, and then tree after tree.
    first = len(inner) + np.cumsum([0, *(len(tree["nodes"]) for tree in trees)])
    index = dict(zip(inner, range(len(inner)), strict=True))
    index |= dict(zip(roots, first.tolist(), strict=False))

    below_nodes = [tree["nodes"] for tree in trees]
    child = np.concatenate([nodes["child"].astype(np.int64) for nodes in below_nodes])
    n_nodes = np.diff(first)
    n_leaves = np.array([len(tree["leaf_points"]) for tree in trees])
    leaf = -1 - child + np.repeat(np.cumsum(n_leaves) - n_leaves, n_nodes)
    is_leaf = child < 0
    child += np.repeat(first[:-1], n_nodes)
    left = np.where(is_leaf, -1, child)
    right = np.where(is_leaf, -1, child + 1)
    children = [top[number].children or (0, 0) for number in inner]
    left = np.concatenate([[index[one] for one, _ in children], left]).astype(np.int64)
    right = np.concatenate([[index[two] for _, two in children], right])
    leaf = np.concatenate([np.full(len(inner), -1), leaf])

    def of_nodes(name: str, of_top: str, parts: Sequence[Any]) -> NDArray[Any]:
        own = [getattr(top[number], of_top) for number in inner]
        return np.concatenate([np.array(own), *(part[name] for part in parts)])

    order = breadth_first(index[root], left, right.astype(np.int64))
    is_inner = left[order] >= 0
    nodes = np.zeros(len(order), dtype=_core.NODE_DTYPE)
    nodes["threshold"] = of_nodes("threshold", "threshold", below_nodes)[order]
    nodes["feature"] = of_nodes("feature", "feature", below_nodes)[order]
    nodes["child"] = np.where(
        is_inner, 2 * np.cumsum(is_inner) - 1, 0 - np.cumsum(~is_inner)
    )
    features = nodes["feature"][is_inner] & FEATURE_MASK
    node_arrays = {
        name: of_nodes(name, of_top, trees)[order]
        for name, of_top in NODE_ARRAYS.items()
        if all(name in tree for tree in trees)
    }
    return {
        "nodes": nodes,
        # Added up in the order of the nodes, as the engine does
        "structure_decrease": np.bincount(
            features, node_arrays.pop("node_decrease")[is_inner], minlength=n_features
        ),
        **node_arrays,
    } | leaves_in_order(trees, leaf[order[~is_inner]])


def breadth_first(
    root: int, left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the nodes of a tree level by level; -1: no child.

    Examples
    --------
    >>> import numpy as np
    >>> breadth_first(0, np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1]))
    array([0, 1, 2, 3, 4])
    """
    level = np.array([root], dtype=np.int64)
    levels = []
    while len(level):
        levels.append(level)
        inner = level[left[level] >= 0]
        level = np.column_stack([left[inner], right[inner]]).ravel()
    return np.concatenate(levels)


def leaves_in_order(trees: Sequence[Arrays], order: NDArray[np.int64]) -> Arrays:
    """Return the leaf arrays of all trees, with their leaves in an order."""
    lengths = np.concatenate([np.diff(tree["mass_start"]) for tree in trees])
    first = np.cumsum(lengths) - lengths
    start = np.concatenate([[0], np.cumsum(lengths[order])])
    masses = np.arange(start[-1]) + np.repeat(first[order] - start[:-1], lengths[order])

    def of_leaves(name: str) -> NDArray[Any]:
        joined: NDArray[Any] = np.concatenate([tree[name] for tree in trees])
        return joined

    return {
        "leaf_points": of_leaves("leaf_points")[order],
        "leaf_label": of_leaves("leaf_label")[order],
        "mass_start": start.astype(np.int64),
    } | {
        name: of_leaves(name)[masses]
        for name in ("mass_class", "mass", "count")
        if all(name in tree for tree in trees)
    }
