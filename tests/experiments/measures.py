# SPDX-License-Identifier: BSD-3-Clause
"""What tests of the runner let it measure; other processes import it from here."""

import os
import signal
import time
from pathlib import Path


def square(settings):
    """Leave a line for each call."""
    with Path(settings["log"]).open("a") as log:
        log.write(f"{settings['x']}\n")
    time.sleep(settings.get("sleep", 0))
    return {"square": settings["x"] ** 2, "process": os.getpid()}


def threads(settings):
    """Count the threads that libraries would use."""
    import threadpoolctl

    return {
        "threads": max(lib["num_threads"] for lib in threadpoolctl.threadpool_info())
    }


def odd_ones_fail(settings):
    if settings["x"] % 2:
        raise ValueError(f"{settings['x']} is odd")
    return {"half": settings["x"] // 2}


def kill_oneself(settings):
    os.kill(os.getpid(), signal.SIGKILL)


def made_up_fold(settings):
    """Return measures like those of a fold, in no time."""
    share = (len(settings["forest"]) + settings["fold"]) / 30
    others = ("log_loss", "brier", "fit_seconds", "predict_seconds", "leaves", "depth")
    return {"accuracy": share, **dict.fromkeys(others, 1.0)}
