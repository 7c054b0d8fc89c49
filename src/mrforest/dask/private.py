# SPDX-License-Identifier: BSD-3-Clause
"""The private forest, for rows on a Dask cluster."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mrforest.dask import _private_draws
from mrforest.dask._cluster import DaskCluster
from mrforest.dask._look import Parts
from mrforest.dask._on_cluster import OnCluster, on_cluster
from mrforest.dask._private_growth import PrivateGrowth
from mrforest.dask._private_problem import PrivateProblem, PrivateRows
from mrforest.dask._room import Room, gather_rows_on
from mrforest.dask._tables import is_frame, parts_of
from mrforest.dask._tasks import Future, same
from mrforest.dask._trees import Level
from mrforest.dask._watch import watching
from mrforest.forests.private import PrivateForestClassifier
from mrforest.forests.private_parameters import MOST_ROWS
from mrforest.privacy.sensitivity import check_norm
from mrforest.privacy.subtree import Tree

# What is known of a table before any row is read
PUBLIC = ("_columns", "classes_", "n_classes_", "n_features_in_", "feature_names_in_")


class FarRows(NamedTuple):
    """Rows on a cluster.

    Attributes
    ----------
    known : PrivateRows
    cluster : DaskCluster
    shards : list of (future of Shard, int)
        With the worker that has it.
    """

    known: PrivateRows
    cluster: DaskCluster
    shards: list[tuple[Future, int]]

    @property
    def n_points(self) -> int:
        """How many rows there are."""
        return self.known.n_points


@on_cluster
class DaskPrivateForestClassifier(OnCluster, PrivateForestClassifier):
    """A differentially private forest of rows on a Dask cluster.

    What is promised is promised of the fitted forest. The scheduler and the workers see
    rows and counts of them: whoever may look at these, or at the dashboard, must be
    trusted as the owner of the rows is.

    Parameters
    ----------
    {cluster_parameters}

    See Also
    --------
    mrforest.PrivateForestClassifier : The same forest of a table in memory.

    Examples
    --------
    {example}
    """

    _ordinary = PrivateForestClassifier
    _example = "bounds=(0.0, 8.0), classes=[0, 1, 2]"

    def fit(self, X: Any, y: Any) -> Self:
        """Draw the forest on the cluster.

        Parameters
        ----------
        X : Dask DataFrame or Array of shape (n_samples, n_features)
            As for the ordinary forest; no row is looked at for bounds or categories.
        y : Dask Series, DataFrame of one column, or Array of shape (n_samples,)
            Class labels, parted as X is.

        Returns
        -------
        self : estimator
            The fitted forest. With a ``random_state`` it is the one that the ordinary
            estimator draws of the same rows, whatever the partitions and the workers.
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

    def _read_fit(self, X: Any, y: Any) -> FarRows:
        cluster = DaskCluster(self._client())
        parts = Parts(cluster, parts_of(X, y))
        rows = parts.look(_private_draws.read, self._reader())
        seals = cluster.gather(
            [cluster.submit(_private_draws.seal, part) for part in rows]
        )
        lengths = [seal.n_rows for seal in seals]
        known = self._known(sum(lengths))
        self._check_room(cluster, known)
        told = cluster.submit(same, known)
        first = np.cumsum([0, *lengths]).tolist()
        shards = [
            (
                cluster.submit(
                    _private_draws.join,
                    [rows[i] for i in group],
                    group,
                    [seals[i] for i in group],
                    first[group[0]],
                    told,
                    worker=worker,
                ),
                worker,
            )
            for group, worker in parts.shards(known.n_points, known.row_bytes)
        ]
        return FarRows(known, cluster, shards)

    def _reader(self) -> PrivateForestClassifier:
        """Return the ordinary forest, which knows what is public and nothing else."""
        reader = PrivateForestClassifier(**self._local_params() | {"accountant": None})
        for name in PUBLIC:
            if name in vars(self):
                setattr(reader, name, vars(self)[name])
        return reader

    def _known(self, n_rows: int) -> PrivateRows:
        if not 1 <= n_rows <= MOST_ROWS:
            raise ValueError(
                f"X has {n_rows} rows in all partitions; it must have 1 to {MOST_ROWS}"
            )
        check_norm(self.n_classes_, n_rows)
        return PrivateRows(n_rows, self.n_classes_, self._columns.grid, squares=False)

    def _check_room(self, cluster: DaskCluster, known: PrivateRows) -> None:
        """Raise an error, before anything is charged, if counts are too large."""
        gather_rows = gather_rows_on(cluster, known, self.gather_rows)
        counts_pairs = self._size().is_joint and self.max_depth != 1
        if known.n_points <= gather_rows or not counts_pairs:
            return
        room, n_bytes = cluster.worker_bytes / 8, 4 * known.most_cells
        if n_bytes <= room:
            return
        raise ValueError(
            f"{len(known.grid.n_codes)} columns with {known.grid.n_candidates} "
            f"candidate splits and {known.n_classes} classes have {n_bytes / 1e9:.1f} "
            "GB of counts, more than an eighth of the memory of a worker "
            f"({8 * room / 1e9:.1f} GB); take larger workers, fewer columns or fewer "
            "categories, or a gather_rows of all rows, if their codes fit on one"
        )

    # ---- what is drawn --------------------------------------------------------------

    def _draw_trees(
        self, rows: FarRows, seed: int | None
    ) -> tuple[tuple[NDArray[np.intp], Tree], ...]:
        problem = PrivateProblem(rows.known, self._plan, self._norm(), seed)
        room = Room.on(rows.cluster, problem, self.gather_rows)
        n_trees = self._plan.n_trees
        drawn: list[tuple[NDArray[np.intp], Tree]] = []
        with watching(n_trees, visible=self.verbose > 0, words=block_in_words) as (
            step,
            watch,
        ):
            growth = PrivateGrowth(rows.cluster, rows.shards, problem, room, watch)
            for i in range(0, n_trees, room.n_trees):
                numbers = range(n_trees)[i : i + room.n_trees]
                for tree in growth.draw(numbers):
                    drawn.append(tree)
                    step()
        return tuple(drawn)


def block_in_words(level: Level) -> str:
    """Say which block is drawn; how many rows and regions there are is not public."""
    return f"block {level.depth}"
