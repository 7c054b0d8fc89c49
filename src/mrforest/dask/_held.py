# SPDX-License-Identifier: BSD-3-Clause
"""What trees say of rows that they hold out. These functions run on workers.

A tree is sent to the shards when it is grown, and each shard lets its own rows through
it. Sums stay with the rows: only those of the first rows, by which a forest tunes
itself, and numbers of right answers leave a shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._order import Shard
from mrforest.dask._sampled_problem import SampledProblem, SampledTree
from mrforest.dask._subtrees import Arrays
from mrforest.forests.held_out import HeldOut


def ask(
    before: HeldOut | None,
    shard: Shard,
    trees: Sequence[tuple[SampledTree, Arrays]],
    sizes: NDArray[np.int64] | None,
    problem: SampledProblem,
) -> HeldOut:
    """Add what some trees say of rows of a shard to what others said before.

    Parameters
    ----------
    before : HeldOut or None
        None: these trees are the first.
    shard : Shard
    trees : sequence of pairs
    sizes : ndarray of int64, or None
        Leaf sizes, see `_core.add_prefixes`; None: the leaves are those of the trees.
    problem : SampledProblem
    """
    n_rows = len(shard.points)
    if problem.n_asked >= 0:
        n_rows = int(np.searchsorted(shard.points, problem.n_asked))
    first = np.zeros(1, dtype=np.int64) if sizes is None else sizes
    said = HeldOut.of(first, n_rows, problem.n_classes)
    if before is not None:
        said.sums[:], said.counts[:] = before.sums, before.counts
    if shard.table is None:
        return said
    for tree, arrays in trees:
        is_held = tree.is_held(shard.points[:n_rows])
        held = np.flatnonzero(is_held).astype(np.int32)
        leaves = _core.find_leaves(shard.table, arrays, held)
        grown = arrays | {"held_leaf": leaves}
        if sizes is None:
            out = said.sums[tree.half, :, 0]
            _core.add_leaves(shard.table, grown, held, out)
        else:
            out = said.sums[tree.half]
            _core.add_prefixes(shard.table, grown, held, sizes, out)
        said.counts[tree.half, held] += 1
    return said


@dataclass(frozen=True)
class Score:
    """How good trees are on rows of a shard that they hold out.

    Attributes
    ----------
    n_rows, n_right : int
        Rows that some tree holds out, and those of them whose class is found.
    has_halves : bool
        Whether trees of both halves hold out some row.
    first : HeldOut
        What trees say of the first rows.
    """

    n_rows: int
    n_right: int
    has_halves: bool
    first: HeldOut


def score(said: HeldOut, shard: Shard, n_first: int) -> Score:
    """Compare what trees say with the classes; keep sums of the first points."""
    rows, means = said.means()
    return Score(
        len(rows),
        int((means.argmax(axis=1) == shard.y[rows]).sum()),
        bool(said.has_halves.any()),
        said.first(int(np.searchsorted(shard.points, n_first))),
    )


def first_classes(shard: Shard, n_first: int) -> NDArray[np.int32]:
    """Return the classes of those of the first points that are in a shard."""
    return shard.y[: int(np.searchsorted(shard.points, n_first))]


def joined(parts: Sequence[HeldOut]) -> HeldOut:
    """Return the sums of the rows of all parts."""
    return HeldOut(
        parts[0].sizes,
        np.concatenate([part.sums for part in parts], axis=1),
        np.concatenate([part.counts for part in parts], axis=1),
    )
