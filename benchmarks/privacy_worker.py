# SPDX-License-Identifier: BSD-3-Clause
"""Fits one tool again and again; privacy.py starts it in the tool's own environment.

    python privacy_worker.py TOOL

A task is a line of JSON on standard input, and so is its answer on standard output.
Nothing but NumPy, scikit-learn and the tool is imported: environments differ.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from answering import answer_tasks, version_of
from sklearn.metrics import roc_auc_score

DELTA = 1e-6  # of the tools whose privacy is approximate

Public = dict[str, Any]  # what privacy_tables.Table writes


def columns_with(public: Public, what: str) -> dict[int, Any]:
    """Say of which columns something is declared, and what."""
    return {j: value for j, value in enumerate(public[what]) if value is not None}


def mrforest_labels(public: Public, epsilon: float) -> Any:
    """Return our forest with labels in its leaves: pure epsilon."""
    return mrforest(public, epsilon, leaf="label")


def mrforest_counts(public: Public, epsilon: float) -> Any:
    """Return our forest with counts in its leaves, which rank rows."""
    return mrforest(public, epsilon, leaf="counts", delta=DELTA)


def mrforest(public: Public, epsilon: float, **options: Any) -> Any:
    """Return our private forest."""
    from mrforest import PrivateForestClassifier

    n_categories = columns_with(public, "n_categories")
    return PrivateForestClassifier(
        epsilon,
        bounds={j: tuple(pair) for j, pair in columns_with(public, "bounds").items()},
        categories={j: list(range(n)) for j, n in n_categories.items()},
        classes=list(range(public["n_classes"])),
        n_jobs=1,
        **options,
    )


def diffprivlib(public: Public, epsilon: float) -> Any:
    """Return diffprivlib's forest; categories are numbers to it."""
    from diffprivlib.models import RandomForestClassifier

    n_categories = columns_with(public, "n_categories")
    pairs = columns_with(public, "bounds") | {
        j: (0, n - 1) for j, n in n_categories.items()
    }
    low, high = np.array([pairs[j] for j in range(len(pairs))], dtype=float).T
    return RandomForestClassifier(
        epsilon=epsilon,
        bounds=(low, high),
        classes=list(range(public["n_classes"])),
        n_jobs=1,
    )


def dp_ebm(public: Public, epsilon: float) -> Any:
    """Return InterpretML's boosted additive model."""
    from interpret.privacy import DPExplainableBoostingClassifier

    return DPExplainableBoostingClassifier(
        feature_types=[
            "continuous" if n is None else "nominal" for n in public["n_categories"]
        ],
        privacy_bounds=columns_with(public, "bounds"),
        epsilon=epsilon,
        delta=DELTA,
        n_jobs=1,
    )


def random_forest(public: Public, epsilon: float) -> Any:
    """Return scikit-learn's forest: what there is to lose."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=0, n_jobs=1)


def majority(public: Public, epsilon: float) -> Any:
    """Return what tells the most frequent class."""
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


# Tool: how to make it, and the package whose version counts
MAKERS: dict[str, tuple[Callable[[Public, float], Any], str]] = {
    "mrforest": (mrforest_labels, "mrforest"),
    "mrforest-counts": (mrforest_counts, "mrforest"),
    "diffprivlib": (diffprivlib, "diffprivlib"),
    "dp-ebm": (dp_ebm, "interpret-core"),
    "random-forest": (random_forest, "scikit-learn"),
    "majority": (majority, "scikit-learn"),
}


@lru_cache(maxsize=1)
def read(path: str) -> tuple[Any, Any, Any, Public]:
    """Read the table; the same one many times in a row."""
    with np.load(path) as file:
        public = json.loads(str(file["public"]))
        return file["X"], file["y"], file["folds"], public


def measure(tool: str, task: dict[str, Any]) -> dict[str, Any]:
    """Fit on all folds but one, predict that one."""
    make, package = MAKERS[tool]
    X, y, folds, public = read(task["table"])
    is_test = folds[task["shuffle"]] == task["fold"]
    # Rows come in random order: a tool may deal them to trees as they come.
    train = np.random.default_rng(task["shuffle"]).permutation(np.flatnonzero(~is_test))
    test = np.flatnonzero(is_test)
    model = make(public, task["epsilon"])
    X_train, y_train, X_test, y_test = X[train], y[train], X[test], y[test]
    start = time.perf_counter()
    model.fit(X_train, y_train)
    fitted = time.perf_counter()
    told = model.predict(X_test)
    done = time.perf_counter()
    auc = None
    if public["n_classes"] == 2:
        auc = float(roc_auc_score(y_test, model.predict_proba(X_test)[:, 1]))
    return {
        "accuracy": float(np.mean(told == y_test)),
        "auc": auc,
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        "version": version_of(package),
    }


def main() -> None:
    """Answer until there are no more tasks."""
    (tool,) = sys.argv[1:]
    is_warm = False

    def work(task: dict[str, Any]) -> dict[str, Any]:
        nonlocal is_warm
        if not is_warm:  # the first fit of a process also imports
            measure(tool, task)
            is_warm = True
        return measure(tool, task)

    answer_tasks(work)


if __name__ == "__main__":
    main()
