# SPDX-License-Identifier: BSD-3-Clause
"""Forests, options and tables: every forest on every table, options on a few."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mrforest import PrivateForestClassifier, PrivateForestRegressor
from mrforest.rules import RuleForestClassifier, RuleForestRegressor
from tests.characterisation.tables import TABLES, Table
from tests.forests.every import (
    BAGGED,
    COMPARING,
    NAMES,
    REGRESSORS,
    TUNED,
    forest_of,
    parameters_of,
)
from tests.leaves import LEAF_RULES, leaf_options


class BestOfThree:
    """A rule in Python: the best cut of one of the three best features."""

    def choose(self, node, candidates, rng):
        features = np.unique(candidates.feature)
        best = [candidates.best_of(feature) for feature in features]
        order = np.argsort(-candidates.decrease[best], kind="stable")[:3]
        return best[order[int(rng.random() * len(order))]]


def is_nearer(i: int, j: int, k: int) -> bool:
    """Answer for an oracle: items are near if their squares are, on a circle."""
    circle = np.arange(240) ** 2 % 241
    apart = [
        min((circle[i] - circle[m]) % 241, (circle[m] - circle[i]) % 241)
        for m in (j, k)
    ]
    return bool(apart[0] <= apart[1])


def largest_difference(a: np.ndarray, b: np.ndarray) -> float:
    """Return a distance of two rows."""
    return float(np.max(np.abs(a - b)))


RULE = {"rule": RuleForestClassifier, "rule-r": RuleForestRegressor}
PRIVATE = {"private": PrivateForestClassifier, "private-r": PrivateForestRegressor}

# Parameters of a forest and, under names that none has, sample weights of the fit.
OPTIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "entropy": {"criterion": "entropy"},
    "gini": {"criterion": "gini"},
    "stop": leaf_options("stop", 3),
    "floor": leaf_options("floor", 3),
    "large leaves": {"min_samples_split": 10, "min_weight_fraction_leaf": 0.05},
    "shallow": {"max_depth": 3},
    "few features": {"max_features": 2},
    "all features": {"max_features": None},
    "few bins": {"max_bins": 5},
    "all values": {"max_bins": "exact"},
    "class weights": {"class_weight": "balanced"},
    "drawn labels": {"label_budget": 2.0},
    "greedy": {"feature_budget": float("inf"), "split_budget": float("inf")},
    "random": {"feature_budget": 0.0, "split_budget": 0.0},
    "equality": {"equality_cuts": True},
    "out of bag": {"oob_score": True},
    "small samples": {"max_samples": 0.3},
    "soft": {"voting": "soft"},
    "rest of the rows": {"honest_fraction": 0.25},
    "hamming": {"metric": "hamming"},
    "manhattan": {"metric": "manhattan"},
    "own metric": {"metric": largest_difference},
    "triplets": {"oracle": is_nearer},
    "whole weights": {"weights": "whole"},
    "real weights": {"weights": "real"},
}
BINS = ("few bins", "all values")
# Parameters of private forests
PRIVATE_OPTIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "no noise": {"epsilon": float("inf")},
    "little noise": {"epsilon": 20.0},
    "counts": {"leaf": "counts"},
    "one level": {"max_depth": 1},
    "deep": {"max_depth": 6, "epsilon": 5.0},
    "deep counts": {"leaf": "counts", "max_depth": 5, "epsilon": 5.0},
    "three trees": {"leaf": "counts", "n_estimators": 3, "max_depth": 3},
    "honest": {"honest": True, "max_depth": 4},
    "honest counts": {"honest": True, "leaf": "counts", "n_estimators": 2},
    "public rows": {"n_samples_public": 500, "delta": 1e-6, "leaf": "counts"},
    "replace-one": {"neighbours": "replace-one"},
}
# Options that other parameters of a forest switch off
REFUSED = (
    ("comparison-s", "rest of the rows"),
    *((name, bins) for name in ("range", "range-honest") for bins in BINS),
)
# Tables that all private forests meet
FOR_PRIVATE = (
    "one row",
    "one class",
    "3 classes",
    "33 classes",
    "3000 rows",
    "2 codes",
    "8 codes",
    "few codes, missing",
    "categories",
    "numbers and flags",
)
# Tables that all options meet
FEW = ("3 classes", "3 codes", "40 codes", "categories", "3000 rows, 4 classes")
# Options that have tables of their own
TABLES_OF = {"own metric": ("one feature", "3 classes"), "triplets": ("items",)}
# Forests that meet a table of many rows
FOR_MANY_ROWS = {
    "230,000 rows": (
        *("forest", "multinomial", "multinomial-r", "breiman", "denil", "bernoulli"),
        *("random", "range", "centered"),
    )
}
# Tables that a rule in Python meets
FOR_RULES = ("one row", "3 classes", "3 codes", "40 codes", "categories", "512 rows")


class Case(NamedTuple):
    """A forest that is fitted.

    Attributes
    ----------
    forest : str
        Its name in tests.forests.every.
    options : str
        Of OPTIONS.
    table : str
        Of TABLES.
    """

    forest: str
    options: str
    table: str


def is_meant(forest: str, options: str) -> bool:
    """Whether a forest has such options."""
    if options in ("whole weights", "real weights"):
        return True
    if options in ("entropy", "gini") and forest in REGRESSORS:
        return False
    if options in LEAF_RULES and forest in TUNED:
        return False
    if (forest, options) in REFUSED:
        return False
    return set(OPTIONS[options]) <= set(parameters_of(forest))


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for forest in NAMES:
        # Many comparisons of many rows are slow, and of few rows the same.
        few = FEW[:-1] if forest in COMPARING else FEW
        tables = [t for t in TABLES if forest in FOR_MANY_ROWS.get(t, NAMES)]
        for options in filter(lambda options: is_meant(forest, options), OPTIONS):
            some = tables if options == "as it is" else TABLES_OF.get(options, few)
            for table in some:
                yield Case(forest, options, table)
    for forest in RULE:
        for table in FOR_RULES:
            yield Case(forest, "as it is", table)
    for forest in PRIVATE:
        for options in PRIVATE_OPTIONS:
            if forest == "private" or "leaf" not in PRIVATE_OPTIONS[options]:
                for table in FOR_PRIVATE:
                    yield Case(forest, options, table)


def is_regression(forest: str) -> bool:
    """Whether a forest predicts numbers."""
    return forest.endswith("-r")


def target_of(case: Case, table: Table) -> np.ndarray:
    """Return what the forest of a case predicts."""
    return table.values if is_regression(case.forest) else table.classes


def weights_of(case: Case, table: Table) -> np.ndarray | None:
    """Return sample weights, some of them 0; None if the case has none."""
    kind = OPTIONS[case.options].get("weights") if case.options in OPTIONS else None
    whole = np.random.default_rng(len(table.classes)).integers(0, 4, len(table.classes))
    if kind == "whole":
        return whole.astype(float)
    return whole * 0.375 if kind == "real" else None


def public(table: Table) -> dict[str, Any]:
    """Return what is public of the columns."""
    if not isinstance(table.X, pd.DataFrame):
        return {"bounds": (0.0, 1.0)}
    kinds = table.X.select_dtypes("category")
    numeric = table.X.columns.difference(kinds.columns)
    return {
        "bounds": dict.fromkeys(numeric, (0.0, 1.0)),
        "categories": {name: kinds[name].cat.categories.tolist() for name in kinds},
    }


def estimator_of(case: Case, table: Table) -> Any:
    """Return the forest of a case, unfitted."""
    if case.forest in PRIVATE:
        target = {"classes": np.arange(table.classes.max() + 1)}
        if is_regression(case.forest):
            target = {"target_bounds": (0.0, 4.0)}
        options = public(table) | target | PRIVATE_OPTIONS[case.options]
        return PRIVATE[case.forest](random_state=0, **options)
    # The default forest tries settings before it grows.
    options = {
        "n_estimators": 3 if case.forest in TUNED else 4,
        **OPTIONS[case.options],
    }
    options.pop("weights", None)
    if case.options == "large leaves" and case.forest in [*BAGGED, *TUNED]:
        options["min_samples_leaf"] = options.pop("min_samples_split") - 1
    if case.options == "rest of the rows" and case.forest in ("random-all", "range"):
        options["honest"] = True
    if case.forest in RULE:
        return RULE[case.forest](BestOfThree(), random_state=0, **options)
    return forest_of(case.forest, **options)
