# SPDX-License-Identifier: BSD-3-Clause
"""Training rows as the engine reads them: coded, weighted, in canonical order."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest._threads import in_parts
from mrforest.data.binning import find_bins

MAX_POINTS = 2**31 - 1
# Cells of a table below which a second thread costs more than it saves
SERIAL_WORK = 1 << 18


@dataclass(frozen=True)
class Classes:
    """What a classifier is to tell: class codes of the rows.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,), dtype=int32
    n_classes : int
    weight : ndarray of shape (n_classes,), dtype=float64, or None
    criterion : {"gini", "entropy"}
    """

    codes: NDArray[np.int32]
    n_classes: int
    weight: NDArray[np.float64] | None
    criterion: str


@dataclass(frozen=True)
class Numbers:
    """What a regressor is to tell: finite numbers, one a row."""

    values: NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """Targets in fixed point: a mean of the engine times `unit`, plus `centre`.

    The distance of any target from the centre is below 2**exponent; in terms of that
    `unit` is `step`, a number whose square is always in range.
    """

    centre: float
    unit: float
    step: float
    exponent: int


@dataclass(frozen=True)
class TrainingSet:
    """What every tree of a forest is grown from.

    Attributes
    ----------
    table : TrainingTable
        Distinct rows, in canonical order.
    is_categorical : ndarray of shape (n_features,), dtype=bool
        Kinds of its columns.
    values : ndarray of shape (n_rows, n_features), dtype=float64
        Its rows; none if they are coded.
    row_origin : ndarray of shape (n_rows,), dtype=int32
        The row of the user's table that each of its rows came from.
    repeated : ndarray of shape (n_points,), dtype=int32, or None
        The row of ``table`` that each point stands in. A row of whole-number weight w
        is w points. None: every row is one point.
    mass_unit : float
        What leaf masses are multiplied by, a power of two: 1 for points, for real
        sample weights such that their mean is about 1.
    scale : Scale or None
        Of the targets of a regression.
    lists : pair of ndarray, or None
        Thresholds that nodes can have, see `Binning.thresholds`; None: any.
    y : ndarray of shape (n_rows,), dtype=int32
        Class of each row of the table, or the rank of its target.
    mass : ndarray of shape (n_rows,), dtype=int64, or None
        Real sample weights as whole numbers.
    moment : ndarray of shape (n_rows,), dtype=int64, or None
        Targets of a regression in fixed point, times the mass.
    class_weight : ndarray of shape (n_classes,), dtype=float64, or None
    offers_equality : bool
        Whether any numeric feature may be cut by equality, too.
    """

    table: _core.TrainingTable
    is_categorical: NDArray[np.bool_]
    values: NDArray[np.float64]
    row_origin: NDArray[np.int32]
    repeated: NDArray[np.int32] | None
    mass_unit: float
    scale: Scale | None
    lists: tuple[NDArray[np.float64], NDArray[np.int64]] | None
    y: NDArray[np.int32]
    mass: NDArray[np.int64] | None
    moment: NDArray[np.int64] | None
    class_weight: NDArray[np.float64] | None
    offers_equality: bool

    def with_criterion(self, criterion: str) -> TrainingSet:
        """Return the same set whose splits are scored by another criterion."""
        if criterion == self.table.target.criterion:
            return self
        return replace(self, table=self.table.with_criterion(criterion))

    @property
    def is_coded(self) -> bool:
        """Whether trees see codes, not values."""
        return len(self.values) == 0

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.is_categorical)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.row_origin if self.repeated is None else self.repeated)

    @property
    def points(self) -> NDArray[np.int32]:
        """The row that each point stands in; a new array."""
        return self.rows_of(np.arange(self.n_points, dtype=np.int32))

    def rows_of(self, points: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the rows that points stand in: the same, if every row is one point."""
        return points if self.repeated is None else self.repeated[points]

    @property
    def origin(self) -> NDArray[np.int32]:
        """The row of the user's table that each point came from."""
        if self.repeated is None:
            return self.row_origin
        return self.row_origin[self.repeated]


