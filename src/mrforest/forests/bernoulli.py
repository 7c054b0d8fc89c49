# SPDX-License-Identifier: BSD-3-Clause
"""The Bernoulli random forest (BRF)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

from mrforest import _core
from mrforest.forests import parameters as p
from mrforest.forests.declaration import Doc, estimator
from mrforest.forests.mixins import (
    BaseForestClassifier,
    BaseForestRegressor,
    HonestForest,
)

RandomFeatureProbability = Annotated[
    "float",
    p.PROBABILITY,
    Doc("""float
        p1 of the paper: with this probability a node looks at one feature, drawn at
        random, not at ``max_features``."""),
]

RandomCutProbability = Annotated[
    "float",
    p.PROBABILITY,
    Doc("""float
        p2 of the paper: with this probability the cut is not the best, but drawn: first
        a feature, then one of its cuts, both uniformly."""),
]


class BernoulliForest(HonestForest):
    """What both forests share."""

    def _rule(self, n_features: int) -> _core.SplitRule:
        return _core.Bernoulli(
            p.count_features(self.max_features, n_features),
            self.random_feature_probability,
            self.random_cut_probability,
        )


@estimator
class BernoulliForestClassifier(BernoulliForest, BaseForestClassifier):
    """Bernoulli random forest (BRF): mostly Breiman's split, now and then a random one.

    One half of the rows shapes a tree, the other half fills its leaves. Two coins are
    tossed at each node: the first decides whether one feature is looked at or several,
    the second whether the cut is drawn or the best is taken.

    *Consistency*: proved by the authors if both probabilities are positive, with a
    ``min_samples_leaf`` k that grows with n, k/n tending to 0.

    *Readings*: the random cut is drawn feature first, then uniformly over its candidate
    cuts (the paper leaves open how); square roots are rounded down.

    Parameters
    ----------
    {parameters}

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

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    max_features: p.MaxFeatures = "sqrt"
    random_feature_probability: RandomFeatureProbability = 0.05
    random_cut_probability: RandomCutProbability = 0.05
    honest_fraction: p.HonestFraction = 0.5
    min_samples_split: p.MinSamplesSplit = None
    min_samples_leaf: p.MinSamplesLeaf = None
    min_weight_fraction_leaf: p.MinWeightFractionLeaf = 0.0
    criterion: p.Criterion = "gini"
    max_depth: p.MaxDepth = None
    max_bins: p.MaxBins = 255
    categorical_features: p.CategoricalFeatures = "from_dtype"
    voting: p.Voting = "hard"
    class_weight: p.ClassWeight = None
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0


@estimator
class BernoulliForestRegressor(BernoulliForest, BaseForestRegressor):
    """Bernoulli random forest (BRF) for a number.

    As the classifier, with the decrease of the variance as the score of a cut; a leaf
    tells the mean of its estimation points.

    *Consistency*: proved by the authors if both probabilities are positive, with a
    ``min_samples_leaf`` k that grows with n, k/n tending to 0.

    *Readings*: the random cut is drawn feature first, then uniformly over its candidate
    cuts (the paper leaves open how); square roots are rounded down.

    Parameters
    ----------
    {parameters}

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

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    max_features: p.MaxFeatures = "sqrt"
    random_feature_probability: RandomFeatureProbability = 0.05
    random_cut_probability: RandomCutProbability = 0.05
    honest_fraction: p.HonestFraction = 0.5
    min_samples_split: p.MinSamplesSplit = None
    min_samples_leaf: p.ValueMinSamplesLeaf = None
    min_weight_fraction_leaf: p.MinWeightFractionLeaf = 0.0
    max_depth: p.MaxDepth = None
    max_bins: p.MaxBins = 255
    categorical_features: p.CategoricalFeatures = "from_dtype"
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0
