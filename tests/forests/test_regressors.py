# SPDX-License-Identifier: BSD-3-Clause
"""Forests that tell numbers: leaves are means, whatever the size of the targets."""

import math
import pickle

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_regressor
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score

from mrforest import BreimanForestRegressor
from tests.forests.every import (
    HONEST,
    REGRESSORS,
    TUNED,
    every_regressor,
    forest_of,
)
from tests.forests.frames import mixed_frame
from tests.forests.points import filling_rows
from tests.forests.sound import assert_sound
from tests.leaves import leaf_options


def table(n_rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, 0] + (X[:, 1] > 0) + rng.normal(size=n_rows) / 5
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@every_regressor
@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_leaves_are_means(name, leaf_rule, weights):
    """Of the rows that fill them, by weight."""
    X, _ = mixed_frame(5, 120)
    rng = np.random.default_rng(5)
    y = X["number"].fillna(0.0).to_numpy() + rng.normal(size=120) / 3
    weight = {
        None: np.ones(120),
        "whole": rng.integers(0, 4, 120),
        "real": rng.random(120) + 0.01,
    }[weights]
    forest = forest_of(name, **leaf_options(leaf_rule, 2))
    forest.fit(X, y, sample_weight=None if weights is None else weight)
    for number, tree in enumerate(forest.estimators_):
        rows = filling_rows(forest, number)
        leaves = tree.apply(X)
        told = tree.predict(X)
        assert len(np.unique(leaves)) > 3
        for leaf in np.unique(leaves[rows]):
            of_leaf = rows[leaves[rows] == leaf]
            # Rows of whole weight are named as often as they count.
            is_weighted = weights == "real" or name in TUNED
            by = weight[of_leaf] if is_weighted else None
            expected = np.average(y[of_leaf], weights=by)
            assert_allclose(told[leaves == leaf], expected, rtol=1e-11, atol=1e-13)
    mean = np.mean([tree.predict(X) for tree in forest.estimators_], axis=0)
    assert_allclose(forest.predict(X), mean, rtol=1e-12)


@every_regressor
def test_between_the_targets(name):
    X, y = table()
    forest = forest_of(name, n_estimators=10, min_samples_split=2).fit(X, y)
    asked = np.random.default_rng(0).normal(size=(200, 4)) * 10
    told = forest.predict(asked)
    assert ((told >= y.min()) & (told <= y.max())).all()
    assert len(np.unique(told)) > 10


@every_regressor
def test_kind_of_estimator(name):
    assert is_regressor(forest_of(name))
    assert not hasattr(forest_of(name), "predict_proba")
    assert not hasattr(forest_of(name).fit(*table()), "classes_")
    assert forest_of(name).__sklearn_tags__().input_tags.allow_nan


# ---- sizes of targets ---------------------------------------------------------------

SIZES = [1e-300, 1e-200, 1e200, 1e299]


@every_regressor
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_huge_and_tiny_targets(name, size, weighted):
    """The same trees, and answers of that size; powers of ten round a little."""
    X, y = table()
    weight = np.random.default_rng(1).random(len(y)) if weighted else None
    plain = forest_of(name, min_samples_split=3).fit(X, y, weight)
    scaled = forest_of(name, min_samples_split=3).fit(X, y * size, weight)
    assert_array_equal(scaled.apply(X), plain.apply(X))
    assert_allclose(scaled.predict(X) / size, plain.predict(X), rtol=1e-9)
    assert_allclose(
        scaled.feature_importances_, plain.feature_importances_, rtol=1e-6, atol=1e-9
    )


@every_regressor
@pytest.mark.parametrize("size", SIZES)
def test_structure_importances_of_huge_and_tiny_targets(name, size):
    """Squares of targets are out of range; their shares are not."""
    X, y = table()
    plain = forest_of(name, min_samples_split=3).fit(X, y)
    scaled = forest_of(name, min_samples_split=3).fit(X, y * size)
    expected = plain.structure_importances_
    assert_allclose(scaled.structure_importances_, expected, rtol=1e-6)


# scikit-learn's own look for infinity adds up all numbers.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")
@every_regressor
def test_targets_at_the_limit_of_floats(name):
    """They are told, or refused by an error that names them."""
    X, y = table()
    y = y / np.abs(y).max() * 1.7e308
    forest = forest_of(name, min_samples_split=3)
    message = None
    try:
        forest.fit(X, y)
    except ValueError as error:
        message = str(error)
    if message is None:
        told = assert_sound(forest, X)
        assert np.corrcoef(told / 1e308, y / 1e308)[0, 1] > 0.5
    else:
        assert "y " in message


@every_regressor
def test_targets_of_the_smallest_floats(name):
    X, y = table()
    assert_sound(forest_of(name).fit(X, y * 1e-310), X)


