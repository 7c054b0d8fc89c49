# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted forest can do: send rows through its trees, vote, be looked into.

- `FittedForest`
    - `FittedClassifier`
    - `FittedRegressor`
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mrforest._sklearn import BaseEstimator, ClassifierMixin, RegressorMixin
from mrforest.data.table import Schema, read_predict
from mrforest.model.leaves import ClassForest, ValueForest
from mrforest.model.tree import ClassCutTree, ClassTree, Tree, ValueTree


class FittedForest(BaseEstimator, ABC):
    """A forest whose trees are there."""

    # Fitted
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _forest: Any
    _schema: Schema

    def _allows_missing(self) -> bool:
        """Whether NaN is a missing value; else it is an error."""
        return True

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """Keep the forest that was there before if a fit ends by an error or Ctrl-C."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    # ---- rows through the trees -----------------------------------------------------

    def _read(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return read_predict(
            self,
            X,
            self._schema,
            allow_missing=self._allows_missing(),
            n_jobs=self.n_jobs,
        )

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Node number of the leaf that each row falls into, in each tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_estimators), dtype=int32
            Nodes are numbered breadth first, the root is 0.
        """
        X = self._read(X)
        nodes: NDArray[np.int32] = self._forest.find_nodes(X, self.n_jobs)
        return nodes

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
        """Nodes that each row passes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        indicator : csr_matrix of shape (n_samples, n_nodes)
            1 where a row passes a node.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The columns of tree i are ``n_nodes_ptr[i]:n_nodes_ptr[i + 1]``.
        """
        X = self._read(X)
        return self._forest.paths(X, self.n_jobs), self._forest.tree_start

    # ---- look inside ----------------------------------------------------------------

    @abstractmethod
    def _tree(self, flat: Any) -> Tree:
        """Return a view of a single tree."""

    @property
    def estimators_(self) -> list[Tree]:
        """The trees, as views of the forest's arrays that predict by themselves."""
        check_is_fitted(self)
        return [self._tree(self._forest[i]) for i in range(len(self._forest))]

    @property
    def n_leaves_(self) -> NDArray[np.int64]:
        """Number of leaves of each tree."""
        check_is_fitted(self)
        n_leaves: NDArray[np.int64] = np.diff(self._forest.leaf_offset)
        return n_leaves

    @property
    def depths_(self) -> NDArray[np.int32]:
        """Depth of each tree; a tree that is one leaf has 0."""
        check_is_fitted(self)
        return np.maximum.reduceat(self._forest.depths(), self._forest.tree_start[:-1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_forest")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_missing()
        return tags


class FittedClassifier(ClassifierMixin, FittedForest):
    """A forest that tells classes."""

    # Fitted
    _forest: ClassForest
    classes_: NDArray[Any]
    n_classes_: int

    def _votes(self) -> str:
        """How trees vote: "hard" or "soft"."""
        if self.voting not in ("hard", "soft"):
            raise ValueError(f"voting={self.voting!r} must be 'hard' or 'soft'")
        voting: str = self.voting
        return voting

    def _tree(self, flat: ClassForest) -> ClassTree:
        return ClassCutTree(flat, self._schema, self.classes_, self._votes())

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities: shares of votes, or mean shares of the leaves.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The same bits for any `n_jobs`. Columns are in the order of `classes_`.
        """
        scores: NDArray[np.float64] = self._scores(X) / len(self._forest)
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class; of equal ones the first in `classes_`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        labels: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return labels

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithm of `predict_proba`; -inf where no tree gives a class a chance.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _scores(self, X: Any) -> NDArray[Any]:
        X = self._read(X)
        if self._votes() == "hard":
            return self._forest.votes(X, self.n_classes_, self.n_jobs)
        return self._forest.shares(X, self.n_classes_, self.n_jobs)


class FittedRegressor(RegressorMixin, FittedForest):
    """A forest that tells a number."""

    # Fitted
    _forest: ValueForest

    def _tree(self, flat: ValueForest) -> ValueTree:
        return ValueTree(flat, self._schema)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Mean over the trees of the means of the leaves.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            The same bits for any `n_jobs`.
        """
        X = self._read(X)
        means: NDArray[np.float64] = self._forest.values(X, self.n_jobs)
        return means / len(self._forest)
