# SPDX-License-Identifier: BSD-3-Clause
"""The whole forest is that of the twin: trees, predictions, importances."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mrforest import MultinomialForestClassifier
from tests.forests.twin import (
    assert_same_trees,
    mixed_frame,
    structure_decreases,
    twin_of,
)
from tests.naive import predict as naive
from tests.naive.importance import estimation_importance


def queries(seed: int) -> pd.DataFrame:
    """Return rows with more gaps than the training rows, and a town nobody saw."""
    rng = np.random.default_rng([seed, 1])
    X, _ = mixed_frame(seed + 1000, 60)
    X["town"] = X["town"].cat.add_categories("Passau")
    X.loc[rng.random(60) < 0.3, "town"] = "Passau"
    X.loc[rng.random(60) < 0.3, "noise"] = np.nan
    X.loc[rng.random(60) < 0.3, "constant"] = np.nan
    X.loc[rng.random(60) < 0.3, "size"] = None
    return X


def assert_same_predictions(forest, twin, X: pd.DataFrame) -> None:
    """Compare apply, votes and shares, to the bit."""
    numbers = twin.columns.numbers(X)
    leaves = [naive.apply(tree, numbers) for tree in twin.trees]
    assert_array_equal(forest.apply(X), np.stack(leaves, axis=1))
    n_trees = len(twin.trees)
    votes = naive.votes(twin.trees, numbers, twin.n_classes)
    forest.set_params(voting="hard")
    assert_array_equal(forest.predict_proba(X), votes / n_trees)
    assert_array_equal(forest.predict(X), forest.classes_[votes.argmax(axis=1)])
    shares = naive.soft_probabilities(twin.trees, numbers, twin.n_classes)
    forest.set_params(voting="soft")
    assert_array_equal(forest.predict_proba(X), shares)
    assert_array_equal(forest.predict(X), forest.classes_[shares.argmax(axis=1)])


@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("max_bins", [255, 7, "exact"])
def test_forest_of_the_twin(leaf_rule, criterion, max_bins, seed):
    X, y = mixed_frame(seed, n_rows=80)
    forest = MultinomialForestClassifier(
        n_estimators=2,
        leaf_rule=leaf_rule,
        criterion=criterion,
        max_bins=max_bins,
        min_samples_leaf=3,
        random_state=seed,
    ).fit(X, y)
    twin = twin_of(forest, X, y)
    assert max(len(tree.nodes) for tree in twin.trees) > 5
    assert_same_trees(forest, twin)
    assert_same_predictions(forest, twin, queries(seed))


@pytest.mark.parametrize("max_bins", [255, "exact"])
def test_forest_of_the_twin_with_more_values_than_bins(max_bins):
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    y = (X["a"] * X["b"] > 0).to_numpy().astype(int)
    forest = MultinomialForestClassifier(2, max_bins=max_bins, random_state=5).fit(X, y)
    twin = twin_of(forest, X, y)
    assert_same_trees(forest, twin)
    assert_same_predictions(forest, twin, X)


@pytest.mark.parametrize("budget", [0.0, 0.5, 1e6, math.inf])
@pytest.mark.parametrize("rate", [0.25, 3.0])
def test_forest_of_the_twin_for_other_parameters(budget, rate):
    X, y = mixed_frame(11, n_rows=70)
    forest = MultinomialForestClassifier(
        n_estimators=2,
        feature_budget=budget,
        split_budget=10 - budget if budget < 10 else budget,
        label_budget=budget,
        partition_rate=rate,
        min_samples_leaf=1,
        max_depth=4,
        random_state=3,
    ).fit(X, y)
    twin = twin_of(forest, X, y)
    assert_same_trees(forest, twin)
    assert_same_predictions(forest, twin, queries(11))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
@pytest.mark.parametrize("weights", ["whole", "real"])
@pytest.mark.parametrize("class_weight", [None, "balanced", "dict"])
def test_weighted_forest_of_the_twin(criterion, leaf_rule, weights, class_weight):
    X, y = mixed_frame(23, n_rows=70)
    rng = np.random.default_rng(23)
    whole = rng.integers(0, 4, len(X)).astype(float)
    sample_weight = whole if weights == "whole" else rng.random(len(X)) + 0.01
    of_class = None
    if class_weight == "dict":
        class_weight = {"none": 0.3, "some": 1.0, "many": 5.0, "most": 0.0}
        of_class = np.array([class_weight[label] for label in np.unique(y)])
    elif class_weight == "balanced":
        mass = np.array([sample_weight[y == label].sum() for label in np.unique(y)])
        of_class = mass.sum() / (len(mass) * mass)
    forest = MultinomialForestClassifier(
        n_estimators=2,
        leaf_rule=leaf_rule,
        criterion=criterion,
        class_weight=class_weight,
        min_samples_leaf=3,
        random_state=1,
    ).fit(X, y, sample_weight=sample_weight)
    twin = twin_of(forest, X, y, sample_weight, of_class)
    assert max(len(tree.nodes) for tree in twin.trees) > 3
    assert_same_trees(forest, twin)
    assert_same_predictions(forest, twin, queries(23))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", [None, {"none": 0.5}])
def test_origin_names_every_row_as_often_as_its_weight_says(weighted, class_weight):
    X, y = mixed_frame(2, n_rows=50)
    weight = np.random.default_rng(2).integers(0, 4, 50) if weighted else np.ones(50)
    forest = MultinomialForestClassifier(1, class_weight=class_weight, random_state=0)
    forest.fit(X, y, sample_weight=weight if weighted else None)
    assert_array_equal(np.bincount(forest._batches[0].origin, minlength=50), weight)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_feature_importances_of_the_twin(criterion, seed):
    X, y = mixed_frame(seed, n_rows=70)
    forest = MultinomialForestClassifier(
        3, criterion=criterion, min_samples_leaf=1, random_state=seed
    ).fit(X, y)
    twin = twin_of(forest, X, y)
    decreases = [
        estimation_importance(tree, X.shape[1], twin.n_classes) for tree in twin.trees
    ]
    decrease = np.mean(decreases, axis=0)
    expected = decrease / np.abs(decrease).sum()
    assert_allclose(forest.feature_importances_, expected, rtol=1e-9, atol=1e-12)


def test_feature_importances_of_noise():
    """Labels that change with every row: no split helps those it was not made for.

    A decrease of 0 must not pass for another number by a rounding error, which would
    become an importance of 1.
    """
    rng = np.random.default_rng(0)
    n_nothing = 0
    for seed in range(12):
        X = pd.DataFrame(rng.random((30, 2)), columns=["a", "b"])
        y = rng.permutation(np.arange(30) % 2)
        forest = MultinomialForestClassifier(
            1, min_samples_leaf=1, random_state=seed
        ).fit(X, y)
        (tree,) = twin_of(forest, X, y).trees
        decrease = estimation_importance(tree, 2, 2)
        if np.abs(decrease).max() > 1e-12:
            expected = decrease / np.abs(decrease).sum()
            found = forest.feature_importances_
            assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        else:
            n_nothing += 1
            assert_array_equal(forest.feature_importances_, [0.0, 0.0])
    assert n_nothing > 0


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_structure_importances_by_hand(criterion, seed):
    X, y = mixed_frame(seed, n_rows=70)
    forest = MultinomialForestClassifier(
        3, criterion=criterion, min_samples_leaf=2, random_state=seed
    ).fit(X, y)
    expected = structure_decreases(twin_of(forest, X, y), forest, X, y)
    expected /= expected.sum()
    assert forest.structure_importances_ == pytest.approx(expected, rel=1e-5)
