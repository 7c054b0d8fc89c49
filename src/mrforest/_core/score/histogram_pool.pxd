# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of the nodes that wait to be split, kept for the children of those nodes."""

from libc.stdint cimport int32_t, int64_t

from mrforest._core.types cimport Table

cdef struct Histogram:
    void* columns       # structure points, see histogram.pxd
    int32_t* points     # estimation points: bin; only if the owner asks for them
    bint in_use


cdef class HistogramPool:
    cdef const Table* table
    cdef bint with_points
    cdef Histogram* items
    cdef int n_items

    cdef void set_table(self, const Table* table, bint with_points) noexcept nogil
    cdef bint is_counted(self, Py_ssize_t n_structure) noexcept nogil
    cdef int take(self) noexcept nogil
    cdef void release(self, int number) noexcept nogil
    cdef void count(
        self, int number, const int32_t* structure, Py_ssize_t n_structure,
        const int32_t* estimation, Py_ssize_t n_estimation) noexcept nogil
    cdef void subtract(self, int number, int other) noexcept nogil
    cdef int add_up(self, int number, int64_t* totals) noexcept nogil

    cdef Py_ssize_t narrowest           # feature, which has the fewest bins
