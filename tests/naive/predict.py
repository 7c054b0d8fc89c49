# SPDX-License-Identifier: BSD-3-Clause
"""Prediction with the twin's trees, one row and one tree at a time."""

import math
from collections.abc import Sequence

import numpy as np

from tests.naive.model import Node, Tree


def nodes_of(tree: Tree, x: Sequence[float]) -> list[int]:
    """Return the nodes that a raw row passes, from the root to its leaf."""
    passed = [0]
    while tree.nodes[passed[-1]].feature is not None:
        node = tree.nodes[passed[-1]]
        value = float(x[node.feature])
        if value != value:
            left = node.missing_left
        elif node.is_equality:
            left = value == node.threshold
        else:
            left = value <= node.threshold
        passed.append(node.left if left else node.left + 1)
    return passed


def apply(tree: Tree, X: np.ndarray) -> np.ndarray:
    """Return for each raw row the index of the node that is its leaf.

    A missing value is NaN, and so is an unknown category; other categories are given
    as their codes.
    """
    return np.array([nodes_of(tree, x)[-1] for x in X], dtype=np.int64)


def votes(trees: Sequence[Tree], X: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the number of trees that vote for each class, rows by classes."""
    result = np.zeros((len(X), n_classes), dtype=np.int64)
    for tree in trees:
        for row, leaf in enumerate(apply(tree, X)):
            result[row, tree.nodes[leaf].label] += 1
    return result


def soft_probabilities(
    trees: Sequence[Tree], X: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return the mean over the trees of the shares of the leaves' masses.

    A leaf without any mass has equal shares.
    """
    result = np.zeros((len(X), n_classes), dtype=np.float64)
    for tree in trees:
        for row, leaf in enumerate(apply(tree, X)):
            masses = [float(mass) for mass in tree.nodes[leaf].masses]
            whole = 0.0
            for mass in masses:
                whole = whole + mass
            for c in range(n_classes):
                share = masses[c] / whole if whole > 0 else 1 / n_classes
                result[row, c] += share
    return result / len(trees)


def leaf_value(node: Node, centre: float, unit: float) -> float:
    """Return the mean target of a regression leaf, NaN if it has no points."""
    if node.mass == 0:
        return math.nan
    return centre + (float(node.moment) / float(node.mass)) * unit


def mean_values(
    trees: Sequence[Tree], X: np.ndarray, centre: float, unit: float
) -> np.ndarray:
    """Return the mean over the trees of the values of the leaves."""
    result = np.zeros(len(X), dtype=np.float64)
    for tree in trees:
        for row, leaf in enumerate(apply(tree, X)):
            result[row] += leaf_value(tree.nodes[leaf], centre, unit)
    return result / len(trees)
