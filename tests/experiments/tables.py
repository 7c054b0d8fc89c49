# SPDX-License-Identifier: BSD-3-Clause
"""Tables that stand for the paper's datasets, so that tests need none of them."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris

from mrforest.experiments.protocol import Table


def flowers(name="flowers"):
    """Three classes, four numbers and a category that says a little."""
    X, y = load_iris(return_X_y=True)
    kind = np.where(np.arange(len(y)) % 5 == 0, 2, y)[:, np.newaxis]
    is_categorical = np.array([False] * 4 + [True])
    return Table(np.hstack([X, kind]), is_categorical, y)


def tumours(name="tumours"):
    """Two classes, ten numbers."""
    X, y = load_breast_cancer(return_X_y=True)
    return Table(X[:, :10], np.zeros(10, dtype=bool), y)


def measured(experiment, settings):
    """Measure all settings here and now, as a store would show them."""
    return pd.DataFrame([{**some, **experiment.measure(some)} for some in settings])
