# SPDX-License-Identifier: BSD-3-Clause
"""Forests of numbers that tune themselves: means, squared errors, pruned leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from mrforest import _core
from mrforest.data.training import TrainingSet
from mrforest.forests._base import shares_of
from mrforest.forests._regressor import BaseForestRegressor
from mrforest.forests._self_tuning import HeldTree, SelfTuningForest
from mrforest.forests._tuning import Curve, HeldOut, ValueLoss


class SelfTuningRegressor(SelfTuningForest, BaseForestRegressor):
    """A regressor."""

    def _n_columns(self, training: TrainingSet) -> int:
        return 1

    @staticmethod
    def _own(training: TrainingSet, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mass of rows."""
        if training.mass is None:
            return np.ones(len(rows))
        own: NDArray[np.float64] = training.mass[rows].astype(np.float64)
        return own

    @staticmethod
    def _moments(training: TrainingSet, rows: NDArray[Any]) -> NDArray[np.float64]:
        assert training.moment is not None
        moments: NDArray[np.float64] = training.moment[rows].astype(np.float64)
        return moments

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
        predictions = training.scale.centre + means * training.scale.unit
        self.oob_prediction_ = np.full(n_rows, np.nan)
        self.oob_prediction_[training.origin[known]] = predictions
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


def joined_values(
    leaf: NDArray[Any],
    mass: NDArray[np.float64],
    moment: NDArray[np.float64],
    variance: NDArray[np.float64],
    n_leaves: int,
) -> dict[str, NDArray[np.float64]]:
    """Add up parts by leaf: their mass and moment, and the variance of all."""

    def add_up(parts: NDArray[np.float64]) -> NDArray[np.float64]:
        # Of no parts NumPy returns whole numbers.
        return np.bincount(leaf, parts, minlength=n_leaves).astype(np.float64)

    total, moments = add_up(mass), add_up(moment)
    mean = moments / np.where(total > 0, total, 1.0)
    gap = moment / np.where(mass > 0, mass, 1.0) - mean[leaf]
    squares = add_up(mass * (variance + gap**2))
    return {
        "leaf_mass": total,
        "leaf_moment": moments,
        "leaf_variance": squares / np.where(total > 0, total, 1.0),
    }
