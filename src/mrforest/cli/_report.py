# SPDX-License-Identifier: BSD-3-Clause
"""The page of all results, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from mrforest.cli._reproduce import OUTPUT, RESULTS, Output, reproduce, require

PAGE = "report.html"


def require_packages() -> None:
    """End the program if one of the packages that only the page needs is missing."""
    for package in ("jinja2", "plotly"):
        require(package)


@reproduce.command("report")
def reproduce_report(
    results: Annotated[
        Path, typer.Option(help="File of all results.", exists=True, dir_okay=False)
    ] = RESULTS,
    output: Output = OUTPUT,
) -> None:
    """Write one HTML page of all results, with what is still to be run."""
    require_packages()
    # Only here, because the other commands do without these packages.
    from mrforest.experiments import report

    page = output / PAGE
    try:
        missing = report.write(results, page)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--results") from error
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"The page is in {page} ({page.stat().st_size / 1e6:.1f} MB)")
    for section in missing:
        console.print(f"No results yet of {section.title}: {section.command}")
