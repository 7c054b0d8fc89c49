# SPDX-License-Identifier: BSD-3-Clause
"""The private forest, for rows on a Dask cluster."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mrforest.dask import _private_worker
from mrforest.dask._cluster import (
    Cluster,
    DaskCluster,
    LevelProgress,
    MemoryPlan,
    gather_rows_on,
    growth_progress,
    share,
)
from mrforest.dask._estimator import OnCluster, on_cluster
from mrforest.dask._partitions import Partitions, is_frame, partitions_of
from mrforest.dask._private_growth import PrivateGrowth
from mrforest.dask._private_worker import PrivateForestSpec, PrivateRowSpec
from mrforest.dask._shards import ShardTasks
from mrforest.forests.private import PrivateForestClassifier
from mrforest.forests.private_parameters import MOST_ROWS
from mrforest.privacy.sensitivity import check_norm
from mrforest.privacy.subtree import Tree

# Attributes that are set before any row is read
PUBLIC = ("_columns", "classes_", "n_classes_", "n_features_in_", "feature_names_in_")


class PrivateTable(NamedTuple):
    """The encoded rows of a table on a cluster."""

    rows: PrivateRowSpec
    shards: ShardTasks

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return self.rows.n_points


@on_cluster
class DaskPrivateForestClassifier(OnCluster, PrivateForestClassifier):
    """A differentially private forest of rows on a Dask cluster.

    Privacy is promised for the fitted forest. The scheduler and the workers see rows
    and counts of them. Whoever has access to these, or to the dashboard, must be
    trusted like the owner of the rows.
    """

    _local_class = PrivateForestClassifier
    _example = "bounds=(0.0, 8.0), classes=[0, 1, 2]"

    def fit(self, X: Any, y: Any) -> Self:
        """Draw the forest on the cluster.

        Parameters
        ----------
        X : Dask DataFrame or Array of shape (n_samples, n_features)
            As for the local forest. Bounds and categories are not read from the rows.
        y : Dask Series, DataFrame of one column, or Array of shape (n_samples,)
            Class labels, partitioned as X is.

        Returns
        -------
        self : estimator
            The fitted forest. With a ``random_state`` it is the one that the local
            estimator draws from the same rows, whatever the partitions and workers.
        """
        return super().fit(X, y)

    def _fit(self, X: Any, y: Any) -> Self:
        if self.on_missing_public != "raise":
            raise ValueError(
                f"on_missing_public={self.on_missing_public!r}: on a cluster it must "
                "be 'raise', for nothing is read from the rows that is not paid for"
            )
        return super()._fit(X, y)

    # ---- what is read ---------------------------------------------------------------

    def _header(self, X: Any) -> Any:
        return X._meta if is_frame(X) else X

    def _read_fit(self, X: Any, y: Any) -> PrivateTable:
        cluster = DaskCluster(self._client())
        partitions = Partitions(cluster, partitions_of(X, y))
        coded = partitions.map(_private_worker.read, self._reader())
        digests = cluster.gather(
            [cluster.submit(_private_worker.digest_of, part) for part in coded]
        )
        lengths = [digest.n_rows for digest in digests]
        rows = self._row_spec(sum(lengths))
        self._check_memory(cluster, rows)
        shared_rows = share(cluster, rows)
        first = np.cumsum([0, *lengths]).tolist()
        shards = []
        for group, worker in partitions.shard_groups(rows.n_points, rows.row_bytes):
            shard = cluster.submit(
                _private_worker.join,
                [coded[i] for i in group],
                group,
                [digests[i] for i in group],
                first[group[0]],
                shared_rows,
                worker=worker,
            )
            shards.append((shard, worker))
        return PrivateTable(rows, ShardTasks(cluster, shards))

    def _reader(self) -> PrivateForestClassifier:
        """Return the local forest, which knows what is public and nothing else."""
        reader = PrivateForestClassifier(**self._local_params() | {"accountant": None})
        for name in PUBLIC:
            if name in vars(self):
                setattr(reader, name, vars(self)[name])
        return reader

    def _row_spec(self, n_rows: int) -> PrivateRowSpec:
        if not 1 <= n_rows <= MOST_ROWS:
            raise ValueError(
                f"X has {n_rows} rows in all partitions; it must have 1 to {MOST_ROWS}"
            )
        check_norm(self.n_classes_, n_rows)
        return PrivateRowSpec(
            n_rows, self.n_classes_, self._columns.grid, squares=False
        )

    def _check_memory(self, cluster: Cluster, rows: PrivateRowSpec) -> None:
        """Raise an error, before anything is charged, if counts are too large."""
        gather_rows = gather_rows_on(cluster, rows.row_bytes, self.gather_rows)
        counts_pairs = self._size().is_joint and self.max_depth != 1
        if rows.n_points <= gather_rows or not counts_pairs:
            return
        allowed, n_bytes = cluster.worker_bytes / 8, 4 * rows.most_cells
        if n_bytes <= allowed:
            return
        raise ValueError(
            f"{len(rows.grid.n_codes)} columns with {rows.grid.n_candidates} "
            f"candidate splits and {rows.n_classes} classes have {n_bytes / 1e9:.1f} "
            "GB of counts, more than an eighth of the memory of a worker "
            f"({8 * allowed / 1e9:.1f} GB); take larger workers, fewer columns or "
            "fewer categories, or a gather_rows of all rows, if their codes fit on one"
        )

    # ---- what is drawn --------------------------------------------------------------

    def _draw_trees(
        self, table: PrivateTable, seed: int | None
    ) -> tuple[tuple[NDArray[np.intp], Tree], ...]:
        spec = PrivateForestSpec(table.rows, self._plan, self._norm(), seed)
        cluster = table.shards.cluster
        memory = MemoryPlan.of(cluster, table.rows, spec.n_cells, self.gather_rows)
        n_trees, visible = self._plan.n_trees, self.verbose > 0
        drawn: list[tuple[NDArray[np.intp], Tree]] = []
        with growth_progress(n_trees, visible=visible, describe=describe_block) as (
            step,
            on_level,
        ):
            growth = PrivateGrowth(table.shards, spec, memory, on_level)
            for i in range(0, n_trees, memory.n_trees):
                numbers = range(n_trees)[i : i + memory.n_trees]
                for tree in growth.draw(numbers):
                    drawn.append(tree)
                    step()
        return tuple(drawn)


def describe_block(level: LevelProgress) -> str:
    """Describe a level of blocks; the numbers of rows and regions are not public."""
    return f"block {level.depth}"
