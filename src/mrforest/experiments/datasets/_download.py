# SPDX-License-Identifier: BSD-3-Clause
"""Downloads of original files: whole, retried, parsed and checked before they count."""

from __future__ import annotations

import csv
import logging
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile

import pooch
from requests.exceptions import RequestException
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from mrforest.experiments import whole_file
from mrforest.experiments.datasets._originals import convert
from mrforest.experiments.datasets._registry import Entry, Source
from mrforest.experiments.datasets._table import DatasetError, check, read

__all__ = ["fetch"]

N_RETRIES = 2
TIMEOUT_SECONDS = 60
# What a broken connection, a wrong file or a damaged one may raise.
FAILURES = (
    RequestException,
    OSError,
    ValueError,
    EOFError,
    csv.Error,
    zlib.error,
    BadZipFile,
)


def fetch(
    entry: Entry, folder: Path, *, originals: Path | None = None, visible: bool = True
) -> Path:
    """Download a dataset and store its table.

    Every source is tried in turn, until one gives the table that the registry expects.

    Parameters
    ----------
    entry : Entry
    folder : Path
        Where ``table.csv.gz`` goes, whole or not at all. It is made if there is none.
    originals : Path, optional
        A folder that keeps what is downloaded, for other datasets from the same file.
    visible : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    Path
        The stored table.

    Raises
    ------
    DatasetError
        If no source gives the table; it says why, for each.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(f"folder={str(folder)!r} cannot be made") from error
    table = folder / entry.file_name
    failures = []
    for source in entry.sources:
        try:
            with (
                TemporaryDirectory(dir=folder, prefix=".fetching-") as downloads,
                whole_file(table) as unfinished,
            ):
                kept = originals or Path(downloads)
                convert(
                    _download(entry, source, kept, visible), source, entry, unfinished
                )
                check(read(unfinished, entry), entry)
        except FAILURES as error:
            failures.append(f"{source.addresses[0]}: {error}")
        else:
            return table
    raise DatasetError(
        f"{entry.name} could not be downloaded. "
        + ("\n".join(failures) or "The registry has no address for it.")
        + f"\nPut a file {entry.file_name} into a folder and name it by --data or "
        "MRFOREST_DATA; docs/datasets.md describes it."
    )


def _download(entry: Entry, source: Source, into: Path, visible: bool) -> list[Path]:
    """Download the files of a source, those that are not in the folder yet."""
    # Pooch tells of every download and retry, in the middle of the bar.
    pooch.get_logger().setLevel(logging.WARNING)
    files = [sha256(address.encode()).hexdigest() for address in source.addresses]
    checksums = source.sha256 or [None] * len(files)
    store = pooch.create(
        into,
        base_url="",
        registry=dict(zip(files, checksums, strict=True)),
        urls=dict(zip(files, source.addresses, strict=True)),
        retry_if_failed=N_RETRIES,
    )
    paths = []
    for file in files:
        with _bar(entry.name, visible) as bar:
            downloader = pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT_SECONDS)
            paths.append(Path(store.fetch(file, downloader=downloader)))
    return paths


@contextmanager
def _bar(description: str, visible: bool) -> Iterator[_Bar]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TextColumn("eta"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not visible) as progress:
        yield _Bar(progress, description)


class _Bar:
    """A bar of rich, in the words that pooch knows."""

    def __init__(self, progress: Progress, description: str) -> None:
        self._progress = progress
        # Hidden until a download begins: there may be none.
        self._task = progress.add_task(description, total=None, visible=False)

    @property
    def total(self) -> float | None:
        return self._progress.tasks[0].total

    @total.setter
    def total(self, n_bytes: int) -> None:
        # Set at the start of a download, so a retry begins anew. Unknown is 0.
        self._progress.reset(self._task, total=n_bytes or None, visible=True)

    def update(self, n_bytes: int) -> None:
        self._progress.advance(self._task, n_bytes)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        self._progress.refresh()
