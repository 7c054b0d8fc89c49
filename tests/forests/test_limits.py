# SPDX-License-Identifier: BSD-3-Clause
"""Small, large and odd tables: no crash, no NaN, and what must come out comes out."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.forests import every as forests
from tests.forests.every import (
    ALL_ROWS,
    CLASSIFIERS,
    CUTTING,
    HONEST,
    LEAFY,
    NAMES,
    REGRESSORS,
    TUNED,
    every,
    every_classifier,
    every_honest,
    every_leafy,
    having,
    target_of,
    told,
)
from tests.forests.sound import assert_sound
from tests.leaves import leaf_options

NAN = math.nan
RULES = ["stop", "floor"]
ways = pytest.mark.parametrize(
    ("name", "leaf_rule"),
    [(name, rule) for name in NAMES for rule in (RULES if name in LEAFY else [None])],
)
VOTING = pytest.mark.parametrize("voting", ["hard", "soft"])


def forest_of(name: str, **params):
    """Return a forest whose trees grow as deep as they may."""
    return forests.forest_of(
        name, **{"min_samples_split": 2, "n_estimators": 10, **params}
    )


# ---- few rows, few values -----------------------------------------------------------


@ways
def test_few_rows(name, leaf_rule):
    for n_rows in (1, 2, 3, 4, 5, 7, 12):
        rng = np.random.default_rng(n_rows)
        X = rng.integers(0, 4, (n_rows, 3)).astype(float)
        X[rng.random(X.shape) < 0.2] = NAN
        y = target_of(name, rng.integers(0, 3, n_rows))
        forest = forest_of(name, **leaf_options(leaf_rule, 1), n_estimators=4).fit(X, y)
        assert_sound(forest, rng.integers(-1, 5, (20, 3)).astype(float))
        if name in HONEST:
            for tree in range(4):
                sides = forest.structure_samples(tree), forest.estimation_samples(tree)
                assert_array_equal(np.sort(np.concatenate(sides)), np.arange(n_rows))
                assert len(sides[1]) >= 1


@every
def test_one_row(name):
    forest = forest_of(name).fit([[3.0]], [7])
    asked = [[NAN], [9.0]]
    expected = [7.0, 7.0] if name in REGRESSORS else [[1.0], [1.0]]
    assert_array_equal(assert_sound(forest, asked), expected)
    assert_array_equal(forest.predict(asked), [7, 7])
    assert_array_equal(forest.n_leaves_, np.ones(10))
    assert_array_equal(forest.depths_, np.zeros(10))


@every_honest
def test_two_rows(name):
    """One shapes, one fills: a tree knows the target of the latter only."""
    forest = forest_of(name, n_estimators=50).fit([[0.0], [1.0]], [3, 8])
    for number, tree in enumerate(forest.estimators_):
        (filled_by,) = forest.estimation_samples(number)
        assert_array_equal(tree.predict([[0.0], [1.0]]), [[3, 8][filled_by]] * 2)
    assert len(np.unique(told(forest, [[0.0], [1.0]]), axis=0)) == 1


@pytest.mark.parametrize("name", ALL_ROWS)
def test_two_rows_that_all_trees_know(name):
    forest = forest_of(name).fit([[0.0], [1.0]], [3, 8])
    assert_array_equal(forest.predict([[0.0], [1.0]]), [3, 8])


@ways
def test_one_class_or_target(name, leaf_rule):
    X = np.random.default_rng(0).random((50, 2))
    forest = forest_of(name, **leaf_options(leaf_rule, 1)).fit(X, [5] * 50)
    answers = assert_sound(forest, X)
    assert_array_equal(answers, np.full(answers.shape, 5 if answers.ndim == 1 else 1))
    if name in CUTTING:
        assert_array_equal(forest.feature_importances_, [0.0, 0.0])
    # "stop" leaves pure nodes alone; so does "floor" where the same rows fill them.
    # Cells and label-free comparisons do not look at targets.
    looks = name in LEAFY and name != "comparison"
    if name in TUNED or (looks and (leaf_rule == "stop" or name not in HONEST)):
        assert (forest.n_leaves_ == 1).all()
    else:
        assert (forest.n_leaves_ > 1).all()


@ways
def test_features_that_say_nothing(name, leaf_rule):
    """A constant and an empty column are never cut; without others there is no cut."""
    rng = np.random.default_rng(1)
    X = np.stack([np.full(80, 5.0), rng.random(80), np.full(80, NAN)], axis=1)
    y = target_of(name, X[:, 1] > 0.5)
    forest = forest_of(name, **leaf_options(leaf_rule, 1)).fit(X, y)
    assert_sound(forest, X)
    if name in CUTTING:
        assert {f for tree in forest.estimators_ for f in tree.feature} == {-1, 1}
        assert_array_equal(forest.feature_importances_, [0.0, 1.0, 0.0])
    forest.fit(X[:, [0, 2]], y)
    assert_array_equal(forest.n_leaves_, np.ones(10))
    if name in CUTTING:
        assert_array_equal(forest.structure_importances_, [0.0, 0.0])
    assert len(np.unique(told(forest, X[:, [0, 2]]), axis=0)) == 1


@ways
@pytest.mark.parametrize("n_distinct", [1, 2])
def test_duplicates_only(name, leaf_rule, n_distinct):
    """One or two rows, 500 times each, of different targets; growth ends."""
    X = np.tile([[1.0, NAN, 3.0], [2.0, 5.0, 3.0]][:n_distinct], (500, 1))
    labels = np.random.default_rng(0).integers(0, 3, len(X))
    forest = forest_of(name, **leaf_options(leaf_rule, 1), n_estimators=4)
    forest.fit(X, target_of(name, labels))
    assert_sound(forest, X[:10])
    if n_distinct == 1:
        assert_array_equal(forest.n_leaves_, np.ones(4))
    elif name != "purely-random":  # which cuts cells on, whoever is in them
        assert forest.n_leaves_.max() <= (2 if name != "centered" else 1000)


@every
def test_ties(name):
    """A table of few values: thresholds lie between values, all rows find a leaf."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (200, 4)).astype(float)
    y = target_of(name, X[:, 0] > X[:, 1])
    forest = forest_of(name).fit(X, y)
    assert_sound(forest, X)
    if name in having("max_bins") and not name.startswith("range"):
        cuts = {c for tree in forest.estimators_ for c in tree.threshold if c == c}
        # Halfway between values that are there; 1 between 0 and 2.
        assert cuts <= {0.5, 1.5, 1.0}
    score = forest.score(X, y)
    assert score > (0.4 if name in REGRESSORS else 0.7)


