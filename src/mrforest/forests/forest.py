# SPDX-License-Identifier: BSD-3-Clause
"""The forest to use by default: consistent, and tuned by the rows that it holds out."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mrforest.forests._docs import describe
from mrforest.forests._self_tuning_classes import SelfTuningClassifier
from mrforest.forests._self_tuning_values import SelfTuningRegressor
from mrforest.forests._validation import (
    AT_LEAST_ONE,
    BINS,
    CLASSIFIER,
    CRITERION,
    FOREST,
    MAX_FEATURES,
    MIN_WEIGHT,
    Constraints,
    Interval,
    RealNotInt,
    StrOptions,
)

AUTO = StrOptions({"auto"})
SELF_TUNING: Constraints = {
    **FOREST,
    **BINS,
    "max_samples": [
        Interval(RealNotInt, 0, 1, closed="right"),
        Interval(Integral, 1, None, closed="left"),
    ],
    "max_features": [AUTO, *MAX_FEATURES["max_features"]],
    "feature_budget": [AUTO, Interval(Real, 0, None, closed="left")],
    "split_budget": [AUTO, Interval(Real, 0, None, closed="left")],
    "equality_cuts": [AUTO, "boolean"],
    "min_samples_split": [AUTO, Interval(Integral, 2, None, closed="left")],
    "min_samples_leaf": [AUTO, *AT_LEAST_ONE],
    "min_weight_fraction_leaf": MIN_WEIGHT,
    "max_depth": [*AT_LEAST_ONE, None],
}


@describe
class ForestClassifier(SelfTuningClassifier):
    """A random forest that tunes itself. The one to use by default.

    Each tree is shaped by a share of the rows and filled by all of them. Splits are
    drawn as in the multinomial forest. Rows that did not shape a tree tell, their own
    label left out, how good it is on new rows: by them the forest chooses the size of
    its leaves, how greedy its splits are, and how sharp its probabilities. They also
    give out-of-bag estimates and unbiased importances, at no extra cost.

    Parameters
    ----------
    {n_estimators}
    {max_samples}
    {tuned_max_features}
    {tuned_budgets}
    {equality_cuts}
    {min_samples_split}
    {tuned_min_samples_leaf}
    {tuned_min_weight_fraction_leaf}
    {tuned_criterion}
    {max_depth}
    {max_bins}
    {categorical_features}
    {class_weight}
    calibrate : bool, default=True
        Whether probabilities are raised to the power `power_` and divided by their sum.
        The average of trees is drawn to the middle; the power makes up for it. Else
        `predict_proba` returns the mean class shares of the leaves.
    {tuned_warm_start}
    {n_jobs}
    {random_state}
    {verbose}

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

    _parameter_constraints: ClassVar[Constraints] = {
        **SELF_TUNING,
        "criterion": [AUTO, *CRITERION["criterion"]],
        "class_weight": CLASSIFIER["class_weight"],
        "calibrate": ["boolean"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_samples: float = 0.8,
        max_features: str | float | None = "auto",
        feature_budget: float | Literal["auto"] = "auto",
        split_budget: float | Literal["auto"] = "auto",
        equality_cuts: bool | Literal["auto"] = "auto",
        min_samples_split: int | Literal["auto"] = "auto",
        min_samples_leaf: int | Literal["auto"] = "auto",
        min_weight_fraction_leaf: float = 0.0,
        criterion: Literal["auto", "gini", "entropy"] = "auto",
        max_depth: int | None = None,
        max_bins: int | Literal["exact"] = 255,
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        calibrate: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.feature_budget = feature_budget
        self.split_budget = split_budget
        self.equality_cuts = equality_cuts
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


@describe
class ForestRegressor(SelfTuningRegressor):
    """A random forest for a number that tunes itself. The one to use by default.

    The trees of `ForestClassifier` with the decrease of the variance as the score of a
    cut, and with the squared error in place of the Brier score.

    Parameters
    ----------
    {n_estimators}
    {max_samples}
    {tuned_max_features}
    {tuned_budgets}
    {equality_cuts}
    {min_samples_split}
    {tuned_min_samples_leaf}
    {tuned_min_weight_fraction_leaf}
    {max_depth}
    {max_bins}
    {categorical_features}
    {tuned_warm_start}
    {n_jobs}
    {random_state}
    {verbose}

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

    _parameter_constraints: ClassVar[Constraints] = SELF_TUNING

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_samples: float = 0.8,
        max_features: str | float | None = "auto",
        feature_budget: float | Literal["auto"] = "auto",
        split_budget: float | Literal["auto"] = "auto",
        equality_cuts: bool | Literal["auto"] = "auto",
        min_samples_split: int | Literal["auto"] = "auto",
        min_samples_leaf: int | Literal["auto"] = "auto",
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        max_bins: int | Literal["exact"] = 255,
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.feature_budget = feature_budget
        self.split_budget = split_budget
        self.equality_cuts = equality_cuts
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
