# SPDX-License-Identifier: BSD-3-Clause
"""Equality cuts of numbers as order cuts, for trees that know no others.

"x equals v" becomes two cuts: is x at most v, and is it less than v? The subtree R of
all other values is needed twice then, for those below v and for those above it:

        x = v                     x <= v
       ┌──┴──┐                  ┌────┴────┐
       L     R                x < v       R
                             ┌──┴──┐
                             R     L

Parts of a copy that no row can reach are left out. The number of copies of a leaf still
doubles with each column that must differ from a value on the way to it. Trees of order
cuts cannot do with fewer: a leaf of theirs is one box, and these values are two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.model.arrays import FlatForest
from mrforest.model.nodes import EQUALITY, FEATURE_MASK, MISSING_LEFT

# Copies may make a forest so many times as large; one of few nodes may grow further.
MOST_TIMES, MOST_NODES = 4, 10_000_000


class Shape(NamedTuple):
    """Trees that lead to the leaves of a forest.

    Attributes
    ----------
    trees : FlatForest
        Leaves that lead to the same leaf of the forest share its points.
    leaf : ndarray of shape (n_leaves,), dtype=int64
        Leaf of the forest.
    n_copies : ndarray of shape (n_leaves,), dtype=int64
        How many leaves lead there.
    """

    trees: FlatForest
    leaf: NDArray[np.int64]
    n_copies: NDArray[np.int64]


def as_it_is(flat: FlatForest) -> Shape:
    """Return the trees of a forest, with their equality cuts if they have any."""
    points = counted_points(flat)
    trees = FlatForest(flat.nodes, flat.tree_start, flat.leaf_offset, points)
    return Shape(trees, np.arange(len(points)), np.ones(len(points), dtype=np.int64))


def by_order(flat: FlatForest) -> Shape:
    """Return trees that have order cuts in place of equality cuts.

    Raises
    ------
    ValueError
        If that takes too many nodes.
    """
    if not flat.has_equality:
        return as_it_is(flat)
    cuts = with_shared_children(flat)
    most_nodes = max(MOST_TIMES * len(flat.nodes), MOST_NODES)
    levels = unfold(cuts, flat.tree_start[:-1], most_nodes)
    return laid_out(levels, cuts, flat)


def counted_points(flat: FlatForest) -> NDArray[np.uint32]:
    """Return the points of leaves; a leaf that tells none counts as one."""
    return np.maximum(flat.leaf_points, 1)


# ---- two cuts in place of one --------------------------------------------------------


class Cuts(NamedTuple):
    """Nodes of all trees; the two cuts of an equality share a child.

    Attributes
    ----------
    feature, left, right : ndarray of int64
        Children are counted in all trees; -1 in a leaf.
    threshold : ndarray of float64
    missing_left : ndarray of bool
    leaf : ndarray of int64
        Number of the leaf in the forest.
    is_asked : ndarray of shape (n_features,), dtype=bool
        Whether some node asks for a value of this feature.
    """

    feature: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    leaf: NDArray[np.int64]
    is_asked: NDArray[np.bool_]


def with_shared_children(flat: FlatForest) -> Cuts:
    """Return nodes that ask for order only; second cuts of equalities stand last."""
    nodes = flat.nodes
    is_leaf = nodes["child"] < 0
    feature = (nodes["feature"] & FEATURE_MASK).astype(np.int64)
    first_node = np.repeat(flat.tree_start[:-1], np.diff(flat.tree_start))
    left = np.where(is_leaf, -1, first_node + nodes["child"])
    right = np.where(is_leaf, -1, left + 1)
    missing_left = (nodes["feature"] & MISSING_LEFT) != 0
    leaf = np.zeros(len(nodes), dtype=np.int64)
    leaf[flat.leaf_nodes()] = np.arange(flat.leaf_offset[-1])
    threshold = nodes["threshold"].astype(np.float64)
    equal = np.flatnonzero(~is_leaf & ((nodes["feature"] & EQUALITY) != 0))
    below, last = around(threshold[equal])
    threshold[equal] = last
    others, right[equal] = left[equal] + 1, left[equal] + 1
    matching = left[equal]
    left[equal] = len(nodes) + np.arange(len(equal))
    # Missing values go to the second cut, and from there with the value, or below it.
    # (They could go above it, too; that took up to twice as many nodes.)
    goes_with = missing_left[equal].copy()
    missing_left[equal] = True
    is_asked = np.zeros(int(feature.max()) + 1, dtype=bool)
    is_asked[feature[equal]] = True
    return Cuts(
        np.concatenate([feature, feature[equal]]),
        np.concatenate([left, others]),
        np.concatenate([right, matching]),
        np.concatenate([threshold, below]),
        np.concatenate([missing_left, ~goes_with]),
        np.concatenate([leaf, np.zeros(len(equal), dtype=np.int64)]),
        is_asked,
    )


def around(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return thresholds between which a float32 number is the value, rounded.

    Examples
    --------
    >>> below, last = around(np.array([3.0, 2.0**24 + 1]))
    >>> below < [3, 2**24], np.float32(below) == below
    (array([ True,  True]), array([ True,  True]))
    >>> last.tolist()
    [3.0, 16777217.0]
    """
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf)).astype(np.float64)
    # The value itself, if it is larger: rows of float64 may meet the threshold, too.
    return below, np.maximum(values, rounded)


