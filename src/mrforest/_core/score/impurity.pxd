# SPDX-License-Identifier: BSD-3-Clause
"""Scores of a split from what is counted on its sides: the impurity decrease up to a constant.

    gini      sum(l_c^2) / L  +  sum(r_c^2) / R                            l_c, r_c class counts
    entropy   sum f(l_c) - f(L)  +  sum f(r_c) - f(R),   f(x) = x log x    L, R their sums
    variance  (l_1 - m l_0)^2 / l_0  +  (r_1 - m r_0)^2 / r_0              columns mass, moment

Without weights the sums of gini and entropy are integers that are updated as points move from
the right to the left, so they are exact and free of order. Entropy gets there in fixed point:
f(x) is rounded to multiples of 2^-26. With masses or class weights the sums are taken afresh,
class 0 first. Moments are whole numbers, and m is the node's mean: it is taken off before
squaring, first its whole part and then the rest, so that nothing cancels.
"""

from libc.math cimport floor, log
from libc.stdint cimport int64_t

from mrforest._core.types cimport ENTROPY, GINI, VARIANCE, Table

cdef extern from *:
    """
    /* x log x of 2^31 points still fits 64 bits at this precision. */
    #define MRFOREST_FIXED_POINT 67108864.0
    """
    const double FIXED_POINT "MRFOREST_FIXED_POINT"


cdef struct Mean:
    # Moment over mass of a node: whole + rest / mass, with 0 <= rest < mass.
    int64_t whole
    double rest
    double mass


cdef struct Sides:
    # Columns left and right of a cut that sweeps over a feature.
    int64_t* left           # per column
    int64_t* right
    int64_t n_left          # sums of class counts, or the mass
    int64_t n_right
    int64_t sum_left        # sum of squares, or of f; kept only without weights
    int64_t sum_right
    Mean mean               # of the node's moments
    bint afresh             # whether scores are taken from the columns, not from the sums


cdef inline int64_t xlogx(const Table* table, int64_t x) noexcept nogil:
    if x < table.n_xlogx:
        return table.xlogx[x]
    return <int64_t> floor(x * log(<double> x) * FIXED_POINT + 0.5)


cdef inline void move_left(
    const Table* table, Sides* sides, Py_ssize_t column, int64_t count
) noexcept nogil:
    """Move what one entry counts from the right side to the left."""
    cdef int64_t left = sides.left[column], right = sides.right[column]
    sides.left[column] = left + count
    sides.right[column] = right - count
    if sides.afresh:
        if table.criterion != VARIANCE or column == 0:
            sides.n_left += count
            sides.n_right -= count
        return
    sides.n_left += count
    sides.n_right -= count
    if table.criterion == GINI:
        sides.sum_left += count * (2 * left + count)
        sides.sum_right -= count * (2 * right - count)
    else:
        sides.sum_left += xlogx(table, left + count) - xlogx(table, left)
        sides.sum_right += xlogx(table, right - count) - xlogx(table, right)


cdef double fresh_score(const Table* table, const Sides* sides) noexcept nogil


cdef inline double split_score(const Table* table, const Sides* sides) noexcept nogil:
    """Score of the cut between the sides; neither is empty."""
    if sides.afresh:
        return fresh_score(table, sides)
    if table.criterion == GINI:
        return (<double> sides.sum_left / <double> sides.n_left
                + <double> sides.sum_right / <double> sides.n_right)
    return <double> (
        (sides.sum_left - xlogx(table, sides.n_left))
        + (sides.sum_right - xlogx(table, sides.n_right))
    ) * (1.0 / FIXED_POINT)


cdef void all_right(const Table* table, const int64_t* totals, Sides* sides) noexcept nogil
cdef double node_score(const Table* table, const int64_t* totals) noexcept nogil
cdef double node_weight(const Table* table, const int64_t* totals) noexcept nogil
cdef double score_tolerance(
    const Table* table, const int64_t* totals, double highest) noexcept nogil
