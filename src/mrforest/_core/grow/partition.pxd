# SPDX-License-Identifier: BSD-3-Clause
"""Send the points of a node to its children."""

from libc.stdint cimport int32_t

from mrforest._core.types cimport Cut, Table

cdef Py_ssize_t partition_rows(
    const Table* table, int32_t* rows, Py_ssize_t n, Py_ssize_t feature, const Cut* cut,
    int32_t* scratch) noexcept nogil
cdef void part_copies(int32_t* rows, Py_ssize_t n, int32_t* scratch) noexcept nogil
