# SPDX-License-Identifier: BSD-3-Clause
"""Original files, as their donors wrote them, turned into stored tables."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from zipfile import ZipFile

from mrforest.experiments.datasets._registry import LABEL, LEFT_OUT, Entry, Source

__all__ = ["convert"]

GZIP_MAGIC = b"\x1f\x8b"
MISSING = "?"


def convert(originals: list[Path], source: Source, entry: Entry, table: Path) -> None:
    """Write the stored table that original files make.

    Parameters
    ----------
    originals : list of Path
        The downloaded files, one for each address of the source.
    source : Source
        Tells how they are written.
    entry : Entry
        Tells which columns the table has.
    table : Path
        The CSV file to write, compressed, the same bytes each time.

    Raises
    ------
    ValueError, csv.Error, zipfile.BadZipFile, EOFError, OSError
        If they are not written so, or damaged.
    """
    texts = chain.from_iterable(_texts(path, source) for path in originals)
    names = list(source.columns or (*entry.columns, LABEL))
    if source.format == "c4.5":
        names = [*_names_of_c45(next(texts)), LABEL]
    # In the table's order, which may not be the file's.
    stored = entry.columns or [n for n in names if n not in (LABEL, LEFT_OUT)]
    places = [names.index(name) for name in (*stored, LABEL)]
    # Neither the time nor a name goes into the compressed file.
    with (
        table.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, "utf-8", newline="") as lines,
    ):
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow([*stored, LABEL])
        for row in chain.from_iterable(_rows(text, source) for text in texts):
            if len(row) != len(names):
                raise ValueError(f"{len(names)} cells expected, found {row}")
            cells = [_translated(row[place], source.values) for place in places]
            cells[-1] = _translated(row[places[-1]], source.labels)
            writer.writerow(cells)


def _translated(cell: str, words: Mapping[str, str]) -> str:
    return "" if cell == MISSING else words.get(cell, cell)


def _texts(path: Path, source: Source) -> Iterator[str]:
    """Yield the texts of a downloaded file, whatever they are packed in."""
    packed = [path.read_bytes()]
    if source.members:
        with ZipFile(path) as archive:
            packed = [_member(archive, name) for name in source.members]
    for content in packed:
        is_packed = content.startswith(GZIP_MAGIC)
        plain = gzip.decompress(content) if is_packed else content
        yield plain.decode(source.encoding)


def _member(archive: ZipFile, name: str) -> bytes:
    """Read a file of an archive, in whatever folder it lies there."""
    for path in archive.namelist():
        if f"/{path}".endswith(f"/{name}"):
            return archive.read(path)
    raise ValueError(f"the archive has no file {name!r}")


def _rows(text: str, source: Source) -> Iterator[list[str]]:
    """Yield the rows of a text, cells without blanks around them."""
    lines = io.StringIO(text, newline=None)  # whatever a line ends with
    quote = '"'
    if source.format == "arff":
        # Names and kinds are in the registry; a comment starts with a per cent sign.
        for line in lines:
            if line.strip().lower() == "@data":
                break
        else:
            raise ValueError("no line @data: this is no ARFF file")
        quote = "'"
    told = (line for line in islice(lines, source.header, None) if _is_row(line))
    if source.separator == " ":
        yield from (line.split() for line in told)
        return
    cells = csv.reader(
        told,
        delimiter=source.separator,
        quotechar=quote,
        skipinitialspace=True,
        strict=True,
    )
    yield from ([cell.strip() for cell in row] for row in cells)


def _is_row(line: str) -> bool:
    """Tell rows from empty lines and comments, of ARFF (%) and of C4.5 (|)."""
    return bool(line.strip()) and not line.lstrip().startswith(("%", "|"))


def _names_of_c45(text: str) -> list[str]:
    """Read the names of the features: ``name: kind.``, comments start with ``|``."""
    statements = (line.partition("|")[0] for line in io.StringIO(text, newline=None))
    return [line.rpartition(":")[0].strip() for line in statements if ":" in line]
