# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests of kernels."""

import sys

import pytest

from tests.kernels.library import NAMES, Kernels, kernels_named


@pytest.fixture(scope="session", params=NAMES)
def kernels(request) -> Kernels:
    """Kernels of each width; those that this machine lacks are skipped."""
    if sys.platform == "win32":
        pytest.skip("the library shows no names of C functions on Windows")
    found = kernels_named(request.param)
    if found is None:
        pytest.skip(f"this build or this machine has no kernels called {request.param}")
    return found
