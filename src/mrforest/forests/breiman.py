# SPDX-License-Identifier: BSD-3-Clause
"""Breiman's random forest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mrforest import _core
from mrforest.forests._docs import describe
from mrforest.forests._validation import (
    BAG,
    BINS,
    CLASSIFIER,
    CRITERION,
    FOREST,
    LEAVES,
    MAX_FEATURES,
    Constraints,
    count_features,
)
from mrforest.forests.mixins import OutOfBagClassifier, OutOfBagRegressor
from mrforest.forests.sampling import Bootstrap


@describe
class BreimanForestClassifier(OutOfBagClassifier):
    """Breiman's random forest: bootstrap samples, the best cut of a few features.

    What scikit-learn's ``RandomForestClassifier`` grows, on the engine of this package:
    each tree is shaped and filled by one bootstrap sample of the rows; a node looks at
    floor(sqrt(D)) features, drawn afresh, and takes the best cut of theirs.

    *Consistency*: proved for regression with additive models and for variants (Scornet,
    Biau, Vert 2015, and others since), not for this forest as people use it.

    *Readings*: ``min_samples_leaf`` is the size of a leaf, not the size at which a node
    is left alone (``leaf_rule`` has both), and counts the points of the bag, repeated
    ones as often as they were drawn. Breiman's vote was hard; averaging shares is as
    good or better and is what scikit-learn does.

    Parameters
    ----------
    {n_estimators}
    {max_features}
    {bag_min_samples_leaf}
    {bag_leaf_rule}
    {min_weight_fraction_leaf}
    {criterion}
    {max_depth}
    {max_bins}
    {categorical_features}
    {soft_voting}
    {class_weight}
    {oob_score}
    {warm_start}
    {n_jobs}
    {random_state}
    {verbose}

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

    _parameter_constraints: ClassVar[Constraints] = {
        **FOREST,
        **LEAVES,
        **BINS,
        **CLASSIFIER,
        **CRITERION,
        **MAX_FEATURES,
        **BAG,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: str | float | None = "sqrt",
        min_samples_leaf: int = 1,
        leaf_rule: Literal["stop", "floor"] = "floor",
        min_weight_fraction_leaf: float = 0.0,
        criterion: Literal["gini", "entropy"] = "gini",
        max_depth: int | None = None,
        max_bins: int | Literal["exact"] = 255,
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        voting: Literal["hard", "soft"] = "soft",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        oob_score: bool | Callable[..., float] = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.leaf_rule = leaf_rule
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.voting = voting
        self.class_weight = class_weight
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self, n_features: int) -> _core.SplitRule:
        return _core.Greedy(count_features(self.max_features, n_features))

    def _sampler(self) -> Bootstrap:
        return Bootstrap()


@describe
class BreimanForestRegressor(OutOfBagRegressor):
    """Breiman's random forest for a number.

    As the classifier, with the decrease of the variance as the score of a cut; a leaf
    tells the mean of its points. A node looks at a third of the features, as Breiman
    advised for regression (scikit-learn's default is all of them).

    *Consistency*: for additive models, with trees of a limited number of leaves
    (Scornet, Biau, Vert 2015).

    Parameters
    ----------
    {n_estimators}
    max_features : "sqrt", "log2", int, float or None, default=1/3
        Features that a node looks at, drawn afresh: the square root or the binary
        logarithm of all, rounded down; so many; this share of all; or all. At least 1.
        If none of them can be cut, further ones are drawn.
    {bag_min_samples_leaf}
    {bag_leaf_rule}
    {min_weight_fraction_leaf}
    {max_depth}
    {max_bins}
    {categorical_features}
    {oob_score}
    {warm_start}
    {n_jobs}
    {random_state}
    {verbose}

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

    _parameter_constraints: ClassVar[Constraints] = {
        **FOREST,
        **LEAVES,
        **BINS,
        **MAX_FEATURES,
        **BAG,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: str | float | None = 1 / 3,
        min_samples_leaf: int = 1,
        leaf_rule: Literal["stop", "floor"] = "floor",
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        max_bins: int | Literal["exact"] = 255,
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        oob_score: bool | Callable[..., float] = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.leaf_rule = leaf_rule
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self, n_features: int) -> _core.SplitRule:
        return _core.Greedy(count_features(self.max_features, n_features))

    def _sampler(self) -> Bootstrap:
        return Bootstrap()
