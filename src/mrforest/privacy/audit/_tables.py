# SPDX-License-Identifier: BSD-3-Clause
"""Rows of tables that are arrays or frames: take some, put some below others."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrforest._sklearn import take_rows

Table = tuple[Any, NDArray[Any]]  # X, an array or a frame, and y


def read_table(X: Any, y: ArrayLike, names: str = "X, y") -> Table:
    """Return X, as an array unless it is a frame, and y as an array."""
    frame = X if is_frame(X) else np.asarray(X)
    labels = np.asarray(y)
    if labels.ndim != 1 or len(frame.shape) != 2 or len(frame) != len(labels):
        raise ValueError(
            f"{names} must be a table and as many labels; got shapes "
            f"{frame.shape} and {labels.shape}"
        )
    return frame, labels


def take(table: Table, rows: NDArray[np.intp]) -> Table:
    """Return some rows, in this order."""
    X, y = table
    return take_rows(X, rows), y[rows]


def without(table: Table, row: int) -> Table:
    """Return all rows but one."""
    kept = np.arange(len(table[1]))
    return take(table, np.delete(kept, row))


def joined(upper: Table, lower: Table) -> Table:
    """Return the rows of both."""
    return stack(upper[0], lower[0]), np.concatenate([upper[1], lower[1]])


def stack(upper: Any, lower: Any) -> Any:
    """Put the rows of one table below those of another of the same kind."""
    if not is_frame(upper):
        return np.concatenate([upper, np.asarray(lower)])
    frames = [nw.from_native(frame, eager_only=True) for frame in (upper, lower)]
    return nw.concat(frames, how="vertical").to_native()


def is_frame(X: Any) -> bool:
    """Whether it is a pandas or polars frame, say."""
    return nw.dependencies.is_into_dataframe(X)
