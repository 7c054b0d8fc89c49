# SPDX-License-Identifier: BSD-3-Clause
"""What is done and how long the rest will take, drawn while it is measured."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from mrforest.experiments.store import identity

if TYPE_CHECKING:
    from mrforest.experiments.runner import Task

__all__ = ["Display"]

# Tasks that differ in nothing else take about the same time.
REPEATED = {"repetition", "fold", "seed"}


class Display:
    """Count what is done, and draw it.

    Parameters
    ----------
    title : str
        What is going on.
    tasks : sequence of Task
        All that is wanted.
    rows, columns : str
        Settings that are the rows and columns of the table; there is none if a task
        lacks one of them.
    n_jobs : int
        How many tasks are measured at once.
    """

    def __init__(
        self, title: str, tasks: Sequence[Task], *, rows: str, columns: str, n_jobs: int
    ) -> None:
        self._title, self._axes, self._n_jobs = title, (rows, columns), n_jobs
        self._cells: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0])
        # Of tasks that are alike: how many are left, the guessed cost of one, and the
        # number and the seconds of those that were measured.
        self._left: dict[str, int] = defaultdict(int)
        self._guess: dict[str, float] = {}
        self._taken: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
        self._n_done = self._n_failed = 0
        self._n_tasks, self._start = len(tasks), time.monotonic()
        for task in tasks:
            self._cells[self._cell(task)][1] += 1
            self._left[_kind(task)] += 1
            self._guess[_kind(task)] = task.cost
        self._has_table = all(None not in cell for cell in self._cells)

    def _cell(self, task: Task) -> tuple[Any, ...]:
        return tuple(task.settings.get(axis) for axis in self._axes)

    def finish(self, task: Task, seconds: float | None) -> None:
        """Count a task as done; None: somebody else did it, nobody knows how fast."""
        self._n_done += 1
        self._cells[self._cell(task)][0] += 1
        self._left[_kind(task)] -= 1
        if seconds is not None:
            taken = self._taken[_kind(task)]
            taken[0] += 1
            taken[1] += seconds

    def fail(self, task: Task) -> None:
        """Count a task that will not be done."""
        self._n_failed += 1
        self._left[_kind(task)] -= 1

    def expected(self, task: Task) -> float:
        """Return the seconds that a task will take, as far as one can tell."""
        return self._expected(_kind(task), self._seconds_of_cost())

    def _seconds_of_cost(self) -> float:
        """Seconds of one unit of guessed cost, from what was measured."""
        cost = sum(n * self._guess[kind] for kind, (n, _) in self._taken.items())
        seconds = sum(taken for _, taken in self._taken.values())
        return seconds / cost if cost and seconds else 1.0

    def _expected(self, kind: str, seconds_of_cost: float) -> float:
        n, seconds = self._taken.get(kind, (0, 0.0))
        return seconds / n if n else self._guess[kind] * seconds_of_cost

    def seconds_left(self) -> float | None:
        """Return the seconds until all is done, or None if nothing was measured yet."""
        if not any(n for n, _ in self._taken.values()):
            return None
        unit = self._seconds_of_cost()
        work = sum(n * self._expected(kind, unit) for kind, n in self._left.items())
        return work / self._n_jobs

    # ---- drawing ---------------------------------------------------------------------

    @contextmanager
    def shown(self, console: Console) -> Iterator[None]:
        """Draw while the block runs."""
        live = Live(
            console=console, get_renderable=self.draw, refresh_per_second=2,
            transient=True,
        )  # fmt: skip
        with live:
            yield

    def draw(self) -> Group:
        """Draw the bar, and the table below it."""
        parts: list[Table] = [self._bar()]
        if self._has_table:
            parts.append(self._table())
        return Group(*parts)

    def _bar(self) -> Table:
        unit = self._seconds_of_cost()
        left = sum(n * self._expected(kind, unit) for kind, n in self._left.items())
        done = sum(
            (n or 0) * self._expected(kind, unit) for kind, n in self._counts().items()
        )
        line = Table.grid(padding=(0, 2))
        seconds = self.seconds_left()
        line.add_row(
            self._title,
            ProgressBar(total=max(left + done, 1e-9), completed=done, width=40),
            f"{self._n_done}/{self._n_tasks}",
            f"{_clock(time.monotonic() - self._start)} gone",
            "" if seconds is None else f"{_clock(seconds)} to go",
            f"[red]{self._n_failed} failed" if self._n_failed else "",
        )
        return line

    def _counts(self) -> dict[str, int]:
        """How many of each kind were measured."""
        return {kind: int(n) for kind, (n, _) in self._taken.items()}

    def _table(self) -> Table:
        rows = list(dict.fromkeys(row for row, _ in self._cells))
        columns = list(dict.fromkeys(column for _, column in self._cells))
        table = Table(box=None, padding=(0, 1))
        table.add_column(self._axes[0], no_wrap=True)
        for column in columns:
            table.add_column(str(column), justify="right")
        for row in rows:
            cells = (self._cells.get((row, column)) for column in columns)
            table.add_row(str(row), *map(_cell_text, cells))
        return table


def _kind(task: Task) -> str:
    settings = {
        name: value for name, value in task.settings.items() if name not in REPEATED
    }
    return f"{task.experiment} {identity(settings)}"


def _cell_text(cell: list[int] | None) -> str:
    if cell is None:
        return ""
    done, total = cell
    if done == total:
        return "[green]✓"
    return f"{done}/{total}" if done else f"[dim]0/{total}"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
