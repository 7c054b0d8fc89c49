# SPDX-License-Identifier: BSD-3-Clause
"""The multinomial random forest (MRF)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mrforest import _core
from mrforest.forests._base import BaseForestClassifier
from mrforest.forests._honest import HonestForestMixin
from mrforest.forests._sampling import Partition
from mrforest.forests._validation import (
    BUDGET,
    COMMON_CONSTRAINTS,
    HONEST_CONSTRAINTS,
)


class MultinomialForestClassifier(HonestForestMixin, BaseForestClassifier):
    """Multinomial random forest: splits are drawn, not searched.

    For each tree the rows are halved at random. The *structure points* shape the tree:
    at a node, the feature is drawn from the softmax of the features' best impurity
    decreases, then the cut from the softmax of the decreases of that feature's cuts.
    The *estimation points* fill the leaves. All features of every node are looked at.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    feature_budget : float, default=10.0
        B1 of the paper, 0 to inf. 0 draws the feature uniformly, inf takes the best.
    split_budget : float, default=10.0
        B2 of the paper, 0 to inf: the same for the cut.
    label_budget : float, default=inf
        B3 of the paper, 0 to inf. The label of a leaf is drawn once, at fit, class c
        with probability proportional to ``exp(B3 / 2 * share of c)``. inf takes the
        majority, ties at random. Only for ``voting="hard"``. None of the three budgets
        makes the forest differentially private: cuts and leaf sizes are read from the
        data.
    partition_rate : float, default=1.0
        Number of structure points divided by number of estimation points.
    min_samples_leaf : int, default=5
        k of the paper; a number of estimation points. See ``leaf_rule``.
    leaf_rule : {"stop", "floor"}, default="stop"
        "stop": a node with at most k estimation points, or with structure points of one
        class, is not split, and a split that would leave a child without estimation
        points is refused. It is what reproduces the paper's accuracies. "floor": only
        cuts that leave at least k estimation points on both sides are candidates, and
        pure nodes are split on. It is what the paper's consistency theorem covers, if k
        grows with the number of rows.
    criterion : {"gini", "entropy"}, default="gini"
        Impurity whose decrease is the score of a cut.
    max_depth : int, default=None
        Depth at which every node is a leaf. None: no limit.
    max_bins : int or "exact", default=255
        A numeric feature of at most so many distinct values (2 to 255) is cut at every
        midpoint, one of more at so many quantiles. "exact": at every midpoint, up to
        65,535.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features that are cut by equality: columns of a categorical dtype; or indices,
        names or a boolean mask; or none. A category that was not seen in fit is a
        missing value.
    voting : {"hard", "soft"}, default="hard"
        "hard": each tree has one vote. "soft": the class shares of the leaves are
        averaged.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, in impurities and leaves.
    warm_start : bool, default=False
        Keep the trees of the previous fit and add more. The result is the forest that
        one fit would have grown.
    n_jobs : int, default=None
        Threads, as everywhere in scikit-learn. The forest and its predictions are the
        same to the bit for any number and any joblib backend.
    random_state : int, RandomState instance or None, default=None
        An int makes the forest reproducible.
    verbose : int, default=0
        1 shows a progress bar (needs the package rich).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the table has them.
    estimators_ : list of Tree
        Views of the single trees.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Impurity decrease on the estimation points; without weights 0 on average for a
        feature that says nothing.
    structure_importances_ : ndarray of shape (n_features_in_,)
        Impurity decrease on the structure points.
    n_leaves_, depths_ : ndarray of shape (n_estimators,)
        Leaves and depth of each tree.

    References
    ----------
    J. Bai, Y. Li, J. Li, X. Yang, Y. Jiang, S.-T. Xia. Multinomial random forest.
    Pattern Recognition 122, 108331 (2022). Preprint: arXiv:1903.04003.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from mrforest import MultinomialForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> forest = MultinomialForestClassifier(random_state=0).fit(X_train, y_train)
    >>> forest.predict(X_test[:5])
    array([0, 1, 1, 1, 1])
    >>> forest.score(X_test, y_test) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **COMMON_CONSTRAINTS,
        **HONEST_CONSTRAINTS,
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

    def _rule(self) -> _core.SplitRule:
        return _core.Multinomial(self.feature_budget, self.split_budget)

    def _sampler(self) -> Partition:
        return Partition(self.partition_rate)

    def _label_budget(self) -> float:
        return self.label_budget
