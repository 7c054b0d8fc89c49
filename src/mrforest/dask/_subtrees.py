# SPDX-License-Identifier: BSD-3-Clause
"""Small subtrees grow on one worker, and are put below the nodes they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._excerpts import Excerpt, Joined
from mrforest.dask._problem import Problem
from mrforest.forests.growing import add_views
from mrforest.model.nodes import FEATURE_MASK

Arrays = dict[str, NDArray[Any]]


class Rows:
    """Rows of some nodes as the engine reads them.

    Parameters
    ----------
    excerpts : sequence of (Excerpt or None)
        Of each shard.
    problem : Problem
    """

    def __init__(self, excerpts: Sequence[Excerpt | None], problem: Problem) -> None:
        self._arguments = excerpts, problem
        self._rows = Joined(excerpts)
        self._is_ordered = problem.rule.restricts
        self.table = problem.table(self._rows.codes, self._rows.y)
        add_views(self.table, problem.rule, n_threads=1)
        # Work space of threads that have finished a subtree, for the next one
        self.idle: list[Any] = []

    def points(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        """Return the structure and the estimation points of a node; new arrays."""
        own, others = self._rows.points(node)
        if self._is_ordered:
            # A rule that draws points counts them in the order of all rows.
            own = own[np.argsort(self._rows.numbers[own], kind="stable")]
        return own, others

    def __sizeof__(self) -> int:
        return 2 * sum(part.__sizeof__() for part in self._arguments[0] if part)

    def __reduce__(self) -> Any:
        return type(self), self._arguments


@dataclass(frozen=True)
class Small:
    """A node whose subtree one worker grows.

    Attributes
    ----------
    number, path, depth : int
    key : ndarray of shape (2,), dtype=uint64
        Of its tree.
    n_structure : int
    root_weight, min_weight : float
        See `_core.grow_tree`.
    """

    number: int
    path: int
    depth: int
    key: NDArray[np.uint64]
    n_structure: int
    root_weight: float
    min_weight: float


def grow_below(
    rows: Rows, nodes: Sequence[Small], problem: Problem
) -> dict[int, Arrays]:
    """Grow the subtrees of nodes."""
    grown = {}
    # The largest first: the others find work space that is large enough.
    for node in sorted(nodes, key=lambda node: -node.n_structure):
        grown[node.number] = _core.grow_tree(
            rows.table,
            *rows.points(node.number),
            node.key,
            problem.limits,
            rule=problem.rule,
            idle=rows.idle,
            below=(node.path, node.depth, node.root_weight, node.min_weight),
        )
    return grown


# ---- put together --------------------------------------------------------------------


@dataclass
class Top:
    """A node that all workers have seen.

    Attributes
    ----------
    path, depth : int
    n_structure : int
    counts : ndarray of shape (n_classes,), dtype=int64
        Its estimation points.
    children : tuple of int, or None
        Numbers; None: a leaf, or its subtree grew on one worker.
    threshold, feature, decrease
        Of the split.
    held_points, held_impurity : float
        See `_core.held_impurity`; of trees that hold out points.
    """

    path: int
    depth: int
    n_structure: int
    counts: NDArray[np.int64]
    children: tuple[int, int] | None = None
    threshold: float = 0.0
    feature: int = 0
    decrease: float = 0.0
    held_points: float = 0.0
    held_impurity: float = 0.0


# What subtrees say of each node, if they do, and what a node above calls it
OF_NODES = {
    "node_decrease": "decrease",
    "held_points": "held_points",
    "held_impurity": "held_impurity",
}


def top_leaf(node: Top, key: NDArray[np.uint64], chooser: _core.Chooser) -> Arrays:
    """Return a leaf as a tree."""
    label, masses = chooser.leaf(node.counts, key, node.path)
    present = np.flatnonzero(node.counts)
    nodes = np.zeros(1, dtype=_core.NODE_DTYPE)
    nodes["child"] = -1
    return {
        "nodes": nodes,
        "leaf_points": np.array([node.counts.sum()], dtype=np.uint32),
        "node_decrease": np.zeros(1),
        "leaf_label": np.array([label], dtype=np.uint16),
        "mass_start": np.array([0, len(present)]),
        "mass_class": present.astype(np.uint16),
        "mass": masses[present].astype(np.float32),
    }


def graft(
    root: int, top: Mapping[int, Top], below: Mapping[int, Arrays], n_features: int
) -> Arrays:
    """Return a tree as `_core.grow_tree` does; and what all subtrees say beside that.

    Parameters
    ----------
    root : int
    top : mapping
        Nodes of the tree, by number.
    below : mapping
        Trees that grow from those of them that have no children.
    n_features : int
    """
    inner = [number for number, node in top.items() if node.children is not None]
    tips = [number for number, node in top.items() if node.children is None]
    trees = [below[number] for number in tips]
    # Inner nodes are laid out first, and then tree after tree.
    first = len(inner) + np.cumsum([0, *(len(tree["nodes"]) for tree in trees)])
    place = dict(zip(inner, range(len(inner)), strict=True))
    place |= dict(zip(tips, first.tolist(), strict=False))

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
    left = np.concatenate([[place[one] for one, _ in children], left]).astype(np.int64)
    right = np.concatenate([[place[two] for _, two in children], right])
    leaf = np.concatenate([np.full(len(inner), -1), leaf])

    def of_nodes(name: str, of_top: str, parts: Sequence[Any]) -> NDArray[Any]:
        own = [getattr(top[number], of_top) for number in inner]
        return np.concatenate([np.array(own), *(part[name] for part in parts)])

    order = breadth_first(place[root], left, right.astype(np.int64))
    is_inner = left[order] >= 0
    nodes = np.zeros(len(order), dtype=_core.NODE_DTYPE)
    nodes["threshold"] = of_nodes("threshold", "threshold", below_nodes)[order]
    nodes["feature"] = of_nodes("feature", "feature", below_nodes)[order]
    nodes["child"] = np.where(
        is_inner, 2 * np.cumsum(is_inner) - 1, 0 - np.cumsum(~is_inner)
    )
    features = nodes["feature"][is_inner] & FEATURE_MASK
    said = {
        name: of_nodes(name, of_top, trees)[order]
        for name, of_top in OF_NODES.items()
        if all(name in tree for tree in trees)
    }
    return {
        "nodes": nodes,
        # Added up in the order of the nodes, as the engine does
        "structure_decrease": np.bincount(
            features, said.pop("node_decrease")[is_inner], minlength=n_features
        ),
        **said,
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
    """Return what the leaves of all trees hold, in an order."""
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
