# SPDX-License-Identifier: BSD-3-Clause
"""The datasets on the command line: which there are, fetched, checked."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from mrforest.experiments import datasets

app = typer.Typer(
    help="The paper's datasets, and larger ones: list, fetch, check.",
    no_args_is_help=True,
)


def read_name(name: str) -> str:
    """Refuse a dataset that nobody knows."""
    try:
        return datasets.entry(name).name
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Names = Annotated[
    list[str] | None,
    typer.Argument(
        parser=read_name, metavar="[NAMES]...", help="Datasets; list shows them."
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        exists=True,
        file_okay=False,
        envvar=datasets.FOLDER_VARIABLE,
        help="A folder with files NAME.csv.gz, to look into first.",
    ),
]


@app.command("list")
def show(data: Folder = None) -> None:
    """Show the datasets, and where each would come from now."""
    table = Table(caption="from: a download is checked, and stays in the cache")
    table.add_column("name", no_wrap=True)
    table.add_column("in the paper")
    for heading in ("rows", "features", "classes"):
        table.add_column(heading, justify="right")
    table.add_column("from")
    for name in datasets.names():
        entry = datasets.entry(name)
        place = datasets.find(name, folder=data)
        table.add_row(
            name,
            entry.paper_name,
            f"{entry.n_rows:,}",
            f"{entry.n_features:,}",
            str(len(entry.classes)),
            "download" if place is None else place.kind,
        )
    Console().print(table)


@app.command()
def fetch(
    names: Names = None,
    every: Annotated[
        bool, typer.Option("--all", help="All datasets that no package carries.")
    ] = False,
) -> None:
    """Download datasets into the cache; those that are there and sound stay."""
    if bool(names) == every:
        raise typer.BadParameter("give names of datasets, or --all")
    console = Console(soft_wrap=True, highlight=False)
    failed = 0
    # Several datasets come from one archive, which is downloaded once.
    with TemporaryDirectory(prefix="mrforest-") as originals:
        for name in names or _to_download():
            try:
                path = datasets.fetch(name, originals=Path(originals))
            except datasets.DatasetError as error:
                failed += 1
                console.print(str(error), style="red", markup=False)
            else:
                console.print(f"{name}: {path}", markup=False)
    if failed:
        raise typer.Exit(1)


def _to_download() -> list[str]:
    return [name for name in datasets.names() if not datasets.entry(name).carried_by]


@app.command()
def check(names: Names = None, data: Folder = None) -> None:
    """Load datasets that are at hand, all or some, and check them; no downloads."""
    console = Console(soft_wrap=True, highlight=False)
    failed = 0
    for name in names or datasets.names():
        try:
            loaded = datasets.load(name, folder=data, download=False)
        except datasets.DatasetError as error:
            failed += 1
            console.print(str(error), style="red", markup=False)
        else:
            place = datasets.find(name, folder=data)
            n_rows, n_features = loaded.X.shape
            console.print(
                f"{name}: {n_rows} rows, {n_features} features, as they should be "
                f"({place.kind if place else 'download'})",
                markup=False,
            )
    if failed:
        console.print(f"{failed} failed", style="red")
        raise typer.Exit(1)
