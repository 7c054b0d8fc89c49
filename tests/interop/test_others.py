# SPDX-License-Identifier: BSD-3-Clause
"""Packages that know scikit-learn's forests predict what ours does."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from mrforest import (
    BreimanForestClassifier,
    BreimanForestRegressor,
    MultinomialForestClassifier,
    PrivateForestClassifier,
)
from mrforest.interop import shap_values, to_onnx, to_sklearn
from tests.interop.test_sklearn import as_float32, digits

FORESTS = [
    MultinomialForestClassifier(10, random_state=0),
    MultinomialForestClassifier(10, random_state=0, voting="soft"),
    BreimanForestClassifier(10, random_state=0),
    PrivateForestClassifier(
        5.0, bounds=(0, 16), classes=[str(digit) for digit in range(10)]
    ),
]
MISSING = [0.0, 0.2]


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return as_float32(X), y


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return as_float32(X), y


# ---- ONNX ----------------------------------------------------------------------------


def run(model, X):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"X": X.astype(np.float32)})


@pytest.mark.parametrize("share_missing", MISSING)
@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_onnx_probabilities(forest, share_missing):
    pytest.importorskip("skl2onnx")
    X, y = digits(share_missing)
    forest.fit(X, y)
    labels, found = run(to_onnx(forest), X)
    expected = forest.predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    # Of nearly equal probabilities float32 may take another.
    first, second = np.sort(expected, axis=1)[:, :-3:-1].T
    is_clear = first - second > 1e-5
    np.testing.assert_array_equal(labels[is_clear], forest.predict(X)[is_clear])


def test_onnx_two_classes():
    pytest.importorskip("skl2onnx")
    X, y = cancer()
    forest = MultinomialForestClassifier(10, random_state=0, voting="soft").fit(X, y)
    _, found = run(to_onnx(forest), X)
    np.testing.assert_allclose(found, forest.predict_proba(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("share_missing", MISSING)
def test_onnx_numbers(share_missing):
    pytest.importorskip("skl2onnx")
    X, y = diabetes()
    X[np.random.default_rng(0).random(X.shape) < share_missing] = np.nan
    forest = BreimanForestRegressor(10, random_state=0).fit(X, y)
    (found,) = run(to_onnx(forest), X)
    np.testing.assert_allclose(found[:, 0], forest.predict(X), rtol=1e-6)


# ---- treelite ------------------------------------------------------------------------


@pytest.mark.parametrize("share_missing", MISSING)
@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_treelite(forest, share_missing):
    treelite = pytest.importorskip("treelite")
    X, y = digits(share_missing)
    forest.fit(X, y)
    model = treelite.sklearn.import_model(to_sklearn(forest))
    found = treelite.gtil.predict(model, X).reshape(len(X), -1)
    np.testing.assert_allclose(found, forest.predict_proba(X), rtol=0, atol=1e-6)


# ---- SHAP ----------------------------------------------------------------------------


@pytest.mark.parametrize("share_missing", MISSING)
@pytest.mark.parametrize("forest", FORESTS[1:3], ids=str)
def test_shap_values_add_up(forest, share_missing):
    pytest.importorskip("shap")
    X, y = digits(share_missing)
    forest.fit(X, y)
    values = shap_values(forest, X[:10])
    assert values.shape == (10, 64, 10)
    rest = forest.predict_proba(X[:10]) - values.sum(axis=1)
    np.testing.assert_allclose(rest, np.tile(rest[:1], (10, 1)), atol=1e-9)
    # A feature that no tree asks for adds nothing.
    used = {j for tree in forest.estimators_ for j in tree.feature.tolist() if j >= 0}
    assert not values[:, [j for j in range(64) if j not in used]].any()


def test_shap_values_of_numbers():
    pytest.importorskip("shap")
    X, y = diabetes()
    forest = BreimanForestRegressor(10, random_state=0).fit(X, y)
    values = shap_values(forest, X)
    assert values.shape == X.shape
    rest = forest.predict(X) - values.sum(axis=1)
    np.testing.assert_allclose(rest, rest[0])


# ---- packages that are not there -----------------------------------------------------


@pytest.mark.parametrize(
    ("call", "package"),
    [
        (to_onnx, "skl2onnx"),
        (lambda forest: shap_values(forest, np.ones((1, 2))), "shap"),
    ],
    ids=["to_onnx", "shap_values"],
)
def test_a_missing_package_is_named(call, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    forest = MultinomialForestClassifier(2).fit(np.eye(4)[:, :2], [0, 1, 0, 1])
    with pytest.raises(ImportError, match=rf"pip install {package}"):
        call(forest)
