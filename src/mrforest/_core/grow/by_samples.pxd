# SPDX-License-Identifier: BSD-3-Clause
"""Trees that some of the rows shape and all rows fill; see sampled_growth.pyx."""

from libc.stdint cimport int32_t

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport Limits, PendingNode, TreeBuilder
from mrforest._core.rules.rule cimport Draw, SplitRule
from mrforest._core.score.sample_scores cimport NodeScores
from mrforest._core.types cimport Split

cdef enum:
    ALL_NODES = -1
    ELSEWHERE = -5                      # points that a split needs are not here


cdef class SampleBuilder(TreeBuilder):
    cdef SplitRule rule
    cdef NodeScores scores
    cdef bint offers_equality
    cdef Py_ssize_t max_scored          # points that a node is scored on, at most, unless ...
    cdef Py_ssize_t min_minority        # ... fewer of them than this are not of the largest class
    cdef Py_ssize_t n_asked             # only nodes that hold out a point below this are split
    cdef int32_t* sample
    cdef object held                    # points that are held out, ascending

    cdef bint can_grow(
        self, TrainingTable table, structure, points, Limits limits, SplitRule rule,
        bint offers_equality, Py_ssize_t max_scored, Py_ssize_t min_minority, Py_ssize_t n_asked
    ) except -1
    cdef void begin(self, structure, points, key) except *
    cdef bint is_asked(self, const PendingNode* node) noexcept nogil
    cdef void count_columns(self, const int32_t* rows, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t count_minority(self, const int32_t* rows, Py_ssize_t n) noexcept nogil
    cdef bint is_pure(self, const int32_t* rows, Py_ssize_t n) noexcept nogil
    cdef const int32_t* take_sample(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t size, Draw* draw) noexcept nogil
    cdef const int32_t* draw_sample(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t* size, Draw* draw) noexcept nogil
    cdef int draw_split(
        self, const PendingNode* node, Split* split, Py_ssize_t* n_scored) noexcept nogil
    cdef void join_sides(
        self, int32_t* rows, Py_ssize_t n_structure, Py_ssize_t left_structure,
        Py_ssize_t left_held) noexcept nogil
    cdef object held_leaves(self)
