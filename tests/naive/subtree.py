# SPDX-License-Identifier: BSD-3-Clause
"""Every subtree of a region, one by one (see mrforest.privacy.subtree).

A subtree is a nested tuple: ``("leaf", label or None)`` or
``("split", feature, code, left, right)``.
"""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction


def candidates(grid) -> Iterator[tuple[int, int, Fraction]]:
    """Feature, code and base measure of every split."""
    for feature, n_codes in enumerate(grid.n_codes):
        first = int(grid.slot[feature])
        measures = [int(m) for m in grid.measure[first : first + n_codes]]
        for code, measure in enumerate(measures):
            if measure > 0:
                yield feature, code, Fraction(measure, int(grid.total[feature]))


def goes_left(grid, row, feature: int, code: int) -> bool:
    if grid.is_categorical[feature]:
        return row[feature] == code
    return row[feature] <= code


def subtrees(grid, n_classes: int, depth: int, *, labels: bool) -> list[tuple]:
    """All of them, whatever the rows are."""
    if depth == 0:
        return [("leaf", k) for k in (range(n_classes) if labels else [None])]
    below = subtrees(grid, n_classes, depth - 1, labels=labels)
    return [
        ("split", feature, code, left, right)
        for feature, code, _ in candidates(grid)
        for left, right in itertools.product(below, below)
    ]


def norm(counts: list[int], p: float) -> int:
    """2^16 times the norm, rounded down; an integer up to the rounding of floats."""
    if p == math.inf:
        return max(counts) << 16
    return math.floor(2**16 * math.fsum(c**p for c in counts) ** (1 / p) + 1e-6)


def worth(y: list[int], label: int, n_classes: int) -> int:
    """Point by point, how near a label that is a number is to the classes."""
    return sum((n_classes - 1) ** 2 - (label - c) ** 2 for c in y)


def score(y: list[int], label: int | None, n_classes: int, scoring) -> int:
    """Of a leaf with these classes and this label."""
    if scoring.squares:
        labels = range(n_classes) if label is None else [label]
        return max(worth(y, k, n_classes) for k in labels)
    counts = [y.count(k) for k in range(n_classes)]
    return norm(counts, scoring.norm) if label is None else counts[label]


def log_weight(grid, n_classes, subtree, rows, y, unit: float, scoring) -> float:
    """Log of the base measures times the exponential of the leaves' scores."""
    if subtree[0] == "leaf":
        return unit * score(y, subtree[1], n_classes, scoring)
    _, feature, code, left, right = subtree
    (measure,) = [m for f, c, m in candidates(grid) if (f, c) == (feature, code)]
    sides: dict[bool, tuple[list, list]] = {True: ([], []), False: ([], [])}
    for row, label in zip(rows, y, strict=True):
        side = sides[bool(goes_left(grid, row, feature, code))]
        side[0].append(row)
        side[1].append(label)
    return (
        math.log(measure)
        + log_weight(grid, n_classes, left, *sides[True], unit, scoring)
        + log_weight(grid, n_classes, right, *sides[False], unit, scoring)
    )
