# SPDX-License-Identifier: BSD-3-Clause
"""Progress bars, drawn by rich if somebody asked for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Step(Protocol):
    """Moves a bar on."""

    def __call__(self, n_steps: int = 1, *, note: str | None = None) -> None:
        """Move so many steps; show a note behind the bar from now on."""


def no_step(n_steps: int = 1, *, note: str | None = None) -> None:
    """Move nothing: nobody watches."""


@contextmanager
def progress_bar(description: str, total: int, *, visible: bool) -> Iterator[Step]:
    """Show a bar on standard error; call what it yields once for each step done.

    Parameters
    ----------
    description : str
        What is going on.
    total : int
        Number of steps.
    visible : bool
        False: nothing is drawn and rich is not needed.

    Yields
    ------
    Step
        Moves the bar on, by one step if it is called without an argument.
    """
    if not visible:
        yield no_step
        return
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
    except ImportError as error:
        raise ImportError(
            "a progress bar needs the package rich: pip install rich, or set verbose=0"
        ) from error
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("eta"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=total, note="")

        def step(n_steps: int = 1, *, note: str | None = None) -> None:
            bar.advance(task, n_steps)
            if note is not None:
                bar.update(task, note=note)

        yield step
