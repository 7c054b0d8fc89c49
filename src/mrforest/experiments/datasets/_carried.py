# SPDX-License-Identifier: BSD-3-Clause
"""Datasets that installed packages carry, brought to the form of the stored ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from mrforest.experiments.datasets._registry import Entry
from mrforest.experiments.datasets._table import Dataset

__all__ = ["LOADERS"]


def _wdbc(entry: Entry) -> Dataset:
    """Give the breast-cancer data its columns' and classes' names."""
    X, y = load_breast_cancer(return_X_y=True)
    labels = np.array(["M", "B"])[y]
    return Dataset(entry.name, pd.DataFrame(X, columns=list(entry.columns)), labels)


LOADERS: dict[str, Callable[[Entry], Dataset]] = {"scikit-learn": _wdbc}
