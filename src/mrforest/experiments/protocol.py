# SPDX-License-Identifier: BSD-3-Clause
"""The paper's protocol: its forests by name, ten times ten folds, what is measured."""

from __future__ import annotations

import time
from collections.abc import Mapping
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, StratifiedKFold

from mrforest.experiments import datasets
from mrforest.forests.bernoulli import BernoulliForestClassifier
from mrforest.forests.breiman import BreimanForestClassifier
from mrforest.forests.comparison import ComparisonForestClassifier
from mrforest.forests.completely_random import CompletelyRandomForestClassifier
from mrforest.forests.data_driven import DataDrivenMultinomialForestClassifier
from mrforest.forests.denil import DenilForestClassifier
from mrforest.forests.multinomial import MultinomialForestClassifier

__all__ = [
    "CONSISTENT",
    "EXTRAS",
    "LEAF_RULES",
    "N_FOLDS",
    "N_REPETITIONS",
    "PAPER",
    "Table",
    "as_table",
    "leaf_parameters",
    "leaf_rules",
    "load_table",
    "make_forest",
    "measure_fold",
]

N_REPETITIONS, N_FOLDS = 10, 10
N_ESTIMATORS, LEAF_SIZE = 100, 5

# In the order of the paper's Table 1; those of its four consistent columns first.
CONSISTENT = ("Denil14", "BRF", "CompRF-C", "MRF")
PAPER = (*CONSISTENT, "CompRF-I", "Breiman")
LEAF_RULES = ("stop", "floor")
# Forests that are not the paper's are run once, as they come. scikit-learn's has its
# defaults, which are no reading of k = 5.
EXTRA_RULES = {
    "scikit-learn": ("own",),
    "completely random": ("stop",),
    "DMRF-style": ("floor",),
}
EXTRAS = tuple(EXTRA_RULES)

# A probability of zero would make the log loss of a fold infinite by one row.
LEAST_PROBABILITY = 1e-3

Forest = Any


class Table(NamedTuple):
    """A dataset as numbers.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Categories as their codes, missing values as NaN.
    is_categorical : ndarray of shape (n_features,)
        Which features are categories.
    y : ndarray of shape (n_samples,)
        Codes of the classes.

    Examples
    --------
    >>> from mrforest.experiments import protocol
    >>> table = protocol.load_table("wdbc")
    >>> table.X.shape, int(table.is_categorical.sum()), set(table.y.tolist())
    ((569, 30), 0, {0, 1})
    """

    X: NDArray[np.float64]
    is_categorical: NDArray[np.bool_]
    y: NDArray[np.int64]


# Folds of one dataset come one after the other.
@lru_cache(maxsize=2)
def load_table(name: str) -> Table:
    """Load a dataset, and keep it for the folds that follow.

    Parameters
    ----------
    name : str
        Name of the dataset.

    Returns
    -------
    Table
        Not to be written to.

    Examples
    --------
    >>> from mrforest.experiments import protocol
    >>> table = protocol.load_table("wdbc")
    >>> len(table.y)
    569
    >>> table.X.flags.writeable
    False
    """
    return as_table(datasets.load(name))


def as_table(data: datasets.Dataset) -> Table:
    """Turn a dataset into numbers.

    Parameters
    ----------
    data : Dataset
        As it was loaded.

    Returns
    -------
    Table
        Not to be written to.

    Examples
    --------
    >>> from mrforest.experiments import datasets, protocol
    >>> wdbc = datasets.load("wdbc")
    >>> str(wdbc.y[0]), int(protocol.as_table(wdbc).y[0])
    ('M', 1)
    """
    is_categorical = np.array(
        [isinstance(dtype, pd.CategoricalDtype) for dtype in data.X.dtypes]
    )
    X = np.empty(data.X.shape)
    for j, (_, column) in enumerate(data.X.items()):
        X[:, j] = (
            column.cat.codes.where(column.notna()) if is_categorical[j] else column
        )
    y = np.unique(data.y, return_inverse=True)[1]
    for array in (X, y):
        array.flags.writeable = False
    return Table(X, is_categorical, y)


