# SPDX-License-Identifier: BSD-3-Clause
"""The command line: reads options, shows results; the work is done elsewhere.

A command is imported when it is called, so that each needs only its own packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

from mrforest import __version__

try:
    import typer
    from typer.core import TyperGroup
    from typer.main import get_command
except ModuleNotFoundError as error:
    raise SystemExit(
        f"the command line needs the package {error.name}: pip install {error.name}"
    ) from error

__all__ = ["app"]

# Commands, and the modules whose `app` they are
MODULES = {
    "demo": "_demo",
    "audit": "_audit",
    "data": "_data",
    "segment": "_segment",
    "reproduce": "_all",
}


class _Commands(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in MODULES:
            return None
        try:
            module = import_module(f"mrforest.cli.{MODULES[cmd_name]}")
        except ModuleNotFoundError as error:
            raise SystemExit(
                f"mrforest {cmd_name} needs the package {error.name}; pip install "
                "mrforest[reproduce] has all that the commands need"
            ) from error
        command = get_command(module.app)
        command.name = cmd_name
        return command


app = typer.Typer(
    name="mrforest",
    cls=_Commands,
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
