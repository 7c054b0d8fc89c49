# SPDX-License-Identifier: BSD-3-Clause
"""Small tables for the checks of the twin."""

import math

import numpy as np

from tests.naive.binning import cuts_of, encode
from tests.naive.model import Table
from tests.naive.rules import Multinomial
from tests.naive.target import fixed_point

INF = math.inf
NAN = math.nan
GREEDY = {"rule": Multinomial(INF, INF), "label_budget": INF}


class Given:
    """A stream that gives known uniform numbers, and fails when they run out."""

    def __init__(self, *numbers: float) -> None:
        self.left = list(numbers)

    def uniform(self) -> float:
        """Return the next of the numbers."""
        return self.left.pop(0)


def table_of(X, y, categorical=(), **weights) -> Table:
    """Return the table of raw rows; categorical columns hold codes or NaN."""
    X, y = np.asarray(X, float), np.asarray(y)
    cuts, codes, n_bins = [], [], []
    for f in range(X.shape[1]):
        if f in categorical:
            n_bins.append(int(np.nanmax(X[:, f])) + 1)
            cuts.append([])
            codes.append(np.where(np.isnan(X[:, f]), n_bins[f], X[:, f]).astype(int))
        else:
            cuts.append(cuts_of(X[:, f], 255))
            n_bins.append(len(cuts[f]) + 1)
            codes.append(encode(X[:, f], cuts[f]))
    is_categorical = [f in categorical for f in range(X.shape[1])]
    codes = np.stack(codes, axis=1)
    return Table(codes, n_bins, is_categorical, cuts, y, int(y.max()) + 1, **weights)


def regression_table(X, y, categorical=(), mass=None) -> tuple[Table, float, float]:
    """Return the table of rows with real targets, their centre and their unit."""
    moment, centre, unit = fixed_point(y, mass)
    ranks = np.unique(y, return_inverse=True)[1]
    table = table_of(X, ranks, categorical, mass=mass, moment=moment)
    return table, centre, unit


def six_rows() -> tuple[np.ndarray, Table]:
    """Return six rows with a feature that decides, a constant and a poor one."""
    X = np.array([[i + 1.0, 8.0, i % 2] for i in range(6)])
    return X, table_of(X, [0, 0, 0, 1, 1, 2])


def random_rows(seed: int, n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with numbers, ties, categories (column 2) and missing values."""
    rng = np.random.default_rng(seed)
    X = np.stack(
        [rng.normal(size=n), rng.integers(0, 4, n), rng.integers(0, 5, n)], axis=1
    )
    y = ((X[:, 0] > 0) + (X[:, 2] == 1) + (rng.random(n) < 0.1)).astype(int)
    X[rng.random(X.shape) < 0.1] = NAN
    return X, y
