# SPDX-License-Identifier: BSD-3-Clause
"""The aerial images of the experiment, and which of their pixels are buildings."""

from __future__ import annotations

import logging
import tomllib
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pooch

from mrforest.experiments import datasets
from mrforest.experiments.segmentation.images import (
    Image,
    ImageError,
    Mask,
    read_image,
    read_mask,
)

__all__ = ["PLACES", "Picture", "load", "picture"]

FOLDER = "aerial"
N_RETRIES = 2


@dataclass(frozen=True)
class Picture:
    """An aerial image and a mask of its buildings.

    Attributes
    ----------
    name : str
    place : str
        Images of one place are like each other.
    files : list of str
        The image and the mask.
    sha256 : list of str
        Of both.
    licence : str
    addresses : tuple of str
        Where both can be downloaded; empty if they are in no file of their own.
    """

    name: str
    place: str
    files: list[str]
    sha256: list[str]
    licence: str
    addresses: tuple[str, ...] = ()


@cache
def _registry() -> dict[str, Picture]:
    text = files(__package__).joinpath("aerial.toml").read_text(encoding="utf-8")
    return {name: Picture(name, **about) for name, about in tomllib.loads(text).items()}


def picture(name: str) -> Picture:
    """Return what is known of an image.

    Parameters
    ----------
    name : str
        One of those in `PLACES`.

    Returns
    -------
    Picture
    """
    if name not in _registry():
        raise ValueError(f"name={name!r} must be one of {sorted(_registry())}")
    return _registry()[name]


# The images of each place
PLACES: dict[str, list[str]] = {}
for _picture in _registry().values():
    PLACES.setdefault(_picture.place, []).append(_picture.name)


def load(name: str, *, folder: Path | str | None = None) -> tuple[Image, Mask]:
    """Load an image and its mask, byte for byte as the registry has them.

    Parameters
    ----------
    name : str
        One of those in `PLACES`.
    folder : path, optional
        Look there first, in its folder ``aerial``. Default: what the environment
        variable MRFOREST_DATA names. Then comes the user's cache, then a download.

    Returns
    -------
    image : ndarray of uint8 of shape (height, width, 3)
    mask : ndarray of bool of shape (height, width)
        True where there is a building.

    Raises
    ------
    ImageError
        If it cannot be had, or is not what it should be.
    """
    wanted = picture(name)
    given = datasets.given_folder(folder)
    image, mask = (_find(wanted, part, given) for part in range(2))
    return read_image(image), read_mask(mask)


def _find(wanted: Picture, part: int, given: Path | None) -> Path:
    file, checksum = wanted.files[part], wanted.sha256[part]
    places = [] if given is None else [given / FOLDER]
    places.append(datasets.cache_folder() / FOLDER)
    for place in places:
        path = place / file
        if path.is_file():
            if sha256(path.read_bytes()).hexdigest() != checksum:
                raise ImageError(f"{path} is not the file of that name that was used")
            return path
    if not wanted.addresses:
        raise ImageError(
            f"{file} is in none of {', '.join(map(str, places))}, and there is no "
            "address to download it from; docs/segmentation.md tells what it is made of"
        )
    return _download(wanted.addresses[part], places[-1], file, checksum)


def _download(address: str, folder: Path, file: str, checksum: str) -> Path:
    pooch.get_logger().setLevel(logging.WARNING)
    store = pooch.create(
        folder,
        base_url="",
        registry={file: checksum},
        urls={file: address},
        retry_if_failed=N_RETRIES,
    )
    try:
        return Path(store.fetch(file, progressbar=False))
    except (OSError, ValueError) as error:  # requests' errors are OSErrors
        raise ImageError(
            f"{file} could not be downloaded from {address}: {error}. Put it into a "
            "folder aerial of the folder that --data or MRFOREST_DATA names"
        ) from error
