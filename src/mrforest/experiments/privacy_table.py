# SPDX-License-Identifier: BSD-3-Clause
"""The paper's privacy table, beside a forest that is private.

The printed mechanism draws splits with budgets B1 and B2, and the label of each leaf
with B3. The caption says that the table shows one tree; the numbers are those of 100
trees that vote. By the paper's Theorem 2 such a vote would spend
t · max(d (B1 + B2), B3) in all, 100 times the B3 in the table. **Whatever the sum, the
printed mechanism is not differentially private**: its cuts come from the rows, and
trees end where exact counts say so (docs/privacy.md). `PrivateForestClassifier` is; it
is asked to do with the same totals, and with small ones.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mrforest.experiments._folds import Fold, cut
from mrforest.experiments._panels import present
from mrforest.experiments.protocol import N_FOLDS, load_table
from mrforest.forests.multinomial import MultinomialForestClassifier
from mrforest.forests.private import PrivateForestClassifier
from mrforest.privacy import PrivacyLeakWarning, allocate

__all__ = [
    "DATASETS",
    "EXPERIMENT",
    "PRINTED",
    "claimed_epsilon",
    "measure",
    "public_facts",
    "summary",
    "tasks",
]

EXPERIMENT = "privacy_table"

# The paper's table: accuracies in per cent by B3; B1 = B2 = B3 / 20, because d = 10.
PRINTED = {
    "wdbc": {1: 94.71, 5: 94.95, 10: 94.93, 20: 95.21},
    "cmc": {1: 52.58, 5: 52.79, 10: 52.94, 20: 53.25},
    "connect-4": {1: 72.20, 5: 74.12, 10: 74.84, 20: 76.84},
}
DATASETS = tuple(PRINTED)
LABEL_BUDGETS = (1.0, 5.0, 10.0, 20.0)
DEPTH = 10  # what the paper takes for d
N_TREES = 100
SMALL_EPSILONS = (0.5, 1.0, 2.0, 4.0)

# Models: the printed mechanism; the same with majorities instead of drawn labels; the
# private forest; the forest of the other experiments; the most frequent class.
PRINTED_MODEL, MAJORITIES, PRIVATE = "printed", "printed, majorities", "private"
FOREST, COMMONEST = "not private", "majority class"

# Dataset: repetitions, and folds of each.
FULL = {"wdbc": (5, N_FOLDS), "cmc": (5, N_FOLDS), "connect-4": (1, N_FOLDS)}
QUICK = {"wdbc": (1, 5), "cmc": (1, 5), "connect-4": (1, 1)}


def claimed_epsilon(label_budget: float, n_trees: int, depth: int = DEPTH) -> float:
    """Return what the paper's Theorem 2 takes the budgets of its table for.

    Parameters
    ----------
    label_budget : float
        B3; the budgets of a level are B1 = B2 = B3 / (2 · 10).
    n_trees : int
        t, the number of trees.
    depth : int, default=10
        d, the depth of the trees.

    Returns
    -------
    float
        t · max(d (B1 + B2), B3). No privacy follows from it.

    Examples
    --------
    >>> claimed_epsilon(1.0, n_trees=1), claimed_epsilon(20.0, n_trees=100)
    (1.0, 2000.0)
    """
    of_all_levels = depth * label_budget / DEPTH
    return n_trees * max(of_all_levels, label_budget)


def tasks(
    *, quick: bool = False, datasets: Sequence[str] = DATASETS
) -> list[dict[str, Any]]:
    """Return the settings of all that is to be measured.

    Parameters
    ----------
    quick : bool, default=False
        Whether few folds do.
    datasets : sequence of str
        Names of datasets; default: the three of the paper's table.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from mrforest.experiments import privacy_table
    >>> len(privacy_table.tasks(quick=True)), len(privacy_table.tasks())
    (231, 2310)
    >>> list(dict.fromkeys(task["model"] for task in privacy_table.tasks()))
    ['printed', 'printed, majorities', 'private', 'not private', 'majority class']
    """
    found = []
    for dataset in datasets:
        n_repetitions, n_folds = (QUICK if quick else FULL).get(dataset, (1, N_FOLDS))
        models: list[dict[str, Any]] = [
            {"model": model, "label_budget": budget, "n_trees": N_TREES}
            for model in (PRINTED_MODEL, MAJORITIES)
            for budget in LABEL_BUDGETS
        ]
        # As much as the theorem takes one tree, and a hundred, for; and what one might
        # really offer.
        epsilons = {*SMALL_EPSILONS, *LABEL_BUDGETS}
        epsilons |= {claimed_epsilon(budget, N_TREES) for budget in LABEL_BUDGETS}
        models += [{"model": PRIVATE, "epsilon": e} for e in sorted(epsilons)]
        models += [{"model": FOREST, "n_trees": N_TREES}, {"model": COMMONEST}]
        found += [
            {"dataset": dataset, **model, "repetition": repetition, "fold": fold}
            for repetition in range(n_repetitions)
            for fold in range(n_folds)
            for model in models
        ]
    return found


def measure(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Fit one model to one fold.

    Parameters
    ----------
    settings : mapping
        One of `tasks`.

    Returns
    -------
    dict
        `accuracy`, in per cent. Of a forest also `tree_accuracy`, the mean of its
        trees, and `depth`, that of the deepest.

    Examples
    --------
    >>> from mrforest.experiments import privacy_table
    >>> task = {"dataset": "wdbc", "model": "private", "epsilon": 4.0}
    >>> found = privacy_table.measure({**task, "repetition": 0, "fold": 0})
    >>> found["accuracy"] > 70
    True
    """
    fold = cut(settings["dataset"], settings["repetition"], settings["fold"])
    return MEASURES[settings["model"]](settings, fold)


