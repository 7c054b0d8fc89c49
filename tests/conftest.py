# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of all tests."""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "many", parent=settings.get_profile("default"), max_examples=5000
)
settings.register_profile(
    "few", parent=settings.get_profile("default"), max_examples=20
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
