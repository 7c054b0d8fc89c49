# SPDX-License-Identifier: BSD-3-Clause
"""What leaves weigh, many at once.

The cells of n leaves are a row of n counts for each class that is in the region. A leaf weighs

    labels      sum over labels k of exp(unit * points of class k)
    norms       exp(unit * norm of the counts)
    squares     the same two, with what a label k is worth, or the best one, from moments
"""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

cdef enum:
    THIRD = 0x55555556          # 2^32 / 3
    MANY_POINTS = 1 << 26
    CUBE_ROOT = 0x2A9F7893      # upper half of what makes a third of the bits of x a guess


cdef void weigh_leaves(
    const Problem* p, const Region* r, const int32_t* cells, Py_ssize_t stride, Py_ssize_t n,
    Leaves* out
) noexcept nogil:
    """Z(A, 0) of up to LANES leaves; cells of a class are `stride` apart from those of the next."""
    if p.squares:
        by_squares(p, r, cells, stride, n, out)
    elif p.norm == 0:
        by_labels(p, r, cells, stride, n, out)
    else:
        by_norms(p, r, cells, stride, n, out)


cdef Weight weigh_leaf(const Problem* p, const Region* r, const int32_t* cell) noexcept nogil:
    """Z(A, 0)."""
    cdef Leaves leaves
    cdef Weight out
    weigh_leaves(p, r, cell, 1, 1, &leaves)
    out.exponent = leaves.exponent[0]
    out.mantissa = leaves.mantissa[0]
    return out


cdef void highest_of(
    const Region* r, const int32_t* cells, Py_ssize_t stride, Py_ssize_t n, int32_t* out
) noexcept nogil:
    cdef Py_ssize_t k, i
    memset(out, 0, n * sizeof(int32_t))
    for k in range(r.n_classes):
        for i in range(n):
            out[i] = max(out[i], cells[k * stride + i])


cdef void by_labels(
    const Problem* p, const Region* r, const int32_t* cells, Py_ssize_t stride, Py_ssize_t n,
    Leaves* out
) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef double total, n_absent = p.n_classes - r.n_classes
    cdef int32_t highest[LANES]
    highest_of(r, cells, stride, n, highest)
    for i in range(n):
        out.exponent[i] = highest[i]
        out.mantissa[i] = 0
    if n_absent > 0:
        for i in range(n):
            out.mantissa[i] = n_absent * power(p, highest[i])
    if r.n_classes == 2:
        # One of the two is the highest, and a difference is 0.
        for i in range(n):
            out.mantissa[i] += 1 + power(
                p, (highest[i] - cells[i]) + (highest[i] - cells[stride + i]))
        return
    for i in range(n):
        total = out.mantissa[i]
        for k in range(r.n_classes):
            total += power(p, highest[i] - cells[k * stride + i])
        out.mantissa[i] = total


# ---- squares -----------------------------------------------------------------------------

cdef void by_squares(
    const Problem* p, const Region* r, const int32_t* cells, Py_ssize_t stride, Py_ssize_t n,
    Leaves* out
) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef int64_t count, y, yy, value, best
    for i in range(n):
        count = y = yy = 0
        for k in range(r.n_classes):
            value = r.value[k]
            count += cells[k * stride + i]
            y += value * cells[k * stride + i]
            yy += value * value * cells[k * stride + i]
        # The number next to the mean: the worth falls on both sides of the mean alike.
        best = (2 * y + count) // (2 * count) if count > 0 else 0
        out.exponent[i] = worth_of(p, count, y, yy, best)
        out.mantissa[i] = 1
        if p.norm == 0:
            out.mantissa[i] = 0
            for k in range(p.n_classes):
                out.mantissa[i] += power(p, out.exponent[i] - worth_of(p, count, y, yy, k))


# ---- norms -------------------------------------------------------------------------------

