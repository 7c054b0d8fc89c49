# SPDX-License-Identifier: BSD-3-Clause
"""Table 1 of the paper on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console

from mrforest.cli._reproduce import (
    OUTPUT,
    RESULTS,
    Data,
    Jobs,
    Output,
    Quick,
    Results,
    chosen,
    measured,
    reproduce,
    require,
    save,
    write,
)
from mrforest.experiments import protocol, table1, table1_figures, table1_grids


@reproduce.command("table1")
def reproduce_table1(
    quick: Quick = False,
    datasets: Annotated[
        str | None, typer.Option(help="Names with commas between them; else all.")
    ] = None,
    forests: Annotated[
        str | None, typer.Option(help="Names with commas between them; else all.")
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(min=1, help="Times ten folds; else 10, or 1 if quick."),
    ] = None,
    stratified: Annotated[
        bool,
        typer.Option("--stratified", help="Folds keep the shares of the classes."),
    ] = False,
    data: Data = None,
    results: Results = RESULTS,
    output: Output = OUTPUT,
    n_jobs: Jobs = -1,
) -> None:
    """Accuracy of the paper's forests on its 22 datasets, ten times ten folds."""
    require("scikit_posthocs")
    names = chosen("--datasets", datasets, table1.DATASETS)
    if quick and datasets is None:
        names = list(table1.QUICK_DATASETS)
    wanted = table1.tasks(
        names=names,
        forests=chosen("--forests", forests, table1.FORESTS),
        repeats=repeats or (1 if quick else protocol.N_REPETITIONS),
        stratified=stratified,
    )
    found = measured(wanted, results, n_jobs, title="Table 1", needed=names)
    _show(found[table1.EXPERIMENT], output)


def _show(frame: pd.DataFrame, output: Path) -> None:
    """Print the tables, and write them and the figures."""
    grids = [table1_grids.grid(frame, rule) for rule in protocol.LEAF_RULES]
    written = [*grids, table1_grids.printed_grid()]
    write("\n".join(grid.to_markdown() for grid in written), output / "table1.md")
    write("\n".join(grid.to_latex() for grid in written), output / "table1.tex")
    write(
        table1.long_table(frame).to_csv(index=False, float_format="%.6g"),
        output / "table1.csv",
    )
    save(table1_figures.draw_accuracies(frame), output / "table1-accuracies.png")
    if (ranks := table1_figures.draw_ranks(frame)) is not None:
        save(ranks, output / "table1-ranks.png")
    console = Console()
    for grid in grids:
        grid.print(console)
    console.print(
        f"Tables (.md, .tex, .csv) and figures are in {output}",
        highlight=False,
        soft_wrap=True,
    )
