# SPDX-License-Identifier: BSD-3-Clause
"""The figure of accuracy.py: every forest beside scikit-learn's, table by table."""

from __future__ import annotations

import numpy as np
import pandas as pd
from accuracy_forests import BASE, FORESTS, OURS
from accuracy_parts import MEASURES, PARTS
from accuracy_report import SHORT, against, label, wide
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from peers_figure import draw_dots, use_ratios


def draw(values: pd.DataFrame) -> Figure:
    """Two panels for each part; a row for each table, a dot for each forest."""
    drawn = {
        part: [wide(values, part, name) for name in PARTS[part].measures[:2]]
        for part in values["part"].unique()
    }
    drawn = {part: tables for part, tables in drawn.items() if BASE in tables[0]}
    if not drawn:  # nothing to compare with
        return Figure()
    heights = [len(tables[0]) + 3 for tables in drawn.values()]
    figure = Figure(
        figsize=(12, 1.1 + 0.34 * sum(heights)), layout="constrained", dpi=110
    )
    panels = figure.subplots(len(drawn), 2, height_ratios=heights, squeeze=False)
    for row, (part, tables) in zip(panels, drawn.items(), strict=True):
        for axes, name, table in zip(row, PARTS[part].measures, tables, strict=False):
            draw_panel(axes, part, name, table)
        row[1].set_yticklabels([])
    handles = {
        text: handle
        for axes in panels[:, 0]
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    order = [forest.label for forest in FORESTS.values() if forest.label in handles]
    figure.legend(
        [handles[text] for text in order],
        order,
        loc="outside upper center",
        ncols=4,
        frameon=False,
    )
    return figure


def draw_panel(axes: Axes, part: str, name: str, table: pd.DataFrame) -> None:
    """Draw one measure of a part."""
    measure = MEASURES[name]
    compared = against(table, table[BASE], measure)
    present = {forest: FORESTS[forest] for forest in table if forest != BASE}
    draw_dots(axes, compared, present, [OURS])
    axes.axvline(
        1 if measure.is_ratio else 0,
        color=FORESTS[BASE].colour,
        label=FORESTS[BASE].label,
    )
    how = "ratio to" if measure.is_ratio else "difference from"
    side = "left" if measure.is_error else "right"
    axes.set_title(
        f"{PARTS[part].title}: {measure.title}, {how} {SHORT}; {side} is better",
        fontsize="medium",
    )
    axes.set_yticks(range(len(table)), [label(part, name) for name in table.index])
    axes.invert_yaxis()
    # Near 1 a plain axis shows the same, and has more ticks.
    span = np.nanmax(compared) / np.nanmin(compared)
    if measure.is_ratio and span > 2:
        use_ratios(axes, (1, 2, 5) if span > 10 else (1, 1.5, 2, 3, 5, 7))
