# SPDX-License-Identifier: BSD-3-Clause
"""The kernel that sums powers of shares."""

import numpy as np
import pytest
from hypothesis import given

from tests.kernels import library
from tests.kernels.library import Struct
from tests.kernels.samples import CLASSES, seeds, sizes
from tests.naive import kernels as twin


def check_powers(kernels, n_classes, seed):
    rng = np.random.default_rng(seed)
    n_rows = library.BLOCK_ROWS
    shares = rng.random((n_classes, n_rows)) * rng.choice([1, 1e-8, 1e-300], n_rows)
    shares[rng.random(shares.shape) < 0.2] = rng.choice([0.0, 5e-324, 0.5])
    shares[rng.integers(n_classes, size=n_rows), np.arange(n_rows)] = 1.0
    classes = rng.integers(n_classes, size=n_rows).astype(np.int32)
    out = Struct("power_sums")
    kernels.sum_powers(shares, n_classes, classes, out)
    expected = twin.sum_powers(shares, classes)
    for found, sums in zip((out.total, out.squares, out.own), expected, strict=True):
        assert found.tolist() == sums.tolist()


@pytest.mark.parametrize("n_classes", [1, 2, 3, 17])
def test_powers_at_limits(kernels, n_classes):
    check_powers(kernels, n_classes, n_classes)


@given(sizes(12, CLASSES), seeds)
def test_powers(kernels, n_classes, seed):
    check_powers(kernels, n_classes, seed)


def test_which_powers_there_are(kernels):
    assert kernels.powers.tolist() == list(twin.POWERS)
    for x in (0.3, 0.9999, 1e-5):
        found = twin.to_all_powers(x)
        assert np.allclose(found, x ** np.array(twin.POWERS), rtol=1e-14)
