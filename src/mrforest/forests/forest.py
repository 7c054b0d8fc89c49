# SPDX-License-Identifier: BSD-3-Clause
"""The forest to use by default: consistent, and tuned by the rows that it holds out."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from mrforest import _core
from mrforest.data.training import Classes, TrainingSet
from mrforest.forests._base import shares_of
from mrforest.forests._classifier import BaseForestClassifier
from mrforest.forests._docs import describe
from mrforest.forests._regressor import BaseForestRegressor
from mrforest.forests._self_tuning import HeldTree, SelfTuningForest
from mrforest.forests._tuning import ClassLoss, Curve, HeldOut, ValueLoss, sharpen
from mrforest.forests._validation import (
    AT_LEAST_ONE,
    BINS,
    CLASSIFIER,
    CRITERION,
    FOREST,
    MAX_FEATURES,
    MIN_WEIGHT,
    Constraints,
    Interval,
    RealNotInt,
    StrOptions,
)

AUTO = StrOptions({"auto"})
SELF_TUNING: Constraints = {
    **FOREST,
    **BINS,
    "max_samples": [
        Interval(RealNotInt, 0, 1, closed="neither"),
        Interval(Integral, 1, None, closed="left"),
    ],
    "max_features": [AUTO, *MAX_FEATURES["max_features"]],
    "feature_budget": [AUTO, Interval(Real, 0, None, closed="left")],
    "split_budget": [AUTO, Interval(Real, 0, None, closed="left")],
    "equality_cuts": [AUTO, "boolean"],
    "min_samples_split": [AUTO, Interval(Integral, 2, None, closed="left")],
    "min_samples_leaf": [AUTO, *AT_LEAST_ONE],
    "min_weight_fraction_leaf": MIN_WEIGHT,
    "max_depth": [*AT_LEAST_ONE, None],
}


class ForestClassifier(SelfTuningForest, BaseForestClassifier):
    """."""

    _parameter_constraints: ClassVar[Constraints] = {
        **SELF_TUNING,
        **CRITERION,
        "class_weight": CLASSIFIER["class_weight"],
        "calibrate": ["boolean"],
    }

    # Fitted
    power_: float

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_samples: float = 0.8,
        max_features: str | float | None = "auto",
        feature_budget: float | Literal["auto"] = "auto",
        split_budget: float | Literal["auto"] = "auto",
        equality_cuts: bool | Literal["auto"] = "auto",
        min_samples_split: int | Literal["auto"] = "auto",
        min_samples_leaf: int | Literal["auto"] = "auto",
        min_weight_fraction_leaf: float = 0.0,
        criterion: Literal["gini", "entropy"] = "gini",
        max_depth: int | None = None,
        max_bins: int | Literal["exact"] = 255,
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        calibrate: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.feature_budget = feature_budget
        self.split_budget = split_budget
        self.equality_cuts = equality_cuts
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ---- rows that are held out -----------------------------------------------------

    def _n_columns(self, training: TrainingSet) -> int:
        return self.n_classes_

    def _own(self, training: TrainingSet, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return what rows add to the masses of leaves."""
        own = np.ones(len(rows))
        if training.mass is not None:
            own = training.mass[rows].astype(np.float64)
        weight = training.class_weight
        return own if weight is None else own * weight[training.y[rows]]

    def _add_held(
        self,
        tree: HeldTree,
        training: TrainingSet,
        rows: NDArray[np.int64],
        sizes: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None:
        _core.Prefixes(tree.tree, self.n_classes_).add_shares(
            rows, training.y[tree.held], self._own(training, tree.held), sizes, out
        )

    def _loss(self, held: HeldOut, training: TrainingSet) -> ClassLoss:
        rows = np.arange(held.counts.shape[1])
        weights = self._own(training, rows)
        return ClassLoss(
            held, training.y[rows], weights, self.n_estimators, self._floor(training)
        )

    @staticmethod
    def _floor(training: TrainingSet) -> float:
        """Weight of the uniform distribution in probabilities: no class is excluded."""
        return 1.0 / (training.n_points + 1)

    def _curve(self, held: HeldOut, training: TrainingSet) -> Curve:
        return self._loss(held, training).curve(held.sizes)

    def _choose(self, held: HeldOut, training: TrainingSet) -> int:
        loss = self._loss(held, training)
        best = loss.curve(held.sizes).best
        self.power_ = loss.power(best)
        self.floor_ = self._floor(training)
        return int(held.sizes[best])

    def _set_oob(
        self, trees: list[HeldTree], training: TrainingSet, size: int, n_rows: int
    ) -> None:
        sums, counts = self._out_of_bag(trees, training, size)
        shares = np.full((n_rows, self.n_classes_), np.nan)
        known = counts > 0
        shares[training.origin[known]] = self._calibrated(
            sums[known] / counts[known, None]
        )
        self.oob_decision_function_ = shares
        told = sums[known].argmax(axis=1)
        self.oob_score_ = float("nan")
        if known.any():
            weights = self._own(training, np.flatnonzero(known))
            self.oob_score_ = accuracy_score(
                training.y[known], told, sample_weight=weights
            )

    def _prune(
        self, tree: HeldTree, training: TrainingSet, size: int
    ) -> dict[str, NDArray[Any]]:
        full, K = tree.tree, self.n_classes_
        nodes, points, leaf_of, kept = _core.Prefixes(full, K).prune(size)
        leaf = np.repeat(leaf_of, np.diff(full["mass_start"]))
        arrays = {
            "nodes": nodes,
            "leaf_points": points,
            **masses_of(leaf, full["mass_class"], full["mass"], len(points), K),
            "structure_decrease": self._inner_decreases(
                nodes, full["node_decrease"][kept], training.n_features
            ),
        }
        self._fill(arrays, training)
        held = masses_of(
            leaf_of[full["held_leaf"]],
            training.y[tree.held],
            self._own(training, tree.held),
            len(points),
            K,
        )
        held_points = np.bincount(leaf_of[full["held_leaf"]], minlength=len(points))
        arrays["held_decrease"] = _core.estimation_decrease(
            nodes,
            np.array([0, len(nodes)]),
            np.array([0, len(points)]),
            held_points.astype(np.uint32),
            held["mass_start"],
            held["mass_class"],
            held["mass"],
            K,
            training.n_features,
        )
        return arrays

    # ---- probabilities --------------------------------------------------------------

    def _votes(self) -> str:
        return "soft"

    def _calibrated(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.calibrate:
            return shares
        return sharpen(shares, self.power_, self.floor_)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities: mean shares of the leaves, sharpened if `calibrate`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The same bits for any `n_jobs`. Columns are in the order of `classes_`.
        """
        return self._calibrated(super().predict_proba(X))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Decrease of the Gini impurity, measured on rows that did not shape a tree.

        The rows that choose a split do not measure it, and the impurity is estimated
        without bias from the size of a node. So a feature that says nothing about the
        class has an expected decrease of 0, whatever its number of values; it may come
        out negative. Decreases are divided by the sum of their absolute values.
        """
        check_is_fitted(self)
        return shares_of(self._held_decrease)


class ForestRegressor(SelfTuningForest, BaseForestRegressor):
    """."""

    _parameter_constraints: ClassVar[Constraints] = SELF_TUNING

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_samples: float = 0.8,
        max_features: str | float | None = "auto",
        feature_budget: float | Literal["auto"] = "auto",
        split_budget: float | Literal["auto"] = "auto",
        equality_cuts: bool | Literal["auto"] = "auto",
        min_samples_split: int | Literal["auto"] = "auto",
        min_samples_leaf: int | Literal["auto"] = "auto",
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        max_bins: int | Literal["exact"] = 255,
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.feature_budget = feature_budget
        self.split_budget = split_budget
        self.equality_cuts = equality_cuts
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _n_columns(self, training: TrainingSet) -> int:
        return 1

    @staticmethod
    def _own(training: TrainingSet, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mass of rows."""
        if training.mass is None:
            return np.ones(len(rows))
        return training.mass[rows].astype(np.float64)

    @staticmethod
    def _moments(training: TrainingSet, rows: NDArray[Any]) -> NDArray[np.float64]:
        assert training.moment is not None
        return training.moment[rows].astype(np.float64)

    def _add_held(
        self,
        tree: HeldTree,
        training: TrainingSet,
        rows: NDArray[np.int64],
        sizes: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None:
        _core.Prefixes(tree.tree, 0).add_values(
            rows,
            self._own(training, tree.held),
            self._moments(training, tree.held),
            sizes,
            out,
        )

    def _curve(self, held: HeldOut, training: TrainingSet) -> Curve:
        rows = np.arange(held.counts.shape[1])
        weights = self._own(training, rows)
        truth = self._moments(training, rows) / weights
        return ValueLoss(held, truth, weights, self.n_estimators).curve(held.sizes)

    def _choose(self, held: HeldOut, training: TrainingSet) -> int:
        return int(held.sizes[self._curve(held, training).best])

    def _set_oob(
        self, trees: list[HeldTree], training: TrainingSet, size: int, n_rows: int
    ) -> None:
        assert training.scale is not None
        sums, counts = self._out_of_bag(trees, training, size)
        known = np.flatnonzero(counts)
        means = sums[known, 0] / counts[known]
        told = training.scale.centre + means * training.scale.unit
        self.oob_prediction_ = np.full(n_rows, np.nan)
        self.oob_prediction_[training.origin[known]] = told
        self.oob_score_ = float("nan")
        if len(known) > 1:
            weights = self._own(training, known)
            truth = self._moments(training, known) / weights
            self.oob_score_ = r2_score(truth, means, sample_weight=weights)

    def _prune(
        self, tree: HeldTree, training: TrainingSet, size: int
    ) -> dict[str, NDArray[Any]]:
        full = tree.tree
        nodes, points, leaf_of, kept = _core.Prefixes(full, 0).prune(size)
        n = len(points)
        arrays = {
            "nodes": nodes,
            "leaf_points": points,
            "structure_decrease": self._inner_decreases(
                nodes, full["node_decrease"][kept], training.n_features
            ),
            **joined_values(
                leaf_of,
                full["leaf_mass"].astype(np.float64),
                full["leaf_moment"].astype(np.float64),
                full["leaf_variance"],
                n,
            ),
        }
        self._fill(arrays, training)
        leaf = leaf_of[full["held_leaf"]]
        own = self._own(training, tree.held)
        moment = self._moments(training, tree.held)
        held = joined_values(leaf, own, moment, np.zeros(len(leaf)), n)
        mass = held["leaf_mass"]
        mean = held["leaf_moment"] / np.where(mass > 0, mass, 1.0)
        assert training.scale is not None
        step = training.scale.step
        arrays["held_decrease"] = _core.value_decrease(
            nodes,
            np.array([0, len(nodes)]),
            np.array([0, n]),
            np.bincount(leaf, minlength=n).astype(np.uint32),
            mass,
            mean * step,
            held["leaf_variance"] * step * step,
            training.n_features,
        )
        return arrays

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Decrease of the variance, measured on rows that did not shape a tree.

        The rows that choose a split do not measure it, and the variance is estimated
        without bias from the size of a node. So a feature that says nothing about the
        target has an expected decrease of 0, whatever its number of values; it may come
        out negative. Decreases are divided by the sum of their absolute values.
        """
        check_is_fitted(self)
        return shares_of(self._held_decrease)


# ---- leaves --------------------------------------------------------------------------


def masses_of(
    leaf: NDArray[Any],
    classes: NDArray[Any],
    mass: NDArray[Any],
    n_leaves: int,
    n_classes: int,
) -> dict[str, NDArray[Any]]:
    """Add up masses by leaf and class, as a `ClassForest` holds them.

    Examples
    --------
    >>> import numpy as np
    >>> masses = masses_of(
    ...     np.array([1, 0, 1]), np.array([2, 0, 2]), np.array([1.0, 2.0, 3.0]), 2, 3
    ... )
    >>> {name: array.tolist() for name, array in masses.items()}
    {'leaf_label': [0, 2], 'mass_start': [0, 1, 2], 'mass_class': [0, 2], 'mass': [2.0, 4.0]}
    """
    key = leaf.astype(np.int64) * n_classes + classes
    found, inverse = np.unique(key, return_inverse=True)
    total = np.bincount(inverse, weights=mass, minlength=len(found))
    of_leaf, mass_class = np.divmod(found, n_classes)
    start = np.searchsorted(of_leaf, np.arange(n_leaves + 1))
    label = np.zeros(n_leaves, dtype=np.uint16)
    # Of equal masses the first class: written last.
    order = np.lexsort((-mass_class, total, of_leaf))
    label[of_leaf[order]] = mass_class[order]
    return {
        "leaf_label": label,
        "mass_start": start.astype(np.int64),
        "mass_class": mass_class.astype(np.uint16),
        "mass": total.astype(np.float32),
    }


def joined_values(
    leaf: NDArray[Any],
    mass: NDArray[np.float64],
    moment: NDArray[np.float64],
    variance: NDArray[np.float64],
    n_leaves: int,
) -> dict[str, NDArray[np.float64]]:
    """Add up parts by leaf: their mass and moment, and the variance of all."""
    total = np.bincount(leaf, weights=mass, minlength=n_leaves)
    moments = np.bincount(leaf, weights=moment, minlength=n_leaves)
    mean = moments / np.where(total > 0, total, 1.0)
    gap = moment / np.where(mass > 0, mass, 1.0) - mean[leaf]
    squares = np.bincount(leaf, weights=mass * (variance + gap**2), minlength=n_leaves)
    return {
        "leaf_mass": total,
        "leaf_moment": moments,
        "leaf_variance": squares / np.where(total > 0, total, 1.0),
    }
