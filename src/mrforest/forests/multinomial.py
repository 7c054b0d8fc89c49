# SPDX-License-Identifier: BSD-3-Clause
"""The multinomial random forest (MRF)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Annotated

import numpy as np

from mrforest import _core
from mrforest.forests import parameters as p
from mrforest.forests.declaration import Doc, estimator
from mrforest.forests.mixins import (
    BaseForestClassifier,
    BaseForestRegressor,
    HonestForest,
)

if TYPE_CHECKING:
    from mrforest.privacy import PrivacyReport

FeatureBudget = Annotated[
    "float",
    p.BUDGET,
    Doc("""float
        B1 of the paper, 0 to inf. 0 draws the feature uniformly, inf takes the best.
    """),
]

SplitBudget = Annotated[
    "float",
    p.BUDGET,
    Doc("""float
        B2 of the paper, 0 to inf: the same for the cut."""),
]

LabelBudget = Annotated[
    "float",
    p.BUDGET,
    Doc("""float
        B3 of the paper, 0 to inf. The label of a leaf is drawn once, at fit, class c
        with probability proportional to ``exp(B3 / 2 * share of c)``. inf takes the
        majority, ties at random. Only for ``voting="hard"``. None of the three budgets
        makes the forest differentially private; `privacy_report` says why."""),
]

PaperMinSamplesSplit = Annotated[
    p.MinSamplesSplit,
    Doc("""int or None
        A node with fewer estimation points is a leaf. None: 6, or 2 if
        ``min_samples_leaf`` is given. With 6 and no ``min_samples_leaf``, the forest
        has the paper's accuracies."""),
]

PaperMinSamplesLeaf = Annotated[
    p.MinSamplesLeaf,
    Doc(p.MIN_SAMPLES_LEAF.format(target="class", who="The theorem wants")),
]


class MultinomialForest(HonestForest):
    """What both forests share."""

    def _rule(self, n_features: int) -> _core.SplitRule:
        return _core.Multinomial(self.feature_budget, self.split_budget)


@estimator
class MultinomialForestClassifier(MultinomialForest, BaseForestClassifier):
    """Multinomial random forest: splits are drawn, not searched.

    For each tree the rows are halved at random. The *structure points* shape the tree:
    at a node, the feature is drawn from the softmax of the features' best impurity
    decreases, then the cut from the softmax of the decreases of that feature's cuts.
    The *estimation points* fill the leaves. All features of every node are looked at.

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

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    feature_budget: FeatureBudget = 10.0
    split_budget: SplitBudget = 10.0
    label_budget: LabelBudget = np.inf
    honest_fraction: p.HonestFraction = 0.5
    min_samples_split: PaperMinSamplesSplit = None
    min_samples_leaf: PaperMinSamplesLeaf = None
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

    def _label_budget(self) -> float:
        return self.label_budget

    def _unused(self) -> Iterator[tuple[str, str]]:
        if self.voting == "soft":
            yield "label_budget", 'voting="soft"'

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


@estimator
class MultinomialForestRegressor(MultinomialForest, BaseForestRegressor):
    """Multinomial random forest for a number: splits are drawn, not searched.

    The classifier's trees with the decrease of the variance in place of the decrease of
    the impurity; a leaf tells the mean of its estimation points. The paper treats
    classification only; this is the form that follows from it.

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

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    feature_budget: FeatureBudget = 10.0
    split_budget: SplitBudget = 10.0
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
