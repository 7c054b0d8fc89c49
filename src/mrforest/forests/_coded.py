# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that ask for codes, for many rows; made from the nodes of a forest.

The thresholds of a feature, of all trees together, are a short list, and a row lies
between two of them: its code. So a comparison with a threshold is one of codes, with
the same answer, and codes of a block of rows fit the cache where the rows do not. A
category that is asked for by equality is a column of its own: is it that one or not?
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest._core import CODED_NODE_DTYPE, CodedNodes, plan
from mrforest._threads import in_parts
from mrforest.forests._packed import Lists, lists_of

# Columns, and thresholds of each: a code is of two bytes at most. A leaf has a code
# that none is above.
MOST = 2**16 - 1
# The same of nodes of four bytes, see descent.h
MOST_SLIM_COLUMNS, MOST_SLIM_VALUES = 256, 255


def coded_nodes(
    nodes: NDArray[np.void],
    tree_start: NDArray[np.int64],
    lists: Lists | None = None,
    *,
    n_threads: int = 1,
    wide: bool = False,
) -> CodedNodes | None:
    """Return the nodes in codes; None: no node asks for anything, or for too much.

    Parameters
    ----------
    nodes : ndarray of NODE_DTYPE
        All trees, one after the other.
    tree_start : ndarray of int64
        First node of each tree, and the end.
    lists : Lists, default=None
        Lists that have all thresholds. None: those that occur.
    n_threads : int, default=1
    wide : bool, default=False
        Whether nodes of eight bytes are needed where those of four would do.
    """
    cuts, cuts_start = lists_of(nodes) if lists is None else lists
    n_trees = len(tree_start) - 1
    place = np.zeros(len(nodes), dtype=np.int32)

    def find(trees: slice) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        some = slice(tree_start[trees.start], tree_start[trees.stop])
        ordered = np.zeros(len(cuts_start) - 1, dtype=np.uint8)
        equal = np.zeros(len(cuts), dtype=np.uint8)
        _core.find_cuts(nodes[some], cuts, cuts_start, place[some], ordered, equal)
        return ordered, equal

    found = zip(*in_parts(find, n_trees, n_threads), strict=True)
    ordered, equal = (np.flatnonzero(np.any(flags, axis=0)) for flags in found)
    n_columns = len(ordered) + len(equal)
    n_values = int(np.diff(cuts_start)[ordered].max(initial=1))
    if not 0 < n_columns <= MOST or n_values > MOST:
        return None
    column_of_feature = np.zeros(len(cuts_start) - 1, dtype=np.int32)
    column_of_feature[ordered] = np.arange(len(ordered))
    column_of_cut = np.zeros(len(cuts), dtype=np.int32)
    column_of_cut[equal] = len(ordered) + np.arange(len(equal))

    def write(wide: NDArray[np.void] | None, slim: NDArray[np.uint32] | None) -> bool:
        def write_some(trees: slice) -> bool:
            return _core.write_codes(
                nodes,
                tree_start[trees.start : trees.stop + 1],
                cuts_start,
                place,
                column_of_feature,
                column_of_cut,
                wide,
                slim,
            )

        return all(in_parts(write_some, n_trees, n_threads))

    slim_nodes = wide_nodes = None
    is_slim = n_columns <= MOST_SLIM_COLUMNS and n_values <= MOST_SLIM_VALUES
    if is_slim and plan.is_taken("slim_nodes"):
        slim_nodes = np.empty(len(nodes), dtype=np.uint32)
        if not write(None, slim_nodes):
            slim_nodes = None
    if wide or slim_nodes is None:
        wide_nodes = np.empty(len(nodes), dtype=CODED_NODE_DTYPE)
        write(wide_nodes, None)
    parts = [cuts[cuts_start[j] : cuts_start[j + 1]] for j in ordered]
    feature_of_cut = np.searchsorted(cuts_start, equal, side="right") - 1
    return CodedNodes(
        wide_nodes,
        np.concatenate([ordered, feature_of_cut]).astype(np.int32),
        np.repeat([0, 1], [len(ordered), len(equal)]).astype(np.uint8),
        np.concatenate([*parts, cuts[equal]]),
        np.cumsum([0, *map(len, parts), *([1] * len(equal))]),
        slim_nodes,
    )
