# SPDX-License-Identifier: BSD-3-Clause
"""A row down a tree, plainly."""

import math

from mrforest.model.nodes import EQUALITY, FEATURE_MASK, MISSING_LEFT


def walk(tree, row):
    """Find the leaf of a row, one node after the other."""
    at = 0
    while tree["child"][at] >= 0:
        flags = tree["feature"][at]
        x, threshold = row[flags & FEATURE_MASK], tree["threshold"][at]
        if math.isnan(x):
            goes_left = flags & MISSING_LEFT
        elif flags & EQUALITY:
            goes_left = x == threshold
        else:
            goes_left = x <= threshold
        at = tree["child"][at] + (not goes_left)
    return at
