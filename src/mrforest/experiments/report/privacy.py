# SPDX-License-Identifier: BSD-3-Clause
"""The section of the paper's privacy table."""

from __future__ import annotations

from typing import Any

import pandas as pd

from mrforest.experiments import privacy_table
from mrforest.experiments.report.contents import Plot, Section, Table, number
from mrforest.experiments.report.frames import (
    amount,
    of_one_form,
    settings_of,
    with_columns,
)
from mrforest.experiments.report.plots import COLOURS, axis, ordered

__all__ = ["section"]

MEASURES = ("accuracy", "tree_accuracy", "depth")


def section(frame: pd.DataFrame) -> Section:
    """Show the printed mechanism beside a forest that is private.

    Parameters
    ----------
    frame : DataFrame
        Results of `mrforest.experiments.privacy_table`; may be empty.

    Returns
    -------
    Section
    """
    text = [
        "The paper prints accuracies for privacy budgets B3, with B1 = B2 = B3 / 20, "
        "and says that they are those of one tree. They are near those of 100 trees "
        "that vote, for which its Theorem 2 counts 100 times as much.",
        "Whatever the sum, the printed mechanism is not differentially private: its "
        "cuts come from the rows, and trees end where exact counts say so. The private "
        "forest of this package is; its bounds, categories and classes are declared, "
        "and its ledger accounts for every draw.",
    ]
    command = "mrforest reproduce privacy"
    title = "Privacy"
    if frame.empty:
        return Section(title, text, command)
    frame, form = of_one_form(with_columns(frame, MEASURES), privacy_table.tasks)
    found = privacy_table.summary(frame)
    return Section(
        title,
        text,
        command,
        tables=[_table(found), _epsilons(frame)],
        plots=[
            _plot(frame[frame["dataset"] == name], found[found["dataset"] == name])
            for name in ordered(frame["dataset"], privacy_table.DATASETS)
        ],
        settings={"form": form}
        | settings_of(
            frame,
            {
                "dataset": "datasets",
                "model": "models",
                "label_budget": "B3",
                "epsilon": "epsilon of the private forest",
                "n_trees": "trees",
                "repetition": "repetitions",
                "fold": "folds",
            },
        ),
        amount=amount(frame, "fits"),
    )


def _table(found: pd.DataFrame) -> Table:
    return Table(
        "Accuracy in per cent. One tree and the vote are the printed mechanism; "
        "claimed is what Theorem 2 takes the vote for, from which no privacy follows; "
        "private is the private forest at that epsilon, and at 1",
        ["dataset", "B3", "printed", "one tree", "vote", "claimed epsilon",
         "private, as claimed", "private, 1", "not private", "majority class"],
        [
            [
                row.dataset,
                number(row.label_budget, "g"),
                number(row.printed),
                number(row.one_tree),
                number(row.vote),
                number(row.claimed_vote, ",g"),
                number(row.private_claimed),
                number(row.private_1),
                number(row.not_private),
                number(row.majority_class),
            ]
            for row in found.itertuples()
        ],
    )  # fmt: skip


def _private(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy of the private forest and its standard error, by epsilon."""
    own = frame[frame["model"] == privacy_table.PRIVATE]
    return own.groupby("epsilon")["accuracy"].agg(["mean", "sem"])


def _epsilons(frame: pd.DataFrame) -> Table:
    names = ordered(frame["dataset"], privacy_table.DATASETS)
    found = {name: _private(frame[frame["dataset"] == name])["mean"] for name in names}
    epsilons = sorted(set().union(*(means.index for means in found.values())))
    return Table(
        "Accuracy in per cent of the private forest by epsilon",
        ["epsilon", *names],
        [
            [f"{epsilon:,g}", *(number(found[name].get(epsilon)) for name in names)]
            for epsilon in epsilons
        ],
        is_folded=True,
    )


def _plot(frame: pd.DataFrame, found: pd.DataFrame) -> Plot:
    private = _private(frame)
    last = found.iloc[-1]
    curves = [
        _curve("private forest", private.index, private["mean"], "blue", "circle",
               error_y={"array": private["sem"].fillna(0), "width": 3}),
        _curve("printed, vote", found["claimed_vote"], found["vote"], "red",
               "square-open"),
        _curve("printed, one tree", found["label_budget"], found["one_tree"],
               "orange", "triangle-up-open"),
        _curve("paper's table", found["claimed_vote"], found["printed"], "grey", "x"),
    ]  # fmt: skip
    bounds = {"not private": last.not_private, "majority class": last.majority_class}
    levels = {name: level for name, level in bounds.items() if pd.notna(level)}
    known = levels | {
        f"private forest at epsilon {epsilon:g}": mean
        for epsilon, mean in private["mean"].items()
        if epsilon == 1
    }
    told = ", ".join(f"{name}: {level:.1f} %" for name, level in known.items())
    layout = {
        "xaxis": axis("epsilon, proved or claimed", type="log", dtick=1),
        "yaxis": axis("accuracy (%)"),
        "shapes": [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y}
            for y in levels.values()
        ],
        "annotations": [
            {"text": name, "xref": "paper", "x": 0, "y": y, "xanchor": "left",
             "yanchor": "bottom"}
            for name, y in levels.items()
        ],
    }  # fmt: skip
    return Plot(
        str(last.dataset),
        f"Accuracies: {told or 'few yet'}. Hollow: not private, whatever epsilon.",
        {"data": curves, "layout": layout},
        height=440,
    )


def _curve(
    name: str, x: Any, y: Any, colour: str, symbol: str, **options: Any
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": x,
        "y": y,
        "line": {"color": COLOURS[colour]},
        "marker": {"symbol": symbol, "size": 9},
        "hovertemplate": "epsilon %{x:,}<br>%{y:.2f} %",
        **options,
    }
