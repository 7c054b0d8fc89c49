# SPDX-License-Identifier: BSD-3-Clause
"""Distributions of the package's own mechanisms, for `exhaustive`.

A record is a pair: codes on the grid, one a feature, and the number of its class.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator

import numpy as np
from numpy.typing import NDArray

from mrforest.privacy.grid import Grid
from mrforest.privacy.mechanisms import Exponential
from mrforest.privacy.sensitivity import Score
from mrforest.privacy.subtree import Leaf, Scoring, SubtreeMechanism

Record = tuple[tuple[int, ...], int]
Candidate = tuple[int, int]  # feature and code


def records_of(grid: Grid, n_classes: int) -> list[Record]:
    """Return every record that a grid can tell from others: a domain to audit.

    Parameters
    ----------
    grid : Grid
    n_classes : int

    Examples
    --------
    >>> from mrforest.privacy.grid import Numeric
    >>> records_of(Grid.of([Numeric(0, 1, is_whole=True)]), n_classes=2)
    [((0,), 0), ((0,), 1), ((1,), 0), ((1,), 1)]
    """
    codes = itertools.product(*(range(n) for n in grid.n_codes.tolist()))
    return list(itertools.product(codes, range(n_classes)))


def subtree_distribution(
    grid: Grid, n_classes: int, scoring: Scoring, depth: int
) -> Callable[[tuple[Record, ...]], dict[Hashable, float]]:
    """Distribution of the mechanism that draws a whole subtree.

    Parameters
    ----------
    grid : Grid
        Its candidate splits.
    n_classes : int
    scoring : Scoring
        Its budget, and whether it draws labels.
    depth : int
        Levels of splits. The number of subtrees is squared by each, so 1 or 2.

    Returns
    -------
    callable
        Takes a tuple of records. An output is the label of a leaf, or None if none are
        drawn, or a split: (feature, code, left, right).

    Examples
    --------
    >>> from mrforest.privacy import audit
    >>> from mrforest.privacy.grid import Numeric
    >>> grid = Grid.of([Numeric(0, 1, is_whole=True)])
    >>> distribution = subtree_distribution(grid, 2, Scoring(1.0, None), depth=1)
    >>> sum(np.exp(list(distribution((((0,), 0),)).values()))).round(9)
    np.float64(1.0)
    >>> round(audit.exhaustive(distribution, records_of(grid, 2), 4).largest, 3)
    0.97
    """
    labels: list[int | None] = list(range(n_classes))
    if scoring.norm is not None:
        labels = [None]
    if depth > 0 and grid.n_candidates == 0:
        raise ValueError("grid has no candidate splits: there is nothing to audit")
    outputs = list(_subtrees(list(_candidates(grid)), labels, depth))

    def distribution(records: tuple[Record, ...]) -> dict[Hashable, float]:
        codes, y = _arrays(records, grid)
        mechanism = SubtreeMechanism(codes, y, n_classes, grid, scoring)
        rows = np.arange(len(y), dtype=np.int32)
        log_weights = _LogWeights(mechanism, labels)(rows, depth)
        # The sum is the mechanism's own, so that an error in it shows.
        log_probabilities = log_weights - mechanism.log_sum(rows, depth)
        return dict(zip(outputs, log_probabilities.tolist(), strict=True))

    return distribution


def split_distribution(
    grid: Grid, n_classes: int, score: Score, mechanism: Exponential
) -> Callable[[tuple[Record, ...]], dict[Hashable, float]]:
    """Distribution of an exponential mechanism over single splits.

    Parameters
    ----------
    grid : Grid
    n_classes : int
    score : callable
        Class counts of a cell to its score, as in `mrforest.privacy.sensitivity`; a
        split is worth the sum over its two cells.
    mechanism : Exponential
        With the unit that fits the score.

    Returns
    -------
    callable
        Takes a tuple of records. An output is a pair: feature and code.

    Examples
    --------
    >>> from mrforest.privacy import audit
    >>> from mrforest.privacy.grid import Numeric
    >>> from mrforest.privacy.sensitivity import GINI_RANGE, gini
    >>> grid = Grid.of([Numeric(0, 2, is_whole=True)])
    >>> sound = split_distribution(grid, 2, gini, Exponential(1.0, GINI_RANGE))
    >>> round(audit.exhaustive(sound, records_of(grid, 2), 4).largest, 3)
    0.444
    """
    candidates = list(_candidates(grid))
    measures = [int(grid.measure[grid.slot[j] + code]) for j, code in candidates]
    totals = [grid.total[j] for j, _ in candidates]
    common = math.lcm(*map(int, totals))
    base = [m * (common // int(t)) for m, t in zip(measures, totals, strict=True)]

    def distribution(records: tuple[Record, ...]) -> dict[Hashable, float]:
        codes, y = _arrays(records, grid)
        cells = np.zeros((len(candidates), 2, n_classes), dtype=np.int64)
        for i, (feature, code) in enumerate(candidates):
            column = codes[:, feature]
            is_left = column == code if grid.is_categorical[feature] else column <= code
            np.add.at(cells[i], (is_left.astype(np.intp), y), 1)
        probabilities = mechanism.probabilities(score(cells).sum(axis=1), base)
        return dict(zip(candidates, np.log(probabilities).tolist(), strict=True))

    return distribution


class _LogWeights:
    """Log weights of all subtrees of a region, in the order of `_subtrees`.

    Small tables have few different regions, so each is worked out once.
    """

    def __init__(self, mechanism: SubtreeMechanism, labels: list[int | None]) -> None:
        self.mechanism, self.labels = mechanism, labels
        self.candidates = list(_candidates(mechanism.grid))
        self.known: dict[tuple[bytes, int], NDArray[np.float64]] = {}

    def __call__(self, rows: NDArray[np.int32], depth: int) -> NDArray[np.float64]:
        key = rows.tobytes(), depth
        if key not in self.known:
            self.known[key] = self.compute(rows, depth)
        return self.known[key]

    def compute(self, rows: NDArray[np.int32], depth: int) -> NDArray[np.float64]:
        mechanism = self.mechanism
        if depth == 0:
            leaves = [Leaf(label) for label in self.labels]
            return np.array([mechanism.log_weight(leaf, rows) for leaf in leaves])
        found = []
        for feature, code in self.candidates:
            measure = mechanism.grid.measure[mechanism.grid.slot[feature] + code]
            own = math.log(measure / mechanism.grid.total[feature])
            left, right = mechanism.part(rows, feature, code)
            below = np.add.outer(self(left, depth - 1), self(right, depth - 1))
            found.append(own + below.ravel())
        return np.concatenate(found)


def _candidates(grid: Grid) -> Iterator[Candidate]:
    return (grid.feature_of(int(i)) for i in np.flatnonzero(grid.measure))


def _subtrees(
    candidates: list[Candidate], labels: list[int | None], depth: int
) -> Iterator[Hashable]:
    if depth == 0:
        yield from labels
        return
    below = list(_subtrees(candidates, labels, depth - 1))
    for candidate in candidates:
        for left, right in itertools.product(below, below):
            yield (*candidate, left, right)


def _arrays(
    records: tuple[Record, ...], grid: Grid
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    codes = np.array([codes for codes, _ in records], dtype=np.uint8)
    y = np.array([label for _, label in records], dtype=np.int32)
    return codes.reshape(len(records), len(grid.n_codes)), y
