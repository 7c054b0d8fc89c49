# SPDX-License-Identifier: BSD-3-Clause
"""Forests inside scikit-learn's machinery: search, pipelines, routing."""

import copy
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    get_scorer,
    r2_score,
)
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.forests import every as forests
from tests.forests.every import (
    CLASSIFIERS,
    CUTTING,
    HONEST,
    REGRESSORS,
    every,
    every_classifier,
    parameters_of,
    told,
)

X, Y = load_iris(return_X_y=True)
FRAME = load_iris(as_frame=True).data


def forest_of(name: str = "multinomial", **params):
    return forests.forest_of(
        name, **{"n_estimators": 10, "min_samples_split": 4, **params}
    )


# ---- parameters and copies ----------------------------------------------------------

# Values that are not the defaults
OTHERS = {
    "n_estimators": 7,
    "feature_budget": 3.0,
    "split_budget": 4.0,
    "label_budget": 50.0,
    "max_features": 0.7,
    "random_feature_probability": 0.2,
    "random_cut_probability": 0.1,
    "multinomial_probability": 0.1,
    "mean_features": 1.5,
    "n_range_samples": 30,
    "max_leaf_nodes": 12,
    "cuts": "range",
    "honest_fraction": 0.6,
    "min_samples_split": 5,
    "min_samples_leaf": 2,
    "min_weight_fraction_leaf": 0.01,
    "criterion": "entropy",
    "max_depth": 5,
    "max_bins": 20,
    "categorical_features": [3],
    "voting": "soft",
    "class_weight": {0: 1.0, 1: 2.0, 2: 0.5},
    "oob_score": balanced_accuracy_score,
    "honest": True,
    "metric": "euclidean",
    "metric_params": {},
    "oracle": None,
    "warm_start": True,
    "n_jobs": 2,
    "random_state": 3,
    "verbose": 0,
    "max_samples": 0.7,
    "equality_cuts": False,
    "calibrate": True,
}


def others_of(name: str) -> dict:
    wanted = {key: OTHERS[key] for key in parameters_of(name)}
    if name in REGRESSORS and "oob_score" in wanted:
        wanted["oob_score"] = r2_score
    return wanted


@every
def test_parameters(name):
    cls = type(forest_of(name))
    wanted = others_of(name)
    forest = cls(**wanted)
    assert forest.get_params() == wanted
    assert cls().set_params(**wanted).get_params() == wanted
    assert "n_estimators=7" in repr(forest)
    documented = cls.__doc__
    for parameter in wanted:
        assert re.search(rf"^    .*\b{parameter}\b.* : ", documented, re.M), parameter
    assert "{" not in re.sub(r'{"[^}]*}', "", documented)


@pytest.mark.filterwarnings("ignore:.*in the bag of every tree")
@every
def test_clone(name):
    params = others_of(name)
    if "label_budget" in params:
        params["voting"] = "hard"
    if "cuts" in params:
        params["cuts"] = "data"
    forest = type(forest_of(name))(**params).fit(X, Y)
    cloned = clone(forest)
    assert cloned.get_params() == forest.get_params()
    with pytest.raises(NotFittedError):
        cloned.predict(X)
    assert_array_equal(told(cloned.fit(X, Y), X), told(forest, X))


def through_joblib(forest, folder):
    joblib.dump(forest, folder / "forest.joblib")
    return joblib.load(folder / "forest.joblib")


def through_memory_map(forest, folder):
    """Arrays of a forest that is loaded this way cannot be written to."""
    joblib.dump(forest, folder / "forest.joblib")
    return joblib.load(folder / "forest.joblib", mmap_mode="r")


COPIES = {
    "joblib": through_joblib,
    "memory map": through_memory_map,
    "copy": lambda forest, folder: copy.copy(forest),
}


@every
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_are_whole(name, copied, tmp_path):
    frame = FRAME.assign(kind=pd.Categorical(np.where(Y == 1, "x", "y")))
    forest = forest_of(name).fit(frame, Y)
    other = copied(forest, tmp_path)
    assert other.get_params() == forest.get_params()
    assert_array_equal(told(other, frame), told(forest, frame))
    assert_array_equal(other.apply(frame), forest.apply(frame))
    if name in CUTTING:
        assert_array_equal(other.feature_importances_, forest.feature_importances_)
    if name in HONEST:
        assert_array_equal(other.structure_samples(3), forest.structure_samples(3))
    assert_array_equal(other.feature_names_in_, frame.columns)
    # A copy can grow on, alone.
    other.set_params(warm_start=True, n_estimators=12).fit(frame, Y)
    assert len(other.estimators_) == 12
    assert len(forest.estimators_) == 10


