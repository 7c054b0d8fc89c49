# SPDX-License-Identifier: BSD-3-Clause
"""Looking inside a forest: trees, paths, samples, importances, and what it keeps."""

import contextlib
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mrforest import MultinomialForestClassifier


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


def forest_of(**params) -> MultinomialForestClassifier:
    return MultinomialForestClassifier(
        **{"n_estimators": 12, "random_state": 0, "min_samples_leaf": 2, **params}
    )


def walk(tree, x: np.ndarray) -> list[int]:
    """Return the nodes that a row passes, by the tree's public arrays."""
    path = [0]
    while tree.children_left[path[-1]] >= 0:
        node = path[-1]
        value = x[tree.feature[node]]
        if np.isnan(value):
            left = tree.missing_left[node]
        elif tree.is_equality[node]:
            left = value == tree.threshold[node]
        else:
            left = value <= tree.threshold[node]
        children = tree.children_left if left else tree.children_right
        path.append(int(children[node]))
    return path


# ---- trees --------------------------------------------------------------------------


def test_paths_by_hand(seed):
    X, y = table(seed)
    forest = forest_of().fit(X, y)
    trees = forest.estimators_
    assert any(tree.is_equality.any() for tree in trees)
    leaves = forest.apply(X)
    assert leaves.shape == (200, 12)
    indicator, start = forest.decision_path(X)
    assert indicator.shape == (200, start[-1])
    assert_array_equal(np.diff(start), [len(tree.feature) for tree in trees])
    for row, x in enumerate(numbers_of(X)):
        paths = [walk(tree, x) for tree in trees]
        assert_array_equal(leaves[row], [path[-1] for path in paths])
        columns = np.concatenate([s + p for s, p in zip(start, paths, strict=False)])
        assert_array_equal(np.sort(indicator[[row]].indices), np.sort(columns))
    assert set(indicator.data) == {1}


def test_shape_of_trees(seed):
    forest = forest_of().fit(*table(seed))
    for number, tree in enumerate(forest.estimators_):
        inner = tree.children_left >= 0
        assert_array_equal(tree.children_right[inner], tree.children_left[inner] + 1)
        assert (tree.children_right[~inner] == -1).all()
        # Breadth first: children are numbered in the order of their parents.
        assert_array_equal(tree.children_left[inner], 1 + 2 * np.arange(inner.sum()))
        assert (tree.feature[~inner] == -1).all()
        assert ((tree.feature[inner] >= 0) & (tree.feature[inner] < 3)).all()
        assert np.isnan(tree.threshold[~inner]).all()
        assert not np.isnan(tree.threshold[inner]).any()
        assert_array_equal(tree.is_equality[inner], is_town_cut(tree)[inner])
        assert tree.get_n_leaves() == (~inner).sum() == forest.n_leaves_[number]
        depth = np.zeros(len(inner), dtype=int)
        for node in np.flatnonzero(inner):
            depth[tree.children_left[node] : tree.children_right[node] + 1] = (
                depth[node] + 1
            )
        assert tree.get_depth() == depth.max() == forest.depths_[number]


def is_town_cut(tree) -> np.ndarray:
    """Equality with a town; "missing or not" of a town is a threshold of inf."""
    return (tree.feature == 2) & (tree.threshold < np.inf)


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_trees_predict_by_themselves(voting, seed):
    X, y = table(seed)
    forest = forest_of(voting=voting).fit(X, y)
    trees = forest.estimators_
    for number, tree in enumerate(trees):
        assert_array_equal(tree.classes_, ["maybe", "no", "yes"])
        assert_array_equal(tree.apply(X), forest.apply(X)[:, number])
        winner = tree.predict_proba(X).argmax(axis=1)
        assert_array_equal(tree.predict(X), forest.classes_[winner])
        if voting == "hard":
            assert set(tree.predict_proba(X).ravel()) == {0.0, 1.0}
    mean = np.mean([tree.predict_proba(X) for tree in trees], axis=0)
    assert_allclose(forest.predict_proba(X), mean, rtol=1e-12)


def test_leaves_are_filled_by_estimation_rows_only(seed):
    """Shares and labels follow from the rows that `estimation_samples` names."""
    X, y = table(seed)
    forest = forest_of(voting="soft").fit(X, y)
    for number, tree in enumerate(forest.estimators_):
        rows = forest.estimation_samples(number)
        leaves, shares = tree.apply(X), tree.predict_proba(X)
        for leaf in np.unique(leaves):
            labels = y[rows[leaves[rows] == leaf]]
            counts = np.array([(labels == c).sum() for c in forest.classes_])
            expected = np.tile(counts / counts.sum(), ((leaves == leaf).sum(), 1))
            assert_allclose(shares[leaves == leaf], expected, rtol=1e-12)


