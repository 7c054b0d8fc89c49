# SPDX-License-Identifier: BSD-3-Clause
"""Class probabilities of leaves from noisy counts: post-processing that costs nothing.

A leaf's noisy counts are its own; those of a node are the sums of its leaves'. From the
root down, the shares of a node are drawn towards its parent's, the more the fewer rows
and the more noise they rest on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Variance that a child's share of a class has around its parent's
SPREAD = 0.05


def leaf_shares(
    child: NDArray[np.int32], leaf_counts: NDArray[np.int64], variance: float
) -> NDArray[np.float64]:
    """Return class probabilities of the leaves of a tree.

    Parameters
    ----------
    child : ndarray of shape (n_nodes,), dtype=int32
        Left child of each node, the right one follows it; -1 - number of the leaf in a
        leaf. Children come after their parents.
    leaf_counts : ndarray of shape (n_leaves, n_classes), dtype=int64
        Noisy counts; they may be negative.
    variance : float
        Of the noise of a count.

    Returns
    -------
    ndarray of shape (n_leaves, n_classes)

    Examples
    --------
    >>> child = np.array([1, -1, -2], dtype=np.int32)
    >>> leaf_shares(child, np.array([[90, 10], [-2, 3]]), variance=8.0).round(2)
    array([[0.9 , 0.1 ],
           [0.84, 0.16]])
    """
    n_nodes, n_classes = len(child), leaf_counts.shape[1]
    counts = np.zeros((n_nodes, n_classes))
    n_leaves = np.ones(n_nodes)
    for node in reversed(range(n_nodes)):
        if child[node] < 0:
            counts[node] = leaf_counts[-1 - child[node]]
        else:
            pair = slice(child[node], child[node] + 2)
            counts[node] = counts[pair].sum(axis=0)
            n_leaves[node] = n_leaves[pair].sum()
    out = np.empty(leaf_counts.shape)
    above = np.full((n_nodes, n_classes), 1 / n_classes)
    for node in range(n_nodes):
        own = shrunk(counts[node], above[node], n_leaves[node] * variance)
        if child[node] < 0:
            out[-1 - child[node]] = own
        else:
            above[child[node] : child[node] + 2] = own
    return out


def shrunk(
    counts: NDArray[np.float64], parent: NDArray[np.float64], variance: float
) -> NDArray[np.float64]:
    """Return shares of a node, between its own and its parent's.

    Own shares err by chance, with variance p (1 - p) / n, and by noise, with variance
    / n²; the parent's are off by SPREAD.
    """
    positive = np.maximum(counts, 0)
    if not positive.any():
        return parent
    n = max(float(counts.sum()), 1.0)
    error = float((parent * (1 - parent)).mean()) / n + variance / n**2
    trust = SPREAD / (SPREAD + error)
    return np.asarray(trust * positive / positive.sum() + (1 - trust) * parent)
