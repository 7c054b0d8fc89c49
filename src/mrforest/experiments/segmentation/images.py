# SPDX-License-Identifier: BSD-3-Clause
"""Images and masks from files, refused with a reason if they are of another kind."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from skimage.io import imread

__all__ = ["ImageError", "check_image", "check_mask", "read_image", "read_mask"]

Image = NDArray[np.uint8]
Mask = NDArray[np.bool_]

# A mask is drawn in black and white; its edges may be anything between.
WHITE_FROM = 128
# How files of PNG and TIFF begin, and where a PNG tells its bits a colour
PNG, PNG_BITS = b"\x89PNG\r\n\x1a\n", 24
TIFF = (b"II*\0", b"MM\0*")


class ImageError(ValueError):
    """An image or a mask that cannot be used, and what to do about it.

    Examples
    --------
    >>> from mrforest.experiments.segmentation import ImageError
    >>> issubclass(ImageError, ValueError)
    True
    """


def check_image(image: Any, name: str = "image") -> Image:
    """Refuse what is not an image of three colours with eight bits each.

    Parameters
    ----------
    image : array-like
    name : str, default="image"
        What to call it in an error.

    Returns
    -------
    ndarray of uint8 of shape (height, width, 3)

    Raises
    ------
    ImageError
    """
    image = np.asarray(image)
    shape = image.shape
    wanted = "must be RGB with 8 bits a colour, shape (height, width, 3) and uint8"
    if image.ndim == 2:
        raise ImageError(
            f"{name} is grey, shape {shape}; it {wanted}. skimage.color.gray2rgb makes "
            "it so, if the forest is trained on such images, too"
        )
    if image.ndim != 3 or shape[2] not in (2, 3, 4) or 0 in shape:
        raise ImageError(f"{name} has the shape {shape}; it {wanted}")
    if shape[2] == 2:
        raise ImageError(
            f"{name} is grey with an alpha channel, shape {shape}; it {wanted}"
        )
    if shape[2] == 4:
        raise ImageError(
            f"{name} has an alpha channel, or is CMYK, shape {shape}; it {wanted}. "
            "Save it as RGB without transparency, or pass image[..., :3]"
        )
    if image.dtype != np.uint8:
        kind = "16 bits a colour" if image.dtype == np.uint16 else f"{image.dtype}"
        raise ImageError(
            f"{name} has {kind}; it {wanted}. skimage.util.img_as_ubyte converts it"
        )
    return np.ascontiguousarray(image)


def check_mask(mask: Any, image: Image, name: str = "mask") -> NDArray[Any]:
    """Refuse a mask that does not have one label for each pixel of an image.

    Parameters
    ----------
    mask : array-like
    image : ndarray of shape (height, width, 3)
    name : str, default="mask"
        What to call it in an error.

    Returns
    -------
    ndarray of shape (height, width)

    Raises
    ------
    ImageError
    """
    labels: NDArray[Any] = np.asarray(mask)
    if labels.shape != image.shape[:2]:
        raise ImageError(
            f"{name} has the shape {labels.shape}, its image {image.shape[:2]}; they "
            "must be of one size"
        )
    if labels.dtype.kind not in "biuU":
        raise ImageError(
            f"{name} has the type {labels.dtype}; it must be an array with a label for "
            "each pixel: bool, whole numbers or str"
        )
    return labels


def read_image(path: Path | str) -> Image:
    """Read an image file.

    Parameters
    ----------
    path : path
        Of a file that scikit-image can read: PNG, JPEG, TIFF, ...

    Returns
    -------
    ndarray of uint8 of shape (height, width, 3)

    Raises
    ------
    ImageError
        If it cannot be read, or is not RGB with 8 bits a colour.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from skimage.io import imsave
    >>> from mrforest.experiments.segmentation import read_image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/image.png"
    ...     imsave(path, np.full((4, 5, 3), 7, dtype=np.uint8), check_contrast=False)
    ...     read_image(path).shape
    (4, 5, 3)
    """
    return check_image(_read(path), str(path))


def read_mask(path: Path | str) -> Mask:
    """Read a black and white image file.

    Parameters
    ----------
    path : path

    Returns
    -------
    ndarray of bool of shape (height, width)
        True where it is white: from 128 of 255 on.

    Raises
    ------
    ImageError
        If it cannot be read, has colours or more than 8 bits.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from skimage.io import imsave
    >>> from mrforest.experiments.segmentation import read_mask
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/mask.png"
    ...     imsave(path, np.array([[0, 255]], dtype=np.uint8), check_contrast=False)
    ...     read_mask(path).tolist()
    [[False, True]]
    """
    mask = _read(path)
    if mask.ndim == 3 and mask.shape[2] == 3 and (mask == mask[..., :1]).all():
        mask = mask[..., 0]  # grey, written as three colours
    if mask.ndim != 2 or mask.dtype not in (np.uint8, np.bool_):
        raise ImageError(
            f"{path} has the shape {mask.shape} and {mask.dtype}; a mask must be black "
            "and white, one channel of 8 bits"
        )
    if mask.dtype == np.bool_:
        return mask
    if 0 < mask.max(initial=0) < WHITE_FROM:
        raise ImageError(
            f"{path} is nowhere lighter than {mask.max()} of 255; a mask must be black "
            "and white. If it is 0 and 1, multiply it by 255"
        )
    return mask >= WHITE_FROM


def _read(path: Path | str) -> NDArray[Any]:
    path = Path(path)
    if not path.is_file():
        raise ImageError(f"{path} is no file")
    content = path.read_bytes()
    try:
        # Readers drop the lower eight bits without a word, or know no such colours.
        if _bits(content) > 8:
            raise ImageError(f"{path} has 16 bits a colour or more; save it with 8")
        return np.asarray(imread(io.BytesIO(content)))
    except ImageError:
        raise
    # Readers of formats raise what they like.
    except Exception as error:
        raise ImageError(f"{path} cannot be read as an image: {error}") from error


def _bits(content: bytes) -> int:
    """Bits a colour of a PNG or TIFF file; 8 of others, which have no more."""
    if content[:8] == PNG:
        return content[PNG_BITS]
    if content[:4] in TIFF:
        with tifffile.TiffFile(io.BytesIO(content)) as file:
            return int(np.max(file.pages.first.bitspersample))
    return 8
