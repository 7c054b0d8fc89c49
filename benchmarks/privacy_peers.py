# SPDX-License-Identifier: BSD-3-Clause
"""The tools of privacy.py: where each is installed, and a process that fits it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from processes import Worker, python_with

WORKER = Path(__file__).with_name("privacy_worker.py")
# Of the libraries that a tool may use; the tools themselves are told.
ONE_THREAD = dict.fromkeys(
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"
)


@dataclass(frozen=True)
class Tool:
    """Something that learns to tell classes.

    Attributes
    ----------
    label : str
        Its name in tables and figures.
    requirements : tuple of str
        What is installed into an environment of its own; none: it is here already.
    is_private : bool
        Whether it takes an epsilon.
    takes_many_classes : bool
        Or two only.
    """

    label: str
    requirements: tuple[str, ...] = ()
    is_private: bool = True
    takes_many_classes: bool = True


# diffprivlib builds on parts of scikit-learn that later versions do not have.
TOOLS = {
    "mrforest": Tool("mrforest, labels"),
    "mrforest-counts": Tool("mrforest, counts, δ = 1e-6"),
    "diffprivlib": Tool(
        "diffprivlib forest", ("diffprivlib==0.6.6", "scikit-learn==1.7.2")
    ),
    "dp-ebm": Tool(
        "DP-EBM, δ = 1e-6",
        ("interpret-core==0.7.8", "scikit-learn"),
        takes_many_classes=False,
    ),
    "random-forest": Tool("random forest, not private", is_private=False),
    "majority": Tool("majority class", is_private=False),
}
OURS = ("mrforest", "mrforest-counts")
PUBLIC_TOOLS = ("diffprivlib", "dp-ebm")


def worker_of(name: str) -> Worker:
    """Start a process that fits one tool; install the tool if need be."""
    python = python_with(name, TOOLS[name].requirements)
    # -P: the scripts beside the worker are nothing to import.
    return Worker(name, [python, "-P", WORKER, name], ONE_THREAD)
