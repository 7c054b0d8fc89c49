# SPDX-License-Identifier: BSD-3-Clause
"""The comparison-based random forest (CompRF)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

from mrforest import _core
from mrforest.data.table import Schema
from mrforest.data.training import Classes, Numbers, TrainingSet, prepare
from mrforest.forests import parameters as p
from mrforest.forests.declaration import Doc, estimator
from mrforest.forests.growing import Grower
from mrforest.forests.mixins import BaseForestClassifier, HonestForest
from mrforest.forests.sampling import AllPoints, Sampler
from mrforest.model.pivots import (
    ByMatrix,
    ByMetric,
    ByOracle,
    ByVectors,
    Comparison,
    PivotForest,
)
from mrforest.model.tree import PivotTree


def is_same(a: Any, b: Any) -> bool:
    """Whether two settings are equal; arguments of a metric may be arrays."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
    return bool(a == b)


Honest = Annotated[
    "bool",
    "boolean",
    Doc("""bool
        True (CompRF-C): any two structure points may be pivots, and the estimation
        points fill the leaves. False (CompRF-I): pivots must be of different classes,
        and all rows shape and fill every tree."""),
]

Metric = Annotated[
    "str | Callable[..., float]",
    str,
    callable,
    Doc("""str or callable
        "euclidean": on the rows as they are (scale features that are not comparable); a
        feature that is missing in the row or in a pivot is left out, different
        categories are at distance 1. "precomputed": X holds dissimilarities, in fit of
        all rows to all rows, later of queries to the rows of fit. Any other metric of
        ``sklearn.metrics.pairwise_distances``, or a function of two rows: numbers
        without missing values only, and much slower; metrics that scikit-learn computes
        by matrix products ("cosine") may round ties differently in tables of other
        sizes. Distances must be below 1e154, and differences above 1e-154."""),
]

MetricParams = Annotated[
    "dict[str, Any] | None",
    dict,
    None,
    Doc("""dict
        Further arguments of such a metric."""),
]

Oracle = Annotated[
    "Callable[[int, int, int], bool] | None",
    callable,
    None,
    Doc("""callable
        ``oracle(i, j, k)``: is item i at least as near to item j as to item k? X is
        then one column of item numbers, in fit and later, and no metric is used."""),
]

PivotMinSamplesLeaf = Annotated[
    p.MinSamplesLeaf,
    Doc("""int or None
        An int k: pivots that do not leave at least k estimation points on both sides
        are drawn again, up to 16 times in all. None: any pivots may be drawn, and the
        node is a leaf if they leave a child without estimation points."""),
]

ComparedFeatures = Annotated[
    p.CategoricalFeatures,
    Doc(""""from_dtype", array-like or None
        Features whose values are equal or not: columns of a categorical dtype; or
        indices, names or a boolean mask; or none. A category that was not seen in fit
        is a missing value. Only for ``metric="euclidean"``."""),
]

LeafClassWeight = Annotated[
    p.ClassWeight,
    Doc("""dict, "balanced" or None
        Weights of the classes, in leaves."""),
]


