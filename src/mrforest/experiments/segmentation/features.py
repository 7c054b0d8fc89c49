# SPDX-License-Identifier: BSD-3-Clause
"""What a forest is told of a pixel: its colour, and the texture around it."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from skimage.color import rgb2gray
from skimage.feature import local_binary_pattern
from skimage.util import img_as_ubyte
from sklearn.base import BaseEstimator, TransformerMixin

from mrforest._threads import in_parts
from mrforest.experiments.segmentation._texture import haralick_features
from mrforest.experiments.segmentation.images import Image, ImageError, check_image

__all__ = ["PixelFeatures", "haralick"]

HARALICK = (
    "angular second moment", "contrast", "correlation", "entropy", "homogeneity",
    "mean", "variance", "standard deviation",
)  # fmt: skip
NAMES = ("red", "green", "blue", "local binary pattern", *HARALICK)
# Half of the circle: a pair counts whichever of its pixels comes first.
ANGLES = np.pi / 4 * np.array([0, 1, 2, -1])
MOST_LEVELS, MOST_WINDOW = 256, 255
# Kinds of patterns, and how many points each can have: scikit-image keeps the first two
# as numbers of 32 bits and counts rotations of the third in 8.
PATTERNS = {
    "uniform": 1024, "default": 31, "ror": 31, "nri_uniform": 127, "var": 1024,
}  # fmt: skip


class PixelFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features of every pixel of an image: colour, local binary pattern, Haralick's.

    Those of the paper: red, green, blue; the local binary pattern of the grey image;
    eight of Haralick's features of the grey levels in a window around the pixel,
    averaged over the four directions. An image goes on beyond its edges as in a mirror.

    Parameters
    ----------
    window : int, default=11
        Width and height of the window, in pixels; odd.
    n_levels : int, default=32
        Grey levels that are told apart in the window.
    distance : int, default=1
        Distance of the pixels whose levels are compared.
    radius : float, default=24
        Of the circle that a local binary pattern compares a pixel with.
    n_points : int or None, default=None
        Points of that circle. None: eight times the radius.
    pattern : {"uniform", "default", "ror", "nri_uniform", "var"}, default="uniform"
        Kind of pattern, as in `skimage.feature.local_binary_pattern`. "uniform": how
        many points in a row are at least as light as the pixel, if they are in a row.
    n_jobs : int or None, default=None
        Threads.

    Notes
    -----
    The paper gives the features and the radius. Window, levels, distance and kind of
    pattern are ours; the window and the number of points are those of the program that
    its images come with.

    Examples
    --------
    >>> from skimage.data import astronaut
    >>> from mrforest.experiments.segmentation import PixelFeatures
    >>> image = astronaut()[:32, :40]
    >>> features = PixelFeatures(window=5, radius=2)
    >>> features.fit_transform(image).shape
    (1280, 12)
    >>> features.get_feature_names_out()[:4]
    array(['red', 'green', 'blue', 'local binary pattern'], dtype=object)
    """

    def __init__(
        self,
        *,
        window: int = 11,
        n_levels: int = 32,
        distance: int = 1,
        radius: float = 24,
        n_points: int | None = None,
        pattern: str = "uniform",
        n_jobs: int | None = None,
    ) -> None:
        self.window = window
        self.n_levels = n_levels
        self.distance = distance
        self.radius = radius
        self.n_points = n_points
        self.pattern = pattern
        self.n_jobs = n_jobs

    def fit(self, X: Image, y: Any = None) -> PixelFeatures:
        """Check the parameters and the image. Nothing is learned.

        Parameters
        ----------
        X : ndarray of uint8 of shape (height, width, 3)
            An image.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        check_image(X)
        return self

    def transform(self, X: Image) -> NDArray[np.float64]:
        """Compute the features.

        Parameters
        ----------
        X : ndarray of uint8 of shape (height, width, 3)
            An image.

        Returns
        -------
        ndarray of shape (height * width, 12)
            Row after row of pixels.
        """
        self._check_parameters()
        image = check_image(X)
        grey = img_as_ubyte(rgb2gray(image))
        pattern = self._pattern(grey)
        window = haralick(
            grey,
            window=self.window,
            n_levels=self.n_levels,
            distance=self.distance,
            n_jobs=self.n_jobs,
        )
        features = np.concatenate([image, pattern[..., None], window], axis=2)
        return features.reshape(-1, len(NAMES))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        return np.array(NAMES, dtype=object)

    def _pattern(self, grey: NDArray[np.uint8]) -> NDArray[np.float64]:
        edge = int(np.ceil(self.radius)) + 1
        padded = np.pad(grey, edge, mode="reflect")
        n_points = self.n_points or max(1, round(8 * self.radius))
        pattern = local_binary_pattern(padded, n_points, self.radius, self.pattern)
        inside = pattern[edge:-edge, edge:-edge]
        # "var" has no value where all points of the circle are equal.
        return np.nan_to_num(np.asarray(inside, dtype=np.float64))

    def _check_parameters(self) -> None:
        _check_window(self.window, self.n_levels, self.distance)
        if not isinstance(self.radius, Real) or not 0 < self.radius < np.inf:
            raise ValueError(f"radius={self.radius!r} must be a positive number")
        if self.pattern not in PATTERNS:
            raise ValueError(
                f"pattern={self.pattern!r} must be one of {tuple(PATTERNS)}"
            )
        most = PATTERNS[self.pattern]
        if self.n_points is not None:
            _check_integer("n_points", self.n_points, 1, most)
        elif 8 * self.radius > most:
            raise ValueError(
                f"radius={self.radius!r} has {round(8 * self.radius)} points, "
                f"pattern={self.pattern!r} at most {most}; give n_points"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def haralick(
    grey: NDArray[np.uint8],
    *,
    window: int = 11,
    n_levels: int = 32,
    distance: int = 1,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Compute Haralick's features of the window around every pixel.

    At each pixel they are those of `skimage.feature.graycoprops` of
    `skimage.feature.graycomatrix` of the window, symmetric, at the angles 0, 45, 90 and
    135 degrees, averaged over the angles.

    Parameters
    ----------
    grey : ndarray of uint8 of shape (height, width)
        A grey image. It goes on beyond its edges as in a mirror.
    window : int, default=11
        Width and height of the window, in pixels; odd.
    n_levels : int, default=32
        Equal steps that the 256 grey values are laid on.
    distance : int, default=1
        Distance of the pixels that make a pair, in a direction, rounded to whole
        pixels.
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    ndarray of shape (height, width, 8)
        Angular second moment, contrast, correlation, entropy, homogeneity, mean,
        variance, standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from mrforest.experiments.segmentation import haralick
    >>> grey = np.zeros((20, 30), dtype=np.uint8)
    >>> haralick(grey, window=5).shape[:2]
    (20, 30)
    """
    _check_window(window, n_levels, distance)
    grey = np.asarray(grey)
    if grey.ndim != 2 or grey.dtype != np.uint8 or 0 in grey.shape:
        raise ImageError(
            f"grey has the shape {grey.shape} and {grey.dtype}; it must be a grey "
            "image with 8 bits, shape (height, width) and uint8"
        )
    levels = (grey.astype(np.uint16) * n_levels // 256).astype(np.uint8)
    levels = np.pad(levels, window // 2, mode="reflect")
    # From the left pixel of a pair to the right one, or downwards
    steps = distance * np.column_stack([np.sin(ANGLES), np.cos(ANGLES)])
    offsets = np.rint(steps).astype(np.int32)
    features = np.zeros((*grey.shape, len(HARALICK)))

    def fill(rows: slice) -> None:
        haralick_features(levels, n_levels, window, offsets, rows.start, features[rows])

    in_parts(fill, len(grey), effective_n_jobs(n_jobs))
    return features


def _check_window(window: Any, n_levels: Any, distance: Any) -> None:
    _check_integer("window", window, 3, MOST_WINDOW)
    if window % 2 == 0:
        raise ValueError(f"window={window!r} must be odd, with the pixel in its middle")
    _check_integer("n_levels", n_levels, 2, MOST_LEVELS)
    _check_integer("distance", distance, 1, window - 1)


def _check_integer(name: str, value: Any, least: int, most: int) -> None:
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or not least <= value <= most:
        raise ValueError(
            f"{name}={value!r} must be a whole number from {least} to {most}"
        )
