# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks put on record: lines of results, tables, parts of pages."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from mrforest.experiments import whole_file


class Results:
    """A CSV file that grows by one line for each run.

    Parameters
    ----------
    path : Path
        The file. It may be there already: then the runs in it are done.
    run : type of NamedTuple
        What tells one run from another; its fields are the first columns.
    measured : sequence of str
        The other columns.

    Raises
    ------
    ValueError
        If the file has other columns.
    """

    def __init__(
        self, path: Path, run: type[NamedTuple], measured: Sequence[str]
    ) -> None:
        self.path = path
        self._run = run
        self._header = (*run._fields, *measured)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text() if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:  # the power went out in the middle of a line
            with whole_file(path) as unfinished:
                unfinished.write_text(whole)
        if not whole:
            self._append(self._header)
        elif whole.splitlines()[0] != ",".join(self._header):
            raise ValueError(
                f"{path} has other columns than these results: name another file"
            )
        self.done = {self._key(row) for row in self.frame().itertuples()}

    def _key(self, row: Any) -> Any:
        return self._run(*(getattr(row, name) for name in self._run._fields))

    def frame(self) -> pd.DataFrame:
        """All results so far."""
        return pd.read_csv(self.path)

    def add(self, run: Any, measured: dict[str, Any]) -> None:
        """Put a result into the file; what was not measured stays empty."""
        row = {**run._asdict(), **measured}
        if unknown := row.keys() - set(self._header):
            raise ValueError(f"no columns for {', '.join(sorted(unknown))}")
        self._append([row.get(name) for name in self._header])
        self.done.add(run)

    def _append(self, cells: Sequence[Any]) -> None:
        with self.path.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(cells)


def layout(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Lay out a table of Markdown; the first column is text."""
    rule = [":---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *lines])


def fill_in(path: Path, marker: str, text: str) -> None:
    """Replace what stands between two marker comments of a file."""
    start, end = f"<!-- {marker} -->", f"<!-- /{marker} -->"
    page = path.read_text(encoding="utf-8")
    head, found, rest = page.partition(start)
    _, found_end, tail = rest.partition(end)
    if not (found and found_end):
        raise ValueError(f"{path.name} must have the lines {start} and {end}")
    with whole_file(path) as unfinished:
        unfinished.write_text(
            f"{head}{start}\n\n{text}\n\n{end}{tail}", encoding="utf-8"
        )
