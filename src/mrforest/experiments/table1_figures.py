# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Table 1: ranks, and our accuracies beside the printed ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mrforest.experiments import protocol, stats, table1

__all__ = ["draw_accuracies", "draw_ranks"]

BLUE, ORANGE, GREY, PALE = "#1f5fa8", "#e07b00", "#8a8a8a", "#e4e4e4"


def draw_ranks(frame: pd.DataFrame) -> Figure | None:
    """Draw critical-difference diagrams, one for each leaf rule.

    Parameters
    ----------
    frame : DataFrame
        Results of the experiment.

    Returns
    -------
    matplotlib.figure.Figure or None
        None if there are fewer than two datasets or three forests of the paper to rank.

    Examples
    --------
    One dataset is too few for ranks:

    >>> import pandas as pd
    >>> from mrforest.experiments import table1, table1_figures
    >>> wanted = table1.tasks(
    ...     names=["wdbc"], forests=["MRF", "BRF", "Breiman"], repeats=1, n_estimators=5
    ... )
    >>> frame = pd.DataFrame({**w.settings, **w.measure(w.settings)} for w in wanted)
    >>> table1_figures.draw_ranks(frame) is None
    True
    >>> other = frame.assign(dataset="another")
    >>> len(table1_figures.draw_ranks(pd.concat([frame, other])).axes)
    2
    """
    panels = {
        f'leaf rule "{rule}"': table1.complete(table1.accuracies(frame, rule))
        for rule in protocol.LEAF_RULES
    }
    enough = {
        title: table
        for title, table in panels.items()
        if table.shape[0] >= 2 and table.shape[1] >= 3
    }
    return stats.draw_critical_difference(enough) if enough else None


def draw_accuracies(frame: pd.DataFrame) -> Figure:
    """Draw our accuracies under both leaf rules beside the printed ones.

    Parameters
    ----------
    frame : DataFrame
        Results of the experiment.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each forest of the paper that there are results of.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import table1, table1_figures
    >>> wanted = table1.tasks(
    ...     names=["wdbc"], forests=["MRF", "BRF", "Breiman"], repeats=1, n_estimators=5
    ... )
    >>> frame = pd.DataFrame({**w.settings, **w.measure(w.settings)} for w in wanted)
    >>> figure = table1_figures.draw_accuracies(frame)
    >>> [axes.get_title() for axes in figure.axes]
    ['BRF', 'MRF', 'Breiman']
    """
    ours = {rule: table1.accuracies(frame, rule) for rule in protocol.LEAF_RULES}
    any_rule = ours["stop"]
    names = list(any_rule.index)
    forests = [name for name in any_rule if name in protocol.PAPER] or list(any_rule)
    figure = Figure(
        figsize=(2.5 + 2.1 * len(forests), 1.9 + 0.26 * len(names)),
        layout="constrained",
        dpi=150,
    )
    panels = np.atleast_1d(figure.subplots(1, len(forests), sharey=True))
    theirs = table1.printed().reindex(names)
    for axes, forest in zip(panels, forests, strict=True):
        tables = {rule: table[forest] for rule, table in ours.items()}
        _draw_forest(axes, forest, tables, theirs.get(forest))
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    figure.supxlabel("accuracy (%)", fontsize="medium")
    return figure


def _draw_forest(
    axes: Axes, forest: str, ours: dict[str, pd.Series], theirs: pd.Series | None
) -> None:
    """Draw one forest, a dataset a row."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_axisbelow(True)
    axes.set_title(forest, fontsize="medium")
    y = np.arange(len(ours["stop"]))
    axes.hlines(y, 0, 100, color=PALE, linewidth=0.8, zorder=0)
    if theirs is not None:
        nearest = ours["stop"].fillna(ours["floor"])
        axes.hlines(y, theirs, nearest, color=GREY, linewidth=1.2, zorder=1)
        axes.scatter(
            theirs, y, s=34, facecolors="white", edgecolors="black", linewidths=1.1,
            label="printed", zorder=2,
        )  # fmt: skip
    for rule, colour, marker in (("floor", ORANGE, "D"), ("stop", BLUE, "o")):
        axes.scatter(
            ours[rule], y, s=16, color=colour, marker=marker,
            label=f'ours, leaf rule "{rule}"', zorder=3,
        )  # fmt: skip
    values = [*ours.values(), *([] if theirs is None else [theirs])]
    lowest = min(series.min() for series in values)
    axes.set_xlim(max(0, lowest - 4), 102)
