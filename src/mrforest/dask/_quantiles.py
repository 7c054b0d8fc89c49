# SPDX-License-Identifier: BSD-3-Clause
"""The cuts that `find_bins` would choose, from the partitions of a table.

If a feature has few distinct values, each partition lists all of its own. If it has
many, exact quantiles are found in two passes over the partitions:

    first pass    some values of each partition, with the number of values at or below
                  each. They tell between which two values each quantile lies.
    second pass   the values in these ranges, with their counts

Counts are whole numbers, so the cuts do not depend on the partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrforest.data.binning import midpoints

# Values of a feature that the first pass ranks, at least, if there are so many. The
# second pass then looks at about one value in eight.
MIN_RANKED = 4096


@dataclass(frozen=True)
class RankedValues:
    """Some values of a feature in one partition, and their ranks.

    Attributes
    ----------
    values : ndarray of float64
        Distinct, ascending; the smallest and the largest are among them.
    n_below, n_up_to : ndarray of int64
        How many values of the partition are smaller than each, and at most as large.
    is_all : bool
        Whether every distinct value is there.
    """

    values: NDArray[np.float64]
    n_below: NDArray[np.int64]
    n_up_to: NDArray[np.int64]
    is_all: bool

    @property
    def n(self) -> int:
        """Number of values of the partition, without missing ones."""
        return int(self.n_up_to[-1]) if len(self.n_up_to) else 0

    def bounds(
        self, values: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return bounds on how many values of the partition are at most these."""
        place = np.searchsorted(self.values, values, side="right")
        least = np.append(0, self.n_up_to)[place]
        if self.is_all:
            return least, least
        is_ranked = np.append(np.nan, self.values)[place] == values
        most = np.append(self.n_below, self.n)[place]
        return least, np.where(is_ranked, least, most)


def rank_values(column: NDArray[np.float64], n_ranked: int) -> RankedValues:
    """Rank all distinct values of a column, or at least so many, evenly spread.

    Examples
    --------
    >>> import numpy as np
    >>> ranked = rank_values(np.array([2.0, 1.0, np.nan, 2.0]), 10)
    >>> ranked.values, ranked.n_below, ranked.n_up_to, ranked.is_all
    (array([1., 2.]), array([0, 1]), array([1, 3]), True)
    """
    ordered = in_order(column)
    values = distinct_of(ordered)
    is_all = len(values) <= n_ranked
    if not is_all:
        values = np.unique(ordered[evenly(len(ordered), n_ranked)])
    return RankedValues(
        values,
        np.searchsorted(ordered, values, side="left"),
        np.searchsorted(ordered, values, side="right"),
        is_all,
    )


