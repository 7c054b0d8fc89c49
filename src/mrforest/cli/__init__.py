# SPDX-License-Identifier: BSD-3-Clause
"""The command line: reads options, shows results; the work is done elsewhere."""

from __future__ import annotations

from typing import Annotated

from mrforest import __version__

try:
    import typer

    from mrforest.cli import _all, _data, _figures, _report, _table1  # noqa: F401
    from mrforest.cli._audit import audit
    from mrforest.cli._demo import demo
    from mrforest.cli._reproduce import reproduce
except ModuleNotFoundError as error:
    raise SystemExit(
        f"the command line needs the package {error.name}: pip install {error.name}"
    ) from error

__all__ = ["app"]

app = typer.Typer(
    name="mrforest",
    help="Random forests that one can prove things about.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
app.command()(demo)
app.command()(audit)
app.add_typer(_data.app, name="data")
app.add_typer(reproduce)


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
