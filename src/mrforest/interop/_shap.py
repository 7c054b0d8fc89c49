# SPDX-License-Identifier: BSD-3-Clause
"""What each feature adds to a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest._optional import needed
from mrforest.interop._sklearn import to_sklearn


def shap_values(forest: Any, X: Any) -> NDArray[np.float64]:
    """Return SHAP values: what each feature adds to the prediction of each row.

    Parameters
    ----------
    forest : estimator
        A fitted classifier or regressor that `to_sklearn` takes.
    X : array-like or data frame of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples, n_features, n_classes), or (n_samples, n_features)
        For a classifier, what is added to the probability of each class. Over features
        they sum to the prediction of the row less a mean that is the same for all: the
        prediction averaged over the estimation points of the leaves.

    Notes
    -----
    Needs the package shap; this is its TreeExplainer, which has more options, of the
    forest that `to_sklearn` returns. The leaves of a private forest tell no counts and
    weigh the same.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.interop import shap_values
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = MultinomialForestClassifier(5, random_state=0).fit(X, y)
    >>> shap_values(forest, X[:10]).shape
    (10, 4, 3)
    """
    shap = needed("shap", by="shap_values")
    explainer = shap.TreeExplainer(to_sklearn(forest))
    values: NDArray[np.float64] = explainer.shap_values(forest._read(X))
    return values
