# SPDX-License-Identifier: BSD-3-Clause
"""The completely random forest, in two forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

from mrforest import _core
from mrforest._sklearn import StrOptions
from mrforest.data.training import TrainingSet
from mrforest.forests import parameters as p
from mrforest.forests.declaration import Doc, estimator
from mrforest.forests.growing import Grower
from mrforest.forests.mixins import BaseForestClassifier, HonestForest
from mrforest.forests.sampling import AllPoints, Sampler

Cuts = Annotated[
    "Literal['data', 'range']",
    StrOptions({"data", "range"}),
    Doc("""{"data", "range"}
        Where cuts are drawn."""),
]

Honest = Annotated[
    "bool | Literal['auto']",
    "boolean",
    p.AUTO,
    Doc("""bool or "auto"
        Whether one part of the rows shapes a tree and the other fills its leaves; else
        all rows do both. "auto": True for ``cuts="data"``, False for "range"."""),
]

DataMaxBins = Annotated[
    p.MaxBins,
    Doc("""int or "exact"
        Only for ``cuts="data"``. A numeric feature of at most so many distinct values
        (2 to 255) is cut at every midpoint, one of more at so many quantiles. "exact":
        at every midpoint, up to 65,534."""),
]


@estimator
class CompletelyRandomForestClassifier(HonestForest, BaseForestClassifier):
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
    {parameters}

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

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    cuts: Cuts = "data"
    honest: Honest = "auto"
    honest_fraction: p.OptionalHonestFraction = 0.5
    min_samples_split: p.MinSamplesSplit = None
    min_samples_leaf: p.MinSamplesLeaf = None
    min_weight_fraction_leaf: p.MinWeightFractionLeaf = 0.0
    max_depth: p.MaxDepth = None
    max_bins: DataMaxBins = 255
    categorical_features: p.CategoricalFeatures = "from_dtype"
    voting: p.SoftVoting = "soft"
    class_weight: p.ClassWeight = None
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0

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
        return super()._sampler() if self._is_honest() else AllPoints()

    def _unused(self) -> Iterator[tuple[str, str]]:
        if self.cuts == "range":
            yield "max_bins", 'cuts="range"'
        if not self._is_honest():
            yield "honest_fraction", f"honest={self.honest!r}, cuts={self.cuts!r}"

    def _is_honest(self) -> bool:
        return self.cuts == "data" if self.honest == "auto" else bool(self.honest)
