# SPDX-License-Identifier: BSD-3-Clause
"""What trees that grow on shards share, whoever chooses their splits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from mrforest.dask import _shards
from mrforest.dask._room import Room
from mrforest.dask._shards import Sizes
from mrforest.dask._tasks import Cluster, Future, same
from mrforest.dask._trees import Level

Question = TypeVar("Question")


class OnShards(Generic[Question]):
    """Tasks that look at shards and at the points of trees on them.

    Parameters
    ----------
    cluster : Cluster
    shards : sequence of (future of Shard, int)
        Which together have all rows, and the worker of each.
    problem : Problem or PrivateProblem
    room : Room
    watch : callable
        Is told of each `Level`.
    """

    def __init__(
        self,
        cluster: Cluster,
        shards: Sequence[tuple[Future, int]],
        problem: Question,
        room: Room,
        watch: Callable[[Level], object],
    ) -> None:
        self._cluster = cluster
        self._shards = [(worker, shard) for shard, worker in shards]
        self._problem = problem
        # A task, not an argument of every one
        self._told = cluster.submit(same, problem)
        self._room = room
        self._watch = watch

    def _on(self, worker: int, function: Callable[..., Any], *args: Any) -> Future:
        return self._cluster.submit(function, *args, worker=worker)

    def _draw_points(self, trees: Sequence[Any]) -> list[Future]:
        """Let each shard find the points of trees among its rows."""
        return [
            self._on(worker, _shards.draw_points, shard, trees, self._told)
            for worker, shard in self._shards
        ]

    def _on_shards(
        self, points: Sequence[Future], function: Callable[..., Any], *args: Any
    ) -> list[Future]:
        """Let a function see the points and the rows of each shard."""
        return [
            self._on(worker, function, own, shard, *args)
            for (worker, shard), own in zip(self._shards, points, strict=True)
        ]

    def _count_classes(
        self, points: Sequence[Future], nodes: Sequence[int], n_classes: int
    ) -> Sizes:
        """Count the points of nodes by class."""
        parts = self._on_shards(points, _shards.sizes, nodes, n_classes)
        return Sizes.added_up(self._cluster.gather(parts))
