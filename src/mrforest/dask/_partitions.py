# SPDX-License-Identifier: BSD-3-Clause
"""Dask collections as lists of partitions, each described and encoded on its worker.

A partition is read by the local estimator, which learns nothing else from it. An error
names the partition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._cluster import Cluster, Future, share
from mrforest.dask._quantiles import (
    QuantileRanges,
    RangeValues,
    RankedValues,
    rank_values,
    values_in_ranges,
)
from mrforest.data.binning import Binning
from mrforest.data.table import Schema, join_categories, read_predict, read_target
from mrforest.forests.base import BaseForest
from mrforest.forests.targets import distinct, read_classes

# Bytes of codes in one array, at most
LARGEST_SHARD = 1 << 28

# The rows of a partition, and their targets
RowsAndTargets = tuple[Any, Any]

P = ParamSpec("P")
R = TypeVar("R")


# ---- collections ---------------------------------------------------------------------


def is_frame(X: Any) -> bool:
    """Whether X is a Dask DataFrame or Series."""
    return isinstance(X, (dd.DataFrame, dd.Series))


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection."""
    return isinstance(X, da.Array) or is_frame(X)


def partitions_of(X: Any, y: Any) -> list[Delayed]:
    """Return the partitions of a table, lazily, as pairs of rows and targets.

    Parameters
    ----------
    X : Dask DataFrame, or Dask Array of two dimensions
    y : Dask Series or DataFrame of one column, or Dask Array
        Partitioned as X is.
    """
    for name, given in (("X", X), ("y", y)):
        if not is_dask(given):
            raise TypeError(
                f"{name} must be a Dask DataFrame or Array, not "
                f"{type(given).__name__}; for a table in memory there is the forest "
                "without Dask"
            )
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimensions; it must have 2")
        X = X.rechunk({1: -1})  # all columns of a row in one block
        if (
            isinstance(y, da.Array)
            and y.chunks[0] != X.chunks[0]
            and have_same_lengths(X, y)
        ):
            y = y.rechunk({0: X.chunks[0]})
    n_rows, n_targets = (
        X.numblocks[0] if isinstance(X, da.Array) else X.npartitions,
        (y.numblocks[0] if isinstance(y, da.Array) else y.npartitions),
    )
    if n_rows != n_targets:
        raise ValueError(
            f"X has {n_rows} partitions, y has {n_targets}; rows and targets must be "
            "partitioned in the same way"
        )
    if is_frame(X) and is_frame(y):
        # One expression: Dask reads what both need once, and partitions them alike.
        pairs = dd.map_partitions(
            pair, X, y, meta=X._meta, align_dataframes=False, enforce_metadata=False
        )
        return list(pairs.to_delayed())
    make_pair = delayed(pair, pure=False)
    return [
        make_pair(rows, targets)
        for rows, targets in zip(blocks_of(X), blocks_of(y), strict=True)
    ]


def pair(rows: Any, targets: Any) -> tuple[Any, Any]:
    """Return both."""
    return rows, targets


def have_same_lengths(*arrays: Any) -> bool:
    """Whether the lengths of all arrays are known, and equal."""
    lengths = [sum(array.chunks[0]) for array in arrays]
    return all(length == lengths[0] for length in lengths)  # not if they are NaN


def blocks_of(collection: Any) -> list[Delayed]:
    """Return a delayed object for each partition."""
    # Not optimised: X and y would each get a copy of the tasks that both depend on.
    if isinstance(collection, da.Array):
        return list(collection.to_delayed(optimize_graph=False).ravel())
    return list(collection.to_delayed(optimize_graph=False))


# ---- tasks on partitions -------------------------------------------------------------


class Partitions:
    """The partitions of a table; neighbours are read by the same worker.

    Parameters
    ----------
    cluster : Cluster
    partitions : sequence of Delayed
        See `partitions_of`.
    """

    def __init__(self, cluster: Cluster, partitions: Sequence[Delayed]) -> None:
        self._cluster = cluster
        self._partitions = partitions
        self._groups = in_groups(len(partitions), cluster.n_workers)

    def map(self, function: Callable[..., Any], *args: Any) -> list[Future]:
        """Call a function with the number of each partition, the partition, and args.

        The args are sent once, not with every partition.
        """
        task = delayed(function, pure=False)
        shared = [share(self._cluster, arg) for arg in args]
        results: list[Future] = []
        for worker, group in enumerate(self._groups):
            lazy = [task(i, self._partitions[i], *shared) for i in group]
            results += self._cluster.compute(lazy, worker=worker)
        return results

    def shard_groups(self, n_rows: int, row_bytes: int) -> list[tuple[list[int], int]]:
        """Return the partitions of each shard, and the worker that will hold it."""
        return [
            ([group[i] for i in some], worker)
            for worker, group in enumerate(self._groups)
            for some in in_groups(len(group), self._n_shards(n_rows * row_bytes, group))
        ]

    def _n_shards(self, n_bytes: int, group: Sequence[int]) -> int:
        """Return how many shards the partitions of a worker make.

        While partitions are joined there are two copies of their codes, so only a few
        are joined at a time.
        """
        n_group_bytes = n_bytes * len(group) / len(self._partitions)
        largest = min(self._cluster.worker_bytes / 10, LARGEST_SHARD)
        return min(max(math.ceil(n_group_bytes / largest), 1), len(group))


