# SPDX-License-Identifier: BSD-3-Clause
"""A forest in the manner of DMRF."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

from mrforest import _core
from mrforest.forests import parameters as p
from mrforest.forests.declaration import Doc, estimator
from mrforest.forests.mixins import OutOfBagClassifier

MultinomialProbability = Annotated[
    "float",
    p.PROBABILITY,
    Doc("""float
        Probability that the cut of a node is drawn, not searched."""),
]

Budgets = Annotated[
    "float",
    p.BUDGET,
    Doc("""float
        B1 and B2 of the draw, as in `MultinomialForestClassifier`."""),
]


@estimator
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

    *Readings*: ``multinomial_probability``, the budgets and the bootstrap are guesses
    at what the paper does.

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

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    max_features: p.MaxFeatures = "sqrt"
    multinomial_probability: MultinomialProbability = 0.05
    feature_budget: Budgets = 10.0
    split_budget: Budgets = 10.0
    min_samples_split: p.BagMinSamplesSplit = 2
    min_samples_leaf: p.BagMinSamplesLeaf = 5
    min_weight_fraction_leaf: p.MinWeightFractionLeaf = 0.0
    criterion: p.Criterion = "gini"
    max_depth: p.MaxDepth = None
    max_bins: p.MaxBins = 255
    categorical_features: p.CategoricalFeatures = "from_dtype"
    voting: p.Voting = "hard"
    class_weight: p.ClassWeight = None
    oob_score: p.OobScore = False
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0

    def _rule(self, n_features: int) -> _core.SplitRule:
        return _core.DataDriven(
            p.count_features(self.max_features, n_features),
            self.multinomial_probability,
            self.feature_budget,
            self.split_budget,
        )
