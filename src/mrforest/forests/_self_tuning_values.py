# SPDX-License-Identifier: BSD-3-Clause
"""Forests of numbers that tune themselves: means, squared errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from mrforest.data.training import TrainingSet
from mrforest.forests._base import shares_of
from mrforest.forests._regressor import BaseForestRegressor
from mrforest.forests._self_tuning import SelfTuningForest
from mrforest.forests._tuning import HeldOut


class SelfTuningRegressor(SelfTuningForest, BaseForestRegressor):
    """A regressor."""

    def _n_columns(self, training: TrainingSet) -> int:
        return 1

    def _criteria(self) -> list[str]:
        return ["variance"]

    def _truth(self, training: TrainingSet, n: int) -> NDArray[np.float64]:
        # In the unit of the moments
        assert training.moment is not None
        targets = training.moment[:n] / self._row_weights(training, n)
        return targets[:, None]

    def _loss_unit(self, training: TrainingSet, n: int) -> float:
        # The variance of the target, so that 1 - loss is like R²
        truth = self._truth(training, n)[:, 0]
        weights = self._row_weights(training, n)
        distance = truth - np.average(truth, weights=weights)
        return float(np.average(distance**2, weights=weights)) or 1.0

    def _finish_tuning(self, held: HeldOut, training: TrainingSet, n: int) -> None:
        assert training.scale is not None
        rows, means = held.means()
        self.oob_prediction_ = np.full(n, np.nan)
        self.oob_prediction_[training.origin[rows]] = (
            training.scale.centre + means[:, 0] * training.scale.unit
        )
        self.oob_score_ = float("nan")
        if len(rows) > 1:
            every = training.n_points
            self.oob_score_ = r2_score(
                self._truth(training, every)[rows],
                means,
                sample_weight=self._row_weights(training, every)[rows],
            )

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Decrease of the variance, measured on rows that did not shape a tree.

        The rows that choose a split do not measure it, and the variance is estimated
        without bias from the size of a node. So a feature that says nothing about the
        target has an expected decrease of 0, whatever its number of values; it may come
        out negative. Decreases are divided by the sum of their absolute values.
        """
        check_is_fitted(self)
        return shares_of(self._held_decrease)
