# SPDX-License-Identifier: BSD-3-Clause
"""What is known of each dataset: registry.toml, read into objects."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, Literal

__all__ = ["LABEL", "LEFT_OUT", "Entry", "Source", "entry", "names"]

# The last column of a stored table.
LABEL = "target"
# Stands for a column of an original file that a stored table does not have.
LEFT_OUT = "-"


@dataclass(frozen=True)
class Source:
    """An original from which a table can be made.

    Attributes
    ----------
    addresses : tuple of str
        Files to download; the rows of one follow those of the other.
    verified : {"whole", "excerpt", "no"}
        How far it was tried: the whole original was parsed and has the fingerprint;
        parts of it were; nobody could look at it.
    format : {"delimited", "arff", "c4.5"}
        How its files are written.
    sha256 : tuple of str
        Checksums of the files, where the bytes are known.
    members : tuple of str
        What to read if the file is a zip archive; its rows follow each other too.
    columns : tuple of str
        Names of its columns, in their order; `LEFT_OUT` for one that is not kept.
        Empty: as in the table.
    separator : str
        Between cells; a blank stands for any white space.
    header : int
        Lines at the top that are no rows.
    encoding : str
    values, labels : mapping of str to str
        How it writes cells and labels, and what the table has for it.

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> source = datasets.entry("wdbc").sources[0]
    >>> source.verified in ("whole", "excerpt", "no")
    True
    """

    addresses: tuple[str, ...]
    verified: Literal["whole", "excerpt", "no"]
    format: Literal["delimited", "arff", "c4.5"] = "delimited"
    sha256: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    separator: str = ","
    header: int = 0
    encoding: str = "utf-8-sig"
    values: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """A dataset: where it comes from, and what it must look like when loaded.

    Attributes
    ----------
    name : str
    title : str
        What the data is about.
    table : str
        The stored file is ``table.csv.gz``: two datasets may share one.
    paper_name : str
        Name in the paper's Table 1; empty if it is not there.
    uci, openml : int or None
        Numbers in the UCI and OpenML repositories.
    licence : str
    columns : tuple of str
        Columns of the stored table without `LABEL`; empty if they are too many to list.
    categorical : tuple of str
        Those of them that are categories; others are numbers.
    label : str
        Column to predict.
    drop : mapping of str to str
        Columns that are not features, and why.
    n_rows, n_features : int
        Of the loaded dataset.
    classes : mapping of str to int
        Rows of each class.
    fingerprint : str
        See `mrforest.experiments.datasets.fingerprint`.
    column_checks : tuple of str
        First digits of the checksum of each feature and of the label; empty if they are
        too many.
    note : str
        Differences from the paper, and what else one should know.
    carried_by : str
        A package that has it among its data; empty if there is none.
    sources : tuple of Source
        Tried in this order.

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> wdbc = datasets.entry("wdbc")
    >>> wdbc.paper_name, wdbc.uci
    ('Wdbc', 17)
    """

    name: str
    title: str
    licence: str
    categorical: tuple[str, ...]
    n_rows: int
    n_features: int
    classes: Mapping[str, int]
    fingerprint: str
    table: str = ""
    paper_name: str = ""
    uci: int | None = None
    openml: int | None = None
    columns: tuple[str, ...] = ()
    label: str = LABEL
    drop: Mapping[str, str] = field(default_factory=dict)
    column_checks: tuple[str, ...] = ()
    note: str = ""
    carried_by: str = ""
    sources: tuple[Source, ...] = ()

    @property
    def file_name(self) -> str:
        """Name of the stored table."""
        return f"{self.table}.csv.gz"

    @property
    def pages(self) -> tuple[str, ...]:
        """Where the data is described."""
        uci = f"https://archive.ics.uci.edu/dataset/{self.uci}" if self.uci else ""
        openml = f"https://www.openml.org/d/{self.openml}" if self.openml else ""
        return tuple(page for page in (uci, openml) if page)


def names(*, in_paper: bool = False) -> list[str]:
    """List the datasets.

    Parameters
    ----------
    in_paper : bool, default=False
        Only those of the paper's Table 1, in its order.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> len(datasets.names(in_paper=True))
    22
    """
    return [
        name for name, entry in _registry().items() if entry.paper_name or not in_paper
    ]


def entry(name: str) -> Entry:
    """Look up a dataset.

    Parameters
    ----------
    name : str

    Returns
    -------
    Entry

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> datasets.entry("wdbc").title != ""
    True
    """
    registry = _registry()
    if name not in registry:
        close = get_close_matches(str(name), registry, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ValueError(
            f"name={name!r} is no dataset; {hint}There are: {', '.join(registry)}"
        )
    return registry[name]


@cache
def _registry() -> dict[str, Entry]:
    text = files(__package__).joinpath("registry.toml").read_text(encoding="utf-8")
    return _parse(tomllib.loads(text))


def _parse(tables: dict[str, dict[str, Any]]) -> dict[str, Entry]:
    """Turn tables of the registry into entries.

    A table with ``same_file_as`` is another view of an earlier one: what it does not
    say itself is as there.
    """
    entries = {}
    for name, own in tables.items():
        fields = dict(own)
        if "same_file_as" in fields:
            fields = tables[fields.pop("same_file_as")] | fields
            fields["table"] = own["same_file_as"]
        fields["sources"] = tuple(
            Source(**_with_tuples(source)) for source in fields.get("sources", ())
        )
        checks = fields.get("column_checks", "").split()
        fields["column_checks"] = tuple(checks)
        entries[name] = Entry(**{"name": name, "table": name} | _with_tuples(fields))
    return entries


def _with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in fields.items()
    }
