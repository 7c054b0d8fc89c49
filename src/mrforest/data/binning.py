# SPDX-License-Identifier: BSD-3-Clause
"""Numbers to codes: one sorted list of cuts a feature.

A cut is a midpoint between two values of the training rows. The code of a number is how
many cuts lie below it, so ``x <= cuts[c]`` is the same as ``code <= c``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest._threads import in_parts, in_threads

MAX_EXACT_BINS = 65_535
MAX_NARROW_BINS = 255
COLUMNS_TOGETHER = 128  # of which few values are found: a few cache lines of a row
MOST_FEW_VALUES = 255  # of a column that need not be sorted
# Whole numbers of a column that may be codes of something: equality is offered, too.
MOST_EQUAL_VALUES = 32


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
    equal_values, equal_start : ndarray of float64, ndarray of int64, or None
        Numeric features that may be cut by equality, too: the value of each code, and
        where each feature's begin (n_features + 1 of them; others have none).
    """

    cuts: NDArray[np.float64]
    cuts_start: NDArray[np.int64]
    n_bins: NDArray[np.int32]
    is_categorical: NDArray[np.bool_]
    equal_values: NDArray[np.float64] | None = None
    equal_start: NDArray[np.int64] | None = None

    @property
    def code_dtype(self) -> Any:
        """One byte if every feature has at most 255 bins, else two."""
        narrow = int(self.n_bins.max()) <= MAX_NARROW_BINS
        return np.uint8 if narrow else np.uint16

    def thresholds(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """All that a node may ask for, by feature, ascending; and where each begins.

        Cuts or categories, and infinity: every value goes left, missing ones right.

        Examples
        --------
        >>> import numpy as np
        >>> binning = Binning(
        ...     cuts=np.array([1.5, 2.5]),
        ...     cuts_start=np.array([0, 2, 2]),
        ...     n_bins=np.array([3, 2], dtype=np.int32),
        ...     is_categorical=np.array([False, True]),
        ... )
        >>> thresholds, start = binning.thresholds()
        >>> thresholds.tolist(), start.tolist()
        ([1.5, 2.5, inf, 0.0, 1.0, inf], [0, 3, 6])
        """
        lengths = self.n_bins + self.is_categorical
        start = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        thresholds = np.arange(start[-1]) - np.repeat(start[:-1], lengths) + 0.0
        thresholds[start[1:] - 1] = np.inf
        is_cut = np.repeat(~self.is_categorical, lengths)
        is_cut[start[1:] - 1] = False
        thresholds[is_cut] = self.cuts
        if self.equal_values is None or self.equal_start is None:
            return thresholds, start
        feature = np.repeat(np.arange(len(lengths)), lengths)
        more = np.repeat(np.arange(len(lengths)), np.diff(self.equal_start))
        thresholds = np.concatenate([thresholds, self.equal_values])
        feature = np.concatenate([feature, more])
        order = np.lexsort((thresholds, feature))
        start = start + self.equal_start
        return thresholds[order], start

    def encode(
        self, X: NDArray[np.float64], n_threads: int = 1
    ) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """Codes of a table."""
        codes = np.empty(X.shape, dtype=self.code_dtype)

        def encode_rows(rows: slice) -> None:
            _core.encode(
                X[rows],
                self.cuts,
                self.cuts_start,
                self.n_bins,
                self.is_categorical.view(np.uint8),
                codes[rows],
            )

        in_parts(encode_rows, len(X), n_threads)
        return codes


def find_bins(
    X: NDArray[np.float64],
    n_categories: NDArray[np.int32],
    max_bins: int | Literal["exact"],
    repetitions: NDArray[np.int64] | None,
    n_threads: int = 1,
    *,
    offer_equality: bool = False,
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
    n_threads : int, default=1
        Threads for the columns. The cuts do not depend on it.
    offer_equality : bool, default=False
        Whether numeric features of few values, all whole numbers, may be cut by
        equality, too.

    Returns
    -------
    Binning
    """
    limit = most_bins(max_bins)
    is_categorical = n_categories >= 0
    found = in_parts(partial(few_values, X), X.shape[1], n_threads)
    values = np.concatenate([values for values, _, _ in found])
    n_values = np.concatenate([n_values for _, n_values, _ in found])
    n_listed = np.concatenate([n_listed for _, _, n_listed in found])
    n_midpoints = np.where(is_categorical, 0, np.maximum(n_values - 1, 0))
    is_few = n_midpoints < min(limit, MOST_FEW_VALUES)
    many = np.flatnonzero(~is_few).tolist()
    # Memory that a thread asks for itself stays the thread's when it is done with it.
    rooms = [np.empty(len(X)) for _ in range(min(n_threads, len(many)))]

    def sort(column: int) -> NDArray[np.float64]:
        room = rooms.pop()
        room[:] = X[:, column]
        cuts = cuts_of(room, limit, repetitions)
        rooms.append(room)
        return cuts

    sorted_ones = in_threads(sort, many, n_threads)
    middle = midpoints(values[:-1], values[1:])
    first = np.cumsum(n_listed) - n_listed
    cuts = [
        middle[start : start + n] if few else next(sorted_ones)
        for few, start, n in zip(
            is_few.tolist(), first.tolist(), n_midpoints.tolist(), strict=True
        )
    ]
    binning = binning_of(cuts, n_categories)
    if not offer_equality:
        return binning
    return offering_equality(binning, values, n_listed, is_few)


def offering_equality(
    binning: Binning,
    values: NDArray[np.float64],
    n_listed: NDArray[np.int64],
    is_few: NDArray[np.bool_],
) -> Binning:
    """Let numeric features of few values, all whole numbers, be cut by equality, too.

    Parameters
    ----------
    binning : Binning
    values : ndarray of float64
        Distinct values of each feature, ascending, one feature after the other.
    n_listed : ndarray of shape (n_features,), dtype=int64
        How many these are.
    is_few : ndarray of shape (n_features,), dtype=bool
        Whether they are all values of the feature, and all midpoints are cuts.
    """
    first = np.cumsum(n_listed) - n_listed
    is_whole = np.zeros(len(values) + 1)
    is_whole[1:] = np.cumsum(values == np.floor(values))
    n_whole = is_whole[first + n_listed] - is_whole[first]
    may_be_codes = (
        is_few
        & ~binning.is_categorical
        & (n_listed > 2)
        & (n_listed <= MOST_EQUAL_VALUES)
        & (n_whole == n_listed)
    )
    if not may_be_codes.any():
        return binning
    lengths = np.where(may_be_codes, n_listed, 0)
    return replace(
        binning,
        equal_values=values[np.repeat(may_be_codes, n_listed)],
        equal_start=np.concatenate([[0], np.cumsum(lengths)]),
    )


def most_bins(max_bins: int | Literal["exact"]) -> int:
    """Return how many distinct values a feature may have without quantiles."""
    return MAX_EXACT_BINS if max_bins == "exact" else max_bins


def binning_of(
    cuts: list[NDArray[np.float64]], n_categories: NDArray[np.int32]
) -> Binning:
    """Return the binning of these cuts of each feature; categories have none."""
    is_categorical = n_categories >= 0
    lengths = np.array([len(c) for c in cuts], dtype=np.int64)
    return Binning(
        cuts=np.concatenate(cuts),
        cuts_start=np.concatenate([[0], np.cumsum(lengths)]),
        n_bins=np.where(is_categorical, n_categories, lengths + 1).astype(np.int32),
        is_categorical=is_categorical,
    )


def few_values(
    X: NDArray[np.float64], columns: slice
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return values of columns that have few, how many there are, and are listed."""
    listed, counts = [], []
    for first in range(columns.start, columns.stop, COLUMNS_TOGETHER):
        end = min(first + COLUMNS_TOGETHER, columns.stop)
        values, n_values = _core.distinct_values(X, first, end)
        n_listed = np.where(n_values > MOST_FEW_VALUES, 0, n_values)
        listed.append(values[np.arange(MOST_FEW_VALUES) < n_listed[:, np.newaxis]])
        counts.append(n_values)
    n_values = np.concatenate(counts)
    n_listed = np.where(n_values > MOST_FEW_VALUES, 0, n_values)
    return np.concatenate(listed), n_values, n_listed


def cuts_of(
    values: NDArray[np.float64],
    max_bins: int,
    repetitions: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Sorted cuts of one feature: every midpoint, or those at the quantiles.

    The values are left in another order.

    Examples
    --------
    >>> import numpy as np
    >>> cuts_of(np.array([3.0, 1.0, 2.0, 1.0, np.nan]), max_bins=255)
    array([1.5, 2.5])
    """
    by_value = None if repetitions is None else np.argsort(values, kind="stable")
    values.sort()  # NaN last
    ordered = values[: np.searchsorted(values, np.nan)]
    is_last = ordered[1:] != ordered[:-1]  # of several equal ones
    if np.count_nonzero(is_last) < max_bins:
        distinct = np.append(ordered[:-1][is_last], ordered[-1:])
        return midpoints(distinct[:-1], distinct[1:])
    # The first value up to which the q-th share of all points lies, in whole numbers.
    q = np.arange(1, max_bins, dtype=np.int64)
    if repetitions is None or by_value is None:
        low = ordered[-(-q * len(ordered) // max_bins) - 1]
    else:
        up_to = np.cumsum(repetitions[by_value[: len(ordered)]])
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
