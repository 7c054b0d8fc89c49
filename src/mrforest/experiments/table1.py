# SPDX-License-Identifier: BSD-3-Clause
"""Table 1 of the paper: accuracy of its forests on 22 datasets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import pandas as pd

from mrforest.experiments import protocol, stats
from mrforest.experiments.runner import Task

__all__ = [
    "DATASETS",
    "EXPERIMENT",
    "FORESTS",
    "PRINTED",
    "QUICK_DATASETS",
    "accuracies",
    "compared",
    "complete",
    "long_table",
    "printed",
    "tasks",
]

EXPERIMENT = "table1"
FORESTS = (*protocol.PAPER, *protocol.EXTRAS)

# The paper's Table 1, in per cent; columns as in `protocol.PAPER`.
PRINTED = {
    "zoo": (80.00, 85.00, 87.69, 90.64, 93.39, 87.38),
    "hayes-roth": (50.93, 45.35, 45.82, 79.46, 46.04, 77.58),
    "echocardiogram": (78.46, 88.46, 89.63, 91.72, 88.09, 90.64),
    "hepatitis": (62.17, 63.46, 62.50, 64.32, 58.33, 64.05),
    "wdbc": (92.86, 95.36, 92.39, 95.78, 94.26, 96.01),
    "transfusion": (72.97, 77.70, 76.53, 78.53, 75.28, 79.52),
    "vehicle": (68.81, 71.67, 59.68, 73.54, 64.86, 74.70),
    "mammographic": (79.17, 81.25, 76.57, 81.86, 78.72, 82.31),
    "messidor": (65.65, 65.21, 65.62, 67.14, 66.14, 68.35),
    "website-phishing": (85.29, 85.58, 85.98, 89.80, 88.34, 88.12),
    "banknote": (98.29, 98.32, 99.36, 99.49, 99.02, 99.12),
    "cmc": (53.60, 54.63, 53.93, 56.12, 54.61, 55.11),
    "yeast": (58.80, 58.38, 14.15, 61.03, 10.66, 61.71),
    "car": (88.02, 93.43, 79.07, 96.30, 92.17, 97.42),
    "image-segmentation": (95.45, 96.06, 93.99, 97.47, 96.16, 97.71),
    "chess-kr-vs-kp": (61.32, 97.12, 94.77, 99.25, 97.49, 98.72),
    "ads": (85.99, 94.43, 96.05, 96.76, 96.44, 97.59),
    "wilt": (97.16, 97.25, 97.23, 98.56, 98.27, 98.10),
    "wine-quality-white": (57.31, 56.68, 53.22, 60.56, 55.06, 64.78),
    "phishing-websites": (94.35, 94.47, 95.44, 96.07, 96.45, 95.56),
    "nursery": (93.42, 93.52, 91.01, 99.28, 95.67, 96.89),
    "connect-4": (66.19, 76.75, 72.82, 81.46, 76.27, 80.05),
}
# Average ranks, and on which datasets MRF (1) or Breiman's forest (-1) is marked.
PRINTED_RANKS = (5.1, 4.1, 4.8, 1.5, 3.7, 1.8)
PRINTED_WINNERS = {
    **dict.fromkeys(
        (
            "zoo", "hayes-roth", "echocardiogram", "website-phishing", "banknote",
            "cmc", "chess-kr-vs-kp", "phishing-websites", "nursery", "connect-4",
        ),
        1,
    ),
    **dict.fromkeys(
        (
            "transfusion", "vehicle", "mammographic", "messidor", "car", "ads",
            "wine-quality-white",
        ),
        -1,
    ),
}  # fmt: skip
OTHER_MEASURES = (
    "log_loss", "brier", "fit_seconds", "predict_seconds", "leaves", "depth",
)  # fmt: skip
DATASETS = tuple(PRINTED)
# What a fold takes, roughly: the slowest come first, and the time left can be told.
SECONDS = {
    **dict.fromkeys(DATASETS, 0.1),
    "image-segmentation": 0.2,
    "chess-kr-vs-kp": 0.2,
    "wilt": 0.2,
    "wine-quality-white": 0.4,
    "phishing-websites": 0.4,
    "nursery": 0.4,
    "ads": 4.0,
    "connect-4": 5.0,
}
# Those of up to 1,000 rows.
QUICK_DATASETS = DATASETS[:8]


def tasks(
    *,
    names: Sequence[str] = DATASETS,
    forests: Sequence[str] = FORESTS,
    repeats: int = protocol.N_REPETITIONS,
    stratified: bool = False,
    n_estimators: int = protocol.N_ESTIMATORS,
    seed: int = 0,
) -> Iterator[Task]:
    """Yield all folds of the table.

    Parameters
    ----------
    names : sequence of str
        Datasets.
    forests : sequence of str
        Forests, by the names of `protocol`.
    repeats : int, default=10
        How often a dataset is shuffled and cut into ten folds.
    stratified : bool, default=False
        Whether folds keep the shares of the classes. The paper's do not.
    n_estimators : int, default=100
        Number of trees.
    seed : int, default=0
        Of shuffles and forests.

    Yields
    ------
    Task

    Examples
    --------
    A dataset, ten times ten folds, two leaf rules; and the whole table:

    >>> from mrforest.experiments import table1
    >>> sum(1 for _ in table1.tasks(names=["zoo"], forests=["MRF"]))
    200
    >>> sum(1 for _ in table1.tasks())
    33000
    """
    for name, forest in product(names, forests):
        for leaf_rule, repetition, fold in product(
            protocol.leaf_rules(forest), range(repeats), range(protocol.N_FOLDS)
        ):
            settings = {
                "dataset": name,
                "forest": forest,
                "leaf_rule": leaf_rule,
                "n_estimators": n_estimators,
                "min_samples_leaf": protocol.LEAF_SIZE,
                "stratified": stratified,
                "seed": seed,
                "repetition": repetition,
                "fold": fold,
            }
            cost = SECONDS.get(name, 1.0)
            yield Task(EXPERIMENT, settings, protocol.measure_fold, cost)


# ---- what the results say ------------------------------------------------------------


def accuracies(frame: pd.DataFrame, leaf_rule: str) -> pd.DataFrame:
    """Return mean accuracies in per cent under one leaf rule.

    Parameters
    ----------
    frame : DataFrame
        Results of the experiment, of one seed and kind of folds.
    leaf_rule : {"stop", "floor"}
        Of the paper's forests. The others are as they were run.

    Returns
    -------
    DataFrame
        Datasets x forests, in the paper's order; NaN where there is no result.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import table1
    >>> wanted = table1.tasks(
    ...     names=["wdbc"], forests=["MRF", "BRF", "Breiman"], repeats=1, n_estimators=5
    ... )
    >>> frame = pd.DataFrame({**w.settings, **w.measure(w.settings)} for w in wanted)
    >>> found = table1.accuracies(frame, "stop")
    >>> found.shape, bool((found > 85).all(axis=None))
    ((1, 3), True)
    """
    of_rule = frame["leaf_rule"].eq(leaf_rule) | frame["forest"].isin(protocol.EXTRAS)
    means = frame[of_rule].groupby(["dataset", "forest"])["accuracy"].mean().unstack()
    return 100 * means.reindex(
        index=_in_order(means.index, DATASETS), columns=_in_order(means, FORESTS)
    )


def _in_order(names: Iterable[str], order: Sequence[str]) -> list[str]:
    """Sort names as in an order, those that are not in it last."""
    found = set(names)
    return [n for n in order if n in found] + sorted(found - set(order))


def printed() -> pd.DataFrame:
    """Return the paper's table, datasets x forests, in per cent.

    Examples
    --------
    >>> from mrforest.experiments import table1
    >>> table1.printed().loc["wdbc", ["MRF", "Breiman"]].to_dict()
    {'MRF': 95.78, 'Breiman': 96.01}
    """
    return pd.DataFrame.from_dict(PRINTED, orient="index", columns=list(protocol.PAPER))


def compared(frame: pd.DataFrame, leaf_rule: str) -> pd.DataFrame:
    """Test MRF against Breiman's forest on each dataset, fold by fold.

    Parameters
    ----------
    frame : DataFrame
        Results of the experiment.
    leaf_rule : {"stop", "floor"}
        Of both.

    Returns
    -------
    DataFrame
        By dataset: p, and winner, 1 for MRF, -1 for Breiman's, 0 for neither.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import table1
    >>> wanted = table1.tasks(
    ...     names=["wdbc"], forests=["MRF", "BRF", "Breiman"], repeats=1, n_estimators=5
    ... )
    >>> frame = pd.DataFrame({**w.settings, **w.measure(w.settings)} for w in wanted)
    >>> table1.compared(frame, "floor").columns.tolist()
    ['p', 'winner']
    """
    of_rule = frame[frame["leaf_rule"] == leaf_rule]
    folds = of_rule.pivot_table(
        "accuracy", ["dataset", "repetition", "fold"], "forest", aggfunc="first"
    )
    if not {"MRF", "Breiman"} <= set(folds):
        return pd.DataFrame(columns=["p", "winner"])
    tests = {
        name: stats.signed_ranks(part["MRF"], part["Breiman"])
        for name, part in folds[["MRF", "Breiman"]].dropna().groupby(level="dataset")
    }
    return pd.DataFrame.from_dict(
        tests, orient="index", columns=list(stats.SignedRanks._fields)
    )


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """Return the part of a table that ranks are taken of.

    Parameters
    ----------
    table : DataFrame
        Datasets x forests.

    Returns
    -------
    DataFrame
        The paper's forests, datasets without gaps.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import table1
    >>> table = pd.DataFrame(
    ...     {"MRF": [95.8, 90.6], "Breiman": [96.0, None], "scikit-learn": [96.1, 95]},
    ...     index=["wdbc", "zoo"],
    ... )
    >>> table1.complete(table)
           MRF  Breiman
    wdbc  95.8     96.0
    """
    return table[[name for name in table if name in protocol.PAPER]].dropna()


def long_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Summarise the folds, one row a dataset, forest and leaf rule.

    Parameters
    ----------
    frame : DataFrame
        Results of the experiment.

    Returns
    -------
    DataFrame
        Accuracies in per cent with their standard deviation over the folds, the printed
        ones and the difference; p of MRF against Breiman's; means of the other
        measures.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import table1
    >>> wanted = table1.tasks(
    ...     names=["wdbc"], forests=["MRF", "BRF", "Breiman"], repeats=1, n_estimators=5
    ... )
    >>> frame = pd.DataFrame({**w.settings, **w.measure(w.settings)} for w in wanted)
    >>> table1.long_table(frame)[["forest", "leaf_rule", "folds", "printed"]].head(2)
      forest leaf_rule  folds  printed
    0    BRF     floor     10    95.36
    1    BRF      stop     10    95.36
    """
    groups = frame.groupby(["dataset", "forest", "leaf_rule"], as_index=False)
    table = groups.agg(
        folds=("accuracy", "size"),
        accuracy=("accuracy", "mean"),
        deviation=("accuracy", "std"),
        **{name: (name, "mean") for name in OTHER_MEASURES},
    )
    table[["accuracy", "deviation"]] *= 100
    theirs = printed().stack().rename("printed")
    table = table.join(theirs, on=["dataset", "forest"])
    table["difference"] = table["accuracy"] - table["printed"]
    tests = {rule: compared(frame, rule) for rule in protocol.LEAF_RULES}
    table["p"] = [
        tests[rule]["p"].get(name) if forest == "MRF" else None
        for name, forest, rule in table[["dataset", "forest", "leaf_rule"]].to_numpy()
    ]
    first = ["dataset", "forest", "leaf_rule", "folds", "accuracy", "deviation"]
    beside = ["printed", "difference", "p"]
    place = {name: i for i, name in enumerate((*DATASETS, *FORESTS))}
    return table[[*first, *beside, *OTHER_MEASURES]].sort_values(
        ["dataset", "forest"],
        key=lambda names: names.map(place).fillna(len(place)),
        kind="stable",
    )
