# SPDX-License-Identifier: BSD-3-Clause
"""The section of single trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from mrforest.experiments import single_trees
from mrforest.experiments._panels import PAPER_NAMES, SIX, present
from mrforest.experiments.report.contents import Plot, Section, Table, number
from mrforest.experiments.report.frames import amount, of_one_form, settings_of
from mrforest.experiments.report.plots import axis, style_of

__all__ = ["section"]


def section(frame: pd.DataFrame) -> Section:
    """Show how well single trees do, beside the forests that they make up.

    Parameters
    ----------
    frame : DataFrame
        Results of `mrforest.experiments.single_trees`; may be empty.

    Returns
    -------
    Section
    """
    text = [
        "How well each tree does by itself, and what is gained when trees vote. Trees "
        "of the multinomial forest learn their shape from one half of the rows and "
        "their answers from the other; Breiman's see a bootstrap sample twice."
    ]
    command = "mrforest reproduce trees"
    title = "Single trees"
    if frame.empty:
        return Section(title, text, command)
    frame, form = of_one_form(frame, single_trees.tasks)
    found = single_trees.summary(frame)
    n_trees = int(found["n_trees"].sum())
    return Section(
        title,
        text,
        command,
        tables=[_table(found)],
        plots=[
            _plot(frame, found[found["dataset"] == name], name)
            for name in present(frame["dataset"], SIX)
        ],
        settings={"form": form}
        | settings_of(
            frame,
            {
                "dataset": "datasets",
                "forest": "forests",
                "n_trees": "trees of a forest",
                "repetition": "repetitions",
                "fold": "folds",
            },
        ),
        amount=f"{n_trees:,} trees of {amount(frame, 'forests')}",
    )


def _table(found: pd.DataFrame) -> Table:
    return Table(
        "Accuracy of trees and of their forests, in per cent",
        ["dataset", "forest", "trees", "mean of trees", "deviation", "5th percentile",
         "95th percentile", "mean of forests", "gain of the vote"],
        [
            [
                PAPER_NAMES.get(row.dataset, row.dataset),
                row.forest,
                number(row.n_trees, ",d"),
                number(row.tree_mean),
                number(row.tree_deviation),
                number(row.tree_p5),
                number(row.tree_p95),
                number(row.forest_mean),
                number(row.forest_mean - row.tree_mean, "+.2f"),
            ]
            for row in found.itertuples()
        ],
    )  # fmt: skip


def _plot(frame: pd.DataFrame, found: pd.DataFrame, dataset: str) -> Plot:
    own = frame[frame["dataset"] == dataset]
    trees = {
        forest: single_trees.trees_of(frame, dataset, forest)
        for forest in found["forest"]
    }
    everything = np.concatenate(list(trees.values()))
    edges = np.asarray(single_trees.bars(everything, int(own["n_test"].min())))
    means = " ".join(
        f"{row.forest}: {row.tree_mean:.1f} ± {row.tree_deviation:.1f} %, voting "
        f"{row.forest_mean:.1f} %."
        for row in found.itertuples()
    )
    layout = {
        "xaxis": axis("accuracy (%)"),
        "yaxis": axis("share of the trees (%)", rangemode="tozero"),
        "barmode": "overlay",
        "bargap": 0,
        "shapes": [_mean_line(row.forest, row.tree_mean) for row in found.itertuples()],
    }
    data = [_histogram(forest, values, edges) for forest, values in trees.items()]
    return Plot(
        PAPER_NAMES.get(dataset, dataset), means, {"data": data, "layout": layout}
    )


def _histogram(forest: str, values: Any, edges: Any) -> dict[str, Any]:
    # Counted here: ten thousand numbers of each forest need not be in the page.
    counts, _ = np.histogram(values, edges)
    return {
        "type": "bar",
        "name": forest,
        "x": (edges[1:] + edges[:-1]) / 2,
        "y": 100 * counts / len(values),
        "width": float(edges[1] - edges[0]),
        "marker": {"color": style_of(forest)[0], "opacity": 0.6},
        "hovertemplate": "%{x:.1f} %: %{y:.1f} % of the trees",
    }


def _mean_line(forest: str, mean: float) -> dict[str, Any]:
    return {
        "type": "line", "x0": mean, "x1": mean, "y0": 0, "y1": 1, "yref": "paper",
        "line": {"color": style_of(forest)[0], "width": 2},
    }  # fmt: skip
