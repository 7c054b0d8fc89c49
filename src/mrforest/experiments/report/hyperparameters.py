# SPDX-License-Identifier: BSD-3-Clause
"""The section of the budgets B1 and B2."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mrforest.experiments import hyperparameters
from mrforest.experiments._panels import PAPER_NAMES, SIX, present
from mrforest.experiments.report.contents import Figure, Plot, Section, Table, number
from mrforest.experiments.report.frames import amount, of_one_form, settings_of
from mrforest.experiments.report.plots import HEAT, axis

__all__ = ["section"]

DEFAULT = hyperparameters.DEFAULT


def section(frame: pd.DataFrame) -> Section:
    """Show the accuracy of the multinomial forest over its two budgets.

    Parameters
    ----------
    frame : DataFrame
        Results of `mrforest.experiments.hyperparameters`; may be empty.

    Returns
    -------
    Section
    """
    text = [
        "The multinomial forest draws a feature with budget B1 and a cut with budget "
        "B2: 0 draws uniformly, a large budget takes the best. The paper runs both at "
        "10 everywhere, and shows these six datasets over [0, 20]."
    ]
    command = "mrforest reproduce hyperparameters"
    title = "Hyper-parameters"
    if frame.empty:
        return Section(title, text, command)
    frame, form = of_one_form(frame, hyperparameters.tasks)
    found = hyperparameters.summary(frame)
    return Section(
        title,
        [*text, *_found(found)],
        command,
        tables=[_table(found)],
        plots=[_plot(frame, name) for name in present(frame["dataset"], SIX)],
        settings={"form": form}
        | settings_of(
            frame,
            {
                "dataset": "datasets",
                "feature_budget": "B1",
                "split_budget": "B2",
                "n_trees": "trees",
                "n_folds": "folds asked about",
                "repetition": "repetitions",
            },
        ),
        amount=amount(frame, "cross-validations"),
    )


def _found(found: pd.DataFrame) -> list[str]:
    """Say in a sentence what the budgets change, where the cells for it are there."""
    gains = found[["best", "default", "split_budget_gain", "feature_budget_gain"]]
    gains = gains.dropna()
    if gains.empty:
        return []
    b1, b2 = gains["feature_budget_gain"], gains["split_budget_gain"]
    loss = (gains["best"] - gains["default"]).max()
    return [
        f"B1 = B2 = 10 is at most {loss:.2f} points "
        f"below the best cell. From 0 to 10, B2 gains {b2.min():+.2f} to "
        f"{b2.max():+.2f} points, B1 {b1.min():+.2f} to {b1.max():+.2f}."
    ]


def _table(found: pd.DataFrame) -> Table:
    return Table(
        "Accuracy in per cent, and what the budgets change",
        ["dataset", "at 10, 10", "best", "best B1", "best B2", "at 0, 0",
         "gain of B1", "gain of B2", "range above 10", "error of a difference"],
        [
            [
                PAPER_NAMES.get(row.dataset, row.dataset),
                number(row.default),
                number(row.best),
                number(row.best_feature_budget, "g"),
                number(row.best_split_budget, "g"),
                number(row.uniform),
                number(row.feature_budget_gain, "+.2f"),
                number(row.split_budget_gain, "+.2f"),
                number(row.plateau_range),
                number(row.gap_error),
            ]
            for row in found.itertuples()
        ],
    )  # fmt: skip


def _plot(frame: pd.DataFrame, name: str) -> Plot:
    grid = hyperparameters.surface(frame, name)
    best = np.unravel_index(np.nanargmax(grid.to_numpy()), grid.shape)
    b1, b2 = grid.index[best[0]], grid.columns[best[1]]
    return Plot(
        PAPER_NAMES.get(name, name),
        f"Best: {grid.iloc[best]:.2f} % at B1 = {b1:g}, B2 = {b2:g} (star). Square: "
        "B1 = B2 = 10, the paper's choice.",
        _figure(grid, b1, b2),
    )


def _figure(grid: pd.DataFrame, b1: float, b2: float) -> Figure:
    heat = {
        "type": "heatmap",
        "x": grid.columns,
        "y": grid.index,
        "z": grid.to_numpy(),
        "colorscale": HEAT,
        "colorbar": {"thickness": 12, "ticksuffix": " %"},
        "hovertemplate": "B1 = %{y}<br>B2 = %{x}<br>%{z:.2f} %<extra></extra>",
    }
    marks = {
        "type": "scatter",
        "mode": "markers",
        "x": [DEFAULT, b2],
        "y": [DEFAULT, b1],
        "marker": {
            "symbol": ["square-open", "star"],
            "size": [18, 14],
            "color": "#ffffff",
            "line": {"color": ["#ffffff", "#000000"], "width": [3, 1]},
        },
        "hoverinfo": "skip",
    }
    layout = {
        "xaxis": axis("B2, budget of the cut", constrain="domain"),
        "yaxis": axis("B1, budget of the feature"),
        "showlegend": False,
    }
    return {"data": [heat, marks], "layout": layout}
