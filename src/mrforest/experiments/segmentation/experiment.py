# SPDX-License-Identifier: BSD-3-Clause
"""The paper's second experiment: which pixels of aerial images are buildings.

A forest is fitted to pixels of all images of a place but one, and asked about that one.
Pixels are drawn several times over; in each draw all forests have the same.
"""

from __future__ import annotations

import base64
import io
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image as Pillow

from mrforest.experiments import protocol, stats
from mrforest.experiments._panels import present
from mrforest.experiments.segmentation import aerial
from mrforest.experiments.segmentation.features import PixelFeatures
from mrforest.experiments.segmentation.segmenter import (
    draw_pixels,
    intersection_over_union,
    pixel_accuracy,
)

__all__ = [
    "EXPERIMENT",
    "FORESTS",
    "MEASURES",
    "compared",
    "heat_map",
    "measure",
    "places_of",
    "summary",
    "tasks",
]

EXPERIMENT = "segmentation"
# Each with the leaf rule under which it comes nearest to the paper's Table 1.
FORESTS = {
    **dict.fromkeys(protocol.PAPER, "stop"),
    "Breiman": "floor",
    "scikit-learn": "own",
}
MEASURES = {"pixel_accuracy": "pixel accuracy", "iou": "IoU"}
# What the paper says is better than what, and scikit-learn's forest
PAIRS = [
    *(("MRF", other) for other in FORESTS if other != "MRF"),
    *(("Breiman", other) for other in protocol.CONSISTENT if other != "MRF"),
]
COMPARED = [
    "place", "forest", "against", "pairs",
    *(f"{name}_{what}" for name in MEASURES for what in ("gain", "p")),
]  # fmt: skip
N_DRAWS = 5
N_PIXELS = 10_000
QUICK_PIXELS, QUICK_TREES = 2_000, 20
QUICK_PLACES = ("Kampala",)


def places_of(*, quick: bool = False) -> list[str]:
    """Return the places of the full form, or of the quick one."""
    return list(QUICK_PLACES if quick else aerial.PLACES)


