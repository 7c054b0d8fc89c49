# SPDX-License-Identifier: BSD-3-Clause
"""What a node of a tree of cuts holds, and the thresholds of many nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The field ``feature`` of a node holds its feature, and two flags (walk.h).
FEATURE_MASK = np.uint32(0x3FFFFFFF)
MISSING_LEFT = np.uint32(0x40000000)
EQUALITY = np.uint32(0x80000000)

# Thresholds of all features, and where those of each feature begin
Lists = tuple[NDArray[np.float64], NDArray[np.int64]]


def lists_of(nodes: NDArray[np.void]) -> Lists:
    """Return the thresholds that occur, by feature; -0.0 and 0.0 are two.

    Examples
    --------
    >>> import numpy as np
    >>> from mrforest import _core
    >>> nodes = np.zeros(5, dtype=_core.NODE_DTYPE)
    >>> nodes["child"] = [1, -1, 3, -2, -3]
    >>> nodes["feature"] = [2, 0, 2, 0, 0]
    >>> nodes["threshold"] = [7.5, 0.0, 2.5, 0.0, 0.0]
    >>> cuts, cuts_start = lists_of(nodes)
    >>> cuts.tolist(), cuts_start.tolist()
    ([2.5, 7.5], [0, 0, 0, 2])
    """
    inner = nodes[nodes["child"] >= 0]
    feature = inner["feature"] & FEATURE_MASK
    bits = inner["threshold"].view(np.int64)
    # Negative numbers ascend as their bits descend.
    rank = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
    order = np.lexsort((rank, feature))
    feature, rank = feature[order], rank[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (feature[1:] != feature[:-1]) | (rank[1:] != rank[:-1])
    n_features = int(feature[-1]) + 1 if len(feature) else 0
    cuts_start = np.searchsorted(feature[is_first], np.arange(n_features + 1))
    cuts = np.ascontiguousarray(inner["threshold"][order[is_first]])
    return cuts, cuts_start.astype(np.int64)
