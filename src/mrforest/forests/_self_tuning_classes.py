# SPDX-License-Identifier: BSD-3-Clause
"""Forests of classes that tune themselves: shares, losses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from mrforest.data.training import TrainingSet
from mrforest.forests._base import shares_of
from mrforest.forests._classifier import BaseForestClassifier
from mrforest.forests._self_tuning import SelfTuningForest
from mrforest.forests._tuning import (
    MOST_ROWS,
    HeldOut,
    Sharpness,
    find_sharpness,
    largest_power,
    sharpen,
)


class SelfTuningClassifier(SelfTuningForest, BaseForestClassifier):
    """A classifier."""

    # Fitted
    power_: float
    _uniform_share: float

    # ---- rows that are held out -----------------------------------------------------

    def _n_columns(self, training: TrainingSet) -> int:
        n_classes: int = self.n_classes_
        return n_classes

    def _truth(self, training: TrainingSet, n: int) -> NDArray[np.float64]:
        truth = np.zeros((n, self.n_classes_))
        truth[np.arange(n), training.y[:n]] = 1.0
        return truth

    def _row_weights(self, training: TrainingSet, n: int) -> NDArray[np.float64]:
        own = super()._row_weights(training, n)
        weight = training.class_weight
        return own if weight is None else own * weight[training.y[:n]]

    def _sharpness(self, held: HeldOut, training: TrainingSet) -> Sharpness:
        return find_sharpness(
            held,
            training.y[: held.n_rows],
            self._row_weights(training, held.n_rows),
            self.n_estimators,
            share_of_uniform(training.n_points),
            largest_power(training.n_points),
        )

    def _judge(
        self, held: HeldOut, loss: float, training: TrainingSet
    ) -> tuple[float, float]:
        # Mean shares of greedy trees are sharper than those of random ones, so settings
        # are compared after sharpening.
        sharpness = self._sharpness(held, training)
        return sharpness.brier_score, sharpness.power

    def _criteria(self) -> list[str]:
        return ["entropy", "gini"] if self.criterion == "auto" else [self.criterion]

    def _criterion(self) -> str:
        return self._criteria()[0]

    def _set_power(self, held: HeldOut, training: TrainingSet, *, counts: bool) -> None:
        """Find the power by the first rows; `counts` is whether any row counts."""
        self.power_ = self._trial_power()
        if counts:
            self.power_ = self._sharpness(held, training).power
        self._uniform_share = share_of_uniform(training.n_points)

    def _finish_tuning(self, held: HeldOut, training: TrainingSet, n: int) -> None:
        self._set_power(
            held.first(MOST_ROWS), training, counts=bool(held.has_halves.any())
        )
        rows, means = held.means()
        self.oob_decision_function_ = np.full((n, self.n_classes_), np.nan)
        self.oob_decision_function_[training.origin[rows]] = self._calibrated(means)
        self.oob_score_ = float("nan")
        if len(rows):
            self.oob_score_ = accuracy_score(
                training.y[rows],
                means.argmax(axis=1),
                sample_weight=super()._row_weights(training, training.n_points)[rows],
            )

    # ---- probabilities --------------------------------------------------------------

    def _votes(self) -> str:
        return "soft"

    def _calibrated(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.calibrate:
            return shares
        return sharpen(shares, self.power_, self._uniform_share)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities: mean shares of the leaves, sharpened if `calibrate`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The same bits for any `n_jobs`. Columns are in the order of `classes_`.
        """
        return self._calibrated(super().predict_proba(X))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Decrease of the Gini impurity, measured on rows that did not shape a tree.

        The rows that choose a split do not measure it, and the impurity is estimated
        without bias from the size of a node. So a feature that says nothing about the
        class has an expected decrease of 0, whatever its number of values; it may come
        out negative. Decreases are divided by the sum of their absolute values.
        """
        check_is_fitted(self)
        return shares_of(self._held_decrease)


def share_of_uniform(n_points: int) -> float:
    """Weight of the uniform distribution in probabilities: no class is excluded."""
    return 1.0 / (n_points + 1)