def _measure_printed(settings: Mapping[str, Any], fold: Fold) -> dict[str, Any]:
    label_budget = settings["label_budget"]
    budgets = allocate(label_budget, n_estimators=1, depth=DEPTH)
    if settings["model"] == MAJORITIES:
        budgets["label_budget"] = math.inf
    return _measure_forest(settings, fold, **budgets)


def _measure_forest(
    settings: Mapping[str, Any], fold: Fold, **budgets: Any
) -> dict[str, Any]:
    forest = MultinomialForestClassifier(
        settings["n_trees"],
        max_bins="exact",
        categorical_features=fold.is_categorical,
        random_state=seed_of(settings),
        n_jobs=1,
        **budgets,
    )
    return {
        "accuracy": fold.accuracy(fold.fit(forest)),
        "tree_accuracy": float(fold.tree_accuracies(forest).mean()),
        "depth": int(forest.depths_.max()),
    }


def _measure_private(settings: Mapping[str, Any], fold: Fold) -> dict[str, Any]:
    forest = PrivateForestClassifier(
        settings["epsilon"],
        **public_facts(settings["dataset"]),
        random_state=seed_of(settings),
    )
    with warnings.catch_warnings():
        # A seed breaks the promise; it is there so that results can be had again.
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        fold.fit(forest)
    return {
        "accuracy": fold.accuracy(forest),
        "depth": int(forest.depths_.max()),
    }


def _measure_commonest(settings: Mapping[str, Any], fold: Fold) -> dict[str, Any]:
    classes, counts = np.unique(fold.y_train, return_counts=True)
    commonest = classes[counts.argmax()]
    return {"accuracy": 100 * float(np.mean(fold.y_test == commonest))}


def seed_of(settings: Mapping[str, Any]) -> int:
    """Return a seed for each fold of each repetition."""
    return int(N_FOLDS * settings["repetition"] + settings["fold"])


MEASURES: dict[str, Callable[[Mapping[str, Any], Fold], dict[str, Any]]] = {
    PRINTED_MODEL: _measure_printed,
    MAJORITIES: _measure_printed,
    PRIVATE: _measure_private,
    FOREST: _measure_forest,
    COMMONEST: _measure_commonest,
}


