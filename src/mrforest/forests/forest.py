# SPDX-License-Identifier: BSD-3-Clause
"""The forest to use by default: consistent, and tuned by the rows that it holds out."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from mrforest.data.training import TrainingSet
from mrforest.forests import parameters as p
from mrforest.forests.base import shares_of
from mrforest.forests.declaration import Doc, estimator
from mrforest.forests.held_out import HeldOut
from mrforest.forests.mixins import BaseForestClassifier, BaseForestRegressor
from mrforest.forests.self_tuning import SelfTuningForest
from mrforest.forests.tuning import (
    MOST_ROWS,
    Sharpness,
    find_sharpness,
    largest_power,
    sharpen,
)

Calibrate = Annotated[
    "bool",
    "boolean",
    Doc("""bool
        Whether probabilities are raised to the power `power_` and divided by their sum.
        The average of trees is drawn to the middle; the power makes up for it. Else
        `predict_proba` returns the mean class shares of the leaves."""),
]


@estimator
class ForestClassifier(SelfTuningForest, BaseForestClassifier):
    """A random forest that tunes itself. The one to use by default.

    Each tree is shaped by a share of the rows and filled by all of them. Splits are
    drawn as in the multinomial forest. Rows that did not shape a tree tell, their own
    label left out, how good it is on new rows: by them the forest chooses the size of
    its leaves, how greedy its splits are, and how sharp its probabilities. They also
    give out-of-bag estimates and unbiased importances, at no extra cost.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes_}
    {n_features_in_}
    {estimators_}
    {tuned_}
    power_ : float
        Power that sharpens probabilities.
    oob_score_ : float
        Accuracy on rows that did not shape the trees.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Probabilities of rows by the trees that they did not shape, their own label left
        out; NaN for a row that shaped all trees, or has no weight.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Impurity decrease on rows that did not shape the trees; 0 on average for a
        feature that says nothing.
    structure_importances_ : ndarray of shape (`n_features_in_`,)
        Impurity decrease on the rows that shaped the trees.

    See Also
    --------
    MultinomialForestClassifier : The forest of the paper.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from mrforest import ForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> forest = ForestClassifier(random_state=0).fit(X_train, y_train)
    >>> forest.score(X_test, y_test) > 0.94
    True
    >>> forest.oob_score_ > 0.94
    True
    >>> forest.predict_proba(X_test[:1]).round(1)
    array([[1., 0.]])
    """

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    max_samples: p.MaxSamples = 0.8
    max_features: p.TunedMaxFeatures = "auto"
    feature_budget: p.TunedBudgets = "auto"
    split_budget: p.TunedBudgets = "auto"
    equality_cuts: p.EqualityCuts = "auto"
    min_samples_split: p.TunedMinSamplesSplit = "auto"
    min_samples_leaf: p.TunedMinSamplesLeaf = "auto"
    min_weight_fraction_leaf: p.TunedMinWeightFractionLeaf = 0.0
    criterion: p.TunedCriterion = "auto"
    max_depth: p.MaxDepth = None
    max_bins: p.MaxBins = 255
    categorical_features: p.CategoricalFeatures = "from_dtype"
    class_weight: p.ClassWeight = None
    calibrate: Calibrate = True
    warm_start: p.TunedWarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0

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
        self.power_: float = self._trial_power()
        if counts:
            self.power_ = self._sharpness(held, training).power
        self._uniform_share: float = share_of_uniform(training.n_points)

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


@estimator
class ForestRegressor(SelfTuningForest, BaseForestRegressor):
    """A random forest for a number that tunes itself. The one to use by default.

    The trees of `ForestClassifier` with the decrease of the variance as the score of a
    cut, and with the squared error in place of the Brier score.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {n_features_in_}
    {estimators_}
    {tuned_}
    oob_score_ : float
        R² on rows that did not shape the trees.
    oob_prediction_ : ndarray of shape (n_samples,)
        Predictions of rows by the trees that they did not shape, their own target left
        out; NaN for a row that shaped all trees, or has no weight.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Decrease of the variance on rows that did not shape the trees; 0 on average for
        a feature that says nothing.
    structure_importances_ : ndarray of shape (`n_features_in_`,)
        Decrease of the variance on the rows that shaped the trees.

    See Also
    --------
    MultinomialForestRegressor : The forest that follows from the paper.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mrforest import ForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ForestRegressor(random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.4
    True
    """

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    max_samples: p.MaxSamples = 0.8
    max_features: p.TunedMaxFeatures = "auto"
    feature_budget: p.TunedBudgets = "auto"
    split_budget: p.TunedBudgets = "auto"
    equality_cuts: p.EqualityCuts = "auto"
    min_samples_split: p.TunedMinSamplesSplit = "auto"
    min_samples_leaf: p.TunedMinSamplesLeaf = "auto"
    min_weight_fraction_leaf: p.TunedMinWeightFractionLeaf = 0.0
    max_depth: p.MaxDepth = None
    max_bins: p.MaxBins = 255
    categorical_features: p.CategoricalFeatures = "from_dtype"
    warm_start: p.TunedWarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0

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


def share_of_uniform(n_points: int) -> float:
    """Weight of the uniform distribution in probabilities: no class is excluded."""
    return 1.0 / (n_points + 1)
