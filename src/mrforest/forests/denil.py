# SPDX-License-Identifier: BSD-3-Clause
"""The consistent forest of Denil, Matheson and de Freitas."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mrforest import _core
from mrforest.data.training import MAX_POINTS
from mrforest.forests._docs import describe
from mrforest.forests._validation import (
    BINS,
    CLASSIFIER,
    CRITERION,
    FOREST,
    HONEST,
    LEAVES,
    Constraints,
    Interval,
    StrOptions,
)
from mrforest.forests.mixins import (
    BaseForestClassifier,
    BaseForestRegressor,
    HonestForestMixin,
)
from mrforest.forests.sampling import Partition


@describe
class DenilForestClassifier(HonestForestMixin, BaseForestClassifier):
    """Denil14, the consistent forest of Denil, Matheson and de Freitas (2014).

    One half of the rows shapes a tree, the other half fills its leaves. A node looks at
    a Poisson number of features; the cuts of a feature are those in the range of a few
    structure points, and the best of all is taken.

    *Consistency*: proved by the authors, with ``leaf_rule="floor"`` and a k that grows
    with n, k/n tending to 0.

    *Readings*: halves of fixed size, where the paper tosses a coin for each row; the m
    points are drawn without replacement, afresh for each feature, and the ends of their
    range belong to it.

    Parameters
    ----------
    {n_estimators}
    feature_mean : float or "sqrt", default="sqrt"
        λ of the paper, 0 to 500: a node looks at min(1 + Poisson(λ), D) of the D
        features. "sqrt": the square root of D. If none of them can be cut, further ones
        are drawn.
    range_points : int, default=100
        m of the paper: for each feature that is looked at, only cuts between the
        smallest and the largest of m structure points of the node, drawn for this
        feature, are candidates. Of a categorical feature, only categories that these
        points have.
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

    _parameter_constraints: ClassVar[Constraints] = {
        **FOREST,
        **LEAVES,
        **BINS,
        **CLASSIFIER,
        **CRITERION,
        **HONEST,
        "feature_mean": [Interval(Real, 0, 500, closed="both"), StrOptions({"sqrt"})],
        "range_points": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        feature_mean: float | Literal["sqrt"] = "sqrt",
        range_points: int = 100,
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
        self.feature_mean = feature_mean
        self.range_points = range_points
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
        return denil_rule(self.feature_mean, self.range_points, n_features)

    def _sampler(self) -> Partition:
        return Partition(self.partition_rate)


@describe
class DenilForestRegressor(HonestForestMixin, BaseForestRegressor):
    """The consistent forest of Denil, Matheson and de Freitas (2014) for a number.

    As the classifier, with the decrease of the variance as the score of a cut; a leaf
    tells the mean of its estimation points. It is the form that the paper proves
    consistent, with ``leaf_rule="floor"`` and a k that grows with n, k/n tending to 0.

    *Readings*: halves of fixed size, where the paper tosses a coin for each row; the m
    points are drawn without replacement, afresh for each feature, and the ends of their
    range belong to it.

    Parameters
    ----------
    {n_estimators}
    feature_mean : float or "sqrt", default="sqrt"
        λ of the paper, 0 to 500: a node looks at min(1 + Poisson(λ), D) of the D
        features. "sqrt": the square root of D. If none of them can be cut, further ones
        are drawn.
    range_points : int, default=100
        m of the paper: for each feature that is looked at, only cuts between the
        smallest and the largest of m structure points of the node, drawn for this
        feature, are candidates. Of a categorical feature, only categories that these
        points have.
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

    _parameter_constraints: ClassVar[Constraints] = {
        **FOREST,
        **LEAVES,
        **BINS,
        **HONEST,
        "feature_mean": [Interval(Real, 0, 500, closed="both"), StrOptions({"sqrt"})],
        "range_points": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        feature_mean: float | Literal["sqrt"] = "sqrt",
        range_points: int = 100,
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
        self.feature_mean = feature_mean
        self.range_points = range_points
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
        return denil_rule(self.feature_mean, self.range_points, n_features)

    def _sampler(self) -> Partition:
        return Partition(self.partition_rate)


def denil_rule(
    feature_mean: float | str, range_points: int, n_features: int
) -> _core.SplitRule:
    """Return the rule that both forests grow by."""
    mean = math.sqrt(n_features) if feature_mean == "sqrt" else float(feature_mean)
    return _core.Denil(mean, min(range_points, MAX_POINTS))
