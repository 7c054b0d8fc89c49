# SPDX-License-Identifier: BSD-3-Clause
"""The command line: reads options, shows results; the work is done elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mrforest import __version__
from mrforest._progress import progress_bar
from mrforest.experiments import whole_file

try:
    import typer
    from matplotlib.backend_bases import FigureCanvasBase
    from rich.console import Console
    from rich.table import Table

    from mrforest.experiments import audit as audits
    from mrforest.experiments import audit_figure
    from mrforest.experiments import demo as demos
except ModuleNotFoundError as error:
    raise SystemExit(
        f"the command line needs the package {error.name}: pip install {error.name}"
    ) from error

app = typer.Typer(
    name="mrforest",
    help="Random forests that one can prove things about.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"mrforest {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    pass


def _n_jobs(number: int) -> int:
    if number == 0:
        raise typer.BadParameter("0: give a number of threads, or -1 for all cores")
    return number


def _figure_path(path: Path) -> Path:
    """Refuse what no figure can be written to, before anything is computed."""
    kinds = FigureCanvasBase.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise typer.BadParameter(
            f"{path}: the name must end in one of .{', .'.join(sorted(kinds))}"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise typer.BadParameter(f"cannot make the folder {path.parent}") from error
    return path


@app.command()
def demo(
    output: Annotated[
        Path,
        typer.Option(
            help="Where the figure goes.", dir_okay=False, callback=_figure_path
        ),
    ] = Path("demo/wdbc.png"),
    n_estimators: Annotated[
        int, typer.Option(min=1, help="Number of trees of each forest.")
    ] = 100,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of folds and forests.")
    ] = 0,
    n_jobs: Annotated[
        int, typer.Option(callback=_n_jobs, help="Threads; -1: one for each core.")
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


@app.command()
def audit(
    output: Annotated[
        Path,
        typer.Option(
            help="Where the figure goes.", dir_okay=False, callback=_figure_path
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
        int, typer.Option(callback=_n_jobs, help="Processes; -1: one for each core.")
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


if __name__ == "__main__":
    app()
