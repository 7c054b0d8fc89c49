# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's forest of our trees predicts what our forest does."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.exceptions import NotFittedError
from sklearn.tree import export_text, plot_tree

import mrforest
from mrforest import (
    BreimanForestClassifier,
    BreimanForestRegressor,
    ComparisonForestClassifier,
    MultinomialForestClassifier,
    MultinomialForestRegressor,
    PrivateForestClassifier,
    PrivateForestRegressor,
)
from mrforest.interop import to_sklearn

CLASSIFIERS = [
    getattr(mrforest, name)
    for name in mrforest.__all__
    if name.endswith("Classifier")
    and not name.startswith(("Private", "Comparison", "Rule"))
]
REGRESSORS = [
    getattr(mrforest, name)
    for name in mrforest.__all__
    if name.endswith("Regressor") and not name.startswith(("Private", "Rule"))
]


def digits(share_missing=0.0):
    """Small whole numbers: float32 rounds none of them."""
    X, y = load_digits(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < share_missing] = np.nan
    return X, y.astype(str)


def as_float32(X):
    return X.astype(np.float32).astype(np.float64)


def assert_same_classes(forest, X, tolerance=1e-12):
    other = to_sklearn(forest)
    np.testing.assert_allclose(
        other.predict_proba(X), forest.predict_proba(X), rtol=0, atol=tolerance
    )
    assert other.classes_.tolist() == forest.classes_.tolist()
    assert other.n_features_in_ == forest.n_features_in_
    np.testing.assert_array_equal(other.apply(X), forest.apply(X))
    return other


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_same_probabilities(kind, voting):
    X, y = digits()
    options = {"n_estimators": 10, "random_state": 0}
    if "voting" not in kind().get_params():
        pytest.skip("it votes in one way")
    forest = kind(voting=voting, **options).fit(X[::2], y[::2])
    other = assert_same_classes(forest, X)
    if voting == "hard":
        for tree in other.estimators_:
            leaves = tree.tree_.value[tree.tree_.children_left < 0, 0]
            assert set(np.unique(leaves)) <= {0.0, 1.0}
            assert (leaves.sum(axis=1) == 1).all()


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_missing_values_go_where_they_went(voting):
    X, y = digits(share_missing=0.2)
    forest = MultinomialForestClassifier(10, voting=voting, random_state=0).fit(X, y)
    assert_same_classes(forest, X)


def test_weights():
    X, y = load_breast_cancer(return_X_y=True)
    X = as_float32(X)
    weights = np.random.default_rng(0).random(len(X)) + 0.1
    forest = BreimanForestClassifier(
        10, random_state=0, voting="soft", class_weight="balanced"
    )
    other = assert_same_classes(forest.fit(X, y, sample_weight=weights), X)
    tree = other.estimators_[0].tree_
    left, right = tree.children_left, tree.children_right
    inner = left >= 0
    for name in ("n_node_samples", "weighted_n_node_samples"):
        of_node = getattr(tree, name)
        np.testing.assert_allclose(
            of_node[inner], of_node[left[inner]] + of_node[right[inner]]
        )
    # As scikit-learn itself would have it: a mean of the children
    weight = tree.weighted_n_node_samples
    mean = tree.value[left[inner]] * weight[left[inner], None, None]
    mean += tree.value[right[inner]] * weight[right[inner], None, None]
    np.testing.assert_allclose(
        tree.value[inner], mean / weight[inner, None, None], atol=1e-12
    )


@pytest.mark.parametrize("kind", REGRESSORS)
def test_same_numbers(kind):
    X, y = load_diabetes(return_X_y=True)
    X = as_float32(X)
    forest = kind(n_estimators=10, random_state=0).fit(X, y)
    other = to_sklearn(forest)
    np.testing.assert_allclose(other.predict(X), forest.predict(X), rtol=1e-12)


