# SPDX-License-Identifier: BSD-3-Clause
"""Tasks on a Dask cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from dask.delayed import Delayed
from distributed import Client, Scheduler, SchedulerPlugin

# Seconds to wait for a first worker: a cluster may start them when they are needed
PATIENCE = 60


class DaskCluster:
    """Submits tasks; those whose results nobody holds any more are dropped.

    Every task is a function of its arguments alone, so the scheduler can run it again
    on another worker when one is lost. A task asks for a worker, and may get another.

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
        """Workers that were there when the fit began."""
        return len(self._addresses)

    def _address(self, worker: int | None) -> str | None:
        return None if worker is None else self._addresses[worker % self.n_workers]

    def submit(
        self, function: Callable[..., Any], *args: Any, worker: int | None = None
    ) -> Any:
        """Let a function run."""
        where = self._address(worker)
        return self._client.submit(
            function,
            *args,
            workers=where,
            allow_other_workers=where is not None,
            pure=False,
        )

    def compute(self, lazy: Sequence[Delayed], worker: int | None = None) -> list[Any]:
        """Let what is lazy be computed."""
        where = self._address(worker)
        futures: list[Any] = self._client.compute(
            list(lazy), workers=where, allow_other_workers=where is not None
        )
        return futures

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """Return results; an error in one of them is raised."""
        results: list[Any] = self._client.gather(list(futures))
        return results


class FreeTasks(SchedulerPlugin):
    """Tasks that may run on another worker than they ask for do so on any that comes.

    Without it they would wait for ever where all workers are lost at once: a scheduler
    with no worker puts such tasks aside, and then asks of each new worker only whether
    it is the one that they asked for.
    """

    name = "mrforest-free-tasks"
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        """Get to know the scheduler."""
        self._scheduler = scheduler

    def transition(
        self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any
    ) -> None:
        """Forget what a task asked for when it is put aside."""
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
    # Not `scheduler_info`: while it waits, a call of the client's own may put a summary
    # without workers in the place of what it returns.
    scheduler: Any = client.scheduler
    info = client.sync(scheduler.identity, n_workers=-1)
    workers: dict[str, Any] = info["workers"]
    return workers
