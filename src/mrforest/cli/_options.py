# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have."""

from __future__ import annotations

import os
from pathlib import Path

import typer
from matplotlib.backend_bases import FigureCanvasBase


def read_n_jobs(number: int) -> int:
    """Refuse 0, of which nobody knows what it means."""
    if number == 0:
        raise typer.BadParameter("0: give a number of threads, or -1 for all cores")
    return number


def figure_path(path: Path) -> Path:
    """Refuse what no figure can be written to, before anything is computed."""
    kinds = FigureCanvasBase.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise typer.BadParameter(
            f"{path}: the name must end in one of .{', .'.join(sorted(kinds))}"
        )
    return output_path(path)


def png_path(path: Path | None) -> Path | None:
    """Refuse what is no name of a PNG file, before anything is computed."""
    if path is None:
        return None
    if path.suffix.lower() != ".png":
        raise typer.BadParameter(f"{path}: the name must end in .png")
    return output_path(path)


def output_path(path: Path) -> Path:
    """Refuse what cannot be written to, before anything is computed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise typer.BadParameter(f"cannot make the folder {path.parent}") from error
    if not os.access(path.parent, os.W_OK):
        raise typer.BadParameter(f"cannot write into the folder {path.parent}")
    return path
