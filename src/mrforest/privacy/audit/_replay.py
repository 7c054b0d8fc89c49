# SPDX-License-Identifier: BSD-3-Clause
"""Fits with a seed that a fitted object keeps, to see whether the same comes out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mrforest.privacy.accountant import Accountant
from mrforest.privacy.audit._tables import Table
from mrforest.privacy.audit._walk import walk

# A fitted estimator, its parameter for the seed, and how to fit a copy.
Attempt = tuple[Any, str, Callable[[Any, int], Any]]

SEED_PARAMETERS = ("random_state", "seed")


class Replay(Enum):
    """What came of it, in words."""

    YES = "it replays: the model is computed again with it, its noise is no secret"
    ANY = "any seed gives the same model: it has no noise"
    NO = "who has the seed may compute the noise and take it off"


def replay(whole: Any, holder: Any, seed: int, table: Table) -> Replay:
    """Try a seed on the estimator that holds it, alone and as a part of the whole."""
    for attempt in _attempts(whole, holder, table):
        if _same_after(attempt, seed, table):
            other = _same_after(attempt, (seed + 1) % 2**31, table)
            return Replay.ANY if other else Replay.YES
    return Replay.NO


def fresh_copy(fitted: Any, **parameters: Any) -> Any:
    """Return the estimator before its fit, for a fit that nobody pays for.

    None if it cannot be copied.
    """
    try:
        estimator = clone(fitted).set_params(**parameters)
        for name in estimator.get_params():
            if name.split("__")[-1] == "accountant":
                estimator.set_params(**{name: None})
        return estimator
    except Exception:  # an estimator of any kind may fail in any way
        return None


def fit_quietly(estimator: Any, *arguments: Any, **options: Any) -> Any:
    """Return the fitted estimator, or None if it cannot be fitted."""
    # Nobody pays, not even an accountant that was entered.
    try:
        with Accountant(math.inf), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return estimator.fit(*arguments, **options)
    except Exception:
        return None


def _attempts(whole: Any, holder: Any, table: Table) -> Iterator[Attempt]:
    """Yield the ways in which the seed may have been used."""
    X, y = table

    def fit(estimator: Any, seed: int) -> Any:
        return fit_quietly(estimator, X, y)

    known = holder.get_params(deep=False)
    names = [name for name in SEED_PARAMETERS if name in known]
    if not names:
        return
    yield holder, names[0], fit
    if holder is whole:
        return
    # It may be a step of a pipeline.
    for name, value in whole.get_params().items():
        if value is holder:
            yield whole, f"{name}__{names[0]}", fit
    # Or a tree of a forest: it is given numbers of classes and, often, a bootstrap that
    # its own seed draws, as scikit-learn's are.
    codes = np.unique(y, return_inverse=True)[1]

    def fit_codes(estimator: Any, seed: int) -> Any:
        return fit_quietly(estimator, X, codes)

    def fit_bootstrap(estimator: Any, seed: int) -> Any:
        drawn = np.random.RandomState(seed).randint(0, len(y), len(y))
        weights = np.bincount(drawn, minlength=len(y))
        return fit_quietly(estimator, X, codes, sample_weight=weights)

    yield holder, names[0], fit_codes
    yield holder, names[0], fit_bootstrap


def _same_after(attempt: Attempt, seed: int, table: Table) -> bool:
    """Whether a fit with the seed gives the same model."""
    original, name, fit = attempt
    again = fit(fresh_copy(original, **{name: seed}), seed)
    if again is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _are_same(original, again, table[0])


def _are_same(one: Any, other: Any, X: Any) -> bool:
    """Whether two fitted estimators have the same arrays and predictions."""
    arrays, others = _arrays(one), _arrays(other)
    # What one of them alone has comes from how it was fitted, not from the noise.
    common = arrays.keys() & others.keys()
    return all(
        np.array_equal(arrays[path], others[path]) for path in common
    ) and np.array_equal(one.predict(X), other.predict(X))


def _arrays(fitted: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of numbers that an object holds, by their path."""
    return {
        path: np.nan_to_num(value)
        for path, value in walk(fitted)
        if isinstance(value, np.ndarray) and value.dtype.kind in "iufb"
    }
