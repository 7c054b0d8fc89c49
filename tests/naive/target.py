# SPDX-License-Identifier: BSD-3-Clause
"""Targets of a regression as whole numbers (docs/algorithm.md, §8)."""

import math
from collections.abc import Sequence

import numpy as np


def fixed_point(
    y: Sequence[float],
    mass: Sequence[int] | None = None,
    n_points: int | None = None,
) -> tuple[np.ndarray, float, float]:
    """Return the moments of the targets, their centre and the unit of a leaf's mean.

    Parameters
    ----------
    y : sequence of float
        The targets of the rows of positive weight.
    mass : sequence of int, optional
        The masses of these rows, if there are real weights.
    n_points : int, optional
        The number of points, if rows stand for several; else the number of rows.

    Returns
    -------
    moment : int64 array
        The whole number of each row.
    centre : float
        The middle between the smallest and the largest target.
    unit : float
        A leaf's value is `centre + (moments / masses) * unit`.
    """
    y = [float(target) for target in y]
    n = len(y) if n_points is None else int(n_points)
    centre = min(y) / 2 + max(y) / 2
    span = max(max(y) - centre, centre - min(y))
    exponent = math.frexp(span)[1] if span > 0 else 0
    if mass is None:
        scale = 61 - n.bit_length() - exponent
        parts = [target - centre for target in y]
        unit = math.ldexp(1.0, -scale)
    else:
        scale = 54 - exponent
        weights = [float(int(m)) * 2.0**-51 for m in mass]
        parts = [w * (target - centre) for w, target in zip(weights, y, strict=True)]
        unit = math.ldexp(1.0, 51 - scale)
    moments = [int(np.rint(math.ldexp(part, scale))) for part in parts]
    return np.array(moments, dtype=np.int64), centre, unit