# ---- a tree again --------------------------------------------------------------------


class Level(NamedTuple):
    """Nodes of one depth, of all trees.

    Attributes
    ----------
    node : ndarray of int64
        Node of `Cuts`.
    above : ndarray of int64
        Place of the parent in the level above; -1 of a root.
    is_right : ndarray of bool
        Whether it is a right child.
    tree : ndarray of int64
    """

    node: NDArray[np.int64]
    above: NDArray[np.int64]
    is_right: NDArray[np.bool_]
    tree: NDArray[np.int64]


def unfold(cuts: Cuts, roots: NDArray[np.int64], most_nodes: int) -> list[Level]:
    """Copy shared subtrees, without the parts that no row can reach."""
    n_nodes = len(roots)
    above = np.full(len(roots), -1, dtype=np.int64)
    level = Level(roots.copy(), above, above > 0, np.arange(len(roots)))
    levels: list[Level] = []
    while len(level.node):
        skip_one_way(level, levels, cuts)
        levels.append(level)
        inner = np.flatnonzero(cuts.left[level.node] >= 0)
        n_nodes += 2 * len(inner)
        if n_nodes > most_nodes:
            raise ValueError(
                "the forest cannot be carried over: scikit-learn's trees cannot ask "
                "whether a number equals a value, and to ask for its order instead "
                f"takes more than {most_nodes:,} nodes; fit it with "
                "equality_cuts=False (to_onnx and shap_values take it as it is)"
            )
        node = level.node[inner]
        level = Level(
            np.column_stack([cuts.left[node], cuts.right[node]]).ravel(),
            np.repeat(inner, 2),
            np.tile([False, True], len(inner)),
            np.repeat(level.tree[inner], 2),
        )
    return levels


def skip_one_way(level: Level, levels: list[Level], cuts: Cuts) -> None:
    """Put in place of nodes that send all their rows one way what comes there."""
    at = np.arange(len(level.node))
    while len(at):
        node = level.node[at]
        some = (cuts.left[node] >= 0) & cuts.is_asked[cuts.feature[node]]
        at, node = at[some], node[some]
        low, high, missing = room(at, cuts.feature[node], level, levels, cuts)
        threshold, missing_left = cuts.threshold[node], cuts.missing_left[node]
        goes_left = low < np.minimum(high, threshold)
        goes_left |= missing & missing_left
        goes_right = np.maximum(low, threshold) < high
        goes_right |= missing & ~missing_left
        one_way = ~(goes_left & goes_right)
        at, node = at[one_way], node[one_way]
        way = np.where(goes_left[one_way], cuts.left[node], cuts.right[node])
        level.node[at] = way


