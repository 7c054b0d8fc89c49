# SPDX-License-Identifier: BSD-3-Clause
"""Counts, the score of a split and the tolerance (docs/algorithm.md, §5).

Floats are added one after the other from class 0 up, never with `sum`, which newer
Pythons compensate, nor with NumPy, which adds in pairs.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from tests.naive.model import Params, Table


def is_weighted(table: Table) -> bool:
    """Tell whether counts are more than plain numbers of points."""
    return table.mass is not None or table.class_weight is not None


def class_counts(table: Table, rows: Sequence[int]) -> list[int] | list[float]:
    """Return what the points add to each class: integers if nothing is weighted.

    Masses are added as integers; the class weight multiplies their sum.
    """
    rows = np.asarray(rows, dtype=np.intp)
    sums = np.zeros(table.n_classes, dtype=np.int64)
    np.add.at(sums, table.y[rows], 1 if table.mass is None else table.mass[rows])
    counts = sums.tolist()
    if not is_weighted(table):
        return counts
    if table.class_weight is None:
        return [float(count) for count in counts]
    return [counts[c] * float(table.class_weight[c]) for c in range(table.n_classes)]


def total(numbers: Iterable[float]) -> float:
    """Add numbers in their order."""
    result = 0
    for number in numbers:
        result = result + number
    return result


def weight_of(table: Table, rows: Sequence[int]) -> float:
    """Return the weight of points: class by class, or their mass in a regression."""
    if getattr(table, "moment", None) is not None:
        return float(moment_and_mass(table, rows)[1])
    return float(total(class_counts(table, rows)))


def gini_side(counts: list) -> float:
    """Return the squares' sum over the sum, 0 if the sum is 0."""
    squares = total([count * count for count in counts])
    whole = total(counts)
    if whole == 0:
        return 0.0
    return float(squares) / float(whole)


def x_log_x(x: float) -> float:
    """Return x log x as a float."""
    if x == 0:
        return 0.0
    return float(x) * math.log(float(x))


def fixed_x_log_x(x: int) -> int:
    """Return x log x as an integer, in units of 2**-26."""
    if x == 0:
        return 0
    return math.floor(float(x) * math.log(float(x)) * 2.0**26 + 0.5)


def score_of(left: list, right: list, criterion: str, weighted: bool) -> float:
    """Return the score of a split with these class counts left and right."""
    if criterion == "gini":
        return gini_side(left) + gini_side(right)
    if criterion != "entropy":
        raise ValueError(f"unknown criterion {criterion!r}")
    f = x_log_x if weighted else fixed_x_log_x
    left_part = total([f(count) for count in left]) - f(total(left))
    right_part = total([f(count) for count in right]) - f(total(right))
    if weighted:
        return left_part + right_part
    return float(left_part + right_part) * 2.0**-26


def tolerance_of(table: Table, structure: Sequence[int], params: Params) -> float:
    """Return how far apart two equal scores of a classification node may be."""
    tolerance = 1e-12 * float(total(class_counts(table, structure)))
    if params.criterion == "entropy" and not is_weighted(table):
        tolerance = tolerance + 1e-7 * table.n_classes
    return tolerance


def moment_and_mass(table: Table, rows: Iterable[int]) -> tuple[int, int]:
    """Return the sums of the points' moments and masses, as whole numbers."""
    moment, mass = 0, 0
    for row in rows:
        moment += int(table.moment[row])
        mass += 1 if table.mass is None else int(table.mass[row])
    return moment, mass


def _variance_side(moment: int, mass: int, all_moment: int, all_mass: int) -> float:
    if mass == 0:
        return 0.0
    whole, rest = divmod(all_moment, all_mass)
    shifted = float(moment - whole * mass)
    shifted = shifted - float(rest) * (float(mass) / float(all_mass))
    return shifted * shifted / float(mass)


def variance_score(left: tuple[int, int], right: tuple[int, int]) -> float:
    """Return the score of a regression split from the moment and mass of each side."""
    whole = (left[0] + right[0], left[1] + right[1])
    return _variance_side(*left, *whole) + _variance_side(*right, *whole)


def variance_tolerance(scores: Iterable[float], mass: int) -> float:
    """Return how far apart two equal scores of a node of this mass may be."""
    highest, mass = max(scores), float(mass)
    relative = 1e-12 * highest + 2.0**-48 * math.sqrt(highest * mass)
    return relative + 2.0**-98 * mass
