# SPDX-License-Identifier: BSD-3-Clause
"""The compiled engine, which knows NumPy buffers only.

Other packages import this module, and none below it.
"""

from mrforest._core import plan
from mrforest._core.data.distinct import distinct_values, places
from mrforest._core.data.encode import encode, fingerprints, put_in_order
from mrforest._core.data.table import Target, TrainingTable, write_cut_bits
from mrforest._core.grow.builder import Limits
from mrforest._core.grow.by_cells import Box, grow_centered, grow_purely_random
from mrforest._core.grow.by_range import grow_in_range
from mrforest._core.grow.by_samples import grow_sampled_tree
from mrforest._core.grow.finish import NODE_DTYPE
from mrforest._core.grow.from_counts import (
    PATH_OF_ROOT,
    Chooser,
    count_node_classes,
    count_node_points,
    count_nodes,
    part_nodes,
    paths_below,
)
from mrforest._core.grow.python_rule import PythonRule
from mrforest._core.grow.samples_from_counts import SampleChooser, sample_places
from mrforest._core.grow.tree import grow_tree
from mrforest._core.kernels.dispatch import (
    KERNEL_NAMES,
    available_kernels,
    kernel_name,
)
from mrforest._core.pivots.comparison import (
    Comparer,
    MatrixComparer,
    PythonComparer,
    VectorComparer,
    find_nodes_by_matrix,
    find_nodes_by_vectors,
    grow_by_comparisons,
)
from mrforest._core.predict.bit_votes import BitVotes, common_labels
from mrforest._core.predict.codec import (
    find_cuts,
    pack_nodes,
    shortest,
    unpack_nodes,
    write_codes,
)
from mrforest._core.predict.held_out import (
    add_leaves,
    add_prefixes,
    decrease_by_feature,
    find_leaves,
    held_decrease,
    held_impurity,
    impurity_of_classes,
)
from mrforest._core.predict.importance import estimation_decrease, value_decrease
from mrforest._core.predict.leaf_shares import LeafShares, add_leaf_shares
from mrforest._core.predict.losses import POWERS, sharpened_losses, squared_losses
from mrforest._core.predict.walk import (
    CODED_NODE_DTYPE,
    CodedNodes,
    Rows,
    add_labels,
    add_shares,
    add_shares_at,
    add_values,
    add_votes,
    add_votes_at,
    find_nodes,
)
from mrforest._core.private.pair_counts import count_bins, count_pairs
from mrforest._core.private.sampler import LANES, RegionSubtrees, Subtrees
from mrforest._core.random.chacha import ChaCha20
from mrforest._core.random.rng import (
    SPLIT_PURPOSE,
    bootstrap_points,
    copies_in_bag,
    held_out_points,
    indices,
    is_held_out,
    is_structure,
    partition_points,
    structure_boundary,
    words,
)
from mrforest._core.rules.bernoulli import Bernoulli
from mrforest._core.rules.data_driven import DataDriven
from mrforest._core.rules.denil import Denil
from mrforest._core.rules.greedy import Greedy
from mrforest._core.rules.multinomial import Multinomial
from mrforest._core.rules.random import Random
from mrforest._core.rules.rule import SplitRule

__all__ = [
    "CODED_NODE_DTYPE",
    "KERNEL_NAMES",
    "LANES",
    "NODE_DTYPE",
    "PATH_OF_ROOT",
    "POWERS",
    "SPLIT_PURPOSE",
    "Bernoulli",
    "BitVotes",
    "Box",
    "ChaCha20",
    "Chooser",
    "CodedNodes",
    "Comparer",
    "DataDriven",
    "Denil",
    "Greedy",
    "LeafShares",
    "Limits",
    "MatrixComparer",
    "Multinomial",
    "PythonComparer",
    "PythonRule",
    "Random",
    "RegionSubtrees",
    "Rows",
    "SampleChooser",
    "SplitRule",
    "Subtrees",
    "Target",
    "TrainingTable",
    "VectorComparer",
    "add_labels",
    "add_leaf_shares",
    "add_leaves",
    "add_prefixes",
    "add_shares",
    "add_shares_at",
    "add_values",
    "add_votes",
    "add_votes_at",
    "available_kernels",
    "bootstrap_points",
    "common_labels",
    "copies_in_bag",
    "count_bins",
    "count_node_classes",
    "count_node_points",
    "count_nodes",
    "count_pairs",
    "decrease_by_feature",
    "distinct_values",
    "encode",
    "estimation_decrease",
    "find_cuts",
    "find_leaves",
    "find_nodes",
    "find_nodes_by_matrix",
    "find_nodes_by_vectors",
    "fingerprints",
    "grow_by_comparisons",
    "grow_centered",
    "grow_in_range",
    "grow_purely_random",
    "grow_sampled_tree",
    "grow_tree",
    "held_decrease",
    "held_impurity",
    "held_out_points",
    "impurity_of_classes",
    "indices",
    "is_held_out",
    "is_structure",
    "kernel_name",
    "pack_nodes",
    "part_nodes",
    "partition_points",
    "paths_below",
    "places",
    "plan",
    "put_in_order",
    "sample_places",
    "sharpened_losses",
    "shortest",
    "squared_losses",
    "structure_boundary",
    "unpack_nodes",
    "value_decrease",
    "words",
    "write_codes",
    "write_cut_bits",
]
