# SPDX-License-Identifier: BSD-3-Clause
"""The audits on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from mrforest._progress import progress_bar
from mrforest.cli._options import figure_path, read_n_jobs
from mrforest.experiments import audit as audits
from mrforest.experiments import audit_figure, whole_file

app = typer.Typer()


@app.command()
def audit(
    output: Annotated[
        Path,
        typer.Option(
            help="Where the figure goes.", dir_okay=False, callback=figure_path
        ),
    ] = Path("audit/audit.png"),
    epsilon: Annotated[
        float,
        typer.Option(min=0.01, max=100, help="What the forests that are fitted claim."),
    ] = 1.0,
    runs: Annotated[
        int, typer.Option(min=4, help="Fits of each of two tables, for a lower bound.")
    ] = 1000,
    attacks: Annotated[
        int, typer.Option(min=4, help="Fits for each membership attack.")
    ] = 80,
    n_jobs: Annotated[
        int,
        typer.Option(callback=read_n_jobs, help="Processes; -1: one for each core."),
    ] = -1,
) -> None:
    """Audit what is claimed to be private, here and elsewhere."""
    with progress_bar("auditing", audits.N_STEPS, visible=True) as step:
        result = audits.run(
            epsilon=epsilon, runs=runs, attacks=attacks, n_jobs=n_jobs, step=step
        )
    with whole_file(output) as unfinished:
        audit_figure.draw(result).savefig(unfinished)
    console = Console()
    console.print(_audit_table(result))
    console.print(f"The figure is in {output}", highlight=False, soft_wrap=True)
    if result.n_surprises:
        console.print(f"[red]{result.n_surprises} of these are not as they should be")
        raise typer.Exit(1)


def _audit_table(result: audits.Audits) -> Table:
    """Lay out what was claimed and what was found, one audit a row."""
    table = Table(
        title="Audits of privacy",
        caption="exhaustive: largest loss on all small datasets. empirical: lower "
        "bound on epsilon, confidence 0.95. exact: largest loss of rows of the "
        "breast-cancer data. membership: an attacker's advantage, diabetes data.",
    )
    table.add_column("audit")
    table.add_column("of")
    for heading in ("epsilon", "allows", "found"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")

    def add(kind: str, what: str, *numbers: str, holds: bool, is_sound: bool) -> None:
        verdict = "[green]holds" if holds else "[red]refuted"
        if holds != is_sound:
            verdict += ", though it is false" if holds else ", though it is proved"
        table.add_row(kind, what, *numbers, verdict)

    for check in result.checks:
        claim, found = f"{check.claimed:g}", f"{check.found:.3f}"
        add(
            check.audit, check.what, claim, claim, found,
            holds=check.holds, is_sound=check.is_sound,
        )  # fmt: skip
    losses = result.losses
    claim = f"{losses.epsilon:g}"
    add(
        "exact", "private forest", claim, claim, f"{losses.largest:.3f}",
        holds=losses.holds, is_sound=True,
    )  # fmt: skip
    for attack in result.attacks:
        found = f"{attack.result.advantage:.3f}"
        if attack.epsilon is None:
            table.add_row("membership", attack.what, "\N{EN DASH}", "1", found, "")
            continue
        add(
            "membership", attack.what, f"{attack.epsilon:g}",
            f"{attack.result.bound:.3f}", found,
            holds=not attack.result.refutes, is_sound=True,
        )  # fmt: skip
    return table
