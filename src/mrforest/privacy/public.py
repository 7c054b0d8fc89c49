# SPDX-License-Identifier: BSD-3-Clause
"""Public information about a table: bounds, lists of categories, classes.

A private forest reads nothing but this and the rows it pays for. What is not given must
not be read from the data: that voids the guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest.data.binning import Binning
from mrforest.data.table import Schema, read_columns, read_fit
from mrforest.privacy.grid import MAX_CATEGORIES, Grid, Numeric

LARGEST_BOUND = 2.0**1022  # their difference is a float, too

Feature = Numeric | tuple[Any, ...]


class PrivacyLeakWarning(UserWarning):
    """Something was read from the data that should have been public.

    Examples
    --------
    >>> import warnings
    >>> from mrforest import PrivateForestClassifier
    >>> from mrforest.privacy import PrivacyLeakWarning
    >>> forest = PrivateForestClassifier(1.0, on_missing_public="warn")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = forest.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> any(issubclass(warning.category, PrivacyLeakWarning) for warning in caught)
    True
    """


@dataclass(frozen=True)
class Columns:
    """What is known of the columns of a table.

    Attributes
    ----------
    features : tuple of (Numeric or tuple)
        Bounds, or categories, of each column.
    names : tuple of str or None
    """

    features: tuple[Feature, ...]
    names: tuple[str, ...] | None

    @cached_property
    def grid(self) -> Grid:
        """The candidate splits."""
        return Grid.of(self.features)

    @cached_property
    def schema(self) -> Schema:
        """What a table is read by; categories that are not listed become NaN."""
        return Schema(
            tuple(
                None if isinstance(feature, Numeric) else as_array(feature)
                for feature in self.features
            ),
            self.names,
        )

    def encode(self, X: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Codes on the grid of a table read by the schema.

        A number beyond a bound has the code of the bound. What is missing has the
        first code of a numeric column, and that of "other" in a categorical one.
        """
        grid = self.grid
        # A missing value gets the code n_bins.
        n_bins = grid.n_codes - grid.is_categorical.astype(np.int32)
        binning = Binning(grid.cuts, grid.cuts_start, n_bins, grid.is_categorical)
        codes = binning.encode(X).astype(np.uint8, copy=False)
        numeric = ~grid.is_categorical
        codes[:, numeric] = np.where(
            codes[:, numeric] == n_bins[numeric], 0, codes[:, numeric]
        )
        return codes


def as_array(values: tuple[Any, ...]) -> NDArray[Any]:
    """Return categories as an array: of numbers, or of whatever they are."""
    if all(isinstance(value, Number | np.bool_) for value in values):
        return np.array(values)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def read_categories(
    categories: Any, names: Sequence[str] | None, n_features: int
) -> dict[int, tuple[Any, ...]]:
    """Return the list of categories of each categorical feature.

    Parameters
    ----------
    categories : mapping or None
        Column (name or position) to the list of its categories.
    names : sequence of str or None
        Names of the columns, if the table has them.
    n_features : int

    Examples
    --------
    >>> read_categories({"sex": ["f", "m"]}, ["age", "sex"], 2)
    {1: ('f', 'm')}
    """
    if categories is None:
        return {}
    if not isinstance(categories, Mapping):
        raise ValueError(
            f"categories={categories!r} must map columns to lists of categories, such "
            "as {'colour': ['red', 'green']} or {3: [0, 1, 2]}"
        )
    found = {}
    for column, values in categories.items():
        place = position_of(column, names, n_features, "categories")
        if isinstance(values, str) or not np.iterable(values):
            raise ValueError(
                f"categories: {values!r} of column {column!r} must be a list"
            )
        listed = tuple(values)
        if not 1 <= len(set(listed)) == len(listed) <= MAX_CATEGORIES:
            raise ValueError(
                f"categories of column {column!r} must be 1 to {MAX_CATEGORIES} "
                f"different values; {len(listed)} are given, {len(set(listed))} "
                "different ones"
            )
        found[place] = listed
    return found


def position_of(
    column: Any, names: Sequence[str] | None, n_features: int, parameter: str
) -> int:
    """Return the position of a column that is given by name or position."""
    if isinstance(column, Integral) and not isinstance(column, bool):
        if 0 <= int(column) < n_features:
            return int(column)
    elif names is not None and column in names:
        return list(names).index(column)
    known = f"names {list(names)}" if names is not None else "no names"
    raise ValueError(
        f"{parameter}: X has no column {column!r}; it has {n_features} columns and "
        f"{known}"
    )


