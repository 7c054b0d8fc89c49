# SPDX-License-Identifier: BSD-3-Clause
"""Candidate splits that come from public information alone.

A numeric feature has up to 254 cuts: the edges of a uniform grid of its bounds and,
because many features crowd at one end, ever finer ones near both ends:

    low  |||| | | |  |  |   |   |   |   |  ...  |   |   |   |  |  | | | ||||  high

Not all of them are candidates at once. Splits above leave a region of the table an
interval of each feature, which is public as they are: a box. Its candidates are the
cuts that part the box into equal cells, as well as the grid has them, and some near an
end of the box that is a bound; so they are few, and the finer the smaller the box is.
A categorical feature is split by "is it v?".

Every candidate has a base measure, a whole number over that of its feature, so that all
features count the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Cells into which the candidates of a feature part a box: the more, the fewer features
# have so many cuts
CELLS = (64, 32, 16)
MOST_EDGES = 384  # features times cells, unless cells are the fewest
MOST_ALL = 16  # cuts in a box that are all candidates
N_DYADIC = 11  # the finest candidate near a bound is this many halvings away from it
UNIFORM_SHARE = 10  # an edge of these cells weighs as much as so many that are nearer
MOST_CODES = 255  # of a feature
MAX_CATEGORIES = 254
LARGEST_TOTAL = UNIFORM_SHARE * CELLS[0] + 2 * N_DYADIC  # of the measures of a number

# Cells of the whole grid, a power of two; octaves beyond them near each end, and cells
# of an octave
N_UNIFORM = 128
N_OCTAVES = 7
N_IN_OCTAVE = 8


@dataclass(frozen=True)
class Numeric:
    """Bounds of a numeric feature; ``is_whole``: it takes whole numbers only."""

    low: float
    high: float
    is_whole: bool = False

    def cuts(self) -> NDArray[np.float64]:
        """Return all cuts, ascending.

        Examples
        --------
        >>> Numeric(0, 3, is_whole=True).cuts().tolist()
        [0.5, 1.5, 2.5]
        """
        if self.is_whole and self.high - self.low < MOST_CODES:
            return np.arange(self.low, self.high) + 0.5
        uniform = np.arange(1, N_UNIFORM) / N_UNIFORM
        steps = 1 + np.arange(N_IN_OCTAVE) / N_IN_OCTAVE
        octaves = 0.5 ** np.arange(1, N_OCTAVES + 1) / N_UNIFORM
        near = np.outer(octaves, steps).ravel()
        cuts = self.low + (self.high - self.low) * np.r_[near, uniform, 1 - near]
        if self.is_whole:
            cuts = np.floor(cuts) + 0.5
        # Edges that rounding lays upon each other are one cut; one that it lays upon a
        # bound cuts nothing off.
        return np.unique(cuts[(cuts >= self.low) & (cuts < self.high)])


@dataclass(frozen=True)
class Grid:
    """Codes of a table, and the candidates at them.

    Attributes
    ----------
    cuts : ndarray of float64
        Thresholds of all numeric features.
    cuts_start : ndarray of shape (n_features + 1,), dtype=int64
    ends : ndarray of shape (n_features, 2)
        Bounds of numeric features.
    n_cells : int
        Into which the candidates of a numeric feature part a box.
    n_codes : ndarray of shape (n_features,), dtype=int32
        A row has the code i if i cuts lie below it, or if it is in category i; the last
        code of a categorical feature is that of all other values.
    slot : ndarray of shape (n_features + 1,), dtype=int32
        First code of each feature, and the end.
    is_categorical : ndarray of shape (n_features,), dtype=bool
    measure : ndarray of shape (n_codes.sum(),), dtype=int64
        Base measure of the cut after each code, or of "is it this category?"; 0: that
        is no candidate.
    total : ndarray of shape (n_features,), dtype=int64
        What the base measures of a feature are divided by: their sum.
    """

    cuts: NDArray[np.float64]
    cuts_start: NDArray[np.int64]
    ends: NDArray[np.float64]
    n_cells: int
    n_codes: NDArray[np.int32]
    slot: NDArray[np.int32]
    is_categorical: NDArray[np.bool_]
    measure: NDArray[np.int64]
    total: NDArray[np.int64]

    @classmethod
    def of(cls, features: Sequence[Numeric | Sequence[Any]]) -> Grid:
        """Lay the grid of numeric features and of lists of categories."""
        cuts = [f.cuts() if isinstance(f, Numeric) else np.empty(0) for f in features]
        n_codes = np.array(
            [
                1 + len(own if isinstance(feature, Numeric) else feature)
                for feature, own in zip(features, cuts, strict=True)
            ],
            dtype=np.int32,
        )
        slot = np.cumsum([0, *n_codes], dtype=np.int32)
        n_wide = sum(len(own) > MOST_ALL for own in cuts)
        bare = cls(
            cuts=np.concatenate(cuts),
            cuts_start=np.cumsum([0, *map(len, cuts)]),
            ends=np.array(
                [
                    (f.low, f.high) if isinstance(f, Numeric) else (0, 0)
                    for f in features
                ],
                dtype=np.float64,
            ),
            n_cells=next((n for n in CELLS if n * n_wide <= MOST_EDGES), CELLS[-1]),
            n_codes=n_codes,
            slot=slot,
            is_categorical=np.array([not isinstance(f, Numeric) for f in features]),
            measure=np.zeros(slot[-1], dtype=np.int64),
            total=np.ones(len(features), dtype=np.int64),
        )
        return bare.with_measures(
            {j: bare.measures(j, 0, n - 1) for j, n in enumerate(n_codes.tolist())}
        )

    def with_measures(self, measures: Mapping[int, NDArray[np.int64]]) -> Grid:
        """Return the grid with other candidates of some features."""
        measure, total = self.measure.copy(), self.total.copy()
        for feature, own in measures.items():
            measure[self.slot[feature] : self.slot[feature + 1]] = own
            total[feature] = max(int(own.sum()), 1)
        return replace(self, measure=measure, total=total)

    def measures(self, feature: int, low: int, high: int) -> NDArray[np.int64]:
        """Return the base measures of a feature's candidates between two codes."""
        n_codes = int(self.n_codes[feature])
        measure = np.zeros(n_codes, dtype=np.int64)
        if self.is_categorical[feature]:
            measure[:] = low < high  # of a single category nothing can be asked
            return measure
        if high - low <= MOST_ALL:
            measure[low:high] = 1
            return measure
        cuts = self.cuts[self.cuts_start[feature] : self.cuts_start[feature + 1]]
        first = self.ends[feature, 0] if low == 0 else cuts[low - 1]
        last = self.ends[feature, 1] if high == n_codes - 1 else cuts[high]
        inside, span = cuts[low:high], last - first
        near = 0.5 ** np.arange(self.n_cells.bit_length(), N_DYADIC + 1)
        if low == 0:
            measure[low + nearest(inside, first + span * near)] = 1
        if high == n_codes - 1:
            measure[low + nearest(inside, last - span * near)] = 1
        uniform = first + span * (np.arange(1, self.n_cells) / self.n_cells)
        measure[low + nearest(inside, uniform)] = UNIFORM_SHARE
        return measure

    def with_stop(self, weight: int) -> Grid:
        """Return the grid with one more candidate: not to split.

        It asks for the only category of a feature that is the same in all rows, and
        so has all rows on one side. Base measures of other features sum to 1 each, and
        that of this candidate is `weight`.
        """
        return Grid(
            cuts=self.cuts,
            cuts_start=np.append(self.cuts_start, self.cuts_start[-1]),
            ends=np.append(self.ends, [[0.0, 0.0]], axis=0),
            n_cells=self.n_cells,
            n_codes=np.append(self.n_codes, np.int32(1)),
            slot=np.append(self.slot, self.slot[-1] + np.int32(1)),
            is_categorical=np.append(self.is_categorical, True),
            measure=np.append(self.measure, weight),
            total=np.append(self.total, 1),
        )

    def only(self, features: NDArray[np.intp]) -> Grid:
        """Return the grid of some of the features."""

        def joined(array: NDArray[Any], start: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate(
                [array[:0], *(array[start[j] : start[j + 1]] for j in features)]
            )

        n_cuts = np.diff(self.cuts_start)[features]
        n_codes = self.n_codes[features]
        return Grid(
            cuts=joined(self.cuts, self.cuts_start),
            cuts_start=np.cumsum([0, *n_cuts]),
            ends=self.ends[features],
            n_cells=self.n_cells,
            n_codes=n_codes,
            slot=np.cumsum([0, *n_codes], dtype=np.int32),
            is_categorical=self.is_categorical[features],
            measure=joined(self.measure, self.slot),
            total=self.total[features],
        )

    @cached_property
    def n_candidates(self) -> int:
        """How many splits there are."""
        return int(np.count_nonzero(self.measure))

    def feature_of(self, candidate: int) -> tuple[int, int]:
        """Return the feature and the code of a candidate."""
        feature = int(np.searchsorted(self.slot, candidate, side="right")) - 1
        return feature, candidate - int(self.slot[feature])


def nearest(cuts: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return which of ascending cuts is the nearest to each value."""
    middles = (cuts[1:] + cuts[:-1]) / 2
    return np.searchsorted(middles, values)
