# SPDX-License-Identifier: BSD-3-Clause
"""What forests share that are not private: fit, warm start, growing.

A forest is a sampler, a way to grow a tree, and a few options. A subclass says which:

- `BaseForest`
    - `BaseForestClassifier`, `BaseForestRegressor` and others in mixins.py
    - `SelfTuningForest` in self_tuning.py
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mrforest import _core
from mrforest._progress import progress_bar
from mrforest._sklearn import CallbackSupportMixin, fit_context
from mrforest.data.table import Schema, read_fit
from mrforest.data.training import (
    MAX_POINTS,
    Classes,
    Numbers,
    TrainingSet,
    prepare,
    useful_threads,
)
from mrforest.forests.declaration import Declared
from mrforest.forests.growing import Grower, Tree, add_views, grow_all, grow_one
from mrforest.forests.sampling import Sampler, Sides, seed_from, tree_key
from mrforest.forests.targets import read_sample_weight
from mrforest.model.arrays import FlatForest, Gathered
from mrforest.model.fitted import FittedForest


class Batch(NamedTuple):
    """Trees that one fit grew, and where their points came from."""

    first: int  # number of the first tree
    sampler: Sampler
    origin: NDArray[np.int32]  # the user's row of each training point
    digest: bytes | None  # of all rows of the user, if somebody may ask


class BaseForest(CallbackSupportMixin, FittedForest):
    """A forest of trees grown by the compiled engine."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    _parameters: ClassVar[dict[str, Declared]]
    # See `prepare`.
    _repeats_rows: ClassVar[bool] = True
    _offers_equality: ClassVar[bool] = False

    # Fitted
    _seed: int
    _batches: list[Batch]
    _structure_decrease: NDArray[np.float64]
    _exponent: int  # of the targets of a regression

    # ---- what a subclass says -------------------------------------------------------

    @abstractmethod
    def _sampler(self) -> Sampler:
        """Return what draws structure and estimation points."""

    def _rule(self, n_features: int) -> _core.SplitRule:
        """Return the split rule; a forest without one says how trees grow, instead."""
        raise TypeError(f"{type(self).__name__} must define _rule or _grower")

    def _grower(self, training: TrainingSet) -> Grower:
        """Return what grows a tree."""
        rule = self._rule(training.n_features)
        if not isinstance(rule, _core.SplitRule):
            raise TypeError(
                f"{type(self).__name__}._rule must return a compiled split rule, not "
                f"{rule!r}; mrforest.rules has forests for rules in Python"
            )
        n_cells = training.n_features * len(training.row_origin)
        n_threads = useful_threads(n_cells, effective_n_jobs(self.n_jobs))
        add_views(training.table, rule, n_threads)
        return partial(_core.grow_tree, rule=rule, idle=[])

    def _limits(self, interrupt: NDArray[np.uint8]) -> _core.Limits:
        """Return how far trees grow."""
        return _core.Limits(
            min_split=min(self._min_split(), MAX_POINTS + 1),
            min_leaf=min(self.min_samples_leaf or 0, MAX_POINTS),
            max_depth=min(self.max_depth or MAX_POINTS, MAX_POINTS),
            min_weight=self.min_weight_fraction_leaf,
            label_budget=self._label_budget(),
            interrupt=interrupt,
        )

    def _min_split(self) -> int:
        """Return the least number of estimation points of a node that is split."""
        given: int | None = self.min_samples_split
        if given is None:
            return 6 if self.min_samples_leaf is None else 2
        return given

    def _label_budget(self) -> float:
        """Budget of the label draw; majority unless a forest says otherwise."""
        return np.inf

    def _max_bins(self) -> Any:
        """Bins of a feature; None: trees look at values, not codes."""
        return self.max_bins

    def _unused(self) -> Iterator[tuple[str, str]]:
        """Yield parameters that other parameters switch off, and which these are."""
        yield from ()

    @abstractmethod
    def _read_target(
        self, y: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> tuple[Classes | Numbers, dict[str, Any]]:
        """Return the target for the engine, and attributes to set when fit is done."""

    @abstractmethod
    def _check_same_target(self, attributes: dict[str, Any]) -> None:
        """Complain if a warm start changes the question."""

    @staticmethod
    @abstractmethod
    def _fill(tree: dict[str, NDArray[Any]], training: TrainingSet) -> None:
        """Turn what the engine counted in the leaves of a tree into what they hold."""

    @abstractmethod
    def _flat(
        self, arrays: dict[str, NDArray[Any]], training: TrainingSet
    ) -> FlatForest:
        """Return a forest of these arrays of all trees, as `grow_one` returns them."""

    # ---- fit ------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            NumPy array, pandas or polars frame. NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels (numbers, strings or booleans), or the numbers of a regression.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers repeat rows (0 removes them), as if the rows stood in the
            table so many times; classes and categories are read from all rows. Any
            other weights multiply a row's part in counts and means; the row stays one
            point for `min_samples_split` and `min_samples_leaf`.

        Returns
        -------
        self : estimator
            The fitted forest. It does not depend on the order of the rows.
        """
        for name, why in self._unused():
            check_default(self, name, why)
        with self._unchanged_by_errors():
            return self._fit(X, y, sample_weight)

    def _read_table(self, X: Any, y: Any) -> tuple[Any, Any, Schema]:
        return read_fit(
            self, X, y, self.categorical_features, allow_missing=self._allows_missing()
        )

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
            max_bins=self._max_bins(),
            sample_weight=weights,
            n_threads=effective_n_jobs(self.n_jobs),
            repeats_rows=self._repeats_rows,
            offer_equality=self._offers_equality,
        )

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        X, y, schema = self._read_table(X, y)
        weights = read_sample_weight(sample_weight, X)
        target, attributes = self._read_target(y, weights)
        more = self.warm_start and hasattr(self, "_forest")
        if more:
            self._check_same_target(attributes)
            self._check_same_problem(schema)
        training = self._prepare(X, target, schema, weights)
        digest = self._digest(X, target)
        del target, weights  # the training set has them in its own order
        seed = self._seed if more else seed_from(self.random_state)
        first = len(self._forest) if more else 0
        trees = Gathered(self.n_estimators - first)
        grown = self._grow(training, seed, first)
        for tree in self._add_decreases(grown, training, more=more):
            trees.add(tree)

        if len(trees):
            flat = self._flat(trees.arrays(), training)
            self._forest = flat.join([self._forest, flat]) if more else flat
            self._remember(first, training.origin, digest)
        self._seed = seed
        self._schema = schema
        for name, value in attributes.items():
            setattr(self, name, value)
        self._finish(X, y, digest)
        return self

    def _digest(
        self, X: NDArray[np.float64], target: Classes | Numbers
    ) -> bytes | None:
        """Return a fingerprint of the rows, if the forest must know them again."""
        return None

    def _finish(
        self, X: NDArray[np.float64], y: NDArray[Any], digest: bytes | None
    ) -> None:
        """Do what remains when the trees are there."""

    def _add_decreases(
        self,
        trees: Iterator[dict[str, NDArray[Any]]],
        training: TrainingSet,
        *,
        more: bool,
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Pass trees on without their decreases, which are added up."""
        total = self._structure_decrease if more else np.zeros(training.n_features)
        unit = 1.0
        if training.scale is not None:
            # Squares of targets may be out of range: count in terms of the first span.
            if not more:
                self._exponent = training.scale.exponent
            unit = math.ldexp(
                training.scale.step, training.scale.exponent - self._exponent
            )
        for tree in trees:  # one by one: the same sum, warm or cold
            total = total + tree.pop("structure_decrease") * unit * unit
            yield tree
        self._structure_decrease = total

    def _remember(
        self, first: int, origin: NDArray[np.int32], digest: bytes | None
    ) -> None:
        """Keep what is needed to draw the points of these trees again."""
        earlier = self._batches if first else []
        if earlier and np.array_equal(earlier[-1].origin, origin):
            origin = earlier[-1].origin  # a warm start on the same rows: one copy
        self._batches = [*earlier, Batch(first, self._sampler(), origin, digest)]

    def _draw_again(self, tree: int) -> tuple[NDArray[np.int32], Sides]:
        """Return the user's row of each training point, and the points of a tree."""
        batch = next(b for b in reversed(self._batches) if b.first <= tree)
        n_points = len(batch.origin)
        return batch.origin, batch.sampler(tree_key(self._seed, tree), n_points)

    def _check_same_problem(self, schema: Schema) -> None:
        """Warm start adds trees to a forest; they must answer the same question."""
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
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the trees of number first to n_estimators."""
        interrupt = np.zeros(1, dtype=np.uint8)
        grow = partial(
            grow_one,
            seed=seed,
            training=training,
            sampler=self._sampler(),
            limits=self._limits(interrupt),
            grower=self._grower(training),
            fill=self._fill,
        )
        numbers = range(first, self.n_estimators)
        trees = grow_all(grow, numbers, training, interrupt, self.n_jobs)
        yield from self._watch(trees, len(numbers))

    def _watch(
        self, trees: Generator[Tree, None, None], n_trees: int
    ) -> Iterator[Tree]:
        """Pass trees on, telling callbacks and the progress bar."""
        context = None
        if getattr(self, "_skl_callbacks", None):
            context = self._init_callback_context(max_subtasks=n_trees)
            context.call_on_fit_task_begin(estimator=self)
        bar = progress_bar("growing trees", n_trees, visible=self.verbose > 0)
        with closing(trees), bar as step:  # a callback may raise an error
            for tree in trees:
                if context is not None:
                    task = context.subcontext(task_name="tree")
                    task.call_on_fit_task_begin(estimator=self)
                    task.call_on_fit_task_end(estimator=self)
                step()
                yield tree
        if context is not None:
            context.call_on_fit_task_end(estimator=self)

    # ---- look inside ----------------------------------------------------------------

    @property
    def structure_importances_(self) -> NDArray[np.float64]:
        """Decrease of the criterion, measured on the structure points.

        What other forests call feature importance. It favours features of many values,
        because the points that choose a split also measure it.
        """
        check_is_fitted(self)
        return shares_of(self._structure_decrease)


def check_default(forest: BaseForest, name: str, why: str) -> None:
    """Raise an error if a parameter that has no effect was given."""
    default = forest._parameters[name].parameter.default
    value = getattr(forest, name)
    if value is not default and value != default:
        raise ValueError(
            f"{name}={value!r} has no effect with {why}; it must be {default!r}"
        )


def shares_of(decrease: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide decreases of impurity by the sum of their sizes, unless all are 0."""
    total = np.abs(decrease).sum()
    if not total > 1e-12:  # rounding
        return np.zeros_like(decrease)
    shares: NDArray[np.float64] = decrease / total
    return shares
