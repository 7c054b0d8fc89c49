# SPDX-License-Identifier: BSD-3-Clause
"""A forest that tells what each pixel of an image is."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state, resample
from sklearn.utils.validation import check_is_fitted

from mrforest._progress import progress_bar
from mrforest.experiments.segmentation.features import PixelFeatures
from mrforest.experiments.segmentation.images import (
    Image,
    ImageError,
    check_image,
    check_mask,
)
from mrforest.forests.multinomial import MultinomialForestClassifier

__all__ = [
    "ForestSegmenter",
    "draw_pixels",
    "intersection_over_union",
    "pixel_accuracy",
]

# Features are computed for about so many pixels at a time; for more, if a strip would
# not be this many times as high as its margins, which are computed twice.
STRIP_PIXELS = 2**18
STRIP_MARGINS = 8


class Strip(NamedTuple):
    """Some rows of an image, as a part of a larger piece of it.

    Attributes
    ----------
    rows : slice
        Of the image.
    piece : slice
        Of the image: the same rows and those around them that features depend on.
    """

    rows: slice
    piece: slice


class ForestSegmenter(BaseEstimator):  # type: ignore[misc]
    """Tell what each pixel of an image is, by a forest.

    A forest is fitted to pixels that are drawn from images whose masks are known, and
    asked about all pixels of another.

    Parameters
    ----------
    forest : classifier or None, default=None
        Any classifier with `predict_proba`. None: a multinomial forest.
    features : PixelFeatures or None, default=None
        What the forest is told of a pixel. None: the paper's features.
    n_pixels : int, default=10_000
        Pixels that the forest is fitted to, drawn without replacement from all images.
    stratified : bool, default=False
        Whether the drawn pixels have the shares of classes that the masks have.
    unknown : label or None, default=None
        Pixels with this label are not learned from, so that a few strokes of a brush
        make a mask. None: all labels are known.
    random_state : int, RandomState or None, default=None
        Of the drawing, and of the default forest. Another forest has its own.
    verbose : int, default=0
        1: show a progress bar.

    Attributes
    ----------
    forest_ : classifier
        The fitted forest.
    features_ : PixelFeatures
    classes_ : ndarray of shape (n_classes,)
        The labels of the masks.

    Examples
    --------
    >>> from skimage.data import astronaut
    >>> from mrforest.experiments.segmentation import ForestSegmenter, PixelFeatures
    >>> image = astronaut()[:64, :64]
    >>> mask = image[..., 0] > 100
    >>> features = PixelFeatures(window=5, radius=2)
    >>> segmenter = ForestSegmenter(features=features, n_pixels=500, random_state=0)
    >>> segmenter.fit(image, mask).predict(image).shape
    (64, 64)
    """

    def __init__(
        self,
        forest: Any = None,
        *,
        features: PixelFeatures | None = None,
        n_pixels: int = 10_000,
        stratified: bool = False,
        unknown: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.forest = forest
        self.features = features
        self.n_pixels = n_pixels
        self.stratified = stratified
        self.unknown = unknown
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Image | Sequence[Image], y: NDArray[Any] | Sequence[NDArray[Any]]
    ) -> ForestSegmenter:
        """Fit the forest to pixels that are drawn from images.

        Parameters
        ----------
        X : ndarray of uint8 of shape (height, width, 3), or list of such
            One or more images, of any sizes.
        y : ndarray of shape (height, width), or list of such
            The label of each pixel: bool, whole numbers or text.

        Returns
        -------
        self
        """
        images, masks = _pairs(X, y)
        labels = np.concatenate([mask.ravel() for mask in masks])
        drawn = draw_pixels(
            labels,
            self.n_pixels,
            stratified=self.stratified,
            unknown=self.unknown,
            random_state=self.random_state,
        )
        self._check_drawn(labels, drawn)
        features = clone(self.features) if self.features else PixelFeatures()
        self.features_ = features.fit(images[0])
        forest = self.forest
        if forest is None:
            forest = MultinomialForestClassifier(random_state=self.random_state)
        pixels = self._features_of(images, drawn)
        self.forest_ = clone(forest).fit(pixels, labels[drawn])
        self.classes_ = self.forest_.classes_
        return self

    def predict_proba(self, X: Image) -> NDArray[np.float64]:
        """Tell how likely each class is at each pixel.

        Parameters
        ----------
        X : ndarray of uint8 of shape (height, width, 3)
            An image.

        Returns
        -------
        ndarray of shape (height, width, n_classes)
            In the order of `classes_`.
        """
        check_is_fitted(self)
        image = check_image(X)
        strips = list(strips_of(image, self._margin()))
        told = np.empty((*image.shape[:2], len(self.classes_)))
        with progress_bar("pixels", len(strips), visible=self.verbose > 0) as step:
            for strip in strips:
                features = self._features_in(image, strip)
                probabilities = self.forest_.predict_proba(features)
                told[strip.rows] = probabilities.reshape(told[strip.rows].shape)
                step()
        return told

    def predict(self, X: Image) -> NDArray[Any]:
        """Tell the most likely class of each pixel.

        Parameters
        ----------
        X : ndarray of uint8 of shape (height, width, 3)
            An image.

        Returns
        -------
        ndarray of shape (height, width)
            Labels.
        """
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=2)])

    def score(self, X: Image, y: NDArray[Any]) -> float:
        """Return the pixel accuracy on an image.

        Parameters
        ----------
        X : ndarray of uint8 of shape (height, width, 3)
            An image.
        y : ndarray of shape (height, width)
            The label of each pixel.

        Returns
        -------
        float
            Of the pixels whose label is known.
        """
        truth, told = check_mask(y, check_image(X)), self.predict(X)
        if self.unknown is None:
            return pixel_accuracy(truth, told)
        is_known = truth != self.unknown
        return pixel_accuracy(truth[is_known], told[is_known])

    def _check_drawn(self, labels: NDArray[Any], drawn: NDArray[np.intp]) -> None:
        """Refuse a single class, and tell which are missing."""
        found, present = np.unique(labels[drawn]), np.unique(labels)
        if len(found) < 2:
            raise ImageError(
                f"the {len(drawn):,} pixels drawn from the masks all have the one "
                f"class {found[0].item()!r}; there must be two or more to tell apart"
            )
        missing = set(present.tolist()) - set(found.tolist()) - {self.unknown}
        if missing:
            warnings.warn(
                f"no pixel of {sorted(missing)} is among the {len(drawn):,} that were "
                "drawn, so none will be told; draw more of them",
                UserWarning,
                stacklevel=3,
            )

    def _margin(self) -> int:
        """Rows around a pixel that its features depend on."""
        features = self.features_
        return max(features.window // 2, int(np.ceil(features.radius)) + 1)

    def _features_in(self, image: Image, strip: Strip) -> NDArray[np.float64]:
        """Compute the features of the pixels of a strip."""
        width = image.shape[1]
        features = self.features_.transform(image[strip.piece])
        above = strip.rows.start - strip.piece.start
        n_rows = strip.rows.stop - strip.rows.start
        return np.asarray(features[above * width : (above + n_rows) * width])

    def _features_of(
        self, images: Sequence[Image], drawn: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Compute the features of some pixels, places in all images, ascending."""
        margin = self._margin()
        work = [(image, list(strips_of(image, margin))) for image in images]
        n_strips = sum(len(strips) for _, strips in work)
        found, begin = [], 0
        with progress_bar("features", n_strips, visible=self.verbose > 0) as step:
            for image, strips in work:
                for strip in strips:
                    rows, width = strip.rows, image.shape[1]
                    end = begin + (rows.stop - rows.start) * width
                    own = drawn[slice(*np.searchsorted(drawn, [begin, end]))]
                    if len(own):
                        found.append(self._features_in(image, strip)[own - begin])
                    begin = end
                    step()
        return np.concatenate(found)


