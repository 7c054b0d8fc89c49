# SPDX-License-Identifier: BSD-3-Clause
"""Look inside a forest."""

from mrforest.forests.tuning import Trial
from mrforest.inspection._plots import (
    plot_importances,
    plot_leaves,
    plot_tree,
    plot_tree_scores,
    tree_scores,
)
from mrforest.inspection._splits import (
    SplitProbabilities,
    plot_split_probabilities,
    split_probabilities,
)
from mrforest.inspection._text import export_text
from mrforest.inspection._tuning import plot_tuning

__all__ = [
    "SplitProbabilities",
    "Trial",
    "export_text",
    "plot_importances",
    "plot_leaves",
    "plot_split_probabilities",
    "plot_tree",
    "plot_tree_scores",
    "plot_tuning",
    "split_probabilities",
    "tree_scores",
]
