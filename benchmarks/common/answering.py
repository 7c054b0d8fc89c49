# SPDX-License-Identifier: BSD-3-Clause
"""What all workers of the benchmarks do: take tasks, answer them, say who they are.

Workers run in environments that differ, so nothing but the standard library is imported
here. This folder alone is on their path: a script beside them has the name of a package
(dask.py).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import version
from typing import Any


def answer_tasks(work: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer until there are no more tasks.

    A task is a line of JSON on standard input, and so is its answer on standard output.

    Parameters
    ----------
    work : callable
        Takes a task, returns the answer. If it raises, the answer is the traceback.
    """
    # Ctrl-C is for the program that started this, which ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a forest prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer = work(json.loads(line))
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), file=answers, flush=True)


def version_of(package: str) -> str:
    """Say which version it is; ours may be here without being installed."""
    if package == "mrforest":
        import mrforest

        return f"mrforest {mrforest.__version__}"
    return f"{package} {version(package)}"
