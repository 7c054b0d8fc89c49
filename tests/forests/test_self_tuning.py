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
from mrforest.forests._nodes import MISSING_LEFT
from mrforest.forests._tuning import sharpen

# Nothing to choose
FIXED = {
    "max_features": 2,
    "feature_budget": 5.0,
    "split_budget": 5.0,
    "equality_cuts": True,
    "min_samples_split": 7,
    "min_samples_leaf": 2,  # so that no held-out row is alone in its leaf
    "random_state": 3,
}


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
    forest = ForestClassifier(23, calibrate=False, **FIXED).fit(X, y, weight)
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
    assert_allclose(forest.oob_decision_function_, shares, rtol=1e-5, atol=1e-7)
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


def test_nothing_is_tried_that_is_fixed():
    X, y = table()
    forest = ForestClassifier(100, criterion="gini", **FIXED).fit(X, y)
    assert forest.tuning_ == []
    assert (forest.max_features_, forest.min_samples_split_) == (2, 7)
    assert (forest.equality_cuts_, forest.criterion_) == (True, "gini")
    forest.set_params(criterion="auto").fit(X, y)
    assert [trial.criterion for trial in forest.tuning_] == ["entropy", "gini"]
    for trial in forest.tuning_:
        assert trial.setting[:4] == (2, 5.0, 5.0, True)
        assert_array_equal(trial.leaf_sizes, [6])


def test_the_setting_with_the_smallest_loss_is_chosen():
    X, y = table(500)
    forest = ForestClassifier(random_state=0).fit(X, y)
    best = min(forest.tuning_, key=lambda trial: trial.loss)
    assert forest._setting() == best.setting
    assert forest.min_samples_split_ == best.leaf_size + 1
    # From the most random setting on, as long as it gets better; then equality, and
    # Gini at last.
    *levels, equality, gini = forest.tuning_
    assert [trial.max_features for trial in levels] == [2, 3, 5][: len(levels)]
    losses = [trial.loss for trial in levels]
    assert all(a > b for a, b in itertools.pairwise(losses[:-1]))
    assert not any(trial.equality_cuts for trial in levels)
    before = min(levels, key=lambda trial: trial.loss)
    assert equality.setting == before.setting._replace(equality=True)
    before = min(before, equality, key=lambda trial: trial.loss)
    assert gini.setting == before.setting._replace(criterion="gini")


def test_equality_is_offered_where_it_helps():
    """Codes of sixteen kinds as numbers: neighbours have nothing in common."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 16, (1500, 4)).astype(float)
    kinds = [rng.permutation(16)[:4] for _ in range(2)]
    y = np.isin(X[:, 0], kinds[0]) ^ np.isin(X[:, 1], kinds[1])
    forest = ForestClassifier(random_state=0).fit(X, y)
    assert forest.equality_cuts_
    assert any(tree.is_equality.any() for tree in forest.estimators_)
    never = ForestClassifier(equality_cuts=False, random_state=0).fit(X, y)
    assert not any(tree.is_equality.any() for tree in never.estimators_)
    assert forest.oob_score_ >= never.oob_score_


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


@pytest.mark.parametrize("scale", [2.0, 0.3, 1000.0])
def test_only_ratios_of_weights_matter(scale):
    X, y = table()
    weight = np.random.default_rng(2).integers(1, 9, len(X)).astype(float)
    one, other = (
        ForestClassifier(20, calibrate=False, random_state=0).fit(X, y, w)
        for w in (weight, weight * scale)
    )
    # Where both sides weigh the same, rounding decides to which missing values go.
    for name in ("child", "threshold"):
        assert_array_equal(one._forest.nodes[name], other._forest.nodes[name])
    features = [
        forest._forest.nodes["feature"] & ~MISSING_LEFT for forest in (one, other)
    ]
    assert_array_equal(*features)
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
    chosen = forest.max_features_, forest.min_samples_split_, forest.power_
    first = [tree.threshold for tree in forest.estimators_]
    forest.set_params(n_estimators=55).fit(X, y)
    assert len(forest.estimators_) == 55
    assert chosen == (forest.max_features_, forest.min_samples_split_, forest.power_)
    for before, tree in zip(first, forest.estimators_, strict=False):
        assert_array_equal(before, tree.threshold)
    assert not hasattr(forest, "oob_score_")
    assert not hasattr(forest, "oob_decision_function_")


@pytest.mark.parametrize("n_rows", [1, 2, 3, 7, 20])
def test_tiny_tables(n_rows):
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(random_state=0).fit(X[:n_rows], y[:n_rows])
    assert forest.predict_proba(X).shape == (len(X), len(forest.classes_))
    X, y = load_diabetes(return_X_y=True)
    assert np.isfinite(
        ForestRegressor(random_state=0).fit(X[:n_rows], y[:n_rows]).predict(X)
    ).all()


def test_all_rows_shape_the_trees():
    """Settings are tried with half of the rows all the same."""
    X, y = table(50)
    for max_samples in (50, 1.0):
        forest = ForestClassifier(20, max_samples=max_samples, random_state=0).fit(X, y)
        assert np.isnan(forest.oob_score_)
        assert np.isnan(forest.oob_decision_function_).all()
        assert_array_equal(forest.feature_importances_, np.zeros(5))
        best = min(forest.tuning_, key=lambda trial: trial.loss)
        assert forest.power_ == best.power != 1.0
