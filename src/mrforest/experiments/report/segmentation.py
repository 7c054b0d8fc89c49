# SPDX-License-Identifier: BSD-3-Clause
"""The section of the segmentation."""

from __future__ import annotations

import io
from itertools import cycle
from typing import Any

import pandas as pd

from mrforest.experiments._panels import present
from mrforest.experiments.report.contents import Picture, Plot, Section, Table, number
from mrforest.experiments.report.frames import amount, of_one_form, settings_of
from mrforest.experiments.report.plots import COLOURS, axis, style_of

__all__ = ["EXPERIMENT", "section"]

# As in `mrforest.experiments.segmentation.experiment`, which needs scikit-image
EXPERIMENT = "segmentation"
# Colours tell forests apart, symbols images.
SYMBOLS = ("circle", "square", "diamond")


def section(frame: pd.DataFrame) -> Section:
    """Show which forest finds the buildings in aerial images.

    Parameters
    ----------
    frame : DataFrame
        Results of `mrforest.experiments.segmentation.experiment`; may be empty.

    Returns
    -------
    Section
    """
    text = [
        "Pixels of aerial images, building or not, told apart by colour, local binary "
        "pattern and Haralick's features. A forest learns from pixels of all images of "
        "a place but one, and is asked about that one. Pixels are drawn anew several "
        "times; in each draw all forests have the same."
    ]
    command = "mrforest reproduce segmentation"
    title = "Segmentation of aerial images"
    if frame.empty:
        return Section(title, text, command)
    # Only here: without results, the page does without scikit-image.
    from mrforest.experiments.segmentation import experiment

    frame, form = of_one_form(frame, experiment.tasks)
    found, gains = experiment.summary(frame), experiment.compared(frame)
    return Section(
        title,
        text,
        command,
        tables=[_table(found), _gains(gains)],
        plots=[
            _plot(found[found["place"] == place], place, name, called)
            for place in dict.fromkeys(found["place"])
            for name, called in experiment.MEASURES.items()
        ],
        pictures=_pictures(frame),
        settings={"form": form}
        | settings_of(
            frame,
            {
                "place": "places",
                "forest": "forests",
                "draw": "draws",
                "n_pixels": "pixels to learn from",
                "n_estimators": "trees of a forest",
            },
        ),
        amount=amount(frame, "forests"),
    )


def _table(found: pd.DataFrame) -> Table:
    return Table(
        "Pixel accuracy and IoU of each forest, in per cent",
        ["image", "forest", "draws", "pixel accuracy", "deviation", "IoU", "deviation",
         "seconds to fit", "seconds to predict"],
        [
            [
                row.image,
                row.forest,
                number(row.draws, "d"),
                number(row.pixel_accuracy),
                number(row.pixel_accuracy_deviation),
                number(row.iou),
                number(row.iou_deviation),
                number(row.fit_seconds),
                number(row.predict_seconds),
            ]
            for row in found.itertuples()
        ],
    )  # fmt: skip


def _gains(gains: pd.DataFrame) -> Table:
    return Table(
        "Forests against each other; p of Wilcoxon's signed ranks of the draws",
        ["place", "forest", "against", "pairs", "gain in pixel accuracy", "p",
         "gain in IoU", "p"],
        [
            [
                row.place,
                row.forest,
                row.against,
                number(row.pairs, "d"),
                number(row.pixel_accuracy_gain, "+.2f"),
                number(row.pixel_accuracy_p, ".2g"),
                number(row.iou_gain, "+.2f"),
                number(row.iou_p, ".2g"),
            ]
            for row in gains.itertuples()
        ],
    )  # fmt: skip


def _plot(found: pd.DataFrame, place: str, name: str, called: str) -> Plot:
    forests = list(dict.fromkeys(found["forest"]))
    means = found.groupby("forest")[name].mean().reindex(forests)
    best = means.idxmax()
    return Plot(
        f"{place}: {called}",
        f"Best on average: {best}, {means[best]:.1f} %. Bars of errors are standard "
        "deviations over the draws.",
        {
            "data": [
                _marks(found[found["image"] == image], image, name, symbol)
                for image, symbol in zip(
                    present(found["image"], []), cycle(SYMBOLS), strict=False
                )
            ],
            "layout": {
                "xaxis": axis("", type="category"),
                "yaxis": axis(f"{called} (%)"),
                "scattermode": "group",
                "scattergap": 0.6,
            },
        },
    )


def _marks(own: pd.DataFrame, image: str, name: str, symbol: str) -> dict[str, Any]:
    colours = [style_of(forest)[0] for forest in own["forest"]]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": image,
        "x": own["forest"].tolist(),
        "y": own[name],
        "marker": {"size": 9, "color": colours, "symbol": symbol},
        "error_y": {
            "type": "data",
            "array": own[f"{name}_deviation"],
            "color": COLOURS["grey"],
        },
        "hovertemplate": "%{x}: %{y:.1f} %",
    }


def _pictures(frame: pd.DataFrame) -> list[Picture]:
    """Draw the maps of the images that are at hand."""
    from mrforest.experiments.segmentation import ImageError, experiment, figures

    pictures = []
    for image in dict.fromkeys(frame["dataset"]):
        try:
            figure = figures.draw_maps(frame, image)
        except ImageError:
            continue
        own = experiment.summary(frame[frame["dataset"] == image])
        best = own.loc[own["iou"].idxmax()]
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=110)
        pictures.append(
            Picture(
                image,
                "The image, where its buildings are, and how likely each forest finds "
                f"one, in the first draw. Best IoU: {best.forest}, {best.iou:.1f} %.",
                file.getvalue(),
            )
        )
    return pictures
