# SPDX-License-Identifier: BSD-3-Clause
"""Default forests elsewhere: equality cuts of numbers, calibrated probabilities."""

import pickle
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import export_text

import mrforest
from mrforest import ForestClassifier
from mrforest.interop import shap_values, to_onnx, to_sklearn
from tests.interop.tables import (
    fitted_classifier,
    fitted_regressor,
    mean_shares,
)
from tests.interop.test_others import run
from tests.interop.trees import classifier_of, grid, random_forest

MISSING = [0.0, 0.1]
CLASSES = [2, 3, 5]


# ---- scikit-learn --------------------------------------------------------------------


@pytest.mark.parametrize("share_missing", MISSING)
@pytest.mark.parametrize("n_classes", CLASSES)
def test_same_probabilities(n_classes, share_missing):
    forest, X = fitted_classifier(n_classes, share_missing)
    other = to_sklearn(forest)
    assert isinstance(other, RandomForestClassifier)
    assert other.classes_.tolist() == forest.classes_.tolist()
    expected = forest.predict_proba(X)
    assert np.abs(expected - mean_shares(forest, X)).max() > 1e-3
    np.testing.assert_allclose(other.predict_proba(X), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        other.predict_log_proba(X), np.log(expected), rtol=0, atol=1e-9
    )
    np.testing.assert_array_equal(other.predict(X), forest.predict(X))


