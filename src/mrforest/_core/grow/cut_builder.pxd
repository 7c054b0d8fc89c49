# SPDX-License-Identifier: BSD-3-Clause
"""What trees of cuts have in common: a rule draws the cut of a node."""

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport Limits, PendingNode, TreeBuilder
from mrforest._core.grow.python_rule cimport PythonRule
from mrforest._core.grow.splitter cimport Splitter
from mrforest._core.rules.rule cimport SplitRule
from mrforest._core.score.histogram_pool cimport HistogramPool
from mrforest._core.score.scorer cimport Scorer
from mrforest._core.types cimport FAILED, Node, Split


cdef class CutBuilder(TreeBuilder):
    cdef SplitRule rule
    cdef PythonRule python              # the same, if it is one
    cdef HistogramPool pool
    cdef Scorer scorer
    cdef Splitter splitter
    cdef bint counts_points             # whether the sides of a cut tell its estimation points

    cdef bint can_grow(
        self, TrainingTable table, structure, estimation, Limits limits, SplitRule rule
    ) except -1
    cdef void begin(self, structure, estimation, key) except *
    cdef void prepare(self) except *
    cdef int draw(self, const PendingNode* node, Split* split) except FAILED nogil
    cdef void write(self, Node* node, const Split* split) noexcept nogil


cdef void write_split(TrainingTable table, const Split* split, Node* node) noexcept nogil