def prepare(
    X: NDArray[np.float64],
    target: Classes | Numbers,
    *,
    n_categories: NDArray[np.int32],
    max_bins: int | Literal["exact"] | None,
    sample_weight: NDArray[np.float64] | None,
    keep_order: bool = False,
    n_threads: int = 1,
    repeats_rows: bool = True,
    offer_equality: bool = False,
) -> TrainingSet:
    """Code the rows and put them in an order that does not depend on the given one.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), dtype=float64
    target : Classes or Numbers
    n_categories : ndarray of shape (n_features,), dtype=int32
        -1 for a numeric feature.
    max_bins : int, "exact" or None
        None: the rows are not coded, trees see their values.
    sample_weight : ndarray of shape (n_rows,), dtype=float64, or None
        Finite, not negative, not all 0.
    keep_order : bool, default=False
        Leave the rows in the given order.
    n_threads : int, default=1
        Nothing depends on it.
    repeats_rows : bool, default=True
        Whether whole-number weights repeat rows. Else every row is one point, whatever
        its weight.
    offer_equality : bool, default=False
        See `find_bins`.

    Returns
    -------
    TrainingSet
    """
    if len(X) > MAX_POINTS:
        raise ValueError(f"X has {len(X)} rows; at most {MAX_POINTS} are allowed")
    n_threads = useful_threads(X.size, n_threads)
    rows = None  # all
    repetitions, mass, mass_unit = None, None, 1.0
    if sample_weight is not None:
        rows = np.flatnonzero(sample_weight > 0)
        sample_weight = sample_weight[rows]
        if not repeats_rows and (sample_weight == sample_weight[0]).all():
            pass  # as if there were no weights
        elif repeats_rows and np.array_equal(sample_weight, np.floor(sample_weight)):
            repetitions = as_repetitions(sample_weight)
        else:
            mass, mass_unit = as_mass(sample_weight)
        if len(rows) < len(X):
            X = X[rows]

    y, moment, scale = read_target(target, rows, repetitions, mass)
    columns: dict[str, Any]
    lists = None
    if max_bins is None:
        # -0 is 0 and NaN is NaN, whatever their bits.
        X = np.where(np.isnan(X), np.nan, X) + 0.0
        order = rows_in_order(
            X.view(np.uint64), y, mass, n_threads, keep_order=keep_order
        )
        values = X[order]
        columns = {"values": values}
    else:
        binning = find_bins(
            X,
            n_categories,
            max_bins,
            repetitions,
            n_threads,
            offer_equality=offer_equality,
        )
        codes = binning.encode(X, n_threads)
        order = rows_in_order(codes, y, mass, n_threads, keep_order=keep_order)
        _core.put_in_order(codes, order)
        values = np.empty((0, X.shape[1]))
        lists = binning.thresholds()
        columns = {
            "codes": codes,
            "n_bins": binning.n_bins,
            "cuts": binning.cuts,
            "cuts_start": binning.cuts_start,
            "equal_values": binning.equal_values,
            "equal_start": binning.equal_start,
        }
    repeated = None
    if repetitions is not None and (repetitions > 1).any():
        every = np.arange(len(order), dtype=np.int32)
        repeated = np.repeat(every, repetitions[order])
    y = y[order]
    mass = None if mass is None else mass[order]
    moment = None if moment is None else moment[order]
    table = _core.TrainingTable(
        _core.Target(
            y,
            target.n_classes if isinstance(target, Classes) else 0,
            mass,
            target.weight if isinstance(target, Classes) else None,
            moment,
            target.criterion if isinstance(target, Classes) else "variance",
        ),
        n_categories >= 0,
        **columns,
    )
    return TrainingSet(
        table,
        n_categories >= 0,
        values,
        order if rows is None else rows[order].astype(np.int32),
        repeated,
        mass_unit,
        scale,
        lists,
        y,
        mass,
        moment,
        target.weight if isinstance(target, Classes) else None,
        columns.get("equal_values") is not None,
    )


def useful_threads(n_cells: int, n_threads: int) -> int:
    """Return how many of the threads pay for a table of so many cells."""
    return 1 if n_cells < SERIAL_WORK else n_threads


