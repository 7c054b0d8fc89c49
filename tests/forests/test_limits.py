# SPDX-License-Identifier: BSD-3-Clause
"""Small, large and odd tables: no crash, no NaN, and what must come out comes out."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mrforest import MultinomialForestClassifier

NAN, INF = math.nan, math.inf
RULES = pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
VOTING = pytest.mark.parametrize("voting", ["hard", "soft"])
# Trees that grow as deep as they may
DEEP = {"min_samples_leaf": 1, "n_estimators": 10, "random_state": 0}


def forest_of(**params) -> MultinomialForestClassifier:
    return MultinomialForestClassifier(**{**DEEP, **params})


def assert_sound(forest: MultinomialForestClassifier, X) -> np.ndarray:
    """Check what holds for any forest and any query; return the probabilities."""
    proba = forest.predict_proba(X)
    assert proba.shape == (len(X), len(forest.classes_))
    assert ((proba >= 0) & (proba <= 1)).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert_array_equal(forest.predict(X), forest.classes_[proba.argmax(axis=1)])
    assert np.isfinite(forest.feature_importances_).all()
    assert np.isfinite(forest.structure_importances_).all()
    assert (forest.depths_ >= 0).all()
    nodes = [len(tree.feature) for tree in forest.estimators_]
    assert_array_equal(2 * forest.n_leaves_ - 1, nodes)
    return proba


# ---- few rows, few values -----------------------------------------------------------


@RULES
@VOTING
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_rows", range(1, 13))
def test_few_rows(leaf_rule, voting, criterion, n_rows):
    rng = np.random.default_rng(n_rows)
    X = rng.integers(0, 4, (n_rows, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = NAN
    y = rng.integers(0, 3, n_rows)
    forest = forest_of(leaf_rule=leaf_rule, voting=voting, criterion=criterion)
    forest.fit(X, y)
    assert_sound(forest, rng.integers(-1, 5, (20, 3)).astype(float))
    for tree in range(10):
        sides = forest.structure_samples(tree), forest.estimation_samples(tree)
        assert_array_equal(np.sort(np.concatenate(sides)), np.arange(n_rows))
        assert len(sides[1]) >= 1


def test_one_row():
    forest = forest_of().fit([[3.0]], ["a"])
    assert_array_equal(forest.predict_proba([[NAN], [9.0]]), [[1.0], [1.0]])
    assert forest.predict([[0.0]]) == ["a"]
    assert_array_equal(forest.n_leaves_, np.ones(10))
    assert_array_equal(forest.depths_, np.zeros(10))


def test_two_rows():
    """One shapes, one fills: a tree knows the class of the latter only."""
    forest = forest_of(n_estimators=50).fit([[0.0], [1.0]], ["a", "b"])
    for number, tree in enumerate(forest.estimators_):
        (filled_by,) = forest.estimation_samples(number)
        assert_array_equal(tree.predict([[0.0], [1.0]]), [["a", "b"][filled_by]] * 2)
    assert 0 < forest.predict_proba([[0.0]])[0, 0] < 1


@RULES
@VOTING
def test_one_class(leaf_rule, voting):
    X = np.random.default_rng(0).random((50, 2))
    forest = forest_of(leaf_rule=leaf_rule, voting=voting).fit(X, ["only"] * 50)
    assert_array_equal(assert_sound(forest, X), np.ones((50, 1)))
    assert_array_equal(forest.feature_importances_, [0.0, 0.0])
    # "stop" leaves pure nodes alone, "floor" splits them on.
    assert (forest.n_leaves_ > 1).all() == (leaf_rule == "floor")


@RULES
def test_features_that_say_nothing(leaf_rule):
    """A constant and an empty column are never cut; without others there is no cut."""
    rng = np.random.default_rng(1)
    X = np.stack([np.full(80, 5.0), rng.random(80), np.full(80, NAN)], axis=1)
    y = (X[:, 1] > 0.5).astype(int)
    forest = forest_of(leaf_rule=leaf_rule, feature_budget=0.0).fit(X, y)
    assert_sound(forest, X)
    assert {f for tree in forest.estimators_ for f in tree.feature} == {-1, 1}
    assert_array_equal(forest.feature_importances_, [0.0, 1.0, 0.0])
    forest.fit(X[:, [0, 2]], y)
    assert_array_equal(forest.n_leaves_, np.ones(10))
    assert_array_equal(forest.structure_importances_, [0.0, 0.0])
    assert len(np.unique(forest.predict_proba(X[:, [0, 2]]), axis=0)) == 1


# ---- many ---------------------------------------------------------------------------


@VOTING
def test_hundred_classes(voting):
    y = np.tile(np.arange(100), 40)
    X = y[:, None] + np.random.default_rng(0).random((4000, 2)) / 2
    forest = forest_of(voting=voting, n_estimators=20).fit(X, y)
    assert assert_sound(forest, X[:500]).shape == (500, 100)
    assert forest.score(X, y) > 0.9


def test_two_thousand_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2000))
    y = (X[:, 1234] > 0).astype(int)
    forest = forest_of(feature_budget=INF, split_budget=INF).fit(X, y)
    assert_sound(forest, X)
    assert forest.feature_importances_.argmax() == 1234


@pytest.mark.parametrize(
    "n_rows", [100_000, pytest.param(1_000_000, marks=pytest.mark.long)]
)
def test_many_rows(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    forest = MultinomialForestClassifier(2, random_state=0, n_jobs=2).fit(X, y)
    assert_sound(forest, X[:2000])
    assert (forest.n_leaves_ > 50).all()
    assert forest.score(X, y) > 0.9
    half = n_rows // 2
    assert [len(forest.structure_samples(tree)) for tree in (0, 1)] == [half, half]


# ---- extreme parameters -------------------------------------------------------------


def small_table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    X = rng.random((60, 3))
    y = np.where(rng.random(60) < 0.2, 2, X[:, 0] > 0.5)
    assert_array_equal(np.unique(y), [0, 1, 2])
    return X, y


@RULES
@pytest.mark.parametrize("rate", [5e-324, 1e-9, 1e9, 1e300, 1e308])
def test_extreme_partition_rate(leaf_rule, rate):
    """Neither side is ever empty."""
    X, y = small_table()
    forest = forest_of(partition_rate=rate, leaf_rule=leaf_rule).fit(X, y)
    assert_sound(forest, X)
    assert len(forest.structure_samples(0)) == (1 if rate < 1 else 59)
    assert len(forest.estimation_samples(0)) == (59 if rate < 1 else 1)


@RULES
@pytest.mark.parametrize("k", [30, 31, 1000, 2**62, 2**80])
def test_leaf_larger_than_the_table(leaf_rule, k):
    X, y = small_table()
    forest = forest_of(min_samples_leaf=k, leaf_rule=leaf_rule).fit(X, y)
    assert_array_equal(forest.n_leaves_, np.ones(10))
    assert_sound(forest, X)


def test_depth():
    X, y = small_table()
    stumps = forest_of(max_depth=1).fit(X, y)
    assert_array_equal(stumps.depths_, np.ones(10))
    assert_array_equal(stumps.n_leaves_, np.full(10, 2))
    unlimited = forest_of().fit(X, y)
    for depth in (1000, 2**40, 2**80):
        limited = forest_of(max_depth=depth).fit(X, y)
        assert_array_equal(limited.apply(X), unlimited.apply(X))


@pytest.mark.parametrize("budget", [5e-324, 1e-300, 745.0, 1e6, 1e300, 1.7e308])
def test_extreme_budgets(budget):
    """Tiny ones draw as 0 does, huge ones as infinity: exponents do not overflow."""
    X, y = small_table()
    names = ("feature_budget", "split_budget", "label_budget")
    forest = forest_of(**dict.fromkeys(names, budget)).fit(X, y)
    assert_sound(forest, X)
    limit = 0.0 if budget < 1 else INF
    if not 1 < budget < 1e6:
        same = forest_of(**dict.fromkeys(names, limit)).fit(X, y)
        assert_array_equal(forest.apply(X), same.apply(X))


# ---- missing and unseen -------------------------------------------------------------


@RULES
def test_unseen_category_is_missing(leaf_rule):
    rng = np.random.default_rng(0)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], 90)
    frame = pd.DataFrame({"x": rng.random(90), "town": town}).astype({"town": "str"})
    frame["town"] = frame["town"].astype("category")
    y = (town == "Ulm").astype(int)
    forest = forest_of(leaf_rule=leaf_rule).fit(frame, y)
    unseen, missing = frame.copy(), frame.copy()
    unseen["town"] = pd.Categorical(["Passau"] * 90)
    missing["town"] = pd.Categorical([None] * 90, categories=["Ulm", "Bonn"])
    assert_array_equal(forest.apply(unseen), forest.apply(missing))
    assert_sound(forest, unseen)
    assert (forest.apply(unseen) != forest.apply(frame)).any()


@RULES
@VOTING
def test_missing_at_predict_only(leaf_rule, voting):
    """Goes with the larger side of the structure points at every node."""
    X, y = small_table()
    forest = forest_of(leaf_rule=leaf_rule, voting=voting).fit(X, y)
    empty = np.full((1, 3), NAN)
    assert_sound(forest, empty)
    for number, tree in enumerate(forest.estimators_):
        rows, node = forest.structure_samples(number), 0
        while tree.children_left[node] >= 0:
            left = X[rows, tree.feature[node]] <= tree.threshold[node]
            goes_left = left.sum() >= (~left).sum()
            rows = rows[left] if goes_left else rows[~left]
            sides = tree.children_left, tree.children_right
            node = sides[0][node] if goes_left else sides[1][node]
        assert tree.apply(empty) == [node]


def test_missing_alone_tells_the_class():
    X = np.array([[NAN], [1.0]] * 40)
    X[1::4] = 2.0
    forest = forest_of(feature_budget=INF, split_budget=INF).fit(X, [0, 1] * 40)
    assert_array_equal(forest.predict([[NAN], [1.0], [2.0], [-1e9]]), [0, 1, 1, 1])


# ---- odd numbers --------------------------------------------------------------------

UP = np.nextafter(1.0, 2.0)
ODD = [
    [-1e308, 1e308],
    [-1.7e308, -1e308, 1e308, 1.7e308],
    [0.0, 5e-324],
    [-5e-324, 0.0, 5e-324],
    [-5e-324, 5e-324, 1e-323],
    [1.0, UP],
    [1.0, UP, np.nextafter(UP, 2.0)],
    [np.nextafter(-1.0, -2.0), -1.0],
    [2.0**53, 2.0**53 + 2, 2.0**53 + 4],
    [-1e308, 5e-324, 1.0, UP, 1e308],
]


# scikit-learn's own look for infinity adds up all numbers.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")
@pytest.mark.parametrize("max_bins", [255, "exact", 5])
@pytest.mark.parametrize("values", ODD)
def test_values_that_are_hard_to_tell_apart(values, max_bins):
    """A greedy forest learns one class a value, to the last bit."""
    X = np.tile(values, 60)[:, None]
    y = np.tile(np.arange(len(values)), 60)
    forest = forest_of(
        feature_budget=INF, split_budget=INF, max_bins=max_bins, n_estimators=5
    ).fit(X, y)
    assert_sound(forest, X)
    assert_array_equal(forest.predict(np.array(values)[:, None]), y[: len(values)])
    thresholds = np.concatenate([tree.threshold for tree in forest.estimators_])
    assert np.isfinite(thresholds[~np.isnan(thresholds)]).all()


def test_negative_zero():
    """It is zero: same cuts, same leaves."""
    X = np.tile([-1.0, 0.0, 1.0], 40)[:, None]
    y = np.tile([0, 1, 0], 40)
    signs = X.copy()
    signs[1::6] = -0.0
    plain, mixed = forest_of().fit(X, y), forest_of().fit(signs, y)
    assert plain._forest.nodes.tobytes() == mixed._forest.nodes.tobytes()
    assert_array_equal(plain.apply(signs), plain.apply(X))
    assert_array_equal(mixed.predict([[-0.0], [0.0]]), [1, 1])


# ---- weights and votes --------------------------------------------------------------


@RULES
@VOTING
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_class_of_weight_0(leaf_rule, voting, criterion):
    """It has no share anywhere, and a leaf of it alone knows nothing."""
    X, y = small_table()
    forest = forest_of(
        leaf_rule=leaf_rule,
        voting=voting,
        criterion=criterion,
        class_weight={0: 1.0, 1: 0.0, 2: 1.0},
        n_estimators=40,
    ).fit(X, y)
    proba = assert_sound(forest, X)
    assert proba[X[:, 0] < 0.3, 0].mean() > proba[X[:, 0] > 0.7, 0].mean() + 0.2
    if voting == "soft":
        shares = np.stack([tree.predict_proba(X) for tree in forest.estimators_])
        assert set(shares[:, :, 1].ravel()) <= {0.0, 1 / 3}
        assert (shares[:, :, 1] > 0).any()


def test_huge_range_of_real_weights():
    """Where a row that outweighs all others fills a leaf, it is the leaf's label."""
    X, y = small_table()
    weight = np.random.default_rng(0).random(60)
    weight[7] = 1e60
    for voting in ("hard", "soft"):
        forest = forest_of(voting=voting).fit(X, y, sample_weight=weight)
        assert_sound(forest, X)
        filled = [7 in forest.estimation_samples(tree) for tree in range(10)]
        assert 0 < sum(filled) < 10
        for tree in np.array(forest.estimators_)[filled]:
            assert tree.predict(X[7:8]) == [y[7]]


@VOTING
def test_ties_give_the_first_class(voting):
    """One row of each class and two trees that are filled by different ones."""
    X, y = [[0.0], [0.0]], ["b", "a"]
    n_ties = 0
    for seed in range(20):
        forest = forest_of(n_estimators=2, voting=voting, random_state=seed).fit(X, y)
        if (forest.predict_proba(X) == 0.5).all():
            assert_array_equal(forest.predict(X), ["a", "a"])
            n_ties += 1
    assert n_ties > 3
