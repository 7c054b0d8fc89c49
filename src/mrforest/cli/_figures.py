# SPDX-License-Identifier: BSD-3-Clause
"""The paper's other experiments on the command line, beside its Table 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from matplotlib.figure import Figure
from rich.console import Console

from mrforest.cli._reproduce import (
    OUTPUT,
    RESULTS,
    Data,
    Jobs,
    Output,
    Quick,
    Results,
    measured,
    reproduce,
    save,
    write,
)
from mrforest.experiments import (
    consistency,
    consistency_figure,
    hyperparameters,
    privacy_figure,
    privacy_table,
    single_trees,
    split_probabilities,
)
from mrforest.experiments.runner import Task
from mrforest.experiments.tables import Cell, Grid

Settings = Mapping[str, Any]


def _reproduce(
    experiment: Any,
    settings: list[dict[str, Any]],
    cost: Callable[[Settings], float],
    draw: Callable[[pd.DataFrame], Figure],
    *,
    results: Path,
    output: Path,
    n_jobs: int,
    title: str,
    caption: str,
) -> None:
    """Measure what is missing, show the table, write it and the figure."""
    name = experiment.EXPERIMENT
    wanted = [Task(name, some, experiment.measure, cost(some)) for some in settings]
    frame = measured(wanted, results, n_jobs, title=title)[name]
    table = experiment.summary(frame)
    grid = grid_of(table, title, caption)
    path = output / name.replace("_", "-")
    write(table.to_csv(index=False, float_format="%.6g"), path.with_suffix(".csv"))
    write(grid.to_markdown(), path.with_suffix(".md"))
    write(grid.to_latex(), path.with_suffix(".tex"))
    save(draw(frame), path.with_suffix(".png"))
    console = Console()
    grid.print(console)
    console.print(
        f"The table (.md, .tex, .csv) and the figure are in {path}.*",
        highlight=False,
        soft_wrap=True,
    )


def grid_of(table: pd.DataFrame, title: str, caption: str) -> Grid:
    """Lay out a table; underscores of a column's name become spaces."""
    columns = [_texts(table[name]) for name in table]
    return Grid(
        title,
        [str(name).replace("_", " ") for name in table],
        [[Cell(text) for text in row] for row in zip(*columns, strict=True)],
        caption=caption,
    )


def _texts(column: pd.Series) -> list[str]:
    """Write the values of a column, numbers with as many decimals as they need."""
    if not pd.api.types.is_numeric_dtype(column):
        return [str(value) for value in column]
    present = column.dropna()
    n_decimals = 4 if present.abs().max() < 1 else 2
    if (present % 1 == 0).all():
        n_decimals = 0
    return [
        "\N{EN DASH}" if pd.isna(value) else f"{value:.{n_decimals}f}"
        for value in column
    ]


# ---- the commands --------------------------------------------------------------------

# Guesses of what a fit takes, in seconds for 100 trees; only their ratios matter.
FIT_SECONDS = {
    "echocardiogram": 0.05,
    "cmc": 0.15,
    "wdbc": 0.2,
    "car": 0.1,
    "ads": 1.5,
    "connect-4": 4.0,
}


def _fit_seconds(settings: Settings) -> float:
    return FIT_SECONDS.get(settings["dataset"], 1.0) * int(settings.get("n_folds", 1))


@reproduce.command("hyperparameters")
def reproduce_hyperparameters(
    quick: Quick = False,
    step: Annotated[
        float | None,
        typer.Option(help="From one budget to the next: 10 / a whole number."),
    ] = None,
    data: Data = None,
    results: Results = RESULTS,
    output: Output = OUTPUT,
    n_jobs: Jobs = -1,
) -> None:
    """Accuracy over the budgets B1 and B2, on six datasets."""
    try:
        settings = hyperparameters.tasks(quick=quick, step=step)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--step") from error
    _reproduce(
        hyperparameters,
        settings,
        _fit_seconds,
        hyperparameters.draw,
        results=results,
        output=output,
        n_jobs=n_jobs,
        title="Accuracy (%) over the budgets B1 (feature) and B2 (split)",
        caption="Gains: of a budget of 10 over 0, where the other is 10. Plateau: both "
        "are 10 or more. Gap error: standard error of the difference of two cells.",
    )


@reproduce.command("trees")
def reproduce_trees(
    quick: Quick = False,
    data: Data = None,
    results: Results = RESULTS,
    output: Output = OUTPUT,
    n_jobs: Jobs = -1,
) -> None:
    """Accuracy of single trees, multinomial and Breiman's, on six datasets."""
    _reproduce(
        single_trees,
        single_trees.tasks(quick=quick),
        _fit_seconds,
        single_trees.draw,
        results=results,
        output=output,
        n_jobs=n_jobs,
        title="Accuracy (%) of single trees",
        caption="Forest mean: of the forests that the trees made up.",
    )


@reproduce.command("privacy")
def reproduce_privacy(
    quick: Quick = False,
    data: Data = None,
    results: Results = RESULTS,
    output: Output = OUTPUT,
    n_jobs: Jobs = -1,
) -> None:
    """Fill in the paper's privacy table, beside a forest that is private."""
    _reproduce(
        privacy_table,
        privacy_table.tasks(quick=quick),
        _fit_seconds,
        privacy_figure.draw,
        results=results,
        output=output,
        n_jobs=n_jobs,
        title="Accuracy (%) by the label budget B3, and what Theorem 2 claims",
        caption="The printed mechanism is NOT differentially private, whatever Theorem "
        "2 claims: its cuts come from the rows, and trees end by exact counts. The "
        "epsilon of the private forest holds: it was B3, the claimed total, and 0.5 to "
        "4. Claimed seen: with the depth that trees had, instead of 10. Majorities: B3 "
        "is infinite.",
    )


@reproduce.command("split-probabilities")
def reproduce_split_probabilities(
    quick: Quick = False,
    data: Data = None,
    results: Results = RESULTS,
    output: Output = OUTPUT,
    n_jobs: Jobs = -1,
) -> None:
    """How each forest splits the root of the breast-cancer data: Figure 1."""
    _reproduce(
        split_probabilities,
        split_probabilities.tasks(quick=quick),
        lambda settings: 1.0,
        split_probabilities.draw,
        results=results,
        output=output,
        n_jobs=n_jobs,
        title="How forests split the root of the breast-cancer data",
        caption="Probabilities of the best cut of all and of the best feature; "
        "expected impurity decrease, the largest is 1; cuts of a uniform draw of that "
        "entropy.",
    )


@reproduce.command("consistency")
def reproduce_consistency(
    quick: Quick = False,
    results: Results = RESULTS,
    output: Output = OUTPUT,
    n_jobs: Jobs = -1,
) -> None:
    """Error against the number of rows, where the smallest error is known."""
    _reproduce(
        consistency,
        consistency.tasks(quick=quick),
        lambda settings: float(settings["n"] + 5_000),
        consistency_figure.draw,
        results=results,
        output=output,
        n_jobs=n_jobs,
        title="Error above the Bayes risk as the table grows",
        caption="Leaves of k = sqrt(n) / 2 points, or of 5; ForestClassifier chooses "
        "their size. Slope: of log excess over "
        f"log n, from {consistency.SLOPE_FROM:,} rows on; last slope: of the two "
        "largest sizes. Errors are standard errors over repetitions.",
    )
