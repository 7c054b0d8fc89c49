# SPDX-License-Identifier: BSD-3-Clause
"""Parameter constraints: the one place that reaches for scikit-learn's helpers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import Interval, StrOptions

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # pragma: no cover

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for the callbacks that older versions do not have."""

        _skl_callbacks: ClassVar[list[Any]] = []


__all__ = [
    "BUDGET",
    "COMMON_CONSTRAINTS",
    "HONEST_CONSTRAINTS",
    "CallbackSupportMixin",
    "fit_context",
]

BUDGET = [Interval(Real, 0, None, closed="both")]  # inf is a budget

COMMON_CONSTRAINTS: dict[str, list[Any]] = {
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
    "leaf_rule": [StrOptions({"stop", "floor"})],
    "criterion": [StrOptions({"gini", "entropy"})],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "max_bins": [Interval(Integral, 2, 255, closed="both"), StrOptions({"exact"})],
    "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    "voting": [StrOptions({"hard", "soft"})],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}

HONEST_CONSTRAINTS: dict[str, list[Any]] = {
    "partition_rate": [Interval(Real, 0, None, closed="neither")],
}
