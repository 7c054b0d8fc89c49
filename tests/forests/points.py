# SPDX-License-Identifier: BSD-3-Clause
"""Which rows fill the leaves of a tree, repeated as often as they count."""

import numpy as np

from tests.forests.twin import is_honest
from tests.naive.rng import tree_key
from tests.naive.sample import bootstrap


def filling_rows(forest, number: int) -> np.ndarray:
    """Return the rows that fill a tree: estimation points, the bag, or all."""
    origin = forest._batches[0].origin
    if hasattr(forest, "oob_score"):
        return origin[bootstrap(tree_key(forest.random_state, number), len(origin))]
    if is_honest(forest):
        return forest.estimation_samples(number)
    return origin
