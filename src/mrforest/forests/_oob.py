# SPDX-License-Identifier: BSD-3-Clause
"""Out-of-bag estimates: each row judged by the trees whose bag it is not in."""

from __future__ import annotations

import hashlib
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from mrforest.forests._base import BaseForest
from mrforest.forests._classifier import BaseForestClassifier
from mrforest.forests._regressor import BaseForestRegressor
from mrforest.forests._sampling import tree_key

OOB_ATTRIBUTES = ("oob_score_", "oob_decision_function_", "oob_prediction_")


def digest(X: NDArray[np.float64], y: NDArray[Any]) -> bytes:
    """Return a fingerprint of rows in their order."""
    found = hashlib.blake2b(X.tobytes(), digest_size=16)
    labels = y if y.dtype != object else np.array([repr(label) for label in y])
    found.update(labels.tobytes())
    return found.digest()


class OutOfBag(BaseForest):
    """A forest of bootstrap samples, with the option `oob_score`."""

    _rows_of_batches: list[bytes | None]

    def _finish(self, X: NDArray[np.float64], y: NDArray[Any]) -> None:
        for name in OOB_ATTRIBUTES:
            self.__dict__.pop(name, None)
        rows = digest(X, y) if self.oob_score or self.warm_start else None
        known = self._rows_of_batches if len(self._batches) > 1 else []
        n_new = len(self._batches) - len(known)
        self._rows_of_batches = [*known, *([rows] * n_new)]
        if self.oob_score:
            if any(other != rows for other in self._rows_of_batches):
                raise ValueError(
                    "oob_score needs the rows of all trees: with warm_start=True, give "
                    "every fit the same rows in the same order"
                )
            self._set_oob(X, y)

    @abstractmethod
    def _set_oob(self, X: NDArray[np.float64], y: NDArray[Any]) -> None:
        """Compute and keep the estimates."""

    def _outside(self, n_rows: int) -> Iterator[tuple[Any, NDArray[np.int64]]]:
        """Each tree, and the rows that are not in its bag."""
        for number in range(len(self._forest)):
            batch = next(b for b in reversed(self._batches) if b.first <= number)
            bag, _ = batch.sampler(tree_key(self._seed, number), len(batch.origin))
            outside = np.ones(n_rows, dtype=bool)
            outside[batch.origin[bag]] = False
            yield self._forest[number], np.flatnonzero(outside)

    def _warn_of_gaps(self, n_trees: NDArray[np.int64]) -> None:
        if (n_trees == 0).any():
            warnings.warn(
                f"{int((n_trees == 0).sum())} rows are in the bag of every tree and "
                "have no out-of-bag estimate; more trees help",
                UserWarning,
                stacklevel=6,
            )

    def _score_of(
        self,
        default: Callable[..., float],
        y: NDArray[Any],
        told: NDArray[Any],
        known: NDArray[np.bool_],
    ) -> float:
        metric = self.oob_score if callable(self.oob_score) else default
        return float(metric(y[known], told[known])) if known.any() else float("nan")


class OutOfBagClassifier(OutOfBag, BaseForestClassifier):
    """Out-of-bag estimates of a classifier."""

    def _set_oob(self, X: NDArray[np.float64], y: NDArray[Any]) -> None:
        scores = np.zeros((len(X), self.n_classes_))
        n_trees = np.zeros(len(X), dtype=np.int64)
        for tree, rows in self._outside(len(X)):
            if len(rows):
                told = tree.votes if self.voting == "hard" else tree.shares
                scores[rows] += told(X[rows], self.n_classes_, 1)
                n_trees[rows] += 1
        self._warn_of_gaps(n_trees)
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = scores / n_trees[:, None]
        told = self.classes_[scores.argmax(axis=1)]
        self.oob_score_ = self._score_of(accuracy_score, y, told, n_trees > 0)


class OutOfBagRegressor(OutOfBag, BaseForestRegressor):
    """Out-of-bag estimates of a regressor."""

    def _set_oob(self, X: NDArray[np.float64], y: NDArray[Any]) -> None:
        total = np.zeros(len(X))
        n_trees = np.zeros(len(X), dtype=np.int64)
        for tree, rows in self._outside(len(X)):
            if len(rows):
                total[rows] += tree.values(X[rows], 1)
                n_trees[rows] += 1
        self._warn_of_gaps(n_trees)
        with np.errstate(invalid="ignore"):
            self.oob_prediction_ = total / n_trees
        told = self.oob_prediction_
        self.oob_score_ = self._score_of(r2_score, y, told, n_trees > 0)
