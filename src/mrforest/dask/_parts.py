# SPDX-License-Identifier: BSD-3-Clause
"""One part of a table: what it has, and its codes. These functions run on workers.

A part is read by the ordinary forest, which learns nothing else from it. An error says
which part it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._cuts import Found, Listed, Wanted, list_values, look_in_ranges
from mrforest.data.binning import Binning
from mrforest.data.table import Schema, join_categories, read_predict, read_target
from mrforest.forests.base import BaseForest
from mrforest.forests.targets import distinct, read_classes

# Rows and their targets
Part = tuple[Any, Any]

P = ParamSpec("P")
R = TypeVar("R")


class PartitionError(ValueError):
    """Something is wrong with the rows of one partition."""


def naming_part(function: Callable[P, R]) -> Callable[P, R]:
    """Let errors say which part it was: the first argument is its number."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError) as error:
            raise PartitionError(f"partition {args[0]}: {error}") from error

    return call


@dataclass(frozen=True)
class Description:
    """What is known of a part after the first look.

    Attributes
    ----------
    n_rows : int
    labels, n_labels : ndarray
        Distinct values of the target, and rows that have them.
    schema : Schema
        With the categories that occur in this part.
    orders : list of (ndarray or None)
        All categories of a feature in their order, if its dtype has one.
    listed : list of (Listed or None)
        Values of numeric features.
    """

    n_rows: int
    labels: NDArray[Any]
    n_labels: NDArray[np.int64]
    schema: Schema
    orders: list[NDArray[Any] | None]
    listed: list[Listed | None]


@naming_part
def describe(
    number: int, part: Part, forest: BaseForest, n_listed: int
) -> Description | None:
    """Look at a part for the first time; None: it has no rows."""
    X, y = part
    check_lengths(X, y)
    if len(X) == 0:
        return None
    matrix, target, schema = forest._read_table(X, y)
    labels, codes = read_classes(target)
    listed = [
        None if categories is not None else list_values(matrix[:, j], n_listed)
        for j, categories in enumerate(schema.categories)
    ]
    return Description(
        len(matrix),
        labels,
        np.bincount(codes, minlength=len(labels)),
        schema,
        [category_order(X, j) for j in range(matrix.shape[1])],
        listed,
    )


def category_order(X: Any, column: int) -> NDArray[Any] | None:
    """Return the categories of a column of a pandas frame, if they have an order."""
    if not hasattr(X, "dtypes"):
        return None
    dtype = X.dtypes.iloc[column]
    if not getattr(dtype, "ordered", False):
        return None
    order: NDArray[Any] = dtype.categories.to_numpy()
    return order


def check_lengths(X: Any, y: Any) -> None:
    """Rows and targets must be as many."""
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} rows, y has {len(y)}")


@naming_part
def look_again(
    number: int, part: Part, forest: BaseForest, wanted: dict[int, Wanted]
) -> dict[int, Found] | None:
    """Look at a part for the second time, for quantiles of some features."""
    X, _ = part
    if len(X) == 0:
        return None
    matrix = read_part(X, forest)
    return {j: look_in_ranges(matrix[:, j], want) for j, want in wanted.items()}


def read_part(X: Any, forest: BaseForest) -> NDArray[np.float64]:
    """Read a part by what is known of all."""
    matrix: NDArray[np.float64] = read_predict(
        forest, X, forest._schema, allow_missing=forest._allows_missing()
    )
    return matrix


@dataclass(frozen=True)
class Codes:
    """Rows as the engine reads them; in the given order, or in their canonical one.

    Attributes
    ----------
    codes : ndarray of shape (n_rows, n_features), dtype=uint8 or uint16
    y : ndarray of shape (n_rows,), dtype=int32
    fingerprints : ndarray of shape (n_rows,), dtype=uint64
    """

    codes: NDArray[np.uint8] | NDArray[np.uint16]
    y: NDArray[np.int32]
    fingerprints: NDArray[np.uint64]

    def __sizeof__(self) -> int:
        # The scheduler must know how large it is.
        return self.codes.nbytes + self.y.nbytes + self.fingerprints.nbytes


@naming_part
def encode(
    number: int,
    part: Part,
    forest: BaseForest,
    binning: Binning,
    classes: NDArray[Any],
) -> Codes | None:
    """Look at a part for the last time."""
    X, y = part
    check_lengths(X, y)
    if len(X) == 0:
        return None
    codes = binning.encode(read_part(X, forest))
    labels, own = distinct(read_target(y))
    if not (is_class := np.isin(labels, classes)).all():
        raise ValueError(
            f"y has the label {labels[~is_class][0]!r}, which was not there at the "
            "first look; a collection must give the same rows each time (persist it)"
        )
    target = np.searchsorted(classes, labels).astype(np.int32)[own]
    fingerprints = np.empty(len(codes), dtype=np.uint64)
    _core.fingerprints(codes, target, fingerprints)
    return Codes(codes, target, fingerprints)


def join_schemas(parts: Sequence[tuple[int, Description]]) -> Schema:
    """Return the categories that occur in any of the numbered parts.

    In the order of their dtype if it has one, which must be the same everywhere; else
    sorted.
    """
    first = parts[0][1]
    categories: list[NDArray[Any] | None] = []
    for j, order in enumerate(first.orders):
        lists = [part.schema.categories[j] for _, part in parts]
        if any(values is None for values in lists):
            categories.append(None)
            continue
        label = f"column {j if first.schema.names is None else first.schema.names[j]!r}"
        values = join_categories([v for v in lists if v is not None], label)
        for number, part in parts:
            if not same_order(order, part.orders[j]):
                raise PartitionError(
                    f"partition {number}: the ordered categories of {label} are not "
                    f"those of partition {parts[0][0]}"
                )
        if order is not None:
            values = order[np.isin(order, values)]
        categories.append(values)
    return Schema(tuple(categories), first.schema.names)


def same_order(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    """Whether categories have the same order, or both none."""
    if one is None or other is None:
        return one is other
    return bool(one.tolist() == other.tolist())