cdef void by_norms(
    const Problem* p, const Region* r, const int32_t* cells, Py_ssize_t stride, Py_ssize_t n,
    Leaves* out
) noexcept nogil:
    """See `mrforest.privacy.sensitivity.norm`, of which each step is here."""
    cdef Py_ssize_t i, k
    cdef double scale = 1 << p.scale_bits
    cdef double x
    cdef double total[LANES]
    cdef double found[LANES]
    cdef int32_t highest[LANES]
    for i in range(n):
        out.mantissa[i] = 1
    if p.norm == INFINITY:
        highest_of(r, cells, stride, n, highest)
        for i in range(n):
            out.exponent[i] = <int64_t> highest[i] << p.scale_bits
        return
    for i in range(n):
        total[i] = 0
    # In the order of the classes: those that are not there would add 0.
    for k in range(r.n_classes):
        if p.norm == 3:
            for i in range(n):
                x = scale * cells[k * stride + i]
                total[i] += x * x * x
        elif p.norm == 2:
            for i in range(n):
                x = scale * cells[k * stride + i]
                total[i] += x * x
        else:
            for i in range(n):
                x = scale * cells[k * stride + i]
                total[i] += x * sqrt(x)
    if p.norm == 2:
        square_roots(total, n, found)
    elif p.norm == 3:
        cube_roots(total, n, found)
    else:
        roots_of_root_cubes(total, n, found)
    if r.n >= MANY_POINTS:
        for i in range(n):
            while raised(found[i], p.norm) > total[i]:
                found[i] -= 1
            while raised(found[i] + 1, p.norm) <= total[i]:
                found[i] += 1
    for i in range(n):
        out.exponent[i] = <int64_t> found[i]


cdef inline double raised(double x, double norm) noexcept nogil:
    if norm == 3:
        return x * x * x
    return x * x if norm == 2 else x * sqrt(x)


# The largest whole numbers whose powers are at most these, if points are not many: then a root is
# below 2^42, and the guess, which is right to 1 in 2^46, is off by less than 1.

cdef inline double about_floor(double x) noexcept nogil:
    """The largest whole number below 0 <= x < 2^51, or the next one if x is not far from that.

    Seldom wrong, so that what asks for it is foreseen; and right for whole numbers.
    """
    # Numbers of this size have no digits behind the point.
    return (x - 0.499 + <double> (3LL << 51)) - <double> (3LL << 51)


cdef inline double one_if(bint condition) noexcept nogil:
    return 1.0 if condition else 0.0


cdef void square_roots(const double* x, Py_ssize_t n, double* out) noexcept nogil:
    cdef Py_ssize_t i
    cdef double found
    for i in range(n):
        found = about_floor(sqrt(x[i]))
        out[i] = found - one_if(found * found > x[i])


cdef void guess_cube_roots(const double* x, Py_ssize_t n, double* out) noexcept nogil:
    """Cube roots, right to a share of 7 10^-15; of 0, some number below 1."""
    cdef Py_ssize_t i
    cdef uint64_t bits[LANES]
    cdef double root, cube
    for i in range(n):
        out[i] = x[i] if x[i] > 1 else 1.0
    memcpy(bits, out, n * sizeof(double))
    # A third of the exponent: right to 3.3 %. Halley's step triples the digits.
    for i in range(n):
        bits[i] = (((bits[i] >> 32) * <uint64_t> THIRD >> 32) + <uint64_t> CUBE_ROOT) << 32
    memcpy(out, bits, n * sizeof(double))
    for i in range(n):
        root = out[i]
        cube = root * root * root
        root *= (cube + 2 * x[i]) / (2 * cube + x[i])
        cube = root * root * root
        out[i] = root * ((cube + 2 * x[i]) / (2 * cube + x[i]))


cdef void cube_roots(const double* x, Py_ssize_t n, double* out) noexcept nogil:
    cdef Py_ssize_t i
    cdef double found, more
    guess_cube_roots(x, n, out)
    for i in range(n):
        found = about_floor(out[i])
        found -= one_if(found * found * found > x[i])
        more = found + 1
        out[i] = found + one_if(more * more * more <= x[i])


cdef void roots_of_root_cubes(const double* x, Py_ssize_t n, double* out) noexcept nogil:
    cdef Py_ssize_t i
    cdef double found, more
    guess_cube_roots(x, n, out)
    for i in range(n):
        found = about_floor(out[i] * out[i])
        found -= one_if(found * sqrt(found) > x[i])
        more = found + 1
        out[i] = found + one_if(more * sqrt(more) <= x[i])
