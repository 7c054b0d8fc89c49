# SPDX-License-Identifier: BSD-3-Clause
"""What a fit on a cluster shows while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mrforest._progress import Step, progress_bar
from mrforest.dask._trees import Level


def described(level: Level) -> str:
    """Return a level in words.

    Examples
    --------
    >>> described(
    ...     Level(depth=3, n_nodes=412, n_counted=206, n_points=2_500_000, seconds=0.5)
    ... )
    'level 3, 412 nodes, 5,000,000 rows/s'
    """
    rate = level.n_points / max(level.seconds, 1e-9)
    return f"level {level.depth}, {level.n_nodes:,} nodes, {rate:,.0f} rows/s"


@contextmanager
def watching(
    n_trees: int,
    *,
    visible: bool,
    words: Callable[[Level], str] = described,
    label: str = "growing trees",
) -> Iterator[tuple[Step, Callable[[Level], None]]]:
    """Show a bar of trees, and how far those are that grow level by level."""
    with progress_bar(label, n_trees, visible=visible) as step:

        def watch(level: Level) -> None:
            step(0, note=words(level))

        yield step, watch
