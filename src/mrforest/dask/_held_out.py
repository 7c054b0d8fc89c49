# SPDX-License-Identifier: BSD-3-Clause
"""Trees that are scored on the rows that they hold out.

rows in canonical order ─► trees of a setting ─► predictions of held-out rows ─► loss

When trees are grown they are sent to the shards, each of which predicts those of its
own rows that a tree holds out. The sums of these predictions stay with the rows. Only
those of the first rows, by which a forest tunes itself, and numbers of right answers
leave a shard.

The memory of a worker is bounded. Beside its rows it holds the points of trees that
grow (see `MemoryPlan`), rows of small nodes (`gather_rows`), the trees that grew
together, and 16 bytes a row and class for the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._cluster import Future, LevelProgress, MemoryPlan, share
from mrforest.dask._growth import ForestGrowth
from mrforest.dask._samples import SampledNodes
from mrforest.dask._shards import Shard, ShardTasks, join_slices, slice_shard
from mrforest.dask._specs import Arrays, HeldOutTree, RowSpec, SampledForestSpec
from mrforest.forests.held_out import HeldOut, Setting
from mrforest.forests.private_parameters import MOST_ROWS
from mrforest.forests.sampling import HeldOutGroups
from mrforest.forests.self_tuning import rule_of


class SettingTrees:
    """Trees of one setting, and what they predict for rows that they hold out.

    Parameters
    ----------
    shards : ShardTasks
        Which follow one another in the canonical order.
    spec : SampledForestSpec
    numbers : range
        Of the trees.
    sizes : ndarray of int64, or None
        Leaf sizes that are tried; None: those of the trees.
    gather_rows : int or None
    on_level : callable
        Is called with the `LevelProgress` of each level.
    """

    def __init__(
        self,
        shards: ShardTasks,
        spec: SampledForestSpec,
        numbers: range,
        sizes: NDArray[np.int64] | None,
        gather_rows: int | None,
        on_level: Callable[[LevelProgress], object],
    ) -> None:
        self._shards = shards
        self._cluster = shards.cluster
        self._spec = spec
        self._shared_spec = share(self._cluster, spec)
        self._numbers = numbers
        self._sizes = sizes
        memory = MemoryPlan.of(self._cluster, spec.rows, spec.n_cells, gather_rows)
        self._n_together = memory.n_trees
        self._growth = ForestGrowth(
            shards,
            spec,
            SampledNodes(shards, spec),
            memory,
            on_level,
            n_first=max(spec.n_asked, 0),
        )
        self._predictions: list[Future] = [None] * len(shards.futures)

    def grown(self) -> Iterator[Arrays]:
        """Yield the trees, after rows have been predicted by them."""
        for i in range(0, len(self._numbers), self._n_together):
            numbers = self._numbers[i : i + self._n_together]
            grown = list(self._growth.grow([self._spec.tree(n) for n in numbers]))
            self._predictions = self._shards.map(
                add_predictions,
                share(self._cluster, grown),
                self._sizes,
                self._shared_spec,
                per_shard=[self._predictions],
            )
            for _, arrays in grown:
                yield arrays

    def predictions(self) -> HeldOut:
        """Return the predictions of all rows that are asked about."""
        return join_predictions(self._cluster.gather(self._predictions))

    def scores(self) -> list[ShardScore]:
        """Return how good the trees are on the rows of each shard."""
        return self._cluster.gather(
            self._shards.map(score, MOST_ROWS, per_shard=[self._predictions])
        )


def sampled_spec(
    rows: RowSpec,
    setting: Setting,
    sampler: HeldOutGroups,
    limits: _core.Limits,
    seed: int,
    n_asked: int,
) -> SampledForestSpec:
    """Return what workers must know of the trees of a setting."""
    return SampledForestSpec(
        replace(rows, criterion=setting.criterion),
        sampler,
        rule_of(setting, rows.n_features),
        limits,
        seed,
        setting.equality,
        n_asked,
    )


def in_canonical_order(shards: ShardTasks, rows: RowSpec) -> ShardTasks:
    """Send each row to the shard that has its range of places."""
    cluster, n_shards = shards.cluster, len(shards.futures)
    shared_rows = share(cluster, rows)
    edges = [rows.n_points * i // n_shards for i in range(n_shards + 1)]
    joined = []
    for i, worker in enumerate(shards.workers):
        slices = shards.map(slice_shard, edges[i], edges[i + 1])
        shard = cluster.submit(join_slices, slices, shared_rows, worker=worker)
        joined.append((shard, worker))
    return ShardTasks(cluster, joined)


def classes_of_first(shards: ShardTasks, n_first: int) -> NDArray[np.int32]:
    """Return the classes of the first points; shards are in the canonical order."""
    return np.concatenate(shards.cluster.gather(shards.map(first_classes, n_first)))


# ---- on workers ----------------------------------------------------------------------


def first_classes(shard: Shard, n_first: int) -> NDArray[np.int32]:
    """Return the classes of those of the first points that are in a shard."""
    return shard.y[: shard.n_before(n_first)]


def add_predictions(
    before: HeldOut | None,
    shard: Shard,
    trees: Sequence[tuple[HeldOutTree, Arrays]],
    sizes: NDArray[np.int64] | None,
    spec: SampledForestSpec,
) -> HeldOut:
    """Add the predictions of some trees for the rows of a shard to those of others.

    Parameters
    ----------
    before : HeldOut or None
        None: these trees are the first.
    shard : Shard
    trees : sequence of pairs
    sizes : ndarray of int64, or None
        Leaf sizes, see `_core.add_prefixes`; None: the leaves are those of the trees.
    spec : SampledForestSpec
    """
    n_rows = len(shard.places)
    if spec.n_asked >= 0:
        n_rows = shard.n_before(spec.n_asked)
    columns = np.zeros(1, dtype=np.int64) if sizes is None else sizes
    held_out = HeldOut.of(columns, n_rows, spec.rows.n_classes)
    if before is not None:
        held_out.sums[:], held_out.counts[:] = before.sums, before.counts
    if shard.table is None:
        return held_out
    for tree, arrays in trees:
        rows = np.flatnonzero(tree.is_held(shard.places[:n_rows])).astype(np.int32)
        leaves = _core.find_leaves(shard.table, arrays, rows)
        grown = arrays | {"held_leaf": leaves}
        sums = held_out.sums[tree.half]
        if sizes is None:
            _core.add_leaves(shard.table, grown, rows, sums[:, 0])
        else:
            _core.add_prefixes(shard.table, grown, rows, sizes, sums)
        held_out.counts[tree.half, rows] += 1
    return held_out


@dataclass(frozen=True)
class ShardScore:
    """How good trees are on the rows of a shard that they hold out.

    Attributes
    ----------
    n_rows, n_right : int
        Rows that some tree holds out, and those of them whose class is predicted.
    has_halves : bool
        Whether trees of both halves hold out some row.
    first : HeldOut
        Predictions of the first rows of the table.
    """

    n_rows: int
    n_right: int
    has_halves: bool
    first: HeldOut


def score(held_out: HeldOut, shard: Shard, n_first: int) -> ShardScore:
    """Compare predictions with the classes; keep those of the first rows."""
    rows, means = held_out.means()
    return ShardScore(
        len(rows),
        int((means.argmax(axis=1) == shard.y[rows]).sum()),
        bool(held_out.has_halves.any()),
        held_out.first(shard.n_before(n_first)),
    )


def join_predictions(parts: Sequence[HeldOut]) -> HeldOut:
    """Return the predictions of the rows of all parts."""
    return HeldOut(
        parts[0].sizes,
        np.concatenate([part.sums for part in parts], axis=1),
        np.concatenate([part.counts for part in parts], axis=1),
    )
