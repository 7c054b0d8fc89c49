# SPDX-License-Identifier: BSD-3-Clause
"""What each pixel of an image is: a forest that is told of its colour and texture."""

from mrforest.experiments.segmentation.features import PixelFeatures, haralick
from mrforest.experiments.segmentation.images import (
    ImageError,
    read_image,
    read_mask,
)
from mrforest.experiments.segmentation.segmenter import (
    ForestSegmenter,
    intersection_over_union,
    pixel_accuracy,
)

__all__ = [
    "ForestSegmenter",
    "ImageError",
    "PixelFeatures",
    "haralick",
    "intersection_over_union",
    "pixel_accuracy",
    "read_image",
    "read_mask",
]
