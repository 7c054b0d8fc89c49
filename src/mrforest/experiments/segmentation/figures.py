# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the segmentation: accuracies, and maps of probabilities."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mrforest.experiments._panels import (
    BLACK,
    BLUE,
    ORANGE,
    PALE,
    VERMILION,
    panels,
    present,
)
from mrforest.experiments.segmentation import aerial
from mrforest.experiments.segmentation.experiment import (
    FORESTS,
    MEASURES,
    heat_map,
    summary,
)

__all__ = ["HEAT", "draw", "draw_maps"]

# Colours of maps of probabilities
HEAT = "magma"
COLOURS = (BLUE, ORANGE, VERMILION)


def draw(frame: pd.DataFrame) -> Figure:
    """Draw pixel accuracy and IoU of all forests, a row for each place.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved.
    """
    found = summary(frame)
    places = present(found["place"], aerial.PLACES)
    figure, axes = panels(len(places), len(MEASURES), width=5.6, height=3.8)
    for i, place in enumerate(places):
        own = found[found["place"] == place]
        for j, (name, title) in enumerate(MEASURES.items()):
            panel = axes[i * len(MEASURES) + j]
            _draw_measure(panel, own, name)
            panel.set_title(f"{place}: {title} (%)")
        panel.legend(
            title="tested on",
            fontsize="small",
            frameon=False,
            loc="upper left",
            bbox_to_anchor=(1, 1),
        )
    figure.suptitle(
        "Buildings in aerial images.  Marks: means over the draws, with their standard "
        "deviation.\nBlack lines: means of the images.  Dotted: the most frequent "
        "class everywhere",
        fontsize="medium",
    )
    return figure


def _draw_measure(axes: Axes, found: pd.DataFrame, name: str) -> None:
    forests = present(found["forest"], FORESTS)
    means = found.groupby("forest")[name].mean().reindex(forests)
    place = np.arange(len(forests))
    axes.hlines(means, place - 0.4, place + 0.4, color=BLACK, linewidth=1.5)
    images = list(dict.fromkeys(found["image"]))
    for i, (image, colour) in enumerate(zip(images, cycle(COLOURS), strict=False)):
        own = found[found["image"] == image].set_index("forest").reindex(forests)
        axes.errorbar(
            place + 0.6 * ((i + 0.5) / len(images) - 0.5),
            own[name],
            own[f"{name}_deviation"],
            fmt="o",
            markersize=4,
            capsize=3,
            color=colour,
            label=image,
        )
        if name == "pixel_accuracy":
            axes.axhline(_most_frequent(image), color=colour, linestyle=":")
    axes.set_xticks(place, forests, rotation=30, ha="right")
    axes.grid(axis="y", color=PALE)


def _most_frequent(image: str) -> float:
    """Pixel accuracy of telling the same class everywhere."""
    share = aerial.load(image)[1].mean()
    return float(100 * max(share, 1 - share))


def draw_maps(frame: pd.DataFrame, dataset: str) -> Figure:
    """Draw an image, the truth, and what each forest makes of it.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.
    dataset : str
        The image.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved.
    """
    image, mask = aerial.load(dataset)
    maps = {
        forest: heat_map(frame, dataset, forest)
        for forest in present(frame["forest"], FORESTS)
    }
    first = frame[(frame["dataset"] == dataset) & (frame["draw"] == 0)]
    found = first.set_index("forest")
    shown = {name: heat for name, heat in maps.items() if heat is not None}
    n_columns = 5
    n_rows = -(-(len(shown) + 2) // n_columns)
    height = 2.6 * image.shape[0] / image.shape[1] + 0.3
    # Photographs make large files.
    figure, axes = panels(n_rows, n_columns, width=2.6, height=height, dpi=100)
    for panel in axes:
        panel.set_axis_off()
    axes[0].imshow(image)
    axes[0].set_title(dataset, fontsize="small")
    axes[1].imshow(mask, cmap=HEAT, vmin=0, vmax=1)
    axes[1].set_title("truth", fontsize="small")
    drawn = None
    for panel, (forest, heat) in zip(axes[2:], shown.items(), strict=False):
        drawn = panel.imshow(heat, cmap=HEAT, vmin=0, vmax=1)
        row = found.loc[forest]
        panel.set_title(
            f"{forest}: PA {row['pixel_accuracy']:.1f}, IoU {row['iou']:.1f}",
            fontsize="small",
        )
    if drawn is not None:
        figure.colorbar(
            drawn, ax=axes, label="probability of a building", shrink=0.7, pad=0.01
        )
    return figure