@every
def test_trees_can_be_pickled(name):
    forest = forest_of(name).fit(FRAME, Y)
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
@every_classifier
def test_labels(name, labels):
    """Columns follow sorted classes; renaming classes in order changes nothing."""
    forest = forest_of(name).fit(X, labels[Y])
    assert_array_equal(forest.classes_, np.sort(labels))
    assert forest.n_classes_ == 3
    assert forest.classes_.dtype == labels.dtype
    assert forest.predict(X).dtype == labels.dtype
    rank = np.argsort(np.argsort(labels))
    plain = forest_of(name).fit(X, rank[Y])
    assert_array_equal(forest.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(forest.predict(X), np.sort(labels)[plain.predict(X)])
    assert forest.score(X, labels[Y]) > 0.8


@every_classifier
def test_boolean_labels(name):
    forest = forest_of(name).fit(X, Y == 2)
    assert_array_equal(forest.classes_, [False, True])
    assert forest.predict(X).dtype == bool
    assert forest.score(X, Y == 2) > 0.85


def test_column_of_labels():
    with pytest.warns(sklearn.exceptions.DataConversionWarning, match="column-vector"):
        forest = forest_of().fit(X, Y[:, None])
    assert_array_equal(forest.predict(X), forest_of().fit(X, Y).predict(X))


@every
def test_feature_names(name):
    forest = forest_of(name).fit(FRAME, Y)
    assert_array_equal(forest.feature_names_in_, FRAME.columns)
    assert forest.n_features_in_ == 4
    forest.fit(X[:, :2], Y)
    assert not hasattr(forest, "feature_names_in_")
    assert forest.n_features_in_ == 2


@every_classifier
def test_log_probabilities(name):
    forest = forest_of(name, voting="hard").fit(X, Y)
    proba = forest.predict_proba(X)
    assert (proba == 0).any()
    assert_array_equal(np.exp(forest.predict_log_proba(X)) == 0, proba == 0)
    np.testing.assert_allclose(np.exp(forest.predict_log_proba(X)), proba)


# ---- estimators around the forest ---------------------------------------------------


def test_grid_search():
    grid = {"feature_budget": [0.0, 10.0], "min_samples_leaf": [None, 5]}
    search = GridSearchCV(forest_of(), grid, cv=3).fit(X, Y)
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ > 0.9
    best = forest_of(**search.best_params_).fit(X, Y)
    assert_array_equal(search.predict_proba(X), best.predict_proba(X))


@every
def test_pipeline(name):
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), forest_of(name))
    pipeline.fit(FRAME, Y)
    assert pipeline.score(FRAME, Y) > 0.75
    assert pipeline.n_features_in_ == 4
    step = type(forest_of(name)).__name__.lower()
    pipeline.set_params(**{f"{step}__n_estimators": 3}).fit(FRAME, Y)
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


@pytest.mark.parametrize("name", REGRESSORS)
def test_cross_validation_of_numbers(name):
    scores = cross_validate(
        forest_of(name), X[:, :3], X[:, 3], cv=4, scoring=["r2", "neg_max_error"]
    )
    assert np.isfinite(scores["test_neg_max_error"]).all()
    predicted = cross_val_predict(forest_of(name), X[:, :3], X[:, 3], cv=10)
    assert r2_score(X[:, 3], predicted) > 0.8
    around = TransformedTargetRegressor(
        forest_of(name), func=np.log, inverse_func=np.exp
    )
    assert around.fit(X[:, :3], X[:, 3]).score(X[:, :3], X[:, 3]) > 0.8


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


@every
def test_permutation_importance_and_partial_dependence(name):
    noise = np.random.default_rng(0).random((150, 1))
    table = np.hstack([X, noise])
    forest = forest_of(name, n_estimators=30).fit(table, Y)
    found = permutation_importance(forest, table, Y, n_repeats=3, random_state=0)
    assert found.importances_mean[2:4].max() > found.importances_mean[4] + 0.02
    curve = partial_dependence(forest, table, [2], grid_resolution=5)
    assert curve["average"].shape == (1 if name in REGRESSORS else 3, 5)


@every
def test_tags(name):
    forest = forest_of(name)
    tags = forest.__sklearn_tags__()
    assert is_regressor(forest) == (name in REGRESSORS)
    assert is_classifier(forest) == (name in CLASSIFIERS)
    assert tags.input_tags.allow_nan
    assert not tags.input_tags.sparse
    assert not tags.input_tags.pairwise
    assert not tags.target_tags.multi_output
    if name in CLASSIFIERS:
        assert tags.classifier_tags.multi_class


# ---- metadata routing ---------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weights() -> np.ndarray:
    """Return weights that leave no row of class 2."""
    return np.where(Y == 2, 0, 1 + np.arange(150) % 3)


@every
def test_sample_weight_through_a_pipeline(name, routing):
    forest = forest_of(name).set_fit_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipeline = make_pipeline(scaler, forest).fit(X, Y, sample_weight=weights())
    scaled = StandardScaler().fit_transform(X)
    direct = forest_of(name).fit(scaled, Y, sample_weight=weights())
    assert_array_equal(told(pipeline, X), told(direct, scaled))
    assert 0.9 < pipeline.predict(X).max() <= 1


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
