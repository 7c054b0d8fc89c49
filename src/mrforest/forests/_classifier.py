# SPDX-License-Identifier: BSD-3-Clause
"""What classifiers share that are not private: classes, masses, importances."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mrforest.data.training import Classes, Numbers, TrainingSet
from mrforest.forests._base import BaseForest, shares_of
from mrforest.forests._fitted import FittedClassifier
from mrforest.forests._flat_classes import ClassForest
from mrforest.forests._target import class_masses, read_class_weight, read_classes


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
