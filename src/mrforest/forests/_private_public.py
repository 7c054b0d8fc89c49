# SPDX-License-Identifier: BSD-3-Clause
"""What the user of a private forest tells of its columns, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest.data.table import read_columns, read_fit
from mrforest.privacy.grid import MAX_CATEGORIES, Numeric
from mrforest.privacy.public import Columns, read_bounds, read_categories


@dataclass(frozen=True)
class Told:
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
    def by(cls, forest: Any, X: Any) -> Told:
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
