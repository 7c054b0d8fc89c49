# SPDX-License-Identifier: BSD-3-Clause
"""The section of Table 1: accuracies beside those that the paper prints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from mrforest.experiments import stats, table1
from mrforest.experiments.protocol import CONSISTENT, LEAF_RULES, PAPER
from mrforest.experiments.report.contents import Cell, Plot, Section, Table, number
from mrforest.experiments.report.frames import amount, of_one_kind, settings_of
from mrforest.experiments.report.plots import axis, identity_line, style_of

__all__ = ["section"]

# Results that differ in these are not averaged.
KIND = ("n_estimators", "min_samples_leaf", "stratified", "seed")
MARKS = {("MRF", 1): "†", ("Breiman", -1): "•"}
# Points of a difference that have the full colour.
STRONG = 5.0
RULES = {
    "stop": "a node with at most k estimation points is not split; what the authors "
    "ran",
    "floor": "no leaf has fewer than k estimation points; what Theorem 1 covers",
}
MEASURES = {
    "log_loss": "log loss",
    "brier": "Brier score",
    "fit_seconds": "fit s",
    "predict_seconds": "predict s",
    "leaves": "leaves",
    "depth": "depth",
}


def section(frame: pd.DataFrame) -> Section:
    """Show accuracies, differences from the printed ones, ranks and all measures.

    Parameters
    ----------
    frame : DataFrame
        Results of `mrforest.experiments.table1`, one fold a row; may be empty.

    Returns
    -------
    Section
    """
    text = [
        "Accuracy of the paper's forests on its 22 datasets. Its protocol is ten times "
        "ten-fold cross-validation with 100 trees, k = 5, Gini; B1 = B2 = 10 for the "
        "multinomial forest, MRF. All forests are grown by the same rule for leaves, "
        "once by each of the two that can be meant: "
        + "; ".join(f"“{rule}”: {meaning}" for rule, meaning in RULES.items())
        + "."
    ]
    command = "mrforest reproduce table1"
    title = "Table 1: accuracy"
    if frame.empty:
        return Section(title, text, command)
    frame = of_one_kind(frame, KIND)
    text.append(_extent(frame))
    tables, plots = [], []
    for rule in LEAF_RULES:
        means = table1.accuracies(frame, rule)
        if means.columns.intersection(list(PAPER)).empty:
            continue
        text += _found(means, rule)
        winners = table1.compared(frame, rule)["winner"]
        tables += [_accuracies(means, winners, rule), _differences(means, rule)]
        plots += [_against_printed(means, rule), *_ranks(means, rule)]
    return Section(
        title,
        text,
        command,
        [*tables, _measures(frame)],
        plots,
        settings=settings_of(
            frame,
            {
                "dataset": "datasets",
                "forest": "forests",
                "leaf_rule": "rules for leaves",
                "n_estimators": "trees",
                "min_samples_leaf": "k",
                "repetition": "repetitions",
                "fold": "folds",
                "stratified": "stratified",
                "seed": "seed",
            },
        ),
        amount=amount(frame, "folds"),
    )


def _extent(frame: pd.DataFrame) -> str:
    """Say how much of the protocol was run."""
    n_folds = frame.groupby(["dataset", "forest", "leaf_rule"]).size()
    low, high = n_folds.min(), n_folds.max()
    folds = f"{high}" if low == high else f"{low} to {high}"
    return f"Shown here: {folds} folds of {frame['dataset'].nunique()} datasets."


def _found(means: pd.DataFrame, rule: str) -> list[str]:
    """Say in a sentence what the table shows, if MRF is in it."""
    known = means.reindex(columns=list(PAPER)).dropna()
    gap = (means - table1.printed())["MRF"].dropna()
    said = []
    if len(known):
        n_best = int((known[list(CONSISTENT)].idxmax(axis=1) == "MRF").sum())
        n_over = int((known["MRF"] > known["Breiman"]).sum())
        said.append(
            f"MRF is the best of the consistent forests on {n_best} of {len(known)} "
            f"datasets and above Breiman's on {n_over}"
        )
    if len(gap):
        said.append(
            f"MRF is off its printed accuracy by {gap.abs().median():.2f} points in "
            f"the median, {gap.abs().max():.2f} at most ({gap.abs().idxmax()})"
        )
    return [f"Under “{rule}”, {'; '.join(said)}."] if said else []


# ---- tables --------------------------------------------------------------------------


def _accuracies(means: pd.DataFrame, winners: pd.Series, rule: str) -> Table:
    best = means.reindex(columns=list(CONSISTENT)).max(axis=1)

    def cell(name: Any, forest: str) -> Cell:
        value = means.loc[name, forest]
        return number(
            value,
            mark=MARKS.get((forest, winners.get(name)), ""),
            is_best=forest in CONSISTENT and bool(value == best[name]),
        )

    # As in the paper, among its own forests.
    ranks = stats.average_ranks(table1.complete(means))
    printed = dict(zip(PAPER, table1.PRINTED_RANKS, strict=True))
    return Table(
        f"Mean accuracy in per cent, leaf rule “{rule}”. Bold: the best consistent "
        "forest. † MRF, • Breiman's forest is significantly better than the other "
        "(Wilcoxon, 0.05)",
        ["dataset", *means],
        [
            [str(name), *(cell(name, forest) for forest in means)]
            for name in means.index
        ],
        foot=[
            ["average rank", *(number(ranks.get(forest)) for forest in means)],
            [
                "the same, printed",
                *(number(printed.get(forest), ".1f") for forest in means),
            ],
        ],
    )


def _differences(means: pd.DataFrame, rule: str) -> Table:
    printed = table1.printed().reindex(means.index)
    forests = [forest for forest in PAPER if forest in means]

    def cell(name: Any, forest: str) -> Cell:
        ours, theirs = means.loc[name, forest], printed.loc[name, forest]
        gap = ours - theirs
        return number(
            gap,
            "+.2f",
            note=f"{ours:.2f} / {theirs:.2f}" if pd.notna(gap) else "",
            tone=gap / STRONG if pd.notna(gap) else 0.0,
        )

    gaps = (means[forests] - printed[forests]).abs().median()
    return Table(
        f"Ours less printed, in points, leaf rule “{rule}”. Below: ours / printed",
        ["dataset", *forests],
        [
            [str(name), *(cell(name, forest) for forest in forests)]
            for name in means.index
        ],
        foot=[["median distance", *(number(gaps[forest]) for forest in forests)]],
    )


def _measures(frame: pd.DataFrame) -> Table:
    found = table1.long_table(frame)
    return Table(
        "All measures of each dataset, forest and leaf rule: means over folds",
        ["dataset", "forest", "leaf rule", "folds", "accuracy %", "printed",
         "difference", "p", *MEASURES.values()],
        [
            [
                row.dataset,
                row.forest,
                row.leaf_rule,
                number(row.folds, "d"),
                number(
                    row.accuracy,
                    note="" if pd.isna(row.deviation) else f"± {row.deviation:.2f}",
                ),
                number(row.printed),
                number(row.difference, "+.2f"),
                number(row.p, ".3f"),
                *(number(getattr(row, name), ".3g") for name in MEASURES),
            ]
            for row in found.itertuples()
        ],
        is_folded=True,
    )  # fmt: skip


# ---- plots ---------------------------------------------------------------------------


def _against_printed(means: pd.DataFrame, rule: str) -> Plot:
    printed = table1.printed().reindex(means.index)
    dots = []
    for forest in [forest for forest in PAPER if forest in means]:
        colour, symbol = style_of(forest)
        dots.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": forest,
                "x": printed[forest],
                "y": means[forest],
                "text": means.index,
                "marker": {"color": colour, "symbol": symbol, "size": 9},
                "hovertemplate": "%{text}<br>printed %{x:.2f}<br>ours %{y:.2f}",
            }
        )
    both = np.concatenate([np.concatenate([dot["x"], dot["y"]]) for dot in dots])
    low, high = np.nanmin(both) - 2, min(100.0, np.nanmax(both)) + 1
    layout = {
        "xaxis": axis("printed accuracy (%)", range=[low, high], dtick=10),
        "yaxis": axis("our accuracy (%)", range=[low, high], dtick=10),
        "shapes": [identity_line(low, high)],
    }
    return Plot(
        f"Ours against printed, “{rule}”",
        "A dot is a dataset; on the broken line both are the same. A click on a name "
        "hides it, a double click hides the others.",
        {"data": dots, "layout": layout},
        height=480,
    )


def _p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _ranks(means: pd.DataFrame, rule: str) -> list[Plot]:
    """Draw average ranks, if there are datasets enough to compare."""
    complete = table1.complete(means)
    if len(complete) < 2 or complete.shape[1] < 3:
        return []
    ranks = stats.average_ranks(complete).sort_values(ascending=False)
    distance = stats.critical_difference(complete.shape[1], len(complete))
    p = stats.friedman(complete)
    dots = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [rank],
            "y": [forest],
            "error_x": {"array": [distance / 2], "thickness": 3, "width": 8},
            "marker": {
                "color": style_of(forest)[0],
                "symbol": style_of(forest)[1],
                "size": 13,
            },
            "hovertemplate": "%{y}: %{x:.2f}<extra></extra>",
        }
        for forest, rank in ranks.items()
    ]
    layout = {
        "xaxis": axis("average rank (1 is best)", dtick=1),
        "yaxis": {"type": "category"},
        "showlegend": False,
    }
    return [
        Plot(
            f"Critical difference, “{rule}”",
            f"Ranks over {len(complete)} datasets. Two forests whose bars do not "
            f"overlap differ (Nemenyi, 0.05: ranks more than {distance:.2f} apart). "
            f"Friedman: p {_p_value(p)}.",
            {"data": dots, "layout": layout},
            height=480,
        )
    ]
