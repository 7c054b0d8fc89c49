# SPDX-License-Identifier: BSD-3-Clause
"""Copy rows together, and let a table show these alone; see row_cache.pxd."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.stdlib cimport calloc, free, malloc

from mrforest._core.kernels.dispatch cimport kernels
from mrforest._core.plan cimport has_row_cache
from mrforest._core.types cimport Table, at

cdef inline Py_ssize_t bytes_of_row(const Table* table) noexcept nogil:
    return table.n_features * (sizeof(uint16_t) if table.wide else sizeof(uint8_t))


cdef RowCache* new_row_cache(
    const Table* table, Py_ssize_t n, Py_ssize_t n_bytes
) noexcept nogil:
    """Room for n_bytes of codes of a tree of n rows; NULL: it does not pay, or no memory."""
    cdef RowCache* row_cache
    if not has_row_cache(n * bytes_of_row(table), n_bytes):
        return NULL
    row_cache = <RowCache*> calloc(1, sizeof(RowCache))
    if row_cache is NULL:
        return NULL
    n = n_bytes // bytes_of_row(table)
    row_cache.capacity = n
    row_cache.rows = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    row_cache.codes = malloc((n + 1) * bytes_of_row(table))
    row_cache.y = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    if table.mass is not NULL:
        row_cache.mass = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    if table.moment is not NULL:
        row_cache.moment = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    row_cache.copies = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    if (row_cache.rows is NULL or row_cache.codes is NULL or row_cache.y is NULL
            or (table.mass is not NULL and row_cache.mass is NULL)
            or row_cache.copies is NULL
            or (table.moment is not NULL and row_cache.moment is NULL)):
        free_row_cache(row_cache)
        return NULL
    return row_cache


cdef void free_row_cache(RowCache* row_cache) noexcept nogil:
    if row_cache is not NULL:
        free(row_cache.rows)
        free(row_cache.codes)
        free(row_cache.y)
        free(row_cache.mass)
        free(row_cache.moment)
        free(row_cache.copies)
        free(row_cache)


cdef Py_ssize_t add_rows(
    RowCache* row_cache,
    const Table* table,
    int32_t* rows,          # IN and OUT  rows of the table, then of the cache
    Py_ssize_t first,       # of the cache that is free
    Py_ssize_t n,
) noexcept nogil:
    """Copy rows; return the next one that is free."""
    cdef Py_ssize_t i, row, to, size = bytes_of_row(table)
    kernels.copy_rows(
        table.codes, size, table.n_rows, rows, n, <uint8_t*> row_cache.codes + first * size, NULL)
    for i in range(n):
        row = at(rows[i], table.n_rows)
        to = at(first + i, row_cache.capacity)
        row_cache.rows[to] = <int32_t> row
        row_cache.y[to] = table.y[row]
        if table.mass is not NULL:
            row_cache.mass[to] = table.mass[row]
        if table.moment is not NULL:
            row_cache.moment[to] = table.moment[row]
        if table.copies is not NULL:
            row_cache.copies[to] = table.copies[row]
        rows[i] = <int32_t> to
    return first + n


cdef void use_row_cache(RowCache* row_cache, Py_ssize_t n, Table* table) noexcept nogil:
    """Let a table show the n rows of the cache alone."""
    row_cache.whole = table[0]
    table.codes = row_cache.codes
    table.by_column = NULL
    table.n_rows = n
    table.y = row_cache.y
    table.mass = row_cache.mass
    table.moment = row_cache.moment
    table.copies = NULL if table.copies is NULL else row_cache.copies


cdef void use_whole_table(
    const RowCache* row_cache,
    int32_t* rows,          # IN and OUT  rows of the cache, then of the table
    Py_ssize_t n,
    Table* table,
) noexcept nogil:
    """Let the table show all of its rows again."""
    cdef Py_ssize_t i
    table[0] = row_cache.whole
    for i in range(n):
        rows[i] = row_cache.rows[at(rows[i], row_cache.capacity)]
