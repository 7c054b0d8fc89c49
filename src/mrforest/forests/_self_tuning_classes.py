# SPDX-License-Identifier: BSD-3-Clause
"""Forests of classes that tune themselves: shares, losses, pruned leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from mrforest import _core
from mrforest.data.training import TrainingSet
from mrforest.forests._base import shares_of
from mrforest.forests._classifier import BaseForestClassifier
from mrforest.forests._self_tuning import HeldTree, SelfTuningForest
from mrforest.forests._tuning import ClassLoss, Curve, HeldOut, sharpen


class SelfTuningClassifier(SelfTuningForest, BaseForestClassifier):
    """A classifier."""

    # Fitted
    power_: float
    _uniform_share: float

    # ---- rows that are held out -----------------------------------------------------

    def _n_columns(self, training: TrainingSet) -> int:
        n_classes: int = self.n_classes_
        return n_classes

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
            held,
            training.y[rows],
            weights,
            self.n_estimators,
            self._share_of_uniform(training),
        )

    @staticmethod
    def _share_of_uniform(training: TrainingSet) -> float:
        """Weight of the uniform distribution in probabilities: no class is excluded."""
        return 1.0 / (training.n_points + 1)

    def _curve(self, held: HeldOut, training: TrainingSet) -> Curve:
        return self._loss(held, training).curve(held.sizes)

    def _choose(self, held: HeldOut, training: TrainingSet) -> int:
        loss = self._loss(held, training)
        best = loss.curve(held.sizes).best
        self.power_ = loss.power(best)
        self._uniform_share = self._share_of_uniform(training)
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
        predicted = sums[known].argmax(axis=1)
        self.oob_score_ = float("nan")
        if known.any():
            weights = self._own(training, np.flatnonzero(known))
            self.oob_score_ = accuracy_score(
                training.y[known], predicted, sample_weight=weights
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
        return sharpen(shares, self.power_, self._uniform_share)

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
    >>> masses["mass_start"].tolist(), masses["mass_class"].tolist()
    ([0, 1, 2], [0, 2])
    >>> masses["mass"].tolist(), masses["leaf_label"].tolist()
    ([2.0, 4.0], [0, 2])
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
