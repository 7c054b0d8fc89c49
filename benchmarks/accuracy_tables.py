# SPDX-License-Identifier: BSD-3-Clause
"""The tables of accuracy.py as every forest gets them: numbers, and which rows to test.

A table is written to a folder, which a worker reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from peers_tables import LARGE, TABLES, as_numbers, load
from sklearn.datasets import (
    load_diabetes,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from sklearn.model_selection import KFold, train_test_split

from mrforest.experiments import datasets, protocol, table1

SEED = 0  # of Table 1's folds
TRAINED = -1  # instead of a fold, where rows are never tested
N_SAMPLED = 20_000  # rows of Covertype for a regression

Pair = tuple[NDArray[np.float64], NDArray[Any]]
Load = Callable[[Path | None], Pair]


class Table(NamedTuple):
    """A table, and what is done with its rows.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Codes of the classes, or numbers.
    folds : ndarray of shape (n_repetitions, n_rows)
        Of each row the fold that tests it; -1: none does.
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    folds: NDArray[np.int8]

    def write(self, folder: Path) -> None:
        """Write one file for each array."""
        for name, array in self._asdict().items():
            np.save(folder / f"{name}.npy", np.ascontiguousarray(array))

    def size(self, is_regression: bool) -> dict[str, int]:
        """Return the numbers of rows, features and classes."""
        size = {"n_rows": self.X.shape[0], "n_features": self.X.shape[1]}
        return size if is_regression else {**size, "n_classes": int(self.y.max()) + 1}


@dataclass(frozen=True)
class Problem:
    """Something to predict.

    Attributes
    ----------
    load : callable
        Takes the folder of datasets, returns X and y.
    repetitions : int
        How often rows are shuffled and cut.
    n_folds : int
        How many parts of a shuffle are tested, by turns; 1: a fifth of the rows is.
    label : str
        Its name in tables and figures; empty: the one that it has in the results.
    """

    load: Load
    repetitions: int
    n_folds: int
    label: str = ""

    def read(self, data: Path | None) -> Table:
        """Load the table and cut its rows."""
        X, y = self.load(data)
        folds = np.full((self.repetitions, len(y)), TRAINED, dtype=np.int8)
        for repetition in range(self.repetitions):
            for fold, tested in enumerate(self.tested(X, y, repetition)):
                folds[repetition, tested] = fold
        return Table(X, y, folds)

    def tested(self, X: Any, y: Any, repetition: int) -> list[Any]:
        """Return the rows that each fold tests."""
        rows = np.arange(len(y))
        if self.n_folds == 1:  # the first shuffle is that of peers.py
            return [train_test_split(rows, test_size=0.2, random_state=repetition)[1]]
        splitter = KFold(self.n_folds, shuffle=True, random_state=repetition)
        return [tested for _, tested in splitter.split(rows)]


class PaperProblem(Problem):
    """A dataset of the paper, with the folds of Table 1."""

    def tested(self, X: Any, y: Any, repetition: int) -> list[Any]:
        """Return the rows that each fold tests."""
        table = protocol.Table(X, np.zeros(X.shape[1], dtype=bool), y)
        folds = protocol.folds(
            table, repetition=repetition, seed=SEED, stratified=False
        )
        return [tested for _, tested in folds]


# ---- small: the paper's datasets -----------------------------------------------------


def load_as_table1(name: str, data: Path | None) -> Pair:
    """Return the numbers that Table 1's forests get: a missing value is NaN."""
    table = protocol.as_table(datasets.load(name, folder=data))
    return table.X, table.y


SMALL_PROBLEMS: dict[str, Problem] = {
    name: PaperProblem(
        partial(load_as_table1, name), protocol.N_REPETITIONS, protocol.N_FOLDS
    )
    for name in table1.DATASETS
}

# ---- large: those of peers.py, and all others that the paper does not have -----------

# Splits of tables above 200,000 rows; the others have five.
FEWER_SPLITS = {"covertype": 3, "skin-segmentation": 3, LARGE: 1}
OTHERS = (
    "spambase",
    "higgs-7500",
    "pendigits",
    "magic",
    "poker-hand-train",
    "credit-default",
    "bank-marketing",
    "skin-segmentation",
)
LARGE_PROBLEMS = {
    name: Problem(
        partial(load, name),
        FEWER_SPLITS.get(name, 5),
        n_folds=1,
        label=TABLES[name].label if name in TABLES and TABLES[name].made else "",
    )
    for name in (*OTHERS, *TABLES)
}

