# SPDX-License-Identifier: BSD-3-Clause
"""Fits forests and predicts; accuracy.py starts it in the environment that has them.

What a forest predicts is written into the folder of the table; accuracy.py judges it.
Nothing but NumPy and the forests is imported.
"""

from __future__ import annotations

import time
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from answering import answer_tasks, version_of


@lru_cache(maxsize=1)
def read(folder: Path) -> tuple[Any, Any, Any]:
    """Read the table; the same one many times in a row."""
    X, y, folds = (np.load(folder / f"{key}.npy") for key in ("X", "y", "folds"))
    return X, y, folds


def make(task: dict[str, Any]) -> Any:
    """Return the forest."""
    module, name = task["estimator"].split(":")
    return getattr(import_module(module), name)(**task["options"])


def measure(task: dict[str, Any]) -> dict[str, Any]:
    """Fit all rows but those of the fold, predict these."""
    folder = Path(task["table"])
    X, y, folds = read(folder)
    is_tested = folds[task["repetition"]] == task["fold"]
    X_train, y_train, X_test = X[~is_tested], y[~is_tested], X[is_tested]
    forest = make(task)
    start = time.perf_counter()
    forest.fit(X_train, y_train)
    fitted = time.perf_counter()
    answers: dict[str, Any] = {"predicted": np.asarray(forest.predict(X_test))}
    predicted = time.perf_counter()
    if task["for_probabilities"] is not None:
        if task["for_probabilities"]:
            forest.set_params(**task["for_probabilities"])
        # A class may be missing from the rows that were fitted.
        probabilities = np.zeros((len(X_test), int(y.max()) + 1))
        probabilities[:, forest.classes_] = forest.predict_proba(X_test)
        answers["probabilities"] = probabilities
    np.savez(folder / "predicted.npz", **answers)
    return {
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
        "version": version_of(task["package"]),
    }


if __name__ == "__main__":
    answer_tasks(measure)
