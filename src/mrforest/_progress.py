# SPDX-License-Identifier: BSD-3-Clause
"""Progress bars, drawn by rich if somebody asked for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    description: str, total: int, *, visible: bool
) -> Iterator[Callable[[], None]]:
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
    callable
        Takes no argument, moves the bar one step on.
    """
    if not visible:
        yield lambda: None
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
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=total)
        yield lambda: bar.advance(task)
