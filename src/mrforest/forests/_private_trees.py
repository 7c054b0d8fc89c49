# SPDX-License-Identifier: BSD-3-Clause
"""Private trees in the arrays of a forest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.forests._nodes import EQUALITY, MISSING_LEFT
from mrforest.privacy.grid import Grid
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.subtree import Leaf, Split, Tree


def draw_columns(n_features: int, n: int, random: RandomBits) -> NDArray[np.intp]:
    """Draw n of the columns."""
    columns = list(range(n_features))
    if n < n_features:
        for place in range(n):
            other = place + random.below(n_features - place)
            columns[place], columns[other] = columns[other], columns[place]
    return np.sort(np.array(columns[:n], dtype=np.intp))


def flat_tree(
    tree: Tree, columns: NDArray[np.intp], grid: Grid
) -> tuple[NDArray[np.void], list[Leaf]]:
    """Lay out the nodes of a tree breadth first; return its leaves in that order."""
    waiting: list[Tree] = [tree]
    nodes: list[tuple[float, int, int]] = []
    leaves: list[Leaf] = []
    for node in waiting:  # grows as it goes
        # Nothing ever goes to the right of "do not split".
        while isinstance(node, Split) and node.feature == len(columns):
            node = node.left
        if isinstance(node, Leaf):
            nodes.append((0.0, 0, -1 - len(leaves)))
            leaves.append(node)
            continue
        feature = int(columns[node.feature])
        nodes.append((*question(grid, feature, node.code), len(waiting)))
        waiting += [node.left, node.right]
    return np.array(nodes, dtype=_core.NODE_DTYPE), leaves


def question(grid: Grid, feature: int, code: int) -> tuple[float, int]:
    """Return threshold and flagged feature of a candidate, as rows are sent by it."""
    if not grid.is_categorical[feature]:
        threshold = float(grid.cuts[grid.cuts_start[feature] + code])
        return threshold, feature | int(MISSING_LEFT)
    if code == grid.n_codes[feature] - 1:
        # "Other" is NaN, and no category is -1.
        return -1.0, feature | int(EQUALITY | MISSING_LEFT)
    return float(code), feature | int(EQUALITY)
