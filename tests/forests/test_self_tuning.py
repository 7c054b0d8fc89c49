# SPDX-License-Identifier: BSD-3-Clause
"""Forests that tune themselves: what is held out, what is chosen, what is said."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import cross_val_predict

from mrforest import ForestClassifier, ForestRegressor
from mrforest.forests.tuning import sharpen

# Nothing to choose
FIXED = {
    "max_features": 2,
    "feature_budget": 5.0,
    "split_budget": 5.0,
    "equality_cuts": True,
    "min_samples_split": 7,
    "min_samples_leaf": 2,
    "random_state": 3,
}

SETTING = (
    "max_features",
    "feature_budget",
    "split_budget",
    "equality_cuts",
    "criterion",
)


def held_rows(forest, tree: int, n_rows: int) -> np.ndarray:
    """Return the user's rows that are held out of a tree."""
    batch = forest._batches[0]
    points, n_structure = batch.sampler.points(forest._seed, tree, n_rows)
    return batch.origin[points[n_structure:]]


def table(n_rows: int = 203) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    X[:, 3:] = rng.integers(0, 6, (n_rows, 2))
    y = (X[:, 0] + (X[:, 3] == 2) > 0.5).astype(int) + (rng.random(n_rows) < 0.1)
    return X, y


@pytest.mark.parametrize("weighted", [False, True])
def test_out_of_bag_probabilities_by_hand(weighted):
    X, y = table()
    weight = np.random.default_rng(1).random(len(X)) + 0.1 if weighted else None
    own = np.ones(len(X)) if weight is None else weight
    forest = ForestClassifier(23, calibrate=False, criterion="gini", **FIXED)
    forest.fit(X, y, weight)
    leaves, sums, counts = forest.apply(X), np.zeros((len(X), 3)), np.zeros(len(X))
    for tree in range(23):
        for row in held_rows(forest, tree, len(X)):
            others = (leaves[:, tree] == leaves[row, tree]) & (np.arange(len(X)) != row)
            masses = np.bincount(y[others], own[others], minlength=3)
            sums[row] += masses / masses.sum()
            counts[row] += 1
    assert (counts > 0).all()
    assert counts.max() - counts.min() <= 1  # groups hold out all rows equally often
    shares = sums / counts[:, None]
    assert_allclose(forest.oob_decision_function_, shares, rtol=1e-9)
    expected = accuracy_score(y, shares.argmax(axis=1), sample_weight=weight)
    assert forest.oob_score_ == pytest.approx(expected)


def test_out_of_bag_predictions_by_hand():
    X, y = load_diabetes(return_X_y=True)
    forest = ForestRegressor(20, **FIXED).fit(X, y)
    leaves, sums, counts = forest.apply(X), np.zeros(len(X)), np.zeros(len(X))
    for tree in range(20):
        for row in held_rows(forest, tree, len(X)):
            others = (leaves[:, tree] == leaves[row, tree]) & (np.arange(len(X)) != row)
            sums[row] += y[others].mean()
            counts[row] += 1
    assert_allclose(forest.oob_prediction_, sums / counts)
    assert forest.oob_score_ == pytest.approx(r2_score(y, sums / counts))


def test_nothing_is_tried_if_all_is_fixed():
    X, y = table()
    forest = ForestClassifier(20, criterion="entropy", **FIXED).fit(X, y)
    assert forest.tuning_ == []
    assert (forest.max_features_, forest.min_samples_split_) == (2, 7)
    assert (forest.feature_budget_, forest.split_budget_) == (5.0, 5.0)
    assert (forest.equality_cuts_, forest.criterion_) == (True, "entropy")
    forest = ForestRegressor(20, **FIXED).fit(X, y)
    assert forest.tuning_ == []
    assert forest.criterion_ == "variance"


@pytest.mark.parametrize("parameter", [*FIXED][:5])
def test_what_is_not_fixed_is_tried(parameter):
    X, y = table()
    fixed = FIXED | {parameter: "auto"}
    forest = ForestClassifier(20, criterion="gini", **fixed).fit(X, y)
    assert len(forest.tuning_) > (parameter != "min_samples_split")
    sizes = {tuple(trial.leaf_sizes) for trial in forest.tuning_}
    assert (sizes == {(6,)}) == (parameter != "min_samples_split")
    for trial in forest.tuning_:
        for name in {*FIXED, "criterion"} & {*trial._fields} - {parameter}:
            assert getattr(trial, name) == getattr(forest, name)


