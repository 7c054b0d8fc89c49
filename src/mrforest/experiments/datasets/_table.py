# SPDX-License-Identifier: BSD-3-Clause
"""Stored tables: read into datasets, and checked against the registry."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mrforest.experiments.datasets._registry import LABEL, Entry

__all__ = ["Dataset", "DatasetError", "check", "column_checks", "fingerprint", "read"]

# Digits of a column's checksum that the registry has: to tell which column differs.
# Whether one does is decided by the fingerprint.
CHECK_DIGITS = 4
# In the bytes of a column; no category is written so.
MISSING = "\0"
MOST_SHOWN = 5
# What a damaged file, or one of another kind, may raise.
UNREADABLE = (OSError, EOFError, zlib.error, ValueError)
# From 3.1 on, pandas reads every number to the last bit, and warns of the option.
IS_EXACT = tuple(int(part) for part in pd.__version__.split(".")[:2]) >= (3, 1)
EXACT: dict[str, Any] = {} if IS_EXACT else {"float_precision": "round_trip"}


class DatasetError(ValueError):
    """A dataset cannot be had, or is not what it should be.

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> issubclass(datasets.DatasetError, ValueError)
    True
    """


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table that was checked.

    Attributes
    ----------
    name : str
    X : DataFrame
        Numbers as float64, categories as pandas' categories (of text); missing values
        as NaN.
    y : ndarray of str

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> wdbc = datasets.load("wdbc")
    >>> wdbc.name, wdbc.X.shape, sorted(set(wdbc.y.tolist()))
    ('wdbc', (569, 30), ['B', 'M'])
    """

    name: str
    X: pd.DataFrame
    y: NDArray[np.str_]


# ---- reading -------------------------------------------------------------------------


def read(path: Path, entry: Entry) -> Dataset:
    """Read a stored table.

    Parameters
    ----------
    path : Path
        A CSV file, compressed or not: a header, the label's column last and named
        ``target``, missing values empty.
    entry : Entry
        Tells which columns are what.

    Returns
    -------
    Dataset
        Not checked yet.
    """
    kinds: defaultdict[str, Any] = defaultdict(lambda: np.float64)
    kinds |= dict.fromkeys((*entry.categorical, *entry.drop, entry.label, LABEL), str)
    try:
        frame = _read_csv(path, kinds)
    except UNREADABLE as error:
        reason = _reason(path, kinds, entry) or str(error)
        raise DatasetError(f"cannot be read: {reason}") from error
    if entry.label not in frame or LABEL not in frame:
        found = _shortened(list(frame.columns[-MOST_SHOWN:]))
        raise DatasetError(f"no column {entry.label!r}; the last columns are {found}")
    frame = frame[frame[entry.label].notna()].reset_index(drop=True)
    y = frame.pop(entry.label).to_numpy(dtype=str)
    X = frame.drop(columns=[column for column in entry.drop if column in frame])
    X = X.rename(columns={LABEL: "class"})
    text = [name for name, dtype in X.dtypes.items() if dtype != np.float64]
    return Dataset(entry.name, X.assign(**{c: _categories(X[c]) for c in text}), y)


def _read_csv(path: Path, kinds: Any) -> pd.DataFrame:
    return pd.read_csv(
        path,
        dtype=kinds,
        keep_default_na=False,
        na_values=[""],
        **EXACT,
    )


def _reason(path: Path, kinds: defaultdict[str, Any], entry: Entry) -> str | None:
    """Find out why a table is not what was said: other columns, or no numbers."""
    try:
        frame = _read_csv(path, str)
    except UNREADABLE:
        return None
    if entry.columns:
        expected = [*entry.columns, LABEL]
        for difference in _differences_of_names(list(frame.columns), expected):
            return difference
    for name in frame:
        if kinds[name] is np.float64:
            numbers = pd.to_numeric(frame[name], errors="coerce")
            is_bad = (frame[name].notna() & numbers.isna()).to_numpy()
            if is_bad.any():
                row = int(is_bad.argmax())
                return f"column {name!r}, row {row}: {frame[name][row]!r} is no number"
    return None


def _categories(column: pd.Series) -> pd.Categorical:
    """Make text categories; those that are numbers in the order of numbers."""
    values = column.dropna().unique().tolist()
    try:
        values.sort(key=float)
    except ValueError:
        values.sort()
    return pd.Categorical(column, categories=values)


# ---- checking ------------------------------------------------------------------------


