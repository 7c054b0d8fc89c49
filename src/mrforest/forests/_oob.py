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

from mrforest.data.training import Classes, Numbers
from mrforest.forests._base import BaseForest
from mrforest.forests._classifier import BaseForestClassifier
from mrforest.forests._regressor import BaseForestRegressor
from mrforest.forests._sampling import tree_key

OOB_ATTRIBUTES = ("oob_score_", "oob_decision_function_", "oob_prediction_")


class OutOfBag(BaseForest):
    """A forest of bootstrap samples, with the option `oob_score`."""

    def _digest(
        self, X: NDArray[np.float64], target: Classes | Numbers
    ) -> bytes | None:
        if not (self.oob_score or self.warm_start):
            return None
        told = target.codes if isinstance(target, Classes) else target.values
        found = hashlib.blake2b(np.ascontiguousarray(X).data, digest_size=16)
        found.update(told.tobytes())
        return found.digest()

    def _finish(
        self, X: NDArray[np.float64], y: NDArray[Any], digest: bytes | None
    ) -> None:
        for name in OOB_ATTRIBUTES:
            self.__dict__.pop(name, None)
        if not self.oob_score:
            return
        if any(batch.digest is None for batch in self._batches):
            raise ValueError(
                "oob_score needs the rows of all trees, and some were grown when both "
                "oob_score and warm_start were False, so that their rows are not known "
                "any more"
            )
        if any(batch.digest != digest for batch in self._batches):
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
        n_gaps = int((n_trees == 0).sum())
        if n_gaps:
            warnings.warn(
                f"{n_gaps} rows are in the bag of every tree and have no out-of-bag "
                "estimate; more trees help",
                UserWarning,
                stacklevel=7,
            )

    def _score_of(
        self,
        default: Callable[..., float],
        y: NDArray[Any],
        told: NDArray[Any],
        known: NDArray[np.bool_],
    ) -> float:
        # Rows of weight 0 have an estimate, but do not count.
        known = known & np.isin(np.arange(len(y)), self._batches[-1].origin)
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