def test_the_setting_with_the_smallest_loss_is_chosen():
    X, y = table(500)
    forest = ForestClassifier(random_state=0).fit(X, y)
    best = min(forest.tuning_, key=lambda trial: trial.loss)
    names = best._fields[:5]
    assert names == SETTING
    assert [getattr(forest, f"{name}_") for name in names] == list(best[:5])
    assert forest.min_samples_split_ == best.leaf_size + 1
    for trial in forest.tuning_:
        assert trial.leaf_size == trial.leaf_sizes[trial.losses.argmin()]
        assert trial.loss <= trial.losses.min()  # sharpened, it is smaller


def test_order_of_trials():
    """From the most random setting on as long as it gets better; equality, Gini."""
    X, y = table(500)
    trials = ForestClassifier(random_state=0).fit(X, y).tuning_
    *levels, equality, gini = trials
    assert [trial.max_features for trial in levels] == [2, 3, 5][: len(levels)]
    assert [trial.split_budget for trial in levels] == [10, 20, 40][: len(levels)]
    assert {trial[3:5] for trial in levels} == {(False, "entropy")}
    losses = [trial.loss for trial in levels]
    assert all(a > b for a, b in itertools.pairwise(losses[:-1]))
    best = min(levels, key=lambda trial: trial.loss)
    assert equality[:5] == (*best[:3], True, "entropy")
    best = min(best, equality, key=lambda trial: trial.loss)
    assert gini[:5] == (*best[:4], "gini")
    # No feature offers equality, no criterion is there to choose.
    trials = ForestRegressor(random_state=0).fit(X[:, :3], X[:, 0] ** 2).tuning_
    assert {trial[3:5] for trial in trials} == {(False, "variance")}


