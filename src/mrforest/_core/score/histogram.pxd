# SPDX-License-Identifier: BSD-3-Clause
"""What is in each bin of a feature at a node, as a sorted list of entries.

Two ways lead there. A node with many points is *counted*: one pass over its rows fills the
bins of all features that are looked at, and the entries of a feature are its bins that are not
empty. A node with few points is *sorted*: the codes of its points are sorted, one feature at a
time, so that no empty bin is ever looked at.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from mrforest._core.types cimport Entry, Table


cdef struct Selection:
    # Features that are counted together.
    const int32_t* features     # NULL: all of the table, in their order
    const int64_t* slot         # first bin of each in the histogram; [n]: bins in all
    Py_ssize_t n


cdef inline bint has_small_cells(const Table* table) noexcept nogil:
    """Whether cells are int32; else they are int64."""
    return table.mass is NULL and table.moment is NULL


# counts: for each feature, columns x bins. Those of a feature begin at its slot, times columns.
cdef void count_columns(
    const Table* table, const int32_t* rows, Py_ssize_t n, Selection chosen,
    const int64_t* target_of_row, const int64_t* mass, void* counts) noexcept nogil
cdef void count_points(
    const Table* table, const int32_t* rows, Py_ssize_t n, Selection chosen,
    int32_t* counts) noexcept nogil
cdef void subtract_columns(
    const Table* table, void* counts, const void* other) noexcept nogil
cdef void subtract_points(
    const Table* table, int32_t* counts, const int32_t* other) noexcept nogil
cdef Py_ssize_t counted_entries(
    const Table* table, const void* counts, Py_ssize_t slot, Py_ssize_t feature,
    Entry* entries) noexcept nogil
cdef Py_ssize_t counted_points(
    const Table* table, const int32_t* counts, Py_ssize_t slot, Py_ssize_t feature,
    Entry* entries) noexcept nogil
cdef Py_ssize_t sorted_entries(
    const Table* table, const int32_t* rows, Py_ssize_t n, Py_ssize_t feature,
    uint64_t* keys, uint64_t* scratch, Entry* entries) noexcept nogil
cdef Py_ssize_t sorted_points(
    const Table* table, const int32_t* rows, Py_ssize_t n, Py_ssize_t feature,
    uint64_t* keys, uint64_t* scratch, Entry* entries) noexcept nogil
