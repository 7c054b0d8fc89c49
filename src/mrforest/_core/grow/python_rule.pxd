# SPDX-License-Identifier: BSD-3-Clause
"""A split rule that asks a Python function."""

from libc.stdint cimport int32_t

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.splitter cimport Splitter
from mrforest._core.rules.rule cimport SplitRule
from mrforest._core.score.scorer cimport NodeView, Scorer
from mrforest._core.types cimport Cut, Split


cdef struct Found:
    # A candidate of a node.
    int32_t feature
    Cut cut
    double score


cdef class PythonRule(SplitRule):
    cdef object choose

    cdef int split(
        self, Scorer scorer, TrainingTable table, NodeView* node, Split* split) except -3
    cdef object show(
        self, Scorer scorer, TrainingTable table, const NodeView* node, const Found* found,
        Py_ssize_t n)
