# SPDX-License-Identifier: BSD-3-Clause
"""The compiled engine, which knows NumPy buffers only. This file is its one door."""

from mrforest._core.encode import encode, fingerprints
from mrforest._core.grow import grow_tree
from mrforest._core.importance import estimation_decrease
from mrforest._core.predict import add_shares, add_votes, find_nodes
from mrforest._core.rng import partition_points, words
from mrforest._core.rule import SplitRule
from mrforest._core.rules.multinomial import Multinomial
from mrforest._core.table import TrainingTable
from mrforest._core.tree import NODE_DTYPE

__all__ = [
    "NODE_DTYPE",
    "Multinomial",
    "SplitRule",
    "TrainingTable",
    "add_shares",
    "add_votes",
    "encode",
    "estimation_decrease",
    "find_nodes",
    "fingerprints",
    "grow_tree",
    "partition_points",
    "words",
]
