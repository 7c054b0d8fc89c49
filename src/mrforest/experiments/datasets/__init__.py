# SPDX-License-Identifier: BSD-3-Clause
"""The paper's datasets, and larger ones, each checked against a registry.

A dataset is looked for in a folder of yours, in the user's cache, among the data of
installed packages, and is downloaded from its original source if it is nowhere.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pooch

from mrforest.experiments.datasets import _carried, _download
from mrforest.experiments.datasets._registry import Entry, Source, entry, names
from mrforest.experiments.datasets._table import (
    Dataset,
    DatasetError,
    check,
    column_checks,
    fingerprint,
    read,
)

__all__ = [
    "Dataset",
    "DatasetError",
    "Entry",
    "Place",
    "Source",
    "cache_folder",
    "column_checks",
    "entry",
    "fetch",
    "find",
    "fingerprint",
    "given_folder",
    "load",
    "names",
]

FOLDER_VARIABLE = "MRFOREST_DATA"


@dataclass(frozen=True)
class Place:
    """Where a dataset can be had from without a download.

    Attributes
    ----------
    kind : str
        "folder", "cache" or the name of a package.
    path : Path or None
        Its file, if it is stored in one.

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> place = datasets.find("wdbc")  # scikit-learn has it, so it is always somewhere
    >>> place.kind in ("folder", "cache", "scikit-learn")
    True
    """

    kind: str
    path: Path | None = None


def load(
    name: str, *, folder: Path | str | None = None, download: bool = True
) -> Dataset:
    """Load a dataset, and check it.

    Parameters
    ----------
    name : str
        One of `names`.
    folder : path, optional
        Look there first: for ``name.csv.gz``, label last, in a column ``target``.
        Default: what the environment variable MRFOREST_DATA names, if it is set.
    download : bool, default=True
        Whether to download it if it is nowhere else. It then stays in the cache.

    Returns
    -------
    Dataset
        With the rows, columns, values and classes that the registry has.

    Raises
    ------
    ValueError
        If there is no such dataset or folder.
    DatasetError
        If it cannot be had, or is not what it should be.

    Examples
    --------
    >>> from mrforest.experiments.datasets import load
    >>> wdbc = load("wdbc")
    >>> wdbc.X.shape
    (569, 30)
    """
    wanted = entry(name)
    place = find(name, folder=folder)
    if place is None:
        if not download:
            raise DatasetError(f"{name} is not at hand; mrforest data fetch {name}")
        place = Place("cache", fetch(name))
    try:
        if place.path is None:
            dataset = _carried.LOADERS[place.kind](wanted)
        else:
            dataset = read(place.path, wanted)
        check(dataset, wanted)
    except DatasetError as error:
        remedy = f". mrforest data fetch {name} gets it anew"
        raise DatasetError(
            f"{name}, from {place.path or place.kind}: {error}"
            + (remedy if place.kind == "cache" else "")
        ) from None
    return dataset


def find(name: str, *, folder: Path | str | None = None) -> Place | None:
    """Find a dataset that needs no download.

    Parameters
    ----------
    name : str
    folder : path, optional
        As for `load`.

    Returns
    -------
    Place or None

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> datasets.find("wdbc") is None
    False
    """
    wanted = entry(name)
    given = given_folder(folder)
    if given is not None and (given / wanted.file_name).is_file():
        return Place("folder", given / wanted.file_name)
    cached = cache_folder() / wanted.file_name
    if cached.is_file():
        return Place("cache", cached)
    return Place(wanted.carried_by) if wanted.carried_by else None


def fetch(name: str, *, originals: Path | None = None, visible: bool = True) -> Path:
    """Download a dataset into the cache, if it is not there already and sound.

    Parameters
    ----------
    name : str
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
        If no source gives what the registry expects.

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> datasets.fetch("no such table")
    Traceback (most recent call last):
    ValueError: ...
    """
    wanted = entry(name)
    cached = cache_folder() / wanted.file_name
    if cached.is_file() and _is_sound(cached, wanted):
        return cached
    return _download.fetch(wanted, cached.parent, originals=originals, visible=visible)


def _is_sound(path: Path, wanted: Entry) -> bool:
    try:
        check(read(path, wanted), wanted)
    except DatasetError:
        return False
    return True


def cache_folder() -> Path:
    """Return the folder of this user for what was downloaded.

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> datasets.cache_folder().name
    'mrforest'
    """
    return Path(pooch.os_cache("mrforest"))


def given_folder(given: Path | str | None = None) -> Path | None:
    """Return the folder that was asked for, by argument or environment, if any was.

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> datasets.given_folder(".").is_dir()
    True
    """
    said = "folder"
    if given is None:
        given = os.environ.get(FOLDER_VARIABLE) or None
        said = FOLDER_VARIABLE
    if given is None:
        return None
    folder = Path(given)
    if not folder.is_dir():
        raise ValueError(f"{said}={str(given)!r} is no folder")
    return folder
