# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of the multinomial forest over its budgets B1 and B2: the paper's surfaces.

All cells of a dataset have the same folds and seeds, so that they differ by the budgets
alone. The large datasets are asked about fewer folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mrforest.experiments._folds import cut
from mrforest.experiments._panels import PAPER_NAMES, SIX, panels, present
from mrforest.forests.multinomial import MultinomialForestClassifier

__all__ = ["EXPERIMENT", "budgets", "draw", "measure", "summary", "surface", "tasks"]

EXPERIMENT = "hyperparameters"

LARGEST = 20.0  # the paper's range begins at 0 and ends here
DEFAULT = 10.0  # the paper's B1 and B2 in all other experiments
STEP, QUICK_STEP = 2.0, 5.0
# Dataset: repetitions, and folds of each that are asked about.
FULL = {
    "echocardiogram": (10, 10), "cmc": (5, 10), "ads": (1, 5), "wdbc": (4, 10),
    "car": (8, 10), "connect-4": (1, 3),
}  # fmt: skip
QUICK = {
    "echocardiogram": (2, 10), "cmc": (1, 10), "ads": (1, 1), "wdbc": (1, 5),
    "car": (1, 10), "connect-4": (1, 1),
}  # fmt: skip
N_TREES = 100
QUICK_TREES = {"ads": 50, "connect-4": 30}


def budgets(step: float = STEP) -> list[float]:
    """Return the values that each of the two budgets takes.

    Parameters
    ----------
    step : float
        From one to the next. It must meet the paper's 10 and 20.

    Returns
    -------
    list of float

    Examples
    --------
    >>> budgets(5)
    [0.0, 5.0, 10.0, 15.0, 20.0]
    """
    n_steps = round(DEFAULT / step) if step > 0 else 0
    if n_steps < 1 or not np.isclose(n_steps * step, DEFAULT):
        raise ValueError(
            f"step={step!r} must be 10 divided by a whole number, such as 2 or 2.5"
        )
    return [float(value) for value in np.linspace(0, LARGEST, 2 * n_steps + 1)]


def tasks(
    *,
    quick: bool = False,
    step: float | None = None,
    datasets: Sequence[str] = SIX,
) -> list[dict[str, Any]]:
    """Return the settings of all that is to be measured.

    Parameters
    ----------
    quick : bool, default=False
        Whether a coarse grid, few folds and, on large datasets, few trees do.
    step : float, default=None
        From one budget to the next; None: 2, or 5 if `quick`.
    datasets : sequence of str
        Names of datasets; default: the six of the paper's figure.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from mrforest.experiments import hyperparameters
    >>> len(hyperparameters.tasks(quick=True)), len(hyperparameters.tasks())
    (175, 3509)
    >>> sorted(hyperparameters.tasks()[0])[:4]
    ['dataset', 'feature_budget', 'n_folds', 'n_trees']
    """
    values = budgets(step or (QUICK_STEP if quick else STEP))
    plan = QUICK if quick else FULL
    return [
        {
            "dataset": dataset,
            "feature_budget": feature_budget,
            "split_budget": split_budget,
            "n_trees": QUICK_TREES.get(dataset, N_TREES) if quick else N_TREES,
            "n_folds": plan.get(dataset, (1, 10))[1],
            "repetition": repetition,
        }
        for dataset in datasets
        for repetition in range(plan.get(dataset, (1, 10))[0])
        for feature_budget in values
        for split_budget in values
    ]


