# SPDX-License-Identifier: BSD-3-Clause
"""A histogram of the features that one node looks at."""

from libc.stdint cimport int32_t, int64_t

from mrforest._core.score.histogram cimport Selection
from mrforest._core.types cimport Table


cdef struct Selected:
    Selection chosen            # points into the two that follow
    int32_t* features
    int64_t* slot
    void* columns               # structure points ...
    int32_t* points             # ... and estimation points; see histogram.pxd
    Py_ssize_t room             # for bins

    # Of each row of the node, so that features need not look it up one by one
    int64_t* what               # its class or moment ...
    int64_t* mass               # ... and its mass; NULL: the table has no columns
    bint is_told                # whether these are of the node that is looked at


cdef Selected* new_selected(const Table* table, Py_ssize_t n_structure) noexcept nogil
cdef void free_selected(Selected* selected) noexcept nogil
cdef void select_none(Selected* selected) noexcept nogil
cdef Py_ssize_t select_feature(
    Selected* selected, const Table* table, int32_t feature) noexcept nogil
cdef bint count_selected(
    Selected* selected, const Table* table, const int32_t* rows, Py_ssize_t n) noexcept nogil
cdef void count_selected_points(
    Selected* selected, const Table* table, const int32_t* rows, Py_ssize_t n) noexcept nogil
