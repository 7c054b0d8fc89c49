# SPDX-License-Identifier: BSD-3-Clause
"""Forests that cut cells, not data: purely random and centered."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from functools import partial
from numbers import Integral
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest._sklearn import Interval
from mrforest.data.training import TrainingSet
from mrforest.forests import parameters as p
from mrforest.forests.declaration import Doc, estimator
from mrforest.forests.growing import Grower
from mrforest.forests.mixins import BaseForestClassifier, HonestForest
from mrforest.forests.sampling import AllPoints, Partition, Sampler

MaxLeafNodes = Annotated[
    "int | Literal['auto']",
    Interval(Integral, 1, 2**30, closed="both"),
    p.AUTO,
    Doc("""int or "auto"
        k_n of the paper: the number of cells of a tree. "auto": n^(3/4), rounded up, n
        the number of rows, so that cells shrink and fill up as n grows."""),
]

MaxLeafNodesOfDepth = Annotated[
    MaxLeafNodes,
    Doc("""int or "auto"
        k_n of the paper, rounded up to a power of two: trees have the depth
        ceil(log2 k_n). "auto": n^(3/4), n the number of rows that fill a tree, so that
        cells shrink and fill up as n grows.
    """),
]

DrawnFeatures = Annotated[
    p.MaxFeatures,
    Doc(""""sqrt", "log2", int, float or None
        How often a node draws a feature: the square root or the binary logarithm of
        their number, rounded down; so often; this share of their number; or as often as
        there are features. At least once."""),
]


@estimator
class PurelyRandomForestClassifier(BaseForestClassifier):
    """Purely random forest of Biau, Devroye and Lugosi (2008): cells without data.

    A tree begins with the box that holds all rows. Again and again a cell, a feature
    and a cut of the cell's side are drawn uniformly, until there are k_n cells. The
    rows only fill them.

    *Consistency*: proved by the authors if k_n tends to infinity and k_n/n to 0.

    *Readings*: missing values go where a coin of the node says; a categorical feature
    is cut by equality with one of the categories left in the cell; a cell without rows
    tells what the smallest cell around it that has some tells.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes_}
    {n_features_in_}
    {estimators_}
    feature_importances_, structure_importances_ : ndarray of shape (`n_features_in_`,)
        Decrease of the Gini impurity of the rows; the first without the bias of small
        cells.

    References
    ----------
    G. Biau, L. Devroye, G. Lugosi. Consistency of random forests and other averaging
    classifiers. Journal of Machine Learning Research 9, 2015-2033 (2008).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from mrforest import PurelyRandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = PurelyRandomForestClassifier(random_state=0)
    >>> cross_val_score(forest, X, y, cv=5).mean() > 0.8
    np.True_
    """

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    max_leaf_nodes: MaxLeafNodes = "auto"
    categorical_features: p.CategoricalFeatures = "from_dtype"
    voting: p.SoftVoting = "soft"
    class_weight: p.ClassWeight = None
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0

    def _grower(self, training: TrainingSet) -> Grower:
        n_leaves = count_leaves(self.max_leaf_nodes, training.n_points)
        return partial(
            _core.grow_purely_random,
            box=_core.Box(training.values, training.is_categorical, False),
            n_leaves=n_leaves,
        )

    def _limits(self, interrupt: NDArray[np.uint8]) -> _core.Limits:
        return cell_limits(interrupt)

    def _max_bins(self) -> None:
        return None

    def _criterion(self) -> str:
        return "gini"  # for structure_importances_; no cut depends on it

    def _sampler(self) -> Sampler:
        return AllPoints()


@estimator
class CenteredForestClassifier(HonestForest, BaseForestClassifier):
    """Centered forest of Biau (2012): cuts through the middle of cells.

    A tree begins with the box that holds all rows. A node draws a few features, with
    replacement, and looks at the cut through the middle of the cell's side in each; the
    best for the structure points is taken. All leaves have the depth ceil(log2 k_n).
    The estimation points fill them.

    *Consistency*: proved by the author for regression, if k_n tends to infinity and
    k_n/n to 0, and if every feature that matters keeps a chance.

    *Readings*: a fresh half of the rows is the second sample of each tree; missing
    values go where a coin of the node says; a categorical feature is cut by equality
    with one of the categories left in the cell; a cell without rows tells what the
    smallest cell around it that has some tells.

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
    G. Biau. Analysis of a random forests model. Journal of Machine Learning Research
    13, 1063-1095 (2012).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from mrforest import CenteredForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = CenteredForestClassifier(random_state=0)
    >>> cross_val_score(forest, X, y, cv=5).mean() > 0.8
    np.True_
    """

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    max_leaf_nodes: MaxLeafNodesOfDepth = "auto"
    max_features: DrawnFeatures = "sqrt"
    honest_fraction: p.HonestFraction = 0.5
    criterion: p.Criterion = "gini"
    min_weight_fraction_leaf: p.MinWeightFractionLeaf = 0.0
    categorical_features: p.CategoricalFeatures = "from_dtype"
    voting: p.SoftVoting = "soft"
    class_weight: p.ClassWeight = None
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0

    def _grower(self, training: TrainingSet) -> Grower:
        n_points = training.n_points
        n_filling = n_points - Partition(self.honest_fraction).n_structure(n_points)
        n_leaves = count_leaves(self.max_leaf_nodes, n_filling)
        return partial(
            _core.grow_centered,
            box=_core.Box(training.values, training.is_categorical, True),
            depth=(n_leaves - 1).bit_length(),
            n_tries=p.count_features(self.max_features, training.n_features),
        )

    def _limits(self, interrupt: NDArray[np.uint8]) -> _core.Limits:
        return cell_limits(interrupt, self.min_weight_fraction_leaf)

    def _max_bins(self) -> None:
        return None


def count_leaves(max_leaf_nodes: int | str, n_points: int) -> int:
    """Return the number of cells that this means, for so many points."""
    if max_leaf_nodes == "auto":
        return math.ceil(math.pow(n_points, 0.75))
    return int(max_leaf_nodes)


def cell_limits(interrupt: NDArray[np.uint8], min_weight: float = 0.0) -> _core.Limits:
    """Return limits that limit next to nothing: cells do not look at their points."""
    return _core.Limits(
        min_split=2,
        min_leaf=0,
        max_depth=-1,
        min_weight=min_weight,
        label_budget=np.inf,
        interrupt=interrupt,
    )
