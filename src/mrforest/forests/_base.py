# SPDX-License-Identifier: BSD-3-Clause
"""What all forest classifiers share: fit, predict, warm start, importances.

A forest is a split rule, a sampler and a few options. A subclass says which:

- `BaseForestClassifier`
    - `MultinomialForestClassifier` in multinomial.py
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from mrforest import _core
from mrforest._progress import progress_bar
from mrforest.data.table import Schema, read_fit, read_predict
from mrforest.data.training import MAX_POINTS, TrainingSet, prepare
from mrforest.forests._flat import FlatForest
from mrforest.forests._sampling import Sampler, seed_from, tree_key
from mrforest.forests._target import (
    read_class_weight,
    read_classes,
    read_sample_weight,
)
from mrforest.forests._tree import Tree
from mrforest.forests._validation import CallbackSupportMixin, fit_context

# What reading a table sets on an estimator
COLUMNS = ("n_features_in_", "feature_names_in_")


class Batch(NamedTuple):
    """Trees that one fit grew, and where their points came from."""

    first: int  # number of the first tree
    sampler: Sampler
    origin: NDArray[np.int32]  # the user's row of each training point


class BaseForestClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC):
    """A forest of trees grown by the compiled engine."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    # Fitted
    _forest: FlatForest
    _seed: int
    _schema: Schema
    _batches: list[Batch]
    _structure_decrease: NDArray[np.float64]

    @abstractmethod
    def _rule(self) -> _core.SplitRule:
        """Return the split rule."""

    @abstractmethod
    def _sampler(self) -> Sampler:
        """Return what draws structure and estimation points."""

    # ---- fit ------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            NumPy array, pandas or polars frame. NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels: numbers, strings or booleans.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers repeat rows (0 removes them), as if the rows stood in the
            table so many times; classes and categories are read from all rows. Any
            other weights multiply a row's part in class counts; the row stays one
            point for `min_samples_leaf`.

        Returns
        -------
        self : estimator
            The fitted forest. It does not depend on the order of the rows.
        """
        known = {n: v for n, v in vars(self).items() if n in COLUMNS}
        try:
            return self._fit(X, y, sample_weight)
        except BaseException:
            # read_fit has set these; an error leaves the forest that was there before.
            for name in COLUMNS:
                self.__dict__.pop(name, None)
            self.__dict__.update(known)
            raise

    def _fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        X, y, schema = read_fit(self, X, y, self.categorical_features)
        classes, codes = read_classes(y)
        more = self.warm_start and hasattr(self, "_forest")
        if more:
            self._check_same_problem(classes, schema)
        weights = read_sample_weight(sample_weight, X)
        training = prepare(
            X,
            codes,
            n_classes=len(classes),
            n_categories=schema.n_categories,
            max_bins=self.max_bins,
            sample_weight=weights,
            class_weight=read_class_weight(self.class_weight, classes, codes, weights),
            criterion=self.criterion,
        )
        seed = self._seed if more else seed_from(self.random_state)
        first = len(self._forest) if more else 0
        grown = self._grow(training, seed, first)

        if grown:
            forest = FlatForest.from_trees(grown)
            decrease = self._structure_decrease if more else np.zeros(X.shape[1])
            for tree in grown:  # one by one: the same sum, warm or cold
                decrease = decrease + tree["structure_decrease"]
            self._forest = FlatForest.join(self._forest, forest) if more else forest
            self._structure_decrease = decrease
            self._remember(first, training.origin)
        self._seed = seed
        self._schema = schema
        self.classes_ = classes
        self.n_classes_ = len(classes)
        return self

    def _remember(self, first: int, origin: NDArray[np.int32]) -> None:
        """Keep what is needed to draw the points of these trees again."""
        earlier = self._batches if first else []
        if earlier and np.array_equal(earlier[-1].origin, origin):
            origin = earlier[-1].origin  # a warm start on the same rows: one copy
        self._batches = [*earlier, Batch(first, self._sampler(), origin)]

    def _check_same_problem(self, classes: NDArray[Any], schema: Schema) -> None:
        """Warm start adds trees to a forest; they must answer the same question."""
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start=True: y has the classes {classes}, the forest has "
                f"{self.classes_}; they must be the same"
            )
        if schema != self._schema:
            raise ValueError(
                "warm_start=True: X has other columns or categories than in the first "
                "fit; they must be the same"
            )
        if self.n_estimators < len(self._forest):
            raise ValueError(
                f"warm_start=True: n_estimators={self.n_estimators} must be at least "
                f"{len(self._forest)}, the number of trees that are there"
            )
        if self.n_estimators == len(self._forest):
            warnings.warn(
                "warm_start=True: n_estimators has not grown, so no tree is added",
                stacklevel=5,
            )

    def _grow(
        self, training: TrainingSet, seed: int, first: int
    ) -> list[dict[str, NDArray[Any]]]:
        """Trees number first to n_estimators."""
        interrupt = np.zeros(1, dtype=np.uint8)
        arguments = {
            "training": training,
            "rule": self._rule(),
            "sampler": self._sampler(),
            "options": {
                "min_leaf": min(self.min_samples_leaf, MAX_POINTS),
                "has_floor": self.leaf_rule == "floor",
                "max_depth": min(self.max_depth or MAX_POINTS, MAX_POINTS),
                "label_budget": self._label_budget(),
                "interrupt": interrupt,
            },
        }
        keys = [tree_key(seed, tree) for tree in range(first, self.n_estimators)]
        # Threads by default, because growing does not hold the GIL; any joblib backend
        # gives the same trees.
        trees = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(grow_one)(key, **arguments) for key in keys
        )
        try:
            return list(self._watch(trees, len(keys)))
        except BaseException:  # Ctrl-C, or what a callback raises
            interrupt[0] = 1  # threads look at it before every node
            raise

    def _label_budget(self) -> float:
        """Budget of the label draw; majority unless a forest says otherwise."""
        return np.inf

    def _watch(self, trees: Iterator[Any], n_trees: int) -> Iterator[Any]:
        """Pass trees on, telling callbacks and the progress bar."""
        context = None
        if getattr(self, "_skl_callbacks", None):
            context = self._init_callback_context(max_subtasks=n_trees)
            context.call_on_fit_task_begin(estimator=self)
        with progress_bar("growing trees", n_trees, visible=self.verbose > 0) as step:
            for tree in trees:
                if context is not None:
                    task = context.subcontext(task_name="tree")
                    task.call_on_fit_task_begin(estimator=self)
                    task.call_on_fit_task_end(estimator=self)
                step()
                yield tree
        if context is not None:
            context.call_on_fit_task_end(estimator=self)

    # ---- predict --------------------------------------------------------------------

    def _read(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return read_predict(self, X, self._schema)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities: shares of votes, or mean shares of the leaves.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The same bits for any `n_jobs`. Columns are in the order of `classes_`.
        """
        scores: NDArray[np.float64] = self._scores(X) / len(self._forest)
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class; of equal ones the first in `classes_`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        labels: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return labels

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithm of `predict_proba`; -inf where no tree gives a class a chance.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _scores(self, X: Any) -> NDArray[Any]:
        if self.voting not in ("hard", "soft"):
            raise ValueError(f"voting={self.voting!r} must be 'hard' or 'soft'")
        X = self._read(X)
        if self.voting == "hard":
            return self._forest.votes(X, self.n_classes_, self.n_jobs)
        return self._forest.shares(X, self.n_classes_, self.n_jobs)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Node number of the leaf that each row falls into, in each tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_estimators), dtype=int32
            Nodes are numbered breadth first, the root is 0.
        """
        X = self._read(X)
        return self._forest.find_nodes(X, self.n_jobs)

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
        """Nodes that each row passes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        indicator : csr_matrix of shape (n_samples, n_nodes)
            1 where a row passes a node.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The columns of tree i are ``n_nodes_ptr[i]:n_nodes_ptr[i + 1]``.
        """
        X = self._read(X)
        return self._forest.paths(X, self.n_jobs), self._forest.tree_start

    # ---- look inside ----------------------------------------------------------------

    @property
    def estimators_(self) -> list[Tree]:
        """The trees, as views of the forest's arrays that predict by themselves."""
        check_is_fitted(self)
        return [
            Tree(self._forest[i], self._schema, self.classes_, self.voting)
            for i in range(len(self._forest))
        ]

    @property
    def n_leaves_(self) -> NDArray[np.int64]:
        """Number of leaves of each tree."""
        check_is_fitted(self)
        return np.diff(self._forest.leaf_offset)

    @property
    def depths_(self) -> NDArray[np.int32]:
        """Depth of each tree; a tree that is one leaf has 0."""
        check_is_fitted(self)
        return np.maximum.reduceat(self._forest.depths(), self._forest.tree_start[:-1])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Decrease of the Gini impurity, measured on the estimation points.

        The points that choose a split do not measure it, and the impurity is estimated
        without bias from the size of a node. So, without weights, a feature that says
        nothing about the class has an expected decrease of 0, whatever its number of
        values; it may come out negative. Decreases are divided by the sum of their
        absolute values. Weights, and repeated rows, bring some bias back.
        """
        check_is_fitted(self)
        decrease = _core.estimation_decrease(
            self._forest.nodes,
            self._forest.tree_start,
            self._forest.leaf_offset,
            self._forest.leaf_points,
            self._forest.mass_start,
            self._forest.mass_class,
            self._forest.mass,
            self.n_classes_,
            self.n_features_in_,
        )
        return shares_of(decrease)

    @property
    def structure_importances_(self) -> NDArray[np.float64]:
        """Decrease of the criterion, measured on the structure points.

        What other forests call feature importance. It favours features of many values,
        because the points that choose a split also measure it.
        """
        check_is_fitted(self)
        return shares_of(self._structure_decrease)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_forest")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def grow_one(
    key: NDArray[np.uint64],
    *,
    training: TrainingSet,
    rule: _core.SplitRule,
    sampler: Sampler,
    options: dict[str, Any],
) -> dict[str, NDArray[Any]]:
    """One tree, from its key."""
    structure, estimation = sampler(key, len(training.points))
    tree = _core.grow_tree(
        training.table,
        rule,
        training.points[structure],
        training.points[estimation],
        key,
        **options,
    )
    tree["mass"] *= np.float32(training.mass_unit)  # a power of two: exact
    return tree


def shares_of(decrease: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide decreases of impurity by the sum of their sizes, unless all are 0."""
    total = np.abs(decrease).sum()
    if total <= 1e-12:  # rounding
        return np.zeros_like(decrease)
    shares: NDArray[np.float64] = decrease / total
    return shares