def public_facts(name: str) -> dict[str, Any]:
    """Return what the owner of a dataset would declare of it.

    Parameters
    ----------
    name : str
        Name of the dataset.

    Returns
    -------
    dict
        `bounds`, the smallest and the largest number of each numeric column in the
        whole table, as ints if all are whole; `categories` and `classes`. An owner
        takes them from public knowledge; here the whole table stands for that.

    Examples
    --------
    >>> from mrforest.experiments.privacy_table import public_facts
    >>> facts = public_facts("wdbc")
    >>> facts["bounds"][0], facts["classes"]
    ((6.981, 28.11), [0, 1])
    """
    table = load_table(name)
    bounds: dict[int, tuple[Any, Any]] = {}
    categories: dict[int, list[int]] = {}
    for j, is_categorical in enumerate(table.is_categorical):
        values = table.X[:, j]
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        if is_categorical:
            categories[j] = list(range(int(high) + 1))
        elif np.all(np.isnan(values) | (values == np.floor(values))):
            bounds[j] = int(low), int(high)
        else:
            bounds[j] = low, high
    return {
        "bounds": bounds,
        "categories": categories,
        "classes": list(range(int(table.y.max()) + 1)),
    }


# ---- what was found ------------------------------------------------------------------


def mean_of(frame: pd.DataFrame, what: str = "accuracy", **settings: Any) -> float:
    """Return the mean over all folds with these settings; NaN if there are none."""
    chosen = np.ones(len(frame), dtype=bool)
    for name, value in settings.items():
        chosen &= (frame[name] == value).to_numpy()
    return float(frame.loc[chosen, what].mean())


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Lay out the table.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    DataFrame
        One row for each dataset and B3, accuracies in per cent. What is `printed`;
        `one_tree`, what the caption says; `vote` of all trees; `majorities`, the same
        with B3 = inf. `claimed_vote` is the epsilon that Theorem 2 takes the vote for
        (and B3 the one of a tree), `claimed_seen` with the depth of the deepest tree
        instead of 10. `private_b3` and `private_claimed`: the private forest at B3 and
        at `claimed_vote`; then at small epsilons. `not_private` and `majority_class`
        are the bounds.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import privacy_table
    >>> wanted = [
    ...     {**task, "n_trees": 5}
    ...     for task in privacy_table.tasks(quick=True, datasets=["wdbc"])[:20]
    ... ]
    >>> frame = pd.DataFrame({**w, **privacy_table.measure(w)} for w in wanted)
    >>> privacy_table.summary(frame)[["label_budget", "printed", "claimed_vote"]]
       label_budget  printed  claimed_vote
    0           1.0    94.71         100.0
    1           5.0    94.95         500.0
    2          10.0    94.93        1000.0
    3          20.0    95.21        2000.0
    """
    rows = []
    for dataset in present(frame["dataset"], DATASETS):
        own = frame[frame["dataset"] == dataset]
        for budget in LABEL_BUDGETS:
            printed = own[own["label_budget"] == budget]
            depth = printed["depth"].max()
            vote = claimed_epsilon(budget, N_TREES)
            seen = None if pd.isna(depth) else int(depth)
            rows.append(
                {
                    "dataset": dataset,
                    "label_budget": budget,
                    "printed": PRINTED.get(dataset, {}).get(int(budget), math.nan),
                    "one_tree": mean_of(printed, "tree_accuracy", model=PRINTED_MODEL),
                    "vote": mean_of(printed, model=PRINTED_MODEL),
                    "majorities": mean_of(printed, model=MAJORITIES),
                    "claimed_vote": vote,
                    "claimed_seen": claimed_epsilon(budget, N_TREES, seen)
                    if seen
                    else math.nan,
                    "private_b3": mean_of(own, model=PRIVATE, epsilon=budget),
                    "private_claimed": mean_of(own, model=PRIVATE, epsilon=vote),
                    **{
                        f"private_{epsilon:g}": mean_of(
                            own, model=PRIVATE, epsilon=epsilon
                        )
                        for epsilon in SMALL_EPSILONS
                    },
                    "not_private": mean_of(own, model=FOREST),
                    "majority_class": mean_of(own, model=COMMONEST),
                }
            )
    return pd.DataFrame(rows)
