# SPDX-License-Identifier: BSD-3-Clause
"""The parts of impurity.pxd that are too long to inline."""


from libc.math cimport log, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from mrforest._core.types cimport ENTROPY, GINI, VARIANCE, Table


cdef extern from *:
    """
    #define MRFOREST_ROOT_ERROR 0x1p-48
    #define MRFOREST_ERROR 0x1p-98
    """
    const double ROOT_ERROR "MRFOREST_ROOT_ERROR"
    const double ERROR "MRFOREST_ERROR"


cdef inline bint has_weights(const Table* table) noexcept nogil:
    return table.mass is not NULL or table.class_weight is not NULL


cdef inline double class_weight_of(const Table* table, Py_ssize_t k) noexcept nogil:
    return 1.0 if table.class_weight is NULL else table.class_weight[k]


cdef inline Mean mean_moment(const int64_t* totals) noexcept nogil:
    """Moment over mass; 0 without mass."""
    cdef Mean mean
    mean.whole = 0
    mean.rest = 0
    mean.mass = 1
    if totals[0] > 0:
        mean.whole = totals[1] // totals[0]  # rounds to zero in C
        mean.whole -= mean.whole * totals[0] > totals[1]
        mean.rest = <double> (totals[1] - mean.whole * totals[0])
        mean.mass = <double> totals[0]
    return mean


cdef double weighted_side(const Table* table, const int64_t* counts) noexcept nogil:
    """One side's part of the score, in floating point."""
    cdef Py_ssize_t k
    cdef double x, total = 0, total_score = 0
    for k in range(table.n_columns):
        x = counts[k] * class_weight_of(table, k)
        total += x
        if table.criterion == GINI:
            total_score += x * x
        elif x > 0:
            total_score += x * log(x)
    if table.criterion == GINI:
        return total_score / total if total > 0 else 0.0
    return total_score - total * log(total) if total > 0 else 0.0


cdef double variance_side(const int64_t* columns, const Mean* mean) noexcept nogil:
    cdef double mass = <double> columns[0]
    cdef double moment = <double> (columns[1] - mean.whole * columns[0])
    moment = moment - mean.rest * (mass / mean.mass)
    return moment * moment / mass if columns[0] > 0 else 0.0


cdef double gini_side(const Table* table, const int64_t* counts) noexcept nogil:
    cdef int64_t n = 0, total = 0
    cdef Py_ssize_t k
    for k in range(table.n_columns):
        n += counts[k]
        total += counts[k] * counts[k]
    return <double> total / <double> n if n > 0 else 0.0


cdef int64_t entropy_side(const Table* table, const int64_t* counts) noexcept nogil:
    cdef int64_t n = 0, total = 0
    cdef Py_ssize_t k
    for k in range(table.n_columns):
        n += counts[k]
        total += xlogx(table, counts[k])
    return total - xlogx(table, n)


cdef double fresh_score(const Table* table, const Sides* sides) noexcept nogil:
    """Score of two sides from their columns alone; an empty side adds 0."""
    if table.criterion == VARIANCE:
        return variance_side(sides.left, &sides.mean) + variance_side(sides.right, &sides.mean)
    if has_weights(table):
        return weighted_side(table, sides.left) + weighted_side(table, sides.right)
    if table.criterion == GINI:
        return gini_side(table, sides.left) + gini_side(table, sides.right)
    return <double> (
        entropy_side(table, sides.left) + entropy_side(table, sides.right)
    ) * (1.0 / FIXED_POINT)


cdef void all_right(const Table* table, const int64_t* totals, Sides* sides) noexcept nogil:
    """Start a sweep: every point is on the right."""
    cdef Py_ssize_t k
    sides.afresh = has_weights(table) or table.criterion == VARIANCE
    sides.n_left = sides.n_right = sides.sum_left = sides.sum_right = 0
    memset(sides.left, 0, table.n_columns * sizeof(int64_t))
    memcpy(sides.right, totals, table.n_columns * sizeof(int64_t))
    if table.criterion == VARIANCE:
        sides.n_right = totals[0]
        sides.mean = mean_moment(totals)
        return
    for k in range(table.n_columns):
        sides.n_right += totals[k]
        if not sides.afresh:
            sides.sum_right += (
                totals[k] * totals[k] if table.criterion == GINI else xlogx(table, totals[k]))


cdef double node_score(const Table* table, const int64_t* totals) noexcept nogil:
    """Score of not splitting: a split's score minus this is its decrease times the weight."""
    if table.criterion == VARIANCE:
        return 0.0  # relative to the node's mean
    if has_weights(table):
        return weighted_side(table, totals)
    if table.criterion == GINI:
        return gini_side(table, totals)
    return <double> entropy_side(table, totals) * (1.0 / FIXED_POINT)


cdef double node_weight(const Table* table, const int64_t* totals) noexcept nogil:
    cdef Py_ssize_t k
    cdef double total = 0
    if table.criterion == VARIANCE:
        return <double> totals[0]
    for k in range(table.n_columns):
        total += totals[k] * class_weight_of(table, k)
    return total


cdef double score_tolerance(
    const Table* table, const int64_t* totals, double highest
) noexcept nogil:
    """Scores closer than this are equal: it is far above rounding, far below any real gap.

    Classification: relative to the node's weight, which bounds every score. Regression:
    relative to the highest score of the node, and to what rounding makes of a score of 0.
    """
    cdef double tolerance, mass
    if table.criterion == VARIANCE:
        # A side of mass a has its moment b' up to 2^-50 a, so its score b'^2 / a up to
        # 2^-49 |b'| + 2^-100 a, and |b'| <= sqrt(highest a).
        mass = <double> totals[0]
        return 1e-12 * highest + ROOT_ERROR * sqrt(highest * mass) + ERROR * mass
    tolerance = 1e-12 * node_weight(table, totals)
    if table.criterion == ENTROPY and not has_weights(table):
        tolerance += 1e-7 * table.n_columns  # x log x is rounded to 2^-26
    return tolerance
