# SPDX-License-Identifier: BSD-3-Clause
"""Many small pieces of work in a few batches, on several processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from mrforest._progress import progress_bar

Piece = TypeVar("Piece")
Result = TypeVar("Result")

BATCHES_PER_JOB = 16  # so that processes end at about the same time, and a bar moves


def in_batches(
    work: Callable[..., Result],
    pieces: Sequence[Piece],
    shared: tuple[object, ...],
    *,
    n_jobs: int | None,
    description: str,
    verbose: int,
) -> list[Result]:
    """Return ``work(batch, *shared)`` of successive batches of the pieces.

    How many there are depends on `n_jobs`; `joblib.parallel_config` chooses threads or
    processes.
    """
    n_batches = BATCHES_PER_JOB * effective_n_jobs(n_jobs)
    size = max(1, -(-len(pieces) // n_batches))
    batches = [pieces[i : i + size] for i in range(0, len(pieces), size)]
    found = []
    with progress_bar(description, len(pieces), visible=verbose > 0) as step:
        results = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(work)(batch, *shared) for batch in batches
        )
        for batch, result in zip(batches, results, strict=True):
            found.append(result)
            for _ in batch:
                step()
    return found
