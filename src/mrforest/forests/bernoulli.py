# SPDX-License-Identifier: BSD-3-Clause
"""The Bernoulli random forest (BRF)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mrforest import _core
from mrforest.forests._docs import describe
from mrforest.forests._validation import (
    BINS,
    CLASSIFIER,
    CRITERION,
    FOREST,
    HONEST,
    LEAVES,
    MAX_FEATURES,
    PROBABILITY,
    Constraints,
    count_features,
)
from mrforest.forests.mixins import (
    BaseForestClassifier,
    BaseForestRegressor,
    HonestForestMixin,
)
from mrforest.forests.sampling import Partition


@describe
class BernoulliForestClassifier(HonestForestMixin, BaseForestClassifier):
    """Bernoulli random forest (BRF): mostly Breiman's split, now and then a random one.

    One half of the rows shapes a tree, the other half fills its leaves. Two coins are
    tossed at each node: the first decides whether one feature is looked at or several,
    the second whether the cut is drawn or the best is taken.

    *Consistency*: proved by the authors if both probabilities are positive, with
    ``leaf_rule="floor"`` and a k that grows with n, k/n tending to 0.

    *Readings*: the random cut is drawn feature first, then uniformly over its candidate
    cuts (the paper leaves open how); square roots are rounded down.

    Parameters
    ----------
    {n_estimators}
    {max_features}
    feature_probability : float, default=0.05
        p1 of the paper: with this probability a node looks at one feature, not at
        ``max_features``.
    split_probability : float, default=0.05
        p2 of the paper: with this probability the cut is not the best, but drawn: first
        a feature, then one of its cuts, both uniformly.
    {partition_rate}
    {min_samples_leaf}
    {leaf_rule}
    {min_weight_fraction_leaf}
    {criterion}
    {max_depth}
    {max_bins}
    {categorical_features}
    {voting}
    {class_weight}
    {warm_start}
    {n_jobs}
    {random_state}
    {verbose}

    Attributes
    ----------
    {classes_}
    {n_features_in_}
    {estimators_}
    {importances_}

    References
    ----------
    Y. Wang, S.-T. Xia, Q. Tang, J. Wu, X. Zhu. A novel consistent random forest
    framework: Bernoulli random forests. IEEE Transactions on Neural Networks and
    Learning Systems 29 (2018). First at IJCAI 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from mrforest import BernoulliForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = BernoulliForestClassifier(random_state=0)
    >>> cross_val_score(forest, X, y, cv=5).mean() > 0.93
    np.True_
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **FOREST,
        **LEAVES,
        **BINS,
        **CLASSIFIER,
        **CRITERION,
        **HONEST,
        **MAX_FEATURES,
        "feature_probability": PROBABILITY,
        "split_probability": PROBABILITY,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: str | float | None = "sqrt",
        feature_probability: float = 0.05,
        split_probability: float = 0.05,
        partition_rate: float = 1.0,
        min_samples_leaf: int = 5,
        leaf_rule: Literal["stop", "floor"] = "stop",
        min_weight_fraction_leaf: float = 0.0,
        criterion: Literal["gini", "entropy"] = "gini",
        max_depth: int | None = None,
        max_bins: int | Literal["exact"] = 255,
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        voting: Literal["hard", "soft"] = "hard",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.feature_probability = feature_probability
        self.split_probability = split_probability
        self.partition_rate = partition_rate
        self.min_samples_leaf = min_samples_leaf
        self.leaf_rule = leaf_rule
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.voting = voting
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self, n_features: int) -> _core.SplitRule:
        return _core.Bernoulli(
            count_features(self.max_features, n_features),
            self.feature_probability,
            self.split_probability,
        )

    def _sampler(self) -> Partition:
        return Partition(self.partition_rate)


@describe
class BernoulliForestRegressor(HonestForestMixin, BaseForestRegressor):
    """Bernoulli random forest (BRF) for a number.

    As the classifier, with the decrease of the variance as the score of a cut; a leaf
    tells the mean of its estimation points.

    *Consistency*: proved by the authors if both probabilities are positive, with
    ``leaf_rule="floor"`` and a k that grows with n, k/n tending to 0.

    *Readings*: the random cut is drawn feature first, then uniformly over its candidate
    cuts (the paper leaves open how); square roots are rounded down.

    Parameters
    ----------
    {n_estimators}
    {max_features}
    feature_probability : float, default=0.05
        p1 of the paper: with this probability a node looks at one feature, not at
        ``max_features``.
    split_probability : float, default=0.05
        p2 of the paper: with this probability the cut is not the best, but drawn: first
        a feature, then one of its cuts, both uniformly.
    {partition_rate}
    {min_samples_leaf}
    {value_leaf_rule}
    {min_weight_fraction_leaf}
    {max_depth}
    {max_bins}
    {categorical_features}
    {warm_start}
    {n_jobs}
    {random_state}
    {verbose}

    Attributes
    ----------
    {n_features_in_}
    {estimators_}
    {importances_}

    References
    ----------
    Y. Wang, S.-T. Xia, Q. Tang, J. Wu, X. Zhu. A novel consistent random forest
    framework: Bernoulli random forests. IEEE Transactions on Neural Networks and
    Learning Systems 29 (2018). First at IJCAI 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import cross_val_score
    >>> from mrforest import BernoulliForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = BernoulliForestRegressor(random_state=0)
    >>> cross_val_score(forest, X, y, cv=5).mean() > 0.35
    np.True_
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **FOREST,
        **LEAVES,
        **BINS,
        **HONEST,
        **MAX_FEATURES,
        "feature_probability": PROBABILITY,
        "split_probability": PROBABILITY,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: str | float | None = "sqrt",
        feature_probability: float = 0.05,
        split_probability: float = 0.05,
        partition_rate: float = 1.0,
        min_samples_leaf: int = 5,
        leaf_rule: Literal["stop", "floor"] = "stop",
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
        self.max_features = max_features
        self.feature_probability = feature_probability
        self.split_probability = split_probability
        self.partition_rate = partition_rate
        self.min_samples_leaf = min_samples_leaf
        self.leaf_rule = leaf_rule
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self, n_features: int) -> _core.SplitRule:
        return _core.Bernoulli(
            count_features(self.max_features, n_features),
            self.feature_probability,
            self.split_probability,
        )

    def _sampler(self) -> Partition:
        return Partition(self.partition_rate)