def test_impurities_of_a_regression_are_variances():
    X, y = load_diabetes(return_X_y=True)
    X = as_float32(X)
    forest = BreimanForestRegressor(1, min_samples_leaf=5, random_state=0).fit(X, y)
    tree = to_sklearn(forest).estimators_[0].tree_
    assert tree.n_node_samples[0] == len(y)
    left, right = tree.children_left, tree.children_right
    inner = left >= 0
    mean, weight = tree.value[:, 0, 0], tree.weighted_n_node_samples
    of_children = 0.0
    for child in (left[inner], right[inner]):
        between = (mean[child] - mean[inner]) ** 2
        of_children += weight[child] * (tree.impurity[child] + between)
    np.testing.assert_allclose(of_children, weight[inner] * tree.impurity[inner])
    # The largest leaf, whose targets are known
    leaf = np.flatnonzero(~inner)[weight[~inner].argmax()]
    own = forest.estimators_[0]._flat
    number = -1 - own.nodes["child"][leaf]
    assert tree.impurity[leaf] == pytest.approx(own.leaf_deviation[number] ** 2)
    assert (tree.impurity[~inner] > 0).any()


@pytest.mark.parametrize("leaf", ["label", "counts"])
def test_private_classifier(leaf):
    X, y = digits()
    forest = PrivateForestClassifier(
        5.0, bounds=(0, 16), classes=np.unique(y), leaf=leaf
    )
    other = assert_same_classes(forest.fit(X, y), X)
    tree = other.estimators_[0].tree_
    assert tree.n_node_samples[0] == (tree.children_left < 0).sum()


def test_private_regressor():
    X, y = load_diabetes(return_X_y=True)
    X = as_float32(X)
    forest = PrivateForestRegressor(5.0, bounds=(-0.2, 0.2), target_bounds=(25, 350))
    forest.fit(X, y)
    np.testing.assert_allclose(to_sklearn(forest).predict(X), forest.predict(X))


def test_a_forest_of_single_leaves():
    X = np.ones((20, 2))
    y = np.repeat([0, 1], 10)
    assert_same_classes(MultinomialForestClassifier(3, random_state=0).fit(X, y), X)
    forest = MultinomialForestRegressor(3, random_state=0).fit(X, y)
    np.testing.assert_allclose(to_sklearn(forest).predict(X), forest.predict(X))


def test_what_scikit_learn_does_with_it(tmp_path):
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target
    forest = MultinomialForestClassifier(5, random_state=0).fit(X, y)
    other = to_sklearn(forest)
    assert other.feature_names_in_.tolist() == list(X.columns)
    text = export_text(other.estimators_[0], feature_names=list(X.columns))
    names = {str(X.columns[j]) for j in forest.estimators_[0].feature if j >= 0}
    assert all(name in text for name in names)
    drawn = plot_tree(other.estimators_[0], max_depth=1)
    assert "samples" in drawn[0].get_text()
    assert other.score(X, y) > 0.9
    again = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(again.predict(X), other.predict(X))
    assert other.feature_importances_.sum() == pytest.approx(1.0)


# ---- what cannot be carried over -----------------------------------------------------


def test_categories():
    X = pd.DataFrame({"n": np.arange(40.0), "shop": pd.Categorical(["a", "b"] * 20)})
    y = np.arange(40) % 2
    forest = MultinomialForestClassifier(3).fit(X, y)
    with pytest.raises(ValueError, match="column 'shop' is categorical"):
        to_sklearn(forest)


def test_comparisons():
    X, y = digits()
    forest = ComparisonForestClassifier(3, random_state=0).fit(X[:200], y[:200])
    with pytest.raises(ValueError, match="which of two training rows"):
        to_sklearn(forest)


def test_what_is_no_fitted_forest():
    with pytest.raises(NotFittedError):
        to_sklearn(MultinomialForestClassifier())
    with pytest.raises(TypeError, match="takes a forest of mrforest, not str"):
        to_sklearn("forest")