# ---- regression ----------------------------------------------------------------------


def made(make: Callable[..., Pair], noise: float, data: Path | None) -> Pair:
    """Make a table of 2,000 rows."""
    return make(2_000, noise=noise, random_state=0)


def load_quality(data: Path | None) -> Pair:
    """Return the wines, and their grades as numbers."""
    wines = datasets.load("wine-quality-white", folder=data)
    return as_numbers(wines.X), wines.y.astype(np.float64)


def load_column(
    name: str,
    column: str,
    data: Path | None,
    *,
    drop: tuple[str, ...] = (),
    n_rows: int | None = None,
) -> Pair:
    """Return a dataset without its classes, and one of its columns to predict.

    Parameters
    ----------
    name : str
        Of the dataset.
    column : str
        What to predict.
    data : Path or None
        Where the datasets are.
    drop : tuple of str
        Columns that are left out.
    n_rows : int or None
        So many rows are drawn; None: all.
    """
    X = datasets.load(name, folder=data).X
    if n_rows is not None:
        X = X.iloc[np.random.RandomState(0).permutation(len(X))[:n_rows]]
    y = X[column].to_numpy(dtype=np.float64)
    return as_numbers(X.drop(columns=[column, *drop])), y


# Masses that were computed of the momenta in the other columns.
OTHER_MASSES = ("m_jj", "m_jjj", "m_lv", "m_jlv", "m_wbb", "m_wwbb")

# A column is predicted where somebody may want to know it and the others are known
# before, or where it is a quantity that depends on the others by its nature: chosen by
# meaning, one of each dataset, and before the results of this benchmark were seen.
REGRESSION_PROBLEMS = {
    "diabetes": Problem(lambda data: load_diabetes(return_X_y=True), 1, 10),
    # The noise that Friedman's functions usually have: a third of the spread of the
    # signal in the last two.
    "friedman-1": Problem(partial(made, make_friedman1, 1.0), 1, 10),
    "friedman-2": Problem(partial(made, make_friedman2, 125.0), 1, 10),
    "friedman-3": Problem(partial(made, make_friedman3, 0.1), 1, 10),
    # Grades are numbers on a scale: 5 is nearer to 6 than to 8.
    "wine-quality": Problem(load_quality, 1, 10, "wine: quality"),
    # Family planning: how many children a woman has had, by what is known of her.
    "cmc-children": Problem(
        partial(load_column, "cmc", "Number_of_children_ever_born"),
        1,
        10,
        "cmc: children",
    ),
    # The near infrared band of a satellite image, of its visible bands and texture.
    "wilt-infrared": Problem(
        partial(load_column, "wilt", "Mean_NIR"), 1, 10, "wilt: infrared"
    ),
    # The mass of the Higgs boson's candidate is a function of the measured momenta.
    "higgs-mass": Problem(
        partial(load_column, "higgs-7500", "m_bb", drop=OTHER_MASSES),
        1,
        10,
        "higgs: mass",
    ),
    # Brightness of the image of a shower: it stands for the energy of the particle,
    # which is what a telescope is to measure.
    "magic-size": Problem(partial(load_column, "magic", "fSize"), 5, 1, "magic: size"),
    # The altitude of a place, by its slope, light, distances and soil.
    "covertype-elevation": Problem(
        partial(load_column, "covertype", "Elevation", n_rows=N_SAMPLED),
        5,
        1,
        "covertype: elevation",
    ),
    # The credit that a bank grants, which it decides by what it knows of a customer.
    "credit-limit": Problem(
        partial(load_column, "credit-default", "LIMIT_BAL"), 5, 1, "credit: limit"
    ),
    # What is on an account; the one amount of money in the table.
    "bank-balance": Problem(
        partial(load_column, "bank-marketing", "balance"), 5, 1, "bank: balance"
    ),
    # How long somebody works, by who they are.
    "adult-hours": Problem(
        partial(load_column, "adult", "hours-per-week"), 5, 1, "adult: hours"
    ),
}
