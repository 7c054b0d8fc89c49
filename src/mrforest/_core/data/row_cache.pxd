# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a subtree, copied together.

A node's rows lie scattered over the table. Each level of a large tree reads them once more, and
each time they come from memory, cache line by cache line. So when a node's rows fit the cache
they are copied into a table of their own, in which the whole subtree grows:

    table     [ . a . . b . . . c . ]      rows of the node   a, c | b
    cache     [ a c b ]                                       0, 1 | 2
"""

from libc.stdint cimport int32_t, int64_t

from mrforest._core.types cimport Table


cdef struct RowCache:
    Table whole                 # the table it is taken from
    Py_ssize_t capacity             # for rows; a node of no more is copied
    int32_t* rows               # which they are in the whole table
    void* codes
    int32_t* y
    int64_t* mass
    int64_t* moment
    int32_t* copies


cdef RowCache* new_row_cache(
    const Table* table, Py_ssize_t n, Py_ssize_t n_bytes) noexcept nogil
cdef void free_row_cache(RowCache* row_cache) noexcept nogil
cdef Py_ssize_t add_rows(
    RowCache* row_cache, const Table* table, int32_t* rows, Py_ssize_t first, Py_ssize_t n
) noexcept nogil
cdef void use_row_cache(RowCache* row_cache, Py_ssize_t n, Table* table) noexcept nogil
cdef void use_whole_table(
    const RowCache* row_cache, int32_t* rows, Py_ssize_t n, Table* table) noexcept nogil
