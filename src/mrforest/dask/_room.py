# SPDX-License-Identifier: BSD-3-Clause
"""How much is done at once, so that workers have room for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

# Bytes of codes that a worker is sent at once
SENT_BYTES = 1 << 26
# Bytes of points and counts that a worker holds for growing trees, at most
GROWING_BYTES = 1 << 31


class HasRows(Protocol):
    """Rows of some size."""

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""


class Sized(HasRows, Protocol):
    """What is known of a forest that grows."""

    @property
    def n_points(self) -> int:
        """Rows of the whole table."""

    @property
    def n_cells(self) -> int:
        """Counters of a node."""


@dataclass(frozen=True)
class Room:
    """What there is room for.

    Attributes
    ----------
    gather_rows : int
        A node with at most so many points is finished by one worker.
    sent_rows : int
        Rows of such nodes that a worker is sent at once, at least one node's.
    n_trees : int
        That grow together.
    """

    gather_rows: int
    sent_rows: int
    n_trees: int

    @classmethod
    def on(cls, cluster: Any, problem: Sized, gather_rows: int | None) -> Room:
        """Return what there is room for on a cluster."""
        sent_rows = gather_rows_on(cluster, problem, None)
        gather_rows = gather_rows_on(cluster, problem, gather_rows)
        growing = min(GROWING_BYTES, cluster.worker_bytes / 8) * cluster.n_workers
        n_trees = trees_at_once(problem, gather_rows, growing)
        return cls(gather_rows, max(sent_rows, gather_rows), n_trees)


def gather_rows_on(cluster: Any, rows: HasRows, given: int | None) -> int:
    """Return up to how many points a node is finished by one worker."""
    if given is not None:
        return given
    n_bytes = int(min(SENT_BYTES, cluster.worker_bytes / 10))
    return max(n_bytes // rows.row_bytes, 1)


def trees_at_once(problem: Sized, gather_rows: int, room: float) -> int:
    """Return how many trees grow together: as many as there is room for, in bytes."""
    of_points = 4 * problem.n_points
    # Counts of a level are there three times: of parts, their sum, and their parents'.
    n_large = problem.n_points // gather_rows
    of_counts = 3 * 4 * problem.n_cells * n_large
    return max(int(room / (of_points + of_counts)), 1)