def tasks(
    *, quick: bool = False, places: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Return the settings of all that is to be measured.

    Parameters
    ----------
    quick : bool, default=False
        Whether one place, two draws, fewer pixels and smaller forests do.
    places : sequence of str, optional
        Some of `aerial.PLACES`; default: all.

    Returns
    -------
    list of dict
    """
    return [
        {
            "place": place,
            "dataset": image,
            "forest": forest,
            "draw": draw,
            "n_pixels": QUICK_PIXELS if quick else N_PIXELS,
            "n_estimators": QUICK_TREES if quick else protocol.N_ESTIMATORS,
        }
        for place in places or places_of(quick=quick)
        for image, forest, draw in product(
            aerial.PLACES[place], FORESTS, range(2 if quick else N_DRAWS)
        )
    ]


# All images of a place, in one process.
@lru_cache(maxsize=3)
def _pixels(name: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Features and labels of all pixels of an image."""
    image, mask = aerial.load(name)
    return PixelFeatures().transform(image), mask


def measure(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Fit one forest to pixels of the other images, and ask it about this one.

    Parameters
    ----------
    settings : mapping
        One of `tasks`.

    Returns
    -------
    dict
        `pixel_accuracy` and `iou`, in per cent; `fit_seconds`, `predict_seconds`; and
        of the first draw `heat`, the probability of a building at each pixel, as a PNG
        in base 64.
    """
    others = list(aerial.PLACES[settings["place"]])
    others.remove(settings["dataset"])
    features, masks = zip(*map(_pixels, others), strict=True)
    labels = np.concatenate([mask.ravel() for mask in masks])
    asked, truth = _pixels(settings["dataset"])
    drawn = draw_pixels(labels, settings["n_pixels"], random_state=settings["draw"])
    forest = protocol.make_forest(
        settings["forest"],
        FORESTS[settings["forest"]],
        n_estimators=settings["n_estimators"],
        random_state=settings["draw"],
    )
    start = time.perf_counter()
    forest.fit(_take(features, drawn), labels[drawn])
    fitted = time.perf_counter()
    heat = forest.predict_proba(asked)[:, 1].reshape(truth.shape)
    predicted = time.perf_counter()
    told = heat > 0.5
    return {
        "pixel_accuracy": 100 * pixel_accuracy(truth, told),
        "iou": 100 * intersection_over_union(truth, told),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
        "heat": _as_png(heat) if settings["draw"] == 0 else None,
    }


def _take(
    tables: Sequence[NDArray[np.float64]], rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Take some rows of tables that stand one below the other."""
    starts = np.cumsum([0, *map(len, tables)])
    return np.concatenate(
        [
            table[rows[(rows >= start) & (rows < start + len(table))] - start]
            for table, start in zip(tables, starts[:-1], strict=True)
        ]
    )


def _as_png(heat: NDArray[np.float64]) -> str:
    file = io.BytesIO()
    Pillow.fromarray(np.rint(255 * heat).astype(np.uint8)).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode("ascii")


def heat_map(
    frame: pd.DataFrame, dataset: str, forest: str
) -> NDArray[np.float64] | None:
    """Return the map of probabilities that was kept.

    Parameters
    ----------
    frame : DataFrame
        Results of the experiment.
    dataset, forest : str
        Image and forest.

    Returns
    -------
    ndarray of shape (height, width) or None
        Probabilities of a building; None if there is no such result.
    """
    if "heat" not in frame:  # no result so far is of a first draw
        return None
    own = frame[(frame["dataset"] == dataset) & (frame["forest"] == forest)]
    kept = own["heat"].dropna()
    if kept.empty:
        return None
    file = io.BytesIO(base64.b64decode(kept.iloc[0]))
    return np.asarray(Pillow.open(file), dtype=np.float64) / 255


# ---- what was found ------------------------------------------------------------------


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Tell means over the draws.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    DataFrame
        One row for each image and forest: the number of draws, means and standard
        deviations of pixel accuracy and IoU in per cent, mean seconds.
    """
    rows = []
    for place, image, forest in _groups(frame):
        own = frame[(frame["dataset"] == image) & (frame["forest"] == forest)]
        rows.append(
            {
                "place": place,
                "image": image,
                "forest": forest,
                "draws": len(own),
                **{
                    f"{name}{part}": float(getattr(own[name], kind)())
                    for name in MEASURES
                    for part, kind in (("", "mean"), ("_deviation", "std"))
                },
                "fit_seconds": float(own["fit_seconds"].mean()),
                "predict_seconds": float(own["predict_seconds"].mean()),
            }
        )
    return pd.DataFrame(rows)


def _groups(frame: pd.DataFrame) -> list[tuple[str, str, str]]:
    return [
        (place, image, forest)
        for place in present(frame["place"], aerial.PLACES)
        for image in present(frame.loc[frame["place"] == place, "dataset"], [])
        for forest in present(frame.loc[frame["dataset"] == image, "forest"], FORESTS)
    ]


def compared(frame: pd.DataFrame) -> pd.DataFrame:
    """Test the paper's order, MRF > Breiman > other consistent forests, draw by draw.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    DataFrame
        One row for each place and pair of forests: how many draws of images both have,
        by how many points the first is ahead on average, and Wilcoxon's p of the signed
        ranks. Draws are of the same images, so p is about draws, not about images.
    """
    rows = []
    for place in present(frame["place"], aerial.PLACES):
        own = frame[frame["place"] == place]
        for first, second in PAIRS:
            if not {first, second} <= set(own["forest"]):
                continue
            row: dict[str, Any] = {"place": place, "forest": first, "against": second}
            for name in MEASURES:
                both = own.pivot_table(name, ["dataset", "draw"], "forest")
                both = both[[first, second]].dropna()
                row["pairs"] = len(both)
                row[f"{name}_gain"] = float((both[first] - both[second]).mean())
                row[f"{name}_p"] = stats.signed_ranks(both[first], both[second]).p
            rows.append(row)
    return pd.DataFrame(rows, columns=COMPARED)
