# SPDX-License-Identifier: BSD-3-Clause
"""Candidates of the features of a node, and their scores, from the codes of its points."""

from libc.stdint cimport int32_t, int64_t

from mrforest._core.random.rng cimport Stream
from mrforest._core.rules.rule cimport Draw, Range
from mrforest._core.score.workspace cimport Workspace


cdef struct NodeView:
    # One node, as the splitter sees it.
    const int32_t* structure
    Py_ssize_t n_structure
    const int32_t* estimation
    Py_ssize_t n_estimation
    const int64_t* totals       # columns of the structure points
    int histogram               # number of its histogram, or NONE
    Py_ssize_t first            # of its structure points, among those of the tree
    int level                   # in the block; NONE: it has none
    Py_ssize_t depth
    Stream stream


cdef class FeatureScores(Workspace):
    cdef Py_ssize_t score_feature(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place, Draw* draw
    ) noexcept nogil
    cdef void draw_range(
        self, const NodeView* node, Py_ssize_t feature, Range* range_, Draw* draw
    ) noexcept nogil
    cdef Py_ssize_t keep_in_range(
        self, const Range* range_, Py_ssize_t feature, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t write_entries(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t write_points(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef bint has_bits(self, Py_ssize_t feature) noexcept nogil
    cdef bint has_no_cut(self, const NodeView* node, Py_ssize_t feature) noexcept nogil
    cdef void set_no_cut(self, const NodeView* node, Py_ssize_t feature) noexcept nogil
    cdef void count_together(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, Py_ssize_t* place
    ) noexcept nogil
    cdef void list_together(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, Py_ssize_t* place
    ) noexcept nogil
    cdef bint can_be_listed(self, const NodeView* node) noexcept nogil
    cdef const int32_t* bins_of(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef double best_of_cuts(self, Py_ssize_t n_cuts) noexcept nogil
    cdef bint is_plain_in(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t score_plain(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef void find_best_in_bins(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, const Py_ssize_t* place
    ) noexcept nogil
    cdef void find_best_of_same_width(self, const NodeView* node, Py_ssize_t n) noexcept nogil
    cdef double best_alone(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
