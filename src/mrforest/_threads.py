# SPDX-License-Identifier: BSD-3-Clause
"""Threads for work that does not hold the GIL.

joblib asks its threads every hundredth of a second whether they are done, which is long
for a forest on a small table. So its other backends are used where somebody chose one,
and threads of our own where nobody did.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend
from sklearn.utils.parallel import Parallel, delayed

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_threads(
    function: Callable[[Task], Result], tasks: Sequence[Task], n_threads: int
) -> Iterator[Result]:
    """Yield function(task) of all tasks, in their order.

    After an exception, Ctrl-C among them, tasks that have not begun are dropped; those
    that have are not waited for.

    Examples
    --------
    >>> list(in_threads(abs, [-1, 2, -3], n_threads=2))
    [1, 2, 3]
    """
    if n_threads == 1:
        yield from map(function, tasks)
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        futures = deque(pool.submit(function, task) for task in tasks)
        while futures:  # a result that was given away is not kept here
            yield futures.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def in_parts(
    function: Callable[[slice], Result], n: int, n_threads: int, unit: int = 1
) -> list[Result]:
    """Call a function with a part of range(n) for each thread; return the results.

    Parts begin at multiples of `unit`.

    Examples
    --------
    >>> in_parts(lambda part: (part.start, part.stop), 100, n_threads=2, unit=8)
    [(0, 56), (56, 100)]
    """
    length = max(-(-n // (n_threads * unit)), 1) * unit
    parts = [slice(i, min(i + length, n)) for i in range(0, n, length)]
    return list(in_threads(function, parts, n_threads))


def in_parallel(
    function: Callable[[Task], Result], tasks: Sequence[Task], n_jobs: int | None
) -> Iterator[Result]:
    """Yield the same by the joblib backend that was chosen, or by threads."""
    backend, _ = get_active_backend(prefer="threads")
    n_threads = effective_n_jobs(n_jobs)
    if n_threads == 1 or isinstance(backend, ThreadingBackend):
        return in_threads(function, tasks, n_threads)
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    results: Iterator[Result] = parallel(delayed(function)(task) for task in tasks)
    return results
