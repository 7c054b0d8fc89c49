# SPDX-License-Identifier: BSD-3-Clause
"""Categorical columns: how they are declared, read and compared."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mrforest.data.table import MAX_CATEGORIES, read_predict
from tests.data.tables import LIBRARIES, NAN, Reader, both, fit, lists, make


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
