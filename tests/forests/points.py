# SPDX-License-Identifier: BSD-3-Clause
"""Which rows fill the leaves of a tree, repeated as often as they count."""

import numpy as np

from tests.naive.rng import tree_key
from tests.naive.sample import bootstrap


def filling_rows(forest, number: int) -> np.ndarray:
    """Return the rows that fill a tree: estimation points, the bag, or all."""
    origin = forest._batches[0].origin
    if hasattr(forest, "oob_score"):
        return origin[bootstrap(tree_key(forest.random_state, number), len(origin))]
    if hasattr(forest, "partition_rate") and not fills_by_all_rows(forest):
        return forest.estimation_samples(number)
    return origin


def fills_by_all_rows(forest) -> bool:
    rate = forest.partition_rate
    in_range = getattr(forest, "cuts", "data") == "range"
    is_supervised = getattr(forest, "supervised", False)
    return rate is None or (rate == "auto" and in_range) or is_supervised
