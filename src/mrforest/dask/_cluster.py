# SPDX-License-Identifier: BSD-3-Clause
"""Tasks on a Dask cluster, the memory that they may take, and their progress."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from dask.delayed import Delayed
from distributed import Client, Scheduler, SchedulerPlugin

from mrforest._progress import Step, progress_bar

# Seconds to wait for a first worker: a cluster may start them when they are needed
PATIENCE = 60
# Bytes of codes that are sent to a worker at once, at most
SENT_BYTES = 1 << 26
# Bytes of points and counts that a worker holds for growing trees, at most
GROWING_BYTES = 1 << 31

Future = Any
T = TypeVar("T")


class Cluster(Protocol):
    """Where functions run. What they return stays there until it is gathered."""

    worker_bytes: float

    @property
    def n_workers(self) -> int:
        """Number of workers."""

    def submit(
        self, function: Callable[..., Any], *args: Any, worker: int | None = None
    ) -> Future:
        """Run a function; futures among its arguments stand for their results."""

    def compute(self, lazy: Sequence[Delayed], worker: int | None = None) -> list[Any]:
        """Compute delayed objects."""

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """Return results."""


def share(cluster: Cluster, value: Any, worker: int | None = None) -> Future:
    """Send an object to the cluster once, for all tasks that take it."""
    return cluster.submit(identity, value, worker=worker)


def identity(value: Any) -> Any:
    """Return the argument."""
    return value


# ---- Dask ----------------------------------------------------------------------------


class DaskCluster:
    """Submits tasks; results that nobody holds any more are dropped.

    Every task is a function of its arguments alone, so the scheduler can run it again
    on another worker when one is lost. A task prefers a worker, but may run on another.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        client.register_plugin(FreeTasks())
        workers = workers_of(client)
        self._addresses = sorted(workers)
        # 0 or None: no limit
        limits = [worker["memory_limit"] or math.inf for worker in workers.values()]
        self.worker_bytes: float = min(limits)

    @property
    def n_workers(self) -> int:
        """Number of workers when the fit began."""
        return len(self._addresses)

    def _preferred(self, worker: int | None) -> dict[str, Any]:
        if worker is None:
            return {"workers": None, "allow_other_workers": False}
        address = self._addresses[worker % self.n_workers]
        return {"workers": address, "allow_other_workers": True}

    def submit(
        self, function: Callable[..., Any], *args: Any, worker: int | None = None
    ) -> Future:
        """Run a function."""
        where = self._preferred(worker)
        return self._client.submit(function, *args, pure=False, **where)

    def compute(self, lazy: Sequence[Delayed], worker: int | None = None) -> list[Any]:
        """Compute delayed objects."""
        where = self._preferred(worker)
        futures: list[Any] = self._client.compute(list(lazy), **where)
        return futures

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """Return results; an error in one of them is raised."""
        results: list[Any] = self._client.gather(list(futures))
        return results


class FreeTasks(SchedulerPlugin):
    """Lets a task that may run on any worker do so when no worker is left.

    Without it such a task could wait for ever: when all workers are lost at once, the
    scheduler puts the task aside, and then only asks of each new worker whether it is
    the one that the task prefers.
    """

    name = "mrforest-free-tasks"
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        """Keep the scheduler."""
        self._scheduler = scheduler

    def transition(
        self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any
    ) -> None:
        """Drop the preference of a task that is put aside."""
        if finish == "no-worker":
            task = self._scheduler.tasks[key]
            if task.loose_restrictions:
                task.worker_restrictions = None