def in_groups(n: int, n_groups: int) -> list[list[int]]:
    """Split 0 ... n - 1 into runs of nearly equal length, none of them empty.

    Examples
    --------
    >>> in_groups(5, 2), in_groups(2, 3)
    ([[0, 1], [2, 3, 4]], [[0], [1]])
    """
    n_groups = min(n, n_groups)
    ends = [n * (i + 1) // n_groups for i in range(n_groups)]
    return [list(range(a, b)) for a, b in zip([0, *ends], ends, strict=False)]


# ---- on workers ----------------------------------------------------------------------


class PartitionError(ValueError):
    """Something is wrong with the rows of one partition."""


def naming_partition(function: Callable[P, R]) -> Callable[P, R]:
    """Let errors name the partition: the first argument is its number."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError) as error:
            raise PartitionError(f"partition {args[0]}: {error}") from error

    return call


@dataclass(frozen=True)
class PartitionSummary:
    """What the driver needs to know of a partition.

    Attributes
    ----------
    n_rows : int
    labels, n_labels : ndarray
        Distinct values of the target, and how many rows have each.
    schema : Schema
        With the categories that occur in this partition.
    orders : list of (ndarray or None)
        All categories of a feature in their order, if its dtype has one.
    ranked : list of (RankedValues or None)
        Of each feature; None: it is categorical.
    """

    n_rows: int
    labels: NDArray[Any]
    n_labels: NDArray[np.int64]
    schema: Schema
    orders: list[NDArray[Any] | None]
    ranked: list[RankedValues | None]


@naming_partition
def describe(
    number: int, part: RowsAndTargets, forest: BaseForest, n_ranked: int
) -> PartitionSummary | None:
    """Summarise a partition; None: it has no rows."""
    X, y = part
    check_lengths(X, y)
    if len(X) == 0:
        return None
    matrix, target, schema = forest._read_table(X, y)
    labels, codes = read_classes(target)
    ranked = [
        None if categories is not None else rank_values(matrix[:, j], n_ranked)
        for j, categories in enumerate(schema.categories)
    ]
    return PartitionSummary(
        len(matrix),
        labels,
        np.bincount(codes, minlength=len(labels)),
        schema,
        [category_order(X, j) for j in range(matrix.shape[1])],
        ranked,
    )


def category_order(X: Any, column: int) -> NDArray[Any] | None:
    """Return the categories of a column of a pandas frame, if they are ordered."""
    if not hasattr(X, "dtypes"):
        return None
    dtype = X.dtypes.iloc[column]
    if not getattr(dtype, "ordered", False):
        return None
    order: NDArray[Any] = dtype.categories.to_numpy()
    return order


def check_lengths(X: Any, y: Any) -> None:
    """Raise an error unless there are as many targets as rows."""
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} rows, y has {len(y)}")


@naming_partition
def find_range_values(
    number: int,
    part: RowsAndTargets,
    forest: BaseForest,
    ranges: dict[int, QuantileRanges],
) -> dict[int, RangeValues] | None:
    """Find the values of features that may be quantiles; None: there are no rows."""
    X, _ = part
    if len(X) == 0:
        return None
    matrix = read_part(X, forest)
    return {j: values_in_ranges(matrix[:, j], of_j) for j, of_j in ranges.items()}


def read_part(X: Any, forest: BaseForest) -> NDArray[np.float64]:
    """Read a partition by the schema of the whole table."""
    matrix: NDArray[np.float64] = read_predict(
        forest, X, forest._schema, allow_missing=forest._allows_missing()
    )
    return matrix


@dataclass(frozen=True)
class EncodedRows:
    """Rows as the engine reads them.

    Attributes
    ----------
    codes : ndarray of shape (n_rows, n_features), dtype=uint8 or uint16
    y : ndarray of shape (n_rows,), dtype=int32
    hashes : ndarray of shape (n_rows,), dtype=uint64
        Of codes and class. The canonical order of the rows ascends by them.
    """

    codes: NDArray[np.uint8] | NDArray[np.uint16]
    y: NDArray[np.int32]
    hashes: NDArray[np.uint64]

    def __sizeof__(self) -> int:
        # The scheduler must know how much memory it takes.
        return self.codes.nbytes + self.y.nbytes + self.hashes.nbytes


@naming_partition
def encode(
    number: int,
    part: RowsAndTargets,
    forest: BaseForest,
    binning: Binning,
    classes: NDArray[Any],
) -> EncodedRows | None:
    """Encode the rows of a partition; None: there are none."""
    X, y = part
    check_lengths(X, y)
    if len(X) == 0:
        return None
    codes = binning.encode(read_part(X, forest))
    labels, own = distinct(read_target(y))
    if not (is_class := np.isin(labels, classes)).all():
        raise ValueError(
            f"y has the label {labels[~is_class][0]!r}, which was not there when it "
            "was first read; a collection must return the same rows each time "
            "(persist it)"
        )
    target = np.searchsorted(classes, labels).astype(np.int32)[own]
    hashes = np.empty(len(codes), dtype=np.uint64)
    _core.fingerprints(codes, target, hashes)
    return EncodedRows(codes, target, hashes)


def join_schemas(parts: Sequence[tuple[int, PartitionSummary]]) -> Schema:
    """Return the schema with the categories of all partitions, which are numbered.

    Categories keep the order of their dtype if it has one, which must be the same in
    all partitions. Else they are sorted.
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
    """Whether categories have the same order, or neither have one."""
    if one is None or other is None:
        return one is other
    return bool(one.tolist() == other.tolist())