def measure(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Fit the forest to the folds of one shuffle.

    Parameters
    ----------
    settings : mapping
        One of `tasks`.

    Returns
    -------
    dict
        `accuracy`, in per cent, the mean over the folds; `fold_accuracies`.

    Examples
    --------
    >>> from mrforest.experiments import hyperparameters
    >>> task = hyperparameters.tasks(quick=True, datasets=["wdbc"])[0]
    >>> found = hyperparameters.measure({**task, "n_trees": 5, "n_folds": 3})
    >>> len(found["fold_accuracies"]), found["accuracy"] > 80
    (3, True)
    """
    accuracies = []
    for number in range(settings["n_folds"]):
        fold = cut(settings["dataset"], settings["repetition"], number)
        forest = MultinomialForestClassifier(
            settings["n_trees"],
            feature_budget=settings["feature_budget"],
            split_budget=settings["split_budget"],
            max_bins="exact",
            categorical_features=fold.is_categorical,
            random_state=settings["repetition"],
            n_jobs=1,
        )
        accuracies.append(fold.accuracy(fold.fit(forest)))
    return {"accuracy": float(np.mean(accuracies)), "fold_accuracies": accuracies}


# ---- what was found ------------------------------------------------------------------


def surface(frame: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the mean accuracies of one dataset as a grid.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.
    dataset : str
        Its name.

    Returns
    -------
    DataFrame
        B1 down, B2 across, both ascending.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import hyperparameters
    >>> wanted = [
    ...     {**task, "n_trees": 5, "n_folds": 2}
    ...     for task in hyperparameters.tasks(quick=True, step=10, datasets=["wdbc"])
    ... ]
    >>> frame = pd.DataFrame({**w, **hyperparameters.measure(w)} for w in wanted)
    >>> grid = hyperparameters.surface(frame, "wdbc")
    >>> grid.index.tolist(), grid.columns.tolist()
    ([0.0, 10.0, 20.0], [0.0, 10.0, 20.0])
    """
    return frame[frame["dataset"] == dataset].pivot_table(
        index="feature_budget", columns="split_budget", values="accuracy"
    )


def gap_error(frame: pd.DataFrame, dataset: str) -> float:
    """Return the standard error of the difference of two cells, typically.

    Cells share their folds, so differences are taken fold by fold, of each cell to the
    default. The median over the cells of their standard errors is returned; NaN if
    there is a single fold.
    """
    own = frame[frame["dataset"] == dataset]
    folds = own.explode("fold_accuracies").astype({"fold_accuracies": float})
    keys = ["feature_budget", "split_budget", "repetition"]
    folds["fold"] = folds.groupby(keys).cumcount()
    table = folds.pivot_table(
        index=["repetition", "fold"], columns=keys[:2], values="fold_accuracies"
    )
    if (DEFAULT, DEFAULT) not in table or len(table) < 2:
        return float("nan")
    gaps = table.sub(table[DEFAULT, DEFAULT], axis=0)
    return float(gaps.drop(columns=[(DEFAULT, DEFAULT)]).sem().median())


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Tell what the budgets change.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    DataFrame
        One row for each dataset, in per cent: accuracy at B1 = B2 = 10 (`default`), of
        the `best` cell, its budgets, and at B1 = B2 = 0 (`uniform`); what B1 gains from
        0 to 10 where B2 is 10, and B2 where B1 is 10; the difference of the best and
        the worst cell where both are 10 or more (`plateau_range`); the typical standard
        error of a difference of two cells (`gap_error`). Cells that were not measured
        are NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import hyperparameters
    >>> wanted = [
    ...     {**task, "n_trees": 5, "n_folds": 2}
    ...     for task in hyperparameters.tasks(quick=True, step=10, datasets=["wdbc"])
    ... ]
    >>> frame = pd.DataFrame({**w, **hyperparameters.measure(w)} for w in wanted)
    >>> found = hyperparameters.summary(frame).loc[0]
    >>> print(found["dataset"], found["best"] >= found["default"])
    wdbc True
    """
    rows = []
    for name in present(frame["dataset"], SIX):
        grid = surface(frame, name)
        feature_budget, split_budget = grid.stack().idxmax()
        default = _at(grid, DEFAULT, DEFAULT)
        plateau = grid.loc[grid.index >= DEFAULT, grid.columns >= DEFAULT].to_numpy()
        rows.append(
            {
                "dataset": name,
                "default": default,
                "best": float(grid.to_numpy().max()),
                "best_feature_budget": feature_budget,
                "best_split_budget": split_budget,
                "uniform": _at(grid, 0.0, 0.0),
                "feature_budget_gain": default - _at(grid, 0.0, DEFAULT),
                "split_budget_gain": default - _at(grid, DEFAULT, 0.0),
                "plateau_range": float(np.ptp(plateau)) if plateau.size else np.nan,
                "gap_error": gap_error(frame, name),
            }
        )
    return pd.DataFrame(rows)


def _at(grid: pd.DataFrame, feature_budget: float, split_budget: float) -> float:
    """Accuracy of a cell; NaN if it was not measured."""
    cells = grid.reindex(index=[feature_budget], columns=[split_budget])
    return float(cells.iloc[0, 0])


def draw(frame: pd.DataFrame) -> Figure:
    """Draw one heat map for each dataset.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved. Every panel has colours of its own, because datasets
        differ far more than budgets do.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import hyperparameters
    >>> wanted = [
    ...     {**task, "n_trees": 5, "n_folds": 2}
    ...     for task in hyperparameters.tasks(quick=True, step=10, datasets=["wdbc"])
    ... ]
    >>> frame = pd.DataFrame({**w, **hyperparameters.measure(w)} for w in wanted)
    >>> hyperparameters.draw(frame).axes[0].get_xlabel()
    'B2, budget of the cut'
    """
    names = present(frame["dataset"], SIX)
    n_columns = min(3, len(names))
    n_rows = -(-len(names) // n_columns)
    figure, axes = panels(n_rows, n_columns, width=5.4, height=4.9)
    for panel, name in zip(axes, names, strict=False):
        _draw_surface(figure, panel, PAPER_NAMES.get(name, name), surface(frame, name))
    for panel in axes[len(names) :]:
        panel.set_visible(False)
    figure.suptitle(
        "Accuracy (%) of the multinomial forest over its budgets.  "
        "Star: best cell.  Square: B1 = B2 = 10, as in the paper",
        fontweight="bold",
    )
    return figure


def _draw_surface(figure: Figure, axes: Axes, name: str, grid: pd.DataFrame) -> None:
    """Colours and numbers of the cells, with the best one and the default marked."""
    values = grid.to_numpy()
    image = axes.imshow(values, origin="lower", cmap="cividis", aspect="auto")
    figure.colorbar(image, ax=axes, pad=0.02)
    size = 9 if len(grid) <= 6 else 6.2
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    best = np.unravel_index(np.nanargmax(values), values.shape)
    for (row, column), value in np.ndenumerate(values):
        colour = "black" if value > middle else "white"
        is_best = (row, column) == best
        axes.text(
            column, row, f"{value:.1f}", color=colour, ha="center", fontsize=size,
            va="top" if is_best else "center",
        )  # fmt: skip
        if is_best:
            axes.plot(column, row + 0.22, "*", color=colour, markersize=size)
    for budget, labels in ((grid.columns, "x"), (grid.index, "y")):
        getattr(axes, f"set_{labels}ticks")(
            range(len(budget)), [f"{value:g}" for value in budget]
        )
    if DEFAULT in grid.index and DEFAULT in grid.columns:
        row, column = grid.index.get_loc(DEFAULT), grid.columns.get_loc(DEFAULT)
        axes.plot(
            [column - 0.47, column + 0.47, column + 0.47, column - 0.47, column - 0.47],
            [row - 0.47, row - 0.47, row + 0.47, row + 0.47, row - 0.47],
            color="#D55E00", linewidth=2,
        )  # fmt: skip
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set(
        title=name, xlabel="B2, budget of the cut", ylabel="B1, budget of the feature"
    )
