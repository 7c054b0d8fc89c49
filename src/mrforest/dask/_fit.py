# SPDX-License-Identifier: BSD-3-Clause
"""From Dask collections to shards of encoded rows.

partitions ─► describe ─► cuts ─► encode ─► shards in canonical order
(values in ranges, for quantiles)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from mrforest.dask import _partitions, _shards
from mrforest.dask._cluster import Cluster, Future, share
from mrforest.dask._partitions import Partitions, PartitionSummary
from mrforest.dask._quantiles import (
    MIN_RANKED,
    QuantileRanges,
    RankedValues,
    cuts_from_ranges,
    cuts_or_ranges,
)
from mrforest.dask._shards import ShardTasks
from mrforest.dask._specs import RowSpec
from mrforest.data.binning import Binning, binning_of, most_bins, offering_equality
from mrforest.data.table import Schema
from mrforest.data.training import MAX_POINTS
from mrforest.forests.base import BaseForest
from mrforest.forests.targets import MAX_CLASSES, read_class_weight


@dataclass(frozen=True)
class TableSummary:
    """What is known of a table after all partitions were described.

    Attributes
    ----------
    schema : Schema
    classes : ndarray
    rows : RowSpec
    """

    schema: Schema
    classes: NDArray[Any]
    rows: RowSpec


class ClusterFit:
    """Reads and encodes the table of one fit.

    Parameters
    ----------
    cluster : Cluster
    partitions : sequence of Delayed
        See `partitions_of`.
    forest : BaseForest
        The local forest, not fitted. It learns the schema of the table.
    """

    def __init__(
        self, cluster: Cluster, partitions: Sequence[Delayed], forest: BaseForest
    ) -> None:
        self._cluster = cluster
        self._partitions = Partitions(cluster, partitions)
        self._forest: Any = forest

    # ---- what the table is ----------------------------------------------------------

    def read(self) -> TableSummary:
        """Describe the table; an error if anything is wrong with a partition."""
        limit = most_bins(self._forest._max_bins())
        n_ranked = max(MIN_RANKED, limit + 1)
        described = self._partitions.map(_partitions.describe, self._forest, n_ranked)
        numbered = [
            (i, part)
            for i, part in enumerate(self._cluster.gather(described))
            if part is not None
        ]
        if not numbered:
            raise ValueError("X has no rows in any partition; at least one is needed")
        parts = [part for _, part in numbered]
        n_rows = sum(part.n_rows for part in parts)
        if n_rows > MAX_POINTS:
            raise ValueError(f"X has {n_rows} rows; at most {MAX_POINTS} are allowed")
        schema = _partitions.join_schemas(numbered)
        self._set_schema(schema)
        classes, n_of_class = join_labels(parts)
        cuts, is_quantile = self._find_cuts(parts, limit)
        binning = binning_of(cuts, schema.n_categories)
        if self._forest._offers_equality:
            values = [part.ranked for part in parts]
            binning = offer_equality(binning, values, is_quantile)
        masses = partial(n_of_class.astype, np.float64)
        rows = RowSpec(
            n_points=n_rows,
            binning=binning,
            n_classes=len(classes),
            class_weight=read_class_weight(self._forest.class_weight, classes, masses),
            criterion=self._forest._criterion(),
        )
        return TableSummary(schema, classes, rows)

    def _set_schema(self, schema: Schema) -> None:
        self._forest._schema = schema
        self._forest.n_features_in_ = len(schema.categories)
        if schema.names is not None:
            self._forest.feature_names_in_ = np.array(schema.names, dtype=object)

    def _find_cuts(
        self, parts: Sequence[PartitionSummary], limit: int
    ) -> tuple[list[NDArray[np.float64]], NDArray[np.bool_]]:
        """Return the cuts of each feature, and whether they are its quantiles."""
        cuts: dict[int, NDArray[np.float64]] = {}
        ranges: dict[int, QuantileRanges] = {}
        for j in range(len(parts[0].ranked)):
            of_j = [part.ranked[j] for part in parts]
            ranked = [one for one in of_j if isinstance(one, RankedValues)]
            found = cuts_or_ranges(ranked, limit) if ranked else np.empty(0)
            if isinstance(found, QuantileRanges):
                ranges[j] = found
            else:
                cuts[j] = found
        if ranges:
            values = self._cluster.gather(
                self._partitions.map(
                    _partitions.find_range_values, self._forest, ranges
                )
            )
            for j, ranges_of_j in ranges.items():
                values_of_j = [part[j] for part in values if part is not None]
                cuts[j] = cuts_from_ranges(values_of_j, ranges_of_j)
        features = range(len(parts[0].ranked))
        return [cuts[j] for j in features], np.array([j in ranges for j in features])

    # ---- the rows as codes ----------------------------------------------------------

    def shards(self, table: TableSummary) -> ShardTasks:
        """Encode the rows, and find the place of each in the canonical order."""
        cluster, rows = self._cluster, table.rows
        codes = self._partitions.map(
            _partitions.encode, self._forest, rows.binning, table.classes
        )
        shared_rows = share(cluster, rows)
        joined = []
        for group, worker in self._partitions.shard_groups(
            rows.n_points, rows.row_bytes
        ):
            of_group = [codes[i] for i in group]
            shard = cluster.submit(
                _shards.join_rows, of_group, shared_rows, worker=worker
            )
            joined.append((shard, worker))
        del codes
        return ranked(ShardTasks(cluster, joined), shared_rows)


def ranked(encoded: ShardTasks, shared_rows: Future) -> ShardTasks:
    """Find the place of each row among all, by ranges of hashes."""
    cluster, n = encoded.cluster, len(encoded.futures)
    starts = cluster.gather(encoded.map(_shards.range_starts, n))
    of_range = np.sum([np.diff(start) for start in starts], axis=0)
    first = (np.cumsum(of_range) - of_range).tolist()
    ranks = [
        cluster.submit(
            _shards.rank_hashes,
            encoded.map(_shards.hashes_in_range, n, i),
            worker=worker,
        )
        for i, worker in enumerate(encoded.workers)
    ]
    shards = [
        cluster.submit(
            _shards.make_shard, rows, ranks, i, first, shared_rows, worker=worker
        )
        for i, (rows, worker) in enumerate(
            zip(encoded.futures, encoded.workers, strict=True)
        )
    ]
    return ShardTasks(cluster, list(zip(shards, encoded.workers, strict=True)))


def offer_equality(
    binning: Binning,
    parts: Sequence[Sequence[RankedValues | None]],
    is_quantile: NDArray[np.bool_],
) -> Binning:
    """Let numeric features be cut by equality, too, if they offer it.

    Parameters
    ----------
    binning : Binning
    parts : sequence
        Of each partition, the values of each feature; None: it is categorical.
    is_quantile : ndarray of shape (n_features,), dtype=bool
        Whether the cuts of a feature are quantiles: not all of its values are known.
    """
    values = []
    for j, is_many in enumerate(is_quantile.tolist()):
        of_j = [part[j] for part in parts]
        known = [one.values for one in of_j if one is not None and not is_many]
        # -0 is 0.
        values.append(np.unique(np.concatenate([*known, np.empty(0)])) + 0.0)
    n_values = np.array([len(of_feature) for of_feature in values])
    return offering_equality(binning, np.concatenate(values), n_values, ~is_quantile)


def join_labels(
    parts: Sequence[PartitionSummary],
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return all classes, and how many rows each has."""
    labels = np.concatenate([part.labels for part in parts])
    classes, code = np.unique(labels, return_inverse=True)
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"y has {len(classes)} classes; at most {MAX_CLASSES} are allowed"
        )
    n_of_class = np.zeros(len(classes), dtype=np.int64)
    np.add.at(n_of_class, code, np.concatenate([part.n_labels for part in parts]))
    return classes, n_of_class