# ---- the forests ---------------------------------------------------------------------

# Cuts are the midpoints between all values, as the paper has them; candidates of a node
# are about the square root of the number of features, where a forest has such a thing.
EXACT: dict[str, Any] = {"max_bins": "exact"}
FEW: dict[str, Any] = {**EXACT, "max_features": "sqrt"}
BUDGETS = {"feature_budget": 10.0, "split_budget": 10.0, "label_budget": np.inf}
MADE_OF: dict[str, tuple[type[Forest], dict[str, Any]]] = {
    "Denil14": (DenilForestClassifier, {**EXACT, "mean_features": "sqrt"}),
    "BRF": (BernoulliForestClassifier, FEW),
    "CompRF-C": (ComparisonForestClassifier, {}),
    "MRF": (MultinomialForestClassifier, {**EXACT, **BUDGETS}),
    "CompRF-I": (ComparisonForestClassifier, {"honest": False}),
    "Breiman": (BreimanForestClassifier, FEW),
    "completely random": (CompletelyRandomForestClassifier, EXACT),
    "DMRF-style": (DataDrivenMultinomialForestClassifier, FEW),
}


def leaf_rules(forest: str) -> tuple[str, ...]:
    """Return the leaf rules that a forest is run with.

    Parameters
    ----------
    forest : str
        One of `PAPER` or `EXTRAS`.

    Returns
    -------
    tuple of str
        "stop" and "floor" for the paper's, one rule for the others.

    Examples
    --------
    >>> from mrforest.experiments import protocol
    >>> protocol.leaf_rules("MRF"), protocol.leaf_rules("scikit-learn")
    (('stop', 'floor'), ('own',))
    """
    if forest not in (*PAPER, *EXTRAS):
        raise ValueError(f"forest={forest!r} must be one of {(*PAPER, *EXTRAS)}")
    return EXTRA_RULES.get(forest, LEAF_RULES)


def leaf_parameters(leaf_rule: str, k: int) -> dict[str, int | None]:
    """Return the parameters of a forest for a leaf rule.

    Parameters
    ----------
    leaf_rule : {"stop", "floor"}
        "stop": nodes of at most k estimation points are not split. "floor": each leaf
        has at least k of them.
    k : int
        Points of a leaf.

    Returns
    -------
    dict

    Examples
    --------
    >>> from mrforest.experiments import protocol
    >>> protocol.leaf_parameters("stop", 5)
    {'min_samples_split': 6, 'min_samples_leaf': None}
    """
    if leaf_rule == "stop":
        return {"min_samples_split": k + 1, "min_samples_leaf": None}
    return {"min_samples_split": 2, "min_samples_leaf": k}