@every_regressor
@pytest.mark.parametrize("dtype", [int, np.int8, np.uint16, np.float32, bool])
def test_type_of_targets(name, dtype):
    X, y = table()
    y = (y > 0.5) if dtype is bool else (10 * (y - y.min())).astype(dtype)
    typed = forest_of(name).fit(X, y)
    plain = forest_of(name).fit(X, y.astype(np.float64))
    assert_array_equal(typed.predict(X), plain.predict(X))
    assert typed.predict(X).dtype == np.float64
    assert len(np.unique(typed.predict(X))) >= 5


@every_regressor
def test_column_of_targets(name):
    X, y = table()
    with pytest.warns(sklearn.exceptions.DataConversionWarning, match="column-vector"):
        forest = forest_of(name).fit(X, y[:, None])
    assert_array_equal(forest.predict(X), forest_of(name).fit(X, y).predict(X))


@every_regressor
@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
@pytest.mark.parametrize("value", [0.0, 0.1, -3.0, 1e300, -1e-300, math.pi * 1e17])
def test_constant_target(name, leaf_rule, value):
    X, _ = table()
    rng = np.random.default_rng(0)
    for weight in (None, rng.integers(1, 4, len(X)), rng.random(len(X))):
        forest = forest_of(name, **leaf_options(leaf_rule, 1))
        forest.fit(X, np.full(len(X), value), sample_weight=weight)
        assert set(assert_sound(forest, X)) == {value}
        assert_array_equal(forest.feature_importances_, np.zeros(4))
        assert_array_equal(forest.structure_importances_, np.zeros(4))
        is_split_on = leaf_rule == "floor" and name in HONEST
        assert (forest.n_leaves_ > 1).all() == is_split_on


@every_regressor
def test_targets_far_from_zero(name):
    """A small signal on a large constant is found."""
    X, y = table()
    plain = forest_of(name, min_samples_split=3).fit(X, y)
    moved = forest_of(name, min_samples_split=3).fit(X, y + 1e9)
    assert_array_equal(moved.apply(X), plain.apply(X))
    assert_allclose(moved.predict(X) - 1e9, plain.predict(X), atol=1e-5)


# ---- how good, how large ------------------------------------------------------------


@every_regressor
def test_diabetes(name):
    X, y = load_diabetes(return_X_y=True)
    forest = forest_of(name, n_estimators=40, min_samples_split=4, n_range_samples=100)
    assert cross_val_score(forest, X, y, cv=4).mean() > 0.3


@every_regressor
def test_importances_name_the_features_that_matter(name):
    X, y = table(400)
    X = np.nan_to_num(X)
    forest = forest_of(name, n_estimators=30, min_samples_split=4).fit(X, y)
    for importances in (forest.feature_importances_, forest.structure_importances_):
        assert np.abs(importances).sum() == pytest.approx(1)
        assert set(np.argsort(importances)[2:]) == {0, 1}
    if name in HONEST:
        assert np.abs(forest.feature_importances_[2:]).max() < 0.05


@pytest.mark.parametrize("name", REGRESSORS)
def test_size_of_a_pickle(name):
    """Nodes and leaves of a few bytes each, and one number or two for each row."""
    rng = np.random.default_rng(0)
    X = rng.random((2000, 5))
    y = X[:, 0] + rng.random(2000)
    forest = forest_of(name, n_estimators=10, **leaf_options("floor", 5)).fit(X, y)
    kept = pickle.dumps(forest)
    n_nodes, n_leaves = len(forest._forest.nodes), forest.n_leaves_.sum()
    of_rows = 4 * 2000 + getattr(forest, "oob_prediction_", np.empty(0)).nbytes
    assert len(kept) < 16 * n_nodes + 28 * n_leaves + of_rows + 5000
    if name in HONEST:  # a leaf of a bag may hold one row five times
        assert not any(value.tobytes() in kept for value in y)


@pytest.mark.parametrize("weight", [None, 1.5, "random"])
@pytest.mark.parametrize("outlier", [1e4, 1e7, 1e10])
def test_an_outlier_does_not_hide_the_rest(weight, outlier):
    """One cut takes it away; below, targets of size 1 are told apart as ever."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 8))
    y = (X[:, 0] > 0.5) * 1.0 + (X[:, 1] > 0.5) * 0.5
    X[0, 7], y[0] = 5.0, outlier
    weights = {None: None, 1.5: np.full(400, 1.5), "random": rng.random(400) + 0.5}
    forest = BreimanForestRegressor(1, max_features=None, max_depth=4, random_state=3)
    forest.fit(X, y, sample_weight=weights[weight])
    assert np.abs(forest.predict(X) - y)[1:].mean() < 0.01
