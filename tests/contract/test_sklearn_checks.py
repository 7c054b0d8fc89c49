# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's own battery, without any expected failure."""

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from mrforest import MultinomialForestClassifier

FORESTS = [
    MultinomialForestClassifier(),
    MultinomialForestClassifier(voting="soft", leaf_rule="floor", criterion="entropy"),
]


@parametrize_with_checks(FORESTS)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("forest", FORESTS, ids=["default", "soft-floor-entropy"])
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
