# SPDX-License-Identifier: BSD-3-Clause
"""Cuts and codes of a numeric feature (docs/algorithm.md, §1)."""

from collections.abc import Sequence

import numpy as np


def midpoint(a: float, b: float) -> float:
    """Return a number m with a <= m < b, the middle if floats allow it."""
    middle = float(a) / 2 + float(b) / 2
    if a <= middle < b:
        return middle
    return float(a)


def cuts_of(
    values: Sequence[float], max_bins: int, weights: Sequence[int] | None = None
) -> np.ndarray:
    """Return the ascending cuts of a numeric feature.

    Parameters
    ----------
    values : sequence of float
        The values of the feature; NaN is ignored.
    max_bins : int
        With more distinct values than this the cuts are at quantiles.
    weights : sequence of int, optional
        How often each value stands in the table. A value of weight 0 is not there.
    """
    count_of: dict[float, int] = {}
    for i, value in enumerate(values):
        value = float(value)
        times = 1 if weights is None else int(weights[i])
        if value == value and times > 0:
            count_of[value] = count_of.get(value, 0) + times
    distinct = sorted(count_of)
    d = len(distinct)

    if d <= max_bins:
        below = list(range(d - 1))
    else:
        cumulative = []
        total = 0
        for value in distinct:
            total += count_of[value]
            cumulative.append(total)
        below = []
        for q in range(1, max_bins):
            i = 0
            while cumulative[i] * max_bins < q * total:
                i += 1
            if i < d - 1 and i not in below:
                below.append(i)
    return np.array([midpoint(distinct[i], distinct[i + 1]) for i in below], float)


def encode(values: Sequence[float], cuts: Sequence[float]) -> np.ndarray:
    """Return for each value the number of cuts below it; for NaN one more than all."""
    codes = []
    for value in values:
        if value != value:
            codes.append(len(cuts) + 1)
            continue
        code = 0
        for cut in cuts:
            if cut < value:
                code += 1
        codes.append(code)
    return np.array(codes, dtype=np.int64)
