# SPDX-License-Identifier: BSD-3-Clause
"""The paper's experiments on the command line.

A command for each, all with the same options: where data comes from, where results and
what is drawn of them go. What is in the file of results is not measured again.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NoReturn

import pandas as pd
import typer
from matplotlib.figure import Figure
from rich.console import Console

from mrforest.cli._options import read_n_jobs
from mrforest.experiments import datasets, whole_file
from mrforest.experiments.runner import FailedTasksError, Task, run
from mrforest.experiments.store import Store, identity

__all__ = [
    "OUTPUT",
    "RESULTS",
    "Data",
    "Jobs",
    "Output",
    "Quick",
    "Results",
    "chosen",
    "end",
    "measured",
    "reproduce",
    "require",
    "save",
    "write",
]

reproduce = typer.Typer(
    name="reproduce",
    help="Run the paper's experiments. What is done is kept, and not done twice.",
    no_args_is_help=True,
)

# ---- options that all commands have --------------------------------------------------


def _use_data(folder: Path | None) -> Path | None:
    """Let processes that measure know the folder, too: they inherit the environment."""
    if folder is not None:
        os.environ["MRFOREST_DATA"] = str(folder.resolve())
    return folder


Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder of datasets, NAME.csv.gz each; else MRFOREST_DATA, the cache, "
        "or a download.",
        exists=True,
        file_okay=False,
        callback=_use_data,
    ),
]
Results = Annotated[
    Path, typer.Option(help="File of all results, which is made or added to.")
]
Output = Annotated[
    Path, typer.Option(help="Folder for tables and figures.", file_okay=False)
]
Jobs = Annotated[
    int, typer.Option(callback=read_n_jobs, help="Processes; -1: one for each core.")
]
Quick = Annotated[
    bool, typer.Option("--quick", help="A small form that takes a few minutes.")
]
RESULTS, OUTPUT = Path("reproduce/results.sqlite"), Path("reproduce")


def require(package: str) -> None:
    """End the program, before anything is measured, if a package is missing.

    Parameters
    ----------
    package : str
        Its name in an import.
    """
    if find_spec(package) is None:
        name = package.replace("_", "-")
        end(f"this command needs the package {name}: pip install {name}")


def end(message: str) -> NoReturn:
    """End the program with an error."""
    console = Console(stderr=True)
    console.print(message, style="red", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(1)


def _load(names: Iterable[str]) -> None:
    """Load datasets, only to see whether that works."""
    for name in names:
        try:
            datasets.load(name)
        except (OSError, ValueError, LookupError) as error:
            end(f"cannot load the dataset {name}: {error}")


def chosen(option: str, names: str | None, allowed: Sequence[str]) -> list[str]:
    """Read a list of names.

    Parameters
    ----------
    option : str
        Name of the option, for an error.
    names : str or None
        Names with commas between them; None is all.
    allowed : sequence of str
        All names.

    Returns
    -------
    list of str
        In the order of `allowed`.
    """
    asked = {name.strip() for name in names.split(",")} if names else set(allowed)
    if unknown := asked - set(allowed):
        raise typer.BadParameter(
            f"{', '.join(sorted(unknown))}: must be of {', '.join(allowed)}",
            param_hint=option,
        )
    return [name for name in allowed if name in asked]


def save(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all."""
    with whole_file(path) as unfinished:
        figure.savefig(unfinished)


def write(text: str, path: Path) -> None:
    """Write a text, whole or not at all."""
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def measured(
    tasks: Iterable[Task],
    results: Path,
    n_jobs: int,
    *,
    title: str,
    needed: Iterable[str] = (),
) -> dict[str, pd.DataFrame]:
    """Measure what is missing, and return all results of these experiments.

    Parameters
    ----------
    tasks : iterable of Task
        What is wanted.
    results : Path
        File of results.
    n_jobs : int
        Processes.
    title : str
        What is going on.
    needed : iterable of str
        Datasets. Each is loaded once before anything is measured, so that what cannot
        be had is known at once, and is not downloaded by several processes.

    Returns
    -------
    dict of DataFrame
        What was asked for, by experiment. The program ends with 1 if a task failed.
    """
    tasks = list(tasks)
    wanted: dict[str, set[str]] = defaultdict(set)
    for task in tasks:
        wanted[task.experiment].add(identity(task.settings))
    try:
        store = Store(results)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--results") from error
    with store:
        if any(only - store.done(name) for name, only in wanted.items()):
            _load(needed)
        try:
            run(tasks, store, n_jobs=n_jobs, title=title)
        except (FailedTasksError, RuntimeError) as error:
            end(str(error))
        return {name: store.frame(name, only) for name, only in wanted.items()}


@reproduce.callback()
def _reproduce() -> None:
    """Run the paper's experiments. What is done is kept, and not done twice."""
