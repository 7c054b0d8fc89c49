# SPDX-License-Identifier: BSD-3-Clause
"""A forest tunes itself by rows on a cluster.

rows in canonical order ─► trees of a setting ─► what they say of the first rows ─► loss

The ordinary forest chooses; here is what it asks of its rows: trees of a setting, and
what trees say of rows that they hold out. The memory of a worker is bounded: beside its
rows it has the points of trees that grow (see `Room`), rows of small nodes
(`gather_rows`), the trees that grew together, and 16 bytes a row and class of what
trees say of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask import _held, _order
from mrforest.dask._fit import ClusterFit, Table
from mrforest.dask._held import Score
from mrforest.dask._room import Room
from mrforest.dask._sampled_growth import SampledForestGrowth
from mrforest.dask._sampled_problem import SampledProblem
from mrforest.dask._subtrees import Arrays
from mrforest.dask._tasks import Future, same
from mrforest.dask._trees import Level
from mrforest.forests.held_out import HeldOut, Setting
from mrforest.forests.sampling import HeldOutGroups
from mrforest.forests.self_tuning import rule_of
from mrforest.forests.targets import read_class_weight
from mrforest.forests.tuning import MOST_ROWS


@dataclass(frozen=True)
class FarTraining:
    """What the ordinary forest asks of its training rows when they are far away.

    Attributes
    ----------
    n_points, n_features : int
    offers_equality : bool
        Whether any numeric feature may be cut by equality, too.
    y : ndarray of int32
        Classes of the first points.
    class_weight : ndarray of shape (n_classes,), or None
    lists : pair of ndarray
        Thresholds that nodes can have, see `Binning.thresholds`.
    """

    n_points: int
    n_features: int
    offers_equality: bool
    y: NDArray[np.int32]
    class_weight: NDArray[np.float64] | None
    lists: tuple[NDArray[np.float64], NDArray[np.int64]]
    mass: None = None
    scale: None = None


class SelfTuningFit(ClusterFit):
    """One fit; parameters are those of `ClusterFit`."""

    _table: Table
    _class_weight: NDArray[np.float64] | None
    _ordered: list[tuple[Future, int]]

    def prepare(self, table: Table) -> FarTraining:
        """Encode the rows and bring them into their order."""
        forest: Any = self._forest
        masses = partial(table.n_of_class.astype, np.float64)
        self._table = table
        self._class_weight = read_class_weight(
            forest.class_weight, table.classes, masses
        )
        setting = forest._levels(len(table.binning.n_bins))[0]
        limits = forest._size_limits(1, np.zeros(1, dtype=np.uint8))
        problem = self._problem(setting, limits, HeldOutGroups(1.0), 0, -1)
        self._ordered = self._in_order(self.shards(table, problem), problem)
        n_first = min(table.n_rows, MOST_ROWS)
        found = self._cluster.gather(
            [
                self._cluster.submit(_held.first_classes, shard, n_first, worker=w)
                for shard, w in self._ordered
            ]
        )
        return FarTraining(
            table.n_rows,
            problem.n_features,
            table.binning.equal_values is not None,
            np.concatenate(found),
            self._class_weight,
            table.binning.thresholds(),
        )

    def _in_order(
        self, shards: Sequence[tuple[Future, int]], problem: SampledProblem
    ) -> list[tuple[Future, int]]:
        """Send rows to the shard that has their places in the canonical order."""
        cluster, n = self._cluster, len(shards)
        told = cluster.submit(same, problem)
        edges = [problem.n_points * i // n for i in range(n + 1)]
        found = []
        for i, (_, worker) in enumerate(shards):
            first, end = edges[i], edges[i + 1]
            runs = [
                cluster.submit(_order.run_of, shard, first, end, worker=w)
                for shard, w in shards
            ]
            joined = cluster.submit(_order.join_runs, runs, told, worker=worker)
            found.append((joined, worker))
        return found

    def _problem(
        self,
        setting: Setting,
        limits: _core.Limits,
        sampler: HeldOutGroups,
        seed: int,
        n_asked: int,
    ) -> SampledProblem:
        binning = self._table.binning
        held_out: Any = sampler
        return SampledProblem(
            n_points=self._table.n_rows,
            binning=binning,
            n_classes=len(self._table.classes),
            class_weight=self._class_weight,
            criterion=setting.criterion,
            sampler=held_out,
            rule=rule_of(setting, len(binning.n_bins)),
            limits=limits,
            seed=seed,
            equality=setting.equality,
            n_asked=n_asked,
        )

    def trees(
        self,
        setting: Setting,
        limits: _core.Limits,
        sampler: HeldOutGroups,
        numbers: range,
        *,
        seed: int,
        gather_rows: int | None,
        watch: Callable[[Level], object],
        sizes: NDArray[np.int64] | None = None,
    ) -> SettingTrees:
        """Return trees of a setting, which grow when they are asked for.

        With `sizes` these are leaf sizes that are tried, and only the first rows count.
        """
        n_asked = -1 if sizes is None else min(self._table.n_rows, MOST_ROWS)
        problem = self._problem(setting, limits, sampler, seed, n_asked)
        room = Room.on(self._cluster, problem, gather_rows)
        growth = SampledForestGrowth(self._cluster, self._ordered, problem, room, watch)
        where = self._cluster, self._ordered
        return SettingTrees(*where, problem, growth, numbers, sizes)


class SettingTrees:
    """Trees of one setting, and what they say of rows that they hold out.

    Parameters
    ----------
    cluster : Cluster
    shards : sequence of (future of Shard, int)
    problem : SampledProblem
    growth : SampledForestGrowth
    numbers : range
        Of the trees.
    sizes : ndarray of int64, or None
        See `_held.ask`.
    """

    def __init__(
        self,
        cluster: Any,
        shards: Sequence[tuple[Future, int]],
        problem: SampledProblem,
        growth: SampledForestGrowth,
        numbers: range,
        sizes: NDArray[np.int64] | None,
    ) -> None:
        self._cluster = cluster
        self._shards = shards
        self._told = cluster.submit(same, problem)
        self._growth = growth
        self._numbers = numbers
        self._sizes = sizes
        self._said: list[Future] = [None] * len(shards)

    def grown(self) -> Iterator[Arrays]:
        """Yield the trees, when rows have been told of them."""
        at_once = self._growth.n_trees
        for i in range(0, len(self._numbers), at_once):
            some = list(self._growth.grow_numbered(self._numbers[i : i + at_once]))
            trees = self._cluster.submit(same, some)
            self._said = [
                self._cluster.submit(
                    _held.ask, said, shard, trees, self._sizes, self._told, worker=w
                )
                for said, (shard, w) in zip(self._said, self._shards, strict=True)
            ]
            for _, arrays in some:
                yield arrays

    def said(self) -> HeldOut:
        """Return what the trees say of all rows that are asked about."""
        return _held.joined(self._cluster.gather(self._said))

    def scores(self) -> list[Score]:
        """Return how good the trees are on rows of each shard."""
        return list(
            self._cluster.gather(
                [
                    self._cluster.submit(_held.score, said, shard, MOST_ROWS, worker=w)
                    for said, (shard, w) in zip(self._said, self._shards, strict=True)
                ]
            )
        )
