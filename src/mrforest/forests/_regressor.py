# SPDX-License-Identifier: BSD-3-Clause
"""What regressors share that are not private: targets, means, importances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mrforest.data.training import Classes, Numbers, TrainingSet
from mrforest.forests._base import BaseForest, shares_of
from mrforest.forests._fitted import FittedRegressor
from mrforest.forests._flat_values import ValueForest
from mrforest.forests._target import read_numbers


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
