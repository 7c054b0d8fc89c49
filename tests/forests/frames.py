# SPDX-License-Identifier: BSD-3-Clause
"""Tables with a bit of everything, as frames and as plain numbers."""

from dataclasses import dataclass

import numpy as np
import pandas as pd


def mixed_frame(seed: int, n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers, ties, a constant, strings, ordered categories; all with gaps."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows)
    grade = rng.integers(0, 5, n_rows)
    town = rng.choice(["Ulm", "Bonn", "Kiel", "Trier"], n_rows)
    size = rng.choice(["small", "large"], n_rows)
    y = (number > 0) + 2 * (town == "Kiel") + (rng.random(n_rows) < 0.15)
    town = pd.Categorical(np.where(rng.random(n_rows) < 0.1, None, town))
    X = pd.DataFrame(
        {
            "number": np.where(rng.random(n_rows) < 0.1, np.nan, number),
            "grade": np.where(rng.random(n_rows) < 0.2, np.nan, grade),
            "constant": 7.0,
            "town": town,
            # The order of the categories is not that of the alphabet.
            "size": pd.Categorical(size, categories=["small", "large"], ordered=True),
            "noise": rng.random(n_rows),
        }
    )
    return X, np.array(["none", "some", "many", "most"])[np.minimum(y, 3)]


def queries(seed: int, n_rows: int = 60) -> pd.DataFrame:
    """Return rows with more gaps than the training rows, and a town nobody saw."""
    rng = np.random.default_rng([seed, 1])
    X, _ = mixed_frame(seed + 1000, n_rows)
    X["town"] = X["town"].cat.add_categories("Passau")
    X.loc[rng.random(n_rows) < 0.3, "town"] = "Passau"
    X.loc[rng.random(n_rows) < 0.3, "noise"] = np.nan
    X.loc[rng.random(n_rows) < 0.3, "constant"] = np.nan
    X.loc[rng.random(n_rows) < 0.3, "size"] = None
    return X


def categories_of(column: pd.Series) -> list | None:
    """Return the categories that occur, in the order of their codes."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return None
    seen = set(column.dropna())
    values = column.cat.categories
    return [v for v in (values if column.cat.ordered else sorted(values)) if v in seen]


@dataclass
class Columns:
    """The categories of the training table; turns tables into plain numbers."""

    categories: list

    @classmethod
    def of(cls, X: pd.DataFrame) -> "Columns":
        return cls([categories_of(X[name]) for name in X.columns])

    @property
    def is_categorical(self) -> list[bool]:
        return [known is not None for known in self.categories]

    def numbers(self, X: pd.DataFrame) -> np.ndarray:
        out = np.full(X.shape, np.nan)
        for j, known in enumerate(self.categories):
            for i, value in enumerate(X.iloc[:, j]):
                if known is None:
                    out[i, j] = value
                elif value in known:
                    out[i, j] = known.index(value)
        return out
