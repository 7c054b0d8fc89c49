# SPDX-License-Identifier: BSD-3-Clause
"""Regions of a table on a public grid, and what a leaf there weighs; see subtree.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef enum:
    DIGIT_BITS = 10             # tables of powers: a digit of the exponent each
    DIGIT = 1 << DIGIT_BITS
    OUT_OF_MEMORY = -1


cdef struct Weight:
    int64_t exponent
    double mantissa


cdef struct Problem:
    # What is public, and what a budget makes of it.
    Py_ssize_t n_features
    Py_ssize_t n_classes
    const int32_t* slot         # first bin of each feature; [n_features]: all
    const uint8_t* is_categorical
    const double* measure       # w of the cut after each bin, or of the category
    double norm                 # 0: labels are drawn
    int shift                   # a point more is 1 << shift in the exponent
    const double* ones          # exp(-unit * i), i < DIGIT
    const double* tens          # exp(-unit * DIGIT * i), i < DIGIT
    const double* hundreds      # exp(-unit * DIGIT^2 * i), i < n_hundreds; 0 beyond
    Py_ssize_t n_hundreds


cdef struct Region:
    # Some points, and the bins that they occupy.
    Py_ssize_t n
    uint8_t* codes              # points x features: number of the occupied bin
    int32_t* y
    int32_t* slot               # first occupied bin of each feature; [n_features]: all
    int32_t* bin                # which bin it is
    double* measure             # w of all cuts up to the next occupied bin, or of the category
    double nothing              # w of all splits that leave a side empty
    int32_t* counts             # occupied bins x classes
    int32_t* totals             # classes


cdef inline double power(const Problem* p, int64_t steps) noexcept nogil:
    """exp(-unit * steps); steps >= 0."""
    cdef Py_ssize_t hundreds = steps >> (2 * DIGIT_BITS)
    if hundreds >= p.n_hundreds:
        return 0.0
    return (p.ones[steps & (DIGIT - 1)] * p.tens[(steps >> DIGIT_BITS) & (DIGIT - 1)]
            * p.hundreds[hundreds])


cdef inline void add(
    const Problem* p, Weight* total, int64_t exponent, double mantissa
) noexcept nogil:
    if exponent <= total.exponent:
        total.mantissa += mantissa * power(p, total.exponent - exponent)
    else:
        total.mantissa = total.mantissa * power(p, exponent - total.exponent) + mantissa
        total.exponent = exponent


cdef int64_t norm_of(const Problem* p, const int32_t* counts) noexcept nogil
cdef Weight leaf(const Problem* p, const int32_t* counts) noexcept nogil
cdef int make_region(
    const Problem* p, const uint8_t* codes, const int32_t* y, const int32_t* rows, Py_ssize_t n,
    const int32_t* slot, const int32_t* bin, Region* r) noexcept nogil
cdef void free_region(Region* r) noexcept nogil
