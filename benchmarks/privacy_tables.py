# SPDX-License-Identifier: BSD-3-Clause
"""The datasets of privacy.py as every tool gets them: numbers, and what is public.

A table is written to one file, which a tool reads in a process of its own.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

from mrforest.experiments import datasets

N_FOLDS = 5
DATASETS = [
    "wdbc",
    "digits",
    "banknote",
    "mammographic",
    "cmc",
    "car",
    "wine-quality-white",
    "phishing-websites",
    "nursery",
    "magic",
    "bank-marketing",
    "adult",
    "connect-4",
    "transfusion",
    "yeast",
    "image-segmentation",
    "chess-kr-vs-kp",
    "wilt",
    "spambase",
    "higgs-7500",
    "pendigits",
    "letter",
    "credit-default",
]


@dataclass(frozen=True)
class Table:
    """A dataset, and what its owner would declare of it.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), dtype=float64
        Categories as their place in the public list.
    y : ndarray of shape (n_rows,), dtype=int64
        Class codes.
    bounds : list
        Of each column the smallest and largest number in the whole table, as ints if
        there are only whole numbers; None of categories.
    n_categories : list
        Of each column; None of numbers.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    bounds: list[tuple[Any, Any] | None]
    n_categories: list[int | None]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1

    def write(self, path: Path, n_shuffles: int) -> None:
        """Write the table and the fold of each row in each shuffle."""
        public = {
            "bounds": self.bounds,
            "n_categories": self.n_categories,
            "n_classes": self.n_classes,
        }
        folds = np.empty((n_shuffles, len(self.y)), dtype=np.int64)
        for shuffle in range(n_shuffles):
            splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=shuffle)
            with warnings.catch_warnings():
                # Nursery has a class of two rows.
                warnings.filterwarnings("ignore", "The least populated class")
                for fold, (_, test) in enumerate(splitter.split(self.X, self.y)):
                    folds[shuffle, test] = fold
        np.savez(path, X=self.X, y=self.y, folds=folds, public=json.dumps(public))


def read_table(folder: Path, name: str) -> Table:
    """Read a dataset; one of the 23 comes with scikit-learn."""
    if name == "digits":
        digits = load_digits()
        X, y = pd.DataFrame(digits.data), digits.target.astype(str)
    else:
        data = datasets.load(name, folder=folder)
        X, y = data.X, data.y
    columns, bounds, n_categories = [], [], []
    for _, column in X.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes, n = category_codes(column)
            columns.append(codes)
            bounds.append(None)
            n_categories.append(n)
        else:
            numbers = column.to_numpy(dtype=np.float64)
            pair = bounds_of(numbers)
            # Not every tool takes a missing number; all get the same table.
            columns.append(np.where(np.isnan(numbers), pair[0], numbers))
            bounds.append(pair)
            n_categories.append(None)
    classes = np.unique(y, return_inverse=True)[1]
    return Table(np.column_stack(columns), classes, bounds, n_categories)


def category_codes(column: pd.Series) -> tuple[NDArray[np.float64], int]:
    """Return places in the list of categories, and how many there are.

    If values are missing, "missing" is one more category, the last.
    """
    codes = column.cat.codes.to_numpy()
    n = len(column.cat.categories)
    return np.where(codes < 0, n, codes).astype(np.float64), n + bool((codes < 0).any())


def bounds_of(numbers: NDArray[np.float64]) -> tuple[Any, Any]:
    """Return the smallest and largest number; ints say that all are whole."""
    present = numbers[~np.isnan(numbers)]
    low, high = float(present.min()), float(present.max())
    if np.array_equal(present, np.floor(present)):
        return int(low), int(high)
    return low, high
