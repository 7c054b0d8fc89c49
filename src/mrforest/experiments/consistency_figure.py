# SPDX-License-Identifier: BSD-3-Clause
"""The figure of the consistency experiment: errors, and how fast they fall."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mrforest.experiments._panels import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    panels,
    present,
)
from mrforest.experiments.consistency import (
    FORESTS,
    VARIANTS,
    excess_by_size,
    summary,
)
from mrforest.experiments.distributions import DISTRIBUTIONS

__all__ = ["draw"]

# Colour and marker of each forest. A variant has those of its forest, but a broken line
# and hollow markers.
STYLES = {
    "Denil14": (GREEN, "^"),
    "BRF": (PURPLE, "v"),
    "CompRF-C": (SKY, "D"),
    "MRF": (BLUE, "o"),
    "CompRF-I": (ORANGE, "P"),
    "Breiman": (VERMILION, "s"),
    "ForestClassifier": (BLACK, "*"),
}
OTHER = (GREY, "x")


def draw(frame: pd.DataFrame) -> Figure:
    """Draw errors and their excess against the number of rows.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved. Above the errors with the Bayes risk, below the excess
        on logarithmic axes with the slopes; one column for each distribution.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import consistency, consistency_figure
    >>> wanted = [
    ...     task
    ...     for task in consistency.tasks(quick=True)
    ...     if task["distribution"] == "smooth wave" and task["forest"] == "MRF"
    ... ]
    >>> frame = pd.DataFrame({**w, **consistency.measure(w)} for w in wanted)
    >>> figure = consistency_figure.draw(frame)
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['error', 'error above the Bayes risk']
    """
    means, slopes = excess_by_size(frame), summary(frame)
    names = present(frame["distribution"], DISTRIBUTIONS)
    figure, axes = panels(2, len(names), width=4.6, height=4.4)
    for i, name in enumerate(names):
        own = means[means["distribution"] == name]
        found = slopes[slopes["distribution"] == name].set_index("forest")
        _draw_risk(axes[i], name, own)
        _draw_excess(axes[i + len(names)], own, found)
    axes[0].set_ylabel("error")
    axes[len(names)].set_ylabel("error above the Bayes risk")
    trees = ", ".join(str(number) for number in sorted(frame["n_trees"].unique()))
    figure.suptitle(
        f"Error as the table grows: {trees} trees, leaves of k = √n / 2 points or, "
        "broken lines, of 5; ForestClassifier chooses k",
        fontweight="bold",
    )
    return figure


def _draw_risk(axes: Axes, name: str, means: pd.DataFrame) -> None:
    """Errors, and the Bayes risk that they should tend to."""
    for forest in present(means["forest"], FORESTS):
        _draw_line(axes, forest, means, "risk", label=forest)
    bayes = means["bayes_risk"].iloc[0]
    axes.axhline(bayes, color=BLACK, linewidth=1.2)
    axes.annotate(
        f"Bayes risk {bayes:.4f}", (0.98, bayes), (0, -4), va="top", ha="right",
        xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=8,
    )  # fmt: skip
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, bayes) - 0.06 * (high - bayes), high)
    axes.set(xscale="log", title=name)


def _draw_excess(axes: Axes, means: pd.DataFrame, slopes: pd.DataFrame) -> None:
    """Excess on logarithmic axes, where a power of n is a straight line."""
    for forest in present(means["forest"], FORESTS):
        slope = slopes.loc[forest]
        label = f"{forest}: {slope['slope']:.2f}"
        if pd.notna(slope["slope_error"]):
            label += f" ± {slope['slope_error']:.2f}"
        _draw_line(axes, forest, means, "excess", label=label)
    axes.set(xscale="log", yscale="log", xlabel="rows n")
    axes.legend(
        frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(-0.1, -0.14),
        title="slope ± standard error", title_fontsize=9,
    )  # fmt: skip


def _draw_line(
    axes: Axes, forest: str, means: pd.DataFrame, what: str, *, label: str
) -> None:
    own = means[means["forest"] == forest].sort_values("n")
    is_variant = forest in VARIANTS
    colour, marker = STYLES.get(VARIANTS.get(forest, forest), OTHER)
    axes.errorbar(
        own["n"], own[what], own["error"].fillna(0), color=colour,
        linestyle="--" if is_variant else "-", linewidth=1.3, marker=marker,
        markersize=8 if marker == "*" else 5, capsize=2, label=label,
        markerfacecolor="white" if is_variant else colour,
    )  # fmt: skip
