# SPDX-License-Identifier: BSD-3-Clause
"""The command line: reads options, shows results; the work is done elsewhere.

A command is imported when it is called, so that each needs only its own packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, NoReturn

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
            return _missing(cmd_name, str(error.name).partition(".")[0])
        command = get_command(module.app)
        command.name = cmd_name
        return command


def _missing(command: str, package: str) -> Any:
    """Stand in for a command whose packages are not all there."""

    def end() -> NoReturn:
        raise SystemExit(
            f"mrforest {command} needs the package {package}; pip install "
            "mrforest[reproduce] has all that the commands need"
        )

    stand_in = typer.Typer()
    anything = {"allow_extra_args": True, "ignore_unknown_options": True}
    stand_in.command(
        command,
        help=f"Not to be had: the package {package} is missing.",
        context_settings=anything,
        add_help_option=False,
    )(end)
    return get_command(stand_in)


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
