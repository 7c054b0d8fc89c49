# SPDX-License-Identifier: BSD-3-Clause
"""What fit is told beside the table: targets, sample weights, class weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from mrforest._sklearn import check_sample_weight

MAX_CLASSES = 65_535
CODED_TOGETHER = 1 << 16  # labels: NumPy's indices are twice as long as codes
MAX_TARGET = 1e303
MAX_RATIO = 1e30  # of class weights: masses of leaves are 32-bit floats


def read_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the distinct labels, sorted, and the index of each row's label."""
    classes, codes = distinct(y)
    check_classification_targets(y)
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"y has {len(classes)} classes; at most {MAX_CLASSES} are allowed"
        )
    return classes, codes


def distinct(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the distinct values, sorted, and the index of each row's."""
    try:
        values = np.unique(y)
    except TypeError as error:  # None beside strings, for example
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(
            f"y must hold labels of one kind, without missing values; it mixes {kinds}"
        ) from error
    codes = np.empty(len(y), dtype=np.int32)
    for first in range(0, len(y), CODED_TOGETHER):
        rows = slice(first, first + CODED_TOGETHER)
        codes[rows] = np.searchsorted(values, y[rows])
    return values, codes


def read_numbers(y: NDArray[Any]) -> NDArray[np.float64]:
    """Return the targets of a regression as finite float64."""
    try:
        numbers: NDArray[np.float64] = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must hold numbers; it has the dtype {np.asarray(y).dtype}"
        ) from error
    assert_all_finite(numbers, input_name="y")
    if (largest := np.abs(numbers).max()) > MAX_TARGET:
        raise ValueError(
            f"y has a value of size {largest:g}; at most {MAX_TARGET:g} is allowed, "
            "so that sums over trees are in range"
        )
    return numbers


def read_sample_weight(
    sample_weight: ArrayLike | None, X: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Check the weights of the rows: finite, not negative, not all 0."""
    if sample_weight is None:
        return None
    weights: NDArray[np.float64] = check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weights.any():
        raise ValueError("sample_weight is 0 everywhere; some row must count")
    return weights


def class_masses(
    codes: NDArray[np.int32], n_classes: int, sample_weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the rows, or their weight, of each class."""
    if sample_weight is not None:
        # Summed from small to large, the order of the rows does not show.
        order = np.lexsort((sample_weight, codes))
        codes, sample_weight = codes[order], sample_weight[order]
    return np.bincount(codes, sample_weight, minlength=n_classes).astype(np.float64)


def read_class_weight(
    class_weight: dict[Any, float] | Literal["balanced"] | None,
    classes: NDArray[Any],
    masses: Callable[[], NDArray[np.float64]],
) -> NDArray[np.float64] | None:
    """Return a weight for each class; balanced ones give all classes the same mass."""
    if class_weight is None:
        return None
    weights: NDArray[np.float64]
    if class_weight == "balanced":
        # compute_class_weight knows sample weights only in newer versions.
        mass = masses()
        present = mass > 0
        weights = np.zeros(len(classes))
        weights[present] = mass.sum() / (present.sum() * mass[present])
    else:
        weights = compute_class_weight(class_weight, classes=classes, y=classes)
        weights = weights.astype(np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError(
            f"class_weight={class_weight!r}: weights must be finite, not negative, "
            "and not all 0"
        )
    smallest, largest = weights[weights > 0].min(), weights.max()
    if largest / smallest > MAX_RATIO:
        raise ValueError(
            f"class_weight={class_weight!r}: the largest weight may be at most "
            f"{MAX_RATIO:g} times the smallest that is not 0"
        )
    # Only ratios matter; near 1, no sum and no 32-bit mass can overflow.
    return np.ldexp(weights, -math.frexp(largest)[1])
