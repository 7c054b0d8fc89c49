# SPDX-License-Identifier: BSD-3-Clause
"""A forest in the manner of DMRF."""

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
    BUDGET,
    CLASSIFIER,
    CRITERION,
    FOREST,
    LEAVES,
    MAX_FEATURES,
    PROBABILITY,
    Constraints,
    count_features,
)
from mrforest.forests.mixins import OutOfBagClassifier
from mrforest.forests.sampling import Bootstrap


@describe
class DataDrivenMultinomialForestClassifier(OutOfBagClassifier):
    """A forest in the manner of DMRF, the data-driven multinomial random forest.

    Each tree is shaped and filled by one bootstrap sample. A node looks at a few
    features, drawn afresh. With a small probability the cut is drawn as in the
    multinomial forest, restricted to these features; else the best is taken. So every
    cut keeps a chance, and no row is spent on filling leaves only.

    **A reconstruction**: the mechanism was put together from the paper's abstract and
    from accounts of it, not from its full text. Do not quote results of this class as
    those of DMRF.

    *Consistency*: the authors claim strong consistency of DMRF, with a leaf size that
    grows faster than log n and slower than n. No proof is claimed for this class.

    *Readings*: ``split_probability``, the budgets and the bootstrap are guesses at what
    the paper does.

    Parameters
    ----------
    {n_estimators}
    {max_features}
    split_probability : float, default=0.05
        Probability that the cut of a node is drawn, not searched.
    feature_budget, split_budget : float, default=10.0
        B1 and B2 of the draw, as in `MultinomialForestClassifier`.
    min_samples_leaf : int, default=5
        k; a number of points of the bag. See ``leaf_rule``.
    {bag_leaf_rule}
    {min_weight_fraction_leaf}
    {criterion}
    {max_depth}
    {max_bins}
    {categorical_features}
    {voting}
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
    J. Chen, X. Wang, F. Lei. Data-driven multinomial random forest: a new random forest
    variant with strong consistency. Journal of Big Data 11, 34 (2024),
    arXiv:2211.15154.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mrforest import DataDrivenMultinomialForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = DataDrivenMultinomialForestClassifier(oob_score=True, random_state=0)
    >>> forest.fit(X, y).oob_score_ > 0.93
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
        "split_probability": PROBABILITY,
        "feature_budget": BUDGET,
        "split_budget": BUDGET,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: str | float | None = "sqrt",
        split_probability: float = 0.05,
        feature_budget: float = 10.0,
        split_budget: float = 10.0,
        min_samples_leaf: int = 5,
        leaf_rule: Literal["stop", "floor"] = "floor",
        min_weight_fraction_leaf: float = 0.0,
        criterion: Literal["gini", "entropy"] = "gini",
        max_depth: int | None = None,
        max_bins: int | Literal["exact"] = 255,
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        voting: Literal["hard", "soft"] = "hard",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        oob_score: bool | Callable[..., float] = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.split_probability = split_probability
        self.feature_budget = feature_budget
        self.split_budget = split_budget
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
        return _core.DataDriven(
            count_features(self.max_features, n_features),
            self.split_probability,
            self.feature_budget,
            self.split_budget,
        )

    def _sampler(self) -> Bootstrap:
        return Bootstrap()
