# SPDX-License-Identifier: BSD-3-Clause
"""Breiman's forest is as good as scikit-learn's, which grows the same trees."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import cross_val_score

from mrforest import BreimanForestClassifier, BreimanForestRegressor


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_accuracy(load):
    X, y = load(return_X_y=True)
    ours, theirs = (
        cross_val_score(cls(60, random_state=0), X[:900], y[:900], cv=3).mean()
        for cls in (BreimanForestClassifier, RandomForestClassifier)
    )
    assert ours > theirs - 0.02


def test_r2():
    X, y = load_diabetes(return_X_y=True)
    scores = [
        cross_val_score(cls(60, max_features=1 / 3, random_state=0), X, y, cv=5).mean()
        for cls in (BreimanForestRegressor, RandomForestRegressor)
    ]
    assert scores[0] > scores[1] - 0.03


def test_leaves_and_depths():
    """Trees grow to the same size."""
    X, y = load_breast_cancer(return_X_y=True)
    ours = BreimanForestClassifier(60, random_state=0, max_bins="exact").fit(X, y)
    theirs = RandomForestClassifier(60, random_state=0).fit(X, y).estimators_
    leaves = [tree.get_n_leaves() for tree in theirs]
    depths = [tree.get_depth() for tree in theirs]
    assert ours.n_leaves_.mean() == pytest.approx(np.mean(leaves), rel=0.15)
    assert ours.depths_.mean() == pytest.approx(np.mean(depths), rel=0.15)
