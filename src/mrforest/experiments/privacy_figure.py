# SPDX-License-Identifier: BSD-3-Clause
"""The figure of the privacy table: what accuracy costs, by whose account."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mrforest.experiments._panels import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    PAPER_NAMES,
    VERMILION,
    panels,
    present,
)
from mrforest.experiments.privacy_table import (
    COMMONEST,
    DATASETS,
    FOREST,
    N_TREES,
    PRINTED,
    PRINTED_MODEL,
    PRIVATE,
    claimed_epsilon,
    mean_of,
)

__all__ = ["draw"]


def draw(frame: pd.DataFrame) -> Figure:
    """Draw accuracy against epsilon, one panel for each dataset.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved. The private forest's epsilon holds; those of the
        printed mechanism are what the paper's Theorem 2 takes it for.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import privacy_figure, privacy_table
    >>> wanted = [
    ...     {**task, "n_trees": 5}
    ...     for task in privacy_table.tasks(quick=True, datasets=["wdbc"])[:20]
    ... ]
    >>> frame = pd.DataFrame({**w, **privacy_table.measure(w)} for w in wanted)
    >>> privacy_figure.draw(frame).axes[0].get_xlabel()
    'total ε'
    """
    names = present(frame["dataset"], DATASETS)
    figure, axes = panels(1, len(names), width=5.2, height=4.6)
    for panel, name in zip(axes, names, strict=True):
        _draw_dataset(panel, name, frame[frame["dataset"] == name])
    axes[0].set_ylabel("accuracy (%)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(
        "What accuracy costs. Only the private forest's ε holds; "
        "the printed mechanism is not private",
        fontweight="bold",
    )
    return figure


def _draw_dataset(axes: Axes, name: str, frame: pd.DataFrame) -> None:
    """Draw the private forest, the printed mechanism, and the bounds."""
    private = frame[frame["model"] == PRIVATE]
    by_epsilon = private.groupby("epsilon")["accuracy"]
    axes.errorbar(
        by_epsilon.mean().index, by_epsilon.mean(), by_epsilon.sem().fillna(0),
        color=BLUE, marker="o", linewidth=1.6, capsize=2,
        label="private forest, at an ε that holds",
    )  # fmt: skip

    printed = frame[frame["model"] == PRINTED_MODEL]
    means = printed.groupby("label_budget")[["accuracy", "tree_accuracy"]].mean()
    trees = [claimed_epsilon(budget, 1) for budget in means.index]
    votes = [claimed_epsilon(budget, N_TREES) for budget in means.index]
    style: dict[str, Any] = {"color": VERMILION, "linestyle": ":", "markersize": 7}
    axes.plot(
        trees, means["tree_accuracy"], marker="s", markerfacecolor="white", **style,
        label="printed mechanism, one tree, at the ε of Theorem 2",
    )  # fmt: skip
    axes.plot(
        votes, means["accuracy"], marker="s", **style,
        label="printed mechanism, vote of all trees, at the ε of Theorem 2",
    )  # fmt: skip
    told = PRINTED.get(name, {})
    axes.plot(
        list(told), list(told.values()), "X", color=ORANGE, markersize=9,
        label="what the paper prints, at the ε it says",
    )  # fmt: skip

    for model, colour, line in ((FOREST, BLACK, "-"), (COMMONEST, GREY, "--")):
        mean = mean_of(frame, model=model)
        if not math.isnan(mean):
            label = {FOREST: "multinomial forest, no privacy"}.get(model, model)
            axes.axhline(mean, color=colour, linestyle=line, linewidth=1.2, label=label)
    axes.set(
        xscale="log", xlabel="total ε", title=PAPER_NAMES.get(name, name),
        xlim=(0.35, 3000),
    )  # fmt: skip
    ticks = [0.5, 1, 5, 20, 100, 500, 2000]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
