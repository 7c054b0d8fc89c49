# SPDX-License-Identifier: BSD-3-Clause
"""Any table to numbers and category indices: `mrforest.data.table`."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from mrforest.data.table import read_fit, read_predict
from tests.data.tables import LIBRARIES, NAN, Reader, both, fit, lists, make


@parametrize_with_checks([Reader()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- arrays ---------------------------------------------------------------------------


def test_float64_array_is_not_copied():
    X = np.random.default_rng(0).random((100, 5))
    estimator, matrix, schema = fit(X)
    assert np.shares_memory(matrix, X)
    assert np.shares_memory(read_predict(estimator, X, schema), X)
    assert schema.categories == (None,) * 5
    assert schema.is_categorical.tolist() == [False] * 5
    assert not hasattr(estimator, "feature_names_in_")


@pytest.mark.parametrize(
    "X",
    [
        [[1, 0], [2, 1]],
        [[1.0, False], [2.0, True]],
        np.array([[1, 0], [2, 1]], dtype=np.float32),
        np.array([[1, 0], [2, 1]], dtype=np.uint8),
        np.array([[1, 0], [2, 1]], dtype=object),
        np.asfortranarray([[1.0, 0.0], [2.0, 1.0]]),
    ],
)
def test_array_like_becomes_c_contiguous_float64(X):
    estimator, matrix, schema = fit(X)
    np.testing.assert_array_equal(matrix, [[1, 0], [2, 1]])
    np.testing.assert_array_equal(read_predict(estimator, X, schema), matrix)


def test_missing_values_of_an_array_stay():
    _, matrix, _ = fit([[1.0, None], [np.nan, 2.0]])
    np.testing.assert_array_equal(matrix, [[1, NAN], [NAN, 2]])


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        (sparse.csr_array(np.eye(2)), TypeError, "[Ss]parse"),
        (np.eye(2) * 1j, ValueError, "Complex data not supported"),
        (np.ones(2), ValueError, "Expected 2D array"),
        (np.ones((2, 2, 2)), ValueError, "dim"),
        (np.ones((0, 2)), ValueError, r"0 sample\(s\)"),
        (np.ones((2, 0)), ValueError, r"0 feature\(s\)"),
        (np.array([[1.0], [np.inf]]), ValueError, "infinity"),
        (np.array([["a"], ["b"]], dtype=object), ValueError, "convert string to float"),
        (pd.Series([1.0, 2.0]), ValueError, "2"),
        (pl.LazyFrame({"a": [1, 2]}), TypeError, "collect"),
    ],
)
def test_bad_array(X, error, match):
    with pytest.raises(error, match=match):
        read_fit(Reader(), X, [0, 1], "from_dtype")


@pytest.mark.parametrize("kind", ["array", *LIBRARIES])
def test_bad_target(kind):
    X = np.ones((2, 1)) if kind == "array" else make(kind, {"a": [1.0, 2.0]})
    for estimator in (Reader(), BaseEstimator()):  # the latter's tags require no y
        with pytest.raises(ValueError, match="requires y to be passed"):
            read_fit(estimator, X, None, "from_dtype")
    with pytest.raises(ValueError, match="y contains NaN"):
        read_fit(Reader(), X, [0, np.nan], "from_dtype")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        read_fit(Reader(), X, [0, 1, 1], "from_dtype")
    with pytest.raises(ValueError, match="1d array"):
        read_fit(Reader(), X, [[0, 1], [1, 0]], "from_dtype")
    with pytest.warns(DataConversionWarning, match="column-vector"):
        y = read_fit(Reader(), X, [[0], [1]], "from_dtype")[1]
    assert y.shape == (2,)


@both
@pytest.mark.parametrize(
    "y", [["u", "v"], [True, False], [3, 1], pl.Series(["u", "v"])]
)
def test_target_of_any_type(library, y):
    _, y_read, _ = read_fit(Reader(), make(library, {"a": [1, 2]}), y, "from_dtype")
    assert isinstance(y_read, np.ndarray)
    assert y_read.tolist() == list(y)


# --- numeric columns of frames --------------------------------------------------------


@both
def test_numeric_frame(library):
    X = make(
        library,
        {"i": [1, 2], "f": [0.5, np.nan], "b": [True, False], "u": np.uint8([7, 8])},
    )
    estimator, matrix, schema = fit(X)
    expected = [[1, 0.5, 1, 7], [2, NAN, 0, 8]]
    np.testing.assert_array_equal(matrix, expected)
    np.testing.assert_array_equal(read_predict(estimator, X, schema), expected)
    assert estimator.feature_names_in_.tolist() == ["i", "f", "b", "u"]
    assert lists(schema) == [None] * 4


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1, None], "Int64", [1, NAN]),
        ([1, None], "UInt8", [1, NAN]),
        ([1.5, None], "Float64", [1.5, NAN]),
        ([1.5, None], "Float32", [1.5, NAN]),
        ([True, None], "boolean", [1, NAN]),
        ([0.1, 2], "float32", [np.float32(0.1), 2]),
        ([0.5, 2], "float16", [0.5, 2]),
        ([0.0, 2], "Sparse[float]", [0, 2]),
        ([None, None], object, [NAN, NAN]),
        ([None, None], "str", [NAN, NAN]),
    ],
)
def test_pandas_numeric_dtypes(values, dtype, expected):
    _, matrix, schema = fit(pd.DataFrame({"a": pd.Series(values, dtype=dtype)}))
    np.testing.assert_array_equal(matrix[:, 0], np.array(expected, dtype=float))
    assert lists(schema) == [None]


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1, None], pl.Int8, [1, NAN]),
        ([1.5, None], pl.Float32, [1.5, NAN]),
        ([1.5, np.nan], pl.Float64, [1.5, NAN]),
        ([True, None], pl.Boolean, [1, NAN]),
        ([None, None], pl.Null, [NAN, NAN]),
        ([None, None], pl.String, [NAN, NAN]),
        ([1.5, None], pl.Decimal(10, 2), [1.5, NAN]),
    ],
)
def test_polars_numeric_dtypes(values, dtype, expected):
    X = pl.DataFrame({"a": pl.Series(values, dtype=dtype, strict=False)})
    _, matrix, schema = fit(X)
    np.testing.assert_array_equal(matrix[:, 0], expected)
    assert lists(schema) == [None]


@both
def test_infinity_in_a_frame(library):
    X = make(library, {"a": [1.0, np.inf], "b": [1.0, 2.0]})
    with pytest.raises(ValueError, match="Input X contains infinity"):
        fit(X)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        fit(X, ["a"])
    estimator, _, schema = fit(make(library, {"a": [1.0, 2.0], "b": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="Input X contains infinity"):
        read_predict(estimator, X, schema)


@both
@pytest.mark.parametrize(
    "values",
    [["x", "y"], [dt.datetime(2020, 1, 1)] * 2, [dt.timedelta(1)] * 2],
    ids=["str", "datetime", "timedelta"],
)
@pytest.mark.parametrize("declared", ["from_dtype", None, ["n"]])
def test_undeclared_column_that_is_not_numeric(library, values, declared):
    X = make(library, {"n": [1, 2], "odd": values})
    dtype = str(X["odd"].dtype).split("[")[0].split("(")[0]
    advice = "turn it into a number|list it in categorical_features"
    with pytest.raises(TypeError, match=f"'odd'.*{dtype}.*({advice})"):
        fit(X, declared)


def test_other_undeclared_columns_that_are_not_numeric():
    for X in (
        pd.DataFrame({"odd": [1, "a"]}),
        pd.DataFrame({"odd": [1j, 2]}),
        pl.DataFrame({"odd": [[1], [2]]}),
        pl.DataFrame({"odd": pl.Series([1, "a"], dtype=pl.Object)}),
    ):
        with pytest.raises(TypeError, match=r"'odd'.*categorical"):
            fit(X)


@both
def test_empty_frame(library):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        fit(make(library, {"a": [1.0], "c": ["x"]}, ["c"])[:0])
    with pytest.raises(ValueError, match=r"0 (sample|feature)\(s\)"):
        fit(make(library, {}))
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        fit(pd.DataFrame(index=range(3)))
    estimator, _, schema = fit(make(library, {"c": ["x"]}, ["c"]))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        read_predict(estimator, make(library, {"c": ["x"]}, ["c"])[:0], schema)


# --- names and numbers of features ----------------------------------------------------


@both
def test_names_and_number_are_checked(library):
    estimator, _, schema = fit(make(library, {"a": [1, 2], "b": [3, 4]}))
    for bad in ({"a": [1], "z": [2]}, {"b": [1], "a": [2]}, {"a": [1]}):
        with pytest.raises(ValueError, match="feature names should match"):
            read_predict(estimator, make(library, bad), schema)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        matrix = read_predict(estimator, np.array([[5, 6]]), schema)
    np.testing.assert_array_equal(matrix, [[5, 6]])
    with (
        pytest.warns(UserWarning, match="does not have valid feature names"),
        pytest.raises(ValueError, match="X has 3 features"),
    ):
        read_predict(estimator, np.ones((1, 3)), schema)


@both
def test_frame_after_array(library):
    estimator, _, schema = fit(np.ones((2, 1)))
    with pytest.warns(UserWarning, match="fitted without feature names"):
        matrix = read_predict(estimator, make(library, {"a": [3]}), schema)
    np.testing.assert_array_equal(matrix, [[3]])
    X = make(library, {"a": [3, 4], "b": [3, 4]})
    with (
        pytest.warns(UserWarning, match="fitted without feature names"),
        pytest.raises(ValueError, match="X has 2 features"),
    ):
        read_predict(estimator, X, schema)


@both
def test_refit_forgets_names(library):
    estimator = Reader()
    estimator.fit(make(library, {"a": [1, 2]}), [0, 1])
    assert estimator.feature_names_in_.tolist() == ["a"]
    estimator.fit(np.ones((2, 3)), [0, 1])
    assert not hasattr(estimator, "feature_names_in_")
    assert estimator.n_features_in_ == 3


def test_pandas_columns_without_string_names():
    X = pd.DataFrame([[1, "u"], [2, "v"]], columns=[7, 8])
    estimator, matrix, schema = fit(X, [1])
    np.testing.assert_array_equal(matrix, [[1, 0], [2, 1]])
    assert not hasattr(estimator, "feature_names_in_")
    np.testing.assert_array_equal(read_predict(estimator, X, schema), matrix)
    with pytest.raises(TypeError, match="'8'"):
        fit(X)
    with pytest.raises(TypeError, match="string names"):
        fit(X.rename(columns={7: "a"}), [1])
    with pytest.raises(ValueError, match="unique column names"):
        fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))


# --- the parameter categorical_features -----------------------------------------------
