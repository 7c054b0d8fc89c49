# SPDX-License-Identifier: BSD-3-Clause
"""Weights mantissa * exp(unit * exponent), the exponent a whole number, and those of leaves."""

from libc.stdint cimport int32_t, int64_t

from mrforest._core.kernels.dispatch cimport MOST_LEAVES
from mrforest._core.private.region cimport Problem, Region

cdef enum:
    DIGIT_BITS = 10             # tables of powers: a digit of the exponent each
    DIGIT = 1 << DIGIT_BITS
    LANES = MOST_LEAVES         # leaves that are weighed at once


cdef struct Weight:
    int64_t exponent
    double mantissa


cdef struct Leaves:
    int64_t exponent[LANES]
    double mantissa[LANES]


cdef inline double power(const Problem* p, int64_t steps) noexcept nogil:
    """exp(-unit * steps); steps >= 0."""
    cdef Py_ssize_t hundreds
    if steps >= p.negligible:
        return 0.0
    if steps < DIGIT:  # the other two digits are 0, and their powers 1
        return p.ones[steps]
    hundreds = steps >> (2 * DIGIT_BITS)
    return (p.ones[steps & (DIGIT - 1)] * p.tens[(steps >> DIGIT_BITS) & (DIGIT - 1)]
            * p.hundreds[hundreds])


cdef inline Weight no_weight() noexcept nogil:
    """The sum of no weights. Its exponent is below all others, which are not negative."""
    cdef Weight out
    out.exponent = -1
    out.mantissa = 0
    return out


cdef inline Weight times(Weight a, Weight b) noexcept nogil:
    a.exponent += b.exponent
    a.mantissa *= b.mantissa
    return a


cdef inline void add(
    const Problem* p, Weight* total, double measure, Weight term
) noexcept nogil:
    """Add w times a weight to a sum."""
    # What cannot be drawn must not push all others out of range by its exponent.
    if measure == 0 or total.exponent - term.exponent >= p.negligible:
        return
    term.mantissa *= measure
    if term.exponent <= total.exponent:
        total.mantissa += term.mantissa * power(p, total.exponent - term.exponent)
    else:
        total.mantissa = (total.mantissa * power(p, term.exponent - total.exponent)
                          + term.mantissa)
        total.exponent = term.exponent


cdef inline Weight both(const Leaves* a, const Leaves* b, Py_ssize_t i) noexcept nogil:
    """The product of the weights of two leaves."""
    cdef Weight out
    out.exponent = a.exponent[i] + b.exponent[i]
    out.mantissa = a.mantissa[i] * b.mantissa[i]
    return out


cdef inline int64_t worth_of(
    const Problem* p, int64_t n, int64_t y, int64_t yy, int64_t k
) noexcept nogil:
    """Sum of (K - 1)^2 - (k - y)^2 over n points, given the sums of y and of y^2; of 2^31 points
    and 256 classes it is below 2^47, and its parts below 2^49."""
    cdef int64_t most = (p.n_classes - 1) * (p.n_classes - 1)
    return n * most - (n * k * k - 2 * k * y + yy)


cdef void weigh_leaves(
    const Problem* p, const Region* r, const int32_t* cells, Py_ssize_t stride, Py_ssize_t n,
    Leaves* out) noexcept nogil
cdef Weight weigh_leaf(const Problem* p, const Region* r, const int32_t* cell) noexcept nogil
cdef void weigh_four(
    const Problem* p, const Region* r, const int32_t* near, const int32_t* sides, Py_ssize_t stride,
    const int32_t* side, Py_ssize_t n, int32_t* cells, Leaves* out) noexcept nogil
