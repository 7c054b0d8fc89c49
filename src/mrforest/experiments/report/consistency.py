# SPDX-License-Identifier: BSD-3-Clause
"""The section of the error as the table grows."""

from __future__ import annotations

import pandas as pd

from mrforest.experiments import consistency
from mrforest.experiments.distributions import DISTRIBUTIONS
from mrforest.experiments.report.contents import Cell, Plot, Section, Table, number
from mrforest.experiments.report.frames import amount, of_one_form, settings_of
from mrforest.experiments.report.plots import axis, ordered, style_of

__all__ = ["section"]


def section(frame: pd.DataFrame) -> Section:
    """Show how errors tend to the smallest that is possible.

    Parameters
    ----------
    frame : DataFrame
        Results of `mrforest.experiments.consistency`; may be empty.

    Returns
    -------
    Section
    """
    text = [
        "A consistent forest's error tends to the Bayes risk, the smallest possible, "
        "as the table grows. Here data is drawn from distributions whose Bayes risk is "
        "known, and leaves grow with the table, k = √n / 2, as Theorem 1 asks; broken "
        "lines are forests with k = 5 for any n, as in the paper's experiments.",
        "ForestClassifier, the default forest, chooses k itself. It has every midpoint "
        "as a cut, as the other forests have, or, broken line, its default of 255 "
        "bins.",
        "On logarithmic axes a power of n is a straight line. A forest that is "
        "consistent keeps falling; one that is not levels off.",
    ]
    command = "mrforest reproduce consistency"
    title = "Consistency"
    if frame.empty:
        return Section(title, text, command)
    frame, form = of_one_form(frame, consistency.tasks)
    means, found = consistency.excess_by_size(frame), consistency.summary(frame)
    return Section(
        title,
        text,
        command,
        tables=[_table(found)],
        plots=[
            _plot(name, means[means["distribution"] == name])
            for name in ordered(frame["distribution"], DISTRIBUTIONS)
        ],
        settings={"form": form}
        | settings_of(
            frame,
            {
                "distribution": "distributions",
                "n": "rows",
                "k": "points of a leaf, k",
                "n_trees": "trees",
                "repetition": "repetitions",
            },
        ),
        amount=amount(frame, "forests"),
    )


def _table(found: pd.DataFrame) -> Table:
    return Table(
        "How fast errors fall. Excess: error above the Bayes risk, at the largest "
        "table. Slope: power of n with which it falls.",
        ["distribution", "forest", "Bayes risk %", "largest n", "excess %", "slope",
         "last slope"],
        [
            [
                row.distribution,
                row.forest,
                number(100 * row.bayes_risk),
                number(row.largest_n, ",d"),
                _with_error(row.excess_percent, row.excess_error, ".3f"),
                _with_error(row.slope, row.slope_error, ".2f"),
                _with_error(row.last_slope, row.last_slope_error, ".2f"),
            ]
            for row in found.itertuples()
        ],
    )  # fmt: skip


def _with_error(value: float, error: float, form: str) -> Cell:
    return number(value, form, note="" if pd.isna(error) else f"± {error:{form}}")


def _plot(name: str, means: pd.DataFrame) -> Plot:
    lines = []
    for forest in ordered(means["forest"], consistency.FORESTS):
        own = means[means["forest"] == forest].sort_values("n")
        is_variant = forest in consistency.VARIANTS
        colour, symbol = style_of(consistency.VARIANTS.get(forest, forest))
        lines.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": forest,
                "x": own["n"],
                "y": own["excess"],
                "error_y": {"array": own["error"].fillna(0), "width": 2},
                "line": {"color": colour, "dash": "dash" if is_variant else "solid"},
                "marker": {
                    "symbol": symbol + ("-open" if is_variant else ""),
                    "size": 7,
                },
                "hovertemplate": "n = %{x:,}<br>excess %{y:.4f}",
            }
        )
    best = means[means["n"] == means["n"].max()].sort_values("excess").iloc[0]
    is_wide = means["n"].max() >= 100 * means["n"].min()
    layout = {
        "xaxis": axis("rows n", type="log", dtick=1 if is_wide else "D2"),
        "yaxis": axis("error above the Bayes risk", type="log", dtick="D2"),
    }
    return Plot(
        name,
        f"Bayes risk {best['bayes_risk']:.4f}. Least excess at {best['n']:,} rows: "
        f"{best['excess']:.4f}, {best['forest']}.",
        {"data": lines, "layout": layout},
        height=440,
    )
