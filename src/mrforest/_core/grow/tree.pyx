# SPDX-License-Identifier: BSD-3-Clause
"""Grow a tree of cuts that come from the features' lists of cuts."""

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport Limits
from mrforest._core.grow.cut_builder cimport CutBuilder
from mrforest._core.grow.python_rule cimport PythonRule
from mrforest._core.plan cimport can_use_bits
from mrforest._core.rules.rule cimport SplitRule
from mrforest._core.grow.finish import grown_tree
from mrforest._core.grow.by_rows import RowBuilder
from mrforest._core.grow.by_bits import BitBuilder


cdef object builder_of(
    TrainingTable table, structure, estimation, key, Limits limits, SplitRule rule, idle
):
    """What grows the tree: one that has grown another tree before, if there is such."""
    cdef CutBuilder builder
    while idle:
        try:
            builder = idle.pop()
        except IndexError:  # another thread was faster
            break
        if builder.can_grow(table, structure, estimation, limits, rule):
            builder.begin(structure, estimation, key)
            return builder
    if table.has_cut_bits and can_use_bits(
            &table.view, limits.min_weight, not isinstance(rule, PythonRule), rule.restricts):
        return BitBuilder(table, structure, estimation, key, limits, rule)
    return RowBuilder(table, structure, estimation, key, limits, rule)


def grow_tree(
    TrainingTable table, structure, estimation, key, Limits limits, *, SplitRule rule, idle=None,
    below=None
):
    """Grow a tree and fill its leaves.

    Parameters
    ----------
    table : TrainingTable
        With codes.
    structure, estimation : ndarray of int32
        Rows, with repetition; both are reordered. None as estimation: the structure points.
    key : pair of uint64
        Key of the tree's random streams.
    limits : Limits
    rule : SplitRule
    idle : list, default=None
        Work space that no thread uses, for trees of the same forest. What this tree used is
        put there when it is grown, and taken by the next one: its memory need not be asked
        for, and cleared by the kernel, again.
    below : tuple of path, depth, weight and min_weight, default=None
        Grow no tree, but what comes below a node that has these points: its path and depth, the
        weight of all structure points of the tree, and the least weight of the estimation points
        of a child.

    Returns
    -------
    dict of arrays
        See `grown_tree`.
    """
    cdef CutBuilder builder = builder_of(table, structure, estimation, key, limits, rule, idle)
    builder.begin_at(below)
    tree = grown_tree(builder)
    if idle is not None:
        builder.forget_points()
        idle.append(builder)
    return tree