def draw_pixels(
    labels: NDArray[Any],
    n_pixels: int,
    *,
    stratified: bool = False,
    unknown: Any = None,
    random_state: Any = None,
) -> NDArray[np.intp]:
    """Draw pixels without replacement.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Of all pixels.
    n_pixels : int
    stratified : bool, default=False
        Whether the drawn ones have the shares of classes that all have.
    unknown : label or None, default=None
        Pixels with this label are not drawn.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    ndarray of shape (n_pixels,)
        Places of pixels, ascending.
    """
    if isinstance(n_pixels, bool) or not isinstance(n_pixels, (int, np.integer)):
        raise ValueError(f"n_pixels={n_pixels!r} must be a whole number")
    is_known = np.ones(len(labels), bool) if unknown is None else labels != unknown
    known = np.flatnonzero(is_known)
    if not 1 <= n_pixels <= len(known):
        raise ValueError(
            f"n_pixels={n_pixels!r} must be from 1 to {len(known):,}, the number of "
            "pixels whose label is known"
        )
    drawn = resample(
        known,
        replace=False,
        n_samples=n_pixels,
        stratify=labels[known] if stratified else None,
        random_state=check_random_state(random_state),
    )
    return np.sort(drawn)


def strips_of(image: Image, margin: int) -> Iterator[Strip]:
    """Cut an image into strips whose features fit into memory.

    A strip is higher than its margin, so that the mirror beyond an edge of its piece is
    of no concern, or is that of the image.
    """
    height, width = image.shape[:2]
    n_rows = max(STRIP_PIXELS // width, STRIP_MARGINS * margin)
    for start in range(0, height, n_rows):
        stop = min(start + n_rows, height)
        piece = slice(max(start - margin, 0), min(stop + margin, height))
        yield Strip(slice(start, stop), piece)


def _pairs(
    images: Image | Sequence[Image], masks: NDArray[Any] | Sequence[NDArray[Any]]
) -> tuple[list[Image], list[NDArray[Any]]]:
    """Check images and their masks, which may be one of each."""
    if not isinstance(images, list | tuple) and np.ndim(images) <= 3:
        images, masks = [np.asarray(images)], [np.asarray(masks)]
    if len(images) == 0 or len(images) != len(masks):
        raise ImageError(
            f"there are {len(images)} images and {len(masks)} masks; there must be a "
            "mask for each image, and one image at least"
        )
    if len(images) == 1:
        checked = [check_image(images[0])]
        return checked, [check_mask(masks[0], checked[0])]
    checked = [check_image(x, f"image {i}") for i, x in enumerate(images)]
    return checked, [
        check_mask(mask, image, f"mask {i}")
        for i, (mask, image) in enumerate(zip(masks, checked, strict=True))
    ]


# ---- how good a segmentation is ------------------------------------------------------


def pixel_accuracy(truth: NDArray[Any], told: NDArray[Any]) -> float:
    """Return the share of pixels that are told right.

    Parameters
    ----------
    truth, told : ndarray of shape (height, width)
        Labels.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> pixel_accuracy(np.array([[0, 1]]), np.array([[1, 1]]))
    0.5
    """
    return float(np.mean(_same_shape(truth, told)))


def intersection_over_union(
    truth: NDArray[Any], told: NDArray[Any], label: Any = True
) -> float:
    """Return how well two areas overlap.

    Parameters
    ----------
    truth, told : ndarray of shape (height, width)
        Labels.
    label : default=True
        The area is where the label is this.

    Returns
    -------
    float
        Pixels in both areas over pixels in either; NaN if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> intersection_over_union(np.array([[0, 1, 1]]), np.array([[1, 1, 1]]), 1)
    0.6666666666666666
    """
    _same_shape(truth, told)
    a, b = np.asarray(truth) == label, np.asarray(told) == label
    either = np.count_nonzero(a | b)
    return float(np.count_nonzero(a & b) / either) if either else float("nan")


def _same_shape(truth: NDArray[Any], told: NDArray[Any]) -> NDArray[np.bool_]:
    """Refuse labels of different shapes; return where they are the same."""
    truth, told = np.asarray(truth), np.asarray(told)
    if truth.shape != told.shape:
        raise ValueError(
            f"truth has the shape {truth.shape}, told {told.shape}; they must be one"
        )
    return np.asarray(truth == told)
