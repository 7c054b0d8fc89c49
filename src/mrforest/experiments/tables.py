# SPDX-License-Identifier: BSD-3-Clause
"""Tables as text for a terminal, a page or a paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rich.box import HEAVY_HEAD
from rich.console import Console
from rich.markup import escape as escape_rich
from rich.table import Table

__all__ = ["Cell", "Grid"]

DAGGER, BULLET = "†", "•"
LATEX_MARKS = {"": "", DAGGER: r"$^{\dagger}$", BULLET: r"$^{\bullet}$"}
LATEX_SPECIAL = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
    "±": r"$\pm$",
    "ε": r"$\varepsilon$",
    "∞": r"$\infty$",
    DAGGER: r"$\dagger$",
    BULLET: r"$\bullet$",
}
MARKDOWN_SPECIAL = re.compile(r"([\\`*_|<>])")


@dataclass(frozen=True)
class Cell:
    """What is in a cell, and how it stands out.

    Attributes
    ----------
    text : str
        The main part, which may be bold.
    is_bold : bool
        Whether it is.
    mark : {"", "†", "•"}
        A mark behind the text.
    note : str
        What follows, never bold.

    Examples
    --------
    >>> from mrforest.experiments.tables import Cell
    >>> cell = Cell("95.8", is_bold=True, note="(+0.1)")
    >>> cell.write(str, lambda text: f"**{text}**", str)
    '**95.8** (+0.1)'
    """

    text: str
    is_bold: bool = False
    mark: str = ""
    note: str = ""

    def write(
        self,
        escape: Callable[[str], str],
        bold: Callable[[str], str],
        mark: Callable[[str], str],
    ) -> str:
        """Put the parts together in some language."""
        text = escape(self.text)
        note = f" {escape(self.note)}" if self.note else ""
        return (bold(text) if self.is_bold and text else text) + mark(self.mark) + note


@dataclass(frozen=True)
class Grid:
    """A table of cells.

    Attributes
    ----------
    title : str
        What it shows.
    heading : sequence of str
        Names of the columns; the first is that of the rows.
    rows : sequence of sequence of Cell
        As long as the heading each.
    summary : sequence of sequence of Cell
        Rows below a line.
    caption : str
        How to read it.
    note : str
        What the notes of cells are.

    Examples
    --------
    >>> from mrforest.experiments.tables import Cell, Grid
    >>> row = [Cell("wdbc"), Cell("95.8", is_bold=True, note="(+0.1)")]
    >>> grid = Grid("Accuracy (%)", heading=["dataset", "MRF"], rows=[row])
    >>> print(grid.to_markdown(), end="")
    **Accuracy (%)**
    <BLANKLINE>
    | dataset | MRF |
    |:---|---:|
    | wdbc | **95.8** (+0.1) |
    """

    title: str
    heading: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    summary: Sequence[Sequence[Cell]] = ()
    caption: str = ""
    note: str = ""
    _width: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_width", len(self.heading))
        for row in (*self.rows, *self.summary):
            if len(row) != self._width:
                raise ValueError(
                    f"a row of {len(row)} cells under a heading of {self._width}"
                )

    @property
    def _full_caption(self) -> str:
        return " ".join(part for part in (self.note, self.caption) if part)

    def print(self, console: Console) -> None:
        """Print the table, without notes if the terminal is too narrow for them."""
        table = self.to_rich()
        unbounded = console.options.update(max_width=10_000)
        if console.measure(table, options=unbounded).maximum > console.width:
            table = self.to_rich(is_compact=True)
        console.print(table)

    def to_rich(self, *, is_compact: bool = False) -> Table:
        """Return the table for a terminal.

        Parameters
        ----------
        is_compact : bool, default=False
            Without notes and lines.

        Returns
        -------
        rich.table.Table
        """
        table = Table(
            title=escape_rich(self.title),
            caption=escape_rich(self.caption if is_compact else self._full_caption),
            box=None if is_compact else HEAVY_HEAD,
            padding=(0, 1, 0, 0) if is_compact else (0, 1),
        )
        for i, name in enumerate(self.heading):
            table.add_column(
                escape_rich(name),
                justify="right" if i else "left",
                overflow="fold",
                no_wrap=not i,
            )
        parts = [self.rows, self.summary]
        for part in parts:
            for row in part:
                table.add_row(
                    *(
                        (replace(cell, note="") if is_compact else cell).write(
                            escape_rich, lambda text: f"[bold]{text}[/]", str
                        )
                        for cell in row
                    )
                )
            table.add_section()
        return table

    def to_markdown(self) -> str:
        """Return the table in Markdown."""

        def escape(text: str) -> str:
            return MARKDOWN_SPECIAL.sub(r"\\\1", text)

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cells) + " |"

        lines = [
            f"**{escape(self.title)}**",
            "",
            line([escape(name) for name in self.heading]),
            "|:---|" + "---:|" * (self._width - 1),
            *(
                line([c.write(escape, lambda text: f"**{text}**", str) for c in row])
                for row in (*self.rows, *self.summary)
            ),
        ]
        if self._full_caption:
            lines += ["", escape(self._full_caption)]
        return "\n".join(lines) + "\n"

    def to_latex(self) -> str:
        """Return the table in LaTeX, which needs no package."""

        def line(cells: Sequence[str]) -> str:
            return "  " + " & ".join(cells) + r" \\"

        def write(row: Sequence[Cell]) -> str:
            bold = r"\textbf{{{}}}".format
            return line([c.write(escape_latex, bold, LATEX_MARKS.get) for c in row])  # type: ignore[arg-type]

        caption = f"{self.title}. {self._full_caption}".strip()
        parts = [
            r"\begin{table*}[ht]",
            rf"\caption{{{escape_latex(caption)}}}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\begin{{tabular}}{{l{'r' * (self._width - 1)}}}",
            r"  \hline",
            line([escape_latex(name) for name in self.heading]),
            r"  \hline",
            *map(write, self.rows),
            *([r"  \hline", *map(write, self.summary)] if self.summary else []),
            r"  \hline",
            r"\end{tabular}",
            r"\end{table*}",
        ]
        return "\n".join(parts) + "\n"


def escape_latex(text: str) -> str:
    r"""Write text so that LaTeX prints it as it is.

    Examples
    --------
    >>> escape_latex("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(LATEX_SPECIAL.get(letter, letter) for letter in text)
