# SPDX-License-Identifier: BSD-3-Clause
"""Forests that some rows shape, all rows fill, and rows that are held out tune.

a few trees of each setting ─► setting, leaf size ─► all trees
    ─► out-of-bag estimates ─► power
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Generator, Iterator
from functools import partial
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrforest import _core
from mrforest._progress import progress_bar
from mrforest.data.training import MAX_POINTS, TrainingSet
from mrforest.forests.base import BaseForest
from mrforest.forests.growing import grow_all
from mrforest.forests.held_out import HeldOut, HeldTree, Setting, grow_one
from mrforest.forests.mixins import OOB_ATTRIBUTES
from mrforest.forests.parameters import count_features
from mrforest.forests.sampling import HeldOutGroups, seed_from
from mrforest.forests.targets import read_sample_weight
from mrforest.forests.tuning import (
    MOST_ROWS,
    Trial,
    leaf_sizes,
    least_leaf_size,
)
from mrforest.model.arrays import Gathered, sizes_of
from mrforest.model.codec import pack

# A setting is tried by pairs of trees. One half of the rows shapes a tree of a pair and
# the other half is held out of it. There are so many pairs that they make so many
# predictions ...
TRIAL_SHARE, TRIAL_PREDICTIONS = 0.5, 16384
# ... but no fewer than this, and no more trees than a forest has by default.
LEAST_PAIRS, MOST_PAIRS = 4, 50
# Later settings are tried from this share of the best leaf size so far on.
SLACK = 4


class SelfTuningForest(BaseForest):
    """What the classifier and the regressor share."""

    _repeats_rows = False
    _offers_equality = True

    # Fitted
    max_features_: int
    feature_budget_: float
    split_budget_: float
    equality_cuts_: bool
    criterion_: str
    min_samples_split_: int
    min_samples_leaf_: int
    tuning_: list[Trial]
    _held_decrease: NDArray[np.float64]
    _held_out: HeldOut  # of all trees, if more may be added

    # ---- what a subclass says -------------------------------------------------------

    @abstractmethod
    def _n_columns(self, training: TrainingSet) -> int:
        """Classes, or 1."""

    @abstractmethod
    def _truth(self, training: TrainingSet, n: int) -> NDArray[np.float64]:
        """Return what is predicted of the first n points, of shape (n, n_columns)."""

    def _row_weights(self, training: TrainingSet, n: int) -> NDArray[np.float64]:
        """Return what the first n points weigh in a loss: their sample weights."""
        if training.mass is None:
            return np.ones(n)
        weights: NDArray[np.float64] = training.mass[:n].astype(np.float64)
        return weights

    def _judge(
        self, held: HeldOut, loss: float, training: TrainingSet
    ) -> tuple[float, float]:
        """Return the loss by which a setting is compared, and its power.

        `held` is of one leaf size, `loss` its squared error.
        """
        return loss, 1.0

    def _loss_unit(self, training: TrainingSet, n: int) -> float:
        """Return what losses are divided by before users see them."""
        return 1.0

    @abstractmethod
    def _finish_tuning(self, held: HeldOut, training: TrainingSet, n: int) -> None:
        """Set the out-of-bag estimates of the user's n rows, and what follows."""

    # ---- parameters -----------------------------------------------------------------

    def _sampler(self) -> HeldOutGroups:  # type: ignore[override]
        # It draws from the seed and the number of a tree, not from the tree's key.
        return HeldOutGroups(self.max_samples)

    @abstractmethod
    def _criteria(self) -> list[str]:
        """Return criteria to try, the first one first."""

    def _levels(self, n_features: int) -> list[Setting]:
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
            setting = Setting(
                wanted,
                feature_budget,
                split_budget,
                self.equality_cuts is True,
                self._criteria()[0],
            )
            if setting not in levels:
                levels.append(setting)
        return levels

    def _size_limits(self, size: int, interrupt: NDArray[np.uint8]) -> _core.Limits:
        """Return limits of trees whose nodes of so many points are leaves."""
        return _core.Limits(
            min_split=size + 1,
            min_leaf=0,
            min_side=min(self.min_samples_leaf_, MAX_POINTS),
            max_depth=min(self.max_depth or MAX_POINTS, MAX_POINTS),
            min_weight=self.min_weight_fraction_leaf,
            label_budget=np.inf,
            interrupt=interrupt,
        )

    # ---- growing --------------------------------------------------------------------

    def _grow_trees(
        self,
        numbers: range,
        sampler: HeldOutGroups,
        setting: Setting,
        size: int,
        training: TrainingSet,
        n_asked: int = -1,
    ) -> Generator[HeldTree, None, None]:
        """Return trees of a setting, in their order.

        If `n_asked` is not negative, nodes that hold out none of these rows are not
        split.
        """
        interrupt = np.zeros(1, dtype=np.uint8)
        training = training.with_criterion(setting.criterion)
        grow = partial(
            grow_one,
            seed=self._seed,
            training=training,
            sampler=sampler,
            setting=setting,
            rule=rule_of(setting, training.n_features),
            limits=self._size_limits(size, interrupt),
            n_asked=n_asked,
            idle=[],
        )
        return grow_all(grow, numbers, training, interrupt, self.n_jobs)

    # ---- choosing -------------------------------------------------------------------

    def _ask_about(
        self, setting: Setting, sizes: NDArray[np.int64], training: TrainingSet
    ) -> HeldOut:
        """Grow a few trees of a setting; return what they say of held-out rows."""
        n = training.n_points
        n_asked = min(n, MOST_ROWS)
        sampler, n_trees = trial_trees(n)
        held = HeldOut.of(sizes, n_asked, self._n_columns(training))
        trees = self._grow_trees(
            range(n_trees), sampler, setting, trial_size(sizes), training, n_asked
        )
        label = f"trying {setting.n_features} features a node"
        with progress_bar(label, n_trees, visible=self.verbose > 0) as step:
            for tree in trees:
                half = tree.group % 2
                _core.add_prefixes(
                    training.table, tree.tree, tree.held, sizes, held.sums[half]
                )
                held.counts[half, tree.held[tree.held < n_asked]] += 1
                step()
        return held

    def _try(
        self, setting: Setting, sizes: NDArray[np.int64], training: TrainingSet
    ) -> Trial:
        """Grow a few trees of a setting, and keep what they lose on held-out rows."""
        held = self._ask_about(setting, sizes, training)
        losses = held.squared_losses(
            self._truth(training, held.n_rows),
            self._row_weights(training, held.n_rows),
            self.n_estimators,
        )
        best = int(losses.argmin())
        loss, power = self._judge(held.of_size(best), float(losses[best]), training)
        trial = Trial(*setting, sizes, losses, int(sizes[best]), loss, power)
        unit = self._loss_unit(training, held.n_rows)
        self.tuning_.append(trial._replace(losses=losses / unit, loss=loss / unit))
        return trial

    def _choose(self, training: TrainingSet) -> tuple[Setting, int]:
        """Try settings; return the best, and its leaf size."""
        self.tuning_ = []
        levels = self._levels(training.n_features)
        sizes = leaf_sizes(training.n_points)
        if self.min_samples_split != "auto":
            sizes = np.array([self.min_samples_split - 1], dtype=np.int64)
        more: list[dict[str, Any]] = [{"criterion": c} for c in self._criteria()[1:]]
        if training.offers_equality and self.equality_cuts == "auto":
            more.insert(0, {"equality": True})
        if len(levels) == len(sizes) == 1 and not more:
            return levels[0], int(sizes[0])
        best = self._try(levels[0], sizes, training)
        for level in levels[1:]:
            other = self._try(level, later_sizes(sizes, best), training)
            if not other.loss < best.loss:
                break
            best = other
        for change in more:
            setting = best.setting._replace(**change)
            other = self._try(setting, later_sizes(sizes, best), training)
            best = other if other.loss < best.loss else best
        return best.setting, best.leaf_size

    def _trial_power(self) -> float:
        """Return the power of the trial that was chosen; 1 if nothing was tried."""
        chosen = [trial for trial in self.tuning_ if trial.setting == self._setting()]
        return chosen[0].power if chosen else 1.0

    def _setting(self) -> Setting:
        """Return the setting that was chosen."""
        return Setting(
            self.max_features_,
            self.feature_budget_,
            self.split_budget_,
            self.equality_cuts_,
            self.criterion_,
        )

    def _set_leaf(self, n_points: int) -> None:
        given = self.min_samples_leaf
        self.min_samples_leaf_ = least_leaf_size(n_points) if given == "auto" else given

    def _set_choice(self, setting: Setting, size: int) -> None:
        self.max_features_ = setting.n_features
        self.feature_budget_ = setting.feature_budget
        self.split_budget_ = setting.split_budget
        self.equality_cuts_ = setting.equality
        self.criterion_ = setting.criterion
        self.min_samples_split_ = size + 1

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
        self._set_leaf(training.n_points)
        if not more:
            self._set_choice(*self._choose(training))
        numbers = range(first, self.n_estimators)
        size = self.min_samples_split_ - 1
        grown = self._grow_trees(
            numbers, self._sampler(), self._setting(), size, training
        )
        self._schema = schema
        self._add_trees(
            self._watch(grown, len(numbers)), training, len(X), first, more=more
        )
        return self

    def _add_trees(
        self,
        trees: Iterator[HeldTree],
        training: TrainingSet,
        n_rows: int,
        first: int,
        *,
        more: bool,
    ) -> None:
        """Put trees behind those that are there; ask them about rows they hold out."""
        digest = self._digest_of(training)
        held = self._held_so_far(training, digest, more=more)
        total = self._held_decrease if more else np.zeros(training.n_features)
        gathered = Gathered(self.n_estimators - first)

        def ask() -> Iterator[dict[str, NDArray[Any]]]:
            nonlocal total
            for grown in trees:
                tree, half = grown.tree, grown.group % 2
                if held is not None:
                    _core.add_leaves(
                        training.table, tree, grown.held, held.sums[half, :, 0]
                    )
                    held.counts[half, grown.held] += 1
                total = total + grown.decrease
                for name in ("held_leaf", "count"):
                    tree.pop(name, None)
                self._fill(tree, training)
                tree |= sizes_of(tree)
                yield tree if training.lists is None else pack(tree, training.lists)

        for tree in self._add_decreases(ask(), training, more=more):
            gathered.add(tree)
        if len(gathered):
            self._held_decrease = total
            flat = self._flat(gathered.arrays(), training)
            self._forest = flat.join([self._forest, flat]) if more else flat
            self._remember(first, training.origin, digest)
        for name in ("_held_out", *OOB_ATTRIBUTES):
            self.__dict__.pop(name, None)
        if held is not None:
            self._finish_tuning(held, training, n_rows)
            if self.warm_start:
                self._held_out = held

    def _digest_of(self, training: TrainingSet) -> bytes | None:
        """Return a fingerprint of what trees see of the rows, if more may be added."""
        if not self.warm_start:
            return None
        table = training.with_criterion(self.criterion_).table
        return bytes.fromhex(joblib.hash((table, training.scale)))

    def _held_so_far(
        self, training: TrainingSet, digest: bytes | None, *, more: bool
    ) -> HeldOut | None:
        """Return sums of the trees that are there; None if not all saw these rows."""
        n = training.n_points
        if not more:
            sizes = np.zeros(1, dtype=np.int64)
            return HeldOut.of(sizes, n, self._n_columns(training))
        if not hasattr(self, "_held_out") or self._batches[-1].digest != digest:
            return None
        return self._held_out.first(n)  # a copy: the fit may be interrupted


def rule_of(setting: Setting, n_features: int) -> _core.SplitRule:
    """Return the split rule of a setting."""
    return _core.Multinomial(
        setting.feature_budget,
        setting.split_budget,
        0 if setting.n_features >= n_features else setting.n_features,
    )


def trial_trees(n_points: int) -> tuple[HeldOutGroups, int]:
    """Return what draws the points of the trees of a trial, and how many there are."""
    sampler = HeldOutGroups(TRIAL_SHARE)
    n_pairs = min(max(TRIAL_PREDICTIONS // n_points, LEAST_PAIRS), MOST_PAIRS)
    return sampler, n_pairs * sampler.trees_of_group(n_points)


def trial_size(sizes: NDArray[np.int64]) -> int:
    """Return the leaf size that the trees of a trial grow with."""
    return int(sizes[0]) if len(sizes) == 1 else int(sizes[0]) - 1


def later_sizes(sizes: NDArray[np.int64], best: Trial) -> NDArray[np.int64]:
    """Return leaf sizes that are tried of a setting after a first one."""
    later: NDArray[np.int64] = sizes[sizes >= min(best.leaf_size // SLACK, sizes[-1])]
    return later