def in_order(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sort the values of a column that are not missing."""
    ordered: NDArray[np.float64] = np.sort(column)  # NaN last
    present: NDArray[np.float64] = ordered[: np.searchsorted(ordered, np.nan)]
    return present


def distinct_of(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each of the sorted values once."""
    is_last = np.append(ordered[1:] != ordered[:-1], True)[: len(ordered)]
    distinct: NDArray[np.float64] = ordered[is_last]
    return distinct


def evenly(n: int, n_chosen: int) -> NDArray[np.int64]:
    """Return places in [0, n), first and last among them."""
    return np.arange(n_chosen, dtype=np.int64) * (n - 1) // (n_chosen - 1)


@dataclass(frozen=True)
class QuantileRanges:
    """Where the quantiles of one feature lie: in disjoint ranges (low, high].

    Attributes
    ----------
    low, high : ndarray of float64
        Ascending. The first range may begin at -inf.
    targets : ndarray of int64
        Ranks of the quantiles, the smallest value has 1.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    targets: NDArray[np.int64]


@dataclass(frozen=True)
class RangeValues:
    """What a partition has in the ranges of one feature.

    Attributes
    ----------
    n_below : ndarray of int64
        Values at or below the low end of each range.
    values, counts : list of ndarray
        Distinct values in each range, and how many of each there are.
    above : ndarray of float64
        The smallest value above each range; inf: there is none.
    """

    n_below: NDArray[np.int64]
    values: list[NDArray[np.float64]]
    counts: list[NDArray[np.int64]]
    above: NDArray[np.float64]


def cuts_or_ranges(
    parts: Sequence[RankedValues], max_bins: int
) -> NDArray[np.float64] | QuantileRanges:
    """Return the cuts of a feature, or the ranges in which its quantiles lie.

    Parameters
    ----------
    parts : sequence of RankedValues
        Each with more than `max_bins` values, or all.
    max_bins : int
        A feature with more distinct values is cut at quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> parts = [rank_values(np.array(values), 10) for values in ([1.0, 2.0], [4.0])]
    >>> cuts_or_ranges(parts, 255)
    array([1.5, 3. ])
    """
    known = np.unique(np.concatenate([part.values for part in parts]))
    if all(part.is_all for part in parts) and len(known) <= max_bins:
        return midpoints(known[:-1], known[1:])
    n = sum(part.n for part in parts)
    targets = -(-np.arange(1, max_bins, dtype=np.int64) * n // max_bins)
    bounds = [part.bounds(known) for part in parts]
    least = np.sum([bound for bound, _ in bounds], axis=0)
    most = np.sum([bound for _, bound in bounds], axis=0)
    # The quantile of rank r is larger than every value with surely fewer than r values
    # at or below it, and no larger than the first value with surely r of them.
    low = np.append(-np.inf, known)[np.searchsorted(most, targets, side="left")]
    high = known[np.searchsorted(least, targets, side="left")]
    return QuantileRanges(*join_ranges(low, high), targets)


def join_ranges(
    low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Join ranges that overlap; both ends ascend.

    Examples
    --------
    >>> import numpy as np
    >>> join_ranges(np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0]))
    (array([0., 5.]), array([3., 6.]))
    """
    begins = np.append(True, low[1:] >= high[:-1])
    return low[begins], high[np.append(begins[1:], True)]


def values_in_ranges(
    column: NDArray[np.float64], ranges: QuantileRanges
) -> RangeValues:
    """Return the values of a partition in the ranges."""
    ordered = in_order(column)
    first = np.searchsorted(ordered, ranges.low, side="right")
    end = np.searchsorted(ordered, ranges.high, side="right")
    values, counts = [], []
    for i, j in zip(first.tolist(), end.tolist(), strict=True):
        inside = ordered[i:j]
        distinct = distinct_of(inside)
        up_to = np.searchsorted(inside, distinct, side="right")
        values.append(distinct)
        counts.append(np.diff(up_to, prepend=0))
    return RangeValues(first, values, counts, np.append(ordered, np.inf)[end])


def cuts_from_ranges(
    parts: Sequence[RangeValues], ranges: QuantileRanges
) -> NDArray[np.float64]:
    """Return the cuts at the quantiles."""
    n_below = np.sum([part.n_below for part in parts], axis=0)
    above = np.min([part.above for part in parts], axis=0)
    lows, highs = [], []
    place = 0
    for i in range(len(ranges.low)):
        values, which = np.unique(
            np.concatenate([part.values[i] for part in parts]), return_inverse=True
        )
        counts = np.concatenate([part.counts[i] for part in parts])
        up_to = n_below[i] + np.cumsum(np.bincount(which, counts, len(values)))
        end = np.searchsorted(ranges.targets, up_to[-1], side="right")
        found = np.searchsorted(up_to, ranges.targets[place:end], side="left")
        place = end
        lows.append(values[found])
        highs.append(np.append(values, above[i])[found + 1])
    low, first = np.unique(np.concatenate(lows), return_index=True)
    high = np.concatenate(highs)[first]
    has_next = high < np.inf
    return midpoints(low[has_next], high[has_next])
