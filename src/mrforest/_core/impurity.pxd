# SPDX-License-Identifier: BSD-3-Clause
"""Scores of a split from class counts: the impurity decrease up to a constant of the node.

    gini     sum(l_c^2) / L  +  sum(r_c^2) / R
    entropy  sum f(l_c) - f(L)  +  sum f(r_c) - f(R),   f(x) = x log x

Without weights both sides' sums are integers that are updated as points move from the right
to the left, so they are exact and free of order. Entropy gets there in fixed point: f(x) is
rounded to multiples of 2^-26. With masses or class weights the sums are taken afresh, class 0
first.
"""

from libc.math cimport floor, log
from libc.stdint cimport int64_t

from mrforest._core.types cimport ENTROPY, GINI, Table

cdef extern from *:
    """
    /* x log x of 2^31 points still fits 64 bits at this precision. */
    #define MRFOREST_FIXED_POINT 67108864.0
    """
    const double FIXED_POINT "MRFOREST_FIXED_POINT"


cdef struct Sides:
    # Class counts left and right of a cut that sweeps over a feature.
    int64_t* left           # per class
    int64_t* right
    int64_t n_left          # their sums
    int64_t n_right
    int64_t sum_left        # sum of squares, or of f; kept only without weights
    int64_t sum_right
    bint weighted


cdef inline int64_t xlogx(const Table* table, int64_t x) noexcept nogil:
    if x < table.n_xlogx:
        return table.xlogx[x]
    return <int64_t> floor(x * log(<double> x) * FIXED_POINT + 0.5)


cdef inline void move_left(
    const Table* table, Sides* sides, Py_ssize_t label, int64_t count
) noexcept nogil:
    """Move points of one class from the right side to the left."""
    cdef int64_t left = sides.left[label], right = sides.right[label]
    sides.left[label] = left + count
    sides.right[label] = right - count
    sides.n_left += count
    sides.n_right -= count
    if sides.weighted:
        return
    if table.criterion == GINI:
        sides.sum_left += count * (2 * left + count)
        sides.sum_right -= count * (2 * right - count)
    else:
        sides.sum_left += xlogx(table, left + count) - xlogx(table, left)
        sides.sum_right += xlogx(table, right - count) - xlogx(table, right)


cdef double weighted_score(const Table* table, const Sides* sides) noexcept nogil


cdef inline double split_score(const Table* table, const Sides* sides) noexcept nogil:
    """Score of the cut between the sides; neither is empty."""
    if sides.weighted:
        return weighted_score(table, sides)
    if table.criterion == GINI:
        return (<double> sides.sum_left / <double> sides.n_left
                + <double> sides.sum_right / <double> sides.n_right)
    return <double> (
        (sides.sum_left - xlogx(table, sides.n_left))
        + (sides.sum_right - xlogx(table, sides.n_right))
    ) * (1.0 / FIXED_POINT)


cdef double node_score(const Table* table, const int64_t* counts) noexcept nogil
cdef double node_weight(const Table* table, const int64_t* counts) noexcept nogil
cdef double score_tolerance(const Table* table, double weight) noexcept nogil