def make_forest(
    name: str,
    leaf_rule: str,
    *,
    n_estimators: int = N_ESTIMATORS,
    k: int = LEAF_SIZE,
    categorical_features: NDArray[np.bool_] | None = None,
    n_jobs: int = 1,
    random_state: int | None = None,
) -> Forest:
    """Make a forest with the paper's settings.

    Parameters
    ----------
    name : str
        One of `PAPER` or `EXTRAS`.
    leaf_rule : str
        One of `leaf_rules(name)`.
    n_estimators : int, default=100
        Number of trees, t in the paper.
    k : int, default=5
        Points of a leaf. Not for scikit-learn's forest, which has its defaults.
    categorical_features : ndarray of bool or None, default=None
        Which features are categories. scikit-learn's forest takes them as numbers.
    n_jobs : int, default=1
        Threads.
    random_state : int or None
        Seed.

    Returns
    -------
    classifier
        Not fitted.

    Examples
    --------
    >>> from mrforest.experiments import protocol
    >>> protocol.make_forest("MRF", "stop", n_estimators=10)
    MultinomialForestClassifier(categorical_features=None, max_bins='exact',
                                min_samples_split=6, n_estimators=10, n_jobs=1)
    """
    if leaf_rule not in (allowed := leaf_rules(name)):
        raise ValueError(f"leaf_rule={leaf_rule!r} of {name} must be one of {allowed}")
    common = {
        "n_estimators": n_estimators,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    if name == "scikit-learn":
        return RandomForestClassifier(**common)
    kind, parameters = MADE_OF[name]
    return kind(
        **leaf_parameters(leaf_rule, k),
        categorical_features=categorical_features,
        **parameters,
        **common,
    )


# ---- one fold ------------------------------------------------------------------------


def folds(
    table: Table, *, repetition: int, seed: int, stratified: bool
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return rows to fit and rows to test, of all folds of a repetition."""
    kind = StratifiedKFold if stratified else KFold
    # A repetition is a shuffle of its own, which all forests share.
    shuffle = _seed(seed, repetition)
    splitter = kind(N_FOLDS, shuffle=True, random_state=shuffle)
    return list(splitter.split(table.X, table.y))


def _seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def measure_fold(settings: Mapping[str, Any]) -> dict[str, float]:
    """Fit a forest to nine tenths of a dataset and test it on the last.

    Parameters
    ----------
    settings : mapping
        dataset, forest, leaf_rule, n_estimators, min_samples_leaf, stratified, seed,
        repetition, fold.

    Returns
    -------
    dict
        accuracy; log_loss and brier of the shares of classes, averaged over trees;
        fit_seconds, predict_seconds; leaves and depth, means over trees.

    Examples
    --------
    >>> from mrforest.experiments import protocol, table1
    >>> task = next(table1.tasks(names=["wdbc"], forests=["MRF"], n_estimators=10))
    >>> found = protocol.measure_fold(task.settings)
    >>> found["accuracy"] > 0.85
    True
    >>> sorted(found)[:4]
    ['accuracy', 'brier', 'depth', 'fit_seconds']
    """
    table = load_table(settings["dataset"])
    train, test = folds(
        table,
        repetition=settings["repetition"],
        seed=settings["seed"],
        stratified=settings["stratified"],
    )[settings["fold"]]
    forest = make_forest(
        settings["forest"],
        settings["leaf_rule"],
        n_estimators=settings["n_estimators"],
        k=settings["min_samples_leaf"],
        categorical_features=table.is_categorical,
        random_state=_seed(settings["seed"], settings["repetition"], settings["fold"]),
    )
    start = time.perf_counter()
    forest.fit(table.X[train], table.y[train])
    fitted = time.perf_counter()
    told = forest.predict(table.X[test])
    predicted = time.perf_counter()
    truth = table.y[test]
    probabilities = _probabilities(forest, table.X[test], int(table.y.max()) + 1)
    return {
        "accuracy": float(np.mean(told == truth)),
        "log_loss": log_loss(probabilities, truth),
        "brier": brier(probabilities, truth),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
        "leaves": float(np.mean([t.get_n_leaves() for t in forest.estimators_])),
        "depth": float(np.mean([t.get_depth() for t in forest.estimators_])),
    }


def _probabilities(
    forest: Forest, X: NDArray[np.float64], n_classes: int
) -> NDArray[np.float64]:
    """Shares of classes in leaves, averaged over trees, however the forest votes."""
    if hasattr(forest, "voting"):
        # Voting does not shape the trees.
        forest = copy(forest).set_params(voting="soft")
    probabilities = np.zeros((len(X), n_classes))
    # A class of the test rows may be missing from the others.
    probabilities[:, forest.classes_] = forest.predict_proba(X)
    return probabilities


def log_loss(probabilities: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    """Mean of -log(probability of the right class), which counts as 0.001 at least."""
    right = probabilities[np.arange(len(truth)), truth]
    return float(-np.log(np.maximum(right, LEAST_PROBABILITY)).mean())


def brier(probabilities: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    """Mean squared distance between probabilities and the truth, over all classes."""
    wrong = probabilities.copy()
    wrong[np.arange(len(truth)), truth] -= 1
    return float((wrong**2).sum(axis=1).mean())