def check(dataset: Dataset, entry: Entry) -> None:
    """Compare a dataset with what the registry says of it.

    Raises
    ------
    DatasetError
        If they differ; it says in what.
    """
    found = fingerprint(dataset)
    if found == entry.fingerprint:
        return
    differences = list(_differences(dataset, entry))
    if not differences:
        differences = [f"fingerprint: {entry.fingerprint} expected, {found} found"]
    shown = "; ".join(differences[:MOST_SHOWN])
    if len(differences) > MOST_SHOWN:
        shown += f"; and {len(differences) - MOST_SHOWN} more"
    raise DatasetError(shown)


def _differences(dataset: Dataset, entry: Entry) -> Iterator[str]:
    """Say in what a dataset differs, the most telling first."""
    X, y = dataset.X, dataset.y
    if len(y) != entry.n_rows:
        yield f"{entry.n_rows} rows expected, {len(y)} found"
    if X.shape[1] != entry.n_features:
        yield f"{entry.n_features} features expected, {X.shape[1]} found"
    yield from _differences_of_names(list(X.columns), features(entry))
    counts = Counter(y.tolist())
    for label in sorted(entry.classes.keys() | counts.keys()):
        n_rows = entry.classes.get(label, 0)
        if counts[label] != n_rows:
            yield f"class {label!r}: {n_rows} rows expected, {counts[label]} found"
    checks = column_checks(dataset)
    if len(checks) == len(entry.column_checks) and len(y) == entry.n_rows:
        columns = [*(f"column {name!r}" for name in X.columns), "the labels"]
        for column, expected, found in zip(
            columns, entry.column_checks, checks, strict=True
        ):
            if expected != found:
                yield f"{column}: checksum {expected} expected, {found} found"


def _differences_of_names(found: list[str], expected: list[str]) -> Iterator[str]:
    if not expected or found == expected:
        return
    missing = [name for name in expected if name not in found]
    unknown = [name for name in found if name not in expected]
    if missing:
        yield f"columns {_shortened(missing)} expected, not found"
    if unknown:
        yield f"columns {_shortened(unknown)} found, not expected"
    if not missing and not unknown:
        yield f"columns in another order: {_shortened(found)}"


def features(entry: Entry) -> list[str]:
    """Names of the features, in their order; empty if the registry has no list."""
    stored = [c for c in entry.columns if c != entry.label and c not in entry.drop]
    return [*stored, "class"] if stored and entry.label != LABEL else stored


def _shortened(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MOST_SHOWN])
    return shown + (", …" if len(names) > MOST_SHOWN else "")


def fingerprint(dataset: Dataset) -> str:
    """Compute what a dataset is known by: one changed cell, and it is another.

    It is the SHA-256 of one line for each feature and one for the labels, in their
    order: kind (``numeric``, ``categorical`` or ``label``), name (nothing for the
    labels) and SHA-256 of the column, separated by tabs, each line ended by a line
    feed; all in UTF-8. The bytes of a numeric column are its values as IEEE doubles,
    lowest byte first, with zero for minus zero and 0x7ff8000000000000 for a missing
    value; those of another column are its texts, each ended by a line feed, with a zero
    byte for a missing value.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> wdbc = datasets.load("wdbc")
    >>> datasets.fingerprint(wdbc) == datasets.entry("wdbc").fingerprint
    True
    """
    lines = ("\t".join(parts) + "\n" for parts in _columns(dataset))
    return sha256("".join(lines).encode()).hexdigest()


def column_checks(dataset: Dataset) -> list[str]:
    """List the first digits of the checksums of features and labels.

    Examples
    --------
    >>> from mrforest.experiments import datasets
    >>> len(datasets.column_checks(datasets.load("wdbc")))  # features, and the labels
    31
    """
    return [checksum[:CHECK_DIGITS] for _, _, checksum in _columns(dataset)]


def _columns(dataset: Dataset) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and checksum of every column."""
    for name, column in dataset.X.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            texts = [*column.cat.categories.astype(str), MISSING]  # -1 is missing
            values = [texts[code] for code in column.cat.codes]
            yield "categorical", str(name), _checksum(values)
        else:
            numbers = column.to_numpy(dtype="<f8") + 0.0  # -0.0 becomes 0.0
            numbers[np.isnan(numbers)] = np.nan
            yield "numeric", str(name), sha256(numbers.tobytes()).hexdigest()
    yield "label", "", _checksum(dataset.y.tolist())


def _checksum(texts: list[str]) -> str:
    return sha256("".join(f"{text}\n" for text in texts).encode()).hexdigest()
