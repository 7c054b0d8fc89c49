# SPDX-License-Identifier: BSD-3-Clause
"""Bad input gets an error that names what is wrong and what is allowed."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from mrforest import MultinomialForestClassifier

NAN, INF = math.nan, math.inf
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=NAMES)


def forest_of(**params) -> MultinomialForestClassifier:
    return MultinomialForestClassifier(**{"n_estimators": 3, **params})


# ---- parameters ---------------------------------------------------------------------

BAD = [
    *[
        (budget, value, r"float in the range \[0\.?0?, inf\]")
        for budget in ("feature_budget", "split_budget", "label_budget")
        for value in (-1.0, -1e-300, -INF, NAN, "10", None)
    ],
    *[("partition_rate", v, r"\(0\.?0?, inf\)") for v in (0, -1, INF, NAN, "1")],
    *[("n_estimators", v, r"\[1, inf\)") for v in (0, -5, 2.5, "10", None)],
    *[("min_samples_leaf", v, r"\[1, inf\)") for v in (0, -1, 0.5, None)],
    *[("max_depth", v, r"\[1, inf\) or None") for v in (0, -1, 1.5)],
    *[("max_bins", v, r"\[2, 255\].*'exact'") for v in (1, 0, 256, 20.5, "foo")],
    *[("leaf_rule", v, "'floor', 'stop'|'stop', 'floor'") for v in ("stopp", None)],
    *[("criterion", v, "'gini'") for v in ("log_loss", "mse", None)],
    *[("voting", v, "'hard'") for v in ("loud", None)],
    *[("class_weight", v, "'balanced'") for v in ("uniform", [1.0, 2.0], 3)],
    *[("warm_start", v, "bool") for v in ("yes", 3)],
    *[("random_state", v, "int in the range") for v in (-1, 0.5, "0")],
    ("n_jobs", 1.5, "int"),
    ("verbose", -1, "int"),
    ("categorical_features", 3, "'from_dtype'"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), BAD)
def test_parameter(name, value, allowed):
    """Names the parameter, says what is allowed and shows what came instead."""
    with pytest.raises(ValueError, match=f"'{name}' parameter.*") as caught:
        forest_of(**{name: value}).fit(X, Y)
    message = str(caught.value)
    assert repr(value) in message
    with pytest.raises(ValueError, match=allowed):
        raise caught.value


@pytest.mark.parametrize("name", ["min_samples_leaf", "max_depth", "n_estimators"])
def test_a_bad_parameter_leaves_the_forest(name):
    forest = forest_of(random_state=0).fit(X, Y)
    before = forest.predict_proba(X)
    with pytest.raises(ValueError, match=name):
        forest.set_params(**{name: 0}).fit(X[:, :2], Y)
    assert_array_equal(forest.predict_proba(X), before)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ([7], "no column of index 7"),
        ([-1], "no column of index -1"),
        ([True, False], "mask of length 2 for 3 columns"),
        ([0, "a"], "neither all indices"),
        (["d"], "no column named 'd'"),
        ([0, 0], "listed twice"),
    ],
)
def test_categorical_features(columns, reason):
    forest = forest_of(categorical_features=columns)
    with pytest.raises(ValueError, match=f"categorical_features=.*{reason}"):
        forest.fit(FRAME, Y)


# ---- the table ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (X[:, 0], "Expected 2D array, got 1D array"),
        (X[None], "Found array with dim 3"),
        (X[:0], r"0 sample\(s\)"),
        (X[:, :0], r"0 feature\(s\)"),
        (FRAME[[]], r"0 feature\(s\)"),
        (FRAME[:0], r"0 sample\(s\)"),
        (np.where(X > 1, INF, X), "X contains infinity"),
        (np.where(X > 1, -INF, X), "X contains infinity"),
        (FRAME.assign(b=np.where(X[:, 1] > 0, INF, 0.0)), "X contains infinity"),
        (X.astype(complex) * 1j, "Complex data not supported"),
        (np.full(X.shape, "text"), "could not convert string to float: .*text"),
        ("text", "could not convert string to float: 'text'|got scalar"),
    ],
)
def test_table(table, match):
    y = Y[: len(table)] if len(table) in (0, 60) else Y
    with pytest.raises(ValueError, match=match):
        forest_of().fit(table, y)


def test_sparse_table():
    with pytest.raises(TypeError, match="Sparse data was passed"):
        forest_of().fit(sparse.csr_array(X), Y)


def test_column_of_text_says_what_to_do():
    frame = FRAME.assign(b="text")
    with pytest.raises(TypeError, match=r"Column 'b' of X .* categorical_features"):
        forest_of().fit(frame, Y)


# ---- the classes --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "match"),
    [
        (None, "requires y to be passed"),
        (Y[:-1], r"inconsistent numbers of samples: \[60, 59\]"),
        (np.stack([Y, Y], axis=1), "y should be a 1d array"),
        (np.where(Y == 1, NAN, 0.0), "NaN"),
        (np.where(Y == 1, INF, 0.0), "infinity"),
        (np.where(Y == 1, NAN, np.array("a", dtype=object)), "NaN|missing"),
        ([None] * 60, "label|missing"),
        # What the first label is decides who finds out.
        (np.where(Y == 1, None, 0), "label|missing"),
        (np.where(Y == 0, None, 0), "label|missing"),
        (np.where(Y == 1, None, "a"), "label|missing"),
        (np.where(Y == 0, None, "a"), "label|missing"),
        (np.where(Y == 1, "a", np.array(3, dtype=object)), "label"),
        (pd.Series(np.where(Y == 1, "a", None), dtype="string"), "NaN|label|missing"),
        (X[:, 0], "continuous"),
    ],
)
def test_classes(y, match):
    """Missing or mixed labels are no error from inside NumPy that names nothing."""
    with pytest.raises((ValueError, TypeError), match=match):
        forest_of().fit(X, y)


def test_too_many_classes():
    y = np.tile(np.arange(65_536), 3)
    with pytest.raises(ValueError, match="65536 classes; at most 65535 are allowed"):
        forest_of().fit(np.zeros((len(y), 1)), y)


# ---- weights ------------------------------------------------------------------------


def with_weight(value: float, n: int = 1) -> np.ndarray:
    return np.concatenate([np.full(n, value), np.ones(60 - n)])


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (with_weight(-1.0), "Negative values .*sample_weight"),
        (with_weight(NAN), "[Ss]ample_weight contains NaN"),
        (with_weight(INF), "[Ss]ample_weight contains infinity"),
        (np.zeros(60), "[Ss]ample.weight.*(0 everywhere|non-zero)"),
        (np.ones(59), r"sample_weight.shape == \(59,\), expected \(60,\)"),
        (np.ones((60, 2)), "[Ss]ample.weights must be (1D|scalar)"),
        (["heavy"] * 60, "could not convert string to float: .*heavy"),
        (np.full(60, 2.0**26), r"sample_weight.*4\.027e\+09.*2147483647"),
        (with_weight(2.0**31), r"sample_weight.*2147483647"),
        (with_weight(1e308, n=30), r"sample_weight.*2147483647"),
    ],
)
def test_sample_weight(weight, match):
    with pytest.raises(ValueError, match=match):
        forest_of().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        ({0: -1.0, 1: 1.0}, r"class_weight=\{0: -1\.0.*not negative"),
        ({0: NAN, 1: 1.0}, "class_weight=.*nan.*finite"),
        ({0: INF, 1: 1.0}, "class_weight=.*inf.*finite"),
        ({0: 0.0, 1: 0.0}, "class_weight=.*not all 0"),
        ({0: 1.0, 7: 1.0}, r"classes, \[1\], are not in class_weight"),
        ({"0": 1.0, "1": 1.0}, r"classes, \[0, 1\], are not in class_weight"),
    ],
)
def test_class_weight(weight, match):
    with pytest.raises(ValueError, match=match):
        forest_of(class_weight=weight).fit(X, Y)


# ---- queries ------------------------------------------------------------------------

QUERIES = ["predict", "predict_proba", "predict_log_proba", "apply", "decision_path"]
FITTED = [
    "estimators_",
    "n_leaves_",
    "depths_",
    "feature_importances_",
    "structure_importances_",
]


@pytest.mark.parametrize("method", QUERIES)
def test_query_before_fit(method):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(forest_of(), method)(X)


@pytest.mark.parametrize("name", FITTED)
def test_attribute_before_fit(name):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(forest_of(), name)


@pytest.mark.parametrize("method", QUERIES)
@pytest.mark.parametrize(
    ("table", "match"),
    [
        (X[:, :2], "X has 2 features, but .* is expecting 3 features"),
        (np.hstack([X, X]), "X has 6 features, but .* is expecting 3 features"),
        (X[0], "Expected 2D array, got 1D array"),
        (X[:0], r"0 sample\(s\)"),
        (np.where(X > 1, INF, X), "X contains infinity"),
    ],
)
def test_query(method, table, match):
    forest = forest_of().fit(X, Y)
    with pytest.raises(ValueError, match=match):
        getattr(forest, method)(table)


@pytest.mark.parametrize("method", ["predict", "apply"])
def test_names_of_features(method):
    forest = forest_of().fit(FRAME, Y)
    for answers in (getattr(forest, method), getattr(forest.estimators_[0], method)):
        with pytest.raises(ValueError, match=r"(?s)feature names.*- d.*- a"):
            answers(FRAME.rename(columns={"a": "d"}))
        with pytest.raises(ValueError, match="same order"):
            answers(FRAME[["b", "a", "c"]])
        with pytest.raises(ValueError, match=r"(?s)names.*missing.*- c"):
            answers(FRAME[["a", "b"]])
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            answers(X)


def test_column_that_was_numeric():
    forest = forest_of().fit(FRAME, Y)
    with pytest.raises(TypeError, match=r"Column 'b' of X .*numeric at fit"):
        forest.predict(FRAME.assign(b="text"))


def test_array_for_categories_of_text():
    frame = FRAME.assign(c=pd.Categorical(np.where(Y == 1, "yes", "no")))
    forest = forest_of().fit(frame, Y)
    with (
        pytest.warns(UserWarning, match="valid feature names"),
        pytest.raises(ValueError, match=r"must be a data frame.*feature 2.*'no'"),
    ):
        forest.predict(X)


@pytest.mark.parametrize("method", ["structure_samples", "estimation_samples"])
@pytest.mark.parametrize("tree", [-1, 3, 10**9])
def test_tree_that_does_not_exist(method, tree):
    forest = forest_of().fit(X, Y)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(forest_of(), method)(tree)
    with pytest.raises(IndexError, match=f"tree={tree}: .* trees 0 to 2"):
        getattr(forest, method)(tree)


# ---- warm start ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "table", "y", "match"),
    [
        ({"n_estimators": 2}, FRAME, Y, "n_estimators=2 must be at least 3"),
        ({}, FRAME, Y + 1, r"classes \[1 2\], the forest has \[0 1\]"),
        ({}, FRAME, np.arange(60) % 3, r"classes \[0 1 2\]"),
        ({}, FRAME[["a", "b"]], Y, "warm_start=True: X has other columns"),
        ({}, FRAME[["b", "a", "c"]], Y, "warm_start=True: X has other columns"),
        ({}, FRAME.set_axis(["x", "y", "z"], axis=1), Y, "warm_start=True: X has"),
        ({}, FRAME.assign(c=pd.Categorical(Y)), Y, "columns or categories"),
    ],
)
def test_warm_start(params, table, y, match):
    """The forest that was there stays as it was."""
    forest = forest_of(warm_start=True, random_state=0).fit(FRAME, Y)
    before = forest.predict_proba(FRAME)
    forest.set_params(**{"n_estimators": 5, **params})
    with pytest.raises(ValueError, match=match):
        forest.fit(table, y)
    assert_array_equal(forest.predict_proba(FRAME), before)
    assert forest.n_features_in_ == 3
    assert_array_equal(forest.feature_names_in_, NAMES)


def test_warm_start_without_more_trees():
    forest = forest_of(warm_start=True, random_state=0).fit(X, Y)
    before = forest.predict_proba(X)
    with pytest.warns(UserWarning, match="n_estimators has not grown"):
        forest.fit(X, Y)
    assert_array_equal(forest.predict_proba(X), before)
