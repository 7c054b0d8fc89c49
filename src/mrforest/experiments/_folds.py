# SPDX-License-Identifier: BSD-3-Clause
"""A dataset cut into what a forest learns from and what it is asked about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest.experiments.protocol import folds, load_table
from mrforest.inspection import tree_scores

__all__ = ["Fold", "cut"]

# Of the shuffles; with it the folds are those of Table 1.
SEED = 0


class Fold(NamedTuple):
    """Rows to learn from, and rows to be asked about.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n_rows, n_features)
        Categories as their codes, missing values as NaN.
    y_train, y_test : ndarray of shape (n_rows,)
        Codes of the classes.
    is_categorical : ndarray of shape (n_features,)
        Which features are categories.
    """

    X_train: NDArray[np.float64]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]
    is_categorical: NDArray[np.bool_]

    def fit(self, forest: Any) -> Any:
        """Let a forest learn, and return it."""
        return forest.fit(self.X_train, self.y_train)

    def accuracy(self, fitted: Any) -> float:
        """Return the share of test rows that get their class, in per cent."""
        return 100 * float(np.mean(fitted.predict(self.X_test) == self.y_test))

    def tree_accuracies(self, fitted: Any) -> NDArray[np.float64]:
        """Return the same of each tree of a forest by itself."""
        return 100 * tree_scores(fitted, self.X_test, self.y_test)


def cut(name: str, repetition: int, fold: int) -> Fold:
    """Cut a dataset as the paper does: ten folds, shuffled, not stratified.

    Parameters
    ----------
    name : str
        Name of the dataset.
    repetition : int
        Which shuffle.
    fold : int
        Which tenth of the rows to ask about, from 0.

    Returns
    -------
    Fold
    """
    table = load_table(name)
    train, test = folds(table, repetition=repetition, seed=SEED, stratified=False)[fold]
    return Fold(
        table.X[train],
        table.y[train],
        table.X[test],
        table.y[test],
        table.is_categorical,
    )
