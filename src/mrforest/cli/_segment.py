# SPDX-License-Identifier: BSD-3-Clause
"""Segmentation of images on the command line: train a model, use it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import joblib
import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from mrforest import __version__
from mrforest.cli._options import output_path, png_path, read_n_jobs
from mrforest.cli._reproduce import end
from mrforest.experiments import protocol, whole_file
from mrforest.experiments.segmentation import (
    ForestSegmenter,
    ImageError,
    PixelFeatures,
    intersection_over_union,
    pixel_accuracy,
    read_image,
    read_mask,
)
from mrforest.experiments.segmentation.experiment import FORESTS
from mrforest.experiments.segmentation.figures import HEAT

__all__ = ["app"]

app = typer.Typer(
    help="Tell which pixels of images are what, by a forest.", no_args_is_help=True
)

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")
MASK_ENDING = "_mask"

Jobs = Annotated[
    int, typer.Option(callback=read_n_jobs, help="Threads; -1: one for each core.")
]


def _read_forest(name: str) -> str:
    if name not in FORESTS:
        raise typer.BadParameter(f"{name!r} must be one of {', '.join(FORESTS)}")
    return name


@app.command()
def train(
    images: Annotated[
        list[Path],
        typer.Option(
            help="An image, or a folder of images; may be given again.", exists=True
        ),
    ],
    masks: Annotated[
        list[Path],
        typer.Option(
            help="Its mask, white where there is what is looked for; or a folder of "
            "masks, NAME.png or NAME_mask.png for the image NAME.jpg.",
            exists=True,
        ),
    ],
    model: Annotated[
        Path,
        typer.Option(help="File to write.", dir_okay=False, callback=output_path),
    ],
    forest: Annotated[
        str, typer.Option(help=f"One of {', '.join(FORESTS)}.", callback=_read_forest)
    ] = "MRF",
    pixels: Annotated[
        int, typer.Option(min=2, help="Pixels drawn from all images, to learn from.")
    ] = 10_000,
    stratified: Annotated[
        bool,
        typer.Option("--stratified", help="Draw both kinds of pixels by their shares."),
    ] = False,
    n_estimators: Annotated[int, typer.Option(min=1, help="Number of trees.")] = 100,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Of the drawing and the forest.")
    ] = 0,
    n_jobs: Jobs = -1,
) -> None:
    """Learn from images whose masks are known, and write a model."""
    pairs = _pair(images, masks)
    segmenter = ForestSegmenter(
        protocol.make_forest(
            forest,
            FORESTS[forest],
            n_estimators=n_estimators,
            n_jobs=n_jobs,
            random_state=seed,
        ),
        features=PixelFeatures(n_jobs=n_jobs),
        n_pixels=pixels,
        stratified=stratified,
        random_state=seed,
        verbose=1,
    )
    try:
        shown = [read_image(image) for image, _ in pairs]
        truths = [read_mask(mask) for _, mask in pairs]
        for (image, mask), picture, truth in zip(pairs, shown, truths, strict=True):
            if picture.shape[:2] != truth.shape:
                raise ImageError(
                    f"{mask} has {_size(truth)} pixels, its image {image} "
                    f"{_size(picture)}; they must be of one size"
                )
        segmenter.fit(shown, truths)
    except ValueError as error:
        end(str(error))
    with whole_file(model) as unfinished:
        joblib.dump(
            {"version": __version__, "segmenter": segmenter}, unfinished, compress=3
        )
    Console().print(
        f"Learned from {pixels:,} pixels of {len(pairs)} images; the model is in "
        f"{model}",
        highlight=False,
        soft_wrap=True,
    )


@app.command()
def predict(
    image: Annotated[Path, typer.Argument(help="An image.", exists=True)],
    model: Annotated[
        Path,
        typer.Option(
            help="A model that train wrote. A model can run programs: open those of "
            "people you trust.",
            exists=True,
            dir_okay=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="PNG for the map of probabilities.",
            dir_okay=False,
            callback=png_path,
        ),
    ],
    labels: Annotated[
        Path | None,
        typer.Option(
            help="PNG for a mask, white where it is likelier than not.",
            dir_okay=False,
            callback=png_path,
        ),
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="The true mask, to compare with.", exists=True)
    ] = None,
    n_jobs: Jobs = -1,
) -> None:
    """Tell how likely each pixel of an image is what was looked for."""
    segmenter = _load(model)
    for part in (segmenter.forest_, segmenter.features_):
        part.set_params(n_jobs=n_jobs)
    segmenter.verbose = 1
    try:
        picture = read_image(image)
        known = None if truth is None else read_mask(truth)
        if known is not None and known.shape != picture.shape[:2]:
            raise ImageError(
                f"{truth} has {_size(known)} pixels, the image {_size(picture)}; they "
                "must be of one size"
            )
        heat = segmenter.predict_proba(picture)[..., 1]
    except ValueError as error:
        end(str(error))
    told = heat > 0.5
    _save(_coloured(heat), output)
    if labels is not None:
        _save(np.where(told, 255, 0).astype(np.uint8), labels)
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{100 * told.mean():.1f} % of the pixels; the map is in {output}")
    if known is not None:
        console.print(
            f"Pixel accuracy {100 * pixel_accuracy(known, told):.1f} %, IoU "
            f"{100 * intersection_over_union(known, told):.1f} %"
        )


# ---- files ---------------------------------------------------------------------------


def _pair(images: list[Path], masks: list[Path]) -> list[tuple[Path, Path]]:
    """Find the mask of each image: by place in the list, in folders by name."""
    pairs = []
    if len(images) != len(masks):
        raise typer.BadParameter(
            f"given {len(masks)} times, --images {len(images)} times",
            param_hint="--masks",
        )
    for image, mask in zip(images, masks, strict=True):
        if image.is_dir() != mask.is_dir():
            raise typer.BadParameter(
                f"{image} and {mask} must both be files, or both be folders",
                param_hint="--masks",
            )
        pairs.extend(_pair_folders(image, mask) if image.is_dir() else [(image, mask)])
    return pairs


def _pair_folders(images: Path, masks: Path) -> list[tuple[Path, Path]]:
    files = {path.stem: path for path in _files(masks)}
    pairs = []
    for image in _files(images):
        if image.stem.endswith(MASK_ENDING):
            continue
        mask = files.get(image.stem + MASK_ENDING)
        if mask is None and images.resolve() != masks.resolve():
            mask = files.get(image.stem)
        if mask is None:
            raise typer.BadParameter(
                f"{masks} has no mask of {image.name}", param_hint="--masks"
            )
        pairs.append((image, mask))
    if not pairs:
        raise typer.BadParameter(f"no images in {images}", param_hint="--images")
    return pairs


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES)


def _load(model: Path) -> Any:
    try:
        found = joblib.load(model)
        segmenter, version = found["segmenter"], found["version"]
    # A file that is no model may be anything, and fail in any way.
    except Exception as error:
        end(f"{model} is no model that mrforest segment train wrote: {error!r}")
    if version != __version__:
        end(
            f"{model} was written by mrforest {version}, this is {__version__}; train "
            "it anew"
        )
    return segmenter


def _coloured(heat: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Turn probabilities into colours, black over red to yellow."""
    import matplotlib as mpl

    return np.asarray(mpl.colormaps[HEAT](heat, bytes=True)[..., :3])


def _save(picture: NDArray[np.uint8], path: Path) -> None:
    from PIL import Image

    with whole_file(path) as unfinished:
        Image.fromarray(picture).save(unfinished, "PNG")


def _size(picture: NDArray[Any]) -> str:
    return f"{picture.shape[1]} x {picture.shape[0]}"
