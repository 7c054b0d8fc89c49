# SPDX-License-Identifier: BSD-3-Clause
"""What a user might write; `make check` has mypy look at it, strictly."""

from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import mrforest
from mrforest import (
    BreimanForestRegressor,
    MultinomialForestClassifier,
    PrivateForestClassifier,
)
from mrforest.inspection import export_text, tree_scores
from mrforest.interop import shap_values, to_sklearn
from mrforest.privacy import Accountant, Ledger
from mrforest.rules import RuleForestClassifier


def classify(X: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    forest = MultinomialForestClassifier(50, voting="soft", random_state=0)
    assert_type(forest.fit(X, y), MultinomialForestClassifier)
    assert_type(forest.apply(X), NDArray[np.int32])
    assert_type(forest.feature_importances_, NDArray[np.float64])
    assert_type(tree_scores(forest, X, y), NDArray[np.float64])
    assert_type(shap_values(forest, X), NDArray[np.float64])
    assert_type(export_text(forest, max_depth=3), str)
    to_sklearn(forest)
    mrforest.save(forest, Path("forest.mrf"))
    probabilities = forest.predict_proba(X)
    assert_type(probabilities, NDArray[np.float64])
    return probabilities


def estimate(X: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    forest = BreimanForestRegressor(n_estimators=10, n_jobs=-1).fit(X, y)
    means = forest.predict(X)
    assert_type(means, NDArray[np.float64])
    return float(means.mean())


def misuse(criterion: str) -> None:
    """Each line has one error, and a type checker that overlooked it would say so."""
    MultinomialForestClassifier(n_trees=100)  # type: ignore[call-arg]
    MultinomialForestClassifier(max_depth="deep")  # type: ignore[arg-type]
    MultinomialForestClassifier(criterion=criterion)  # type: ignore[arg-type]
    # The first parameter may be given by its place, the others may not.
    MultinomialForestClassifier(100, 10.0)  # type: ignore[call-arg]
    BreimanForestRegressor(100, "sqrt")  # type: ignore[call-arg]
    RuleForestClassifier()  # type: ignore[call-arg]


def privately(X: NDArray[np.float64], y: NDArray[np.int64]) -> Ledger:
    accountant = Accountant(epsilon=2.0)
    forest = PrivateForestClassifier(
        1.0, bounds=(0.0, 1.0), classes=[0, 1], accountant=accountant
    )
    forest.fit(X, y)
    assert_type(forest.epsilon_, float)
    return forest.ledger_


def by_rule(forest: RuleForestClassifier, X: NDArray[np.float64]) -> int:
    return len(forest.predict(X))
