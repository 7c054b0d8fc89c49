# SPDX-License-Identifier: BSD-3-Clause
"""Sections as one HTML page, which needs nothing but itself."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from mrforest import __version__
from mrforest.experiments.report.contents import Cell, Section

__all__ = ["render"]

FOLDER = Path(__file__).parent
# More digits of a coordinate than a screen has pixels.
SIGNIFICANT = 6


def render(
    sections: Mapping[str, Section],
    *,
    title: str,
    lead: Sequence[str] = (),
    provenance: Mapping[str, str],
    environment: Mapping[str, str],
) -> str:
    """Write the page.

    Parameters
    ----------
    sections : mapping of str to Section
        By the names that addresses of the page have, in order.
    title : str
        Of the page.
    lead : sequence of str
        Paragraphs above the contents.
    provenance, environment : mapping of str to str
        Where results come from, and what the page is written with.

    Returns
    -------
    str
        HTML. All that is given is escaped.
    """
    templates = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["cell"] = _cell
    templates.filters["script"] = as_script
    return templates.get_template("page.html").render(
        title=title,
        lead=lead,
        version=__version__,
        sections=sections,
        provenance=provenance,
        environment=environment,
        style=Markup(_read("page.css")),
        theme_script=Markup(_read("theme.js")),
        script=Markup(_read("page.js")),
        plotly=Markup(get_plotlyjs()),
    )


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _cell(cell: Cell | str) -> Cell:
    return Cell(cell) if isinstance(cell, str) else cell


def as_script(value: Any) -> Markup:
    r"""Write a value as JSON that can stand in a script element, whatever it holds.

    Parameters
    ----------
    value : mapping, sequence, str, number, truth value, array or None
        Numbers are rounded to six digits; those that are not finite become null.

    Returns
    -------
    Markup

    Examples
    --------
    >>> print(as_script({"x": [1 / 3, float("nan")], "name": "</script>"}))
    {"x":[0.333333,null],"name":"\u003c/script\u003e"}
    """
    text = json.dumps(_plain(value), separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic | pd.Series | pd.Index):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT}g}") if math.isfinite(value) else None
    return value