def test_equality_is_offered_where_it_helps():
    """Codes of eight kinds as numbers: neighbours have nothing in common."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 8, (1500, 4)).astype(float)
    y = np.isin(X[:, 0], [1, 4, 6]) ^ np.isin(X[:, 1], [0, 3, 5])
    y ^= rng.random(1500) < 0.2
    forest = ForestClassifier(random_state=0).fit(X, y)
    assert forest.equality_cuts_
    assert any(tree.is_equality.any() for tree in forest.estimators_)
    never = ForestClassifier(equality_cuts=False, random_state=0).fit(X, y)
    assert not any(tree.is_equality.any() for tree in never.estimators_)
    assert forest.oob_score_ > never.oob_score_


def test_probabilities_are_sharpened_by_a_power():
    X, y = load_wine(return_X_y=True)
    plain = ForestClassifier(40, calibrate=False, random_state=0).fit(X, y)
    sharp = ForestClassifier(40, random_state=0).fit(X, y)
    assert sharp.power_ > 1
    share = 1 / (len(X) + 1)
    expected = sharpen(plain.predict_proba(X), sharp.power_, share)
    assert_allclose(sharp.predict_proba(X), expected)
    assert_allclose(sharp.predict_proba(X).sum(axis=1), 1)
    assert (sharp.predict_proba(X) > 0).all()
    assert_array_equal(sharp.predict(X), plain.predict(X))


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_log_loss_beside_scikit_learns(load):
    X, y = load(return_X_y=True)
    losses = [
        log_loss(y, cross_val_predict(forest, X, y, cv=5, method="predict_proba"))
        for forest in (
            ForestClassifier(random_state=0),
            RandomForestClassifier(random_state=0),
        )
    ]
    assert losses[0] < losses[1]


def test_out_of_bag_accuracy_is_that_of_new_rows():
    X, y = table(4000)
    forest = ForestClassifier(random_state=0).fit(X[:2000], y[:2000])
    assert forest.oob_score_ == pytest.approx(
        forest.score(X[2000:], y[2000:]), abs=0.03
    )


@pytest.mark.parametrize("scale", [2.0, 0.375, 1000.0])
def test_only_ratios_of_weights_matter(scale):
    """Scales whose products are exact."""
    X, y = table()
    weight = np.random.default_rng(2).integers(1, 9, len(X)).astype(float)
    one, other = (
        ForestClassifier(20, calibrate=False, random_state=0).fit(X, y, w)
        for w in (weight, weight * scale)
    )
    assert_array_equal(one._forest.nodes, other._forest.nodes)
    # Masses of leaves are 32-bit floats.
    assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-5)


def test_a_large_weight_takes_no_longer():
    """A row is one point whatever its weight: memory would not hold so many copies."""
    X, y = table()
    weight = np.where(np.arange(len(X)) % 2, 1, 10**9)
    forest = ForestClassifier(20, random_state=0).fit(X, y, weight)
    assert (forest._forest.leaf_points <= len(X)).all()


def test_more_trees_by_a_warm_start():
    X, y = table()
    forest = ForestClassifier(40, warm_start=True, random_state=0).fit(X, y)
    chosen = forest.max_features_, forest.min_samples_split_
    first = [tree.threshold for tree in forest.estimators_]
    forest.set_params(n_estimators=55).fit(X, y)
    assert len(forest.estimators_) == 55
    assert chosen == (forest.max_features_, forest.min_samples_split_)
    for before, tree in zip(first, forest.estimators_, strict=False):
        assert_array_equal(before, tree.threshold)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 7, 20])
def test_tiny_tables(n_rows):
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(random_state=0).fit(X[:n_rows], y[:n_rows])
    assert forest.predict_proba(X).shape == (len(X), len(forest.classes_))
    X, y = load_diabetes(return_X_y=True)
    assert np.isfinite(
        ForestRegressor(random_state=0).fit(X[:n_rows], y[:n_rows]).predict(X)
    ).all()


def test_all_rows_may_shape_the_trees():
    """Then there is nothing to estimate from; settings are chosen all the same."""
    X, y = table(50)
    for max_samples in (1.0, 50, 1000):
        forest = ForestClassifier(20, max_samples=max_samples, random_state=0).fit(X, y)
        assert np.isnan(forest.oob_score_)
        assert forest.oob_decision_function_.shape == (50, 3)
        assert np.isnan(forest.oob_decision_function_).all()
        assert_array_equal(forest.feature_importances_, np.zeros(5))
        best = min(forest.tuning_, key=lambda trial: trial.loss)
        assert forest.power_ == best.power != 1
        shares = ForestClassifier(20, max_samples=1.0, calibrate=False, random_state=0)
        expected = sharpen(shares.fit(X, y).predict_proba(X), best.power, 1 / 51)
        assert_allclose(forest.predict_proba(X), expected)
    fixed = FIXED | {"max_samples": 1.0, "criterion": "gini"}
    assert ForestClassifier(20, **fixed).fit(X, y).power_ == 1
    forest = ForestRegressor(20, max_samples=1.0, random_state=0).fit(X, y)
    assert np.isnan(forest.oob_score_)
    assert np.isnan(forest.oob_prediction_).all()
    assert len(forest.tuning_) > 1


def test_losses_do_not_depend_on_the_rows_of_a_tree():
    """Trials hold out half of the rows, whatever the forest holds out."""
    X, y = table(100)
    one, other = (
        ForestClassifier(20, max_samples=share, random_state=0).fit(X, y).tuning_
        for share in (0.8, 0.3)
    )
    for trial, same in zip(one, other, strict=True):
        assert trial[:5] == same[:5]
        assert_array_equal(trial.losses, same.losses)


def test_a_forest_of_one_group_has_the_power_of_its_trial():
    """No row has a tree in both halves; out-of-bag estimates are there."""
    X, y = table(100)
    forest = ForestClassifier(5, random_state=0).fit(X, y)
    assert forest.power_ == min(forest.tuning_, key=lambda trial: trial.loss).power
    assert np.isfinite(forest.oob_decision_function_).all()


# ---- what the code does not do yet ---------------------------------------------------


def test_losses_of_a_regression_are_shares_of_the_variance():
    X, y = load_diabetes(return_X_y=True)
    forest = ForestRegressor(100, random_state=0).fit(X, y)
    best = min(forest.tuning_, key=lambda trial: trial.loss)
    error = np.mean((forest.oob_prediction_ - y) ** 2)
    assert best.loss == pytest.approx(error / y.var(), rel=0.2)


def test_out_of_bag_accuracy_does_not_depend_on_the_weight_of_classes():
    """As in scikit-learn, and as in the other forests that have it."""
    X, y = table()
    weight = {0: 1.0, 1: 5.0, 2: 0.5}
    forest = ForestClassifier(20, class_weight=weight, random_state=0).fit(X, y)
    labels = forest.oob_decision_function_.argmax(axis=1)
    assert forest.oob_score_ == pytest.approx(accuracy_score(y, labels))
