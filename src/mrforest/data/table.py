# SPDX-License-Identifier: BSD-3-Clause
"""Any table to one C-contiguous float64 matrix, and what `fit` learned about it.

A numeric column holds its numbers (NaN: missing), a categorical one the index of each
value in the categories seen at `fit` (NaN: missing or not seen). scikit-learn checks
arrays; data frames (pandas, polars) are read column by column through narwhals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    column_or_1d,
)
from sklearn.utils.validation import validate_data

from mrforest import _core
from mrforest.data.finite import is_large_array, refuse_infinite

MAX_CATEGORIES = 65_535  # binning codes them in 16 bits, beside the missing bin

_CATEGORICAL = (nw.Categorical, nw.Enum)  # the latter also for ordered ones of pandas


def _checks(allow_missing: bool) -> dict[str, Any]:
    finite = "allow-nan" if allow_missing else True
    return {"dtype": np.float64, "order": "C", "ensure_all_finite": finite}


@dataclass(frozen=True, eq=False)
class Schema:
    """What `fit` learned about the columns; holds no training rows.

    Parameters
    ----------
    categories : tuple of (ndarray of shape (n_categories,) or None)
        For each feature None if it is numeric, else the distinct values that occur in
        the training rows: in the order of the dtype if it has one, else sorted.
    names : tuple of str, default=None
        Names of the features, if the table has them.

    Examples
    --------
    >>> import numpy as np
    >>> Schema(categories=(None, np.array(["no", "yes"]))).is_categorical
    array([False,  True])
    """

    categories: tuple[np.ndarray | None, ...]
    names: tuple[str, ...] | None = None

    @property
    def is_categorical(self) -> np.ndarray:
        """Which features are categorical, ndarray of shape (n_features,), bool."""
        return np.array([values is not None for values in self.categories], dtype=bool)

    @property
    def n_categories(self) -> np.ndarray:
        """Number of categories, ndarray of shape (n_features,), int32; -1: numeric."""
        counts = [-1 if values is None else len(values) for values in self.categories]
        return np.array(counts, dtype=np.int32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self.names == other.names and [
            _listed(values) for values in self.categories
        ] == [_listed(values) for values in other.categories]

    __hash__ = None  # type: ignore[assignment]


def _names(estimator: Any) -> tuple[str, ...] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(names)


def _listed(values: np.ndarray | None) -> list[Any] | None:
    return None if values is None else values.tolist()


def read_fit(
    estimator: Any,
    X: Any,
    y: Any,
    categorical_features: Any = "from_dtype",
    *,
    allow_missing: bool = True,
) -> tuple[np.ndarray, np.ndarray, Schema]:
    """Validate and read the training table; set the names and number of features.

    Parameters
    ----------
    estimator : estimator instance
        Gets `n_features_in_` and, if X has string names, `feature_names_in_`.
    X : array-like or data frame of shape (n_samples, n_features)
        The table: numbers, or a frame of any library that narwhals reads eagerly.
    y : array-like of shape (n_samples,)
        The target, of any type, without missing values.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        "from_dtype": the columns of a categorical dtype (pandas Categorical, polars
        Categorical and Enum). None: none. Else the positions of the categorical
        columns, their names (frames only), or a boolean mask of all columns.
    allow_missing : bool, default=True
        Whether NaN is a missing value; else it is an error.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype=float64
        Numbers and category indices. It is the input itself, not a copy, if that is
        a C-contiguous float64 array without categorical columns: do not write to it.
    y : ndarray of shape (n_samples,)
    schema : Schema
    """
    _refuse_missing(y)
    frame = _as_frame(X)
    if frame is None:
        X, y = validate_data(estimator, X, y, **_checks(allow_missing))
        mask = _categorical_mask(categorical_features, [], [False] * X.shape[1])
        if not mask.any():
            return X, y, Schema((None,) * X.shape[1], _names(estimator))
    else:
        # y comes first: checking y alone makes validate_data forget the names of X.
        y = validate_data(estimator, y=y)
        validate_data(estimator, frame.to_native(), skip_check_array=True)
        check_consistent_length(frame, y)
        found = [isinstance(dtype, _CATEGORICAL) for dtype in frame.schema.values()]
        mask = _categorical_mask(categorical_features, frame.columns, found)
    matrix, schema = _read(
        estimator, X if frame is None else frame, mask, allow_missing=allow_missing
    )
    return matrix, y, schema


def read_target(y: Any) -> np.ndarray:
    """Validate the target alone; of any type, without missing values.

    Parameters
    ----------
    y : array-like of shape (n_samples,)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    _refuse_missing(y)
    target: np.ndarray = column_or_1d(y, warn=True)
    assert_all_finite(target, input_name="y")
    return target


