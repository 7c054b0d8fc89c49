# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted object keeps beside what was paid for."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrforest.privacy.audit._replay import Replay, holder_of, replay
from mrforest.privacy.audit._tables import Table, read_table
from mrforest.privacy.audit._walk import parameters_of, walk
from mrforest.privacy.randomness import RandomBits

SEED = re.compile(r"random_?state|seed|entropy", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z_]\w*")
INDEX = re.compile(r"\[\d+\]")
GENERATORS = (
    np.random.Generator,
    np.random.RandomState,
    np.random.BitGenerator,
    np.random.SeedSequence,
    random.Random,
    RandomBits,
)
MOST_LINES = 20


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
    """

    path: str
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}; {self.why}"


@dataclass(frozen=True)
class LeftoversAudit:
    """What a fitted object keeps that nobody paid for.

    Attributes
    ----------
    findings : tuple of Finding
        Things to look at. Small numbers may be equal by chance.
    replays : bool
        Whether the object can be computed again, noise and all, with a seed it keeps.
    """

    findings: tuple[Finding, ...]
    replays: bool

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        if self.clean:
            return "nothing found that was not paid for"
        # The trees of a forest all say the same: one line is enough.
        alike: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.findings:
            key = INDEX.sub("[]", finding.path), finding.why
            alike.setdefault(key, []).append(finding)
        lines = [
            f"{found[0]}" + (f" (and {len(found) - 1} alike)" if found[1:] else "")
            for found in alike.values()
        ]
        if len(lines) > MOST_LINES:
            lines[MOST_LINES:] = [f"... and {len(lines) - MOST_LINES} more"]
        return "\n".join([f"{len(self.findings)} findings", *lines])


def leftovers(fitted: Any, X: Any = None, y: ArrayLike | None = None) -> LeftoversAudit:
    """List what a fitted object keeps that would break its privacy.

    All that can be reached from the object is looked at: attributes, attributes of
    those, arrays, and what pickle stores. Without the training table, seeds and random
    generators are found: who has the seed computes the noise and takes it off. With the
    table also

    * the exact number of rows, class counts and class shares,
    * arrays of one entry a row,
    * numbers that are values of the table, or halfway between two neighbouring values
      of a column; not whole ones, nor those of one or two digits, nor those among the
      constructor's parameters, which are public;
    * whether each seed replays: the estimator that holds it, and the whole, are fitted
      again with the seed; the same arrays and predictions mean that its noise is no
      secret. An accountant is not charged for that.

    What is found is to be looked at: equal numbers may be so by chance, above all in
    small tables. What is not found may still be there in another form.

    Parameters
    ----------
    fitted : estimator
        After ``fit``.
    X, y : array or frame, array-like, default=None
        The training table.

    Returns
    -------
    LeftoversAudit

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = np.random.default_rng(0).normal(size=(50, 2)), [0, 1] * 25
    >>> found = leftovers(RandomForestClassifier(2).fit(X, y))
    >>> [finding.path for finding in found.findings]
    ['estimators_[0].random_state', 'estimators_[1].random_state']
    >>> leftovers(RandomForestClassifier(2).fit(X, y), X, y).replays
    True
    """
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together")
    table = None if X is None or y is None else read_table(X, y)
    everything = list(walk(fitted))
    estimators = {
        path: value
        for path, value in everything
        if hasattr(value, "fit") and hasattr(value, "get_params")
    }
    findings, n_replayed = [], 0
    for path, value in everything:
        if isinstance(value, GENERATORS):
            findings.append(
                Finding(
                    path,
                    f"a {type(value).__name__}",
                    "a random generator tells what was or will be drawn",
                )
            )
        for place, seed in _seeds(path, value):
            tried = Replay.NO
            if table is not None and estimators:
                tried = replay(fitted, holder_of(place, estimators), seed, table)
            n_replayed += tried is Replay.YES
            findings.append(Finding(place, f"seed {seed}", tried.value))
    if table is not None:
        findings += _DataFindings(fitted, table)
    return LeftoversAudit(tuple(findings), n_replayed > 0)


def _seeds(path: str, value: Any) -> Iterator[tuple[str, int]]:
    """Yield whole numbers that are called seeds."""
    names = NAME.findall(path)
    if not (names and SEED.search(names[-1])) or isinstance(value, bool):
        return
    if isinstance(value, Integral):
        yield path, int(value)
    elif isinstance(value, bytes):
        yield path, int.from_bytes(value, "little")
    elif isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        for i, seed in enumerate(value.ravel().tolist()):
            yield f"{path}[{i}]" if value.ndim else path, seed


class _DataFindings:
    """Findings that need the training table."""

    def __init__(self, fitted: Any, table: Table) -> None:
        self.fitted = fitted
        X, y = table
        self.n = len(y)
        self.counts = np.unique(y, return_counts=True)[1]
        public = np.concatenate(
            [
                _numbers(x).ravel()
                for _, p in walk(fitted)
                for _, x in walk(parameters_of(p))
            ]
        )
        values, halfway = _values(X)
        self.values = np.setdiff1d(values, public)
        self.halfway = np.setdiff1d(halfway, np.concatenate([values, public]))

    def __iter__(self) -> Iterator[Finding]:
        for path, value in walk(self.fitted, parameters=False):
            # Named after the table's columns, it is public.
            if path.split(".")[-1] in ("n_features_in_", "feature_names_in_"):
                continue
            if path and (shape := _shape(value)) and shape[0] == self.n > 1:
                what = f"{type(value).__name__} of shape {shape}"
                yield Finding(path, what, "it has one entry for each training row")
                continue
            for what, why in self.in_numbers(_numbers(value)):
                yield Finding(path or "the object", what, why)

    def in_numbers(self, numbers: NDArray[Any]) -> Iterator[tuple[str, str]]:
        if numbers.size == 0:
            return
        if numbers.flat[0] == self.n:
            first = "" if numbers.size == 1 else "its first number, "
            yield f"{first}{self.n}", "the exact number of training rows"
        n_classes = len(self.counts)
        if n_classes > 1 and numbers.shape[-1:] == (n_classes,):
            rows = numbers.reshape(-1, n_classes)
            for what, known in (
                ("counts", self.counts),
                ("shares", self.counts / self.n),
            ):
                if np.isclose(rows, known, rtol=1e-12, atol=0).all(axis=1).any():
                    yield f"{known.tolist()}", f"the exact class {what}"
        for known, what in (
            (self.values, "exact values of X"),
            (self.halfway, "halfway between neighbouring values of X"),
        ):
            same = np.unique(numbers[np.isin(numbers, known)])
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


def _values(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numbers of a table that tell much, and those halfway between two.

    Also in single precision, in which some trees take their table.
    """
    values, halfway = [], []
    for column in _columns(X):
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


def _columns(X: Any) -> Iterator[NDArray[np.float64]]:
    """Yield the numeric columns."""
    if not isinstance(X, np.ndarray):
        frame = nw.from_native(X, eager_only=True)
        series = [frame[name] for name in frame.columns]
        yield from (
            s.cast(nw.Float64).to_numpy() for s in series if s.dtype.is_numeric()
        )
        return
    for column in X.T:
        try:
            yield column.astype(np.float64)
        except (TypeError, ValueError):
            continue