def read_bounds(
    bounds: Any,
    names: Sequence[str] | None,
    n_features: int,
    without: Sequence[int] = (),
) -> dict[int, Numeric]:
    """Return the bounds of the numeric features, as far as there are any.

    Parameters
    ----------
    bounds : pair, sequence of pairs or mapping
        One pair (low, high) for all numeric features; a pair for each feature, None for
        the categorical ones; or column (name or position) to its pair. A pair of
        integers (not floats) says that the feature takes whole numbers only.
    names, n_features
        Of the table.
    without : sequence of int
        Features that are categorical.

    Examples
    --------
    >>> read_bounds([(0, 120), (0.0, 1.0)], None, 2)[0]
    Numeric(low=0, high=120, is_whole=True)
    """
    numeric = [j for j in range(n_features) if j not in set(without)]
    if isinstance(bounds, Mapping):
        pairs = {
            position_of(column, names, n_features, "bounds"): pair
            for column, pair in bounds.items()
        }
    elif len(bounds) == 2 and all(isinstance(b, Real) for b in bounds):
        pairs = dict.fromkeys(numeric, bounds)
    elif len(bounds) == n_features:
        pairs = {j: bounds[j] for j in numeric}
    else:
        raise ValueError(
            f"bounds has {len(bounds)} entries; it must be one pair (low, high), or a "
            f"pair for each of the {n_features} columns of X, or a mapping"
        )
    labels = range(n_features) if names is None else names
    return {
        j: read_pair(pairs[j], f"bounds of column {labels[j]!r}")
        for j in numeric
        if pairs.get(j) is not None
    }


def read_pair(pair: Any, what: str) -> Numeric:
    """Check the bounds of one feature, or of the target."""
    try:
        low, high = pair
        is_whole = all(isinstance(b, Integral) for b in (low, high))
        if is_whole:
            low, high = int(low), int(high)
        else:
            low, high = float(low), float(high)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what}: {pair!r} must be two numbers") from error
    if not (abs(low) < math.inf and abs(high) < math.inf and low <= high):
        raise ValueError(f"{what}: {pair!r} must be finite, the lower one first")
    if abs(low) > LARGEST_BOUND or abs(high) > LARGEST_BOUND:
        raise ValueError(f"{what}: {pair!r} are too far apart")
    return Numeric(low, high, is_whole)


# ---- what is known, and what is missing ----------------------------------------------


@dataclass(frozen=True)
class KnownColumns:
    """What is known of the columns of X before any row is read.

    Attributes
    ----------
    names : tuple of str or None
    n_features : int
    categories : dict
        Position of a column to its values.
    bounds : dict
        Position of a column to its range.
    unlisted : list of int
        Columns of text whose values are missing.
    unbounded : list of int
        Columns of numbers whose range is missing.
    """

    names: tuple[str, ...] | None
    n_features: int
    categories: dict[int, tuple[Any, ...]]
    bounds: dict[int, Numeric]
    unlisted: list[int]
    unbounded: list[int]

    @classmethod
    def of(cls, forest: Any, X: Any) -> KnownColumns:
        """Read the parameters of a forest and the types of the columns of X."""
        text = read_columns(forest, X)
        names = getattr(forest, "feature_names_in_", None)
        names = None if names is None else tuple(names)
        n_features = forest.n_features_in_
        categories = read_categories(forest.categories, names, n_features)
        categorical = {*text, *categories}
        bounds = {}
        if forest.bounds is not None:
            bounds = read_bounds(forest.bounds, names, n_features, sorted(categorical))
        return cls(
            names,
            n_features,
            categories,
            bounds,
            unlisted=[j for j in text if j not in categories],
            unbounded=[
                j for j in range(n_features) if j not in {*categorical, *bounds}
            ],
        )

    def missing(self) -> list[str]:
        """Say what is missing, and how it is given."""
        found = []
        if self.unlisted:
            label = self._label(self.unlisted[0])
            found.append(
                f"categories: the column {label!r} does not hold numbers; give the "
                f"list of its values, categories={{{label!r}: [...], ...}}"
            )
        if self.unbounded and not self.bounds:
            found.append(
                f"bounds: give the range of the {len(self.unbounded)} numeric columns, "
                "bounds=(low, high) for all, a list of a pair a column, or a mapping "
                "{column: (low, high)}"
            )
        elif self.unbounded:
            labels = [self._label(j) for j in self.unbounded]
            found.append(f"bounds: there are none for the numeric columns {labels}")
        return found

    def columns(self, forest: Any, X: Any, y: Any) -> Columns:
        """Return all columns; what is missing is read from X."""
        features: dict[int, Any] = {**self.categories, **self.bounds}
        if self.unlisted or self.unbounded:
            categorical = sorted({*self.unlisted, *self.categories})
            matrix, _, schema = read_fit(forest, X, y, categorical)
            for j in self.unlisted:
                features[j] = self._values(j, schema.categories[j])
            for j in self.unbounded:
                features[j] = bounds_of(matrix[:, j])
        return Columns(tuple(features[j] for j in range(self.n_features)), self.names)

    def _values(self, j: int, values: NDArray[Any] | None) -> tuple[Any, ...]:
        assert values is not None
        if len(values) > MAX_CATEGORIES:
            raise ValueError(
                f"column {self._label(j)!r} of X has {len(values)} categories; at most "
                f"{MAX_CATEGORIES} are allowed"
            )
        return tuple(values.tolist())

    def _label(self, j: int) -> int | str:
        return j if self.names is None else self.names[j]


def bounds_of(column: NDArray[np.float64]) -> Numeric:
    """Read the bounds of a column from its values."""
    values = column[~np.isnan(column)]
    if len(values) == 0:
        return Numeric(0, 0)
    low, high = float(values.min()), float(values.max())
    return Numeric(low, high, is_whole=bool((values == np.floor(values)).all()))