def rows_in_order(
    cells: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint64],
    y: NDArray[np.int32],
    mass: NDArray[np.int64] | None,
    n_threads: int,
    *,
    keep_order: bool,
) -> NDArray[np.int32]:
    """Return the canonical order: by a fingerprint of what each row says.

    Rows of equal fingerprint are equal rows (or one pair in 2^64): any order of them
    will do.
    """
    if keep_order:
        return np.arange(len(cells), dtype=np.int32)
    fingerprints = np.empty(len(cells), dtype=np.uint64)

    def write(rows: slice) -> None:
        _core.fingerprints(cells[rows], y[rows], fingerprints[rows])

    in_parts(write, len(cells), n_threads)
    if mass is None:
        order = np.argsort(fingerprints, kind="stable")
    else:
        order = np.lexsort((mass, fingerprints))
    return order.astype(np.int32)


def read_target(
    target: Classes | Numbers,
    rows: NDArray[np.int64] | None,
    repetitions: NDArray[np.int64] | None,
    mass: NDArray[np.int64] | None,
) -> tuple[NDArray[np.int32], NDArray[np.int64] | None, Scale | None]:
    """Return classes, or ranks, moments and scale, of those rows that count."""
    if isinstance(target, Classes):
        return target.codes if rows is None else target.codes[rows], None, None
    values = target.values if rows is None else target.values[rows]
    ranks = np.unique(values, return_inverse=True)[1].astype(np.int32)
    n_points = len(values) if repetitions is None else int(repetitions.sum())
    moment, scale = fixed_point(values, mass, n_points)
    return ranks, moment, scale


def fixed_point(
    values: NDArray[np.float64], mass: NDArray[np.int64] | None, n_points: int
) -> tuple[NDArray[np.int64], Scale]:
    """Turn targets, times their mass, into whole numbers.

    Their sums stay below 2^61, also in bags that repeat points.

    Examples
    --------
    >>> import numpy as np
    >>> moment, scale = fixed_point(np.array([1.0, 2.0, 4.0]), None, 3)
    >>> (moment * scale.unit + scale.centre).tolist()
    [1.0, 2.0, 4.0]
    """
    lowest, highest = float(values.min()), float(values.max())
    centre = lowest / 2 + highest / 2
    exponent = math.frexp(max(highest - centre, centre - lowest))[1]
    if mass is None:
        bits = 61 - n_points.bit_length()
        moment = np.rint(np.ldexp(values - centre, bits - exponent))
    else:
        weight = np.ldexp(mass.astype(np.float64), -51)
        moment = np.rint(np.ldexp(weight * (values - centre), 54 - exponent))
        bits = 54 - 51
    step = math.ldexp(1.0, -bits)
    scale = Scale(centre, math.ldexp(1.0, exponent - bits), step, exponent)
    return moment.astype(np.int64), scale


def as_repetitions(sample_weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole-number weights mean so many equal rows."""
    total = np.minimum(sample_weight, MAX_POINTS + 1).sum()
    if total > MAX_POINTS:
        raise ValueError(
            "sample_weight has whole numbers only, so each is a number of repetitions; "
            f"they add up to {total:.4g} rows or more, at most {MAX_POINTS} are "
            "allowed. Divide the weights if they are not meant as repetitions."
        )
    return sample_weight.astype(np.int64)


def as_mass(sample_weight: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Real weights as whole numbers whose sums are exact, and a unit for them.

    Only ratios of weights matter, so they are scaled by a power of two that brings
    their sum between 2^50 and 2^51. In terms of the unit the mean is about 1.
    """
    # fsum does not depend on the order of the rows; in two steps nothing overflows.
    small = np.ldexp(sample_weight, -math.frexp(sample_weight.max())[1])
    mass = np.rint(np.ldexp(small, 51 - math.frexp(math.fsum(small))[1]))
    unit = math.ldexp(1.0, math.frexp(len(sample_weight))[1] - 51)
    return np.maximum(mass, 1).astype(np.int64), unit
