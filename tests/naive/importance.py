# SPDX-License-Identifier: BSD-3-Clause
"""Feature importance measured on the estimation, or held-out, points of a tree."""

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np

from tests.naive.model import Table, Tree
from tests.naive.predict import nodes_of
from tests.naive.sampled import SampledTree
from tests.naive.score import class_counts


def _masses_of_nodes(tree: Tree, n_classes: int) -> list[list[float]]:
    """Return the class masses of every node: those of its leaves added up."""
    masses: list[list[float]] = [[] for _ in tree.nodes]
    for number in reversed(range(len(tree.nodes))):
        node = tree.nodes[number]
        if node.feature is None:
            masses[number] = [float(mass) for mass in node.masses]
        else:
            left, right = masses[node.left], masses[node.left + 1]
            masses[number] = [left[c] + right[c] for c in range(n_classes)]
    return masses


def _gini(n: int, masses: list[float], of_parent: float) -> float:
    """Return the Gini impurity freed of its bias by n / (n - 1)."""
    if n == 1:
        return of_parent
    whole = 0.0
    for mass in masses:
        whole = whole + mass
    if n == 0 or whole == 0:
        return 0.0
    squares = 0.0
    for mass in masses:
        squares = squares + (mass / whole) * (mass / whole)
    return n / (n - 1) * (1 - squares)


def _decreases(
    tree: Tree, n_features: int, impurity_of: Callable[[int, float], float]
) -> np.ndarray:
    """Return for each feature the decreases of its splits over the root's points.

    The impurity of a node is given by its number and the impurity of its parent.
    """
    impurity = [0.0] * len(tree.nodes)
    impurity[0] = impurity_of(0, 0.0)
    result = np.zeros(n_features, dtype=np.float64)
    for number, node in enumerate(tree.nodes):
        if node.feature is None:
            continue
        decrease = node.n_estimation * impurity[number]
        for child in (node.left, node.left + 1):
            n = tree.nodes[child].n_estimation
            impurity[child] = impurity_of(child, impurity[number])
            decrease = decrease - n * impurity[child]
        result[node.feature] += decrease
    n_root = tree.nodes[0].n_estimation
    return result / n_root if n_root > 0 else result


def estimation_importance(tree: Tree, n_features: int, n_classes: int) -> np.ndarray:
    """Return for each feature the decreases of its splits over the root's points.

    The decrease of a split is n G of the node less n G of both children, where G of a
    node with one estimation point is that of its parent.
    """
    masses = _masses_of_nodes(tree, n_classes)

    def impurity_of(number: int, of_parent: float) -> float:
        n = tree.nodes[number].n_estimation
        return _gini(n, masses[number], of_parent)

    return _decreases(tree, n_features, impurity_of)


def _variance(targets: list[float], masses: list[int], of_parent: float) -> float:
    """Return the variance of points freed of its bias by n / (n - 1)."""
    n = len(targets)
    if n == 0:
        return 0.0
    if n == 1:
        return of_parent
    pairs = list(zip(masses, targets, strict=True))
    whole = sum(masses)
    mean = math.fsum(mass * y for mass, y in pairs) / whole
    squares = math.fsum(mass * (y - mean) ** 2 for mass, y in pairs)
    return n / (n - 1) * (squares / whole)


def variance_importance(
    tree: Tree,
    X: np.ndarray,
    estimation: Sequence[int],
    table: Table,
    unit: float,
) -> np.ndarray:
    """Return for each feature the decreases of its splits in a regression tree.

    The decrease of a split is n V of the node less n V of both children over the
    root's points, where V of a node with one estimation point is that of its parent.

    Parameters
    ----------
    tree : Tree
        A tree of the table.
    X : array of float, rows by features
        The raw rows of the table, categories as codes and NaN for missing.
    estimation : sequence of int
        The estimation points of the tree; the structure points if they are the same.
    table : Table
        Its moments and masses are used.
    unit : float
        What a moment of 1 is worth.
    """
    targets: list[list[float]] = [[] for _ in tree.nodes]
    masses: list[list[int]] = [[] for _ in tree.nodes]
    for row in estimation:
        mass = 1 if table.mass is None else int(table.mass[row])
        target = float(table.moment[row]) / float(mass) * unit
        for number in nodes_of(tree, X[row]):
            targets[number].append(target)
            masses[number].append(mass)

    def impurity_of(number: int, of_parent: float) -> float:
        return _variance(targets[number], masses[number], of_parent)

    return _decreases(tree, X.shape[1], impurity_of)


def held_importance(
    table: Table, grown: SampledTree, held: Sequence[int]
) -> np.ndarray:
    """Return for each feature the decreases of its splits over the held-out points.

    These are those of a tree whose estimation points are the points held out. In a
    regression the unit is that of the squared moments.
    """
    points = [[row for row in rows if row in held] for rows in grown.points]
    nodes = [
        dataclasses.replace(node, n_estimation=len(rows))
        for node, rows in zip(grown.tree.nodes, points, strict=True)
    ]

    def impurity_of(number: int, of_parent: float) -> float:
        rows = points[number]
        if table.moment is None:
            counts = [float(count) for count in class_counts(table, rows)]
            return _gini(len(rows), counts, of_parent)
        masses = [1 if table.mass is None else int(table.mass[row]) for row in rows]
        moments = [float(table.moment[row]) for row in rows]
        targets = [m / mass for m, mass in zip(moments, masses, strict=True)]
        return _variance(targets, masses, of_parent)

    return _decreases(Tree(nodes), table.codes.shape[1], impurity_of)
