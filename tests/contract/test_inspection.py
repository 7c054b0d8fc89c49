# SPDX-License-Identifier: BSD-3-Clause
"""Looking inside a forest: trees, paths, samples, importances, and what it keeps."""

import contextlib
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.forests import every as forests
from tests.forests.every import (
    ALL_ROWS,
    COMPARING,
    HONEST,
    PLAIN,
    every,
    every_classifier,
    every_cutting,
    every_honest,
    having,
    target_of,
    told,
)
from tests.forests.points import filling_rows
from tests.leaves import leaf_options
from tests.naive.comparison import is_nearer_to_first


def table(seed: int, n_rows: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers, gaps and categories."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], n_rows)
    X = pd.DataFrame({"a": rng.normal(size=n_rows), "b": rng.integers(0, 5, n_rows)})
    y = np.where(X["a"] > 0, "yes", np.where(town == "Ulm", "maybe", "no"))
    X["a"] = X["a"].mask(rng.random(n_rows) < 0.1)
    X["town"] = pd.Categorical(town)
    return X, y


def numbers_of(X: pd.DataFrame) -> np.ndarray:
    """Return the table with the index of each town in the alphabet."""
    return X.assign(town=X["town"].cat.codes).to_numpy(dtype=float)


def table_of(
    name: str, seed: int, n_rows: int = 200
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the table, with numbers for a forest that tells numbers."""
    X, labels = table(seed, n_rows)
    return X, target_of(name, labels)


def forest_of(name: str = "multinomial", **params):
    return forests.forest_of(
        name, **{"n_estimators": 8, "min_samples_split": 3, **params}
    )


def goes_left(tree, node: int, x: np.ndarray) -> bool:
    """Tell the side of a row by the tree's public arrays."""
    if hasattr(tree, "pivots"):
        return is_nearer_to_first(x, *tree.pivots[node], [False, False, True])
    value = x[tree.feature[node]]
    if np.isnan(value):
        return tree.missing_left[node]
    if tree.is_equality[node]:
        return value == tree.threshold[node]
    return value <= tree.threshold[node]


def walk(tree, x: np.ndarray) -> list[int]:
    """Return the nodes that a row passes."""
    path = [0]
    children = tree.children_left, tree.children_right
    while children[0][path[-1]] >= 0:
        side = 0 if goes_left(tree, path[-1], x) else 1
        path.append(int(children[side][path[-1]]))
    return path


# ---- trees --------------------------------------------------------------------------


@every
def test_paths_by_hand(name):
    X, y = table_of(name, 1)
    forest = forest_of(name, n_estimators=4).fit(X, y)
    trees = forest.estimators_
    assert name in COMPARING or any(tree.is_equality.any() for tree in trees)
    X = X[:60]
    leaves = forest.apply(X)
    assert leaves.shape == (60, 4)
    indicator, start = forest.decision_path(X)
    assert indicator.shape == (60, start[-1])
    assert_array_equal(np.diff(start), [len(tree.children_left) for tree in trees])
    for row, x in enumerate(numbers_of(X)):
        paths = [walk(tree, x) for tree in trees]
        assert_array_equal(leaves[row], [path[-1] for path in paths])
        columns = np.concatenate([s + p for s, p in zip(start, paths, strict=False)])
        assert_array_equal(np.sort(indicator[[row]].indices), np.sort(columns))
    assert set(indicator.data) == {1}


@every
def test_shape_of_trees(name):
    forest = forest_of(name).fit(*table_of(name, 2))
    for number, tree in enumerate(forest.estimators_):
        inner = tree.children_left >= 0
        assert_array_equal(tree.children_right[inner], tree.children_left[inner] + 1)
        assert (tree.children_right[~inner] == -1).all()
        # Breadth first: children are numbered in the order of their parents.
        assert_array_equal(tree.children_left[inner], 1 + 2 * np.arange(inner.sum()))
        assert tree.get_n_leaves() == (~inner).sum() == forest.n_leaves_[number]
        depth = np.zeros(len(inner), dtype=int)
        for node in np.flatnonzero(inner):
            depth[tree.children_left[node] : tree.children_right[node] + 1] = (
                depth[node] + 1
            )
        assert tree.get_depth() == depth.max() == forest.depths_[number]
        if name in COMPARING:
            assert np.isnan(tree.pivots[~inner]).all()
            assert tree.pivots.shape == (len(inner), 2, 3)
            continue
        assert (tree.feature[~inner] == -1).all()
        assert ((tree.feature[inner] >= 0) & (tree.feature[inner] < 3)).all()
        assert np.isnan(tree.threshold[~inner]).all()
        assert not np.isnan(tree.threshold[inner]).any()
        if name in PLAIN:  # others ask for equality with whole numbers, too
            assert_array_equal(tree.is_equality[inner], is_town_cut(tree)[inner])


def is_town_cut(tree) -> np.ndarray:
    """Equality with a town; "missing or not" of a town is a threshold of inf."""
    return (tree.feature == 2) & (tree.threshold < np.inf)


@every
def test_trees_predict_by_themselves(name):
    X, y = table_of(name, 3)
    forest = forest_of(name).fit(X, y)
    for voting in ("hard", "soft") if hasattr(forest, "voting") else (None,):
        if voting is not None:
            forest.set_params(voting=voting)
        trees, leaves = forest.estimators_, forest.apply(X)
        for tree, of_tree in zip(trees, leaves.T, strict=True):
            assert_array_equal(tree.apply(X), of_tree)
        mean = np.mean([told(tree, X) for tree in trees], axis=0)
        assert_allclose(told(forest, X), mean, rtol=1e-12)


@pytest.mark.parametrize("name", having("voting"))
def test_classes_of_trees(name):
    X, y = table(3)
    for tree in forest_of(name, voting="hard").fit(X, y).estimators_:
        assert_array_equal(tree.classes_, ["maybe", "no", "yes"])
        assert set(tree.predict_proba(X).ravel()) <= {0.0, 1.0}
        winner = tree.predict_proba(X).argmax(axis=1)
        assert_array_equal(tree.predict(X), tree.classes_[winner])


@every_classifier
def test_leaves_are_filled_by_the_rows_that_fill(name):
    """Shares follow from estimation points, the bag or all rows, and nothing else."""
    X, y = table(4)
    forest = forest_of(name, voting="soft").fit(X, y)
    for number, tree in enumerate(forest.estimators_):
        rows = filling_rows(forest, number)
        leaves, shares = tree.apply(X), tree.predict_proba(X)
        for leaf in np.unique(leaves[rows]):
            labels = y[rows[leaves[rows] == leaf]]
            counts = np.array([(labels == c).sum() for c in forest.classes_])
            expected = np.tile(counts / counts.sum(), ((leaves == leaf).sum(), 1))
            assert_allclose(shares[leaves == leaf], expected, rtol=1e-12)


# ---- samples ------------------------------------------------------------------------


@every_honest
@pytest.mark.parametrize(
    ("fraction", "n_structure"), [(0.5, 100), (0.8, 40), (0.25, 150)]
)
def test_samples(name, fraction, n_structure):
    forest = forest_of(name, honest_fraction=fraction).fit(*table_of(name, 5))
    seen = set()
    for tree in range(8):
        structure = forest.structure_samples(tree)
        estimation = forest.estimation_samples(tree)
        assert len(structure) == n_structure
        both = np.concatenate([structure, estimation])
        assert_array_equal(np.sort(both), np.arange(200))
        assert_array_equal(structure, np.sort(structure))
        assert_array_equal(estimation, np.sort(estimation))
        seen.add(structure.tobytes())
    assert len(seen) == 8


@pytest.mark.parametrize("name", ALL_ROWS)
@pytest.mark.parametrize("weighted", [False, True])
def test_samples_of_trees_that_all_rows_shape_and_fill(name, weighted):
    X, y = table_of(name, 5)
    weight = np.arange(200) % 3 if weighted else np.ones(200, dtype=int)
    forest = forest_of(name).fit(X, y, sample_weight=weight)
    expected = np.repeat(np.arange(200), weight)
    for tree in (0, 7):
        assert_array_equal(forest.structure_samples(tree), expected)
        estimation = forest.estimation_samples(tree)
        assert estimation.shape == expected.shape
        assert_array_equal(estimation, expected)


def test_only_honest_forests_name_samples():
    for name in forests.NAMES:
        named = hasattr(forest_of(name), "structure_samples")
        assert named == (name in HONEST + ALL_ROWS)


def test_every_row_is_as_likely_to_shape_as_to_fill():
    """Over 1,000 trees each row shapes about half: within five sigma."""
    forest = forest_of(n_estimators=1000, max_depth=1).fit(*table(0, n_rows=40))
    times = np.zeros(40)
    for tree in range(1000):
        times[forest.structure_samples(tree)] += 1
    assert times.sum() == 1000 * 20
    assert abs(times - 500).max() < 5 * np.sqrt(1000 / 4)


@every_honest
def test_samples_of_a_fitted_forest_do_not_change(name):
    """They are those the trees were grown from, whatever is set afterwards."""
    X, y = table_of(name, 0)
    forest = forest_of(name, warm_start=True).fit(X, y)
    before = forest.structure_samples(0)
    forest.set_params(honest_fraction=0.25)
    assert_array_equal(forest.structure_samples(0), before)
    forest.set_params(honest_fraction=0.5, random_state=9)
    assert_array_equal(forest.structure_samples(0), before)


@every_honest
def test_samples_after_a_warm_start_with_other_rows(name):
    """Old trees name rows of the table they were grown from, or it is refused."""
    X, y = table_of(name, 0)
    forest = forest_of(name, warm_start=True).fit(X, y)
    before = forest.structure_samples(0)
    with contextlib.suppress(ValueError):
        forest.set_params(n_estimators=15).fit(X[:120], y[:120])
    assert_array_equal(forest.structure_samples(0), before)


# ---- importances --------------------------------------------------------------------


@every_cutting
def test_importances_add_up_to_1(name):
    forest = forest_of(name).fit(*table_of(name, 6))
    assert forest.structure_importances_.sum() == pytest.approx(1)
    assert (forest.structure_importances_ >= 0).all()
    assert np.abs(forest.feature_importances_).sum() == pytest.approx(1)
    assert forest.feature_importances_.shape == (3,)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
def test_features_of_noise_have_no_importance(criterion, leaf_rule):
    """0 on average over tables, while that on structure points is always above."""
    honest, biased = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        signal = rng.integers(0, 2, 150)
        many_values, few_values = rng.random(150), rng.integers(0, 2, 150)
        y = np.where(rng.random(150) < 0.2, 1 - signal, signal)
        forest = forest_of(
            criterion=criterion,
            **leaf_options(leaf_rule, 5),
            n_estimators=10,
            random_state=seed,
        ).fit(np.stack([signal, many_values, few_values], axis=1), y)
        honest.append(forest.feature_importances_)
        biased.append(forest.structure_importances_)
    honest, biased = np.array(honest), np.array(biased)
    error = honest.std(axis=0, ddof=1) / np.sqrt(len(honest))
    assert (abs(honest.mean(axis=0)[1:]) < 4 * error[1:]).all()
    assert honest[:, 0].min() > 0.7
    assert biased[:, 1].min() > 0.05
    # The more values, the stronger the bias.
    assert biased[:, 1].mean() > 2 * biased[:, 2].mean()
    assert biased[:, 1].mean() > honest[:, 1].mean() + 10 * error[1]


# ---- what is kept -------------------------------------------------------------------


@every_cutting
def test_no_training_row_is_kept(name):
    """Neither a number of the table that is not a cut nor the table as a whole."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 4))
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    forest = forest_of(name, n_estimators=4, min_samples_split=2).fit(X, y)
    kept = pickle.dumps(forest)
    cuts = np.concatenate([tree.threshold for tree in forest.estimators_])
    assert not np.isin(X, cuts).any()
    assert not any(value.tobytes() in kept for value in X.ravel())
    assert not any(value.tobytes() in kept for value in X.ravel().astype(np.float32))
    # What is searched for would be found.
    assert all(cut.tobytes() in kept for cut in cuts[~np.isnan(cuts)])


@every_cutting
def test_size_does_not_grow_with_the_table(name):
    """Stumps are nearly equally large; a column adds a few bytes, no rows."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 60))
    y = np.arange(400) % 2
    forest = forest_of(name, max_depth=1, max_leaf_nodes=2)
    sizes = [
        len(pickle.dumps(forest.fit(X[:, :n_features], y))) for n_features in (10, 60)
    ]
    assert sizes[1] - sizes[0] < 50 * 32
    # A row adds the number that `structure_samples` gives, and its out-of-bag estimate
    # where there is one, no more.
    of_row = 5 if name in PLAIN else 5 + 2 * 8
    more = np.tile(X[:, :10], (3, 1)) + np.repeat(np.arange(3), 400)[:, None] / 4
    size = len(pickle.dumps(forest.fit(more, np.tile(y, 3))))
    assert size - sizes[0] < 800 * of_row
