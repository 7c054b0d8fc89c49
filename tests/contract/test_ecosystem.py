# SPDX-License-Identifier: BSD-3-Clause
"""The forest inside scikit-learn's machinery: search, pipelines, routing."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mrforest import MultinomialForestClassifier

X, Y = load_iris(return_X_y=True)
FRAME = load_iris(as_frame=True).data
PARAMS = {
    "n_estimators": 7,
    "feature_budget": 3.0,
    "split_budget": 4.0,
    "label_budget": 50.0,
    "partition_rate": 0.5,
    "min_samples_leaf": 2,
    "leaf_rule": "floor",
    "criterion": "entropy",
    "max_depth": 5,
    "max_bins": 20,
    "categorical_features": [3],
    "voting": "soft",
    "class_weight": {0: 1.0, 1: 2.0, 2: 0.5},
    "warm_start": True,
    "n_jobs": 2,
    "random_state": 3,
    "verbose": 0,
}


def forest_of(**params) -> MultinomialForestClassifier:
    return MultinomialForestClassifier(
        **{"n_estimators": 10, "random_state": 0, **params}
    )


# ---- parameters and copies ----------------------------------------------------------


def test_parameters():
    forest = MultinomialForestClassifier(**PARAMS)
    assert forest.get_params() == PARAMS
    assert set(MultinomialForestClassifier().get_params()) == set(PARAMS)
    other = MultinomialForestClassifier().set_params(**PARAMS)
    assert other.get_params() == PARAMS
    assert "feature_budget=3.0" in repr(forest)
    with pytest.raises(ValueError, match="Invalid parameter 'max_features'"):
        forest.set_params(max_features=3)
    with pytest.raises(TypeError, match="positional"):
        MultinomialForestClassifier(10, 10.0)


def test_clone():
    forest = MultinomialForestClassifier(**PARAMS).fit(X, Y)
    cloned = clone(forest)
    assert cloned.get_params() == PARAMS
    with pytest.raises(NotFittedError):
        cloned.predict(X)
    assert_array_equal(cloned.fit(X, Y).predict_proba(X), forest.predict_proba(X))


def through_joblib(forest, folder):
    joblib.dump(forest, folder / "forest.joblib")
    return joblib.load(folder / "forest.joblib")


def through_memory_map(forest, folder):
    """Arrays of a forest that is loaded this way cannot be written to."""
    joblib.dump(forest, folder / "forest.joblib")
    return joblib.load(folder / "forest.joblib", mmap_mode="r")


COPIES = {
    "pickle": lambda forest, folder: pickle.loads(pickle.dumps(forest)),
    "pickle 2": lambda forest, folder: pickle.loads(pickle.dumps(forest, protocol=2)),
    "joblib": through_joblib,
    "memory map": through_memory_map,
    "deepcopy": lambda forest, folder: copy.deepcopy(forest),
    "copy": lambda forest, folder: copy.copy(forest),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_are_whole(copied, tmp_path):
    frame = FRAME.assign(kind=pd.Categorical(np.where(Y == 1, "x", "y")))
    forest = forest_of(voting="soft").fit(frame, Y)
    other = copied(forest, tmp_path)
    assert other.get_params() == forest.get_params()
    assert_array_equal(other.predict_proba(frame), forest.predict_proba(frame))
    assert_array_equal(other.apply(frame), forest.apply(frame))
    assert_array_equal(other.feature_importances_, forest.feature_importances_)
    assert_array_equal(other.structure_samples(3), forest.structure_samples(3))
    assert_array_equal(other.feature_names_in_, frame.columns)
    assert_array_equal(other.classes_, [0, 1, 2])
    # A copy can grow on, alone.
    other.set_params(warm_start=True, n_estimators=12).fit(frame, Y)
    assert len(other.estimators_) == 12
    assert len(forest.estimators_) == 10


def test_trees_can_be_pickled():
    forest = forest_of().fit(FRAME, Y)
    tree = pickle.loads(pickle.dumps(forest.estimators_[4]))
    assert_array_equal(tree.predict(FRAME), forest.estimators_[4].predict(FRAME))
    assert f"n_leaves={forest.n_leaves_[4]}, depth={forest.depths_[4]}" in repr(tree)


# ---- labels and names ---------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["setosa", "versicolor", "virginica"]),
        np.array(["b", "a", "c"], dtype=object),
        np.array([7, -1, 3]),
        np.array([2.0, 0.0, 1.0]),
        np.array([2**62, 2**62 + 1, -(2**62)]),
        np.array([1, 0, 255], dtype=np.uint8),
    ],
)
def test_labels(labels):
    """Columns follow sorted classes; renaming classes in order changes nothing."""
    forest = forest_of().fit(X, labels[Y])
    assert_array_equal(forest.classes_, np.sort(labels))
    assert forest.n_classes_ == 3
    assert forest.classes_.dtype == labels.dtype
    assert forest.predict(X).dtype == labels.dtype
    rank = np.argsort(np.argsort(labels))
    plain = forest_of().fit(X, rank[Y])
    assert_array_equal(forest.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(forest.predict(X), np.sort(labels)[plain.predict(X)])
    assert forest.score(X, labels[Y]) > 0.9


def test_boolean_labels():
    forest = forest_of().fit(X, Y == 1)
    assert_array_equal(forest.classes_, [False, True])
    assert forest.predict(X).dtype == bool
    assert forest.score(X, Y == 1) > 0.9


def test_column_of_labels():
    with pytest.warns(sklearn.exceptions.DataConversionWarning, match="column-vector"):
        forest = forest_of().fit(X, Y[:, None])
    assert_array_equal(forest.predict(X), forest_of().fit(X, Y).predict(X))


def test_feature_names():
    forest = forest_of().fit(FRAME, Y)
    assert_array_equal(forest.feature_names_in_, FRAME.columns)
    assert forest.n_features_in_ == 4
    forest.fit(X[:, :2], Y)
    assert not hasattr(forest, "feature_names_in_")
    assert forest.n_features_in_ == 2


def test_log_probabilities():
    forest = forest_of().fit(X, Y)
    proba = forest.predict_proba(X)
    assert (proba == 0).any()
    assert_array_equal(np.exp(forest.predict_log_proba(X)) == 0, proba == 0)
    np.testing.assert_allclose(np.exp(forest.predict_log_proba(X)), proba)


# ---- estimators around the forest ---------------------------------------------------


def test_grid_search():
    grid = {"feature_budget": [0.0, 10.0], "leaf_rule": ["stop", "floor"]}
    search = GridSearchCV(forest_of(), grid, cv=3).fit(X, Y)
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ > 0.9
    best = forest_of(**search.best_params_).fit(X, Y)
    assert_array_equal(search.predict_proba(X), best.predict_proba(X))


def test_pipeline():
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), forest_of())
    pipeline.fit(FRAME, Y)
    assert pipeline.score(FRAME, Y) > 0.9
    assert pipeline.n_features_in_ == 4
    pipeline.set_params(multinomialforestclassifier__n_estimators=3).fit(FRAME, Y)
    assert len(pipeline[-1].estimators_) == 3


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(method):
    calibrated = CalibratedClassifierCV(forest_of(), method=method, cv=3).fit(X, Y)
    proba = calibrated.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert calibrated.score(X, Y) > 0.9


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_voting(voting):
    members = [("a", forest_of()), ("b", forest_of(random_state=1, voting="soft"))]
    assert VotingClassifier(members, voting=voting).fit(X, Y).score(X, Y) > 0.9


def test_stacking_and_one_against_the_rest():
    assert StackingClassifier([("a", forest_of())], cv=3).fit(X, Y).score(X, Y) > 0.9
    rest = OneVsRestClassifier(forest_of()).fit(X, Y)
    assert rest.score(X, Y) > 0.9


def test_cross_validation():
    scores = cross_validate(
        forest_of(),
        FRAME,
        Y,
        cv=4,
        scoring=["accuracy", "roc_auc_ovr", "neg_log_loss"],
        return_train_score=True,
        return_estimator=True,
    )
    assert scores["test_accuracy"].mean() > 0.85
    assert np.isfinite(scores["test_neg_log_loss"]).all()
    assert all(len(forest.estimators_) == 10 for forest in scores["estimator"])
    predicted = cross_val_predict(forest_of(), X, Y, cv=4)
    assert accuracy_score(Y, predicted) > 0.85


def test_permutation_importance_and_partial_dependence():
    noise = np.random.default_rng(0).random((150, 1))
    table = np.hstack([X, noise])
    forest = forest_of(n_estimators=30).fit(table, Y)
    found = permutation_importance(forest, table, Y, n_repeats=3, random_state=0)
    assert found.importances_mean[2:4].min() > found.importances_mean[4]
    curve = partial_dependence(forest, table, [2], grid_resolution=5)
    assert curve["average"].shape == (3, 5)


def test_tags():
    tags = forest_of().__sklearn_tags__()
    assert is_classifier(forest_of())
    assert tags.input_tags.allow_nan
    assert not tags.input_tags.sparse
    assert tags.classifier_tags.multi_class
    assert not tags.target_tags.multi_output


# ---- metadata routing ---------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weights() -> np.ndarray:
    """Return weights that leave no row of class 2."""
    return np.where(Y == 2, 0, 1 + np.arange(150) % 3)


def test_sample_weight_through_a_pipeline(routing):
    forest = forest_of().set_fit_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipeline = make_pipeline(scaler, forest).fit(X, Y, sample_weight=weights())
    scaled = StandardScaler().fit_transform(X)
    direct = forest_of().fit(scaled, Y, sample_weight=weights())
    assert_array_equal(pipeline.predict_proba(X), direct.predict_proba(scaled))
    assert set(pipeline.predict(X)) == {0, 1}


def test_sample_weight_through_a_search(routing):
    forest = forest_of().set_fit_request(sample_weight=True)
    scoring = get_scorer("accuracy").set_score_request(sample_weight=True)
    search = GridSearchCV(forest, {"max_depth": [1, 3]}, cv=3, scoring=scoring)
    search.fit(X, Y, sample_weight=weights())
    direct = forest_of(**search.best_params_).fit(X, Y, sample_weight=weights())
    assert_array_equal(search.predict_proba(X), direct.predict_proba(X))
    assert search.best_score_ > 0.9


def test_sample_weight_that_nobody_asked_for(routing):
    unset = make_pipeline(forest_of())
    with pytest.raises(ValueError, match=r"sample_weight.* not .*set_fit_request"):
        unset.fit(X, Y, sample_weight=weights())
