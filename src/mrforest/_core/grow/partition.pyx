# SPDX-License-Identifier: BSD-3-Clause
"""A node is a slice of an array of row numbers. A split reorders the slice in place and stably:

    rows      [ . . . . | a b c d e f | . . . ]      a node
    rows      [ . . . . | a d e | b c f | . . . ]    its children, if a, d, e go left
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t
from libc.string cimport memcpy

from mrforest._core.kernels.dispatch cimport LeftCodes, kernels
from mrforest._core.types cimport Column, Cut, Table, codes_of, column_of

cdef enum:
    FEW_COPIES = 8          # more than a row has in nearly any bag


cdef Py_ssize_t partition_rows(
    const Table* table,
    int32_t* rows,         # IN and OUT  the node's slice
    Py_ssize_t n,
    Py_ssize_t feature,
    const Cut* cut,
    int32_t* scratch,      # n of them
) noexcept nogil:
    """Left ones first; return how many they are."""
    cdef Column column = column_of(table, feature)
    cdef LeftCodes left
    left.bin = cut.bin
    left.is_equality = cut.is_equality
    left.missing = table.n_bins[feature]
    left.missing_left = cut.missing_left
    if table.wide:
        return kernels.part_rows_of_shorts(
            <const uint16_t*> codes_of(table) + column.first, column.stride, table.n_rows, rows, n,
            left, scratch)
    return kernels.part_rows_of_bytes(
        <const uint8_t*> codes_of(table) + column.first, column.stride, table.n_rows, rows, n,
        left, scratch)


cdef void part_copies(
    int32_t* rows,         # IN and OUT  the copies of a row next to each other
    Py_ssize_t n,
    int32_t* scratch,      # n of them
) noexcept nogil:
    """Every row once, then every row that has a second copy, and so on, each in their order.

        [ a a b c c c ]  ->  [ a b c | a c | c ]

    What is left after FEW_COPIES times stays behind as it is.
    """
    cdef Py_ssize_t i, _time, first = 0, n_once, n_more
    cdef int32_t row, before
    cdef bint is_copy
    for _time in range(FEW_COPIES):
        before = -1
        n_once = first
        n_more = 0
        for i in range(first, n):
            row = rows[i]
            is_copy = row == before
            before = row
            rows[n_once] = row  # both, and advance one, as above
            scratch[n_more] = row
            n_once += not is_copy
            n_more += is_copy
        memcpy(rows + n_once, scratch, n_more * sizeof(int32_t))
        first = n_once
