# SPDX-License-Identifier: BSD-3-Clause
"""The parts of impurity.pxd that are too long to inline."""

import numpy as np

from libc.math cimport floor, log
from libc.stdint cimport int64_t

from mrforest._core.types cimport ENTROPY, GINI, Table


cdef inline double class_weight_of(const Table* table, Py_ssize_t k) noexcept nogil:
    return 1.0 if table.class_weight is NULL else table.class_weight[k]


cdef double side_score(const Table* table, const int64_t* counts) noexcept nogil:
    """One side's share of the weighted score."""
    cdef Py_ssize_t k
    cdef double x, total = 0, total_score = 0
    for k in range(table.n_classes):
        x = counts[k] * class_weight_of(table, k)
        total += x
        if table.criterion == GINI:
            total_score += x * x
        elif x > 0:
            total_score += x * log(x)
    if table.criterion == GINI:
        return total_score / total if total > 0 else 0.0
    return total_score - total * log(total) if total > 0 else 0.0


cdef double weighted_score(const Table* table, const Sides* sides) noexcept nogil:
    return side_score(table, sides.left) + side_score(table, sides.right)


cdef double node_score(const Table* table, const int64_t* counts) noexcept nogil:
    """Score of not splitting: a split's score minus this is its decrease times the weight."""
    cdef Py_ssize_t k
    cdef int64_t n = 0, total = 0
    if table.mass is not NULL or table.class_weight is not NULL:
        return side_score(table, counts)
    for k in range(table.n_classes):
        n += counts[k]
        total += counts[k] * counts[k] if table.criterion == GINI else xlogx(table, counts[k])
    if table.criterion == GINI:
        return <double> total / <double> n
    return <double> (total - xlogx(table, n)) * (1.0 / FIXED_POINT)


cdef double node_weight(const Table* table, const int64_t* counts) noexcept nogil:
    cdef Py_ssize_t k
    cdef double total = 0
    for k in range(table.n_classes):
        total += counts[k] * class_weight_of(table, k)
    return total


cdef double score_tolerance(const Table* table, double weight) noexcept nogil:
    """Scores closer than this are equal: it is far above rounding, far below any real gap."""
    if table.criterion == ENTROPY and table.mass is NULL and table.class_weight is NULL:
        return 1e-12 * weight + 1e-7 * table.n_classes  # x log x is rounded to 2^-26
    return 1e-12 * weight


def xlogx_table(Py_ssize_t n):
    """Fixed-point x log x of 0 … n − 1, as an int64 array."""
    out = np.zeros(n, dtype=np.int64)
    cdef int64_t[::1] view = out
    cdef Py_ssize_t x
    for x in range(1, n):
        view[x] = <int64_t> floor(x * log(<double> x) * FIXED_POINT + 0.5)
    return out
