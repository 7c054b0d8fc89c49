# SPDX-License-Identifier: BSD-3-Clause
"""Copy rows together, and let a table show these alone; see excerpt.pxd."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.stdlib cimport calloc, free, malloc

from mrforest._core.kernels.dispatch cimport kernels
from mrforest._core.types cimport Table, at

cdef enum:
    WORTH = 4       # times the room of an excerpt that the rows of a tree take, if it pays


cdef inline Py_ssize_t bytes_of_row(const Table* table) noexcept nogil:
    return table.n_features * (sizeof(uint16_t) if table.wide else sizeof(uint8_t))


cdef Excerpt* new_excerpt(
    const Table* table, Py_ssize_t n, Py_ssize_t n_bytes
) noexcept nogil:
    """Room for n_bytes of codes of a tree of n rows; NULL: it does not pay, or no memory."""
    cdef Excerpt* excerpt
    if n * bytes_of_row(table) <= WORTH * n_bytes:
        return NULL
    excerpt = <Excerpt*> calloc(1, sizeof(Excerpt))
    if excerpt is NULL:
        return NULL
    n = n_bytes // bytes_of_row(table)
    excerpt.room = n
    excerpt.rows = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    excerpt.codes = malloc((n + 1) * bytes_of_row(table))
    excerpt.y = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    if table.mass is not NULL:
        excerpt.mass = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    if table.moment is not NULL:
        excerpt.moment = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    excerpt.copies = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    if (excerpt.rows is NULL or excerpt.codes is NULL or excerpt.y is NULL
            or (table.mass is not NULL and excerpt.mass is NULL)
            or excerpt.copies is NULL
            or (table.moment is not NULL and excerpt.moment is NULL)):
        free_excerpt(excerpt)
        return NULL
    return excerpt


cdef void free_excerpt(Excerpt* excerpt) noexcept nogil:
    if excerpt is not NULL:
        free(excerpt.rows)
        free(excerpt.codes)
        free(excerpt.y)
        free(excerpt.mass)
        free(excerpt.moment)
        free(excerpt.copies)
        free(excerpt)


cdef Py_ssize_t add_rows(
    Excerpt* excerpt,
    const Table* table,
    int32_t* rows,          # IN and OUT  rows of the table, then of the excerpt
    Py_ssize_t first,       # of the excerpt that is free
    Py_ssize_t n,
) noexcept nogil:
    """Copy rows; return the next one that is free."""
    cdef Py_ssize_t i, row, to, size = bytes_of_row(table)
    kernels.copy_rows(
        table.codes, size, table.n_rows, rows, n, <uint8_t*> excerpt.codes + first * size, NULL)
    for i in range(n):
        row = at(rows[i], table.n_rows)
        to = at(first + i, excerpt.room)
        excerpt.rows[to] = <int32_t> row
        excerpt.y[to] = table.y[row]
        if table.mass is not NULL:
            excerpt.mass[to] = table.mass[row]
        if table.moment is not NULL:
            excerpt.moment[to] = table.moment[row]
        if table.copies is not NULL:
            excerpt.copies[to] = table.copies[row]
        rows[i] = <int32_t> to
    return first + n


cdef void show_excerpt(Excerpt* excerpt, Py_ssize_t n, Table* table) noexcept nogil:
    """Let a table show the n rows of the excerpt alone."""
    excerpt.whole = table[0]
    table.codes = excerpt.codes
    table.by_column = NULL
    table.n_rows = n
    table.y = excerpt.y
    table.mass = excerpt.mass
    table.moment = excerpt.moment
    table.copies = NULL if table.copies is NULL else excerpt.copies


cdef void show_whole(
    const Excerpt* excerpt,
    int32_t* rows,          # IN and OUT  rows of the excerpt, then of the table
    Py_ssize_t n,
    Table* table,
) noexcept nogil:
    """Let the table show all of its rows again."""
    cdef Py_ssize_t i
    table[0] = excerpt.whole
    for i in range(n):
        rows[i] = excerpt.rows[at(rows[i], excerpt.room)]
