# SPDX-License-Identifier: BSD-3-Clause
"""How rows go through trees: which engine, and the nodes as it has them.

    engine        compares                    nodes            for
    values        values with thresholds      as they are      few rows, missing values
    codes         codes of one or two bytes   of eight bytes   many rows
    slim codes    codes of one byte           of four bytes    many rows, few thresholds
    bit votes     sets of 1,024 rows          as sets of bits  votes, small trees

The thresholds of a feature, of all trees together, are a short list, and a row lies
between two of them: its code. So a comparison with a threshold is one of codes, with
the same answer, and codes of a block of rows fit the cache where the rows do not. A
category that is asked for by equality is a column of its own: is it that one or not?
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from mrforest import _core
from mrforest._core import CODED_NODE_DTYPE, CodedNodes, plan
from mrforest._threads import in_parts, in_threads
from mrforest.model.nodes import Lists, lists_of

# ---- which engine --------------------------------------------------------------------


class Engine(Enum):
    """How many rows go through trees. Few rows are compared by their values."""

    # The names that they have in the plan
    CODES = "coded_rows"
    SLIM_CODES = "slim_nodes"
    BIT_VOTES = "bit_votes"


class Sizes(NamedTuple):
    """What decides whether an engine suits a forest."""

    n_columns: float  # of codes
    n_column_cuts: float  # thresholds of the column that has most
    n_cuts: float = 0  # thresholds of all columns
    n_splits: float = 0  # of a tree, on average
    n_classes: float = 0


# The largest sizes of each engine. A code has two bytes at most, and a leaf has one
# that none is above. Slim nodes have codes of one byte, see kernels.h. Beyond the
# limits of bit votes, which are measured, rows walk faster.
ANY = math.inf
LIMITS = {
    # engine                columns, cuts of one, cuts of all, splits, classes
    Engine.CODES: Sizes(2**16 - 1, 2**16 - 1, ANY, ANY, ANY),
    Engine.SLIM_CODES: Sizes(256, 255, ANY, ANY, ANY),
    Engine.BIT_VOTES: Sizes(ANY, ANY, 2**15, 2**12, 2**6),  # of nodes in codes
}
# To lay a node out for many rows takes half as long as that saves a row in a tree.
NODE_WORK = 0.5
# Rows of a set of bits. A last part of the rows walks unless it is more than half.
SET_ROWS = 1024

# Rows that go through all trees together: enough of them to make use of a tree once it
# is in the cache, few enough to leave it there.
BLOCK_ROWS = 4096
# The same of rows in codes, in bytes, and the fewest and most rows
BLOCK_CODES, LEAST_BLOCK_ROWS, MOST_BLOCK_ROWS = 2**21, 2**8, 2**14
# Below this many rows x trees a second thread costs more than it saves.
SERIAL_WORK = 200_000


def serves_many(n_visits: int, n_nodes: int) -> bool:
    """Whether nodes had better be laid out for many rows, after so many rows x trees.

    Examples
    --------
    >>> serves_many(n_visits=499, n_nodes=1000), serves_many(500, 1000)
    (False, True)
    """
    return n_visits >= NODE_WORK * n_nodes


def suits(engine: Engine, sizes: Sizes) -> bool:
    """Whether an engine takes a forest of these sizes, and fast.

    Examples
    --------
    >>> [suits(engine, Sizes(n_columns=54, n_column_cuts=300)) for engine in Engine]
    [True, False, True]
    """
    if not plan.is_taken(engine.value):
        return False
    within = zip(sizes, LIMITS[engine], strict=True)
    return sizes.n_columns > 0 and all(size <= most for size, most in within)


def rows_of_block(coded: CodedNodes | None, *, bit_votes: bool = False) -> int:
    """Return how many rows had better go through all trees together."""
    if bit_votes:
        return MOST_BLOCK_ROWS
    if coded is None:
        return BLOCK_ROWS
    n_rows = BLOCK_CODES // coded.stride
    return min(max(n_rows, LEAST_BLOCK_ROWS), MOST_BLOCK_ROWS)


# ---- codes ---------------------------------------------------------------------------


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
    sizes = Sizes(
        len(ordered) + len(equal), int(np.diff(cuts_start)[ordered].max(initial=1))
    )
    if not suits(Engine.CODES, sizes):
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
    if suits(Engine.SLIM_CODES, sizes):
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


# ---- blocks of rows ------------------------------------------------------------------


def in_blocks(
    block: Callable[[slice], None],
    n_rows: int,
    n_trees: int,
    n_jobs: int | None,
    block_rows: int = BLOCK_ROWS,
) -> None:
    """Call block on slices of rows, in threads if it pays."""
    is_small = n_rows * n_trees < SERIAL_WORK
    n_threads = 1 if is_small else min(effective_n_jobs(n_jobs), n_rows)
    # As many blocks for each thread, all of nearly the same size.
    n_blocks = n_threads * math.ceil(n_rows / (n_threads * block_rows))
    edges = np.linspace(0, n_rows, n_blocks + 1).astype(int).tolist()
    slices = [slice(*edge) for edge in itertools.pairwise(edges)]
    # Blocks write to disjoint rows of one array, so they must share memory.
    for _ in in_threads(block, slices, n_threads):
        pass
