# SPDX-License-Identifier: BSD-3-Clause
"""The ways in which a tree is grown and rows are predicted: one table.

A *way* is quicker than the general one on some tables, and gives the same forest to the bit. WAYS
says of each when it is taken, what is done instead, and where its code is. The conditions stand in
plan.pxd, or in the C file that is named. Any way can be switched off, to test that forests do not
depend on it and to measure what it buys (benchmarks/ways.py).
"""

import os
from typing import NamedTuple


class WayOfWork(NamedTuple):
    """A row of the table."""

    name: str
    stage: str      # what it is about
    taken: str      # when it is taken
    instead: str    # what is done otherwise
    code: str       # where it is


PLAIN = "Gini; points count one each"

WAYS = (
    # In the order of ways.h
    WayOfWork(
        "cut_bits", "rows of a node",
        f"{PLAIN}; at most 8 classes; at least 7 of 8 features have at most 8 codes and no missing "
        "value; a compiled rule that does not restrict cuts; no min_weight_fraction_leaf",
        "row numbers", "grow/by_bits, score/bit_matrix"),
    WayOfWork(
        "squeezed_bits", "rows of a node",
        "cut_bits; a mask of at least 4 words of which at most half would be left",
        "masks over the bits of an ancestor", "score/bit_matrix"),
    WayOfWork(
        "bits_of_some", "scores", "cut_bits; a rule that looks at some features; masks of at "
        "most 8 words",
        "counts of all these cuts first, then scores", "score/bit_scores"),
    WayOfWork(
        "row_cache", "rows of a node",
        "a tree of more than 512 kB of codes; nodes of at most 128 kB; a compiled rule",
        "rows scattered over the table", "data/row_cache"),
    WayOfWork(
        "joined_copies", "rows of a node",
        "bootstrap samples; a compiled rule that does not restrict cuts",
        "each copy of a row by itself", "grow/by_rows"),
    WayOfWork(
        "columns", "table",
        "a rule that looks at some features; or more than 4 MB of codes",
        "codes row by row alone", "data/table"),
    WayOfWork(
        "columns_together", "counts", "columns; classification; four features or more",
        "one feature after the other", "score/histogram"),
    WayOfWork(
        "blocks", "scores",
        f"{PLAIN}; a rule that looks at all features; no joined copies; subtrees of at most 256 "
        "points",
        "node_lists, histograms or sorted entries", "score/sorted_block"),
    WayOfWork(
        "node_lists", "scores",
        f"{PLAIN}; at most 256 classes; nodes of at most 256 points that are in no block",
        "node_histograms or sorted entries", "score/node_lists"),
    WayOfWork(
        "histograms", "counts",
        "a rule that looks at all features; at most 2^18 cells, and 8 for each code of a point; "
        "the "
        "smaller child is counted and the larger one is what is left",
        "sorted entries", "score/histogram_pool"),
    WayOfWork(
        "node_histograms", "counts",
        "a rule that looks at some features; at most 2^18 cells, and 8 for each code of a point",
        "sorted entries", "score/node_histogram"),
    WayOfWork(
        "child_totals", "stop",
        "classification; all points shape the tree and fill its leaves; points count one each",
        "the classes of each node are counted when it is split", "grow/by_rows"),
    WayOfWork(
        "sample_histograms", "scores",
        "default forest; at least 8 features of which at least half have at most 8 codes; at "
        "most 16 classes",
        "sample_lists or sample_counts", "score/sample_scores"),
    WayOfWork(
        "sample_counts", "scores",
        "default forest; classification; points count one each; at most 256 codes, none missing",
        "sorted entries", "score/sample_scores"),
    WayOfWork(
        "sample_lists", "scores",
        "default forest; classification; points count one each; at most 256 points; order cuts "
        "of more "
        "codes than 32 or points; none missing",
        "sample_counts", "score/sample_scores"),
    WayOfWork(
        "lists_by_lanes", "kernels", "blocks or node_lists; more than 2 features; at most 32 "
        "classes",
        "one feature after the other", "kernels/gini_lists.c"),
    WayOfWork(
        "bins_of_two_by_lanes", "kernels",
        "histograms; 2 classes; more than 2 features of equally many bins; at most 46,340 points",
        "one feature after the other", "kernels/gini_bins.c"),
    WayOfWork(
        "bins_of_many_by_lanes", "kernels",
        "histograms; 3 to 6 classes; more than 2 features of equally many bins; less than 2^24 "
        "points",
        "one feature after the other", "kernels/gini_bins.c"),
    WayOfWork(
        "bins_at_once", "kernels", "histograms; more than 2 classes; more than 4 bins",
        "one bin after the other", "kernels/gini_bins.c"),
    WayOfWork(
        "rows_by_lanes", "kernels", "row numbers are partitioned; vectors with a table look-up",
        "one row after the other", "kernels/partition.c"),
    WayOfWork(
        "cells_by_lanes", "kernels", "histograms of all features; codes of one byte",
        "one cell after the other", "kernels/count_rows.c"),
    WayOfWork(
        "few_sorted", "kernels", "node_lists or sample_lists; at most 32 points; codes of one byte",
        "counting sort", "kernels/sort_codes.c"),
    WayOfWork(
        "coded_rows", "prediction",
        "many rows, since the forest was fitted or loaded, for the nodes of the forest; none "
        "missing",
        "thresholds are compared with values", "predict/walk"),
    WayOfWork(
        "slim_nodes", "prediction",
        "coded_rows; at most 256 columns of codes, of at most 255 thresholds each; trees of "
        "less than 2^16 nodes",
        "nodes of 8 bytes instead of 4", "predict/walk"),
    WayOfWork(
        "bit_votes", "prediction",
        'coded_rows; voting="hard"; at most 4,096 splits a tree, 32,768 cuts and 64 classes; '
        'more than 512 rows',
        "each row walks by itself", "predict/bit_votes"),
    WayOfWork(
        "single_thresholds", "prediction",
        "bit_votes; at least half of the features have one threshold",
        "these features are coded like others", "predict/bit_votes"),
)
NAMES = tuple(way.name for way in WAYS)
assert len(WAYS) == N_WAYS


def switch_off(*names):
    """Do without some ways, and with all others; for tests and measurements.

    It holds for forests that are fitted, and rows that are predicted, from now on.
    """
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        raise ValueError(f"unknown ways: {', '.join(unknown)}; known are {', '.join(NAMES)}")
    for way, name in enumerate(NAMES):
        is_off[way] = name in names


def is_taken(name):
    """Whether a way is not switched off."""
    return not is_off[NAMES.index(name)]


switch_off(*filter(None, os.environ.get("MRFOREST_WITHOUT", "").split(",")))
