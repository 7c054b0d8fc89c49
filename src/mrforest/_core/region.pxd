# SPDX-License-Identifier: BSD-3-Clause
"""Regions of a table on a public grid, and what a leaf there weighs; see subtree.pyx."""

from libc.math cimport INFINITY, floor, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    DIGIT_BITS = 10             # tables of powers: a digit of the exponent each
    DIGIT = 1 << DIGIT_BITS
    OUT_OF_MEMORY = -1
    N_MOMENTS = 3               # how many they are, their sum, the sum of their squares


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
    bint squares                # classes are numbers, and a label is worth more near a point's
    Py_ssize_t n_columns        # of a cell: points of each class; with squares their moments
    int scale_bits              # a norm is a multiple of 2^-scale_bits
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
    int64_t* cells              # one an occupied bin; last, of all points


cdef inline void count(const Problem* p, int64_t* cell, int64_t y) noexcept nogil:
    """Put a point into a cell."""
    if p.squares:
        cell[0] += 1
        cell[1] += y
        cell[2] += y * y
    else:
        cell[y] += 1


cdef inline int64_t points_of(const Problem* p, const int64_t* cell) noexcept nogil:
    cdef Py_ssize_t k
    cdef int64_t n = cell[0]
    if not p.squares:
        for k in range(1, p.n_columns):
            n += cell[k]
    return n


cdef inline double power(const Problem* p, int64_t steps) noexcept nogil:
    """exp(-unit * steps); steps >= 0."""
    cdef Py_ssize_t hundreds
    if steps < DIGIT:  # the other two digits are 0, and their powers 1
        return p.ones[steps]
    hundreds = steps >> (2 * DIGIT_BITS)
    if hundreds >= p.n_hundreds:
        return 0.0
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
    # Else the exponent of what cannot be drawn might push all others out of range.
    if measure == 0:
        return
    term.mantissa *= measure
    if term.exponent <= total.exponent:
        total.mantissa += term.mantissa * power(p, total.exponent - term.exponent)
    else:
        total.mantissa = (total.mantissa * power(p, term.exponent - total.exponent)
                          + term.mantissa)
        total.exponent = term.exponent


cdef inline int64_t worth_of(const Problem* p, const int64_t* cell, int64_t k) noexcept nogil:
    """Sum of (K - 1)^2 - (k - y)^2 over the points of a cell; of 2^31 points and 256 classes it
    is below 2^47, and its parts below 2^49."""
    cdef int64_t most = (p.n_classes - 1) * (p.n_classes - 1)
    return cell[0] * most - (cell[0] * k * k - 2 * k * cell[1] + cell[2])


cdef inline int64_t best_label_of(const int64_t* cell) noexcept nogil:
    """The number next to the mean: the worth falls on both sides of the mean alike."""
    return (2 * cell[1] + cell[0]) // (2 * cell[0]) if cell[0] > 0 else 0


cdef inline double raised(double x, double norm) noexcept nogil:
    """x^p, by correctly rounded products and roots; see `mrforest.privacy.sensitivity.norm`."""
    if norm == 2:
        return x * x
    if norm == 3:
        return x * x * x
    return x * sqrt(x)


cdef inline double cube_root(double x) noexcept nogil:
    """About the cube root, to 12 digits or so; libm's takes three times as long."""
    cdef uint64_t bits
    cdef double root, cube
    memcpy(&bits, &x, sizeof(double))
    # A third of the exponent: right to 4 %. Halley's step triples the digits.
    bits = bits // 3 + <uint64_t> 0x2A9F7893782DA1CE
    memcpy(&root, &bits, sizeof(double))
    cube = root * root * root
    root *= (cube + 2 * x) / (2 * cube + x)
    cube = root * root * root
    return root * ((cube + 2 * x) / (2 * cube + x))


cdef inline int64_t root_of(const Problem* p, double total) noexcept nogil:
    """The largest whole number whose power is at most this."""
    cdef double found
    if total == 0:
        return 0
    if p.norm == 2:
        found = floor(sqrt(total))
    elif p.norm == 3:
        found = floor(cube_root(total))
    else:
        found = cube_root(total)
        found = floor(found * found)
    # The root is a guess, right or nearly so.
    while raised(found, p.norm) > total:
        found -= 1
    while raised(found + 1, p.norm) <= total:
        found += 1
    return <int64_t> found


cdef inline int64_t score_of(const Problem* p, const int64_t* cell) noexcept nogil:
    """Of a leaf without a label."""
    cdef Py_ssize_t k
    cdef int64_t highest = 0
    cdef double total = 0
    if p.squares:
        return worth_of(p, cell, best_label_of(cell))
    if p.norm == INFINITY:
        for k in range(p.n_classes):
            highest = max(highest, cell[k])
        return highest << p.scale_bits
    if p.norm == 3:
        # The usual one, without a question a class.
        for k in range(p.n_classes):
            total = total + raised(<double> (cell[k] << p.scale_bits), 3)
    else:
        for k in range(p.n_classes):
            total = total + raised(<double> (cell[k] << p.scale_bits), p.norm)
    return root_of(p, total)


cdef inline Weight leaf(const Problem* p, const int64_t* cell) noexcept nogil:
    """Z(A, 0)."""
    cdef Weight out
    cdef Py_ssize_t k
    cdef int64_t highest = 0
    if p.norm > 0:
        out.exponent = score_of(p, cell)
        out.mantissa = 1
        return out
    out.mantissa = 0
    if p.squares:
        out.exponent = worth_of(p, cell, best_label_of(cell))
        for k in range(p.n_classes):
            out.mantissa += power(p, out.exponent - worth_of(p, cell, k))
        return out
    for k in range(p.n_classes):
        highest = max(highest, cell[k])
    out.exponent = highest
    for k in range(p.n_classes):
        out.mantissa += power(p, highest - cell[k])
    return out


cdef int make_region(
    const Problem* p, const uint8_t* codes, const int32_t* y, const int32_t* rows, Py_ssize_t n,
    const int32_t* slot, const int32_t* bin, Region* r) noexcept nogil
cdef void free_region(Region* r) noexcept nogil
