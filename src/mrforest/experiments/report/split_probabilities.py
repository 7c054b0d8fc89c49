# SPDX-License-Identifier: BSD-3-Clause
"""The section of how forests pick a split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mrforest.experiments import split_probabilities as splits
from mrforest.experiments.report.contents import Plot, Section, Table, number
from mrforest.experiments.report.frames import of_one_form, settings_of
from mrforest.experiments.report.plots import COLOURS, axis, ordered, style_of

__all__ = ["section"]

# From a uniform draw to a nearly greedy one.
SHADES = ("grey", "cyan", "green", "purple", "blue")


def section(frame: pd.DataFrame) -> Section:
    """Show with which probability forests split a node where.

    Parameters
    ----------
    frame : DataFrame
        Results of `mrforest.experiments.split_probabilities`; may be empty.

    Returns
    -------
    Section
    """
    text = [
        "The paper's Figure 1 on real data: at the root of a dataset, with which "
        "probability does each forest split at which feature, and at which cut of the "
        "best feature? A greedy forest takes the best of what it looks at; the "
        "multinomial forest prefers what is good by as much as its budgets say."
    ]
    command = "mrforest reproduce split-probabilities"
    title = "Split probabilities"
    if frame.empty:
        return Section(title, text, command)
    frame, form = of_one_form(frame, splits.tasks)
    plots = [
        plot
        for dataset in frame["dataset"].unique()
        for plot in _plots(frame[frame["dataset"] == dataset], dataset)
    ]
    return Section(
        title,
        text,
        command,
        tables=[
            _table(splits.summary(frame[frame["dataset"] == dataset]), dataset)
            for dataset in frame["dataset"].unique()
        ],
        plots=plots,
        settings={"form": form}
        | settings_of(
            frame,
            {
                "dataset": "datasets",
                "forest": "forests",
                "n_draws": "draws",
                "seed": "seed",
            },
        ),
        amount=f"{len(frame)} forests",
    )


def _table(found: pd.DataFrame, dataset: str) -> Table:
    return Table(
        f"How much each forest keeps to the best: the root of {dataset}",
        ["forest", "best cut %", "best feature %", "decrease, of the largest %",
         "effective number of cuts"],
        [
            [
                row.forest,
                number(100 * row.best_cut),
                number(100 * row.best_feature),
                number(100 * row.expected_decrease, ".1f"),
                number(row.effective_cuts, ",.1f"),
            ]
            for row in found.itertuples()
        ],
    )  # fmt: skip


# ---- plots ---------------------------------------------------------------------------


class Curve(NamedTuple):
    """Probabilities of features or of cuts, and how to draw them."""

    name: str
    colour: str
    symbol: str
    chances: NDArray[np.float64]


def _plots(frame: pd.DataFrame, dataset: str) -> Iterator[Plot]:
    """Draw the multinomial forest by its budgets, then all forests."""
    forests = ordered(frame["forest"], splits.FORESTS)
    rows = {name: frame[frame["forest"] == name].iloc[0] for name in forests}
    tables = {name: splits.cuts_of(row) for name, row in rows.items()}
    # The cuts of a node and their decreases are the same for all forests.
    cuts = tables[forests[0]]
    best = splits.best_decreases(cuts)
    names = [rows[forests[0]]["feature_names"][feature] for feature in best.index]
    own = (cuts["feature"] == best.index[0]).to_numpy()
    decreases = cuts.loc[own, "decrease"].to_numpy()
    budgets = [
        (budget, COLOURS[shade])
        for budget, shade in zip(splits.BUDGETS, SHADES, strict=True)
    ]

    def over_features(which: str, curves: list[Curve]) -> Plot:
        figure = _figure(curves, names, best.to_numpy(), mode="lines+markers")
        figure["layout"]["yaxis"] |= axis("probability of the feature")
        title = f"{dataset}: which feature, {which}"
        return Plot(title, _summary(curves), figure, height=440)

    def over_cuts(which: str, curves: list[Curve], mode: str, **scale: str) -> Plot:
        place = cuts.loc[own, "threshold"].to_numpy()
        figure = _figure(curves, place, decreases, mode=mode)
        figure["layout"]["xaxis"] |= axis(f"cut of {names[0]}")
        figure["layout"]["yaxis"] |= axis("probability, given the feature", **scale)
        title = f"{dataset}: which cut of {names[0]}, {which}"
        return Plot(title, _summary(curves), figure, height=440)

    yield over_features(
        "for B1",
        [
            Curve(f"B1 = {budget:g}", colour, "circle",
                  splits.feature_probabilities(cuts, budget).to_numpy())
            for budget, colour in budgets
        ],
    )  # fmt: skip
    yield over_cuts(
        "for B2",
        [
            Curve(f"B2 = {budget:g}", colour, "circle",
                  splits.drawn_with(decreases, budget))
            for budget, colour in budgets
        ],
        mode="lines",
    )  # fmt: skip
    by_feature = [
        Curve(name, *style_of(name),
              table.groupby("feature")["probability"].sum()[best.index].to_numpy())
        for name, table in tables.items()
    ]  # fmt: skip
    yield over_features("all forests", by_feature)
    by_cut = [
        Curve(name, *style_of(name), _given(table.loc[own, "probability"].to_numpy()))
        for name, table in tables.items()
    ]
    # One forest has a single cut, another a thousand: dots on a logarithmic scale.
    yield over_cuts("all forests", by_cut, mode="markers", type="log")


def _given(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities given that one of these is picked; NaN for what never is."""
    picked: NDArray[np.float64] = np.where(chances > 0, chances, np.nan)
    return picked / chances.sum() if chances.any() else picked


def _summary(curves: list[Curve]) -> str:
    told = ", ".join(
        f"{curve.name}: {100 * np.nanmax(curve.chances):.1f} %"
        for curve in curves
        if not np.isnan(curve.chances).all()
    )
    return f"Largest probabilities: {told}. Shaded: impurity decrease."


def _figure(
    curves: list[Curve], places: Any, decreases: Any, *, mode: str
) -> dict[str, Any]:
    """Draw probabilities over what can be drawn, and behind them the decreases."""
    shade = {
        "type": "scatter",
        "name": "impurity decrease",
        "x": places,
        "y": decreases,
        "yaxis": "y2",
        "mode": "lines",
        "fill": "tozeroy",
        "line": {"width": 0},
        "fillcolor": "rgba(125, 135, 148, 0.22)",
        "hovertemplate": "%{y:.4f}",
    }
    lines = [
        {
            "type": "scatter",
            "mode": mode,
            "name": curve.name,
            "x": places,
            "y": curve.chances,
            "line": {"color": curve.colour, "width": 2},
            "marker": {"symbol": curve.symbol, "size": 6, "color": curve.colour},
            "hovertemplate": "%{x}: %{y:.3g}",
        }
        for curve in curves
    ]
    layout: dict[str, Any] = {
        "xaxis": {},
        # The decreases have a scale of their own, without ticks, behind the lines.
        "yaxis": {"overlaying": "y2", "rangemode": "tozero", "tickmode": "auto"},
        "yaxis2": {"visible": False, "rangemode": "tozero", "side": "right"},
    }
    return {"data": [shade, *lines], "layout": layout}
