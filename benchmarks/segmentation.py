# SPDX-License-Identifier: BSD-3-Clause
"""Haralick's features of every pixel, beside scikit-image called for each pixel.

    python benchmarks/segmentation.py [--size 600] [--pixels 2000]

An image of noise and smooth patches; ours for all pixels, scikit-image's for some of
them, in one run. Prints a table of Markdown.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from skimage.data import binary_blobs
from skimage.feature import graycomatrix, graycoprops

from mrforest.experiments.segmentation import PixelFeatures, haralick

ANGLES = [0, np.pi / 4, np.pi / 2, 3 * np.pi / 4]
PROPERTIES = [
    "ASM",
    "contrast",
    "correlation",
    "entropy",
    "homogeneity",
    "mean",
    "variance",
    "std",
]
WINDOW, N_LEVELS = 11, 32


def by_scikit_image(levels: np.ndarray, row: int, column: int) -> list[float]:
    """Features of one pixel; `levels` go on half a window beyond the image."""
    seen = levels[row : row + WINDOW, column : column + WINDOW]
    counts = graycomatrix(seen, [1], ANGLES, N_LEVELS, symmetric=True)
    return [graycoprops(counts, name).mean() for name in PROPERTIES]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=600)
    parser.add_argument("--pixels", type=int, default=2000)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    blobs = binary_blobs(options.size, rng=0)
    noise = random.integers(0, 256, blobs.shape)
    grey = np.where(blobs, noise, 90 + noise // 16).astype(np.uint8)
    image = np.dstack([grey, grey[::-1], grey[:, ::-1]])

    start = time.perf_counter()
    found = haralick(grey, window=WINDOW, n_levels=N_LEVELS)
    ours = (time.perf_counter() - start) / grey.size
    levels = np.pad(grey // (256 // N_LEVELS), WINDOW // 2, mode="reflect")
    places = random.integers(0, options.size, (options.pixels, 2))
    start = time.perf_counter()
    expected = np.array([by_scikit_image(levels, *place) for place in places])
    theirs = (time.perf_counter() - start) / options.pixels
    np.testing.assert_allclose(found[tuple(places.T)], expected, rtol=1e-9, atol=1e-9)
    start = time.perf_counter()
    PixelFeatures(window=WINDOW, n_levels=N_LEVELS).transform(image)
    whole = time.perf_counter() - start

    print("| | µs a pixel | ratio |")
    print("| :--- | ---: | ---: |")
    print(f"| scikit-image, window by window | {1e6 * theirs:.0f} | 1 |")
    print(f"| mrforest, moving window | {1e6 * ours:.2f} | {ours / theirs:.2g} |")
    size = f"{options.size} x {options.size}"
    print(f"\nAll twelve features of an image of {size}, one thread: {whole:.1f} s.")


if __name__ == "__main__":
    main()
