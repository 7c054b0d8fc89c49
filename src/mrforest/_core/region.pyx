# SPDX-License-Identifier: BSD-3-Clause
"""The bins that the points of a region occupy."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memmove, memset


cdef void free_region(Region* r) noexcept nogil:
    free(r.codes)
    free(r.y)
    free(r.slot)
    free(r.bin)
    free(r.measure)
    free(r.cells)
    memset(r, 0, sizeof(Region))


cdef int make_region(
    const Problem* p, const uint8_t* codes, const int32_t* y, const int32_t* rows, Py_ssize_t n,
    const int32_t* slot, const int32_t* bin, Region* r
) noexcept nogil:
    """Points `rows` of a table whose code j of feature f is bin[slot[f] + j] (NULL: j)."""
    cdef Py_ssize_t F = p.n_features, C = p.n_columns, f, i, j, n_bins = p.slot[F]
    cdef uint8_t* row
    cdef int32_t* number = <int32_t*> malloc((n_bins + 1) * sizeof(int32_t))
    memset(r, 0, sizeof(Region))
    r.n = n
    r.codes = <uint8_t*> malloc(n * F + 1)
    r.y = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    r.slot = <int32_t*> malloc((F + 1) * sizeof(int32_t))
    r.bin = <int32_t*> malloc((n_bins + 1) * sizeof(int32_t))
    r.measure = <double*> malloc((n_bins + 1) * sizeof(double))
    r.cells = <int64_t*> calloc((n_bins + 1) * C, sizeof(int64_t))
    if (number is NULL or r.codes is NULL or r.y is NULL or r.slot is NULL or r.bin is NULL
            or r.measure is NULL or r.cells is NULL):
        free(number)
        return OUT_OF_MEMORY
    for i in range(n):
        j = rows[i]
        r.y[i] = y[j]
        row = r.codes + i * F
        memcpy(row, codes + j * F, F)
        if bin is not NULL:
            for f in range(F):
                row[f] = <uint8_t> bin[slot[f] + row[f]]
        for f in range(F):
            count(p, r.cells + (p.slot[f] + row[f]) * C, y[j])
        count(p, r.cells + n_bins * C, y[j])
    find_occupied(p, r, number)
    if r.slot[F] < n_bins:
        for i in range(n):
            for f in range(F):
                r.codes[i * F + f] = <uint8_t> number[p.slot[f] + r.codes[i * F + f]]
    free(number)
    return 0


cdef void find_occupied(const Problem* p, Region* r, int32_t* number) noexcept nogil:
    """Drop the cells of bins without points; `number` gets what is left of each feature."""
    cdef Py_ssize_t F = p.n_features, C = p.n_columns, f, first, b, m = 0
    cdef bint is_occupied
    for f in range(F):
        first = m
        r.slot[f] = <int32_t> m
        for b in range(p.slot[f], p.slot[f + 1]):
            is_occupied = points_of(p, r.cells + b * C) > 0
            if is_occupied:
                r.bin[m] = <int32_t> (b - p.slot[f])
                r.measure[m] = 0
                number[b] = <int32_t> (m - first)
                memmove(r.cells + m * C, r.cells + b * C, C * sizeof(int64_t))
                m += 1
            # An empty bin makes no difference to a cut; no point has an empty category.
            if m > first and (is_occupied or not p.is_categorical[f]):
                r.measure[m - 1] += p.measure[b]
            else:
                r.nothing += p.measure[b]
        # A cut after the last occupied bin, or the only category, leaves a side empty.
        if m > first and (not p.is_categorical[f] or m == first + 1):
            r.nothing += r.measure[m - 1]
            r.measure[m - 1] = 0
    r.slot[F] = <int32_t> m
    memmove(r.cells + m * C, r.cells + p.slot[F] * C, C * sizeof(int64_t))
