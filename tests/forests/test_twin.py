# SPDX-License-Identifier: BSD-3-Clause
"""Every forest is that of the twin, node for node, and tells what the twin tells."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.forests.every import (
    CLASSIFIERS,
    LEAFY,
    PLAIN,
    every_plain,
    forest_of,
    having,
    target_of,
)
from tests.forests.frames import mixed_frame, queries
from tests.forests.twin import assert_same_predictions, assert_same_trees, twin_of
from tests.leaves import leaf_options

LEAVES = ["stop", "floor"]
BINNING = set(having("max_bins")) - {"range", "range-honest"}
# Every forest of twin.py, with both leaf rules if it has them
WAYS = [
    (name, rule) for name in PLAIN for rule in (LEAVES if name in LEAFY else [None])
]
ways = pytest.mark.parametrize(("name", "leaf_rule"), WAYS)


def plain(names: list[str]) -> list[str]:
    return [name for name in names if name in PLAIN]


def check(forest, X, y, asked, sample_weight=None, class_weight=None) -> None:
    forest.fit(X, y, sample_weight=sample_weight)
    twin = twin_of(forest, X, y, sample_weight, class_weight)
    assert max(len(tree.nodes) for tree in twin.trees) > 3
    assert_same_trees(forest, twin)
    assert_same_predictions(forest, twin, asked)


@ways
def test_forest_of_the_twin(name, leaf_rule, seed):
    X, labels = mixed_frame(seed, n_rows=60)
    forest = forest_of(
        name,
        n_estimators=2,
        **leaf_options(leaf_rule, 3),
        random_state=seed,
    )
    check(forest, X, target_of(name, labels), queries(seed, 40))


@ways
@pytest.mark.parametrize("weights", ["whole", "real"])
def test_weighted_forest_of_the_twin(name, leaf_rule, weights):
    """Some rows have weight 0 both times."""
    X, labels = mixed_frame(23, n_rows=60)
    rng = np.random.default_rng(23)
    sample_weight = rng.integers(0, 4, len(X)).astype(float)
    if weights == "real":
        sample_weight = sample_weight * rng.random(len(X))
    forest = forest_of(
        name, n_estimators=2, **leaf_options(leaf_rule, 3), random_state=1
    )
    check(forest, X, target_of(name, labels), queries(23, 20), sample_weight)


BY_CLASS = {"none": 0.3, "some": 1.0, "many": 5.0, "most": 0.0}


def weights_of_classes(class_weight, y, sample_weight) -> np.ndarray | None:
    """Return the weight of each class, by the definition of "balanced" if asked."""
    if class_weight == "balanced":
        mass = np.array([sample_weight[y == label].sum() for label in np.unique(y)])
        return mass.sum() / (len(mass) * mass)
    return np.array([class_weight[label] for label in np.unique(y)])


@pytest.mark.parametrize("name", plain(CLASSIFIERS))
@pytest.mark.parametrize(
    ("weights", "class_weight"),
    [(None, BY_CLASS), ("whole", BY_CLASS), ("real", "balanced")],
)
def test_class_weights_of_the_twin(name, weights, class_weight):
    X, y = mixed_frame(29, n_rows=50)
    rng = np.random.default_rng(29)
    sample_weight = {
        None: None,
        "whole": rng.integers(0, 4, len(X)).astype(float),
        "real": rng.random(len(X)) + 0.01,
    }[weights]
    of_row = np.ones(len(X)) if weights is None else sample_weight
    forest = forest_of(
        name, n_estimators=2, class_weight=class_weight, min_samples_split=3
    )
    of_class = weights_of_classes(class_weight, y, of_row)
    check(forest, X, y, queries(29, 20), sample_weight, of_class)


@pytest.mark.parametrize("name", plain(having("criterion")))
@pytest.mark.parametrize("weighted", [False, True])
def test_entropy_of_the_twin(name, weighted):
    X, y = mixed_frame(31, n_rows=60)
    weight = np.random.default_rng(31).random(len(X)) if weighted else None
    forest = forest_of(name, n_estimators=2, criterion="entropy", min_samples_split=3)
    check(forest, X, y, queries(31, 20), weight)


@pytest.mark.parametrize("name", [name for name in LEAFY if name in BINNING])
@pytest.mark.parametrize("max_bins", [7, "exact"])
def test_bins_of_the_twin(name, max_bins):
    X, labels = mixed_frame(37, n_rows=60)
    forest = forest_of(name, n_estimators=2, max_bins=max_bins, min_samples_split=3)
    check(forest, X, target_of(name, labels), queries(37, 20))


@pytest.mark.parametrize("name", plain(having("max_depth")))
@pytest.mark.parametrize("max_depth", [1, 3])
def test_depth_of_the_twin(name, max_depth):
    X, labels = mixed_frame(41, n_rows=70)
    y = target_of(name, labels)
    forest = forest_of(name, max_depth=max_depth, min_samples_split=2).fit(X, y)
    twin = twin_of(forest, X, y)
    assert max(node.depth for tree in twin.trees for node in tree.nodes) == max_depth
    assert_same_trees(forest, twin)


@pytest.mark.parametrize("name", plain(having("min_weight_fraction_leaf")))
@pytest.mark.parametrize("weighted", [False, True])
def test_least_weight_of_the_twin(name, weighted):
    X, labels = mixed_frame(43, n_rows=60)
    y = target_of(name, labels)
    weight = np.random.default_rng(43).random(len(X)) if weighted else None
    params = {"n_estimators": 2, "min_samples_split": 2}
    forest = forest_of(name, min_weight_fraction_leaf=0.1, **params)
    forest.fit(X, y, sample_weight=weight)
    assert_same_trees(forest, twin_of(forest, X, y, weight))
    free = forest_of(name, **params).fit(X, y, sample_weight=weight)
    assert forest.n_leaves_.sum() < free.n_leaves_.sum()


# ---- parameters of single forests ---------------------------------------------------

OTHERS = [
    *[
        ("multinomial", {"feature_budget": b, "split_budget": c, "label_budget": b})
        for b, c in [(0.0, 10.0), (0.5, 9.5), (1e6, 1e6), (math.inf, math.inf)]
    ],
    *[("multinomial", {"honest_fraction": f}) for f in (0.8, 0.25)],
    ("multinomial-r", {"feature_budget": 0.5, "split_budget": math.inf}),
    *[
        (name, {"max_features": some})
        for name in ("breiman", "breiman-r", "centered")
        for some in ("sqrt", "log2", 1, 3, 100, 0.5, 1.0, 0.01, None)
    ],
    *[
        (name, {"mean_features": mean, "n_range_samples": points})
        for name in ("denil", "denil-r")
        for mean, points in [(0.0, 1), (0, 1000), (1.5, 2), (500, 20), ("sqrt", 3)]
    ],
    *[
        (name, {"random_feature_probability": p, "random_cut_probability": q})
        for name in ("bernoulli", "bernoulli-r")
        for p, q in [(0, 0), (0, 1), (1, 0), (1.0, 1.0)]
    ],
    ("bernoulli", {"max_features": 0.4}),
    ("data-driven", {"max_features": 3}),
    *[("data-driven", {"multinomial_probability": p}) for p in (0, 1)],
    ("data-driven", {"multinomial_probability": 1.0, "split_budget": 0.0}),
    ("random", {"honest_fraction": 0.7}),
    ("range", {"honest": True, "honest_fraction": 0.2}),
    *[("purely-random", {"max_leaf_nodes": n}) for n in (2, 50)],
    *[("centered", {"max_leaf_nodes": n, "honest_fraction": 0.7}) for n in (2, 9, 200)],
    ("comparison", {"honest_fraction": 0.25}),
]


@pytest.mark.parametrize(("name", "params"), OTHERS, ids=str)
def test_other_parameters_of_the_twin(name, params):
    X, labels = mixed_frame(11, n_rows=50)
    y = target_of(name, labels)
    forest = forest_of(
        name, n_estimators=3, min_samples_split=2, max_depth=5, **params
    ).fit(X, y)
    twin = twin_of(forest, X, y)
    assert_same_trees(forest, twin)
    assert_same_predictions(forest, twin, queries(11, 20))


@pytest.mark.parametrize("name", ["multinomial", "breiman-r", "random"])
@pytest.mark.parametrize("max_bins", [255, "exact"])
def test_more_values_than_bins(name, max_bins):
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(270, 2)), columns=["a", "b"])
    y = target_of(name, (X["a"] * X["b"] > 0).to_numpy())
    forest = forest_of(name, n_estimators=1, max_bins=max_bins, min_samples_split=16)
    check(forest, X, y, X)


@every_plain
@pytest.mark.parametrize("weighted", [False, True])
def test_origin_names_every_row_as_often_as_its_weight_says(name, weighted):
    X, labels = mixed_frame(2, n_rows=50)
    weight = np.random.default_rng(2).integers(0, 4, 50) if weighted else np.ones(50)
    forest = forest_of(name, n_estimators=1)
    y = target_of(name, labels)
    forest.fit(X, y, sample_weight=weight if weighted else None)
    assert_array_equal(np.bincount(forest._batches[0].origin, minlength=50), weight)
