# SPDX-License-Identifier: BSD-3-Clause
"""Prediction with the twin's trees, one row and one tree at a time."""

from collections.abc import Sequence

import numpy as np

from tests.naive.model import Tree


def _leaf_of(tree: Tree, x: Sequence[float]) -> int:
    number = 0
    while tree.nodes[number].feature is not None:
        node = tree.nodes[number]
        value = float(x[node.feature])
        if value != value:
            left = node.missing_left
        elif node.is_equality:
            left = value == node.threshold
        else:
            left = value <= node.threshold
        number = node.left if left else node.left + 1
    return number


def apply(tree: Tree, X: np.ndarray) -> np.ndarray:
    """Return for each raw row the index of the node that is its leaf.

    A missing value is NaN, and so is an unknown category; other categories are given
    as their codes.
    """
    return np.array([_leaf_of(tree, x) for x in X], dtype=np.int64)


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
