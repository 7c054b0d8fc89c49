# SPDX-License-Identifier: BSD-3-Clause
"""The paper's segmentation of aerial images on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console

from mrforest.cli._figures import grid_of
from mrforest.cli._reproduce import (
    OUTPUT,
    RESULTS,
    Data,
    Jobs,
    Output,
    Quick,
    Results,
    chosen,
    end,
    measured,
    reproduce,
    require,
    save,
    write,
)
from mrforest.experiments.runner import Task


@reproduce.command("segmentation")
def reproduce_segmentation(
    quick: Quick = False,
    places: Annotated[
        str | None, typer.Option(help="Names with commas between them; else all.")
    ] = None,
    data: Data = None,
    results: Results = RESULTS,
    output: Output = OUTPUT,
    n_jobs: Jobs = -1,
) -> None:
    """Find buildings in aerial images, by all forests."""
    require("skimage")
    # Only here, because the other commands do without scikit-image.
    from mrforest.experiments.segmentation import aerial, experiment

    if places is None:
        names = _at_hand(experiment.places_of(quick=quick))
    else:
        names = chosen("--places", places, list(aerial.PLACES))
        for place in names:
            if (problem := _problem(place)) is not None:
                end(f"cannot load the images of {place}: {problem}")
    settings = experiment.tasks(quick=quick, places=names)
    name = experiment.EXPERIMENT
    wanted = [Task(name, some, experiment.measure) for some in settings]
    _show(measured(wanted, results, n_jobs, title="Segmentation")[name], output)


def _at_hand(places: Sequence[str]) -> list[str]:
    """Return the places whose images can be had, and tell which cannot."""
    found = []
    for place in places:
        if (problem := _problem(place)) is None:
            found.append(place)
        else:
            Console(stderr=True).print(
                f"{place} is left out: {problem}",
                style="yellow",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
    if not found:
        end("there are no images of any place")
    return found


def _problem(place: str) -> str | None:
    """Tell why images cannot be had."""
    from mrforest.experiments.segmentation import aerial

    try:
        for image in aerial.PLACES[place]:
            aerial.load(image)
    except ValueError as error:
        return str(error)
    return None


def _show(frame: pd.DataFrame, output: Path) -> None:
    """Print the tables, and write them and the figures."""
    from mrforest.experiments.segmentation import experiment, figures

    found, gains = experiment.summary(frame), experiment.compared(frame)
    grids = [
        grid_of(
            _shown(found),
            "Buildings in aerial images: pixel accuracy and IoU (%)",
            "Fitted to pixels of the other images of the place; means and standard "
            "deviations over the draws of pixels.",
        ),
        grid_of(
            _shown(gains),
            "Forests against each other, in points",
            "Gains: mean over images and draws. p: Wilcoxon's signed ranks of the "
            "draws; it is about other draws of pixels from these images, not about "
            "other images.",
        ),
    ]
    path = output / experiment.EXPERIMENT
    write(found.to_csv(index=False, float_format="%.6g"), path.with_suffix(".csv"))
    write("\n".join(grid.to_markdown() for grid in grids), path.with_suffix(".md"))
    write("\n".join(grid.to_latex() for grid in grids), path.with_suffix(".tex"))
    save(figures.draw(frame), path.with_suffix(".png"))
    for name in dict.fromkeys(frame["dataset"]):
        save(figures.draw_maps(frame, name), output / f"{path.name}-{name}.png")
    console = Console()
    for grid in grids:
        grid.print(console)
    console.print(
        f"The tables (.md, .tex, .csv), the figure and the maps are in {path}*",
        highlight=False,
        soft_wrap=True,
    )


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return what there is room for, under short names."""
    short = {"pixel_accuracy": "PA", "iou": "IoU", "deviation": "sd"}
    table = table.drop(columns=["fit_seconds", "predict_seconds"], errors="ignore")
    if "image" in table:
        table = table.drop(columns="place")
    for long, name in short.items():
        table.columns = table.columns.str.replace(long, name)
    return table
