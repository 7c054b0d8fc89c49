# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's own battery; what a forest answers in another way says why."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import mrforest
from mrforest import (
    BreimanForestClassifier,
    ComparisonForestClassifier,
    CompletelyRandomForestClassifier,
    MultinomialForestClassifier,
    MultinomialForestRegressor,
    PrivateForestClassifier,
    PrivateForestRegressor,
)


class Informed:
    """A private forest whose user knows the target of each check beforehand."""

    def fit(self, X, y):
        known = {
            name: getattr(self, name)
            for name in ("classes", "target_bounds")
            if name in self.get_params()
        }
        try:
            for name in known:
                setattr(self, name, KNOWN[name](np.asarray(y)))
            return super().fit(X, y)
        finally:
            for name, value in known.items():
                setattr(self, name, value)


class InformedClassifier(Informed, PrivateForestClassifier):
    pass


class InformedRegressor(Informed, PrivateForestRegressor):
    pass


def classes_of(y):
    """The classes, if y can be a target at all."""
    return (
        np.unique(y).tolist()
        if y.ndim and len(y) and y.dtype.kind in "iubUO"
        else [0, 1]
    )


def bounds_of(y):
    is_target = y.dtype.kind in "iuf" and y.size and np.isfinite(y).all()
    return (float(y.min()), float(y.max())) if is_target else (0.0, 1.0)


KNOWN = {"classes": classes_of, "target_bounds": bounds_of}


def as_it_is(name):
    """Private forests refuse to guess what is public, and each check has other rows."""
    if name.startswith("Private"):
        informed = InformedRegressor if "Regressor" in name else InformedClassifier
        return informed(50.0, bounds=(-5.0, 5.0))
    return getattr(mrforest, name)()


# Every forest as it is, and those options that lead to other code.
FORESTS = [
    # tests/test_rules.py has forests of rules.
    *(
        as_it_is(name)
        for name in mrforest.__all__
        if "Forest" in name and "Rule" not in name
    ),
    MultinomialForestClassifier(voting="soft", min_samples_leaf=5, criterion="entropy"),
    BreimanForestClassifier(
        oob_score=True, min_samples_split=2, min_samples_leaf=None, voting="hard"
    ),
    CompletelyRandomForestClassifier(cuts="range"),
    CompletelyRandomForestClassifier(cuts="range", honest=True, min_samples_leaf=5),
    ComparisonForestClassifier(honest=False),
    ComparisonForestClassifier(metric="manhattan", n_estimators=3),
    ComparisonForestClassifier(metric="precomputed", min_samples_leaf=5),
    InformedClassifier(
        50.0,
        delta=1e-6,
        bounds=(-5.0, 5.0),
        leaf="counts",
        honest=True,
        n_estimators=2,
    ),
    # Nothing is known, and all is read from the rows.
    PrivateForestClassifier(50.0, on_missing_public="warn"),
    PrivateForestRegressor(50.0, on_missing_public="warn"),
]


def known_to_fail(forest) -> dict[str, str]:
    """Checks that a forest answers in another way, with the reason."""
    if type(forest).__name__ not in ("ForestClassifier", "ForestRegressor"):
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": (
            "a row of weight 2 is one row, held out or not; two rows are drawn apart"
        )
    }


# A row that is in every bag has no out-of-bag estimate: small tables, few trees.
@pytest.mark.filterwarnings("ignore:.*in the bag of every tree")
@pytest.mark.filterwarnings("ignore::mrforest.privacy.PrivacyLeakWarning")
@parametrize_with_checks(FORESTS, expected_failed_checks=known_to_fail)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "forest", [BreimanForestClassifier(), MultinomialForestRegressor()], ids=str
)
def test_the_battery_really_runs(forest):
    """A battery that skips everything is green, too."""
    results = check_estimator(forest, on_skip=None, on_fail="raise")
    ran = [result for result in results if result["status"] == "passed"]
    skipped = {
        result["check_name"] for result in results if result["status"] == "skipped"
    }
    assert not any(result["status"] == "xfail" for result in results)
    # Needs SCIPY_ARRAY_API=1 before SciPy is imported, and array API support.
    assert skipped <= {"check_array_api_input"}
    assert len(ran) >= 50
