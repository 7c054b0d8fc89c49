# SPDX-License-Identifier: BSD-3-Clause
"""One tree of a forest, as a light view that predicts by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from mrforest.data.table import Schema, read_predict
from mrforest.model.arrays import FlatForest
from mrforest.model.leaves import ClassForest
from mrforest.model.nodes import EQUALITY, FEATURE_MASK, MISSING_LEFT


class Tree:
    """A tree of a fitted forest. Its arrays are views of the forest's."""

    def __init__(self, flat: FlatForest, schema: Schema) -> None:
        self._flat: Any = flat
        self._schema = schema
        # What read_predict checks a table against.
        self._columns = BaseEstimator()
        self._columns.n_features_in_ = len(schema.categories)
        if schema.names is not None:
            self._columns.feature_names_in_ = np.array(schema.names, dtype=object)

    def __repr__(self) -> str:
        return f"Tree(n_leaves={self.get_n_leaves()}, depth={self.get_depth()})"

    @property
    def children_left(self) -> NDArray[np.int32]:
        """Left child of each node, -1 in a leaf; nodes are numbered breadth first."""
        child: NDArray[np.int32] = np.maximum(self._flat.nodes["child"], -1)
        return child

    @property
    def children_right(self) -> NDArray[np.int32]:
        """Right child of each node, -1 in a leaf."""
        left = self.children_left
        return np.where(left >= 0, left + 1, -1).astype(np.int32)

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return len(self._flat.leaf_points)

    def get_depth(self) -> int:
        """Return the depth; a tree that is one leaf has 0."""
        return int(self._flat.depths().max())

    def _read(self, X: Any) -> NDArray[np.float64]:
        return read_predict(self._columns, X, self._schema)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the node number of the leaf that each row falls into."""
        nodes: NDArray[np.int32] = self._flat.find_nodes(self._read(X), n_jobs=1)
        return nodes[:, 0]


class CutTree(Tree):
    """A tree of cuts."""

    @property
    def feature(self) -> NDArray[np.int32]:
        """Feature that a node looks at; -1 in a leaf."""
        feature = (self._flat.nodes["feature"] & FEATURE_MASK).astype(np.int32)
        return np.where(self.children_left >= 0, feature, np.int32(-1))

    @property
    def threshold(self) -> NDArray[np.float64]:
        """A row goes left if its value is at most this; NaN in a leaf.

        Where ``is_equality``, a row goes left if its value is equal to this.
        """
        return np.where(self.children_left >= 0, self._flat.nodes["threshold"], np.nan)

    @property
    def is_equality(self) -> NDArray[np.bool_]:
        """Whether a node asks for one category."""
        return self._has(EQUALITY)

    @property
    def missing_left(self) -> NDArray[np.bool_]:
        """Whether missing values go left."""
        return self._has(MISSING_LEFT)

    def _has(self, flag: np.uint32) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (self._flat.nodes["feature"] & flag) != 0
        return found


class ClassTree(Tree):
    """A tree that tells classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    """

    def __init__(
        self, flat: ClassForest, schema: Schema, classes: NDArray[Any], voting: str
    ) -> None:
        super().__init__(flat, schema)
        self._voting = voting
        self.classes_ = classes

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return what this tree adds to the forest's probabilities.

        Its vote (0 or 1) in a forest of hard votes, the class shares of the leaf in a
        forest of soft ones.
        """
        X = self._read(X)
        if self._voting == "hard":
            votes: NDArray[np.int32] = self._flat.votes(X, len(self.classes_), n_jobs=1)
            return votes.astype(np.float64)
        shares: NDArray[np.float64] = self._flat.shares(X, len(self.classes_), n_jobs=1)
        return shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that this tree gives most to; of equal ones the first."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels


class ClassCutTree(CutTree, ClassTree):
    """A tree of cuts that tells classes."""


class PivotTree(ClassTree):
    """A tree of comparisons that tells classes."""

    def _read(self, X: Any) -> NDArray[np.float64]:
        return read_predict(
            self._columns,
            X,
            self._schema,
            allow_missing=self._flat.comparison.allows_missing,
        )

    @property
    def pivots(self) -> NDArray[np.float64]:
        """The two rows that a node compares with, (n_nodes, 2, n_features).

        NaN in a leaf. A row goes left if it is at least as near to the first.
        """
        rows = self._flat.pivot_rows
        out = np.full((len(self._flat.nodes), 2, rows.shape[1]), np.nan)
        inner = self.children_left >= 0
        out[inner] = rows[self._flat.pivots[inner]]
        return out


class ValueTree(CutTree):
    """A tree of cuts that tells a number."""

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the leaf that each row falls into."""
        values: NDArray[np.float64] = self._flat.values(self._read(X), n_jobs=1)
        return values