def room(
    at: NDArray[np.int64],
    feature: NDArray[np.int64],
    level: Level,
    levels: list[Level],
    cuts: Cuts,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return which values of a feature come to nodes.

    Parameters
    ----------
    at : ndarray of int64
        Places in the level.
    feature : ndarray of int64
        One for each of them.
    level : Level
    levels : list of Level
        Those above it.
    cuts : Cuts

    Returns
    -------
    low, high : ndarray of float64
        Numbers above low, up to high.
    missing : ndarray of bool
        Whether missing values come, too.
    """
    low, high = np.full(len(at), -np.inf), np.full(len(at), np.inf)
    missing = np.ones(len(at), dtype=bool)
    for upper in reversed(levels):
        is_right, at = level.is_right[at], level.above[at]
        node, level = upper.node[at], upper
        same = cuts.feature[node] == feature
        threshold = cuts.threshold[node]
        np.maximum(low, threshold, out=low, where=same & is_right)
        np.minimum(high, threshold, out=high, where=same & ~is_right)
        missing &= ~same | (cuts.missing_left[node] != is_right)
    return low, high, missing


def laid_out(levels: list[Level], cuts: Cuts, flat: FlatForest) -> Shape:
    """Return the nodes of all levels as trees, one after the other."""
    node, tree = (
        np.concatenate([getattr(level, name) for level in levels])
        for name in ("node", "tree")
    )
    # Levels of all trees are put in order of the trees.
    order = np.argsort(tree, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    # Nodes below the roots are pairs of children, in the order of their parents.
    parents = np.flatnonzero(cuts.left[node] >= 0)
    child = np.zeros(len(node), dtype=np.int64)
    child[place[parents]] = place[len(flat) + 2 * np.arange(len(parents))]
    node, tree = node[order], tree[order]
    is_leaf = cuts.left[node] < 0
    numbers = np.arange(len(flat) + 1)
    tree_start = np.searchsorted(tree, numbers)
    leaf_offset = np.searchsorted(tree[is_leaf], numbers)
    child -= tree_start[tree]
    leaf_number = np.arange(leaf_offset[-1]) - leaf_offset[tree[is_leaf]]
    child[is_leaf] = -1 - leaf_number
    nodes = np.zeros(len(node), dtype=_core.NODE_DTYPE)
    nodes["child"] = child
    nodes["feature"] = cuts.feature[node]
    nodes["feature"][cuts.missing_left[node]] |= MISSING_LEFT
    nodes["threshold"] = cuts.threshold[node]
    leaf = cuts.leaf[node[is_leaf]]
    points, n_copies = shared_points(counted_points(flat), leaf)
    trees = FlatForest(nodes, tree_start, leaf_offset, points)
    return Shape(trees, leaf, n_copies)


def shared_points(
    points: NDArray[np.uint32], leaf: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Deal the points of leaves out to their copies; return how many these are, too.

    Examples
    --------
    >>> points, n_copies = shared_points(np.array([5, 4]), np.array([0, 1, 0, 0]))
    >>> points.tolist(), n_copies.tolist()
    ([2, 4, 2, 1], [3, 1, 3, 3])
    """
    total = np.bincount(leaf, minlength=len(points))
    order = np.argsort(leaf, kind="stable")
    number = np.empty(len(leaf), dtype=np.int64)  # of a copy, among those of its leaf
    number[order] = np.arange(len(leaf)) - np.repeat(np.cumsum(total) - total, total)
    n_copies = total[leaf]
    each, rest = np.divmod(points[leaf], n_copies)
    return (each + (number < rest)).astype(np.uint32), n_copies