def _refuse_missing(y: Any) -> None:
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    labels = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(labels, nw.Series) and (n_missing := labels.null_count()):
        # Said here, because scikit-learn stumbles over pandas' NA.
        raise ValueError(f"Input y contains NaN: {n_missing} labels are missing.")


def read_predict(
    estimator: Any,
    X: Any,
    schema: Schema,
    *,
    allow_missing: bool = True,
    n_jobs: int | None = 1,
) -> np.ndarray:
    """Validate and read a table whose columns are those seen at `fit`.

    Parameters
    ----------
    estimator : estimator instance
        The fitted estimator, whose feature names and number `X` must match.
    X : array-like or data frame of shape (n_samples, n_features)
        The table, of any library: categories are compared by value.
    schema : Schema
        What `read_fit` learned.
    allow_missing : bool, default=True
        As in `read_fit`.
    n_jobs : int, default=1
        Threads that look for infinite values in a large array.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype=float64
        Numbers and category indices, possibly the input itself as in `read_fit`.
    """
    frame = _as_frame(X)
    mask = schema.is_categorical
    if frame is not None:
        native = frame.to_native()
        validate_data(estimator, native, reset=False, skip_check_array=True)
        return _read(estimator, frame, mask, schema, allow_missing=allow_missing)[0]
    checks = _checks(allow_missing)
    if n_jobs != 1 and is_large_array(X):
        # The same in the same order, but values are looked at in threads.
        refuse_infinite(X, n_jobs, **checks, input_name="X", estimator=estimator)
        checks["ensure_all_finite"] = False
    X = validate_data(estimator, X, reset=False, **checks)
    for j, values in enumerate(schema.categories):
        # A number equals no text: without this every row would pass as unseen.
        if values is not None and len(values) and values.dtype.kind not in "biuf":
            raise ValueError(
                f"X must be a data frame: the categories of feature {j} seen at fit "
                f"are not numbers ({values[0]!r}, ...), and an array holds only those."
            )
    if not mask.any():
        rows: np.ndarray = X
        return rows
    return _read(estimator, X, mask, schema, allow_missing=allow_missing)[0]


def read_columns(estimator: Any, X: Any) -> list[int]:
    """Set the names and number of features from a table whose values are not read.

    Parameters
    ----------
    estimator : estimator instance
        Gets `n_features_in_` and, if X has string names, `feature_names_in_`.
    X : array-like or data frame of shape (n_samples, n_features)

    Returns
    -------
    list of int
        The columns that a frame does not hold as numbers.
    """
    frame = _as_frame(X)
    if frame is None:
        # Only what is a table tells its columns without being read.
        is_table = len(getattr(X, "shape", ())) == 2
        checks = {} if is_table else _checks(allow_missing=True)
        validate_data(estimator, X, skip_check_array=is_table, **checks)
        return []
    validate_data(estimator, frame.to_native(), skip_check_array=True)
    return [
        j
        for j, dtype in enumerate(frame.schema.values())
        if not (dtype.is_numeric() or isinstance(dtype, nw.Boolean))
    ]


