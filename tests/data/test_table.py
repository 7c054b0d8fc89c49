# SPDX-License-Identifier: BSD-3-Clause
"""Any table to numbers and category indices: `mrforest.data.table`."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mrforest.data.table import MAX_CATEGORIES, Schema, read_fit, read_predict

NAN = np.nan
LIBRARIES = ["pandas", "polars"]
both = pytest.mark.parametrize("library", LIBRARIES)


class Reader(ClassifierMixin, BaseEstimator):
    """A tree of scikit-learn behind our reader, as small as an estimator can be."""

    def __init__(self, categorical_features="from_dtype"):
        self.categorical_features = categorical_features

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X, y):
        X, y, self.schema_ = read_fit(self, X, y, self.categorical_features)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self.tree_ = DecisionTreeClassifier(random_state=0).fit(X, y)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.tree_.predict(read_predict(self, X, self.schema_))


def make(library, columns, categorical=()):
    """Build a frame; the columns named in `categorical` get a categorical dtype."""
    if library == "pandas":
        return pd.DataFrame(columns).astype(dict.fromkeys(categorical, "category"))
    frame = pl.DataFrame(columns, strict=False)
    return frame.with_columns(pl.col(name).cast(pl.Categorical) for name in categorical)


def fit(X, categorical_features="from_dtype", y=None):
    """Read a training table; return (estimator, matrix, schema)."""
    estimator = Reader()
    y = np.zeros(len(X), dtype=int) if y is None else y
    matrix, _, schema = read_fit(estimator, X, y, categorical_features)
    assert matrix.dtype == np.float64
    assert matrix.flags.c_contiguous
    assert isinstance(schema, Schema)
    assert len(schema.categories) == matrix.shape[1] == estimator.n_features_in_
    return estimator, matrix, schema


def lists(schema):
    return [None if c is None else c.tolist() for c in schema.categories]


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
    with pytest.raises(TypeError, match=f"'odd'.*{dtype}.*list it in categorical_feat"):
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


@both
@pytest.mark.parametrize(
    "declared",
    [
        ["c"],
        ("c",),
        np.array(["c"]),
        pd.Index(["c"]),
        [1],
        np.array([1]),
        [False, True, False],
        np.array([False, True, False]),
        pd.Series([False, True, False]),
    ],
    ids=repr,
)
def test_ways_to_declare(library, declared):
    X = make(library, {"n": [5, 6, 7], "c": ["y", "x", "y"], "m": [1, 1, 1]})
    _, matrix, schema = fit(X, declared)
    np.testing.assert_array_equal(matrix, [[5, 1, 1], [6, 0, 1], [7, 1, 1]])
    assert schema.is_categorical.tolist() == [False, True, False]
    assert lists(schema) == [None, ["x", "y"], None]


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ("dtype", "not one of"),
        ("a", "not one of"),
        (1, "not one of"),
        (True, "not one of"),
        (1.5, "not one of"),
        (b"a", "not one of"),
        (["z"], "no column named 'z'"),
        ([2], "no column of index 2"),
        ([-1], "no column of index -1"),
        ([True], "mask of length 1 for 2"),
        ([True, False, True], "mask of length 3 for 2"),
        ([0, 0], "twice"),
        (["a", "a"], "twice"),
        ([0, "a"], "neither"),
        ([0, True], "neither"),
        ([0.0], "neither"),
        ([None], "neither"),
        (np.array([[0, 1]]), "neither"),
    ],
    ids=repr,
)
def test_bad_declaration(declared, reason):
    for X in (pd.DataFrame({"a": [1, 2], "b": [3, 4]}), pl.DataFrame({"a": 1, "b": 2})):
        with pytest.raises(ValueError, match="categorical_features=") as info:
            fit(X, declared)
        assert repr(declared) in str(info.value)
        assert reason in str(info.value)
        assert "Allowed are 'from_dtype'" in str(info.value)


def test_names_need_a_frame():
    with pytest.raises(ValueError, match=r"categorical_features=\['a'\]"):
        fit(np.ones((2, 2)), ["a"])


@both
def test_nothing_declared(library):
    X = make(library, {"a": [1.0, 2.0], "c": ["x", "y"]}, ["c"])
    assert lists(fit(X[["a"]], None)[2]) == [None]
    assert lists(fit(X[["a"]], [])[2]) == [None]
    for declared in (None, [], ["a"], [0], [True, False]):
        with pytest.raises(TypeError, match="'c'"):
            fit(X, declared)


def test_array_with_declared_columns():
    X = np.array([[3.0, 7.0], [NAN, 8.0], [-1.0, 9.0], [3.0, 9.0]])
    kept = X.copy()
    estimator, matrix, schema = fit(X, [0])
    np.testing.assert_array_equal(matrix, [[1, 7], [NAN, 8], [0, 9], [1, 9]])
    assert lists(schema) == [[-1, 3], None]
    np.testing.assert_array_equal(X, kept)
    new = np.array([[4, 1], [3, 2]])
    np.testing.assert_array_equal(
        read_predict(estimator, new, schema), [[NAN, 1], [1, 2]]
    )


# --- categories -----------------------------------------------------------------------


@both
def test_categorical_dtype(library):
    X = make(library, {"c": ["b", None, "a", "b"], "n": [1, 2, 3, 4]}, ["c"])
    estimator, matrix, schema = fit(X)
    np.testing.assert_array_equal(matrix, [[1, 1], [NAN, 2], [0, 3], [1, 4]])
    assert lists(schema) == [["a", "b"], None]
    new = make(library, {"c": ["z", "b", None], "n": [1, 2, 3]}, ["c"])
    np.testing.assert_array_equal(
        read_predict(estimator, new, schema)[:, 0], [NAN, 1, NAN]
    )


def test_unordered_categories_are_sorted():
    """Some libraries declare them in the order of the rows, which must not show."""
    column = pd.Categorical(["hi", "lo", None], ["mid", "lo", "hi"])
    _, matrix, schema = fit(pd.DataFrame({"c": column}))
    assert lists(schema) == [["hi", "lo"]]
    np.testing.assert_array_equal(matrix, [[0], [1], [NAN]])


@pytest.mark.parametrize("kind", ["ordered", "enum"])
def test_order_of_the_dtype_and_only_what_occurs(kind):
    levels = ["never", "lo", "mid", "hi"]

    def build(values):
        if kind == "enum":
            return pl.DataFrame({"c": values}, schema={"c": pl.Enum(levels)})
        return pd.DataFrame({"c": pd.Categorical(values, levels, ordered=True)})

    estimator, matrix, schema = fit(build(["hi", "lo", None]))
    assert lists(schema) == [["lo", "hi"]]
    np.testing.assert_array_equal(matrix, [[1], [0], [NAN]])
    # "mid" was declared but did not occur: it is unseen at predict.
    matrix = read_predict(estimator, build(["mid", "hi"]), schema)
    np.testing.assert_array_equal(matrix, [[NAN], [1]])


@pytest.mark.parametrize("fitted", [*LIBRARIES, "enum"])
@pytest.mark.parametrize("given", [*LIBRARIES, "enum", "pandas str", "polars str"])
def test_another_library_or_dtype_at_predict(fitted, given):
    def build(kind, values):
        if kind == "enum":
            return pl.DataFrame({"c": values}, schema={"c": pl.Enum(["z", "y", "x"])})
        library, _, plain = kind.partition(" ")
        return make(library, {"c": values}, [] if plain else ["c"])

    estimator, _, schema = fit(build(fitted, ["x", "y", "x"]))
    matrix = read_predict(estimator, build(given, ["y", "z", None, "x"]), schema)
    decoded = [
        None if np.isnan(i) else schema.categories[0][int(i)] for i in matrix[:, 0]
    ]
    assert decoded == ["y", None, None, "x"]


@both
def test_declared_numbers(library):
    X = make(
        library, {"i": [30, 10, 30], "f": [0.5, None, 0.1], "b": [True, False, True]}
    )
    estimator, matrix, schema = fit(X, ["i", "f", "b"])
    assert lists(schema) == [[10, 30], [0.1, 0.5], [False, True]]
    np.testing.assert_array_equal(matrix, [[1, 1, 1], [0, NAN, 0], [1, 0, 1]])
    new = make(library, {"i": [10.0, 11.0], "f": [np.nan, 0.5], "b": [1, 0]})
    np.testing.assert_array_equal(
        read_predict(estimator, new, schema), [[0, NAN, 1], [NAN, 1, 0]]
    )


@both
def test_large_integers_stay_apart(library):
    ids = [2**53, 2**53 + 1, None]
    column = pd.Series(ids, dtype="Int64") if library == "pandas" else pl.Series(ids)
    _, matrix, schema = fit(make(library, {"id": column}), ["id"])
    np.testing.assert_array_equal(matrix, [[0], [1], [NAN]])
    assert lists(schema) == [ids[:2]]


def test_integer_categories():
    X = pd.DataFrame({"c": pd.Categorical([3, 1, None, 3])})
    estimator, matrix, schema = fit(X)
    assert lists(schema) == [[1, 3]]
    np.testing.assert_array_equal(matrix, [[1], [0], [NAN], [1]])
    for new in (pl.DataFrame({"c": [3, 2]}), pd.DataFrame({"c": [3.0, 2.5]})):
        np.testing.assert_array_equal(
            read_predict(estimator, new, schema), [[1], [NAN]]
        )
    with pytest.warns(UserWarning, match="valid feature names"):
        matrix = read_predict(estimator, np.array([[3], [2]]), schema)
    np.testing.assert_array_equal(matrix, [[1], [NAN]])


@pytest.mark.parametrize("dtype", ["category", object])
def test_categories_of_mixed_types(dtype):
    values = ["b", 1, None, 2.5, "a"]
    X = pd.DataFrame({"c": pd.Series(values, dtype=object).astype(dtype)})
    _, matrix, schema = fit(X, ["c"])
    assert lists(schema) == [[2.5, 1, "a", "b"]]
    np.testing.assert_array_equal(matrix[:, 0], [3, 1, NAN, 0, 2])
    turned = pd.DataFrame({"c": pd.Series(values[::-1], dtype=object).astype(dtype)})
    assert lists(fit(turned, ["c"])[2]) == lists(schema)


def test_object_column_of_polars():
    X = pl.DataFrame({"c": pl.Series(["x", np.nan, None, 1], dtype=pl.Object)})
    _, matrix, schema = fit(X, ["c"])
    assert lists(schema) == [[1, "x"]]
    np.testing.assert_array_equal(matrix[:, 0], [1, NAN, NAN, 0])


def test_intervals_of_pandas_cut():
    X = pd.DataFrame({"c": pd.cut([1, 9, 5], 3)})
    estimator, matrix, schema = fit(X)
    np.testing.assert_array_equal(matrix, [[0], [2], [1]])
    np.testing.assert_array_equal(read_predict(estimator, X[:1], schema), [[0]])


def test_declared_dates_compare_across_libraries():
    days = [dt.datetime(2021, 1, 1), None, dt.datetime(2020, 1, 1)]
    new = [dt.datetime(2020, 1, 1), dt.datetime(1999, 1, 1)]
    pandas = pd.DataFrame({"d": pd.Series(days, dtype="datetime64[ns]")})
    for X in (pandas, pl.DataFrame({"d": days})):
        estimator, matrix, schema = fit(X, ["d"])
        np.testing.assert_array_equal(matrix, [[1], [NAN], [0]])
        for library in LIBRARIES:
            matrix = read_predict(estimator, make(library, {"d": new}), schema)
            np.testing.assert_array_equal(matrix, [[0], [NAN]])


@both
def test_values_that_cannot_be_categories(library):
    with pytest.raises(TypeError, match="Column 'c' of X cannot be categorical"):
        fit(make(library, {"c": [[1], [2]]}), ["c"])


@both
def test_numeric_at_fit_text_at_predict(library):
    estimator, _, schema = fit(make(library, {"a": [1, 2]}))
    for categorical in ([], ["a"]):
        new = make(library, {"a": ["x", "y"]}, categorical)
        with pytest.raises(TypeError, match=r"'a'.*numeric at fit"):
            read_predict(estimator, new, schema)
    # One row with nothing in it has no numeric dtype, and is missing all the same.
    matrix = read_predict(estimator, make(library, {"a": [None]}), schema)
    np.testing.assert_array_equal(matrix, [[NAN]])


@both
def test_text_at_fit_array_at_predict(library):
    estimator, _, schema = fit(make(library, {"c": ["x", "y"]}, ["c"]))
    with (
        pytest.warns(UserWarning, match="valid feature names"),
        pytest.raises(ValueError, match=r"must be a data frame.*feature 0.*'x'"),
    ):
        read_predict(estimator, np.array([[0.0]]), schema)


@both
def test_column_without_any_category(library):
    X = make(library, {"c": [None, None], "n": [1, 2]}, ["c"])
    for declared in ("from_dtype", ["c"]):
        estimator, matrix, schema = fit(X, declared)
        np.testing.assert_array_equal(matrix, [[NAN, 1], [NAN, 2]])
        assert lists(schema) == [[], None]
        assert schema.is_categorical.tolist() == [True, False]
        new = make(library, {"c": ["x"], "n": [1]}, ["c"])
        np.testing.assert_array_equal(read_predict(estimator, new, schema), [[NAN, 1]])
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(
            read_predict(estimator, np.array([[5, 1]]), schema), [[NAN, 1]]
        )


@both
def test_one_row_one_column(library):
    _, matrix, schema = fit(make(library, {"c": ["x"]}, ["c"]))
    np.testing.assert_array_equal(matrix, [[0]])
    assert lists(schema) == [["x"]]
    np.testing.assert_array_equal(fit(make(library, {"a": [4]}))[1], [[4]])
    np.testing.assert_array_equal(fit([[4]])[1], [[4]])
    np.testing.assert_array_equal(fit([[4]], [0])[1], [[0]])


@both
@pytest.mark.parametrize("categorical", [[], ["s", "t"]], ids=["declared", "dtype"])
def test_schema_does_not_depend_on_row_order_or_duplicates(library, categorical):
    rng = np.random.default_rng(0)
    columns = {
        "s": np.array(["q", "é", "B", "a", "10", "9"])[rng.integers(6, size=200)],
        "t": rng.permutation([f"t{i}" for i in range(200)]),
        "i": rng.integers(50, size=200),
    }
    declared = ["s", "t", "i"]
    _, matrix, schema = fit(make(library, columns, categorical), declared)
    for values, categories in zip(columns.values(), schema.categories, strict=True):
        np.testing.assert_array_equal(categories, np.unique(values))
    order = rng.permutation(np.r_[np.arange(200), np.arange(200)])
    turned = {name: values[order] for name, values in columns.items()}
    _, turned_matrix, again = fit(make(library, turned, categorical), declared)
    np.testing.assert_array_equal(turned_matrix, matrix[order])
    assert lists(again) == lists(schema)


@both
def test_too_many_categories(library):
    text = np.char.mod("%d", np.arange(MAX_CATEGORIES + 1))
    for values, categorical in ((text, ["c"]), (np.arange(MAX_CATEGORIES + 1), [])):
        X = make(library, {"c": values}, categorical)
        with pytest.raises(ValueError, match="Column 'c' of X has 65,536 categories"):
            fit(X, ["c"])
        # One less is allowed, also if the dtype still knows the last one.
        _, matrix, schema = fit(X[:MAX_CATEGORIES], ["c"])
        assert len(schema.categories[0]) == MAX_CATEGORIES
        assert matrix.max() == MAX_CATEGORIES - 1


def test_too_many_categories_in_an_array():
    with pytest.raises(ValueError, match="Feature 1 of X has 65,536 categories"):
        fit(np.arange(2.0 * MAX_CATEGORIES + 2).reshape(-1, 2), [1])


def test_polars_categories_named_by_the_process():
    # Codes of a polars Categorical may start anywhere: other frames took the first.
    pl.Series([f"other{i}" for i in range(1000)], dtype=pl.Categorical)
    _, matrix, schema = fit(make("polars", {"c": ["late", None, "early"]}, ["c"]))
    np.testing.assert_array_equal(matrix, [[1], [NAN], [0]])
    assert lists(schema) == [["early", "late"]]


@both
def test_input_is_not_changed(library):
    columns = {"n": [1.0, NAN], "c": ["x", None], "s": ["u", "v"], "i": [2, 1]}
    X, kept = (make(library, columns, ["c"]) for _ in range(2))
    estimator, matrix, schema = fit(X, ["c", "s", "i"])
    matrix[:] = -1
    read_predict(estimator, X, schema)[:] = -1
    fit(X[["n"]])[1][:] = -1
    if library == "pandas":
        pd.testing.assert_frame_equal(X, kept)
    else:
        assert X.equals(kept)


@both
def test_schema_is_small_and_can_be_pickled(library):
    n = 100_000
    X = make(
        library, {"c": np.array(["x", "y"])[np.arange(n) % 2], "a": np.arange(n)}, ["c"]
    )
    estimator, matrix, schema = fit(X)
    data = pickle.dumps(schema)
    assert len(data) < 1000
    again = pickle.loads(data)
    np.testing.assert_array_equal(read_predict(estimator, X, again), matrix)
    with pytest.raises(AttributeError):
        schema.categories = ()


@both
def test_through_an_estimator(library):
    X = make(library, {"c": ["x", "y"] * 10, "n": np.arange(20)}, ["c"])
    y = ["yes", "no"] * 10
    model = Reader().fit(X, y)
    assert model.predict(X).tolist() == y
    other = make(
        {"pandas": "polars", "polars": "pandas"}[library], {"c": ["y"], "n": [3]}
    )
    assert model.predict(other).tolist() == ["no"]
