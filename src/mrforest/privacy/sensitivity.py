# SPDX-License-Identifier: BSD-3-Clause
"""Integer scores of class counts, and how far one more record can move them.

A score is computed for one cell, and a candidate (a split, a tree) is worth the sum
over its cells. One record falls into one cell, so the sum moves as far as a single
cell's score does. What a mechanism needs is the width of the range of that move over
all tables and records: `CORRECT_RANGE`, `squares_range`, `NORM_RANGE` and `GINI_RANGE`,
the `unit` of `mechanisms.Exponential`. The ranges are for one record added; one taken
away moves a score by the negative, and the width is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Score = Callable[[Counts], NDArray[np.int64]]

SCALE_BITS = 16
MOST_RECORDS = 2**31
# Classes times records, so that the rounding of a norm is below one unit
MOST_WORK = 2**37
# Classes that are numbers, so that squares of 2^31 records stay below 2^47
MOST_VALUES = 256

CORRECT_RANGE = 1
NORM_RANGE = 2**SCALE_BITS + 2
GINI_RANGE = 2 * 2**SCALE_BITS


def correct(counts: Counts, label: int | NDArray[np.intp]) -> NDArray[np.int64]:
    """Count the records of a cell that a label is right about.

    One record more adds 0 or 1.

    Parameters
    ----------
    counts : ndarray of shape (..., n_classes), dtype=int64
    label : int, or ndarray of shape (n,) for an axis of scores

    Examples
    --------
    >>> correct(np.array([[3, 1], [0, 2]]), label=1).tolist()
    [1, 2]
    """
    return np.asarray(read_counts(counts)[..., label])


def squares(counts: Counts, label: int | NDArray[np.intp]) -> NDArray[np.int64]:
    """Score a cell by how near a label, a number, is to the classes of its records.

    The K classes are the numbers 0 to K - 1, and a record of class c adds

        (K - 1)^2 - (label - c)^2,

    which is in [0, (K - 1)^2], as both numbers are in [0, K - 1]: the score never falls
    and rises by `squares_range` at most. So does the best score of all labels: if each
    of several numbers rises by something in a range, so does the largest of them.

    Parameters
    ----------
    counts : ndarray of shape (..., n_classes), dtype=int64
        At most 2^31 records in a cell, at most 256 classes.
    label : int, or ndarray of shape (n,) for an axis of scores

    Returns
    -------
    ndarray of shape (...) or (..., n), dtype=int64

    Examples
    --------
    >>> squares(np.array([[1, 0, 0], [1, 0, 1]]), label=1).tolist()
    [3, 6]
    >>> squares(np.array([1, 0, 2]), label=np.arange(3)).tolist()
    [4, 9, 8]
    """
    counts = read_counts(counts)
    n_classes = counts.shape[-1]
    most = squares_range(n_classes)
    if np.min(label) < 0 or np.max(label) >= n_classes:
        raise ValueError(f"label={label} must be in [0, {n_classes})")
    distance = np.subtract.outer(np.arange(n_classes), label)
    return np.asarray(counts @ (most - distance * distance))


def squares_range(n_classes: int) -> int:
    """Return how far a record moves `squares` at most.

    Examples
    --------
    >>> squares_range(16)
    225
    """
    if not 1 <= n_classes <= MOST_VALUES:
        raise ValueError(f"n_classes={n_classes} must be in [1, {MOST_VALUES}]")
    return (n_classes - 1) ** 2


def norm(counts: Counts, p: float) -> NDArray[np.int64]:
    """Score a cell by about 2^16 times the p-norm of its class counts.

    p = inf is the number of records of the commonest class.

    Let h(x) be x^p by correctly rounded products and square roots. The score is the
    largest integer k with h(k) <= h(2^16 c_1) + h(2^16 c_2) + ..., added in this order.

    *One record more never lowers it*: correctly rounded sums, products and roots do not
    fall if an argument rises.

    *Nor does it add more than 2^16 + 2*: let y be 2^16 times the norm. One record more
    adds at most 2^16 to it, by the triangle inequality. Two roundings at most in each h
    and n_classes - 1 in the sum move k by a share of at most s = (n_classes + 3) 2^-53,
    for the p-th root does not make a share larger: y (1 - s) - 1 < k <= y (1 + s).
    Hence from y to y' k rises by less than 2^16 + 1 + s (y + y'). As y < y' <=
    2^16 n_records and (n_classes + 3) n_records < 2^37, the last term is below 2.

    Parameters
    ----------
    counts : ndarray of shape (..., n_classes), dtype=int64
        At most 2^31 records in a cell.
    p : {1.5, 2, 3, inf}

    Returns
    -------
    ndarray of shape (...,), dtype=int64

    Examples
    --------
    >>> norm(np.array([[3, 4], [7, 0]]), p=2) / 2**16
    array([5., 7.])
    """
    if p not in POWERS and p != math.inf:
        raise ValueError(f"p={p} must be 1.5, 2, 3 or inf")
    counts = read_counts(counts)
    if p == math.inf:
        return np.asarray(counts.max(axis=-1) << SCALE_BITS)
    check_norm(counts.shape[-1], int(counts.sum(axis=-1).max(initial=0)))
    power, root = POWERS[p]
    scaled = (counts << SCALE_BITS).astype(np.float64)
    total = np.zeros(counts.shape[:-1])
    # Not by sum(), which may add in another order in another cell.
    for k in range(counts.shape[-1]):
        total = total + power(scaled[..., k])
    found = np.floor(root(total))
    # The root is a guess, right or nearly so; k is defined by the power alone.
    while (is_high := power(found) > total).any():
        found = found - is_high
    while (is_low := power(found + 1) <= total).any():
        found = found + is_low
    return np.asarray(found.astype(np.int64))


def check_norm(n_classes: int, n_records: int) -> None:
    """Raise ValueError unless the proof of the range of a norm covers such cells."""
    if (n_classes + 3) * n_records >= MOST_WORK:
        raise ValueError(
            f"counts of {n_classes} classes and {n_records} records: "
            "(classes + 3) * records must be below 2**37"
        )


def gini(counts: Counts) -> NDArray[np.int64]:
    """Score a cell by -floor(2^16 n G), where G = 1 - sum (c_k / n)^2, exactly.

    Its sum over the cells of a split is the split's gain, n-weighted, but for the
    impurity of the cell that is split, the same for all candidates.

    One record more of class k adds to n G = n - sum c^2 / n

        1 - (2 c_k + 1 - q) / (n + 1)      with q = sum c^2 / n <= n.

    That is at least 0: q >= c_k^2 / n >= 2 c_k - n. It is below 2: c_k >= 0, q <= n.
    So n G rises by [0, 2), and the floor of its multiple by an integer in [0, 2^17].

    Parameters
    ----------
    counts : ndarray of shape (..., n_classes), dtype=int64
        At most 2^31 records in a cell.

    Returns
    -------
    ndarray of shape (...,), dtype=int64
        Not positive.

    Examples
    --------
    >>> gini(np.array([[3, 3], [7, 0]])) / 2**16
    array([-3.,  0.])
    """
    counts = read_counts(counts)
    n = counts.sum(axis=-1)
    # n G = (n^2 - sum c^2) / n, in two steps of long division: all is below 2^62.
    divisor = np.maximum(n, 1)
    whole, rest = np.divmod(n * n - (counts * counts).sum(axis=-1), divisor)
    return np.asarray(-((whole << SCALE_BITS) + (rest << SCALE_BITS) // divisor))


def largest_range(score: Score, n_classes: int, n_most: int) -> tuple[int, int]:
    """Search all small cells for the smallest and largest move of a score.

    Parameters
    ----------
    score : callable
        From counts of shape (n_cells, n_classes) to integers.
    n_classes : int
    n_most : int
        Records of a cell, the added one included.

    Returns
    -------
    smallest, largest : int
        Of ``score(cell with one record more) - score(cell)``.

    Examples
    --------
    >>> largest_range(gini, n_classes=3, n_most=20)
    (-124518, 0)
    """
    if n_classes < 1 or n_most < 1:
        raise ValueError(
            f"n_classes={n_classes} and n_most={n_most} must be at least 1"
        )
    cells = np.indices((n_most,) * n_classes).reshape(n_classes, -1).T
    cells = np.ascontiguousarray(cells[cells.sum(axis=1) < n_most])
    before = score(cells)
    moves = [score(cells + one) - before for one in np.eye(n_classes, dtype=np.int64)]
    return int(np.min(moves)), int(np.max(moves))


def read_counts(counts: Counts) -> Counts:
    """Return 64-bit counts; ValueError unless they are whole, in [0, 2**31] a cell."""
    if counts.dtype.kind not in "iu" or counts.ndim == 0:
        raise ValueError(f"counts of type {counts.dtype} must be arrays of integers")
    lowest, largest = counts.min(initial=0), counts.max(initial=0)
    if lowest >= 0 and largest <= MOST_RECORDS:
        counts = counts.astype(np.int64)
        largest = counts.sum(axis=-1).max(initial=0)
    if lowest < 0 or largest > MOST_RECORDS:
        raise ValueError(
            f"counts from {lowest} to {largest} must be in [0, 2**31], and so must the "
            "sum over the classes"
        )
    return counts


Real = NDArray[np.float64]


def _power_of_three_halves(x: Real) -> Real:
    return np.asarray(x * np.sqrt(x))


def _square(x: Real) -> Real:
    return x * x


def _cube(x: Real) -> Real:
    return x * x * x


def _root_of_three_halves(x: Real) -> Real:
    return np.asarray(np.cbrt(x) ** 2)


# p -> x^p of correctly rounded steps, and about the inverse
POWERS: dict[float, tuple[Callable[[Real], Real], Callable[[Real], Real]]] = {
    1.5: (_power_of_three_halves, _root_of_three_halves),
    2: (_square, np.sqrt),
    3: (_cube, np.cbrt),
}
