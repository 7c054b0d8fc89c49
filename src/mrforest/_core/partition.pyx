# SPDX-License-Identifier: BSD-3-Clause
"""A node is a slice of an array of row numbers. A split reorders the slice in place and stably:

    rows      [ . . . . | a b c d e f | . . . ]      a node
    rows      [ . . . . | a d e | b c f | . . . ]    its children, if a, d, e go left
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t
from libc.string cimport memcpy

from mrforest._core.types cimport Column, Cut, Table, at, code_t, codes_of, column_of

cdef extern from "part_rows.h" nogil:
    void mrforest_copy_short(int32_t* to, const int32_t* from_, Py_ssize_t n)
    Py_ssize_t mrforest_part_rows(
        const void* codes, Py_ssize_t stride, int32_t bits, Py_ssize_t n_rows, int32_t* rows,
        Py_ssize_t n, int32_t bin, bint is_equality, int32_t missing, bint missing_left,
        int32_t* others, Py_ssize_t* n_left)

cdef enum:
    FEW_COPIES = 8          # more than a row has in nearly any bag


cdef Py_ssize_t partition_of(
    const Table* table, const code_t* codes, int32_t* rows, Py_ssize_t n, Py_ssize_t feature,
    const Cut* cut, int32_t* scratch
) noexcept nogil:
    cdef Column column = column_of(table, feature)
    cdef Py_ssize_t i, n_left, n_done, n_right, row
    cdef int32_t code, missing = table.n_bins[feature]
    cdef bint left, missing_left = cut.missing_left, is_equality = cut.is_equality
    n_done = mrforest_part_rows(
        codes + column.first, column.stride * sizeof(code_t), 255 if code_t is uint8_t else 65535,
        table.n_rows, rows, n, cut.bin, is_equality, missing, missing_left, scratch, &n_left)
    n_right = n_done - n_left
    for i in range(n_done, n):
        row = at(rows[i], table.n_rows)
        code = codes[column.first + row * column.stride]
        left = code == cut.bin if is_equality else code <= cut.bin
        left = missing_left if code == missing else left
        # Write to both sides, advance one: no branch to mispredict. n_left <= i, so the
        # first write never runs ahead of the reading.
        rows[n_left] = <int32_t> row
        scratch[n_right] = <int32_t> row
        n_left += left
        n_right += not left
    mrforest_copy_short(rows + n_left, scratch, n_right)
    return n_left


cdef Py_ssize_t partition_rows(
    const Table* table,
    int32_t* rows,         # IN and OUT  the node's slice
    Py_ssize_t n,
    Py_ssize_t feature,
    const Cut* cut,
    int32_t* scratch,      # n of them
) noexcept nogil:
    """Left ones first; return how many they are."""
    if table.wide:
        return partition_of(
            table, <const uint16_t*> codes_of(table), rows, n, feature, cut, scratch)
    return partition_of(
        table, <const uint8_t*> codes_of(table), rows, n, feature, cut, scratch)


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
