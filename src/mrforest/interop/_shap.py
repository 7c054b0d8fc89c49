# SPDX-License-Identifier: BSD-3-Clause
"""What each feature adds to a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest._optional import needed
from mrforest.interop._order_cuts import as_it_is
from mrforest.interop._sklearn import carried, check_carried
from mrforest.model.arrays import FlatForest
from mrforest.model.nodes import EQUALITY, FEATURE_MASK


def shap_values(forest: Any, X: Any) -> NDArray[np.float64]:
    """Return SHAP values: what each feature adds to the prediction of each row.

    Parameters
    ----------
    forest : estimator
        A fitted classifier or regressor. Its columns must be numeric, as those of a
        forest that `to_sklearn` takes.
    X : array-like or data frame of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples, n_features, n_classes), or (n_samples, n_features)
        For a classifier, what is added to the probability of each class. Over features
        they sum to the prediction of the row less a mean that is the same for all: the
        prediction averaged over the estimation points of the leaves.

        For a `ForestClassifier`, what is added to the mean class shares of the leaves,
        before they are calibrated: to ``predict_proba`` with ``calibrate=False``. Only
        these are sums over trees.

    Notes
    -----
    Needs the package shap; this is its TreeExplainer, which has more options, of the
    forest that `to_sklearn` returns. Equality cuts are explained as they are, without
    the copies that `to_sklearn` makes. The leaves of a private forest tell no counts
    and weigh the same.

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
    check_carried(forest)
    flat: FlatForest = forest._forest
    explainer = shap.TreeExplainer(carried(forest, as_it_is(flat)))
    X = forest._read(X)
    if not flat.has_equality:
        values: NDArray[np.float64] = explainer.shap_values(X)
        return values
    return with_equality(explainer, flat, X)


def with_equality(
    explainer: Any, flat: FlatForest, X: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return SHAP values of trees with equality cuts.

    The explainer takes them for order cuts. It only has to know which way a row goes,
    so each such cut gets a threshold that all numbers are below, or none. Rows that go
    the same way at all of them are explained together.
    """
    flags = flat.nodes["feature"]
    nodes = np.flatnonzero((flat.nodes["child"] >= 0) & ((flags & EQUALITY) != 0))
    tree = np.searchsorted(flat.tree_start, nodes, side="right") - 1
    place = tree, nodes - flat.tree_start[tree]
    cuts = [flags[nodes] & FEATURE_MASK, flat.nodes["threshold"][nodes]]
    questions, question = distinct(np.column_stack(cuts))
    is_equal = X[:, questions[:, 0].astype(np.intp)] == questions[:, 1]
    answers, group = distinct(is_equal)
    explained = []
    for i, answer in enumerate(answers):
        ways = np.where(answer, np.inf, -np.inf)
        explainer.model.thresholds[place] = ways[question]
        explained.append(explainer.shap_values(X[group == i]))
    values: NDArray[np.float64] = np.concatenate(explained)
    values[np.argsort(group, kind="stable")] = values.copy()
    return values


def distinct(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct rows, and which of them each row is."""
    found, place = np.unique(rows, axis=0, return_inverse=True)
    return found, place.ravel()  # NumPy 2.0 has it in two dimensions