def _as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Wrap a data frame; None for all else, which scikit-learn then judges."""
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a lazy frame ({type(X).__name__}): collect it first.")
    return frame if isinstance(frame, nw.DataFrame) else None


def _categorical_mask(
    value: Any, names: Sequence[Any], from_dtype: Sequence[bool]
) -> np.ndarray:
    """Turn the parameter `categorical_features` into a boolean mask of the columns."""
    n_features = len(from_dtype)

    def error(reason: str) -> ValueError:
        return ValueError(
            f"categorical_features={value!r}: {reason}. Allowed are 'from_dtype', "
            f"None, or a list of distinct column indices in 0..{n_features - 1}, of "
            "distinct column names (of a data frame), or of one boolean a column."
        )

    if isinstance(value, str) and value == "from_dtype":
        return np.array(from_dtype, dtype=bool)
    if isinstance(value, str | bytes) or not (value is None or np.iterable(value)):
        raise error("not one of the allowed values")
    items = [] if value is None else list(value)
    # bool is an int to Python, so masks are recognised before indices.
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != n_features:
            raise error(f"a mask of length {len(items)} for {n_features} columns")
        return np.array(items, dtype=bool)
    if items and all(isinstance(item, str) for item in items):
        if unknown := [item for item in items if item not in names]:
            raise error(f"X has no column named {unknown[0]!r}")
        items = [names.index(item) for item in items]
    elif not all(isinstance(i, Integral) and not isinstance(i, bool) for i in items):
        raise error("neither all indices, nor all names, nor all booleans")
    if unknown := [item for item in items if not 0 <= item < n_features]:
        raise error(f"X has no column of index {unknown[0]}")
    if len(set(items)) < len(items):
        raise error("a column is listed twice")
    return np.isin(np.arange(n_features), items)


def _read(
    estimator: Any,
    table: Any,
    mask: np.ndarray,
    schema: Schema | None = None,
    *,
    allow_missing: bool,
) -> tuple[np.ndarray, Schema]:
    """Read column by column into a new matrix; learn the schema if there is none."""
    # Order F, because strided writes are slow; check_array copies to order C, once.
    matrix = np.empty(table.shape, dtype=np.float64, order="F")
    categories: list[np.ndarray | None] = [None] * len(mask)
    is_array = isinstance(table, np.ndarray)
    for j, column in enumerate(table.T if is_array else table.iter_columns()):
        label = f"Feature {j}" if is_array else f"Column '{column.name}'"
        if mask[j]:
            known = None if schema is None else schema.categories[j]
            codes, values = _factorize(column) if is_array else _codes(column, label)
            matrix[:, j], categories[j] = _encode(codes, values, known, label)
        else:
            matrix[:, j] = column if is_array else _numbers(column, label, schema)
    # No rows, no columns, infinity: a frame gets the same errors as an array.
    checks = _checks(allow_missing)
    matrix = check_array(matrix, **checks, input_name="X", estimator=estimator)
    return matrix, Schema(tuple(categories), _names(estimator))


def _numbers(column: nw.Series[Any], label: str, schema: Schema | None) -> Any:
    """Read a numeric or boolean column, NaN for missing."""
    dtype = column.dtype
    if dtype.is_numeric() or isinstance(dtype, nw.Boolean):
        return column.cast(nw.Float64).to_numpy()
    # What narwhals has no name for, e.g. pandas' sparse columns and polars' Null.
    if isinstance(dtype, nw.Unknown) and column.to_numpy().dtype.kind in "biuf":
        return column.to_numpy()
    # A column without any value gets these dtypes for want of a better guess.
    if isinstance(dtype, nw.String | nw.Object) and column.is_null().all():
        return np.nan
    if isinstance(dtype, _CATEGORICAL):
        advice = "list it in categorical_features, or let that be 'from_dtype'"
    elif dtype.is_temporal():
        advice = "turn it into a number, such as days since some day"
    else:
        advice = "cast it to a categorical dtype or list it in categorical_features"
    raise TypeError(
        f"{label} of X has dtype {column.to_native().dtype}, which is not numeric: "
        f"{advice if schema is None else 'it was numeric at fit'}."
    )


def _codes(column: nw.Series[Any], label: str) -> tuple[np.ndarray, np.ndarray]:
    """Split a column into codes (-1: missing) and values, in dtype or sorted order."""
    if isinstance(column.dtype, nw.String):
        # The library's own hash table finds the distinct strings, not a Python loop.
        column = column.cast(nw.Categorical)
    native = column.to_native()
    if isinstance(column.dtype, _CATEGORICAL):
        if column.implementation.is_polars():
            return _polars_codes(native, isinstance(column.dtype, nw.Enum))
        if hasattr(native, "cat"):  # pandas, but not its Arrow dictionaries
            values = native.cat.categories.tolist()
            # Whoever made an unordered one may have kept the order of the rows, which
            # must not show.
            if not native.cat.ordered:
                native = native.cat.reorder_categories(_sorted(values))
            return native.cat.codes.to_numpy(), native.cat.categories.to_numpy()
    codes = np.full(len(column), -1, dtype=np.intp)
    present = ~column.is_null().to_numpy()
    try:
        codes[present], values = _factorize(column.drop_nulls().to_numpy())
    except TypeError as exc:  # unhashable values
        raise TypeError(f"{label} of X cannot be categorical: {exc}.") from exc
    return codes, values


def _polars_codes(native: Any, is_enum: bool) -> tuple[np.ndarray, np.ndarray]:
    """Split a polars Categorical or Enum column as `_codes` does."""
    physical = nw.from_native(native.to_physical(), series_only=True)
    codes = physical.cast(nw.Int64).fill_null(-1).to_numpy()
    distinct = native.drop_nulls().unique()
    values = np.array(distinct.to_list(), dtype=object)
    used = distinct.to_physical().to_numpy().astype(np.intp)
    # The codes of an Enum follow its order; those of a Categorical number the strings
    # of the whole process in order of appearance. Renumber those of this column.
    order = np.argsort(used if is_enum else values)
    rank = np.full(used.max(initial=-1) + 2, -1, dtype=np.intp)
    rank[used[order]] = np.arange(len(used))
    return rank[codes], values[order]  # missing takes the last entry, which stays -1


def _factorize(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split an array as `_codes` does; NaN is missing."""
    if values.dtype.kind == "O":
        distinct = _sorted([v for v in dict.fromkeys(values.tolist()) if v == v])
        index = {value: i for i, value in enumerate(distinct)}
        codes = np.array([index.get(value, -1) for value in values], dtype=np.intp)
        return codes, np.fromiter(index, dtype=object, count=len(index))
    if values.dtype == np.float64:
        values = np.ascontiguousarray(values)
        found, n_found = _core.distinct_values(values[:, None])
        if n_found[0] <= found.shape[1]:  # few: nothing has to be sorted
            few = found[0, : n_found[0]]
            if not np.isfinite(few).all():
                assert_all_finite(few, input_name="X")
            return _core.places(values, few), few
    values, codes = np.unique(values, return_inverse=True)
    if values.dtype.kind == "f":
        # np.unique puts NaN last, and only once.
        values = values[~np.isnan(values)]
        codes[codes == len(values)] = -1
        assert_all_finite(values, input_name="X")
    return codes, values


