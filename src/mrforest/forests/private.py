# SPDX-License-Identifier: BSD-3-Clause
"""Forests that are differentially private."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mrforest import _core
from mrforest.forests import private_parameters as p
from mrforest.forests.declaration import estimator
from mrforest.forests.parameters import Verbose
from mrforest.forests.private_base import BasePrivateForest
from mrforest.forests.targets import (
    MAX_CLASSES,
    distinct,
    read_classes,
    read_numbers,
)
from mrforest.model.fitted import FittedClassifier, FittedRegressor
from mrforest.model.leaves import ClassForest, ValueForest
from mrforest.model.nodes import EQUALITY, MISSING_LEFT
from mrforest.privacy.grid import Grid
from mrforest.privacy.leaves import leaf_shares
from mrforest.privacy.public import read_pair
from mrforest.privacy.subtree import Leaf, Split, Tree

# Cells of the target of a regression
N_CELLS = 32


@estimator
class PrivateForestClassifier(FittedClassifier, BasePrivateForest):
    """A forest whose fit is differentially private.

    Whoever sees the fitted forest, or its file, can hardly tell whether a given row was
    in the table: with any one row more or less, no outcome of a fit is more than
    exp(epsilon) times likelier or less likely. Trees are drawn, two levels at a time,
    by exponential mechanisms over whole subtrees and their labels, with candidate
    splits that come from public bounds alone; see docs/privacy.md.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes_}
    {n_features_in_}
    {ledger_}
    {epsilon_}
    {n_rows_}
    {estimators_}

    See Also
    --------
    mrforest.privacy.Accountant : A budget that several fits share.
    mrforest.privacy.audit : Check what is promised here.

    Notes
    -----
    There are no sample weights: a row that counts twice would cost twice. There are no
    importances and no out-of-bag score, for nobody has paid for them. Choosing
    parameters by cross-validation on the same rows is not private.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from mrforest import PrivateForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> bounds = [(0.0, high) for high in [
    ...     30, 40, 200, 2600, 0.2, 0.4, 0.5, 0.3, 0.4, 0.1, 3, 5, 25, 550, 0.05,
    ...     0.2, 0.4, 0.06, 0.1, 0.03, 40, 50, 260, 4300, 0.3, 1.2, 1.3, 0.3, 0.7, 0.3,
    ... ]]
    >>> forest = PrivateForestClassifier(epsilon=1.0, bounds=bounds, classes=[0, 1])
    >>> forest.fit(X_train, y_train).score(X_test, y_test) > 0.6
    True
    >>> forest.epsilon_ <= 1.0
    True
    """

    epsilon: p.Epsilon = 1.0
    _: KW_ONLY
    delta: p.Delta = 0.0
    bounds: p.Bounds = None
    categories: p.Categories = None
    classes: p.Labels = None
    leaf: p.LeafContent = "label"
    n_estimators: p.PrivateNEstimators = "auto"
    max_depth: p.PrivateMaxDepth = "auto"
    honest: p.Honest = False
    neighbours: p.Neighbours = "add-remove"
    n_samples_public: p.SamplesPublic = None
    accountant: p.SharedAccountant = None
    on_missing_public: p.OnMissingPublic = "raise"
    random_state: p.PrivateRandomState = None
    n_jobs: p.PrivateNJobs = None
    verbose: Verbose = 0

    def _votes(self) -> str:
        return "soft" if self._plan.leaf == "counts" else "hard"

    def _leaf(self) -> str:
        return self.leaf

    def _norm(self) -> float:
        # Smaller norms tell apart shares of minorities, which ranking needs.
        return 1.5 if self._plan.leaf == "counts" else 3.0

    def _missing_target(self) -> str | None:
        if self.classes is not None:
            return None
        return "classes: give all labels that y may have, classes=[...]"

    def _n_codes(self) -> int:
        return self.n_classes_

    def _set_target(self, y: NDArray[Any] | None) -> None:
        listed = y if self.classes is None else column_or_1d(np.asarray(self.classes))
        assert listed is not None
        self.classes_ = np.unique(listed)
        self.n_classes_ = len(self.classes_)
        if not 1 <= self.n_classes_ <= MAX_CLASSES:
            raise ValueError(
                f"classes lists {self.n_classes_} labels; it must be 1 to {MAX_CLASSES}"
            )
        if self.classes is not None and len(listed) != self.n_classes_:
            raise ValueError(f"classes={self.classes!r} lists a class twice")

    def _code_target(self, y: NDArray[Any]) -> tuple[NDArray[np.int32], bool]:
        # Labels are public: they are not judged, only looked up.
        labels, codes = read_classes(y) if self.classes is None else distinct(y)
        place = {label: i for i, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in labels.tolist() if label not in place]
        if unknown:
            check_classification_targets(y)  # tells numbers that are no labels
            raise ValueError(
                f"y has the label {unknown[0]!r}, which is not in classes="
                f"{self.classes_.tolist()}; they must be all that may occur"
            )
        table = np.array([place[label] for label in labels.tolist()], dtype=np.int32)
        return table[codes], False

    def _set_forest(self) -> None:
        self._forest = ClassForest.join([self._flat(*tree) for tree in self._trees])

    def _flat(self, columns: NDArray[np.intp], tree: Any) -> ClassForest:
        nodes, leaves = flat_tree(tree, columns, self._columns.grid)
        n_classes = self.n_classes_
        if self._plan.leaf == "counts":
            counts = np.array([leaf.counts for leaf in leaves], dtype=np.int64)
            shares = leaf_shares(nodes["child"], counts, self._noise_variance())
            classes = np.tile(np.arange(n_classes), len(leaves))
            labels = shares.argmax(axis=1)
        else:
            labels = np.array([leaf.label for leaf in leaves])
            classes, shares = labels, np.ones((len(leaves), 1))
        return ClassForest.from_tree(
            {
                "nodes": nodes,
                "leaf_points": np.zeros(len(leaves), dtype=np.uint32),
                "leaf_label": labels.astype(np.uint16),
                "mass_start": np.arange(len(leaves) + 1) * shares.shape[1],
                "mass_class": classes.astype(np.uint16),
                "mass": shares.ravel().astype(np.float32),
            }
        )

    def _noise_variance(self) -> float:
        """Variance of the noise of a count of a leaf."""
        epsilon = self._plan.leaf_epsilon
        if epsilon > 700:  # beyond what a float can square, or infinite
            return 0.0
        return 1 / (2 * math.sinh(epsilon / 2) ** 2)


@estimator
class PrivateForestRegressor(FittedRegressor, BasePrivateForest):
    """A forest that predicts numbers and whose fit is differentially private.

    As `PrivateForestClassifier`; the target is clipped to public bounds and laid on a
    grid of 32 numbers, of which each leaf tells one, drawn together with the last
    splits. What counts is the squared distance between a row's target and that number.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {n_features_in_}
    {ledger_}
    {epsilon_}
    {n_rows_}
    {estimators_}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mrforest import PrivateForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = PrivateForestRegressor(
    ...     epsilon=2.0, bounds=(-0.2, 0.2), target_bounds=(25, 350)
    ... )
    >>> forest.fit(X, y).predict(X[:1]).shape
    (1,)
    """

    epsilon: p.Epsilon = 1.0
    _: KW_ONLY
    delta: p.Delta = 0.0
    bounds: p.Bounds = None
    categories: p.Categories = None
    target_bounds: p.TargetBounds = None
    n_estimators: p.PrivateNEstimators = "auto"
    max_depth: p.PrivateMaxDepth = "auto"
    honest: p.Honest = False
    neighbours: p.Neighbours = "add-remove"
    n_samples_public: p.SamplesPublic = None
    accountant: p.SharedAccountant = None
    on_missing_public: p.OnMissingPublic = "raise"
    random_state: p.PrivateRandomState = None
    n_jobs: p.PrivateNJobs = None
    verbose: Verbose = 0

    def _leaf(self) -> str:
        return "label"

    def _norm(self) -> float:
        return math.inf

    def _missing_target(self) -> str | None:
        if self.target_bounds is not None:
            return None
        return "target_bounds: give the range of y, target_bounds=(low, high)"

    def _n_codes(self) -> int:
        return N_CELLS

    def _set_target(self, y: NDArray[Any] | None) -> None:
        if self.target_bounds is None:
            assert y is not None
            numbers = read_numbers(y)
            self._cells = np.linspace(numbers.min(), numbers.max(), N_CELLS)
            return
        pair = read_pair(self.target_bounds, "target_bounds")
        self._cells = np.linspace(pair.low, pair.high, N_CELLS)

    def _code_target(self, y: NDArray[Any]) -> tuple[NDArray[np.int32], bool]:
        numbers = read_numbers(y)
        middles = self._cells[:-1] / 2 + self._cells[1:] / 2
        return np.searchsorted(middles, numbers).astype(np.int32), True

    def _set_forest(self) -> None:
        self._forest = ValueForest.join([self._flat(*tree) for tree in self._trees])

    def _flat(self, columns: NDArray[np.intp], tree: Any) -> ValueForest:
        nodes, leaves = flat_tree(tree, columns, self._columns.grid)
        nothing = np.zeros(len(leaves))
        return ValueForest.from_tree(
            {
                "nodes": nodes,
                "leaf_points": np.zeros(len(leaves), dtype=np.uint32),
                "leaf_value": self._cells[np.array([leaf.label for leaf in leaves])],
                "leaf_deviation": nothing,
                "leaf_mass": nothing,
            }
        )


def flat_tree(
    tree: Tree, columns: NDArray[np.intp], grid: Grid
) -> tuple[NDArray[np.void], list[Leaf]]:
    """Lay out the nodes of a tree breadth first; return its leaves in that order."""
    waiting: list[Tree] = [tree]
    nodes: list[tuple[float, int, int]] = []
    leaves: list[Leaf] = []
    for node in waiting:  # grows as it goes
        # Nothing ever goes to the right of "do not split".
        while isinstance(node, Split) and node.feature == len(columns):
            node = node.left
        if isinstance(node, Leaf):
            nodes.append((0.0, 0, -1 - len(leaves)))
            leaves.append(node)
            continue
        feature = int(columns[node.feature])
        nodes.append((*question(grid, feature, node.code), len(waiting)))
        waiting += [node.left, node.right]
    return np.array(nodes, dtype=_core.NODE_DTYPE), leaves


def question(grid: Grid, feature: int, code: int) -> tuple[float, int]:
    """Return threshold and flagged feature of a candidate, as rows are sent by it."""
    if not grid.is_categorical[feature]:
        threshold = float(grid.cuts[grid.cuts_start[feature] + code])
        return threshold, feature | int(MISSING_LEFT)
    if code == grid.n_codes[feature] - 1:
        # "Other" is NaN, and no category is -1.
        return -1.0, feature | int(EQUALITY | MISSING_LEFT)
    return float(code), feature | int(EQUALITY)