# ---- samples ------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "n_structure"), [(1.0, 100), (0.25, 40), (3.0, 150)])
def test_samples(rate, n_structure, seed):
    forest = forest_of(partition_rate=rate, random_state=seed).fit(*table(seed))
    seen = set()
    for tree in range(12):
        structure = forest.structure_samples(tree)
        estimation = forest.estimation_samples(tree)
        assert len(structure) == n_structure
        both = np.concatenate([structure, estimation])
        assert_array_equal(np.sort(both), np.arange(200))
        assert_array_equal(structure, np.sort(structure))
        assert_array_equal(estimation, np.sort(estimation))
        seen.add(structure.tobytes())
    assert len(seen) == 12


def test_every_row_is_as_likely_to_shape_as_to_fill():
    """Over 2,000 trees each row shapes about half: within five sigma."""
    forest = forest_of(n_estimators=2000, max_depth=1).fit(*table(0, n_rows=40))
    times = np.zeros(40)
    for tree in range(2000):
        times[forest.structure_samples(tree)] += 1
    assert times.sum() == 2000 * 20
    assert abs(times - 1000).max() < 5 * np.sqrt(2000 / 4)


def test_samples_of_a_fitted_forest_do_not_change():
    """They are those the trees were grown from, whatever is set afterwards."""
    X, y = table(0)
    forest = forest_of(warm_start=True).fit(X, y)
    before = forest.structure_samples(0)
    forest.set_params(partition_rate=3.0)
    assert_array_equal(forest.structure_samples(0), before)
    forest.set_params(partition_rate=1.0, random_state=9)
    assert_array_equal(forest.structure_samples(0), before)


def test_samples_after_a_warm_start_with_other_rows():
    """Old trees name rows of the table they were grown from, or it is refused."""
    X, y = table(0)
    forest = forest_of(warm_start=True).fit(X, y)
    before = forest.structure_samples(0)
    with contextlib.suppress(ValueError):
        forest.set_params(n_estimators=15).fit(X[:120], y[:120])
    assert_array_equal(forest.structure_samples(0), before)


# ---- importances --------------------------------------------------------------------


def test_importances_add_up_to_1(seed):
    forest = forest_of().fit(*table(seed))
    assert forest.structure_importances_.sum() == pytest.approx(1)
    assert (forest.structure_importances_ >= 0).all()
    assert np.abs(forest.feature_importances_).sum() == pytest.approx(1)
    assert forest.feature_importances_.shape == (3,)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
def test_features_of_noise_have_no_importance(criterion, leaf_rule):
    """0 on average over tables, while that on structure points is always above."""
    honest, biased = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        signal = rng.integers(0, 2, 150)
        many_values, few_values = rng.random(150), rng.integers(0, 2, 150)
        y = np.where(rng.random(150) < 0.2, 1 - signal, signal)
        forest = forest_of(
            criterion=criterion, leaf_rule=leaf_rule, n_estimators=10, random_state=seed
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


def test_no_training_row_is_kept():
    """Neither a number of the table that is not a cut nor the table as a whole."""
    rng = np.random.default_rng(0)
    X = rng.random((500, 4))
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    forest = forest_of(min_samples_leaf=1).fit(X, y)
    kept = pickle.dumps(forest)
    cuts = np.concatenate([tree.threshold for tree in forest.estimators_])
    assert not np.isin(X, cuts).any()
    assert not any(value.tobytes() in kept for value in X.ravel())
    assert not any(value.tobytes() in kept for value in X.ravel().astype(np.float32))
    # What is searched for would be found.
    assert all(cut.tobytes() in kept for cut in cuts[~np.isnan(cuts)])


def test_size_does_not_grow_with_the_table():
    """Stumps of two classes are equally large; a column adds a few bytes, no rows."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 60))
    y = np.arange(400) % 2
    sizes = [
        len(pickle.dumps(forest_of(max_depth=1).fit(X[:, :n_features], y)))
        for n_features in (10, 60)
    ]
    assert sizes[1] - sizes[0] < 50 * 32
    # A row adds the number that `structure_samples` gives, no more.
    more = np.tile(X[:, :10], (3, 1)) + np.repeat(np.arange(3), 400)[:, None] / 4
    size = len(pickle.dumps(forest_of(max_depth=1).fit(more, np.tile(y, 3))))
    assert size - sizes[0] < 800 * 5
