# SPDX-License-Identifier: BSD-3-Clause
"""Dask collections as lists of parts."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.dataframe as dd
from dask.delayed import Delayed, delayed


def is_frame(X: Any) -> bool:
    """Whether it is a Dask DataFrame or Series."""
    return isinstance(X, (dd.DataFrame, dd.Series))


def is_dask(X: Any) -> bool:
    """Whether it is a table on a cluster."""
    return isinstance(X, da.Array) or is_frame(X)


def parts_of(X: Any, y: Any) -> list[Delayed]:
    """Return the parts of a table, lazily: each a pair of rows and their targets.

    Parameters
    ----------
    X : Dask DataFrame, or Dask Array of two dimensions
    y : Dask Series or DataFrame of one column, or Dask Array
        Parted in the same way.
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
        if isinstance(y, da.Array) and y.chunks[0] != X.chunks[0] and is_known(X, y):
            y = y.rechunk({0: X.chunks[0]})
    n_rows, n_targets = (
        X.numblocks[0] if isinstance(X, da.Array) else X.npartitions,
        (y.numblocks[0] if isinstance(y, da.Array) else y.npartitions),
    )
    if n_rows != n_targets:
        raise ValueError(
            f"X has {n_rows} partitions, y has {n_targets}; rows and targets must be "
            "parted in the same way"
        )
    if is_frame(X) and is_frame(y):
        # One expression, so that Dask reads what both need once, and parts them alike.
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


def is_known(*arrays: Any) -> bool:
    """Whether lengths of blocks are known, and the same in all."""
    lengths = [sum(array.chunks[0]) for array in arrays]
    return all(length == lengths[0] for length in lengths)  # not if they are NaN


def blocks_of(collection: Any) -> list[Delayed]:
    """Return a task for each part."""
    # As it is: optimised by themselves, X and y would each read what both are made of.
    if isinstance(collection, da.Array):
        return list(collection.to_delayed(optimize_graph=False).ravel())
    return list(collection.to_delayed(optimize_graph=False))
