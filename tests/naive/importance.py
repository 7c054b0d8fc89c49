# SPDX-License-Identifier: BSD-3-Clause
"""Feature importance measured on the estimation points of a tree."""

import numpy as np

from tests.naive.model import Tree


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


def estimation_importance(tree: Tree, n_features: int, n_classes: int) -> np.ndarray:
    """Return for each feature the decreases of its splits over the root's points.

    The decrease of a split is n G of the node less n G of both children, where G of a
    node with one estimation point is that of its parent.
    """
    masses = _masses_of_nodes(tree, n_classes)
    gini = [0.0] * len(tree.nodes)
    gini[0] = _gini(tree.nodes[0].n_estimation, masses[0], 0.0)
    result = np.zeros(n_features, dtype=np.float64)
    for number, node in enumerate(tree.nodes):
        if node.feature is None:
            continue
        decrease = node.n_estimation * gini[number]
        for child in (node.left, node.left + 1):
            n = tree.nodes[child].n_estimation
            gini[child] = _gini(n, masses[child], gini[number])
            decrease = decrease - n * gini[child]
        result[node.feature] += decrease
    n_root = tree.nodes[0].n_estimation
    return result / n_root if n_root > 0 else result
