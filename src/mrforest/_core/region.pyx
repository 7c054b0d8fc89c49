# SPDX-License-Identifier: BSD-3-Clause
"""Scores of leaves, and the bins that the points of a region occupy."""

from libc.math cimport INFINITY, cbrt, floor, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset


cdef inline double raised(double x, double norm) noexcept nogil:
    """x^p, by correctly rounded products and roots; see `mrforest.privacy.sensitivity.norm`."""
    if norm == 2:
        return x * x
    if norm == 3:
        return x * x * x
    return x * sqrt(x)


cdef inline double rooted(double x, double norm) noexcept nogil:
    """About x^(1/p)."""
    cdef double root
    if norm == 2:
        return sqrt(x)
    root = cbrt(x)
    return root if norm == 3 else root * root


cdef int64_t norm_of(const Problem* p, const int32_t* counts) noexcept nogil:
    """The largest whole number whose power is at most the sum of the scaled counts' powers."""
    cdef Py_ssize_t k
    cdef int32_t highest = 0
    cdef double total = 0, found
    if p.norm == INFINITY:
        for k in range(p.n_classes):
            highest = max(highest, counts[k])
        return <int64_t> highest << p.shift
    for k in range(p.n_classes):
        total = total + raised(<double> (<int64_t> counts[k] << p.shift), p.norm)
    found = floor(rooted(total, p.norm))
    # The root is a guess, right or nearly so.
    while raised(found, p.norm) > total:
        found -= 1
    while raised(found + 1, p.norm) <= total:
        found += 1
    return <int64_t> found


cdef Weight leaf(const Problem* p, const int32_t* counts) noexcept nogil:
    """Z(A, 0)."""
    cdef Weight out
    cdef Py_ssize_t k
    cdef int32_t highest = 0
    if p.norm > 0:
        out.exponent = norm_of(p, counts)
        out.mantissa = 1
        return out
    for k in range(p.n_classes):
        highest = max(highest, counts[k])
    out.mantissa = 0
    for k in range(p.n_classes):
        out.mantissa += power(p, <int64_t> (highest - counts[k]) << p.shift)
    out.exponent = <int64_t> highest << p.shift
    return out


cdef void free_region(Region* r) noexcept nogil:
    free(r.codes)
    free(r.y)
    free(r.slot)
    free(r.bin)
    free(r.measure)
    free(r.counts)
    free(r.totals)
    memset(r, 0, sizeof(Region))


cdef int make_region(
    const Problem* p, const uint8_t* codes, const int32_t* y, const int32_t* rows, Py_ssize_t n,
    const int32_t* slot, const int32_t* bin, Region* r
) noexcept nogil:
    """Points `rows` of a table whose code j of feature f is bin[slot[f] + j] (NULL: j)."""
    cdef Py_ssize_t F = p.n_features, K = p.n_classes, f, i, j, n_bins = p.slot[F], m = 0
    cdef Py_ssize_t first
    cdef int32_t b
    cdef int32_t* number = <int32_t*> malloc((n_bins + 1) * sizeof(int32_t))
    cdef uint8_t* used = <uint8_t*> calloc(n_bins + 1, 1)
    memset(r, 0, sizeof(Region))
    r.n = n
    r.codes = <uint8_t*> malloc(n * F + 1)
    r.y = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    r.slot = <int32_t*> malloc((F + 1) * sizeof(int32_t))
    r.bin = <int32_t*> malloc((n_bins + 1) * sizeof(int32_t))
    r.measure = <double*> malloc((n_bins + 1) * sizeof(double))
    r.totals = <int32_t*> calloc(K, sizeof(int32_t))
    if (number is NULL or used is NULL or r.codes is NULL or r.y is NULL or r.slot is NULL
            or r.bin is NULL or r.measure is NULL or r.totals is NULL):
        free(number)
        free(used)
        return OUT_OF_MEMORY
    for i in range(n):
        j = rows[i]
        r.y[i] = y[j]
        r.totals[y[j]] += 1
        for f in range(F):
            b = codes[j * F + f]
            if bin is not NULL:
                b = bin[slot[f] + b]
            used[p.slot[f] + b] = True
            r.codes[i * F + f] = <uint8_t> b
    for f in range(F):
        r.slot[f] = <int32_t> m
        first = m
        for b in range(p.slot[f + 1] - p.slot[f]):
            if used[p.slot[f] + b]:
                r.bin[m] = b
                r.measure[m] = 0
                number[p.slot[f] + b] = <int32_t> (m - first)
                m += 1
            if p.is_categorical[f]:
                if used[p.slot[f] + b]:
                    r.measure[m - 1] = p.measure[p.slot[f] + b]
                else:
                    r.nothing += p.measure[p.slot[f] + b]
            elif m == first:
                r.nothing += p.measure[p.slot[f] + b]
            else:
                r.measure[m - 1] += p.measure[p.slot[f] + b]
        # A cut after the last occupied bin, or the only category, leaves a side empty.
        if m > first and (not p.is_categorical[f] or m == first + 1):
            r.nothing += r.measure[m - 1]
            r.measure[m - 1] = 0
    r.slot[F] = <int32_t> m
    r.counts = <int32_t*> calloc(m * K + 1, sizeof(int32_t))
    if r.counts is not NULL:
        for i in range(n):
            for f in range(F):
                b = number[p.slot[f] + r.codes[i * F + f]]
                r.codes[i * F + f] = <uint8_t> b
                r.counts[(r.slot[f] + b) * K + r.y[i]] += 1
    free(number)
    free(used)
    return OUT_OF_MEMORY if r.counts is NULL else 0
