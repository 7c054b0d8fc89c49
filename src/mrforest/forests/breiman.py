# SPDX-License-Identifier: BSD-3-Clause
"""Breiman's random forest."""

from __future__ import annotations

from dataclasses import KW_ONLY

from mrforest import _core
from mrforest.forests import parameters as p
from mrforest.forests.declaration import estimator
from mrforest.forests.mixins import OutOfBag, OutOfBagClassifier, OutOfBagRegressor


class BreimanForest(OutOfBag):
    """What both forests share."""

    def _rule(self, n_features: int) -> _core.SplitRule:
        return _core.Greedy(p.count_features(self.max_features, n_features))


@estimator
class BreimanForestClassifier(BreimanForest, OutOfBagClassifier):
    """Breiman's random forest: bootstrap samples, the best cut of a few features.

    What scikit-learn's ``RandomForestClassifier`` grows, on the engine of this package:
    each tree is shaped and filled by one bootstrap sample of the rows; a node looks at
    floor(sqrt(D)) features, drawn afresh, and takes the best cut of theirs.

    *Consistency*: proved for regression with additive models and for variants (Scornet,
    Biau, Vert 2015, and others since), not for this forest as people use it.

    *Readings*: ``min_samples_split`` and ``min_samples_leaf`` are those of scikit-learn
    (R's ``nodesize`` k is a ``min_samples_split`` of k + 1), and count the points of
    the bag, repeated ones as often as they were drawn. Breiman's vote was hard;
    averaging shares is as good or better and is what scikit-learn does.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes_}
    {n_features_in_}
    {estimators_}
    {bag_importances_}
    {oob_classifier_}

    References
    ----------
    L. Breiman. Random forests. Machine Learning 45, 5-32 (2001).

    E. Scornet, G. Biau, J.-P. Vert. Consistency of random forests. Annals of Statistics
    43, 1716-1741 (2015).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mrforest import BreimanForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = BreimanForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.95
    True
    """

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    max_features: p.MaxFeatures = "sqrt"
    min_samples_split: p.BagMinSamplesSplit = 2
    min_samples_leaf: p.BagMinSamplesLeaf = 1
    min_weight_fraction_leaf: p.MinWeightFractionLeaf = 0.0
    criterion: p.Criterion = "gini"
    max_depth: p.MaxDepth = None
    max_bins: p.MaxBins = 255
    categorical_features: p.CategoricalFeatures = "from_dtype"
    voting: p.SoftVoting = "soft"
    class_weight: p.ClassWeight = None
    oob_score: p.OobScore = False
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0


@estimator
class BreimanForestRegressor(BreimanForest, OutOfBagRegressor):
    """Breiman's random forest for a number.

    As the classifier, with the decrease of the variance as the score of a cut; a leaf
    tells the mean of its points. A node looks at a third of the features, as Breiman
    advised for regression (scikit-learn's default is all of them).

    *Consistency*: for additive models, with trees of a limited number of leaves
    (Scornet, Biau, Vert 2015).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {n_features_in_}
    {estimators_}
    {bag_importances_}
    {oob_regressor_}

    References
    ----------
    L. Breiman. Random forests. Machine Learning 45, 5-32 (2001).

    E. Scornet, G. Biau, J.-P. Vert. Consistency of random forests. Annals of Statistics
    43, 1716-1741 (2015).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mrforest import BreimanForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = BreimanForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.4
    True
    """

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    max_features: p.MaxFeatures = 1 / 3
    min_samples_split: p.BagMinSamplesSplit = 2
    min_samples_leaf: p.BagMinSamplesLeaf = 1
    min_weight_fraction_leaf: p.MinWeightFractionLeaf = 0.0
    max_depth: p.MaxDepth = None
    max_bins: p.MaxBins = 255
    categorical_features: p.CategoricalFeatures = "from_dtype"
    oob_score: p.OobScore = False
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0
