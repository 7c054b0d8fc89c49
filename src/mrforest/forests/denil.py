# SPDX-License-Identifier: BSD-3-Clause
"""The consistent forest of Denil, Matheson and de Freitas."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Literal

from mrforest import _core
from mrforest._sklearn import Interval, StrOptions
from mrforest.data.training import MAX_POINTS
from mrforest.forests import parameters as p
from mrforest.forests.declaration import Doc, estimator
from mrforest.forests.mixins import (
    BaseForestClassifier,
    BaseForestRegressor,
    HonestForest,
)

MeanFeatures = Annotated[
    "float | Literal['sqrt']",
    Interval(Real, 0, 500, closed="both"),
    StrOptions({"sqrt"}),
    Doc("""float or "sqrt"
        λ of the paper, 0 to 500: a node looks at min(1 + Poisson(λ), D) of the D
        features. "sqrt": the square root of D. If none of them can be cut, further ones
        are drawn."""),
]

RangeSamples = Annotated[
    "int",
    p.AT_LEAST_ONE,
    Doc("""int
        m of the paper: for each feature that is looked at, only cuts between the
        smallest and the largest of m structure points of the node, drawn for this
        feature, are candidates. Of a categorical feature, only categories that these
        points have."""),
]


class DenilForest(HonestForest):
    """What both forests share."""

    def _rule(self, n_features: int) -> _core.SplitRule:
        is_root = self.mean_features == "sqrt"
        mean = math.sqrt(n_features) if is_root else float(self.mean_features)
        return _core.Denil(mean, min(self.n_range_samples, MAX_POINTS))


@estimator
class DenilForestClassifier(DenilForest, BaseForestClassifier):
    """Denil14, the consistent forest of Denil, Matheson and de Freitas (2014).

    One half of the rows shapes a tree, the other half fills its leaves. A node looks at
    a Poisson number of features; the cuts of a feature are those in the range of a few
    structure points, and the best of all is taken.

    *Consistency*: proved by the authors, with a ``min_samples_leaf`` k that grows with
    n, k/n tending to 0.

    *Readings*: halves of fixed size, where the paper tosses a coin for each row; the m
    points are drawn without replacement, afresh for each feature, and the ends of their
    range belong to it.

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
    M. Denil, D. Matheson, N. de Freitas. Narrowing the gap: random forests in theory
    and in practice. ICML 2014, arXiv:1310.1415.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from mrforest import DenilForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = DenilForestClassifier(random_state=0)
    >>> cross_val_score(forest, X, y, cv=5).mean() > 0.93
    np.True_
    """

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    mean_features: MeanFeatures = "sqrt"
    n_range_samples: RangeSamples = 100
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
class DenilForestRegressor(DenilForest, BaseForestRegressor):
    """The consistent forest of Denil, Matheson and de Freitas (2014) for a number.

    As the classifier, with the decrease of the variance as the score of a cut; a leaf
    tells the mean of its estimation points. It is the form that the paper proves
    consistent, with a ``min_samples_leaf`` k that grows with n, k/n tending to 0.

    *Readings*: halves of fixed size, where the paper tosses a coin for each row; the m
    points are drawn without replacement, afresh for each feature, and the ends of their
    range belong to it.

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
    M. Denil, D. Matheson, N. de Freitas. Narrowing the gap: random forests in theory
    and in practice. ICML 2014, arXiv:1310.1415.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import cross_val_score
    >>> from mrforest import DenilForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = DenilForestRegressor(random_state=0)
    >>> cross_val_score(forest, X, y, cv=5).mean() > 0.35
    np.True_
    """

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    mean_features: MeanFeatures = "sqrt"
    n_range_samples: RangeSamples = 100
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
