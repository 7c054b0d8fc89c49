# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a tree in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mrforest.model.fitted import FittedForest
from mrforest.model.tree import PivotTree


class TreeWords:
    """What the nodes of a tree ask, and what its leaves answer.

    Parameters
    ----------
    forest : estimator
        Fitted.
    tree : int
        Its number.
    feature_names : sequence of str or None
        None: those of the data frame, or ``feature_0``, ...
    digits : int
        Of thresholds and numbers, those that count.
    """

    def __init__(
        self,
        forest: Any,
        tree: int,
        feature_names: Sequence[str] | None = None,
        digits: int = 4,
    ) -> None:
        if not isinstance(forest, FittedForest):
            raise TypeError(f"a forest of mrforest is wanted, not {forest!r}")
        check_is_fitted(forest)
        n_trees = len(forest._forest)
        if not 0 <= tree < n_trees:
            raise ValueError(f"tree={tree} must be one of the {n_trees} trees")
        self.forest: Any = forest
        self.tree: Any = forest._tree(forest._forest[tree])
        self.names = names_of(forest, feature_names)
        self.digits = digits
        self.children = self.tree.children_left
        self.flat = self.tree._flat

    # ---- what is asked --------------------------------------------------------------

    def question(self, node: int) -> str:
        """Return what an inner node asks; who says yes goes left."""
        if isinstance(self.tree, PivotTree):
            first, second = self.flat.pivots[node]
            return f"nearer to pivot {first} than to pivot {second}"
        return f"{self.name(node)} {self.condition(node)}"

    def opposite(self, node: int) -> str:
        """Return what is true of those who go right."""
        if isinstance(self.tree, PivotTree):
            second, first = self.flat.pivots[node]
            return f"nearer to pivot {first} than to pivot {second}"
        condition = self.condition(node)
        for yes, no in (("<=", ">"), ("is not", "is"), ("is", "is not")):
            if condition.startswith(f"{yes} "):
                return f"{self.name(node)} {no} {condition[len(yes) + 1 :]}"
        raise AssertionError(condition)

    def name(self, node: int) -> str:
        """Return the name of the feature that a node asks for."""
        return self.names[int(self.tree.feature[node])]

    def condition(self, node: int) -> str:
        """Return what a node asks of its feature."""
        threshold = float(self.tree.threshold[node])
        values = self.forest._schema.categories[int(self.tree.feature[node])]
        if math.isinf(threshold):
            return "is not missing"
        if values is None:
            return f"<= {self.number(threshold)}"
        if threshold < 0:  # "Other" of a private forest
            return "is not listed"
        return f"is {as_text(values[int(threshold)])}"

    def number(self, value: float) -> str:
        """Return a number with as many digits as wanted."""
        return np.format_float_positional(
            value, precision=self.digits, fractional=False, trim="-"
        )

    # ---- what is answered -----------------------------------------------------------

    @cached_property
    def n_points(self) -> NDArray[np.int64]:
        """Estimation points of each node; 0: nobody tells."""
        points = self.flat.leaf_points.astype(np.int64)[:, np.newaxis]
        return np.asarray(self.flat.add_up(points)[:, 0])

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Shares of the classes of the estimation points of each node, or the mean."""
        weight = self.flat.leaf_weights()[:, np.newaxis]
        if hasattr(self.forest, "classes_"):
            own = self.flat.leaf_shares(self.forest.n_classes_, "soft")
        else:
            own = self.flat.leaf_value[:, np.newaxis]
        sums = self.flat.add_up(np.column_stack([weight, weight * own]))
        return np.asarray(sums[:, 1:] / sums[:, :1])

    def answer(self, node: int) -> str:
        """Return what a node, as a leaf, would tell."""
        value = self.values[node]
        if not hasattr(self.forest, "classes_"):
            return self.number(value[0])
        best = self.vote(node)
        label = str(self.forest.classes_[best])
        if not self.n_points[node]:
            return label
        return f"{label} ({value[best]:.2f})"

    def vote(self, node: int) -> int:
        """Return the number of the class that a node votes for: of a leaf its label."""
        child = int(self.flat.nodes["child"][node])
        if child < 0 and self.forest._votes() == "hard":
            return int(self.flat.leaf_label[-1 - child])
        return int(self.values[node].argmax())

    def size(self, node: int) -> str:
        """Return how many points a node has, if it tells."""
        n = int(self.n_points[node])
        return f"{n:,} point{'s' if n != 1 else ''}" if n else ""


def names_of(forest: Any, given: Sequence[str] | None) -> list[str]:
    """Return the names of the features."""
    n_features = forest.n_features_in_
    if given is None:
        known = forest._schema.names
        return list(known or (f"feature_{j}" for j in range(n_features)))
    if len(given) != n_features:
        raise ValueError(
            f"feature_names has {len(given)} names, the forest {n_features} features"
        )
    return [str(name) for name in given]


def as_text(category: Any) -> str:
    """Return a category as one would type it."""
    value = category.item() if isinstance(category, np.generic) else category
    return repr(value)
