# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's forest with calibrated probabilities."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from mrforest.forests.forest import ForestClassifier
from mrforest.forests.tuning import sharpen


def is_sharpened(forest: Any) -> bool:
    """Whether the probabilities of a forest are more than means over its trees."""
    return isinstance(forest, ForestClassifier) and bool(forest.calibrate)


class SharpenedForestClassifier(RandomForestClassifier):  # type: ignore[misc]
    """scikit-learn's classifier, but for the last step of its probabilities.

    Attributes
    ----------
    power_ : float
        Mean class shares are raised to this power, and divided by their sum.
    uniform_share_ : float
        Weight of the uniform distribution in the probabilities.
    """

    power_: float
    uniform_share_: float

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NoReturn:
        """Raise an error: the power belongs to trees that grew elsewhere."""
        raise TypeError(
            f"{type(self).__name__} cannot be fitted; fit a ForestClassifier, and call "
            "to_sklearn again"
        )

    def sharpen(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return calibrated probabilities.

        Parameters
        ----------
        shares : ndarray of shape (n_samples, n_classes)
            Mean class shares of the leaves, for example as treelite computes them.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return sharpen(shares, self.power_, self.uniform_share_)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities: mean shares of the leaves, sharpened.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self.sharpen(super().predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class; of equal ones the first in `classes_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        # Not by sharpened shares: rounding may make two of them equal.
        shares = super().predict_proba(X)
        labels: NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return labels