def test_without_calibration_it_is_scikit_learns_own_class():
    forest, X = fitted_classifier(calibrate=False)
    other = to_sklearn(forest)
    assert type(other) is RandomForestClassifier
    np.testing.assert_allclose(
        other.predict_proba(X), forest.predict_proba(X), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("share_missing", MISSING)
def test_same_numbers(share_missing):
    forest, X = fitted_regressor(share_missing)
    other = to_sklearn(forest)
    assert type(other) is RandomForestRegressor
    np.testing.assert_allclose(other.predict(X), forest.predict(X), rtol=1e-12)


@pytest.mark.parametrize("make", [fitted_classifier, fitted_regressor])
def test_nodes_add_up(make):
    forest, X = make(share_missing=0.1)
    for number, tree in enumerate(to_sklearn(forest).estimators_):
        tree = tree.tree_
        left, right = tree.children_left, tree.children_right
        inner = left >= 0
        own = forest.estimators_[number]._flat
        assert tree.n_node_samples[0] == own.leaf_points.sum() == len(X)
        assert tree.weighted_n_node_samples[0] == pytest.approx(len(X))
        weight = tree.weighted_n_node_samples
        np.testing.assert_allclose(
            weight[inner], weight[left[inner]] + weight[right[inner]]
        )
        mean = sum(
            tree.value[side[inner]] * weight[side[inner], None, None]
            for side in (left, right)
        )
        np.testing.assert_allclose(tree.value[inner], mean / weight[inner, None, None])


def test_whole_numbers_that_float32_does_not_have():
    random = np.random.default_rng(0)
    days = np.array([20240101, 20240107, 20240113, 20240119, 20240125])
    assert (days.astype(np.float32) != days).all()
    place = random.integers(5, size=(300, 2))
    y = (place[:, 0] == 2) ^ (place[:, 1] == 3)
    X = days[place].astype(float)
    forest = ForestClassifier(8, equality_cuts=True, random_state=0).fit(X, y)
    expected = forest.predict_proba(X)
    assert forest._forest.has_equality
    found = to_sklearn(forest).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    pytest.importorskip("skl2onnx")
    _, found = run(to_onnx(forest), X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_what_can_be_done_with_it(tmp_path):
    forest, X = fitted_classifier()
    other = to_sklearn(forest)
    expected = forest.predict_proba(X)
    again = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(again.predict_proba(X), other.predict_proba(X))
    assert "feature_" in export_text(other.estimators_[0])
    assert other.feature_importances_.sum() == pytest.approx(1.0)
    mrforest.save(forest, tmp_path / "forest.mrf")
    loaded = to_sklearn(mrforest.load(tmp_path / "forest.mrf"))
    np.testing.assert_allclose(loaded.predict_proba(X), expected, rtol=0, atol=1e-12)
    for estimator in (other, clone(other)):
        with pytest.raises(TypeError, match="cannot be fitted; fit a ForestClassifier"):
            estimator.fit(X, forest.predict(X))


def test_labels_are_those_of_the_shares():
    """A power may make two shares equal that are not."""
    forest, X = fitted_classifier()
    other = to_sklearn(forest)
    other.power_ = 1e-20
    np.testing.assert_array_equal(other.predict(X), forest.predict(X))


# ---- ONNX ----------------------------------------------------------------------------


def attributes_of(model):
    (ensemble,) = (n for n in model.graph.node if n.op_type.startswith("TreeEnsemble"))
    return {attribute.name: attribute for attribute in ensemble.attribute}


@pytest.mark.parametrize("calibrate", [True, False])
@pytest.mark.parametrize("share_missing", MISSING)
@pytest.mark.parametrize("n_classes", CLASSES)
def test_onnx_probabilities(n_classes, share_missing, calibrate):
    pytest.importorskip("skl2onnx")
    forest, X = fitted_classifier(n_classes, share_missing, calibrate=calibrate)
    model = to_onnx(forest)
    labels, found = run(model, X)
    expected = forest.predict_proba(X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    first, second = np.sort(expected, axis=1)[:, :-3:-1].T
    is_clear = first - second > 1e-5
    np.testing.assert_array_equal(labels[is_clear], forest.predict(X)[is_clear])
    assert len(attributes_of(model)["nodes_modes"].strings) == len(forest._forest.nodes)


@pytest.mark.parametrize("share_missing", MISSING)
def test_onnx_numbers(share_missing):
    pytest.importorskip("skl2onnx")
    forest, X = fitted_regressor(share_missing)
    model = to_onnx(forest)
    (found,) = run(model, X)
    np.testing.assert_allclose(found[:, 0], forest.predict(X), rtol=1e-5, atol=1e-6)
    modes = attributes_of(model)["nodes_modes"].strings
    assert {b"BRANCH_LEQ", b"BRANCH_EQ", b"BRANCH_NEQ", b"LEAF"} == set(modes)


@given(seed=st.integers(0, 2**32 - 1))
def test_onnx_trees_of_any_cuts(seed):
    """onnxruntime takes equality cuts in a row for one if it can."""
    pytest.importorskip("skl2onnx")
    flat = random_forest(seed, most_splits=12)
    forest = classifier_of(flat, seed)
    X = grid(flat)
    X = np.concatenate([X, X + 0.25, X - 0.25])
    # skl2onnx looks at importances; all of them may be 0.
    with np.errstate(invalid="ignore"):
        model = to_onnx(forest)
    _, found = run(model, X)
    np.testing.assert_allclose(found, forest.predict_proba(X), rtol=0, atol=1e-6)


def test_onnx_without_onnxruntime():
    pytest.importorskip("skl2onnx")
    reference = pytest.importorskip("onnx.reference")
    forest, X = fitted_classifier(share_missing=0.1)
    X = X[:100]
    session = reference.ReferenceEvaluator(to_onnx(forest))
    with np.errstate(divide="ignore"):  # a share of 0 has no logarithm
        _, found = session.run(None, {"X": X.astype(np.float32)})
    np.testing.assert_allclose(found, forest.predict_proba(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("power", [0.1, 11.0, 21.0])
def test_onnx_powers(power):
    pytest.importorskip("skl2onnx")
    checker = pytest.importorskip("onnx.checker")
    forest, X = fitted_classifier(5)
    forest.power_ = power
    model = to_onnx(forest)
    checker.check_model(model, full_check=True)
    _, found = run(model, X)
    np.testing.assert_allclose(found, forest.predict_proba(X), rtol=0, atol=1e-6)


# ---- treelite ------------------------------------------------------------------------


@pytest.mark.parametrize("share_missing", MISSING)
@pytest.mark.parametrize("n_classes", CLASSES)
def test_treelite(n_classes, share_missing):
    treelite = pytest.importorskip("treelite")
    forest, X = fitted_classifier(n_classes, share_missing)
    other = to_sklearn(forest)
    model = treelite.sklearn.import_model(other)
    shares = treelite.gtil.predict(model, X).reshape(len(X), -1)
    expected = forest.predict_proba(X)
    np.testing.assert_allclose(other.sharpen(shares), expected, rtol=0, atol=1e-9)


# ---- SHAP ----------------------------------------------------------------------------


@pytest.mark.parametrize("share_missing", MISSING)
@pytest.mark.parametrize("n_classes", CLASSES)
def test_shap_values_add_up(n_classes, share_missing):
    pytest.importorskip("shap")
    forest, X = fitted_classifier(n_classes, share_missing)
    X = X[:40]
    values = shap_values(forest, X)
    assert values.shape == (40, 5, n_classes)
    rest = mean_shares(forest, X) - values.sum(axis=1)
    np.testing.assert_allclose(rest, np.tile(rest[:1], (40, 1)), atol=1e-9)


@pytest.mark.parametrize("share_missing", MISSING)
def test_shap_values_of_numbers(share_missing):
    pytest.importorskip("shap")
    forest, X = fitted_regressor(share_missing)
    values = shap_values(forest, X)
    assert values.shape == X.shape
    rest = forest.predict(X) - values.sum(axis=1)
    np.testing.assert_allclose(rest, rest[0])


@pytest.mark.parametrize("share_missing", MISSING)
def test_shap_values_are_shapley_values(share_missing):
    pytest.importorskip("shap")
    forest, X = fitted_regressor(share_missing)
    for row, values in zip(X[:5], shap_values(forest, X[:5]), strict=True):
        np.testing.assert_allclose(values, shapley_values(forest, row), atol=1e-12)


def shapley_values(forest, row):
    """Return values by their definition, from all sets of features."""
    n = len(row)
    sets = [set(some) for size in range(n + 1) for some in combinations(range(n), size)]
    worth = {
        frozenset(some): np.mean(
            [expected(tree, row, some) for tree in forest.estimators_]
        )
        for some in sets
    }
    values = np.zeros(n)
    for j in range(n):
        for some in (frozenset(some) for some in sets if j not in some):
            gain = worth[some | {j}] - worth[some]
            values[j] += gain / (n * comb(n - 1, len(some)))
    return values


def expected(tree, row, known):
    """Return what a tree says of a row of which some features are known."""
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    threshold, is_equality = tree.threshold, tree.is_equality
    missing_left, flat = tree.missing_left, tree._flat
    weight = flat.add_up(flat.leaf_mass[:, np.newaxis])[:, 0]

    def below(i):
        if left[i] < 0:
            return flat.leaf_value[-1 - flat.nodes["child"][i]]
        x = row[feature[i]]
        if feature[i] not in known:
            sides = (left[i], right[i])
            return sum(weight[side] * below(side) for side in sides) / weight[i]
        goes_left = x == threshold[i] if is_equality[i] else x <= threshold[i]
        if np.isnan(x):
            goes_left = missing_left[i]
        return below(left[i] if goes_left else right[i])

    return below(0)
