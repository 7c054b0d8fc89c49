# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from mrforest._progress import progress_bar
from mrforest.cli._options import figure_path, read_n_jobs
from mrforest.experiments import demo as demos
from mrforest.experiments import whole_file

app = typer.Typer()


@app.command()
def demo(
    output: Annotated[
        Path,
        typer.Option(
            help="Where the figure goes.", dir_okay=False, callback=figure_path
        ),
    ] = Path("demo/forests.png"),
    n_estimators: Annotated[
        int, typer.Option(min=1, help="Number of trees of each forest.")
    ] = 100,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of folds and forests.")
    ] = 0,
    n_jobs: Annotated[
        int, typer.Option(callback=read_n_jobs, help="Threads; -1: one for each core.")
    ] = -1,
) -> None:
    """Cross-validate ForestClassifier on three tables, beside scikit-learn's forest."""
    with progress_bar("cross-validating", demos.N_FITS, visible=True) as step:
        result = demos.run(
            n_estimators=n_estimators, seed=seed, n_jobs=n_jobs, step=step
        )
    with whole_file(output) as unfinished:
        demos.draw(result).savefig(unfinished)
    console = Console()
    console.print(_table(result))
    console.print(f"The figure is in {output}", highlight=False, soft_wrap=True)


def _table(found: dict[str, dict[str, demos.ForestScores]]) -> Table:
    """Lay out the scores, one forest of one table a row."""
    table = Table(
        title="Three times 10-fold cross-validation, all forests with their defaults",
        caption="Calibration error: of the probability of the predicted label. "
        "Fit time: scikit-learn is 1.",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    table.add_column("table", no_wrap=True)
    table.add_column("forest", no_wrap=True)
    for heading in ("accuracy", "log loss", "calibration error", "fit time"):
        table.add_column(heading, justify="right")
    for name, forests in found.items():
        for forest, scores in forests.items():
            table.add_row(
                name if forest == demos.OURS else "",
                forest,
                f"{scores.accuracies.mean():.2f} %",
                f"{scores.log_loss:.3f}",
                f"{scores.calibration_error:.3f}",
                f"{scores.fit_seconds / forests[demos.PEER].fit_seconds:.2f}",
                end_section=forest == demos.PAPER,
            )
    return table
