# SPDX-License-Identifier: BSD-3-Clause
"""A histogram of the features that one node looks at."""

from libc.stdint cimport int32_t, int64_t

from mrforest._core.score.histogram cimport Selection
from mrforest._core.types cimport Table


cdef struct NodeHistogram:
    Selection chosen            # points into the two that follow
    int32_t* features
    int64_t* slot
    void* columns               # structure points ...
    int32_t* points             # ... and estimation points; see histogram.pxd
    Py_ssize_t capacity             # for bins

    # Of each row of the node, so that features need not look it up one by one
    int64_t* target_of_row               # its class or moment ...
    int64_t* mass               # ... and its mass; NULL: the table has no columns
    bint has_rows                # whether these are of the node that is looked at


cdef NodeHistogram* new_node_histogram(const Table* table, Py_ssize_t n_structure) noexcept nogil
cdef void free_node_histogram(NodeHistogram* histogram) noexcept nogil
cdef void select_none(NodeHistogram* histogram) noexcept nogil
cdef Py_ssize_t select_feature(
    NodeHistogram* histogram, const Table* table, int32_t feature) noexcept nogil
cdef bint count_node_histogram(
    NodeHistogram* histogram, const Table* table, const int32_t* rows, Py_ssize_t n) noexcept nogil
cdef void count_node_histogram_points(
    NodeHistogram* histogram, const Table* table, const int32_t* rows, Py_ssize_t n) noexcept nogil
