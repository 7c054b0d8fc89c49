# SPDX-License-Identifier: BSD-3-Clause
"""Importances of features: those of the twin, by hand, and of noise."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.forests.every import (
    COMPARING,
    CUTTING,
    HONEST,
    PLAIN,
    REGRESSORS,
    forest_of,
    having,
    target_of,
)
from tests.forests.frames import mixed_frame
from tests.forests.twin import TwinForest, twin_of
from tests.naive.importance import estimation_importance, variance_importance
from tests.naive.model import Tree
from tests.naive.raw import goes_left


def without_borrowed_masses(tree: Tree) -> Tree:
    """Take the masses off leaves without points: they are those of a node above."""
    nodes = []
    for node in tree.nodes:
        is_empty = node.masses is not None and node.n_estimation == 0
        masses = np.zeros_like(node.masses) if is_empty else node.masses
        nodes.append(dataclasses.replace(node, masses=masses))
    return Tree(nodes)


def decreases_of(twin: TwinForest) -> np.ndarray:
    """Return the mean over the trees of what the features take off the impurity."""
    n_features = twin.numbers.shape[1]
    decreases = []
    for tree, (structure, estimation) in zip(twin.trees, twin.sides, strict=True):
        if twin.trees[0].nodes[-1].masses is None:
            points = structure if estimation is None else estimation
            decreases.append(
                variance_importance(tree, twin.numbers, points, twin.table, twin.unit)
            )
        else:
            tree = without_borrowed_masses(tree)
            decreases.append(estimation_importance(tree, n_features, twin.n_classes))
    return np.mean(decreases, axis=0)


@pytest.mark.parametrize("name", [name for name in CUTTING if name in PLAIN])
@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_feature_importances_of_the_twin(name, weights):
    X, labels = mixed_frame(3, n_rows=70)
    y = target_of(name, labels)
    rng = np.random.default_rng(3)
    weight = {
        None: None,
        "whole": rng.integers(0, 4, 70).astype(float),
        "real": rng.random(70),
    }[weights]
    forest = forest_of(name, n_estimators=3, min_samples_split=2)
    forest.fit(X, y, sample_weight=weight)
    decrease = decreases_of(twin_of(forest, X, y, weight))
    expected = decrease / np.abs(decrease).sum()
    assert_allclose(forest.feature_importances_, expected, rtol=1e-7, atol=1e-10)
    assert np.abs(forest.feature_importances_).sum() == pytest.approx(1)


def test_leaves_without_points_are_there():
    """The test above is about them, too."""
    X, y = mixed_frame(3, n_rows=70)
    for name in ("purely-random", "centered"):
        forest = forest_of(name, n_estimators=3).fit(X, y)
        assert (forest._forest.leaf_points == 0).any()


def structure_decreases(twin: TwinForest, y: np.ndarray, criterion: str) -> np.ndarray:
    """Sum over trees and splits: n times impurity less that of both children.

    Walks the structure points down the trees; for unweighted rows.
    """

    def impurity(targets: np.ndarray) -> float:
        if len(targets) == 0:
            return 0.0
        if criterion == "variance":
            return len(targets) * np.var(targets)
        shares = np.unique(targets, return_counts=True)[1] / len(targets)
        if criterion == "gini":
            return len(targets) * (1 - (shares**2).sum())
        return -len(targets) * sum(share * math.log(share) for share in shares)

    out = np.zeros(twin.numbers.shape[1])
    for tree, (structure, _) in zip(twin.trees, twin.sides, strict=True):
        points_of = {0: np.asarray(structure)}
        for number, node in enumerate(tree.nodes):
            if node.feature is None:
                continue
            points = points_of[number]
            left = np.array([goes_left(node, twin.numbers[p]) for p in points], bool)
            sides = points[left], points[~left]
            points_of[node.left], points_of[node.left + 1] = sides
            after = sum(impurity(y[side]) for side in sides)
            out[node.feature] += impurity(y[points]) - after
    return out


@pytest.mark.parametrize(
    ("name", "criterion"),
    [
        (name, criterion)
        for name in CUTTING
        for criterion in (["variance"] if name in REGRESSORS else ["gini", "entropy"])
        if name in PLAIN and (criterion != "entropy" or name in having("criterion"))
    ],
)
def test_structure_importances_by_hand(name, criterion):
    X, labels = mixed_frame(4, n_rows=70)
    y = target_of(name, labels)
    forest = forest_of(
        name, n_estimators=3, criterion=criterion, min_samples_split=3
    ).fit(X, y)
    twin = twin_of(forest, X, y)
    origin = forest._batches[0].origin
    expected = structure_decreases(twin, y[origin], criterion)
    expected /= expected.sum()
    assert forest.structure_importances_ == pytest.approx(expected, rel=1e-5, abs=1e-9)
    assert forest.structure_importances_.sum() == pytest.approx(1)
    assert (forest.structure_importances_ >= 0).all()


@pytest.mark.parametrize("name", COMPARING)
def test_comparisons_have_no_features(name):
    X, y = mixed_frame(4, n_rows=50)
    forest = forest_of(name).fit(X, y)
    for importances in ("feature_importances_", "structure_importances_"):
        with pytest.raises(AttributeError, match="permutation_importance"):
            getattr(forest, importances)


# ---- noise --------------------------------------------------------------------------


def test_importances_of_labels_that_change_with_every_row():
    """No split helps those it was not made for.

    A decrease of 0 must not pass for another number by a rounding error, which would
    become an importance of 1.
    """
    rng = np.random.default_rng(0)
    n_nothing = 0
    for seed in range(12):
        X = pd.DataFrame(rng.random((30, 2)), columns=["a", "b"])
        y = rng.permutation(np.arange(30) % 2)
        forest = forest_of(
            "multinomial", n_estimators=1, min_samples_split=2, random_state=seed
        ).fit(X, y)
        decrease = decreases_of(twin_of(forest, X, y))
        if np.abs(decrease).max() > 1e-12:
            expected = decrease / np.abs(decrease).sum()
            found = forest.feature_importances_
            assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        else:
            n_nothing += 1
            assert_array_equal(forest.feature_importances_, [0.0, 0.0])
    assert n_nothing > 0


@pytest.mark.parametrize("name", [name for name in HONEST if name in CUTTING])
def test_noise_has_no_importance_in_an_honest_forest(name):
    """0 on average over tables, while that on structure points is above."""
    honest, biased = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        signal = rng.integers(0, 2, 150)
        labels = np.where(rng.random(150) < 0.2, 1 - signal, signal)
        y = labels if name not in REGRESSORS else labels + rng.normal(size=150) / 2
        X = np.stack([signal, rng.random(150), rng.integers(0, 2, 150)], axis=1)
        forest = forest_of(
            name, n_estimators=10, min_samples_split=3, random_state=seed
        ).fit(X, y)
        honest.append(forest.feature_importances_)
        biased.append(forest.structure_importances_)
    honest, biased = np.array(honest), np.array(biased)
    error = honest.std(axis=0, ddof=1) / np.sqrt(len(honest))
    assert (abs(honest.mean(axis=0)[1:]) < 4 * error[1:]).all()
    assert honest[:, 0].mean() > 0.5
    # Measured where the cuts were chosen, noise of many values seems to matter.
    assert biased[:, 1].mean() > honest[:, 1].mean() + 5 * error[1]
