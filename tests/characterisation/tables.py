# SPDX-License-Identifier: BSD-3-Clause
"""Small tables that lead a fit through every part of the core.

Each is there for limits that some code looks at: numbers of rows, features, classes,
distinct values. The comment beside it says which.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray


class Table(NamedTuple):
    """Rows, and a target for classifiers and one for regressors.

    Attributes
    ----------
    X : ndarray or DataFrame of shape (n_rows, n_features)
    classes : ndarray of shape (n_rows,), dtype=int64
    values : ndarray of shape (n_rows,), dtype=float64
    """

    X: NDArray[np.float64] | pd.DataFrame
    classes: NDArray[np.int64]
    values: NDArray[np.float64]


def numbers(
    n_rows: int,
    n_features: int,
    n_classes: int,
    *,
    n_codes: int = 0,
    missing: float = 0.0,
    noise: float = 0.3,
    seed: int = 0,
) -> Table:
    """Make a table; the target follows the first features, with some noise.

    Nothing but whole numbers and products: the same bits on every machine.

    Parameters
    ----------
    n_rows, n_features, n_classes : int
    n_codes : int
        Distinct values of a feature; 0: nearly all are distinct.
    missing : float
        Share of the numbers that are NaN.
    noise : float
        Weight of the noise in the target.
    seed : int
    """
    rng = np.random.default_rng([seed, n_rows, n_features, n_classes])
    X = rng.integers(0, n_codes or 2**30, (n_rows, n_features)) / (n_codes or 2**30)
    informative = X[:, : min(3, n_features)]
    score = informative.sum(axis=1) + noise * rng.integers(0, 2**30, n_rows) / 2**30
    ranks = score.argsort(kind="stable").argsort(kind="stable")
    # Thirds of the ranks in turns, so that trees of some depth are needed.
    classes = (ranks * 3 * n_classes // n_rows) % n_classes
    X[rng.integers(0, 2**30, X.shape) < missing * 2**30] = np.nan
    return Table(X, classes, score)


def of_two_kinds(
    n_rows: int, n_numbers: int, n_flags: int, n_classes: int, share: float
) -> Table:
    """Make numbers and flags; so large a share of the flags is set."""
    table = numbers(n_rows, n_numbers, n_classes)
    rng = np.random.default_rng(n_flags)
    flags = (rng.integers(0, 1000, (n_rows, n_flags)) < 1000 * share).astype(float)
    return table._replace(X=np.hstack([table.X, flags]))


def mixed(n_rows: int, n_categories: int) -> Table:
    """Make a data frame of numbers and categories, both with gaps."""
    table = numbers(n_rows, 5, 3, missing=0.1)
    rng = np.random.default_rng(n_categories)
    codes = rng.integers(-1, n_categories, n_rows)
    frame = pd.DataFrame(table.X, columns=list("abcde"))
    names = [f"kind {i}" for i in range(n_categories)]
    frame["kind"] = pd.Categorical.from_codes(codes, names)
    frame["few"] = pd.Categorical.from_codes(codes % 3, ["x", "y", "z"])
    shifted = (table.classes + (codes % 3 == 1)) % 3
    return table._replace(X=frame, classes=shifted)


def constant() -> Table:
    """Make a table of which one feature says something."""
    table = numbers(60, 4, 2)
    table.X[:, 1:] = 7.0
    return table


def items() -> Table:
    """Make a table of item numbers, which mean something to an oracle only."""
    table = numbers(240, 1, 4)
    return table._replace(X=np.arange(240, dtype=float)[:, None])


TABLES: dict[str, Callable[[], Table]] = {
    # ---- tiny
    "one row": lambda: numbers(1, 3, 1),
    "two rows": lambda: numbers(2, 3, 2),
    "one class": lambda: numbers(50, 3, 1),
    "constant features": constant,
    "one feature": lambda: numbers(300, 1, 3),
    # ---- classes: kernels of two, of three to six, of up to 16, of up to 32, of more
    "2 classes": lambda: numbers(400, 6, 2),
    "3 classes": lambda: numbers(400, 6, 3),
    "6 classes": lambda: numbers(400, 9, 6),
    "7 classes": lambda: numbers(400, 9, 7),
    "16 classes": lambda: numbers(900, 10, 16, n_codes=20),
    "17 classes": lambda: numbers(900, 10, 17, n_codes=20),
    "32 classes": lambda: numbers(900, 10, 32, n_codes=20),
    "33 classes": lambda: numbers(900, 10, 33, n_codes=20),
    "100 classes": lambda: numbers(1500, 5, 100, noise=0.0),
    # ---- rows: sorted lists up to 256 points, samples of 128 or 256
    "512 rows": lambda: numbers(512, 5, 2),
    "514 rows": lambda: numbers(514, 5, 2),
    "3000 rows": lambda: numbers(3000, 18, 2, noise=1.0),
    "3000 rows, 4 classes": lambda: numbers(3000, 18, 4, noise=1.0),
    # ---- bytes of codes: rows of a subtree are copied together from 2^19 on
    "28,000 rows": lambda: numbers(28_000, 20, 2, noise=1.0),
    "28,000 rows, 5 classes": lambda: numbers(28_000, 20, 5, noise=1.0),
    # ---- bytes of codes: they are kept by column, too, from 2^22 on
    "230,000 rows": lambda: numbers(230_000, 20, 2, n_codes=100, noise=1.0),
    # ---- points: sums of squares fit 32 bits up to 46,340
    "96,000 rows": lambda: numbers(96_000, 3, 2, n_codes=100, noise=2.0),
    # ---- distinct values: bit masks up to 8, equality up to 32, a byte up to 255
    "2 codes": lambda: numbers(1000, 40, 2, n_codes=2, noise=1.0),
    "3 codes": lambda: numbers(2000, 30, 3, n_codes=3, noise=1.0),
    "8 codes": lambda: numbers(1000, 12, 8, n_codes=8),
    "9 codes": lambda: numbers(1000, 12, 9, n_codes=9),
    "12 codes": lambda: numbers(2000, 17, 2, n_codes=12, noise=1.0),
    "40 codes": lambda: numbers(1500, 9, 4, n_codes=40, missing=0.1),
    # ---- kinds of features
    "missing": lambda: numbers(600, 6, 3, missing=0.2),
    "few codes, missing": lambda: numbers(600, 12, 3, n_codes=3, missing=0.2),
    "categories": lambda: mixed(700, 6),
    "many categories": lambda: mixed(700, 40),
    "numbers and flags": lambda: of_two_kinds(2500, 10, 44, 7, 0.3),
    "flags and numbers": lambda: of_two_kinds(800, 3, 150, 2, 0.05),
    "items": items,
    "2000 features": lambda: numbers(150, 2000, 2),
}
