# SPDX-License-Identifier: BSD-3-Clause
"""The parts of accuracy.py: tables, forests that are fitted to them, and measures."""

from __future__ import annotations

from dataclasses import dataclass

from accuracy_forests import BASE, OURS
from accuracy_tables import (
    LARGE_PROBLEMS,
    REGRESSION_PROBLEMS,
    SMALL_PROBLEMS,
    Problem,
)


@dataclass(frozen=True)
class Measure:
    """Something that is measured on each fold.

    Attributes
    ----------
    title : str
        What it is called in a table.
    digits : int or None
        That are shown behind the point; None: four count.
    factor : int
        What it is shown in: 100 for per cent.
    is_error : bool
        Whether less is better.
    is_ratio : bool
        Whether forests are compared by their ratio, for tables differ in the size of
        the numbers. Else by their difference.
    """

    title: str
    digits: int | None
    factor: int = 1
    is_error: bool = False
    is_ratio: bool = False


MEASURES = {
    "accuracy": Measure("Accuracy (%)", 2, factor=100),
    "log_loss": Measure("Log loss", 4, is_error=True, is_ratio=True),
    "brier": Measure("Brier score", 4, is_error=True),
    "ece": Measure("Expected calibration error (%)", 2, factor=100, is_error=True),
    "r2": Measure("R²", 4),
    "rmse": Measure("RMSE", None, is_error=True, is_ratio=True),
}


@dataclass(frozen=True)
class Part:
    """One of the comparisons.

    Attributes
    ----------
    title : str
    problems : dict
        Tables by name.
    forests : tuple of str
        Ours first.
    measures : tuple of str
        The first says which forest is better, the second is drawn beside it.
    quick : tuple of str
        Tables of a quick run, of which one shuffle is done.
    is_regression : bool
    """

    title: str
    problems: dict[str, Problem]
    forests: tuple[str, ...]
    measures: tuple[str, ...]
    quick: tuple[str, ...]
    is_regression: bool = False


PARTS = {
    "small": Part(
        "Small tables",
        SMALL_PROBLEMS,
        (OURS, "breiman", "mrf", BASE, "extra-trees"),
        ("accuracy", "log_loss", "brier", "ece"),
        ("zoo", "wdbc", "cmc", "car"),
    ),
    "large": Part(
        "Large tables",
        LARGE_PROBLEMS,
        (OURS, BASE, "extra-trees", "intelex", "fastforest"),
        ("accuracy", "log_loss", "brier"),
        ("spambase", "pendigits"),
    ),
    "regression": Part(
        "Regression",
        REGRESSION_PROBLEMS,
        (OURS, "breiman", BASE, "extra-trees", "fastforest"),
        ("r2", "rmse"),
        ("diabetes", "friedman-1"),
        is_regression=True,
    ),
}
