# SPDX-License-Identifier: BSD-3-Clause
"""Numbers to codes: one sorted list of cuts a feature.

A cut is a midpoint between two values of the training rows. The code of a number is how
many cuts lie below it, so ``x <= cuts[c]`` is the same as ``code <= c``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mrforest import _core

MAX_EXACT_BINS = 65_535
MAX_NARROW_BINS = 255


@dataclass(frozen=True)
class Binning:
    """Cuts of all features.

    Attributes
    ----------
    cuts : ndarray of float64
        Cuts of all features, one feature after the other.
    cuts_start : ndarray of shape (n_features + 1,), dtype=int64
        First cut of each feature, and the end.
    n_bins : ndarray of shape (n_features,), dtype=int32
        Number of codes of each feature; the code of a missing value is ``n_bins``.
    is_categorical : ndarray of shape (n_features,), dtype=bool
        Features whose values are codes already; they have no cuts.
    """

    cuts: NDArray[np.float64]
    cuts_start: NDArray[np.int64]
    n_bins: NDArray[np.int32]
    is_categorical: NDArray[np.bool_]

    def encode(self, X: NDArray[np.float64]) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """Codes of a table: one byte each if every feature has at most 255 bins."""
        narrow = int(self.n_bins.max()) <= MAX_NARROW_BINS
        codes = np.empty(X.shape, dtype=np.uint8 if narrow else np.uint16)
        _core.encode(
            X,
            self.cuts,
            self.cuts_start,
            self.n_bins,
            self.is_categorical.view(np.uint8),
            codes,
        )
        return codes


def find_bins(
    X: NDArray[np.float64],
    n_categories: NDArray[np.int32],
    max_bins: int | Literal["exact"],
    repetitions: NDArray[np.int64] | None,
) -> Binning:
    """Choose the cuts of every feature from the training rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), dtype=float64
        Numbers, or indices of categories; NaN is missing.
    n_categories : ndarray of shape (n_features,), dtype=int32
        -1 for a numeric feature.
    max_bins : int or "exact"
        A feature with more distinct values is cut at quantiles.
    repetitions : ndarray of shape (n_rows,), dtype=int64, or None
        How many points each row stands for.

    Returns
    -------
    Binning
    """
    limit = MAX_EXACT_BINS if max_bins == "exact" else max_bins
    is_categorical = n_categories >= 0
    values, n_values = _core.distinct_values(X)
    middle = midpoints(values[:, :-1], values[:, 1:])
    n_midpoints = np.where(is_categorical, 0, np.maximum(n_values - 1, 0))
    cuts = [
        middle[j, :n]
        if n < min(limit, values.shape[1])
        else cuts_of(X[:, j], limit, repetitions)
        for j, n in enumerate(n_midpoints)
    ]
    lengths = np.array([len(c) for c in cuts], dtype=np.int64)
    return Binning(
        cuts=np.concatenate(cuts),
        cuts_start=np.concatenate([[0], np.cumsum(lengths)]),
        n_bins=np.where(is_categorical, n_categories, lengths + 1).astype(np.int32),
        is_categorical=is_categorical,
    )


def cuts_of(
    values: NDArray[np.float64],
    max_bins: int,
    repetitions: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Sorted cuts of one feature: every midpoint, or those at the quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> cuts_of(np.array([3.0, 1.0, 2.0, 1.0, np.nan]), max_bins=255)
    array([1.5, 2.5])
    """
    ordered = np.sort(values)  # NaN last
    ordered = ordered[: len(ordered) - np.count_nonzero(np.isnan(values))]
    is_last = ordered[1:] != ordered[:-1]  # of several equal ones
    if np.count_nonzero(is_last) < max_bins:
        distinct = np.append(ordered[:-1][is_last], ordered[-1:])
        return midpoints(distinct[:-1], distinct[1:])
    # The first value up to which the q-th share of all points lies, in whole numbers.
    q = np.arange(1, max_bins, dtype=np.int64)
    if repetitions is None:
        low = ordered[-(-q * len(ordered) // max_bins) - 1]
    else:
        present = ~np.isnan(values)
        by_value = np.argsort(values[present], kind="stable")
        up_to = np.cumsum(repetitions[present][by_value])
        low = ordered[np.searchsorted(up_to * max_bins, q * up_to[-1])]
    low = np.unique(low)
    above = np.searchsorted(ordered, low, side="right")
    low, above = low[above < len(ordered)], above[above < len(ordered)]
    return midpoints(low, ordered[above])


def midpoints(
    low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Numbers that separate: ``low <= midpoint < high``, whatever rounding does."""
    middle = low / 2 + high / 2
    return np.where((middle >= low) & (middle < high), middle, low)
