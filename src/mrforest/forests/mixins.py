# SPDX-License-Identifier: BSD-3-Clause
"""What kinds of forests share that are not private.

- `BaseForestClassifier`, `BaseForestRegressor`: targets, leaves, importances
- `HonestForest`: which rows shaped a tree, and which filled it
- `OutOfBagClassifier`, `OutOfBagRegressor`: each row is judged by the trees whose bag
  it is not in
"""

from __future__ import annotations

import hashlib
import operator
import warnings
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from mrforest.data.training import Classes, Numbers, TrainingSet
from mrforest.forests.base import BaseForest, shares_of
from mrforest.forests.sampling import Bootstrap, Partition, Sampler
from mrforest.forests.targets import (
    class_masses,
    read_class_weight,
    read_classes,
    read_numbers,
)
from mrforest.model.fitted import FittedClassifier, FittedRegressor
from mrforest.model.leaves import ClassForest, ValueForest

OOB_ATTRIBUTES = ("oob_score_", "oob_decision_function_", "oob_prediction_")


class BaseForestClassifier(FittedClassifier, BaseForest):
    """A forest that tells classes."""

    def _read_target(
        self, y: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> tuple[Classes | Numbers, dict[str, Any]]:
        classes, codes = read_classes(y)
        masses = partial(class_masses, codes, len(classes), weights)
        class_weight = read_class_weight(self.class_weight, classes, masses)
        target = Classes(codes, len(classes), class_weight, self._criterion())
        return target, {"classes_": classes, "n_classes_": len(classes)}

    def _criterion(self) -> str:
        criterion: str = self.criterion
        return criterion

    def _check_same_target(self, attributes: dict[str, Any]) -> None:
        if not np.array_equal(attributes["classes_"], self.classes_):
            raise ValueError(
                f"warm_start=True: y has the classes {attributes['classes_']}, the "
                f"forest has {self.classes_}; they must be the same"
            )

    def _flat(
        self, arrays: dict[str, NDArray[Any]], training: TrainingSet
    ) -> ClassForest:
        return ClassForest.from_trees(arrays, training.lists)

    @staticmethod
    def _fill(tree: dict[str, NDArray[Any]], training: TrainingSet) -> None:
        if training.mass_unit != 1:
            tree["mass"] *= np.float32(training.mass_unit)  # a power of two: exact

    # ---- look inside ----------------------------------------------------------------

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Decrease of the Gini impurity, measured on the estimation points.

        In a forest whose trees are shaped and filled by different points, the points
        that choose a split do not measure it, and the impurity is estimated without
        bias from the size of a node. So, without weights, a feature that says nothing
        about the class has an expected decrease of 0, whatever its number of values;
        it may come out negative. Decreases are divided by the sum of their absolute
        values. Weights, and repeated rows, bring some bias back.
        """
        check_is_fitted(self)
        return shares_of(
            self._forest.estimation_decrease(self.n_classes_, self.n_features_in_)
        )


class BaseForestRegressor(FittedRegressor, BaseForest):
    """A forest that tells a number."""

    def _read_target(
        self, y: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> tuple[Classes | Numbers, dict[str, Any]]:
        return Numbers(read_numbers(y)), {}

    def _check_same_target(self, attributes: dict[str, Any]) -> None:
        """Numbers are numbers."""

    def _flat(
        self, arrays: dict[str, NDArray[Any]], training: TrainingSet
    ) -> ValueForest:
        return ValueForest.from_trees(arrays, training.lists)

    @staticmethod
    def _fill(tree: dict[str, NDArray[Any]], training: TrainingSet) -> None:
        assert training.scale is not None
        centre, unit = training.scale.centre, training.scale.unit
        mass = tree.pop("leaf_mass").astype(np.float64)
        mean = tree.pop("leaf_moment").astype(np.float64) / mass
        tree["leaf_value"] = centre + mean * unit
        tree["leaf_deviation"] = np.sqrt(tree.pop("leaf_variance")) * unit
        tree["leaf_mass"] = mass * training.mass_unit

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Decrease of the variance, measured on the estimation points.

        In a forest whose trees are shaped and filled by different points, the points
        that choose a split do not measure it, and the variance is estimated without
        bias from the size of a node. So, without weights, a feature that says nothing
        about the target has an expected decrease of 0, whatever its number of values;
        it may come out negative. Decreases are divided by the sum of their absolute
        values. Weights, and repeated rows, bring some bias back.
        """
        check_is_fitted(self)
        return shares_of(self._forest.estimation_decrease(self.n_features_in_))


# ---- honest forests ------------------------------------------------------------------


class HonestForest(BaseForest):
    """For forests that shape a tree by one part of the rows and fill it by the rest.

    The two parts are not stored; they are drawn again from the key of the tree.
    """

    def _sampler(self) -> Sampler:
        return Partition(self.honest_fraction)

    def structure_samples(self, tree: int) -> NDArray[np.int32]:
        """Rows of the training table that shaped a tree.

        Parameters
        ----------
        tree : int
            Number of the tree.

        Returns
        -------
        ndarray of int32
            Row numbers, ascending; repeated as whole-number sample weights say.
        """
        return self._samples(tree, side=0)

    def estimation_samples(self, tree: int) -> NDArray[np.int32]:
        """Rows of the training table that filled the leaves of a tree.

        Parameters
        ----------
        tree : int
            Number of the tree.

        Returns
        -------
        ndarray of int32
            Row numbers, ascending; repeated as whole-number sample weights say.
        """
        return self._samples(tree, side=1)

    def _samples(self, tree: int, side: int) -> NDArray[np.int32]:
        """Draw the points of a tree again and name the user's rows."""
        check_is_fitted(self)
        tree = operator.index(tree)
        n_trees = len(self._forest)
        if not 0 <= tree < n_trees:
            raise IndexError(f"tree={tree}: the forest has trees 0 to {n_trees - 1}")
        origin, sides = self._draw_again(tree)
        # Where all points shape and fill a tree there is one side only.
        points = sides[0] if sides[side] is None else sides[side]
        rows: NDArray[np.int32] = np.sort(origin[points])
        return rows


# ---- forests of bootstrap samples ----------------------------------------------------


class OutOfBag(BaseForest):
    """A forest of bootstrap samples, with the option `oob_score`."""

    def _sampler(self) -> Bootstrap:
        return Bootstrap()

    def _digest(
        self, X: NDArray[np.float64], target: Classes | Numbers
    ) -> bytes | None:
        if not (self.oob_score or self.warm_start):
            return None
        targets = target.codes if isinstance(target, Classes) else target.values
        digest = hashlib.blake2b(np.ascontiguousarray(X).data, digest_size=16)
        digest.update(targets.tobytes())
        return digest.digest()

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

    def _sum_outside(
        self,
        X: NDArray[np.float64],
        columns: tuple[int, ...],
        predict: Callable[[Any, NDArray[np.float64]], NDArray[Any]],
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Add up what trees predict of rows outside their bag, and count these trees.

        `predict` has the shape (n_rows, *columns).
        """
        sums = np.zeros((len(X), *columns))
        n_trees = np.zeros(len(X), dtype=np.int64)
        for number in range(len(self._forest)):
            origin, (bag, _) = self._draw_again(number)
            is_outside = np.ones(len(X), dtype=bool)
            is_outside[origin[bag]] = False
            rows = np.flatnonzero(is_outside)
            if len(rows):
                sums[rows] += predict(self._forest[number], X[rows])
                n_trees[rows] += 1
        n_gaps = int((n_trees == 0).sum())
        if n_gaps:
            warnings.warn(
                f"{n_gaps} rows are in the bag of every tree and have no out-of-bag "
                "estimate; more trees help",
                UserWarning,
                stacklevel=7,
            )
        return sums, n_trees

    def _score_of(
        self,
        default: Callable[..., float],
        y: NDArray[Any],
        predicted: NDArray[Any],
        known: NDArray[np.bool_],
    ) -> float:
        # Rows of weight 0 have an estimate, but do not count.
        known = known & np.isin(np.arange(len(y)), self._batches[-1].origin)
        metric = self.oob_score if callable(self.oob_score) else default
        return (
            float(metric(y[known], predicted[known])) if known.any() else float("nan")
        )


class OutOfBagClassifier(OutOfBag, BaseForestClassifier):
    """Out-of-bag estimates of a classifier."""

    def _set_oob(self, X: NDArray[np.float64], y: NDArray[Any]) -> None:
        def predict(tree: ClassForest, rows: NDArray[np.float64]) -> NDArray[Any]:
            scores = tree.votes if self.voting == "hard" else tree.shares
            return scores(rows, self.n_classes_, 1)

        scores, n_trees = self._sum_outside(X, (self.n_classes_,), predict)
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = scores / n_trees[:, None]
        predicted = self.classes_[scores.argmax(axis=1)]
        self.oob_score_ = self._score_of(accuracy_score, y, predicted, n_trees > 0)


class OutOfBagRegressor(OutOfBag, BaseForestRegressor):
    """Out-of-bag estimates of a regressor."""

    def _set_oob(self, X: NDArray[np.float64], y: NDArray[Any]) -> None:
        total, n_trees = self._sum_outside(
            X, (), lambda tree, rows: tree.values(rows, 1)
        )
        with np.errstate(invalid="ignore"):
            self.oob_prediction_ = total / n_trees
        predicted = self.oob_prediction_
        self.oob_score_ = self._score_of(r2_score, y, predicted, n_trees > 0)