# ---- many ---------------------------------------------------------------------------


@every_classifier
@VOTING
def test_hundred_classes(name, voting):
    y = np.tile(np.arange(100), 20)
    X = y[:, None] + np.random.default_rng(0).random((2000, 2)) / 2
    forest = forest_of(name, voting=voting).fit(X, y)
    assert assert_sound(forest, X[:300]).shape == (300, 100)
    # Cells shrink slowly: about 200 of them do not tell 100 classes.
    assert forest.score(X, y) > (0.05 if name in ("purely-random", "centered") else 0.8)


@every
def test_two_thousand_features(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2000))
    y = target_of(name, X[:, 1234] > 0)
    forest = forest_of(name, max_features=None, mean_features=500).fit(X, y)
    assert_sound(forest, X)
    if name in CUTTING:
        assert forest.feature_importances_.shape == (2000,)
    if name in ("breiman", "breiman-r"):
        assert forest.feature_importances_.argmax() == 1234


@pytest.mark.parametrize(
    "n_rows", [50_000, pytest.param(1_000_000, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("name", ["multinomial", "breiman", "breiman-r", "range"])
def test_many_rows(name, n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    y = target_of(name, X[:, 0] * X[:, 1] > 0)
    forest = forests.forest_of(name, n_estimators=2, n_jobs=2, min_samples_split=6)
    forest.fit(X, y)
    assert_sound(forest, X[:2000])
    assert (forest.n_leaves_ > 30).all()
    assert forest.score(X, y) > (0.5 if name in REGRESSORS else 0.7)
    if name == "multinomial":
        half = n_rows // 2
        assert [len(forest.structure_samples(tree)) for tree in (0, 1)] == [half, half]


# ---- extreme parameters -------------------------------------------------------------


def small_table(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    X = rng.random((60, 3))
    labels = np.where(rng.random(60) < 0.2, 2, X[:, 0] > 0.5)
    assert_array_equal(np.unique(labels), [0, 1, 2])
    return X, target_of(name, labels)


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("fraction", [5e-324, 1e-9, 1 - 1e-9, 1 - 2**-53])
def test_extreme_honest_fraction(name, fraction):
    """Neither side is ever empty."""
    X, y = small_table(name)
    forest = forest_of(name, honest_fraction=fraction).fit(X, y)
    assert_sound(forest, X)
    assert len(forest.structure_samples(0)) == (59 if fraction < 0.5 else 1)
    assert len(forest.estimation_samples(0)) == (1 if fraction < 0.5 else 59)


@every_leafy
@pytest.mark.parametrize("leaf_rule", RULES)
def test_leaf_larger_than_the_table(name, leaf_rule):
    X, y = small_table(name)
    for k in (60, 61, 2**80):
        forest = forest_of(name, **leaf_options(leaf_rule, k)).fit(X, y)
        assert_array_equal(forest.n_leaves_, np.ones(10))
        assert_sound(forest, X)


@pytest.mark.parametrize("name", having("max_depth"))
def test_depth(name):
    X, y = small_table(name)
    stumps = forest_of(name, max_depth=1).fit(X, y)
    assert_array_equal(stumps.n_leaves_, stumps.depths_ + 1)
    assert stumps.depths_.max() == 1
    assert_sound(stumps, X)
    unlimited = forest_of(name).fit(X, y)
    for depth in (1000, 2**40, 2**80):
        limited = forest_of(name, max_depth=depth).fit(X, y)
        assert_array_equal(limited.apply(X), unlimited.apply(X))


@every_leafy
@pytest.mark.parametrize("k", [1, 4, 9])
def test_size_of_leaves(name, k):
    """ "floor" keeps k points in every leaf; "stop" splits no node of k points."""
    X, y = small_table(name)
    forest = forest_of(name, **leaf_options("floor", k)).fit(X, y)
    assert (forest.n_leaves_ > 1).any()
    assert (forest._forest.leaf_points >= k).all()
    forest = forest_of(name, min_samples_split=k + 1).fit(X, y)
    assert (forest._forest.leaf_points >= 1).all()
    for number, tree in enumerate(forest.estimators_):
        points = np.zeros(len(tree.children_left), dtype=int)
        points[tree.children_left < 0] = tree._flat.leaf_points
        for node in reversed(np.flatnonzero(tree.children_left >= 0)):
            left, right = tree.children_left[node], tree.children_right[node]
            points[node] = points[left] + points[right]
            assert points[node] > k
        is_honest = name in HONEST
        assert points[0] == len(forest.estimation_samples(number)) if is_honest else 60


@pytest.mark.parametrize("name", ["purely-random", "centered"])
@pytest.mark.parametrize("n_leaves", [1, 2, 3, 64, 300])
def test_number_of_cells(name, n_leaves):
    X, y = small_table(name)
    forest = forest_of(name, max_leaf_nodes=n_leaves).fit(X, y)
    assert_sound(forest, X)
    if name == "purely-random":
        assert_array_equal(forest.n_leaves_, np.full(10, n_leaves))
    else:
        depth = math.ceil(math.log2(n_leaves))
        assert forest.depths_.max() == depth
        assert forest.n_leaves_.max() <= 2**depth


# ---- missing and unseen -------------------------------------------------------------


@every
def test_unseen_category_is_missing(name):
    rng = np.random.default_rng(0)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], 90)
    frame = pd.DataFrame({"x": rng.random(90) / 4, "town": pd.Categorical(town)})
    forest = forest_of(name).fit(frame, target_of(name, town == "Ulm"))
    unseen, missing = frame.copy(), frame.copy()
    unseen["town"] = pd.Categorical(["Passau"] * 90)
    missing["town"] = pd.Categorical([None] * 90, categories=["Ulm", "Bonn"])
    assert_array_equal(forest.apply(unseen), forest.apply(missing))
    assert_sound(forest, unseen)
    assert (forest.apply(unseen) != forest.apply(frame)).any()


@pytest.mark.parametrize(
    "name", [name for name in HONEST if name in CUTTING and name in LEAFY]
)
@pytest.mark.parametrize("leaf_rule", RULES)
def test_missing_at_predict_only(name, leaf_rule):
    """Goes with the larger side of the structure points at every node."""
    X, y = small_table(name)
    forest = forest_of(name, **leaf_options(leaf_rule, 1)).fit(X, y)
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


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name in CUTTING])
def test_missing_alone_tells_the_class(name):
    X = np.array([[NAN], [1.0]] * 40)
    X[1::4] = 2.0
    y = np.array([0, 1] * 40)
    forest = forest_of(name, n_estimators=40).fit(X, y)
    proba = forest.predict_proba([[NAN], [1.0], [2.0]])
    assert proba[0, 0] > proba[1:, 0].max() + 0.1
