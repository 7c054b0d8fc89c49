# SPDX-License-Identifier: BSD-3-Clause
"""What is in each bin of a feature at a node, as a sorted list of entries.

Two ways lead there. A node with many points is *counted*: one pass over its rows fills the
bins of all features, and the entries of a feature are its bins that are not empty. A node with
few points is *sorted*: the codes of its points are sorted, one feature at a time, so that no
empty bin is ever looked at.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from mrforest._core.types cimport Entry, Table

# counts: (bins of feature 0, bins of feature 1, ...) x class; int64 if there are masses, or int32
cdef void count_classes(
    const Table* table, const int32_t* rows, Py_ssize_t n, void* counts) noexcept nogil
cdef void count_points(
    const Table* table, const int32_t* rows, Py_ssize_t n, int32_t* counts) noexcept nogil
cdef void subtract_classes(
    const Table* table, void* counts, const void* other) noexcept nogil
cdef void subtract_points(
    const Table* table, int32_t* counts, const int32_t* other) noexcept nogil
cdef Py_ssize_t counted_entries(
    const Table* table, const void* counts, Py_ssize_t feature, Entry* entries) noexcept nogil
cdef Py_ssize_t counted_points(
    const Table* table, const int32_t* counts, Py_ssize_t feature, Entry* entries) noexcept nogil
cdef Py_ssize_t sorted_entries(
    const Table* table, const int32_t* rows, Py_ssize_t n, Py_ssize_t feature,
    uint64_t* keys, uint64_t* scratch, Entry* entries) noexcept nogil
cdef Py_ssize_t sorted_points(
    const Table* table, const int32_t* rows, Py_ssize_t n, Py_ssize_t feature,
    uint64_t* keys, uint64_t* scratch, Entry* entries) noexcept nogil
