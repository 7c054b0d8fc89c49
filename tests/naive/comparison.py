# SPDX-License-Identifier: BSD-3-Clause
"""Trees of comparisons: to which of two pivots is a row nearer (§10).

The rule is written in docs/algorithm.md. A metric or an oracle comes in as a function
`left(i, p, q)` of row numbers: is row i at least as near to row p as to row q?
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.naive.model import Node, Tree
from tests.naive.raw import (
    Branch,
    Options,
    RawTable,
    add_children,
    divide,
    finish,
    is_leaf_at_once,
    is_missing,
    is_refused,
    number_of,
    root_of,
    split_stream,
)
from tests.naive.rng import Stream

N_TRIES = 16

Left = Callable[[int, int, int], bool]
Pair = tuple[int, int]


@dataclass
class ComparisonNode(Node):
    """A node with the rows of its two pivots; a leaf has none.

    `feature` is None in every node.
    """

    pivots: Pair | None = None


def is_nearer_to_first(
    x: Sequence[float],
    p: Sequence[float],
    q: Sequence[float],
    is_categorical: Sequence[bool],
) -> bool:
    """Tell whether x is at least as near to p as to q in what all three have."""
    to_p, to_q = 0.0, 0.0
    for f in range(len(x)):
        a, b, c = float(x[f]), float(p[f]), float(q[f])
        if is_missing(a) or is_missing(b) or is_missing(c):
            continue
        if is_categorical[f]:
            to_p = to_p + (0.0 if a == b else 1.0)
            to_q = to_q + (0.0 if a == c else 1.0)
        else:
            to_p = to_p + (a - b) * (a - b)
            to_q = to_q + (a - c) * (a - c)
    return to_p <= to_q


def euclidean_left(table: RawTable, queries: np.ndarray | None = None) -> Left:
    """Return `left(i, p, q)` for row i of the queries (the table's rows if None).

    The pivots p and q are rows of the table.
    """
    x = table.x if queries is None else queries

    def left(i: int, p: int, q: int) -> bool:
        return is_nearer_to_first(x[i], table.x[p], table.x[q], table.is_categorical)

    return left


def _is_good(table: RawTable, pair: Pair, left: Left, mind_classes: bool) -> bool:
    """Tell whether two rows are told apart and, if asked, differ in class."""
    p, q = pair
    if mind_classes and int(table.y[p]) == int(table.y[q]):
        return False
    return left(p, p, q) and not left(q, p, q)


def _leaves_enough(branch: Branch, pair: Pair, left: Left, options: Options) -> bool:
    """Tell whether a pair keeps the floor on both sides."""
    if options.min_samples_leaf is None:
        return True
    sides = divide(branch.estimation, lambda row: left(row, *pair))
    return min(len(sides[0]), len(sides[1])) >= options.min_samples_leaf


def _pair_by_tries(
    table: RawTable,
    branch: Branch,
    stream: Stream,
    options: Options,
    supervised: bool,
    left: Left,
) -> Pair | None:
    n = len(branch.structure)
    for _ in range(N_TRIES):
        i = number_of(stream.uniform(), n)
        j = number_of(stream.uniform(), n - 1)
        if j >= i:
            j += 1
        pair = branch.structure[i], branch.structure[j]
        if _is_good(table, pair, left, supervised) and _leaves_enough(
            branch, pair, left, options
        ):
            return pair
    return None


def _pair_by_list(
    table: RawTable, branch: Branch, stream: Stream, supervised: bool, left: Left
) -> Pair | None:
    """Draw one point, then one of all those that make a good pair with it."""
    p = branch.structure[number_of(stream.uniform(), len(branch.structure))]
    for mind_classes in (True, False) if supervised else (False,):
        partners = [
            q for q in branch.structure if _is_good(table, (p, q), left, mind_classes)
        ]
        if partners:
            return p, partners[number_of(stream.uniform(), len(partners))]
    return None


def choose_pivots(
    table: RawTable,
    branch: Branch,
    stream: Stream,
    options: Options,
    supervised: bool,
    left: Left,
) -> Pair | None:
    """Return the rows of two pivots, None if no pair is found."""
    if len(branch.structure) < 2:
        return None
    pair = _pair_by_tries(table, branch, stream, options, supervised, left)
    if pair is None and options.min_samples_leaf is None:
        pair = _pair_by_list(table, branch, stream, supervised, left)
    return pair


def grow_comparison(
    table: RawTable,
    structure: Sequence[int],
    estimation: Sequence[int] | None,
    key: Sequence[int],
    options: Options,
    supervised: bool,
    left: Left | None = None,
) -> Tree:
    """Grow a tree of comparisons between rows.

    Without a list of estimation points they are the structure points, as they are in
    every supervised tree.
    """
    if left is None:
        left = euclidean_left(table)
    root = root_of(structure, estimation, ComparisonNode)
    waiting = [root]
    while waiting:
        branch = waiting.pop()
        if is_leaf_at_once(table, branch, options, one_class_is_leaf=supervised):
            continue
        stream = split_stream(key, branch)
        pair = choose_pivots(table, branch, stream, options, supervised, left)
        if pair is None:
            continue

        def row_goes_left(row: int, pair: Pair = pair) -> bool:
            return left(row, *pair)

        if is_refused(table, branch, row_goes_left, options, root.estimation):
            continue
        branch.node.pivots = pair
        waiting.extend(add_children(branch, row_goes_left))
    return finish(table, root, key, options)


def apply_left(tree: Tree, n_queries: int, left: Left) -> np.ndarray:
    """Return for queries 0, 1, … the index of the node that is their leaf."""
    leaves = []
    for query in range(n_queries):
        number = 0
        while tree.nodes[number].pivots is not None:
            node = tree.nodes[number]
            number = node.left if left(query, *node.pivots) else node.left + 1
        leaves.append(number)
    return np.array(leaves, dtype=np.int64)


def apply_comparison(tree: Tree, table: RawTable, X: np.ndarray) -> np.ndarray:
    """Return for each raw row the index of its leaf, by the Euclidean comparison."""
    return apply_left(tree, len(X), euclidean_left(table, X))
