# SPDX-License-Identifier: BSD-3-Clause
"""Distributions whose smallest possible error is known, to see errors tend to it.

All features lie in [0, 1] and have a positive density there, as the consistency theorem
of the paper wants. What is known of each is its *posterior*, the probabilities of the
classes at a point; the Bayes risk is the mean of 1 - the largest of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax

__all__ = ["DISTRIBUTIONS", "Distribution", "by_quadrature"]

Points = NDArray[np.float64]

# Of the checkerboard: squares along a side, and the share of labels that are wrong.
N_SQUARES, NOISE = 4, 0.2
# Of the two Gaussians: the spread of the second; the first has 1.
SPREAD = 2.5
# Nodes along each of the two sides of a square, for integrals over it.
N_NODES = 1500


@dataclass(frozen=True)
class Distribution:
    """A distribution of rows and labels.

    Attributes
    ----------
    name : str
        What to call it.
    n_features, n_classes : int
        Features beyond the second say nothing of the label.
    posterior : callable
        Probabilities of the classes, of shape (n_points, n_classes), at points of shape
        (n_points, n_features).
    risk : callable
        Computes the Bayes risk.
    place : callable or None
        Draws points, given their number, the number of features and a generator; None
        draws them uniformly.

    Examples
    --------
    >>> import numpy as np
    >>> from mrforest.experiments.distributions import DISTRIBUTIONS
    >>> wave = DISTRIBUTIONS["smooth wave"]
    >>> wave.points(100, np.random.default_rng(0)).shape, 0 < wave.bayes_risk < 0.5
    ((100, 2), True)
    """

    name: str
    n_features: int
    n_classes: int
    posterior: Callable[[Points], Points]
    risk: Callable[[], float]
    place: Callable[[int, int, np.random.Generator], Points] | None = None

    @property
    def bayes_risk(self) -> float:
        """The smallest error that any classifier has; it is right to 1e-6."""
        return self.risk()

    def points(self, n: int, generator: np.random.Generator) -> Points:
        """Draw rows without labels.

        Parameters
        ----------
        n : int
            How many.
        generator : Generator
            Where randomness comes from.

        Returns
        -------
        ndarray of shape (n, n_features)
        """
        if self.place is None:
            return generator.random((n, self.n_features))
        return self.place(n, self.n_features, generator)

    def sample(
        self, n: int, generator: np.random.Generator
    ) -> tuple[Points, NDArray[np.int64]]:
        """Draw rows and their labels.

        Parameters
        ----------
        n : int
            How many.
        generator : Generator
            Where randomness comes from.

        Returns
        -------
        X : ndarray of shape (n, n_features)
        y : ndarray of shape (n,), dtype=int64
        """
        X = self.points(n, generator)
        steps = self.posterior(X).cumsum(axis=1)[:, :-1]
        return X, (generator.random((n, 1)) > steps).sum(axis=1)


def by_quadrature(
    posterior: Callable[[Points], Points], n_nodes: int = N_NODES
) -> float:
    """Integrate 1 - the largest posterior over the unit square, by midpoints.

    Parameters
    ----------
    posterior : callable
        Of points of two features, uniform in the square.
    n_nodes : int
        Along each side. The error falls as 1 / n_nodes², in spite of the kinks where
        two classes are equally likely.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from mrforest.experiments.distributions import by_quadrature
    >>> def tilted(X):  # of the second class, as likely as the first feature is large
    ...     return np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> round(by_quadrature(tilted, 100), 4)
    0.25
    """
    side = (np.arange(n_nodes) + 0.5) / n_nodes
    strips = (
        posterior(np.column_stack([np.full(n_nodes, first), side])).max(axis=1).mean()
        for first in side
    )
    return 1 - float(np.mean(list(strips)))


def two_classes(of_second: Points) -> Points:
    """Return posteriors of two classes, given that of the second."""
    return np.column_stack([1 - of_second, of_second])


# ---- a smooth boundary, uncertain everywhere -----------------------------------------


def wave(X: Points) -> Points:
    """Return posteriors that change smoothly along both features."""
    return two_classes(expit(3 * np.sin(2 * np.pi * X[:, 0]) + 6 * X[:, 1] - 3))


@cache
def wave_risk() -> float:
    """Bayes risk of the wave."""
    return by_quadrature(wave)


# ---- a checkerboard, where no single cut says anything -------------------------------


def checkerboard(X: Points) -> Points:
    """Return posteriors that are the same all over a square of the board."""
    square = np.minimum((X[:, :2] * N_SQUARES).astype(int), N_SQUARES - 1)
    is_dark = square.sum(axis=1) % 2 == 1
    return two_classes(np.where(is_dark, 1 - NOISE, NOISE))


# ---- two Gaussians around one point, among features that say nothing -----------------


def place_gaussians(n: int, n_features: int, generator: np.random.Generator) -> Points:
    """Draw from two Gaussians of different spread in the first two features.

    The others are of spread 1. A logistic curve maps the line to (0, 1); as it rises,
    neither trees of cuts nor the Bayes risk notice.
    """
    z = generator.standard_normal((n, n_features))
    z[:, :2] *= np.where(generator.random((n, 1)) < 0.5, 1.0, SPREAD)
    return np.asarray(expit(z))


def gaussians(X: Points) -> Points:
    """Return posteriors: the narrow one near the middle, the wide one around it."""
    square = (logit(X[:, :2]) ** 2).sum(axis=1)
    # log of the ratio of the densities, wide to narrow
    return two_classes(expit(square * (1 - SPREAD**-2) / 2 - 2 * np.log(SPREAD)))


def gaussians_risk() -> float:
    """Bayes risk of the two Gaussians, in closed form.

    They are equally likely on a circle. The square of the distance from the middle is
    exponential, so the chance to be beyond the circle is too.
    """
    square = 4 * np.log(SPREAD) / (1 - SPREAD**-2)
    narrow_beyond = np.exp(-square / 2)
    wide_within = 1 - np.exp(-square / (2 * SPREAD**2))
    return float((narrow_beyond + wide_within) / 2)


# ---- three classes -------------------------------------------------------------------


def thirds(X: Points) -> Points:
    """Return posteriors of three classes that take turns along the first feature."""
    turns = X[:, :1] - np.arange(3) / 3
    scores = 3 * np.cos(2 * np.pi * turns)
    scores[:, 0] += 4 * X[:, 1] - 2
    return np.asarray(softmax(scores, axis=1))


@cache
def thirds_risk() -> float:
    """Bayes risk of the three classes."""
    return by_quadrature(thirds)


DISTRIBUTIONS = {
    distribution.name: distribution
    for distribution in (
        Distribution("smooth wave", 2, 2, wave, wave_risk),
        Distribution("noisy checkerboard", 2, 2, checkerboard, lambda: NOISE),
        Distribution("two Gaussians", 5, 2, gaussians, gaussians_risk, place_gaussians),
        Distribution("three classes", 3, 3, thirds, thirds_risk),
    )
}
