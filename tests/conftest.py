# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of all tests."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Examples of a test: on the checked build, in `make test` and in `make test-many`
for name, max_examples in [("few", 20), ("default", 40), ("many", 5000)]:
    settings.register_profile(
        name,
        deadline=None,
        max_examples=max_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
# For an emulator: few examples, and an older Hypothesis that thinks them too large.
settings.register_profile(
    "emulated",
    parent=settings.get_profile("few"),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(params=[0, 1, 42])
def seed(request) -> int:
    """Tests must hold for any seed; these stand for all."""
    return request.param
