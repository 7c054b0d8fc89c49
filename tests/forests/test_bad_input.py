# SPDX-License-Identifier: BSD-3-Clause
"""Bad input gets an error that names what is wrong and what is allowed."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from tests.determinism.same import fitted_bytes
from tests.forests.every import (
    CLASSIFIERS,
    CUTTING,
    PLAIN,
    REGRESSORS,
    every,
    every_classifier,
    every_honest,
    every_regressor,
    forest_of,
    target_of,
    told,
)

NAN, INF = math.nan, math.inf
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
COLUMNS = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=COLUMNS)


# ---- the table ----------------------------------------------------------------------


TABLES = [
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
]


@every
def test_table(name):
    """The forest that was there stays as it was, to the byte."""
    forest = forest_of(name).fit(FRAME, target_of(name, Y))
    before = fitted_bytes(forest)
    for table, match in TABLES:
        y = Y[: len(table)] if len(table) in (0, 60) else Y
        with pytest.raises(ValueError, match=match):
            forest.fit(table, y)
        assert fitted_bytes(forest) == before


@every
def test_sparse_table(name):
    with pytest.raises(TypeError, match="Sparse data was passed"):
        forest_of(name).fit(sparse.csr_array(X), Y)


@every
def test_column_of_text_says_what_to_do(name):
    frame = FRAME.assign(b="text")
    with pytest.raises(TypeError, match=r"Column 'b' of X .* categorical_features"):
        forest_of(name).fit(frame, Y)


# ---- the targets --------------------------------------------------------------------

SHAPES = [
    (None, "requires y to be passed"),
    (Y[:-1], r"inconsistent numbers of samples: \[60, 59\]"),
    (np.stack([Y, Y], axis=1), "y should be a 1d array"),
    (np.where(Y == 1, NAN, 0.0), "NaN"),
    (np.where(Y == 1, INF, 0.0), "infinity"),
    (np.where(Y == 1, -INF, 0.0), "infinity"),
]


@every
def test_target(name):
    forest = forest_of(name).fit(FRAME, target_of(name, Y))
    before = fitted_bytes(forest)
    for y, match in SHAPES:
        with pytest.raises(ValueError, match=match):
            forest.fit(X, y)
        assert fitted_bytes(forest) == before


LABELS = [
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
]


@every_classifier
def test_classes(name):
    """Missing or mixed labels are no error from inside NumPy that names nothing."""
    for y, match in LABELS:
        with pytest.raises((ValueError, TypeError), match=match):
            forest_of(name).fit(X, y)


@pytest.mark.parametrize("name", ["multinomial", "range", "purely-random"])
def test_too_many_classes(name):
    y = np.tile(np.arange(65_536), 3)
    with pytest.raises(ValueError, match="65536 classes; at most 65535 are allowed"):
        forest_of(name).fit(np.zeros((len(y), 1)), y)


@every_regressor
@pytest.mark.parametrize(
    "y",
    [
        np.where(Y == 1, "high", "low"),
        np.where(Y == 1, "high", np.array(3.0, dtype=object)),
        pd.Series(np.where(Y == 1, "high", "low"), dtype="category"),
        pd.Series(np.where(Y == 1, "high", "low")),
    ],
)
def test_targets_of_text(name, y):
    with pytest.raises(ValueError, match="y must hold numbers"):
        forest_of(name).fit(X, y)


@every_regressor
@pytest.mark.parametrize(
    "y",
    [
        np.where(Y == 1, None, 0.0),
        pd.Series(np.where(Y == 1, None, 3), dtype="Int64"),
        [None] * 60,
    ],
)
def test_missing_targets(name, y):
    with pytest.raises(ValueError, match=r"NaN|missing|must hold numbers"):
        forest_of(name).fit(X, y)


# ---- weights ------------------------------------------------------------------------


def with_weight(value: float, n: int = 1) -> np.ndarray:
    return np.concatenate([np.full(n, value), np.ones(60 - n)])


WEIGHTS = [
    (with_weight(-1.0), "Negative values .*sample_weight"),
    (with_weight(NAN), "[Ss]ample_weight contains NaN"),
    (with_weight(INF), "[Ss]ample_weight contains infinity"),
    (np.zeros(60), "[Ss]ample.weight.*(0 everywhere|non-zero)"),
    (np.ones(59), r"sample_weight.shape == \(59,\), expected \(60,\)"),
    (np.ones((60, 2)), "[Ss]ample.weights must be (1D|scalar)"),
    (["heavy"] * 60, "could not convert string to float: .*heavy"),
]
# If whole weights repeat rows
TOO_LARGE = [
    (np.full(60, 2.0**26), r"sample_weight.*4\.027e\+09.*2147483647"),
    (with_weight(2.0**31), r"sample_weight.*2147483647"),
    (with_weight(1e308, n=30), r"sample_weight.*2147483647"),
]


@every
def test_sample_weight(name):
    y = target_of(name, Y)
    forest = forest_of(name).fit(X, y)
    before = fitted_bytes(forest)
    for weight, match in WEIGHTS + (TOO_LARGE if name in PLAIN else []):
        with pytest.raises(ValueError, match=match):
            forest.fit(X, y, sample_weight=weight)
        assert fitted_bytes(forest) == before


CLASS_WEIGHTS = [
    ({0: -1.0, 1: 1.0}, r"class_weight=\{0: -1\.0.*not negative"),
    ({0: NAN, 1: 1.0}, "class_weight=.*nan.*finite"),
    ({0: INF, 1: 1.0}, "class_weight=.*inf.*finite"),
    ({0: 0.0, 1: 0.0}, "class_weight=.*not all 0"),
    ({0: 1e-20, 1: 1e20}, "class_weight=.*at most 1e"),
    ({0: 1.0, 7: 1.0}, r"classes, \[1\], are not in class_weight"),
    ({"0": 1.0, "1": 1.0}, r"classes, \[0, 1\], are not in class_weight"),
]


@every_classifier
def test_class_weight(name):
    for weight, match in CLASS_WEIGHTS:
        with pytest.raises(ValueError, match=match):
            forest_of(name, class_weight=weight).fit(X, Y)


# ---- queries ------------------------------------------------------------------------

QUERIES = ["predict", "apply", "decision_path"]
PROBABILITIES = ["predict_proba", "predict_log_proba"]
FITTED = ["estimators_", "n_leaves_", "depths_"]
IMPORTANCES = ["feature_importances_", "structure_importances_"]
BAD_QUERIES = [
    (X[:, :2], "X has 2 features, but .* is expecting 3 features"),
    (np.hstack([X, X]), "X has 6 features, but .* is expecting 3 features"),
    (X[0], "Expected 2D array, got 1D array"),
    (X[:0], r"0 sample\(s\)"),
    (np.where(X > 1, INF, X), "X contains infinity"),
]


def methods_of(name: str) -> list[str]:
    return QUERIES + (PROBABILITIES if name in CLASSIFIERS else [])


@every
def test_before_fit(name):
    for method in methods_of(name):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            getattr(forest_of(name), method)(X)
    for attribute in FITTED + (IMPORTANCES if name in CUTTING else []):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            getattr(forest_of(name), attribute)


@every
def test_query(name):
    forest = forest_of(name).fit(X, target_of(name, Y))
    for method in methods_of(name):
        for table, match in BAD_QUERIES:
            with pytest.raises(ValueError, match=match):
                getattr(forest, method)(table)


@every
@pytest.mark.parametrize("method", ["predict", "apply"])
def test_names_of_features(name, method):
    forest = forest_of(name).fit(FRAME, target_of(name, Y))
    for answers in (getattr(forest, method), getattr(forest.estimators_[0], method)):
        with pytest.raises(ValueError, match=r"(?s)feature names.*- d.*- a"):
            answers(FRAME.rename(columns={"a": "d"}))
        with pytest.raises(ValueError, match="same order"):
            answers(FRAME[["b", "a", "c"]])
        with pytest.raises(ValueError, match=r"(?s)names.*missing.*- c"):
            answers(FRAME[["a", "b"]])
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            answers(X)


@every
def test_column_that_was_numeric(name):
    forest = forest_of(name).fit(FRAME, target_of(name, Y))
    with pytest.raises(TypeError, match=r"Column 'b' of X .*numeric at fit"):
        forest.predict(FRAME.assign(b="text"))


@every
def test_array_for_categories_of_text(name):
    frame = FRAME.assign(c=pd.Categorical(np.where(Y == 1, "yes", "no")))
    forest = forest_of(name).fit(frame, target_of(name, Y))
    with (
        pytest.warns(UserWarning, match="valid feature names"),
        pytest.raises(ValueError, match=r"must be a data frame.*feature 2.*'no'"),
    ):
        forest.predict(X)


@every_honest
@pytest.mark.parametrize("method", ["structure_samples", "estimation_samples"])
def test_tree_that_does_not_exist(name, method):
    forest = forest_of(name, n_estimators=3).fit(X, target_of(name, Y))
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(forest_of(name), method)(0)
    for tree in (-1, 3, 10**9):
        with pytest.raises(IndexError, match=f"tree={tree}: .* trees 0 to 2"):
            getattr(forest, method)(tree)


# ---- warm start ---------------------------------------------------------------------

OTHERS = [
    ({"n_estimators": 2}, FRAME, Y, "n_estimators=2 must be at least 4"),
    ({}, FRAME[["a", "b"]], Y, "warm_start=True: X has other columns"),
    ({}, FRAME[["b", "a", "c"]], Y, "warm_start=True: X has other columns"),
    ({}, FRAME.set_axis(["x", "y", "z"], axis=1), Y, "warm_start=True: X has"),
    ({}, FRAME.assign(c=pd.Categorical(Y)), Y, "columns or categories"),
]
OTHER_CLASSES = [
    ({}, FRAME, Y + 1, r"classes \[1 2\], the forest has \[0 1\]"),
    ({}, FRAME, np.arange(60) % 3, r"classes \[0 1 2\]"),
]


@every
def test_warm_start(name):
    """The forest that was there stays as it was."""
    forest = forest_of(name, warm_start=True).fit(FRAME, target_of(name, Y))
    before = fitted_bytes(forest), told(forest, FRAME)
    cases = OTHERS if name in REGRESSORS else OTHERS + OTHER_CLASSES
    for params, table, y, match in cases:
        forest.set_params(**{"n_estimators": 6, **params})
        with pytest.raises(ValueError, match=match):
            forest.fit(table, target_of(name, y))
        assert fitted_bytes(forest) == before[0]
    assert_array_equal(told(forest, FRAME), before[1])
    assert forest.n_features_in_ == 3
    assert_array_equal(forest.feature_names_in_, COLUMNS)


@every
def test_warm_start_without_more_trees(name):
    y = target_of(name, Y)
    forest = forest_of(name, warm_start=True).fit(X, y)
    before = told(forest, X)
    with pytest.warns(UserWarning, match="n_estimators has not grown"):
        forest.fit(X, y)
    assert_array_equal(told(forest, X), before)
