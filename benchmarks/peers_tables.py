# SPDX-License-Identifier: BSD-3-Clause
"""The tables of peers.py as every forest gets them: numbers, the same for all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from mrforest.experiments import datasets


@dataclass(frozen=True)
class Table:
    """A table to fit.

    Attributes
    ----------
    label : str
        Its name in tables and figures.
    made : tuple of int, optional
        Rows, features and classes, if scikit-learn makes it.
    forests : tuple of str
        Those that it is for; none: all.
    is_large : bool
        At least 50,000 rows: ours is also fitted with one thread.
    """

    label: str
    made: tuple[int, int, int] | None = None
    forests: tuple[str, ...] = ()
    is_large: bool = False


SMALL, LARGE = "synthetic-10k", "synthetic-1m"
TABLES = {
    "nursery": Table("Nursery"),
    "phishing-websites": Table("Phishing"),
    "ads": Table("Ads"),
    "letter": Table("Letter"),
    "adult": Table("Adult"),
    "connect-4": Table("Connect-4", is_large=True),
    "synthetic-5-classes": Table("made 20,000 x 100", (20_000, 100, 5)),
    "synthetic-50k": Table("made 50,000 x 20", (50_000, 20, 2), is_large=True),
    "covertype": Table("Covertype", is_large=True),
    LARGE: Table("made 1,000,000 x 20", (1_000_000, 20, 2), is_large=True),
    # Only to see what a row costs where there are few.
    SMALL: Table(
        "made 10,000 x 20",
        (10_000, 20, 2),
        ("forest", "mrf", "breiman", "random-forest"),
    ),
}


def write_table(name: str, data: Path | None, folder: Path) -> dict[str, int]:
    """Write what to fit and what to predict; return the size of the whole table.

    Parameters
    ----------
    name : str
        Of TABLES.
    data : Path or None
        Where the datasets are.
    folder : Path
        Gets X, y of 80 per cent of the rows and X_test, y_test of the others.
    """
    X, classes = load(name, data)
    X, X_test, y, y_test = train_test_split(X, classes, test_size=0.2, random_state=0)
    # XGBoost wants codes without gaps, so those of the rows that it gets. A class that
    # only held-out rows have is -1: all forests are wrong there.
    known = np.unique(y)
    y_test = np.where(np.isin(y_test, known), np.searchsorted(known, y_test), -1)
    arrays = {
        "X": X,
        "y": np.searchsorted(known, y),
        "X_test": X_test,
        "y_test": y_test,
    }
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", np.ascontiguousarray(array))
    return {
        "n_rows": len(classes),
        "n_features": X.shape[1],
        "n_classes": len(np.unique(classes)),
    }


def load(name: str, data: Path | None) -> tuple[Any, Any]:
    """Return the whole table as numbers, and codes of the classes."""
    made = TABLES[name].made if name in TABLES else None
    return synthetic(*made) if made else read(name, data)


def synthetic(n_rows: int, n_features: int, n_classes: int) -> tuple[Any, Any]:
    """Make a table; half of its features are informative."""
    return make_classification(
        n_rows,
        n_features,
        n_informative=n_features // 2,
        n_classes=n_classes,
        random_state=0,
    )


def read(name: str, folder: Path | None) -> tuple[Any, Any]:
    """Read a dataset; categories become codes."""
    data = datasets.load(name, folder=folder)
    return as_numbers(data.X), np.unique(data.y, return_inverse=True)[1]


def as_numbers(X: pd.DataFrame) -> NDArray[np.float64]:
    """Return a table without a gap."""
    return np.column_stack([numbers(column) for _, column in X.items()])


def numbers(column: pd.Series) -> NDArray[np.float64]:
    """Return the column as numbers; missing ones have a number of their own."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(dtype=np.float64)  # missing: -1
    values = column.to_numpy(dtype=np.float64)
    is_missing = np.isnan(values)
    if is_missing.any():
        values = np.where(is_missing, values[~is_missing].min() - 1, values)
    return values
