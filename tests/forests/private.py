# SPDX-License-Identifier: BSD-3-Clause
"""A small table, what is public about it, and fits that can be repeated."""

from contextlib import contextmanager

import numpy as np
import pytest

from mrforest import PrivateForestClassifier
from mrforest.privacy import PrivacyLeakWarning

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(300, 4))
Y = (X[:, 0] + 0.3 * X[:, 1] > 0.6).astype(int)
PUBLIC = {"bounds": (0.0, 1.0), "classes": [0, 1]}


@contextmanager
def leaks():
    """Expect a warning that the fit is not private."""
    with pytest.warns(PrivacyLeakWarning) as caught:
        yield caught


def fit_seeded(X, y, cls=PrivateForestClassifier, **parameters):
    with leaks():
        return cls(**{"random_state": 0, **parameters}).fit(X, y)
