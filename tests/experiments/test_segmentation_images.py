# SPDX-License-Identifier: BSD-3-Clause
"""Files that are no images of the right kind are refused with what is wrong."""

import struct
import zlib

import numpy as np
import pytest

pytest.importorskip("skimage")

import tifffile
from PIL import Image

from mrforest.experiments.segmentation import ImageError, read_image, read_mask
from mrforest.experiments.segmentation.images import check_image

RGB = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)


def saved(tmp_path, array, name="file.png"):
    path = tmp_path / name
    Image.fromarray(array).save(path)
    return path


@pytest.mark.parametrize("name", ["file.png", "file.tif", "file.TIFF", "file.bmp"])
def test_an_image_is_read_as_it_is(tmp_path, name):
    assert (read_image(saved(tmp_path, RGB, name)) == RGB).all()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (RGB[..., 0], "is grey, shape \\(4, 5\\)"),
        (np.dstack([RGB, RGB[..., 0]]), "has an alpha channel, or is CMYK, shape"),
    ],
)
def test_other_kinds_of_images_are_refused(tmp_path, array, message):
    with pytest.raises(ImageError, match=f"file.png {message}.*must be RGB with 8"):
        read_image(saved(tmp_path, array))


def test_two_channels_are_refused():
    with pytest.raises(ImageError, match="image is grey with an alpha channel"):
        check_image(RGB[..., :2])


def test_16_bits_are_refused(tmp_path):
    tiff = tmp_path / "file.tif"
    tifffile.imwrite(tiff, RGB.astype(np.uint16))
    with pytest.raises(ImageError, match=r"file\.tif has 16 bits a colour"):
        read_image(tiff)
    with pytest.raises(ImageError, match=r"16 bits a colour.*img_as_ubyte"):
        check_image(RGB.astype(np.uint16))
    png = tmp_path / "file.png"
    png.write_bytes(png_of_16_bits(RGB))
    for read in (read_image, read_mask):
        with pytest.raises(ImageError, match=r"file\.png has 16 bits a colour"):
            read(png)


def png_of_16_bits(rgb):
    """Write a PNG that few programs write."""

    def chunk(kind, data):
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    height, width, _ = rgb.shape
    lines = b"".join(b"\0" + line.astype(">u2").tobytes() for line in rgb)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(lines))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("read", [read_image, read_mask])
def test_what_is_no_image_is_refused(tmp_path, read):
    with pytest.raises(ImageError, match=r"nothing\.png is no file"):
        read(tmp_path / "nothing.png")
    path = tmp_path / "text.png"
    path.write_text("no image")
    with pytest.raises(ImageError, match=r"text\.png cannot be read as an image"):
        read(path)
    noise = np.random.default_rng(0).integers(0, 256, (50, 50, 3)).astype(np.uint8)
    path = saved(tmp_path, noise)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(ImageError, match=r"file\.png cannot be read as an image"):
        read(path)


def test_masks_are_white_from_the_middle_on(tmp_path):
    grey = np.array([[0, 127, 128, 255]], dtype=np.uint8)
    expected = [[False, False, True, True]]
    assert read_mask(saved(tmp_path, grey)).tolist() == expected
    assert read_mask(saved(tmp_path, np.dstack([grey] * 3))).tolist() == expected
    assert read_mask(saved(tmp_path, grey > 127)).tolist() == expected


def test_a_mask_of_0_and_1_is_refused(tmp_path):
    with pytest.raises(ImageError, match=r"nowhere lighter than 1 of 255.*by 255"):
        read_mask(saved(tmp_path, (RGB[..., 0] > 30).astype(np.uint8)))
    assert not read_mask(saved(tmp_path, np.zeros((4, 5), dtype=np.uint8))).any()


@pytest.mark.parametrize("photometric", ["minisblack", "miniswhite"])
def test_tiff_masks_are_read_as_they_look(tmp_path, photometric):
    white = np.array([[0, 255, 255]], dtype=np.uint8)
    stored = 255 - white if photometric == "miniswhite" else white
    path = tmp_path / "mask.tif"
    tifffile.imwrite(path, stored, photometric=photometric)
    assert read_mask(path).tolist() == [[False, True, True]]


@pytest.mark.parametrize("array", [RGB, np.dstack([RGB, RGB[..., 0]])])
def test_other_kinds_of_masks_are_refused(tmp_path, array):
    with pytest.raises(ImageError, match="must be black and white, one channel of 8"):
        read_mask(saved(tmp_path, array))
