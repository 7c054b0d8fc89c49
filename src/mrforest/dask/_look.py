# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a table, and which worker looks at which."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from dask.delayed import Delayed, delayed

from mrforest.dask._cluster import DaskCluster
from mrforest.dask._tasks import Future, same

# Bytes of codes that are one array, at most
LARGEST_SHARD = 1 << 28


class Parts:
    """The parts of a table; neighbours are looked at by the same worker.

    Parameters
    ----------
    cluster : DaskCluster
    parts : sequence of Delayed
        See `parts_of`.
    """

    def __init__(self, cluster: DaskCluster, parts: Sequence[Delayed]) -> None:
        self._cluster = cluster
        self._parts = parts
        self._groups = in_groups(len(parts), cluster.n_workers)

    def look(self, function: Callable[..., Any], *told: Any) -> list[Future]:
        """Call a function with each part: its number, itself, what it is told."""
        task = delayed(function, pure=False)
        # What it is told comes from a task, not with every part.
        futures = [self._cluster.submit(same, thing) for thing in told]
        found: list[Future] = []
        for worker, group in enumerate(self._groups):
            lazy = [task(i, self._parts[i], *futures) for i in group]
            found += self._cluster.compute(lazy, worker=worker)
        return found

    def shards(self, n_rows: int, row_bytes: int) -> list[tuple[list[int], int]]:
        """Return which parts make a shard, and on which worker it is."""
        return [
            ([group[i] for i in some], worker)
            for worker, group in enumerate(self._groups)
            for some in in_groups(len(group), self._n_shards(n_rows * row_bytes, group))
        ]

    def _n_shards(self, n_bytes: int, group: Sequence[int]) -> int:
        """Return how many shards the parts of a worker make.

        While parts are joined, their codes are there twice: so some at a time.
        """
        of_parts = n_bytes * len(group) / len(self._parts)
        most = min(self._cluster.worker_bytes / 10, LARGEST_SHARD)
        return min(max(math.ceil(of_parts / most), 1), len(group))


def in_groups(n: int, n_groups: int) -> list[list[int]]:
    """Deal out 0 ... n - 1 evenly; neighbours stay together, no group is empty.

    Examples
    --------
    >>> in_groups(5, 2), in_groups(2, 3)
    ([[0, 1], [2, 3, 4]], [[0], [1]])
    """
    n_groups = min(n, n_groups)
    ends = [n * (i + 1) // n_groups for i in range(n_groups)]
    return [list(range(a, b)) for a, b in zip([0, *ends], ends, strict=False)]
