# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
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
    ] = Path("demo/wdbc.png"),
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
    """Cross-validate the forest on the breast-cancer data, beside scikit-learn's."""
    with progress_bar("cross-validating", demos.N_FITS, visible=True) as step:
        result = demos.run(
            n_estimators=n_estimators, seed=seed, n_jobs=n_jobs, step=step
        )
    with whole_file(output) as unfinished:
        demos.draw(result).savefig(unfinished)
    console = Console()
    console.print(_table(result))
    console.print(f"The figure is in {output}", highlight=False, soft_wrap=True)


def _table(result: demos.Demo) -> Table:
    """Lay out the scores, one forest a row."""
    table = Table(
        title="Breast-cancer data (WDBC), 10-fold cross-validation",
        caption="Accuracy: mean ± standard deviation of the folds. Printed: Table 1 of "
        "the paper, its own implementation and folds. Fit time: scikit-learn is 1.",
    )
    table.add_column("forest")
    for heading in ("accuracy %", "printed", "log loss", "fit time", "pickle kB"):
        table.add_column(heading, justify="right")
    for forest in result.forests:
        table.add_row(
            forest.name,
            f"{forest.accuracies.mean():.2f} ± {forest.accuracies.std():.2f}",
            "\N{EN DASH}" if forest.printed is None else f"{forest.printed:.2f}",
            f"{forest.log_loss:.3f}",
            f"{forest.fit_seconds / result.breiman.fit_seconds:.2f}",
            f"{forest.n_bytes / 1000:.0f}",
        )
    return table
