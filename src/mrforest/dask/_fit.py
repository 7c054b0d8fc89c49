# SPDX-License-Identifier: BSD-3-Clause
"""From Dask collections to a grown forest.

parts ─► describe ─► cuts ─► encode ─► shards in canonical order ─► trees
(look again, for quantiles)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from mrforest.dask import _order, _parts
from mrforest.dask._cluster import DaskCluster
from mrforest.dask._cuts import LISTED, Listed, Wanted, cuts_from, cuts_or_ranges
from mrforest.dask._growth import ForestGrowth
from mrforest.dask._look import Parts
from mrforest.dask._parts import Description
from mrforest.dask._problem import Problem
from mrforest.dask._room import Room
from mrforest.dask._subtrees import Arrays
from mrforest.dask._tasks import same
from mrforest.dask._trees import Level
from mrforest.data.binning import Binning, binning_of, most_bins, offering_equality
from mrforest.data.table import Schema
from mrforest.data.training import MAX_POINTS
from mrforest.forests.base import BaseForest
from mrforest.forests.sampling import tree_key
from mrforest.forests.targets import MAX_CLASSES, read_class_weight


@dataclass(frozen=True)
class Table:
    """What is known of a table when all parts were looked at.

    Attributes
    ----------
    n_rows : int
    schema : Schema
    classes : ndarray
    n_of_class : ndarray of int64
    binning : Binning
    """

    n_rows: int
    schema: Schema
    classes: NDArray[Any]
    n_of_class: NDArray[np.int64]
    binning: Binning


class ClusterFit:
    """One fit.

    Parameters
    ----------
    cluster : DaskCluster
    parts : sequence of Delayed
        See `parts_of`.
    forest : BaseForest
        The ordinary forest, not fitted.
    """

    def __init__(
        self,
        cluster: DaskCluster,
        parts: Sequence[Delayed],
        forest: BaseForest,
    ) -> None:
        self._cluster = cluster
        self._parts = Parts(cluster, parts)
        self._forest = forest

    # ---- what the table is ----------------------------------------------------------

    def read(self) -> Table:
        """Look at all parts; an error if anything is wrong with them."""
        limit = most_bins(self._forest._max_bins())
        n_listed = max(LISTED, limit + 1)
        described = self._parts.look(_parts.describe, self._forest, n_listed)
        parts = [
            (i, part)
            for i, part in enumerate(self._cluster.gather(described))
            if part is not None
        ]
        if not parts:
            raise ValueError("X has no rows in any partition; at least one is needed")
        n_rows = sum(part.n_rows for _, part in parts)
        if n_rows > MAX_POINTS:
            raise ValueError(f"X has {n_rows} rows; at most {MAX_POINTS} are allowed")
        schema = _parts.join_schemas(parts)
        self._set_names(schema)
        classes, n_of_class = join_labels([part for _, part in parts])
        cuts, is_quantile = self._find_cuts([part for _, part in parts], limit)
        binning = binning_of(cuts, schema.n_categories)
        if self._forest._offers_equality:
            values = [part.listed for _, part in parts]
            binning = offer_equality(binning, values, is_quantile)
        return Table(n_rows, schema, classes, n_of_class, binning)

    def _set_names(self, schema: Schema) -> None:
        self._forest._schema = schema
        self._forest.n_features_in_ = len(schema.categories)
        if schema.names is not None:
            self._forest.feature_names_in_ = np.array(schema.names, dtype=object)

    def _find_cuts(
        self, parts: Sequence[Description], limit: int
    ) -> tuple[list[NDArray[np.float64]], NDArray[np.bool_]]:
        """Return the cuts of each feature, and whether they are its quantiles."""
        cuts: dict[int, NDArray[np.float64]] = {}
        wanted: dict[int, Wanted] = {}
        for j in range(len(parts[0].listed)):
            lists = [part.listed[j] for part in parts]
            listed = [one for one in lists if isinstance(one, Listed)]
            found = cuts_or_ranges(listed, limit) if listed else np.empty(0)
            if isinstance(found, Wanted):
                wanted[j] = found
            else:
                cuts[j] = found
        if wanted:
            looked = self._cluster.gather(
                self._parts.look(_parts.look_again, self._forest, wanted)
            )
            for j, want in wanted.items():
                parts_of_j = [part[j] for part in looked if part is not None]
                cuts[j] = cuts_from(parts_of_j, want)
        features = range(len(parts[0].listed))
        return [cuts[j] for j in features], np.array([j in wanted for j in features])

    # ---- the rows as codes ----------------------------------------------------------

    def problem(self, table: Table) -> Problem:
        """Return what all workers are to know."""
        forest: Any = self._forest
        masses = partial(table.n_of_class.astype, np.float64)
        return Problem(
            n_points=table.n_rows,
            binning=table.binning,
            n_classes=len(table.classes),
            class_weight=read_class_weight(forest.class_weight, table.classes, masses),
            criterion=forest._criterion(),
            sampler=forest._sampler(),
            rule=forest._rule(len(table.binning.n_bins)),
            limits=forest._limits(np.zeros(1, dtype=np.uint8)),
        )

    def shards(self, table: Table, problem: Problem) -> list[tuple[Any, int]]:
        """Encode the rows, and find the place of each among all.

        Returns
        -------
        list of (future of Shard, int)
            With the worker that has it.
        """
        cluster = self._cluster
        codes = self._parts.look(
            _parts.encode, self._forest, table.binning, table.classes
        )
        told = cluster.submit(same, problem)
        rows = [
            (cluster.submit(_order.join, [codes[i] for i in group], told, worker=w), w)
            for group, w in self._parts.shards(problem.n_points, problem.row_bytes)
        ]
        del codes
        return self._ranked(rows, told)

    def _ranked(self, rows: Sequence[tuple[Any, int]], told: Any) -> list[Any]:
        """Find the place of each row among all, by ranges of fingerprints."""
        cluster, n = self._cluster, len(rows)
        starts = cluster.gather(
            [cluster.submit(_order.pieces, part, n, worker=w) for part, w in rows]
        )
        of_range = np.sum([np.diff(start) for start in starts], axis=0)
        first = (np.cumsum(of_range) - of_range).tolist()
        ranks = []
        for i, (_, worker) in enumerate(rows):
            found = [
                cluster.submit(_order.piece, part, n, i, worker=w) for part, w in rows
            ]
            ranks.append(cluster.submit(_order.rank, found, worker=worker))
        return [
            (cluster.submit(_order.shard, part, ranks, i, first, told, worker=w), w)
            for i, (part, w) in enumerate(rows)
        ]

    # ---- trees ----------------------------------------------------------------------

    def grow(
        self,
        shards: Sequence[tuple[Any, int]],
        problem: Problem,
        numbers: range,
        *,
        seed: int,
        gather_rows: int | None,
        watch: Callable[[Level], object],
    ) -> Iterator[Arrays]:
        """Yield the trees of these numbers."""
        room = Room.on(self._cluster, problem, gather_rows)
        growth = ForestGrowth(self._cluster, shards, problem, room, watch)
        for i in range(0, len(numbers), room.n_trees):
            some = numbers[i : i + room.n_trees]
            yield from growth.grow([tree_key(seed, tree) for tree in some])


def offer_equality(
    binning: Binning,
    parts: Sequence[Sequence[Listed | None]],
    is_quantile: NDArray[np.bool_],
) -> Binning:
    """Let numeric features be cut by equality, too, if they offer it.

    Parameters
    ----------
    binning : Binning
    parts : sequence
        Of each part, the values of each feature; None: it is categorical.
    is_quantile : ndarray of shape (n_features,), dtype=bool
        Whether the cuts of a feature are quantiles: not all of its values are listed.
    """
    values = []
    for j, is_many in enumerate(is_quantile.tolist()):
        listed = [part[j] for part in parts]
        known = [one.values for one in listed if one is not None and not is_many]
        # -0 is 0.
        values.append(np.unique(np.concatenate([*known, np.empty(0)])) + 0.0)
    n_listed = np.array([len(of_feature) for of_feature in values])
    return offering_equality(binning, np.concatenate(values), n_listed, ~is_quantile)


def join_labels(
    parts: Sequence[Description],
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return all classes, and how many rows each has."""
    labels = np.concatenate([part.labels for part in parts])
    classes, which = np.unique(labels, return_inverse=True)
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"y has {len(classes)} classes; at most {MAX_CLASSES} are allowed"
        )
    n_of_class = np.zeros(len(classes), dtype=np.int64)
    np.add.at(n_of_class, which, np.concatenate([part.n_labels for part in parts]))
    return classes, n_of_class