def workers_of(client: Client) -> dict[str, Any]:
    """Return what is known of each worker, by address; wait until there is one."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise ValueError(
            f"the Dask cluster has had no worker for {PATIENCE} seconds; start one"
        ) from error
    # Not `scheduler_info`: while it waits, another call of the client may replace what
    # it returns by a summary without workers.
    scheduler: Any = client.scheduler
    info = client.sync(scheduler.identity, n_workers=-1)
    workers: dict[str, Any] = info["workers"]
    return workers


# ---- memory --------------------------------------------------------------------------


class EncodedTable(Protocol):
    """A table on a cluster, as far as memory is concerned."""

    @property
    def n_points(self) -> int:
        """Number of rows."""

    @property
    def row_bytes(self) -> int:
        """Bytes of an encoded row."""


@dataclass(frozen=True)
class MemoryPlan:
    """How much is done at once, so that it fits the memory of the workers.

    Attributes
    ----------
    n_points : int
        Rows of the whole table.
    gather_rows : int
        A node of at most so many points is finished by one worker.
    sent_rows : int
        Rows of such nodes that are sent to a worker at once, at least those of a node.
    n_trees : int
        Trees that grow together.
    """

    n_points: int
    gather_rows: int
    sent_rows: int
    n_trees: int

    @classmethod
    def of(
        cls, cluster: Cluster, rows: EncodedTable, n_cells: int, gather_rows: int | None
    ) -> MemoryPlan:
        """Make a plan for a forest.

        Parameters
        ----------
        cluster : Cluster
        rows : RowSpec or PrivateRowSpec
        n_cells : int
            Counters of a node.
        gather_rows : int or None
            What the user asks for.
        """
        sent_rows = gather_rows_on(cluster, rows.row_bytes, None)
        gather_rows = gather_rows_on(cluster, rows.row_bytes, gather_rows)
        growing = min(GROWING_BYTES, cluster.worker_bytes / 8) * cluster.n_workers
        of_points = 4 * rows.n_points
        # The counts of a level are there three times: those of the shards, their sum,
        # and those of the parents.
        n_large = rows.n_points // gather_rows
        of_counts = 3 * 4 * n_cells * n_large
        n_trees = max(int(growing / (of_points + of_counts)), 1)
        return cls(rows.n_points, gather_rows, max(sent_rows, gather_rows), n_trees)

    def bundles(
        self, nodes: Iterable[tuple[T, int]], share: float = math.inf
    ) -> Iterator[list[T]]:
        """Deal nodes out to tasks, each of which is sent at most `sent_rows` rows.

        A row is sent once, however many trees need it.

        Parameters
        ----------
        nodes : iterable of pairs
            Nodes, and how many points each has.
        share : float
            A task with so many points gets no further node.

        Examples
        --------
        >>> plan = MemoryPlan(n_points=100, gather_rows=5, sent_rows=8, n_trees=1)
        >>> list(plan.bundles([("a", 5), ("b", 3), ("c", 1)]))
        [['a', 'b'], ['c']]
        >>> list(plan.bundles([("a", 2), ("b", 3), ("c", 1)], share=4))
        [['a', 'b'], ['c']]
        """
        bundle: list[T] = []
        n_bundled = 0
        for node, n_points in nodes:
            n_sent = min(n_bundled + n_points, self.n_points)
            if bundle and (n_bundled >= share or n_sent > self.sent_rows):
                yield bundle
                bundle, n_bundled = [], 0
            bundle.append(node)
            n_bundled += n_points
        if bundle:
            yield bundle


def gather_rows_on(cluster: Cluster, row_bytes: int, given: int | None) -> int:
    """Return up to how many points a node is finished by one worker."""
    if given is not None:
        return given
    n_bytes = int(min(SENT_BYTES, cluster.worker_bytes / 10))
    return max(n_bytes // row_bytes, 1)


# ---- progress ------------------------------------------------------------------------


@dataclass(frozen=True)
class LevelProgress:
    """A level of trees that is finished.

    Attributes
    ----------
    depth : int
    n_nodes : int
        Nodes that were large enough to be split on all workers.
    n_counted : int
        Nodes whose points were counted for that: of two children the smaller one.
    n_points : int
        Structure points of the nodes.
    seconds : float
    """

    depth: int
    n_nodes: int
    n_counted: int
    n_points: int
    seconds: float


def describe_level(level: LevelProgress) -> str:
    """Describe a level for the progress bar.

    Examples
    --------
    >>> describe_level(LevelProgress(3, 412, 206, n_points=2_500_000, seconds=0.5))
    'level 3, 412 nodes, 5,000,000 rows/s'
    """
    rate = level.n_points / max(level.seconds, 1e-9)
    return f"level {level.depth}, {level.n_nodes:,} nodes, {rate:,.0f} rows/s"


@contextmanager
def growth_progress(
    n_trees: int,
    *,
    visible: bool,
    describe: Callable[[LevelProgress], str] = describe_level,
    label: str = "growing trees",
) -> Iterator[tuple[Step, Callable[[LevelProgress], None]]]:
    """Show a bar of finished trees, and behind it the level of those that grow."""
    with progress_bar(label, n_trees, visible=visible) as step:

        def on_level(level: LevelProgress) -> None:
            step(0, note=describe(level))

        yield step, on_level
