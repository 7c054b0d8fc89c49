# SPDX-License-Identifier: BSD-3-Clause
"""Weights of rows and classes, where they are easy to get wrong."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.forests.every import (
    ALL_ROWS,
    BAGGED,
    CLASSIFIERS,
    CUTTING,
    HONEST,
    REGRESSORS,
    TUNED,
    every_classifier,
    every_honest,
    forest_of,
    having,
    target_of,
)
from tests.forests.sound import assert_sound
from tests.leaves import leaf_options

VOTING = pytest.mark.parametrize("voting", ["hard", "soft"])


def small_table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    X = rng.random((60, 3))
    return X, np.where(rng.random(60) < 0.2, 2, X[:, 0] > 0.5)


@pytest.mark.parametrize("name", [name for name in HONEST if name in CLASSIFIERS])
@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
def test_a_tree_whose_structure_points_weigh_nothing(name, leaf_rule):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 3)), np.repeat([0, 1, 2], [19, 19, 2])
    forest = forest_of(
        name,
        n_estimators=50,
        class_weight={0: 0, 1: 0, 2: 1},
        **leaf_options(leaf_rule, 1),
    ).fit(X, y)
    # Some tree has no row of class 2 among its structure points.
    assert any((y[forest.structure_samples(t)] != 2).all() for t in range(50))
    assert_sound(forest, X)


@every_classifier
def test_balanced_classes_with_real_weights_do_not_see_the_order_of_rows(name):
    """Weights are added, and the order of additions shows in the last bits."""
    rng = np.random.default_rng(0)
    X, y, weight = rng.random((400, 2)), rng.integers(0, 3, 400), rng.random(400)
    forest = forest_of(
        name, n_estimators=2, class_weight="balanced", min_samples_split=6
    )
    seen = set()
    for _ in range(5):
        order = rng.permutation(400)
        forest.fit(X[order], y[order], sample_weight=weight[order])
        decrease = forest.structure_importances_ if name in CUTTING else np.zeros(2)
        seen.add((decrease.tobytes(), forest.predict_proba(X).tobytes()))
    assert len(seen) == 1


@every_classifier
def test_balanced_classes_weigh_the_same(name):
    """A leaf with the class counts of the whole table knows nothing."""
    X, y = np.zeros((300, 1)), np.repeat([0, 1, 2], [200, 90, 10])
    forest = forest_of(name, n_estimators=200, class_weight="balanced", voting="soft")
    mean = forest.fit(X, y).predict_proba([[0.0]])[0]
    np.testing.assert_allclose(mean, 1 / 3, atol=0.04)


@every_classifier
@VOTING
def test_class_of_weight_0(name, voting):
    """It has no share anywhere, and a leaf of it alone knows nothing."""
    X, y = small_table()
    forest = forest_of(
        name,
        voting=voting,
        min_samples_split=2,
        class_weight={0: 1.0, 1: 0.0, 2: 1.0},
        n_estimators=40,
    ).fit(X, y)
    proba = assert_sound(forest, X)
    assert proba[X[:, 0] < 0.3, 0].mean() > proba[X[:, 0] > 0.7, 0].mean() + 0.1
    if voting == "soft":
        shares = np.stack([tree.predict_proba(X) for tree in forest.estimators_])
        assert set(shares[:, :, 1].ravel()) <= {0.0, 1 / 3}


@every_honest
def test_huge_range_of_real_weights(name):
    """Where a row that outweighs all others fills a leaf, it is what the leaf tells."""
    X, labels = small_table()
    y = target_of(name, labels)
    weight = np.random.default_rng(0).random(60)
    weight[7] = 1e60
    forest = forest_of(name, n_estimators=10, min_samples_split=2)
    forest.fit(X, y, sample_weight=weight)
    assert_sound(forest, X)
    filled = [7 in forest.estimation_samples(tree) for tree in range(10)]
    assert 0 < sum(filled) < 10
    for number in np.flatnonzero(filled):
        answer = forest.estimators_[number].predict(X[7:8])
        if name in REGRESSORS:
            np.testing.assert_allclose(answer, y[7:8], rtol=1e-9)
        else:
            assert_array_equal(answer, y[7:8])


@pytest.mark.parametrize("name", [*ALL_ROWS, "purely-random", "breiman", "data-driven"])
def test_a_row_that_outweighs_all_others(name):
    """It is in every tree, or in 63 % of the bags: the forest tells its class."""
    weight = np.full(30, 0.001)
    weight[4] = 1e6
    forest = forest_of(name, n_estimators=60, min_samples_split=2)
    forest.fit(np.zeros((30, 1)), np.arange(30) % 3, sample_weight=weight)
    assert forest.predict([[0.0]]) == [1]
    share = forest.predict_proba([[0.0]])[0, 1]
    assert share > (0.55 if name in BAGGED else 0.999)


@pytest.mark.parametrize("name", REGRESSORS)
def test_means_are_weighted(name):
    """One leaf and real weights: the weighted mean of its rows."""
    rng = np.random.default_rng(0)
    y, weight = rng.normal(size=25), rng.random(25)
    forest = forest_of(name, min_samples_split=101)
    forest.fit(np.zeros((25, 1)), y, sample_weight=weight)
    for number, tree in enumerate(forest.estimators_):
        if name in TUNED:
            rows = np.arange(25)
        elif name in HONEST:
            rows = forest.estimation_samples(number)
        else:
            batch = forest._batches[0]
            key = np.random.SeedSequence(0, spawn_key=(number,))
            bag, _ = batch.sampler(key.generate_state(2, np.uint64), 25)
            rows = batch.origin[bag]
        expected = np.average(y[rows], weights=weight[rows])
        np.testing.assert_allclose(tree.predict([[0.0]]), expected, rtol=1e-12)


@VOTING
def test_ties_give_the_first_class(voting):
    """One row of each class and two trees that are filled by different ones."""
    X, y = [[0.0], [0.0]], ["b", "a"]
    n_ties = 0
    for seed in range(20):
        forest = forest_of(
            "multinomial", n_estimators=2, voting=voting, random_state=seed
        ).fit(X, y)
        if (forest.predict_proba(X) == 0.5).all():
            assert_array_equal(forest.predict(X), ["a", "a"])
            n_ties += 1
    assert n_ties > 3


@pytest.mark.parametrize("name", having("voting"))
def test_voting_is_checked_again_when_it_is_used(name):
    forest = forest_of(name, n_estimators=2)
    forest.fit([[0.0], [1.0]], [0, 1]).set_params(voting="softt")
    with pytest.raises(ValueError, match=r"voting='softt' must be 'hard' or 'soft'"):
        forest.predict([[0.0]])


@every_honest
@pytest.mark.parametrize("tree", [1.5, "0", None])
def test_the_number_of_a_tree_is_whole(name, tree):
    forest = forest_of(name).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="integer"):
        forest.structure_samples(tree)
