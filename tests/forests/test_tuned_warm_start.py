# SPDX-License-Identifier: BSD-3-Clause
"""Forests that tune themselves, grown in several fits: estimates are of all trees."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mrforest
from mrforest import ForestClassifier, ForestRegressor

KINDS = [ForestClassifier, ForestRegressor]
SETTING = (
    "max_features",
    "feature_budget",
    "split_budget",
    "equality_cuts",
    "criterion",
    "min_samples_split",
)
ESTIMATES = ("power_", "oob_score_", "oob_decision_function_", "oob_prediction_")


def table(kind, n_rows=203):
    """Few values, so that some rows have the same codes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    X[:, 2] = rng.integers(0, 4, n_rows)
    y = X[:, 0] + (X[:, 2] == 2) + rng.normal(size=n_rows) / 2
    return X, (y > 0.5).astype(int) if kind is ForestClassifier else y


def grown(kind, *numbers, X, y, weight=None, **options):
    """Return a forest of so many trees after each fit."""
    forest = kind(warm_start=True, random_state=0, **options)
    for number in numbers:
        forest.set_params(n_estimators=number).fit(X, y, weight)
    return forest


def chosen(forest):
    """Return the parameters that a forest has chosen."""
    params = forest.get_params()
    return {name: getattr(forest, f"{name}_") for name in SETTING if name in params}


def assert_same_estimates(one, other):
    assert hasattr(one, "oob_score_")
    for name in ESTIMATES:
        assert hasattr(one, name) == hasattr(other, name)
        assert_array_equal(getattr(one, name, 0), getattr(other, name, 0))


def assert_no_estimates(forest):
    for name in ESTIMATES[1:]:
        assert not hasattr(forest, name)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_several_fits_are_one(kind, weighted):
    X, y = table(kind)
    rng = np.random.default_rng(1)
    weight = rng.random(len(X)) * (rng.random(len(X)) < 0.9) if weighted else None
    warm = grown(kind, 12, 13, 13 + 17, X=X, y=y, weight=weight)
    once = kind(30, random_state=0, **chosen(warm)).fit(X, y, weight)
    assert_same_estimates(warm, once)
    assert_array_equal(warm.feature_importances_, once.feature_importances_)
    assert_array_equal(warm.predict(X), once.predict(X))
    # Estimates are not those of the first trees.
    first = kind(12, random_state=0, **chosen(warm)).fit(X, y, weight)
    assert first.oob_score_ != once.oob_score_


@pytest.mark.parametrize("class_weight", [{0: 1.0, 1: 3.5}, "balanced"])
def test_weights_of_classes(class_weight):
    X, y = table(ForestClassifier)
    options = {"class_weight": class_weight, "calibrate": False}
    warm = grown(ForestClassifier, 10, 25, X=X, y=y, **options)
    once = ForestClassifier(25, random_state=0, **chosen(warm), **options).fit(X, y)
    assert_same_estimates(warm, once)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_rows_does_not_matter(kind):
    X, y = table(kind)
    X = np.round(X, 1)
    order = np.random.default_rng(2).permutation(len(X))
    warm = grown(kind, 15, X=X, y=y, max_bins=4)
    warm.set_params(n_estimators=25).fit(X[order], y[order])
    once = kind(25, random_state=0, max_bins=4, **chosen(warm)).fit(X[order], y[order])
    assert_same_estimates(warm, once)


@pytest.mark.filterwarnings("ignore:.*no tree is added")
@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_that_adds_no_tree_changes_nothing(kind):
    X, y = table(kind)
    assert_same_estimates(grown(kind, 20, 20, X=X, y=y), grown(kind, 20, X=X, y=y))


def others(X, y):
    """Tables that differ a little from another one: rows, targets, weights."""
    moved, heavier = X.copy(), np.ones(len(X))
    moved[0, 0] += 1
    heavier[0] = 2
    swapped = y.copy()
    swapped[np.argmin(y)], swapped[np.argmax(y)] = y.max(), y.min()
    yield moved, y, None
    yield X, swapped, None
    yield X, y, heavier
    yield X[1:], y[1:], None


@pytest.mark.parametrize("change", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_other_rows_end_the_estimates(kind, change):
    X, y = table(kind)
    forest = grown(kind, 10, X=X, y=y)
    power = getattr(forest, "power_", None)
    other, target, weight = list(others(X, y))[change]
    forest.set_params(n_estimators=15).fit(other, target, weight)
    assert_no_estimates(forest)
    assert getattr(forest, "power_", None) == power
    # The trees of the other rows stay.
    assert_no_estimates(forest.set_params(n_estimators=20).fit(X, y))
    assert hasattr(forest.set_params(warm_start=False).fit(X, y), "oob_score_")


def test_targets_in_another_unit_end_the_estimates():
    X, y = table(ForestRegressor)
    forest = grown(ForestRegressor, 10, X=X, y=y)
    assert_no_estimates(forest.set_params(n_estimators=15).fit(X, 2 * y))


@pytest.mark.parametrize("change", [{"max_bins": 3}, {"class_weight": {0: 2, 1: 1}}])
def test_another_view_of_the_rows_ends_the_estimates(change):
    X, y = table(ForestClassifier)
    forest = grown(ForestClassifier, 10, X=X, y=y)
    assert_no_estimates(forest.set_params(n_estimators=15, **change).fit(X, y))


def test_another_criterion_is_not_looked_at():
    X, y = table(ForestClassifier)
    forest = grown(ForestClassifier, 10, X=X, y=y, criterion="gini")
    forest.set_params(criterion="entropy", n_estimators=15).fit(X, y)
    expected = grown(ForestClassifier, 10, 15, X=X, y=y, criterion="gini")
    assert forest.criterion_ == "gini"
    assert_same_estimates(forest, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_a_fit_without_warm_start_have_no_estimates_later(kind):
    X, y = table(kind)
    forest = kind(10, random_state=0).fit(X, y)
    assert not hasattr(forest, "_held_out")
    forest.set_params(warm_start=True, n_estimators=15).fit(X, y)
    assert_no_estimates(forest)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_keeps_what_a_warm_start_needs_and_a_file_does_not(kind, tmp_path):
    X, y = table(kind)
    forest = grown(kind, 10, X=X, y=y)
    mrforest.save(forest, tmp_path / "forest.mrf")
    loaded = mrforest.load(tmp_path / "forest.mrf")
    assert_same_estimates(loaded, forest)
    copy = pickle.loads(pickle.dumps(forest))
    for other in (forest, copy, loaded):
        other.set_params(n_estimators=15).fit(X, y)
    assert_same_estimates(copy, forest)
    assert_no_estimates(loaded)
    assert_array_equal(loaded.predict(X), forest.predict(X))


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_warm_start_changes_no_estimate(kind, monkeypatch):
    X, y = table(kind)
    forest = grown(kind, 10, X=X, y=y)

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(kind, "_finish_tuning", stop)
        with pytest.raises(KeyboardInterrupt):
            forest.set_params(n_estimators=15).fit(X, y)
    assert_same_estimates(forest, grown(kind, 10, X=X, y=y))
    forest.set_params(n_estimators=15).fit(X, y)
    assert_same_estimates(forest, grown(kind, 10, 15, X=X, y=y))