@estimator
class ComparisonForestClassifier(HonestForest, BaseForestClassifier):
    """Comparison-based random forest (CompRF): it asks which of two rows is nearer.

    A node takes two of its rows as *pivots*; a row goes left if it is at least as near
    to the first as to the second. Nothing else is asked of the data, so the forest
    works where all that is known is answers to "is i nearer to j than to k?".

    - ``honest=True`` (CompRF-C in the multinomial forest's paper): any two
      structure points may be pivots, and the estimation points fill the leaves.
    - ``honest=False`` (CompRF-I): pivots are of different classes, and all rows
      shape and fill every tree.

    *Consistency*: proved by its authors for regression, for a label-free forest whose
    pivots come from a sample of their own; CompRF-C is close to that, nothing is
    proved for CompRF-I.

    *Readings*: one tree, one vote (the authors pool the rows of all leaves that a query
    falls into); several classes at once (they: one against one); leaves by
    ``min_samples_split`` (theirs is 2 by default). Two equal rows as pivots are
    drawn again, up to 16 times, and then searched; a node of equal rows is a leaf. A
    label-free forest does not stop at nodes of one class.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes_}
    {n_features_in_}
    {estimators_}

    References
    ----------
    S. Haghiri, D. Garreau, U. von Luxburg. Comparison-based random forests. ICML 2018,
    arXiv:1806.06616.

    Examples
    --------
    Vectors:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from mrforest import ComparisonForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ComparisonForestClassifier(honest=False, random_state=0)
    >>> cross_val_score(forest, X, y, cv=5).mean() > 0.9
    np.True_

    Only comparisons, of words by their length:

    >>> words = ["ox", "cat", "yak", "horse", "leopard", "elephant", "crocodile"]
    >>> def nearer(i, j, k):
    ...     length = [len(words[item]) for item in (i, j, k)]
    ...     return abs(length[0] - length[1]) <= abs(length[0] - length[2])
    >>> items = [[0], [1], [2], [3], [4], [5], [6]]
    >>> size = ["short"] * 3 + ["long"] * 4
    >>> forest = ComparisonForestClassifier(
    ...     honest=False, oracle=nearer, min_samples_split=2, random_state=0
    ... )
    >>> forest.fit(items, size).predict([[0], [6]])
    array(['short', 'long'], dtype='<U5')
    """

    n_estimators: p.NEstimators = 100
    _: KW_ONLY
    honest: Honest = True
    metric: Metric = "euclidean"
    metric_params: MetricParams = None
    oracle: Oracle = None
    honest_fraction: p.OptionalHonestFraction = 0.5
    min_samples_split: p.MinSamplesSplit = None
    min_samples_leaf: PivotMinSamplesLeaf = None
    min_weight_fraction_leaf: p.MinWeightFractionLeaf = 0.0
    max_depth: p.MaxDepth = None
    categorical_features: ComparedFeatures = "from_dtype"
    voting: p.Voting = "hard"
    class_weight: LeafClassWeight = None
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0

    def _sampler(self) -> Sampler:
        return super()._sampler() if self.honest else AllPoints()

    def _unused(self) -> Iterator[tuple[str, str]]:
        if not self.honest:
            yield "honest_fraction", "honest=False"
        if self.oracle is not None:
            yield "metric", "an oracle"

    def _criterion(self) -> str:
        return "gini"  # no split depends on it

    def _compares_vectors(self) -> bool:
        return self.oracle is None and self.metric == "euclidean"

    def _allows_missing(self) -> bool:
        return self._compares_vectors()

    def _compares_columns(self) -> bool:
        return self.oracle is None and self.metric == "precomputed"

    # ---- fit ------------------------------------------------------------------------

    def _read_target(
        self, y: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> tuple[Classes | Numbers, dict[str, Any]]:
        target, attributes = super()._read_target(y, weights)
        way = {
            "metric": self.metric,
            "metric_params": copy.deepcopy(self.metric_params),
            "oracle": self.oracle,
        }
        return target, {**attributes, "_compared_by": way}

    def _check_same_target(self, attributes: dict[str, Any]) -> None:
        super()._check_same_target(attributes)
        for name, value in attributes["_compared_by"].items():
            if not is_same(value, self._compared_by[name]):
                raise ValueError(
                    f"warm_start=True: {name}={value!r}, but the trees that are there "
                    f"compare by {name}={self._compared_by[name]!r}; it must be the "
                    "same"
                )

    def _read_table(self, X: Any, y: Any) -> tuple[Any, Any, Schema]:
        try:
            X, y, schema = super()._read_table(X, y)
        except ValueError as error:
            if "Input X contains NaN" in str(error):
                raise ValueError(
                    "X contains NaN, and only metric='euclidean' leaves missing values "
                    "out"
                ) from error
            raise
        self._check_rows(X, schema)
        by_metric = not (
            self._compares_vectors() or self._compares_columns() or self.oracle
        )
        if self.metric_params and not by_metric:
            raise ValueError(
                f"metric_params={self.metric_params!r} must be None: nothing takes "
                "further arguments but a metric other than 'euclidean' and "
                "'precomputed', without an oracle"
            )
        if self._compares_columns() and X.shape[0] != X.shape[1]:
            raise ValueError(
                "metric='precomputed': X must be square in fit, dissimilarities of all "
                f"rows to all rows; its shape is {X.shape}"
            )
        if by_metric:
            self._try_metric(X)
        return X, y, schema

    def _check_rows(self, X: NDArray[np.float64], schema: Schema) -> None:
        """Check what the chosen comparison can work with."""
        if self._compares_vectors():
            return
        name = "an oracle" if self.oracle is not None else f"metric={self.metric!r}"
        if schema.is_categorical.any():
            raise ValueError(
                f"{name} does not know categorical features; metric='euclidean' does"
            )
        if self.oracle is not None and (
            X.shape[1] != 1 or not np.array_equal(X, np.floor(X))
        ):
            raise ValueError(
                "with an oracle X must be one column of item numbers; "
                f"its shape is {X.shape}"
            )

    def _try_metric(self, X: NDArray[np.float64]) -> None:
        """Fail before anything is grown if the metric does not work."""
        try:
            pairwise_distances(X[:1], X[:1], self.metric, **(self.metric_params or {}))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"metric={self.metric!r} with metric_params={self.metric_params!r} "
                f"does not work on the rows of X: {error}"
            ) from error

    def _comparison(self, training: TrainingSet) -> Comparison:
        if self.oracle is not None:
            return ByOracle(self.oracle)
        if self._compares_vectors():
            return ByVectors(training.is_categorical)
        if self._compares_columns():
            return ByMatrix(training.row_origin)
        return ByMetric(self.metric, copy.deepcopy(self.metric_params or {}))

    def _prepare(
        self,
        X: NDArray[np.float64],
        target: Classes | Numbers,
        schema: Schema,
        weights: NDArray[np.float64] | None,
    ) -> TrainingSet:
        return prepare(
            X,
            target,
            n_categories=schema.n_categories,
            max_bins=None,
            sample_weight=weights,
            # The columns of a matrix are in the order of its rows.
            keep_order=self._compares_columns(),
        )

    def _grower(self, training: TrainingSet) -> Grower:
        return partial(
            _core.grow_by_comparisons,
            comparer=self._comparison(training).comparer(training.values),
            supervised=not self.honest,
        )

    def _flat(
        self, arrays: dict[str, NDArray[Any]], training: TrainingSet
    ) -> PivotForest:
        rows = training.values
        if self._compares_columns():
            rows = training.row_origin[:, np.newaxis].astype(np.float64)
        shared: dict[str, Any] = {
            "pivot_rows": rows,
            "comparison": self._comparison(training),
        }
        return PivotForest.join([PivotForest(**arrays, **shared)])

    def _tree(self, flat: Any) -> PivotTree:
        return PivotTree(flat, self._schema, self.classes_, self.voting)

    # Comparisons have no features to credit.

    def _add_decreases(
        self, trees: Iterator[dict[str, NDArray[Any]]], *_: Any, **__: Any
    ) -> Iterator[dict[str, NDArray[Any]]]:
        return trees

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Not there."""
        raise AttributeError(
            "a comparison forest has no feature importances: its splits compare whole "
            "rows; sklearn.inspection.permutation_importance works"
        )

    structure_importances_ = feature_importances_

    # ---- predict --------------------------------------------------------------------

    def _read(self, X: Any) -> NDArray[np.float64]:
        rows = super()._read(X)
        self._check_rows(rows, self._schema)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._compares_columns()
        return tags