def _sorted(values: list[Any]) -> list[Any]:
    """Sort distinct objects; if they cannot be compared, by type and text."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, repr(value)))


def _encode(
    codes: np.ndarray, values: np.ndarray, categories: np.ndarray | None, label: str
) -> tuple[np.ndarray, np.ndarray]:
    """Map codes to indices in `categories`; if it is None, in the values that occur."""
    if categories is None:
        occurs = np.zeros(len(values) + 1, dtype=bool)
        occurs[codes] = True  # missing marks the last entry
        categories = values[occurs[:-1]]
        _refuse_many(categories, label)
    index = {key: i for i, key in enumerate(_keys(categories))}
    table = np.array([index.get(key, np.nan) for key in _keys(values)] + [np.nan])
    return table[codes], categories  # missing takes the last entry


def _refuse_many(categories: np.ndarray, label: str) -> None:
    if len(categories) > MAX_CATEGORIES:
        raise ValueError(
            f"{label} of X has {len(categories):,} categories, at most "
            f"{MAX_CATEGORIES:,} are allowed: merge rare ones or make it numeric."
        )


def join_categories(lists: Sequence[np.ndarray], label: str) -> np.ndarray:
    """Join the categories of a feature that parts of a table have, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> join_categories([np.array(["b"]), np.array(["a", "b"])], "Column 'x'")
    array(['a', 'b'], dtype='<U1')
    """
    joined = np.concatenate(lists)
    if joined.dtype.kind == "O":
        values = _sorted(list(dict.fromkeys(joined.tolist())))
        joined = np.fromiter(values, dtype=object, count=len(values))
    else:
        joined = np.unique(joined)
    _refuse_many(joined, label)
    return joined


def _keys(values: np.ndarray) -> Any:
    """List the Python objects by which values of any library compare."""
    if values.dtype.kind in "mM":  # nanoseconds would become bare integers
        values = values.astype(f"{values.dtype.kind}8[us]")
    return values.tolist()
