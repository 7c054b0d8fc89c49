# SPDX-License-Identifier: BSD-3-Clause
"""A fresh estimator for each of many independent fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

Fresh = Callable[[int], Any]  # a seed to an estimator


def read_estimator(estimator: Any) -> Fresh:
    """Return how to make an estimator that has not been fitted, given a seed.

    An estimator is cloned. Its ``random_state`` must be None: else all its fits are
    the same. A callable that has no ``fit`` is called with the seed.
    """
    if not hasattr(estimator, "fit"):
        if not callable(estimator):
            raise ValueError(
                f"estimator={estimator!r} must have a method fit, or be a callable "
                "that makes one from a seed"
            )
        return lambda seed: estimator(seed)
    seeds = {
        name: value
        for name, value in estimator.get_params().items()
        if name.split("__")[-1] == "random_state" and value is not None
    }
    if seeds:
        name, value = next(iter(seeds.items()))
        raise ValueError(
            f"estimator has {name}={value!r}, so all its fits would be the same; leave "
            "it None, or give a callable that makes an estimator from a seed"
        )
    return lambda seed: clone(estimator)


def read_runs(runs: int) -> int:
    """Return the number of runs; ValueError if there are too few to be parted."""
    if not (isinstance(runs, int | np.integer) and runs >= 4):
        raise ValueError(f"runs must be a whole number, at least 4; got {runs!r}")
    return int(runs)


def draw_seeds(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.uint32]:
    """Draw seeds that are all different: equal ones would be one run, counted twice."""
    seeds = rng.choice(2**32, size=int(np.prod(shape)), replace=False)
    return np.asarray(seeds.astype(np.uint32).reshape(shape))
