# SPDX-License-Identifier: BSD-3-Clause
"""Forests that some rows shape, all rows fill, and rows that are held out tune.

a few trees of each setting ─► setting, rough leaf size ─► the other trees
    ─► leaf size, power ─► prefixes of that leaf size
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from mrforest import _core
from mrforest._progress import progress_bar
from mrforest._threads import in_parallel
from mrforest.data.training import MAX_POINTS, TrainingSet
from mrforest.forests._base import BaseForest, trees_at_once
from mrforest.forests._gather import Gathered, sizes_of
from mrforest.forests._nodes import FEATURE_MASK
from mrforest.forests._oob import OOB_ATTRIBUTES
from mrforest.forests._packed import pack
from mrforest.forests._sampling import HeldOutGroups, seed_from, tree_key
from mrforest.forests._target import read_sample_weight
from mrforest.forests._tuning import (
    MOST_ROWS,
    Curve,
    HeldOut,
    Setting,
    Trial,
    leaf_sizes,
    least_leaf_size,
)
from mrforest.forests._validation import count_features

# Groups of trees that are grown of each setting before one of them is chosen: each row
# is held out of so many trees.
PILOT_GROUPS = 4
# Settings are compared only by forests that are so many times as large.
PILOT_SHARE = 2
# A node of more points is scored on so many of them ...
MAX_SCORED = 256
# ... unless fewer than this are not of the largest class.
MIN_MINORITY = 32
# Trees that are grown when the leaf size is roughly known have leaves of this share of
# it, so that it can still be chosen.
SLACK = 4


@dataclass
class HeldTree:
    """A tree, and the rows that are held out of it.

    Attributes
    ----------
    tree : dict of arrays
        As `_core.grow_sampled_tree` returns it.
    held : ndarray of int32
        Rows that did not shape it, ascending.
    group : int
    """

    tree: dict[str, NDArray[Any]]
    held: NDArray[np.int32]
    group: int


def grow_some(numbers: range, **arguments: Any) -> list[HeldTree]:
    """Trees, from their numbers."""
    return [grow_one(number, **arguments) for number in numbers]


def grow_one(
    number: int,
    *,
    seed: int,
    training: TrainingSet,
    sampler: HeldOutGroups,
    setting: Setting,
    rule: _core.SplitRule,
    limits: _core.Limits,
    idle: list[Any],
) -> HeldTree:
    """One tree, from its number."""
    n = training.n_points
    points, n_structure = sampler.points(seed, number, n)
    held = points[n_structure:].copy()
    tree = _core.grow_sampled_tree(
        training.table,
        points,
        n_structure,
        tree_key(seed, number),
        limits,
        rule=rule,
        offers_equality=setting.equality,
        max_scored=MAX_SCORED,
        min_minority=MIN_MINORITY,
        idle=idle,
    )
    return HeldTree(tree, held, sampler.group_of(number, n))


class SelfTuningForest(BaseForest):
    """What the classifier and the regressor share."""

    _repeats_rows = False
    _offers_equality = True

    # Fitted
    max_features_: int
    feature_budget_: float
    split_budget_: float
    equality_cuts_: bool
    min_samples_split_: int
    min_samples_leaf_: int
    tuning_: list[Trial]
    _held_decrease: NDArray[np.float64]

    # ---- what a subclass says -------------------------------------------------------

    @abstractmethod
    def _n_columns(self, training: TrainingSet) -> int:
        """Classes, or 1."""

    @abstractmethod
    def _add_held(
        self,
        tree: HeldTree,
        training: TrainingSet,
        rows: NDArray[np.int64],
        sizes: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None:
        """Add what the prefixes of a tree say of its held rows."""

    @abstractmethod
    def _curve(self, held: HeldOut, training: TrainingSet) -> Curve:
        """Return losses of leaf sizes."""

    @abstractmethod
    def _choose(self, held: HeldOut, training: TrainingSet) -> int:
        """Set what is chosen when all trees are there; return the leaf size."""

    @abstractmethod
    def _set_oob(
        self, trees: list[HeldTree], training: TrainingSet, size: int, n_rows: int
    ) -> None:
        """Set the out-of-bag estimates of the user's rows."""

    @abstractmethod
    def _prune(
        self, tree: HeldTree, training: TrainingSet, size: int
    ) -> dict[str, NDArray[Any]]:
        """Return the arrays of the prefix of a leaf size."""

    # ---- parameters -----------------------------------------------------------------

    def _sampler(self) -> HeldOutGroups:  # type: ignore[override]
        # It draws from the seed and the number of a tree, not from the tree's key.
        return HeldOutGroups(self.max_samples)

    def _levels(self, n_features: int, equality: bool) -> list[Setting]:
        """Return settings that are left open, from the most random to the greediest."""
        levels = []
        for power, budget in ((0.5, 10.0), (0.75, 20.0), (1.0, 40.0)):
            wanted = max(1, math.floor(n_features**power + 0.5))
            if self.max_features != "auto":
                wanted = count_features(self.max_features, n_features)
            feature_budget, split_budget = (
                budget if given == "auto" else float(given)
                for given in (self.feature_budget, self.split_budget)
            )
            setting = Setting(wanted, feature_budget, split_budget, equality)
            if setting not in levels:
                levels.append(setting)
        return levels

    def _size_limits(self, size: int, interrupt: NDArray[np.uint8]) -> _core.Limits:
        """Return limits of trees whose nodes of so many points are leaves."""
        return _core.Limits(
            min_leaf=size,
            min_side=min(self.min_samples_leaf_, MAX_POINTS),
            has_floor=False,
            max_depth=min(self.max_depth or MAX_POINTS, MAX_POINTS),
            min_weight=self.min_weight_fraction_leaf,
            label_budget=np.inf,
            interrupt=interrupt,
        )

    def _check_held_out(self, n_points: int) -> None:
        """Complain if something is to be chosen by rows that are not there."""
        if self._sampler().holds_out(n_points) or n_points == 1:
            return
        for name in (
            "max_features",
            "feature_budget",
            "split_budget",
            "equality_cuts",
            "min_samples_split",
        ):
            if getattr(self, name) == "auto":
                raise ValueError(
                    f"max_samples={self.max_samples}: all {n_points} rows shape every "
                    f"tree, so none is held out to choose {name}='auto'; lower "
                    f"max_samples or say what {name} is"
                )

    # ---- growing --------------------------------------------------------------------

    def _grow_trees(
        self, numbers: range, setting: Setting, size: int, training: TrainingSet
    ) -> Iterator[HeldTree]:
        """Yield trees of a setting, in their order."""
        interrupt = np.zeros(1, dtype=np.uint8)
        n_features = setting.n_features
        rule = _core.Multinomial(
            setting.feature_budget,
            setting.split_budget,
            0 if n_features >= training.n_features else n_features,
        )
        grow = partial(
            grow_some,
            seed=self._seed,
            training=training,
            sampler=self._sampler(),
            setting=setting,
            rule=rule,
            limits=self._size_limits(size, interrupt),
            idle=[],
        )
        at_once = trees_at_once(training, len(numbers), effective_n_jobs(self.n_jobs))
        tasks = [numbers[i : i + at_once] for i in range(0, len(numbers), at_once)]
        try:
            for some in in_parallel(grow, tasks, self.n_jobs):
                yield from some
        except BaseException:
            interrupt[0] = 1  # threads look at it before every node
            raise

    def _held_out(
        self, trees: list[HeldTree], sizes: NDArray[np.int64], training: TrainingSet
    ) -> HeldOut:
        """Return what trees say of the first rows, which are in random order."""
        n_rows = min(training.n_points, MOST_ROWS)
        held = HeldOut.of(sizes, n_rows, self._n_columns(training))
        for tree in trees:
            half = tree.group % 2
            is_asked = tree.held < n_rows
            rows = np.where(is_asked, tree.held, -1).astype(np.int64)
            self._add_held(tree, training, rows, sizes, held.sums[half])
            held.counts[half, tree.held[is_asked]] += 1
        return held

    def _out_of_bag(
        self, trees: list[HeldTree], training: TrainingSet, size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return what trees say of all rows that they hold out, and how many do."""
        sums = np.zeros((1, training.n_points, self._n_columns(training)))
        counts = np.zeros(training.n_points, dtype=np.int64)
        sizes = np.array([size], dtype=np.int64)
        for tree in trees:
            self._add_held(tree, training, tree.held.astype(np.int64), sizes, sums)
            counts[tree.held] += 1
        return sums[0], counts

    def _inner_decreases(
        self, nodes: NDArray[np.void], decreases: NDArray[np.float64], n_features: int
    ) -> NDArray[np.float64]:
        """Add up what nodes decrease, by feature."""
        feature = nodes["feature"] & FEATURE_MASK
        inner = nodes["child"] >= 0
        total = np.bincount(feature[inner], decreases[inner], minlength=n_features)
        return total.astype(np.float64)

    # ---- choosing -------------------------------------------------------------------

    def _choose_setting(
        self, training: TrainingSet, sizes: NDArray[np.int64]
    ) -> tuple[Setting, list[HeldTree], Curve]:
        """Grow some trees of each setting; return the best, its trees and losses."""
        n_pilot = PILOT_GROUPS * self._sampler().trees_of_group(training.n_points)
        n_pilot = min(n_pilot, self.n_estimators)
        equality = training.offers_equality and self.equality_cuts is not False
        levels = self._levels(training.n_features, equality)
        may_compare = self.n_estimators >= PILOT_SHARE * n_pilot
        self.tuning_ = []

        def pilot(setting: Setting) -> tuple[Setting, list[HeldTree], Curve]:
            trees = []
            with progress_bar(
                f"trying {setting.n_features} features a node",
                n_pilot,
                visible=self.verbose > 0,
            ) as step:
                for tree in self._grow_trees(range(n_pilot), setting, 0, training):
                    trees.append(tree)
                    step()
            curve = self._curve(self._held_out(trees, sizes, training), training)
            self.tuning_.append(Trial(*setting, *curve))
            return setting, trees, curve

        best = pilot(levels[0])
        if not may_compare:
            return best
        for level in levels[1:]:
            other = pilot(level)
            if not other[2].losses.min() < best[2].losses.min():
                break
            best = other
        if equality and self.equality_cuts == "auto":
            other = pilot(best[0]._replace(equality=False))
            if other[2].losses.min() < best[2].losses.min():
                best = other
        return best

    def _grow_tuned(self, training: TrainingSet) -> tuple[list[HeldTree], HeldOut]:
        """Grow all trees; return them, and what they say of rows that are held out."""
        self._check_held_out(training.n_points)
        sizes = leaf_sizes(training.n_points)
        if self.min_samples_split != "auto":
            sizes = np.array([self.min_samples_split - 1], dtype=np.int64)
        setting, trees, curve = self._choose_setting(training, sizes)
        least = int(curve.sizes[curve.best])
        if len(sizes) > 1:
            least = max(least // SLACK, 1)
        rest = range(len(trees), self.n_estimators)
        more = self._grow_trees(rest, setting, least, training)
        trees = list(self._watch(chain(trees, more), self.n_estimators))
        self._set_setting(setting)
        return trees, self._held_out(trees, sizes[sizes >= least], training)

    def _set_setting(self, setting: Setting) -> None:
        self.max_features_ = setting.n_features
        self.feature_budget_ = setting.feature_budget
        self.split_budget_ = setting.split_budget
        self.equality_cuts_ = setting.equality

    # ---- fit ------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        X, y, schema = self._read_table(X, y)
        weights = read_sample_weight(sample_weight, X)
        target, attributes = self._read_target(y, weights)
        more = self.warm_start and hasattr(self, "_forest")
        if more:
            self._check_same_target(attributes)
            self._check_same_problem(schema)
        training = self._prepare(X, target, schema, weights)
        self._seed = self._seed if more else seed_from(self.random_state)
        first = len(self._forest) if more else 0
        for name, value in attributes.items():
            setattr(self, name, value)
        self.min_samples_leaf_ = (
            least_leaf_size(training.n_points)
            if self.min_samples_leaf == "auto"
            else self.min_samples_leaf
        )
        if more:
            setting = Setting(
                self.max_features_,
                self.feature_budget_,
                self.split_budget_,
                self.equality_cuts_,
            )
            size = self.min_samples_split_ - 1
            numbers = range(first, self.n_estimators)
            grown = self._grow_trees(numbers, setting, size, training)
            trees = list(self._watch(grown, len(numbers)))
        else:
            trees, held = self._grow_tuned(training)
            size = self._choose(held, training)
            self.min_samples_split_ = size + 1
        if trees:
            self._add_trees(trees, training, size, more=more)
            self._remember(first, training.origin, None)
        self._schema = schema
        for name in OOB_ATTRIBUTES:
            self.__dict__.pop(name, None)
        if not more:  # else the rows of earlier trees may be others
            self._set_oob(trees, training, size, len(X))
        return self

    def _add_trees(
        self, trees: list[HeldTree], training: TrainingSet, size: int, *, more: bool
    ) -> None:
        """Prune the trees and put them behind those that are there."""
        gathered = Gathered(len(trees))
        pruned = (self._prune(tree, training, size) for tree in trees)
        total = self._held_decrease if more else np.zeros(training.n_features)
        for arrays in self._add_decreases(pruned, training, more=more):
            total = total + arrays.pop("held_decrease")
            arrays |= sizes_of(arrays)
            packed = arrays if training.lists is None else pack(arrays, training.lists)
            gathered.add(packed)
        self._held_decrease = total
        flat = self._flat(gathered.arrays(), training)
        self._forest = flat.join([self._forest, flat]) if more else flat
