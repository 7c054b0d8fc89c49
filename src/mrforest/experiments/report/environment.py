# SPDX-License-Identifier: BSD-3-Clause
"""Versions and the machine; where results come from."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version

import pandas as pd

__all__ = ["environment", "provenance"]

PACKAGES = ("mrforest", "numpy", "scipy", "scikit-learn", "joblib", "pandas", "plotly")


def environment() -> dict[str, str]:
    """Tell the versions of what runs now, and what it runs on.

    Returns
    -------
    dict of str to str
        Without names of the machine or of its user.
    """
    return {
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        **{package: version(package) for package in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.split(":", 1)[1] for line in lines if "model name" in line]
    except FileNotFoundError:
        names = []
    return names[0].strip() if names else platform.processor() or "not known"


def provenance(name: str, frames: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Tell which versions computed the results, and when.

    Parameters
    ----------
    name : str
        Of the file of results.
    frames : mapping of str to DataFrame
        All results, with columns `version` and `added`.

    Returns
    -------
    dict of str to str
    """
    found = [frame[["version", "added"]] for frame in frames.values() if len(frame)]
    told = {"file": name, "results": f"{sum(map(len, found)):,}"}
    if found:
        everything = pd.concat(found)
        first, last = everything["added"].min(), everything["added"].max()
        told |= {
            "computed by": "mrforest "
            + ", ".join(sorted(everything["version"].unique())),
            "first result": f"{first:%d %B %Y, %H:%M} UTC",
            "last result": f"{last:%d %B %Y, %H:%M} UTC",
        }
    return told
