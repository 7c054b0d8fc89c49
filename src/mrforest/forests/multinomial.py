# SPDX-License-Identifier: BSD-3-Clause
"""The multinomial random forest (MRF)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mrforest import _core
from mrforest.forests._docs import describe
from mrforest.forests._validation import (
    BINS,
    BUDGET,
    CLASSIFIER,
    CRITERION,
    FOREST,
    HONEST,
    LEAVES,
    Constraints,
)
from mrforest.forests.mixins import (
    BaseForestClassifier,
    BaseForestRegressor,
    HonestForestMixin,
)
from mrforest.forests.sampling import Partition

if TYPE_CHECKING:
    from mrforest.privacy import PrivacyReport


@describe
class MultinomialForestClassifier(HonestForestMixin, BaseForestClassifier):
    """Multinomial random forest: splits are drawn, not searched.

    For each tree the rows are halved at random. The *structure points* shape the tree:
    at a node, the feature is drawn from the softmax of the features' best impurity
    decreases, then the cut from the softmax of the decreases of that feature's cuts.
    The *estimation points* fill the leaves. All features of every node are looked at.

    Parameters
    ----------
    {n_estimators}
    feature_budget : float, default=10.0
        B1 of the paper, 0 to inf. 0 draws the feature uniformly, inf takes the best.
    split_budget : float, default=10.0
        B2 of the paper, 0 to inf: the same for the cut.
    label_budget : float, default=inf
        B3 of the paper, 0 to inf. The label of a leaf is drawn once, at fit, class c
        with probability proportional to ``exp(B3 / 2 * share of c)``. inf takes the
        majority, ties at random. Only for ``voting="hard"``. None of the three budgets
        makes the forest differentially private; `privacy_report` says why.
    {partition_rate}
    {min_samples_leaf}
    leaf_rule : {"stop", "floor"}, default="stop"
        "stop": a node with at most k estimation points, or with structure points of one
        class, is not split, and a split that would leave a child without estimation
        points is refused. It is what reproduces the paper's accuracies. "floor": only
        cuts that leave at least k estimation points on both sides are candidates, and
        pure nodes are split on. It is what the paper's consistency theorem covers, if k
        grows with the number of rows.
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
    J. Bai, Y. Li, J. Li, X. Yang, Y. Jiang, S.-T. Xia. Multinomial random forest.
    Pattern Recognition 122, 108331 (2022). Preprint: arXiv:1903.04003.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from mrforest import MultinomialForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> forest = MultinomialForestClassifier(random_state=0).fit(X_train, y_train)
    >>> forest.predict(X_test[:5])
    array([0, 1, 1, 1, 1])
    >>> forest.score(X_test, y_test) > 0.9
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **FOREST,
        **LEAVES,
        **BINS,
        **CLASSIFIER,
        **CRITERION,
        **HONEST,
        "feature_budget": BUDGET,
        "split_budget": BUDGET,
        "label_budget": BUDGET,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        feature_budget: float = 10.0,
        split_budget: float = 10.0,
        label_budget: float = np.inf,
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
        self.feature_budget = feature_budget
        self.split_budget = split_budget
        self.label_budget = label_budget
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
        return _core.Multinomial(self.feature_budget, self.split_budget)

    def _sampler(self) -> Partition:
        return Partition(self.partition_rate)

    def _label_budget(self) -> float:
        return self.label_budget

    def privacy_report(self) -> PrivacyReport:
        """Tell why the budgets do not make the forest differentially private.

        Returns
        -------
        PrivacyReport
            What a fit with these parameters tells of its rows, and the ε that the
            paper's Theorem 2 sees in the budgets. The depth is that of the fitted
            trees; before a fit it is `max_depth`.

        See Also
        --------
        mrforest.privacy.allocate : The budgets of the theorem.

        Examples
        --------
        >>> from mrforest import MultinomialForestClassifier
        >>> forest = MultinomialForestClassifier(10, max_depth=5, label_budget=1)
        >>> report = forest.privacy_report()
        >>> [item.what for item in report.items][:4]
        ['values', 'categories', 'classes', 'features']
        >>> print(report)  # doctest: +ELLIPSIS
        Not differentially private: no ε is claimed. A fit tells
        ...
        If all of that were mended, the budgets would be worth
        - ε = t max(d (B1 + B2), B3) = 10 max(5 (10 + 10), 1) = 1000 by Theorem 2 of ...
        ...
        For an ε that holds take PrivateForestClassifier.
        """
        # Most who grow a forest do not ask.
        from mrforest.privacy import Budgets, PrivacyReport
        from mrforest.privacy.leaks import leaks_of

        self._validate_params()
        n_estimators, depth = self.n_estimators, self.max_depth
        if hasattr(self, "_forest"):
            n_estimators, depth = len(self._forest), int(self.depths_.max())
        budgets = Budgets(
            feature_budget=float(self.feature_budget),
            split_budget=float(self.split_budget),
            label_budget=float(self.label_budget),
        )
        return PrivacyReport(tuple(leaks_of(self)), budgets, n_estimators, depth)


@describe
class MultinomialForestRegressor(HonestForestMixin, BaseForestRegressor):
    """Multinomial random forest for a number: splits are drawn, not searched.

    The classifier's trees with the decrease of the variance in place of the decrease of
    the impurity; a leaf tells the mean of its estimation points. The paper treats
    classification only; this is the form that follows from it.

    Parameters
    ----------
    {n_estimators}
    feature_budget : float, default=10.0
        B1 of the paper, 0 to inf. 0 draws the feature uniformly, inf takes the best.
    split_budget : float, default=10.0
        B2 of the paper, 0 to inf: the same for the cut.
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
    J. Bai, Y. Li, J. Li, X. Yang, Y. Jiang, S.-T. Xia. Multinomial random forest.
    Pattern Recognition 122, 108331 (2022). Preprint: arXiv:1903.04003.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import cross_val_score
    >>> from mrforest import MultinomialForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = MultinomialForestRegressor(random_state=0)
    >>> cross_val_score(forest, X, y, cv=5).mean() > 0.35
    np.True_
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **FOREST,
        **LEAVES,
        **BINS,
        **HONEST,
        "feature_budget": BUDGET,
        "split_budget": BUDGET,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        feature_budget: float = 10.0,
        split_budget: float = 10.0,
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
        self.feature_budget = feature_budget
        self.split_budget = split_budget
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
        return _core.Multinomial(self.feature_budget, self.split_budget)

    def _sampler(self) -> Partition:
        return Partition(self.partition_rate)
