# SPDX-License-Identifier: BSD-3-Clause
"""Measure what is not in the store yet, in several processes.

Stop it anywhere and start it again, or start it twice at once: nothing is done twice,
but for what was in flight when a process was killed.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import joblib
from rich.console import Console
from threadpoolctl import threadpool_limits

from mrforest.experiments._progress import Display
from mrforest.experiments.store import Store, identity

__all__ = ["FailedTasksError", "Task", "run"]

Settings = Mapping[str, Any]
Measured = tuple[dict[str, Any], float]

# Often enough for others to know that we live, and to see what they have done.
LOOK_SECONDS = 2.0


class Task(NamedTuple):
    """A result that is wanted.

    Attributes
    ----------
    experiment : str
        Name of the experiment.
    settings : mapping
        What the result is of. Plain values, as the store takes them.
    measure : callable
        Function of a module that takes the settings and returns the measures.
    cost : float
        A guess of what it takes, in any unit; only ratios matter. What was measured
        soon counts instead.

    Examples
    --------
    >>> from mrforest.experiments import consistency
    >>> from mrforest.experiments.runner import Task
    >>> settings = consistency.tasks(quick=True)[0]
    >>> task = Task(consistency.EXPERIMENT, settings, consistency.measure)
    >>> task.cost
    1.0
    """

    experiment: str
    settings: Settings
    measure: Callable[[Settings], Mapping[str, Any]]
    cost: float = 1.0


class FailedTasksError(Exception):
    """Some tasks raised; all others are in the store.

    Examples
    --------
    >>> from mrforest.experiments import consistency
    >>> from mrforest.experiments.runner import FailedTasksError, Task
    >>> task = Task("consistency", {"n": 0}, consistency.measure)
    >>> error = FailedTasksError([(task, ValueError("n=0 must be positive"))])
    >>> str(error), error.failures[0][0].settings
    ('1 task failed, see above', {'n': 0})
    """

    def __init__(self, failures: list[tuple[Task, BaseException]]) -> None:
        self.failures = failures
        tasks = "1 task" if len(failures) == 1 else f"{len(failures)} tasks"
        super().__init__(f"{tasks} failed, see above")


def run(
    tasks: Iterable[Task],
    store: Store,
    *,
    n_jobs: int = -1,
    title: str,
    rows: str = "dataset",
    columns: str = "forest",
    console: Console | None = None,
) -> int:
    """Measure all tasks whose results are not in the store.

    Parameters
    ----------
    tasks : iterable of Task
        What is wanted, in any order; the costliest come first.
    store : Store
        Where results are put, each as soon as it is there.
    n_jobs : int, default=-1
        Processes, of one thread each; -1 is one for each core.
    title : str
        What is going on, for the display.
    rows, columns : str
        Settings that are the rows and the columns of the display.
    console : rich.console.Console or None
        Where the display is drawn; by default on standard error.

    Returns
    -------
    int
        How many were measured by this call.

    Raises
    ------
    FailedTasksError
        When all is done, if a task raised.
    RuntimeError
        If a process that measures was killed.

    Examples
    --------
    What is in the store is not measured again:

    >>> from tempfile import TemporaryDirectory
    >>> from rich.console import Console
    >>> from mrforest.experiments import consistency
    >>> from mrforest.experiments.runner import Task, run
    >>> from mrforest.experiments.store import Store
    >>> wanted = [
    ...     Task("consistency", settings, consistency.measure)
    ...     for settings in consistency.tasks(quick=True)[:2]
    ... ]
    >>> quiet = {"title": "Consistency", "rows": "distribution", "n_jobs": 1,
    ...          "console": Console(quiet=True)}
    >>> with TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     run(wanted, store, **quiet), run(wanted, store, **quiet)
    (2, 0)
    """
    wanted = {(task.experiment, identity(task.settings)): task for task in tasks}
    for task in wanted.values():
        _check(task)
    console = console or Console(stderr=True)
    seconds = {
        (experiment, key): value
        for experiment in {experiment for experiment, _ in wanted}
        for key, value in store.seconds(experiment).items()
    }
    display = Display(
        title, list(wanted.values()), rows=rows, columns=columns, n_jobs=_count(n_jobs)
    )
    done = _done(store, wanted)
    for key in done:
        display.finish(wanted[key], seconds.get(key))
    todo = [task for key, task in wanted.items() if key not in done]
    todo.sort(key=display.expected, reverse=True)
    try:
        with display.shown(console):
            return _measure_all(todo, store, _count(n_jobs), display, console)
    except KeyboardInterrupt:
        n_done = len(_done(store, wanted))
        console.print(
            f"Stopped. {n_done} of {len(wanted)} results are in {store.path}; the same "
            "command goes on from there.",
            highlight=False,
            soft_wrap=True,
        )
        raise
    finally:
        store.release_all()


def _check(task: Task) -> None:
    """Refuse a function that other processes could not find."""
    name = getattr(task.measure, "__qualname__", "")
    if not name.isidentifier():
        raise ValueError(
            f"measure={task.measure!r} of experiment {task.experiment!r} must be a "
            "function of a module, not one inside another function or a lambda"
        )


def _count(n_jobs: int) -> int:
    if n_jobs == 0:
        raise ValueError("n_jobs=0 must be a number of processes, or -1 for all cores")
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def _done(store: Store, wanted: Mapping[tuple[str, str], Task]) -> set[tuple[str, str]]:
    experiments = {experiment for experiment, _ in wanted}
    found = {(name, key) for name in experiments for key in store.done(name)}
    return found & set(wanted)


def _measure_all(
    todo: list[Task], store: Store, n_jobs: int, display: Display, console: Console
) -> int:
    """Hand tasks to processes, take what comes back, look what others have done."""
    waiting, elsewhere = deque(todo), list[Task]()
    running: dict[Future[Measured], Task] = {}
    failures: list[tuple[Task, BaseException]] = []
    n_measured, looked = 0, time.monotonic()
    with _processes(min(n_jobs, len(todo))) as pool:
        while waiting or running or elsewhere:
            # One more than there are processes, so that none of them has to wait.
            while waiting and len(running) < 2 * n_jobs:
                task = waiting.popleft()
                if store.claim(task.experiment, task.settings):
                    call = pool.submit(_measure, task.measure, dict(task.settings))
                    running[call] = task
                else:
                    elsewhere.append(task)
            for future in _finished(running):
                task = running.pop(future)
                try:
                    measures, seconds = future.result()
                    store.add(task.experiment, task.settings, measures, seconds=seconds)
                except BrokenProcessPool as error:
                    raise RuntimeError(
                        "a process that measures was killed, perhaps for want of "
                        f"memory, at work on one of {_names([task, *running.values()])}"
                    ) from error
                except Exception as error:
                    failures.append((task, error))
                    store.release(task.experiment, task.settings)
                    display.fail(task)
                    _report(task, error, console)
                else:
                    n_measured += 1
                    display.finish(task, seconds)
            if time.monotonic() - looked > LOOK_SECONDS:
                looked = time.monotonic()
                store.keep_claims()
                # Whatever others had claimed is done, or may be free now.
                done = {name: store.done(name) for name in {t[0] for t in elsewhere}}
                for task in elsewhere:
                    if identity(task.settings) in done[task.experiment]:
                        display.finish(task, None)
                    else:
                        waiting.append(task)
                elsewhere.clear()
    if failures:
        raise FailedTasksError(failures)
    return n_measured


def _finished(running: Mapping[Future[Measured], Task]) -> set[Future[Measured]]:
    """Wait for a result, but not for long: there is more to look after."""
    if not running:
        time.sleep(LOOK_SECONDS / 10)
        return set()
    return wait(running, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED).done


def _names(tasks: Iterable[Task]) -> str:
    return ", ".join(identity(task.settings) for task in tasks)


def _report(task: Task, error: BaseException, console: Console) -> None:
    console.print(
        f"{task.experiment} failed for {identity(task.settings)}:\n"
        + "".join(traceback.format_exception(error)),
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


# ---- the processes -------------------------------------------------------------------


@contextmanager
def _processes(n_jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Start processes that end with the block, and also if this process is killed."""
    # A forked process would have the threads' locks of this one, and its line.
    context = get_context("spawn")
    # They listen to a line on which nothing is ever said; it breaks when we are gone.
    listening, line = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        max(1, n_jobs), context, initializer=_prepare, initargs=(listening,)
    )
    try:
        yield pool
    finally:
        line.close()
        pool.shutdown(cancel_futures=True)
        listening.close()


def _prepare(line: Connection) -> None:
    """Set up a process that measures."""
    # Ctrl-C reaches all processes of a terminal; the first one sees to it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()


def _end_with(line: Connection) -> None:
    """End this process, whatever it does, when the other end of the line is gone."""
    line.poll(None)
    os._exit(1)


def _measure(
    measure: Callable[[Settings], Mapping[str, Any]], settings: Settings
) -> Measured:
    start = time.perf_counter()
    measures = dict(measure(settings))
    return measures, time.perf_counter() - start
