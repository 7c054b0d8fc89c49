# SPDX-License-Identifier: BSD-3-Clause
"""Traces of the training table in a fitted object: its size, its counts, its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from mrforest.privacy.audit._replay import fit_quietly, fresh_copy
from mrforest.privacy.audit._tables import Table, is_frame, take
from mrforest.privacy.audit._walk import parameters_of, walk

JITTER = 1e-3  # of the standard deviation of a column


@dataclass(frozen=True)
class Finding:
    """Something that a fitted object keeps.

    Attributes
    ----------
    path : str
        Where it is: "estimators_[0].random_state". A name in angle brackets is no
        attribute; pickle stores it.
    what : str
        What it is.
    why : str
        What it gives away.

    Examples
    --------
    >>> print(Finding("random_state", "a seed", "the noise can be computed again"))
    random_state: a seed; the noise can be computed again
    """

    path: str
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}; {self.why}"


def traces(fitted: Any, table: Table) -> list[Finding]:
    """List what a fitted object has from its training table and from no other."""
    control = fit_quietly(fresh_copy(fitted), *_other_table(table))
    parameters = [parameters_of(value) for _, value in walk(fitted)]
    known = np.concatenate(
        [_numbers(value).ravel() for _, value in walk([parameters, control])]
    )
    checks = _Checks(table, known)
    of_any_table = {(found.path, found.why) for found in checks.of(control)}
    return [
        found
        for found in checks.of(fitted)
        if (found.path, found.why) not in of_any_table
    ]


class _Checks:
    """What is looked for.

    Parameters
    ----------
    table : Table
    known : ndarray
        Numbers that are public, or that do not come from the table.
    """

    def __init__(self, table: Table, known: NDArray[Any]) -> None:
        X, y = table
        self.n = len(y)
        self.counts = np.unique(y, return_counts=True)[1]
        values, halfway = _values(X)
        self.values = np.setdiff1d(values, known)
        self.halfway = np.setdiff1d(halfway, np.concatenate([values, known]))

    def of(self, fitted: Any) -> Iterator[Finding]:
        for path, value in walk(fitted, parameters=False):
            shape = _shape(value)
            if path and shape and shape[0] == self.n > 1:
                what = f"{type(value).__name__} of shape {shape}"
                yield Finding(path, what, "it has one entry for each training row")
                continue
            for what, why in self.of_numbers(_numbers(value)):
                yield Finding(path or "the object", what, why)

    def of_numbers(self, numbers: NDArray[Any]) -> Iterator[tuple[str, str]]:
        if numbers.size == 0:
            return
        if numbers.flat[0] == self.n:
            first = "" if numbers.size == 1 else "its first number, "
            yield f"{first}{self.n}", "the exact number of training rows"
        n_classes = len(self.counts)
        if n_classes > 1 and numbers.shape[-1:] == (n_classes,):
            rows = numbers.reshape(-1, n_classes)
            for what, exact in (
                ("counts", self.counts),
                ("shares", self.counts / self.n),
            ):
                if np.isclose(rows, exact, rtol=1e-12, atol=0).all(axis=1).any():
                    yield f"{exact.tolist()}", f"the exact class {what}"
        for telling, what in (
            (self.values, "exact values of X"),
            (self.halfway, "halfway between neighbouring values of X"),
        ):
            same = np.unique(numbers[np.isin(numbers, telling)])
            if same.size:
                some = ", ".join(f"{number:.6g}" for number in same[:3])
                more = ", ..." if same.size > 3 else ""
                yield f"{same.size} of its numbers ({some}{more})", what


def _shape(value: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, a frame or a list."""
    if isinstance(value, list | tuple):
        return (len(value),)
    shape = getattr(value, "shape", None)
    return shape if isinstance(shape, tuple) and shape else None


def _numbers(value: Any) -> NDArray[Any]:
    """Return the numbers that something is or consists of; none if it is no such."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in "iuf" else np.empty(0)
    if isinstance(value, Mapping):
        value = list(value.values())
    items = list(value) if isinstance(value, list | tuple) else [value]
    is_plain = all(isinstance(x, Real) and not isinstance(x, bool) for x in items)
    return np.array(items, dtype=float) if is_plain and items else np.empty(0)


# ---- values of the table -------------------------------------------------------------


def _values(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numbers of a table that tell much, and those halfway between two.

    Also in single precision, in which some trees take their table.
    """
    values, halfway = [], []
    for column in _numeric_columns(X).values():
        for exact in (column, column.astype(np.float32).astype(np.float64)):
            distinct = np.unique(exact[np.isfinite(exact)])
            values.append(distinct)
            halfway.append(distinct[:-1] / 2 + distinct[1:] / 2)
    return _telling(values), _telling(halfway)


def _telling(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return numbers of more than two digits that are not whole.

    The others are met everywhere.
    """
    numbers = np.unique(np.concatenate([np.empty(0), *parts]))
    is_short = np.array([float(f"{number:.2g}") == number for number in numbers])
    is_whole = numbers == np.round(numbers)
    return np.asarray(numbers[~(is_whole | is_short.astype(bool))])


def _numeric_columns(X: Any) -> dict[Any, NDArray[np.float64]]:
    """Return the columns that are numbers, by name or position."""
    found = {}
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        for name in frame.columns:
            if frame[name].dtype.is_numeric():
                found[name] = frame[name].cast(nw.Float64).to_numpy()
        return found
    for j, column in enumerate(X.T):
        try:
            found[j] = column.astype(np.float64)
        except (TypeError, ValueError):
            continue
    return found


def _other_table(table: Table) -> Table:
    """Return a table of other numbers, with a row less of each class of several."""
    X, y = table
    _, first, counts = np.unique(y, return_index=True, return_counts=True)
    X, y = take(table, np.delete(np.arange(len(y)), first[counts > 2]))
    rng = np.random.default_rng(0)
    moved = {
        place: column + JITTER * np.nanstd(column) * rng.normal(size=len(column))
        for place, column in _numeric_columns(X).items()
        if not (column == np.round(column)).all()
    }
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        series = [
            nw.new_series(name, values, backend=frame.implementation)
            for name, values in moved.items()
        ]
        return frame.with_columns(*series).to_native(), y
    X = X.copy()
    for j, values in moved.items():
        X[:, j] = values
    return X, y
