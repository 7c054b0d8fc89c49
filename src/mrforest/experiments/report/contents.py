# SPDX-License-Identifier: BSD-3-Clause
"""What a section of the report is made of: text, tables, plots and a command.

A section knows results and nothing of HTML; the page knows HTML and nothing of results.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "NONE",
    "Cell",
    "Figure",
    "Picture",
    "Plot",
    "Section",
    "Table",
    "number",
]

NONE = "\N{EN DASH}"

# A plot as plotly.js reads it: {"data": [...], "layout": {...}}.
Figure = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
        What is read.
    value : float or None
        What a number is sorted by. None: sorted by its text.
    note : str
        A second line, in small type.
    tone : float
        From -1 (worse) to 1 (better): colours the cell. 0: no colour.
    is_best : bool
        Whether it is set in bold type.
    """

    text: str
    value: float | None = None
    note: str = ""
    tone: float = 0.0
    is_best: bool = False


def number(
    value: float | None,
    form: str = ".2f",
    *,
    mark: str = "",
    note: str = "",
    tone: float = 0.0,
    is_best: bool = False,
) -> Cell:
    """Return a cell of a number; of a dash, which sorts last, if there is none.

    Examples
    --------
    >>> number(95.784).text
    '95.78'
    >>> number(-0.5, "+.1f").text
    '−0.5'
    >>> number(float("nan")).text == NONE
    True
    """
    if value is None or math.isnan(value):
        return Cell(NONE, math.nan, note)
    text = format(value, form).replace("-", "\N{MINUS SIGN}")
    tone = max(-1.0, min(1.0, tone))
    return Cell(text + mark, float(value), note, tone, is_best)


@dataclass(frozen=True)
class Table:
    """A table whose first column names the rows.

    Attributes
    ----------
    caption : str
    header : sequence of str
    rows : sequence of rows of cells
        A plain str is a cell of text.
    foot : sequence of rows of cells
        Rows that stay at the end when the table is sorted.
    is_folded : bool
        Whether the reader opens it, because it is long.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    foot: Sequence[Sequence[Cell | str]] = ()
    is_folded: bool = False

    def __post_init__(self) -> None:
        for row in (*self.rows, *self.foot):
            if len(row) != len(self.header):
                raise ValueError(
                    f"a row of {self.caption!r} must have {len(self.header)} cells, "
                    f"as its header has; got {len(row)}"
                )


@dataclass(frozen=True)
class Plot:
    """A plot.

    Attributes
    ----------
    title : str
    summary : str
        What is to be seen, for who does not see it; also the caption.
    figure : mapping
        As plotly.js reads it.
    height : int
        In pixels.
    is_wide : bool
        Whether it takes the whole width, rather than a part where there is room.
    """

    title: str
    summary: str
    figure: Figure
    height: int = 360
    is_wide: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn already.

    Attributes
    ----------
    title : str
    summary : str
        What is to be seen, for who does not see it; also the caption.
    png : bytes
    """

    title: str
    summary: str
    png: bytes

    @property
    def address(self) -> str:
        """The picture as an address that holds it."""
        return "data:image/png;base64," + b64encode(self.png).decode("ascii")


@dataclass(frozen=True)
class Section:
    """All that the page says of one experiment.

    Attributes
    ----------
    title : str
    text : sequence of str
        Paragraphs.
    command : str
        What computes the results.
    tables, plots, pictures : sequences
    settings : mapping of str to str
        What the results were computed with.
    amount : str
        How many results there are, in words; empty if there are none.
    """

    title: str
    text: Sequence[str]
    command: str
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    pictures: Sequence[Picture] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    amount: str = ""
