# SPDX-License-Identifier: BSD-3-Clause
"""A bad parameter gets an error that names it and says what is allowed."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.forests.every import (
    NAMES,
    TUNED,
    every,
    forest_of,
    parameters_of,
    target_of,
    told,
)

NAN, INF = math.nan, math.inf
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LABELS = (X[:, 0] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])

BUDGET = ([-1.0, -1e-300, -INF, NAN, "10", None], r"float in the range \[0\.?0?, inf\]")
CHANCE = ([-0.1, 1.1, NAN, "0.5", None], r"float in the range \[0\.?0?, 1\.?0?\]")
# Wrong values and what the error must say of right ones
BAD = {
    "n_estimators": ([0, -5, 2.5, "10", None], r"\[1, inf\)"),
    "feature_budget": BUDGET,
    "split_budget": BUDGET,
    "label_budget": BUDGET,
    "random_feature_probability": CHANCE,
    "random_cut_probability": CHANCE,
    "multinomial_probability": CHANCE,
    "max_features": (
        [0, -1, 0.0, 1.5, NAN, "auto"],
        r"\[1, inf\).*'sqrt'|'sqrt'.*None",
    ),
    "mean_features": ([-1.0, 501, INF, NAN, "log2", None], r"\[0\.?0?, 500\.?0?\]"),
    "n_range_samples": ([0, -1, 2.5, "all", None], r"\[1, inf\)"),
    "max_leaf_nodes": ([0, -1, 2.5, 2**31, "all", None], r"\[1, 1073741824\].*'auto'"),
    "cuts": (["value", 3, None], "'data'"),
    "honest_fraction": ([0, 1, -1, INF, NAN, "1"], r"\(0\.?0?, 1\.?0?\)"),
    "min_samples_split": ([1, 0, -1, 0.5, "5"], r"\[2, inf\)"),
    "min_samples_leaf": ([0, -1, 0.5, "5"], r"\[1, inf\)"),
    "min_weight_fraction_leaf": ([-0.1, 0.6, NAN, "0", None], r"\[0\.?0?, 0\.5\]"),
    "criterion": (["log_loss", "mse", None], "'gini'"),
    "max_depth": ([0, -1, 1.5, "3"], r"\[1, inf\) or None"),
    "max_bins": ([1, 0, 256, 20.5, "foo", None], r"\[2, 255\].*'exact'"),
    "categorical_features": ([3, "all"], "'from_dtype'"),
    "voting": (["loud", None], "'hard'"),
    "class_weight": (["uniform", [1.0, 2.0], 3], "'balanced'"),
    "oob_score": (["yes", 3, None], "bool"),
    "honest": (["yes", 3, None], "bool"),
    "metric": ([3, None], "str"),
    "metric_params": (["p", 3], "dict"),
    "oracle": (["euclidean", 3], "callable"),
    "warm_start": (["yes", 3], "bool"),
    "n_jobs": ([1.5, "2"], "int"),
    "random_state": ([-1, 0.5, "0"], "int in the range"),
    "verbose": ([-1, "loud"], "int"),
}
# Of forests that choose by themselves
OR_AUTO = {
    "max_samples": ([0, 0.0, 1.5, NAN, "auto", None], r"\(0\.?0?, 1\.?0?\]"),
    "max_features": ([0, -1, 0.0, 1.5, NAN, "all"], r"'auto'.*'sqrt'|'sqrt'.*'auto'"),
    "feature_budget": ([-1.0, INF, NAN, "10", None], r"'auto'.*\[0\.?0?, inf\)"),
    "split_budget": ([-1.0, INF, NAN, "10", None], r"'auto'.*\[0\.?0?, inf\)"),
    "equality_cuts": (["yes", 3, None], "'auto'"),
    "min_samples_split": ([1, 0, 0.5, "5", None], r"'auto'.*\[2, inf\)"),
    "min_samples_leaf": ([0, -1, 0.5, "5", None], r"'auto'.*\[1, inf\)"),
    "calibrate": (["yes", 3, None], "bool"),
}
PAIRS = [(name, parameter) for name in NAMES for parameter in parameters_of(name)]


@pytest.mark.parametrize(("name", "parameter"), PAIRS)
def test_parameter(name, parameter):
    """Names the parameter, says what is allowed and shows what came instead."""
    known = BAD | OR_AUTO if name in TUNED else BAD
    values, allowed = known[parameter]
    for value in values:
        forest = forest_of(name, **{parameter: value})
        with pytest.raises(ValueError, match=f"'{parameter}' parameter of") as caught:
            forest.fit(X, target_of(name, LABELS))
        assert type(forest).__name__ in str(caught.value)
        assert repr(value) in str(caught.value)
        with pytest.raises(ValueError, match=allowed):
            raise caught.value


@every
def test_a_bad_parameter_leaves_the_forest(name):
    y = target_of(name, LABELS)
    forest = forest_of(name).fit(X, y)
    before = told(forest, X)
    known = BAD | OR_AUTO if name in TUNED else BAD
    for parameter, good in forest.get_params().items():
        bad = known[parameter][0][0]
        with pytest.raises(ValueError, match=parameter):
            forest.set_params(**{parameter: bad}).fit(X[:, :2], y)
        forest.set_params(**{parameter: good})
    assert_array_equal(told(forest, X), before)
    assert forest.n_features_in_ == 3


COLUMNS = [
    ([7], "no column of index 7"),
    ([-1], "no column of index -1"),
    ([True, False], "mask of length 2 for 3 columns"),
    ([0, "a"], "neither all indices"),
    (["d"], "no column named 'd'"),
    ([0, 0], "listed twice"),
]


@every
def test_categorical_features(name):
    for columns, reason in COLUMNS:
        forest = forest_of(name, categorical_features=columns)
        with pytest.raises(ValueError, match=f"categorical_features=.*{reason}"):
            forest.fit(FRAME, target_of(name, LABELS))


@every
def test_unknown_parameter(name):
    with pytest.raises(ValueError, match="Invalid parameter 'max_leaves'"):
        forest_of(name).set_params(max_leaves=3)
    with pytest.raises(TypeError, match="positional"):
        type(forest_of(name))(10, 3)
