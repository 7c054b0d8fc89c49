# SPDX-License-Identifier: BSD-3-Clause
"""Every forest of the package, small, by a short name."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import is_regressor

from mrforest import (
    BernoulliForestClassifier,
    BernoulliForestRegressor,
    BreimanForestClassifier,
    BreimanForestRegressor,
    CenteredForestClassifier,
    ComparisonForestClassifier,
    CompletelyRandomForestClassifier,
    DataDrivenMultinomialForestClassifier,
    DenilForestClassifier,
    DenilForestRegressor,
    ForestClassifier,
    ForestRegressor,
    MultinomialForestClassifier,
    MultinomialForestRegressor,
    PurelyRandomForestClassifier,
)

# Parameters that make small trees show what the rule does.
RANGE = {"n_range_samples": 5}
COINS = {"random_feature_probability": 0.3, "random_cut_probability": 0.3}
EVERY: dict[str, tuple[type, dict[str, Any]]] = {
    # Without calibration it says what its trees say on average.
    "forest": (ForestClassifier, {"calibrate": False}),
    "forest-r": (ForestRegressor, {}),
    "multinomial": (MultinomialForestClassifier, {}),
    "multinomial-r": (MultinomialForestRegressor, {}),
    "breiman": (BreimanForestClassifier, {}),
    "breiman-r": (BreimanForestRegressor, {}),
    "denil": (DenilForestClassifier, RANGE),
    "denil-r": (DenilForestRegressor, RANGE),
    "bernoulli": (BernoulliForestClassifier, COINS),
    "bernoulli-r": (BernoulliForestRegressor, COINS),
    "data-driven": (
        DataDrivenMultinomialForestClassifier,
        {"multinomial_probability": 0.4},
    ),
    "random": (CompletelyRandomForestClassifier, {}),
    "random-all": (CompletelyRandomForestClassifier, {"honest": False}),
    "range": (CompletelyRandomForestClassifier, {"cuts": "range"}),
    "range-honest": (
        CompletelyRandomForestClassifier,
        {"cuts": "range", "honest": True, "honest_fraction": 0.4},
    ),
    "purely-random": (PurelyRandomForestClassifier, {}),
    "centered": (CenteredForestClassifier, {}),
    "comparison": (ComparisonForestClassifier, {}),
    "comparison-s": (ComparisonForestClassifier, {"honest": False}),
}
NAMES = list(EVERY)


def parameters_of(name: str) -> list[str]:
    """Return the names of a forest's parameters."""
    return list(EVERY[name][0]().get_params())


def having(*parameters: str) -> list[str]:
    """Return the forests that have all of these parameters."""
    return [name for name in NAMES if set(parameters) <= set(parameters_of(name))]


REGRESSORS = [name for name in NAMES if is_regressor(EVERY[name][0]())]
CLASSIFIERS = [name for name in NAMES if name not in REGRESSORS]
BAGGED = having("oob_score")
COMPARING = having("metric")
CUTTING = [name for name in NAMES if name not in COMPARING]
# One part of the rows shapes a tree, the other fills it.
ALL_ROWS = ["random-all", "range", "comparison-s"]
# They choose their own leaf size, and whole weights do not repeat rows; twin.py grows
# the others.
TUNED = having("max_samples")
LEAFY = [name for name in having("min_samples_split") if name not in TUNED]
PLAIN = [name for name in NAMES if name not in TUNED]
HONEST = [name for name in having("honest_fraction") if name not in ALL_ROWS]

every = pytest.mark.parametrize("name", NAMES)
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)
every_regressor = pytest.mark.parametrize("name", REGRESSORS)
every_cutting = pytest.mark.parametrize("name", CUTTING)
every_honest = pytest.mark.parametrize("name", HONEST)
every_plain = pytest.mark.parametrize("name", PLAIN)
every_leafy = pytest.mark.parametrize("name", LEAFY)


def forest_of(name: str, **params):
    """Return an unfitted forest; parameters that it does not have are left out."""
    cls, own = EVERY[name]
    wanted = {"n_estimators": 4, "random_state": 0, **own, **params}
    # Options for all forests: those that choose by themselves have no None here.
    if name in TUNED and params.keys() >= {"min_samples_split", "min_samples_leaf"}:
        wanted["min_samples_leaf"] = params["min_samples_leaf"] or "auto"
    known = parameters_of(name)
    return cls(**{key: value for key, value in wanted.items() if key in known})


def target_of(name: str, labels: np.ndarray) -> np.ndarray:
    """Return the labels, or numbers that follow them if the forest tells numbers."""
    labels = np.asarray(labels)
    if name in CLASSIFIERS:
        return labels
    codes = np.unique(labels, return_inverse=True)[1]
    return codes + 0.4 * np.random.default_rng(len(codes)).normal(size=len(codes))


def told(forest, X) -> np.ndarray:
    """Return what a forest, or a tree, tells: probabilities, or numbers."""
    has_classes = hasattr(forest, "predict_proba")
    return forest.predict_proba(X) if has_classes else forest.predict(X)
