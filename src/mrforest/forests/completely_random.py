# SPDX-License-Identifier: BSD-3-Clause
"""The completely random forest, in two forms."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mrforest import _core
from mrforest.data.training import TrainingSet
from mrforest.forests._docs import describe
from mrforest.forests._validation import (
    BINS,
    CLASSIFIER,
    FOREST,
    HONEST,
    LEAVES,
    Constraints,
    StrOptions,
)
from mrforest.forests.growing import Grower
from mrforest.forests.mixins import BaseForestClassifier, HonestForestMixin
from mrforest.forests.sampling import AllPoints, Partition, Sampler


@describe
class CompletelyRandomForestClassifier(HonestForestMixin, BaseForestClassifier):
    """Completely random forest: neither feature nor cut look at the labels.

    A feature is drawn uniformly among those that can be cut in the node, then a cut of
    it. Two forests go by this name:

    - ``cuts="data"``: the cut is drawn uniformly among the midpoints between values of
      the node, one half of the rows shapes a tree and the other half fills it. It is
      the multinomial forest with both budgets 0.
    - ``cuts="range"``: the cut is drawn uniformly between the smallest and the largest
      value of the node, and all rows shape and fill every tree (Liu et al. 2008, with
      their spectrum's parameter at 0). Values are not binned.

    The first follows the density of the data, the second does not.

    *Consistency*: trees that do not look at labels are honest by nature; with a leaf
    size that grows with n, k/n tending to 0, forests of this kind are consistent.

    *Readings*: missing values of a node go to a side drawn by a coin
    (``cuts="range"``), or the cut says where they go (``cuts="data"``).

    Parameters
    ----------
    {n_estimators}
    cuts : {"data", "range"}, default="data"
        Where cuts are drawn.
    partition_rate : float, "auto" or None, default="auto"
        Number of structure points divided by number of estimation points; None: all
        rows shape and fill every tree. "auto": 1.0 for ``cuts="data"``, None for
        "range".
    {min_samples_leaf}
    {leaf_rule}
    {min_weight_fraction_leaf}
    {max_depth}
    max_bins : int or "exact", default=255
        Only for ``cuts="data"``. A numeric feature of at most so many distinct values
        (2 to 255) is cut at every midpoint, one of more at so many quantiles. "exact":
        at every midpoint, up to 65,534.
    {categorical_features}
    {soft_voting}
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
    F. T. Liu, K. M. Ting, Y. Yu, Z.-H. Zhou. Spectrum of variable-random trees. Journal
    of Artificial Intelligence Research 32, 355-384 (2008).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from mrforest import CompletelyRandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = CompletelyRandomForestClassifier(random_state=0)
    >>> cross_val_score(forest, X, y, cv=5).mean() > 0.9
    np.True_
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **FOREST,
        **LEAVES,
        **BINS,
        **CLASSIFIER,
        "cuts": [StrOptions({"data", "range"})],
        "partition_rate": [*HONEST["partition_rate"], StrOptions({"auto"}), None],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        cuts: Literal["data", "range"] = "data",
        partition_rate: float | Literal["auto"] | None = "auto",
        min_samples_leaf: int = 5,
        leaf_rule: Literal["stop", "floor"] = "stop",
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        max_bins: int | Literal["exact"] = 255,
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        voting: Literal["hard", "soft"] = "soft",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.cuts = cuts
        self.partition_rate = partition_rate
        self.min_samples_leaf = min_samples_leaf
        self.leaf_rule = leaf_rule
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
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
        return _core.Random()

    def _grower(self, training: TrainingSet) -> Grower:
        if self.cuts == "range":
            return _core.grow_in_range
        return super()._grower(training)

    def _max_bins(self) -> Any:
        return None if self.cuts == "range" else self.max_bins

    def _criterion(self) -> str:
        return "gini"  # for structure_importances_; no cut depends on it

    def _sampler(self) -> Sampler:
        rate = self.partition_rate
        if rate == "auto":
            rate = 1.0 if self.cuts == "data" else None
        return AllPoints() if rate is None else Partition(float(rate))
