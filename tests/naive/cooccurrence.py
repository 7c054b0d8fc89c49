# SPDX-License-Identifier: BSD-3-Clause
"""Haralick's features, one window at a time, by scikit-image."""

import numpy as np
from skimage.feature import graycomatrix, graycoprops

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


def haralick(grey, window, n_levels, distance):
    levels = np.array([[int(g) * n_levels // 256 for g in row] for row in grey])
    padded = np.pad(levels, window // 2, mode="reflect").astype(np.uint8)
    features = np.empty((*grey.shape, len(PROPERTIES)))
    for row, column in np.ndindex(grey.shape):
        seen = padded[row : row + window, column : column + window]
        counts = graycomatrix(seen, [distance], ANGLES, n_levels, symmetric=True)
        features[row, column] = [graycoprops(counts, p).mean() for p in PROPERTIES]
    return features
