# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that ask for codes, for many rows; made from the nodes of a forest.

The thresholds of a feature, of all trees together, are a short list, and a row lies
between two of them: its code. So a comparison with a threshold is one of codes, with
the same answer, and codes of a block of rows fit the cache where the rows do not. A
category that is asked for by equality is a column of its own: is it that one or not?
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mrforest._core import CODED_NODE_DTYPE, CodedNodes
from mrforest.forests._nodes import EQUALITY, FEATURE_MASK

# Columns, and thresholds of each: a code is of two bytes at most. A leaf has a code
# that none is above.
MOST = 2**16 - 1


def coded_nodes(
    nodes: NDArray[np.void], tree_start: NDArray[np.int64]
) -> CodedNodes | None:
    """Return the nodes in codes; None: no node asks for anything, or for too much.

    Parameters
    ----------
    nodes : ndarray of NODE_DTYPE
        All trees, one after the other.
    tree_start : ndarray of int64
        First node of each tree, and the end.
    """
    out = np.zeros(len(nodes), dtype=CODED_NODE_DTYPE)
    # A leaf is its own child, whatever the code.
    first = np.repeat(tree_start[:-1], np.diff(tree_start))
    out["child"] = np.arange(len(nodes)) - first
    out["high"] = MOST
    inner = np.flatnonzero(nodes["child"] >= 0)
    out["child"][inner] = nodes["child"][inner]
    features: list[int] = []
    is_equality: list[bool] = []
    values: list[NDArray[np.float64]] = []
    for feature, is_equal, group in groups_of(nodes, inner):
        thresholds = nodes["threshold"][group]
        known = np.unique(thresholds)
        place = np.searchsorted(known, thresholds)
        out["column"][group] = len(features) + (place if is_equal else 0)
        out["high"][group] = 0 if is_equal else place
        new = list(known[:, np.newaxis]) if is_equal else [known]
        features += [feature] * len(new)
        is_equality += [is_equal] * len(new)
        values += new
        if len(features) > MOST or max(map(len, new)) > MOST:
            return None
    if not features:
        return None
    return CodedNodes(
        out,
        np.array(features, dtype=np.int32),
        np.array(is_equality, dtype=np.uint8),
        np.concatenate(values),
        np.cumsum([0, *map(len, values)]),
        slim_nodes(out, first, len(features), max(map(len, values))),
    )


def slim_nodes(
    nodes: NDArray[np.void],
    first: NDArray[np.int64],
    n_columns: int,
    n_values: int,
) -> NDArray[np.uint32] | None:
    """Return the nodes in four bytes each; None: they do not fit.

    Parameters
    ----------
    nodes : ndarray of CODED_NODE_DTYPE
    first : ndarray of int64
        First node of the tree of each node.
    n_columns, n_values : int
        Columns of codes, values of a column at most.
    """
    ahead = nodes["child"] - (np.arange(len(nodes)) - first)
    if n_columns > 256 or n_values > 255 or ahead.max() >= 2**16 or ahead.min() < 0:
        return None
    high = np.minimum(nodes["high"], 255)  # no code is above 255, as none is of a leaf
    slim: NDArray[np.uint32] = ahead.astype(np.uint32) << np.uint32(16)
    slim |= nodes["column"].astype(np.uint32) << np.uint32(8)
    slim |= high
    return slim


def groups_of(
    nodes: NDArray[np.void], inner: NDArray[np.intp]
) -> Iterator[tuple[int, bool, NDArray[np.intp]]]:
    """Yield the inner nodes of each feature, those that ask for equality apart."""
    flags = nodes["feature"][inner]
    key = 2 * (flags & FEATURE_MASK) + ((flags & EQUALITY) != 0)
    key = key.astype(np.min_scalar_type(key.max(initial=0)))  # two bytes sort fast
    order = np.argsort(key, kind="stable")
    inner, key = inner[order], key[order]
    for group in np.split(inner, np.flatnonzero(np.diff(key)) + 1):
        if len(group):
            feature = nodes["feature"][group[0]]
            yield int(feature & FEATURE_MASK), bool(feature & EQUALITY), group
