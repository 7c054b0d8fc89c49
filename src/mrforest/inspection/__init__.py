# SPDX-License-Identifier: BSD-3-Clause
"""Look inside a forest."""

from mrforest.inspection._splits import (
    SplitProbabilities,
    plot_split_probabilities,
    split_probabilities,
)

__all__ = ["SplitProbabilities", "plot_split_probabilities", "split_probabilities"]
