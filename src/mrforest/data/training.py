# SPDX-License-Identifier: BSD-3-Clause
"""Training rows as the engine reads them: coded, weighted, in canonical order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.data.binning import find_bins

MAX_POINTS = 2**31 - 1


@dataclass(frozen=True)
class TrainingSet:
    """What every tree of a forest is grown from.

    Attributes
    ----------
    table : TrainingTable
        Distinct rows, in canonical order.
    points : ndarray of shape (n_points,), dtype=int32
        The row of ``table`` that each point stands in. A row of whole-number weight w
        is w points.
    origin : ndarray of shape (n_points,), dtype=int32
        The row of the user's table that each point came from.
    mass_unit : float
        What leaf masses are multiplied by, a power of two: 1 for points, for real
        sample weights such that their mean is about 1.
    """

    table: _core.TrainingTable
    points: NDArray[np.int32]
    origin: NDArray[np.int32]
    mass_unit: float


def prepare(
    X: NDArray[np.float64],
    y: NDArray[np.int32],
    *,
    n_classes: int,
    n_categories: NDArray[np.int32],
    max_bins: int | Literal["exact"],
    sample_weight: NDArray[np.float64] | None,
    class_weight: NDArray[np.float64] | None,
    criterion: str,
) -> TrainingSet:
    """Code the rows and put them in an order that does not depend on the given one.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), dtype=float64
    y : ndarray of shape (n_rows,), dtype=int32
        Class codes.
    n_classes : int
    n_categories : ndarray of shape (n_features,), dtype=int32
        -1 for a numeric feature.
    max_bins : int or "exact"
    sample_weight : ndarray of shape (n_rows,), dtype=float64, or None
        Finite, not negative, not all 0.
    class_weight : ndarray of shape (n_classes,), dtype=float64, or None
    criterion : {"gini", "entropy"}

    Returns
    -------
    TrainingSet
    """
    if len(X) > MAX_POINTS:
        raise ValueError(f"X has {len(X)} rows; at most {MAX_POINTS} are allowed")
    rows = np.arange(len(X))
    repetitions, mass, mass_unit = None, None, 1.0
    if sample_weight is not None:
        rows = np.flatnonzero(sample_weight > 0)
        sample_weight = sample_weight[rows]
        if np.array_equal(sample_weight, np.floor(sample_weight)):
            repetitions = as_repetitions(sample_weight)
        else:
            mass, mass_unit = as_mass(sample_weight)
        if len(rows) < len(X):
            X, y = X[rows], y[rows]

    binning = find_bins(X, n_categories, max_bins, repetitions)
    codes = binning.encode(X)
    # Rows of equal fingerprint are equal rows (or one pair in 2^64): any order of them
    # will do.
    fingerprints = _core.fingerprints(codes, y)
    if mass is None:
        order = np.argsort(fingerprints, kind="stable")
    else:
        order = np.lexsort((mass, fingerprints))
        mass = mass[order]
    points = np.arange(len(order), dtype=np.int32)
    if repetitions is not None:
        points = np.repeat(points, repetitions[order])
    table = _core.TrainingTable(
        codes[order],
        y[order],
        n_classes,
        binning.n_bins,
        binning.is_categorical,
        binning.cuts,
        binning.cuts_start,
        mass,
        class_weight,
        criterion,
    )
    return TrainingSet(table, points, rows[order][points].astype(np.int32), mass_unit)


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
