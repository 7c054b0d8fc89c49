# SPDX-License-Identifier: BSD-3-Clause
"""Parameter constraints: the one place that reaches for scikit-learn's helpers."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from mrforest._sklearn import (
    CallbackSupportMixin,
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    fit_context,
)

__all__ = [
    "AT_LEAST_ONE",
    "BAG",
    "BINS",
    "BUDGET",
    "CLASSIFIER",
    "CRITERION",
    "FOREST",
    "HONEST",
    "LEAVES",
    "MAX_FEATURES",
    "MIN_WEIGHT",
    "PROBABILITY",
    "CallbackSupportMixin",
    "Constraints",
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "count_features",
    "fit_context",
]

Constraints = dict[str, list[Any]]
BUDGET = [Interval(Real, 0, None, closed="both")]  # inf is a budget
PROBABILITY = [Interval(Real, 0, 1, closed="both")]
MIN_WEIGHT = [Interval(Real, 0, 0.5, closed="both")]
AT_LEAST_ONE = [Interval(Integral, 1, None, closed="left")]

# Of every forest
FOREST: Constraints = {
    "n_estimators": AT_LEAST_ONE,
    "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}

# Of forests that stop by the number of points in a node
LEAVES: Constraints = {
    "min_samples_leaf": AT_LEAST_ONE,
    "leaf_rule": [StrOptions({"stop", "floor"})],
    "min_weight_fraction_leaf": MIN_WEIGHT,
    "max_depth": [*AT_LEAST_ONE, None],
}

# Of forests that cut codes
BINS: Constraints = {
    "max_bins": [Interval(Integral, 2, 255, closed="both"), StrOptions({"exact"})],
}

CLASSIFIER: Constraints = {
    "voting": [StrOptions({"hard", "soft"})],
    "class_weight": [dict, StrOptions({"balanced"}), None],
}

CRITERION: Constraints = {"criterion": [StrOptions({"gini", "entropy"})]}

HONEST: Constraints = {
    "partition_rate": [Interval(Real, 0, None, closed="neither")],
}

MAX_FEATURES: Constraints = {
    "max_features": [
        StrOptions({"sqrt", "log2"}),
        *AT_LEAST_ONE,
        Interval(RealNotInt, 0, 1, closed="right"),
        None,
    ],
}

BAG: Constraints = {"oob_score": ["boolean", callable]}


def count_features(max_features: str | float | None, n_features: int) -> int:
    """How many features `max_features` means, of so many; at least one."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return math.isqrt(n_features)
    if max_features == "log2":
        return max(1, n_features.bit_length() - 1)
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(1, int(float(max_features) * n_features))
