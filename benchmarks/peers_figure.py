# SPDX-License-Identifier: BSD-3-Clause
"""The figure of peers.py: ratios to the fastest peer, ours and theirs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from peers_forests import FORESTS, OURS, RIVALS, Forest
from peers_report import best_of, tables_of
from peers_tables import SMALL, TABLES


def draw(lines: pd.DataFrame, n_jobs: int) -> Figure:
    """Fit and predict; a row for each table, a dot for each forest."""
    best = best_of(lines[lines["n_jobs"] == n_jobs])
    names = [name for name in tables_of(best) if name != SMALL] or tables_of(best)
    figure = Figure(
        figsize=(12, 2.4 + 0.65 * len(names)), layout="constrained", dpi=130
    )
    panels = figure.subplots(1, 2, sharey=True)
    draw_ratios(panels[0], best["fit"], names, "Fit")
    draw_ratios(panels[1], best["predict"], names, "Predict, at least 10,000 rows")
    panels[0].set_yticks(range(len(names)), [TABLES[name].label for name in names])
    panels[0].invert_yaxis()
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=5,
        frameon=False,
    )
    return figure


def draw_ratios(axes: Axes, values: pd.Series, names: list[str], title: str) -> None:
    """Draw time over that of the fastest peer: left of 1 is faster than all of them."""
    wide = values.unstack("forest").reindex(names)
    theirs = wide.reindex(columns=list(RIVALS)).min(axis=1)
    present = {name: forest for name, forest in FORESTS.items() if name in wide}
    axes.axvline(1, color="#333333", linewidth=1)
    axes.axvline(0.5, color="#333333", linewidth=1, linestyle=":")
    draw_dots(axes, wide.div(theirs, axis=0), present, OURS)
    axes.set(title=title, xlabel="time / that of the fastest peer")
    use_ratios(axes)


def draw_dots(
    axes: Axes,
    wide: pd.DataFrame,
    forests: Mapping[str, Forest],
    large: Collection[str],
) -> None:
    """Draw a row for each table, a dot for each forest.

    Parameters
    ----------
    axes : Axes
    wide : DataFrame
        Tables x forests.
    forests : mapping
        Columns to draw, and their marks.
    large : collection of str
        Those that stand out.
    """
    for i in range(0, len(wide), 2):
        axes.axhspan(i - 0.5, i + 0.5, color="#f4f4f4", zorder=0)
    # Each at a height of its own, so that equal dots do not hide each other.
    heights = np.linspace(-0.33, 0.33, len(forests))
    for (name, mark), shift in zip(forests.items(), heights, strict=True):
        axes.scatter(
            wide[name],
            [i + shift for i in range(len(wide))],
            s=80 if name in large else 40,
            marker="D" if name in large else "o",
            color=mark.colour,
            edgecolor="white",
            linewidth=0.6,
            label=mark.label,
            zorder=3,
        )
    axes.set_ylim(-0.5, len(wide) - 0.5)
    axes.grid(axis="x", color="#e0e0e0")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def use_ratios(axes: Axes, ticks: Sequence[float] = (1, 2, 5)) -> None:
    """Have an axis of ratios: twice is as far from 1 as half."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
