# SPDX-License-Identifier: BSD-3-Clause
"""What leaves weigh, many at once.

The cells of n leaves are a row of n counts for each class that is in the region. A leaf weighs

    labels      sum over labels k of exp(unit * points of class k)
    norms       exp(unit * norm of the counts)
    squares     the same two, with what a label k is worth, or the best one, from moments
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from mrforest._core.kernels.dispatch cimport kernels

cdef enum:
    MANY_POINTS = 1 << 26       # of which a norm may be off by more than 1


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


cdef void weigh_four(
    const Problem* p, const Region* r, const int32_t* near, const int32_t* sides, Py_ssize_t stride,
    const int32_t* side, Py_ssize_t n, int32_t* cells, Leaves* out
) noexcept nogil:
    """Z(A, 0) of the four leaves of up to LANES pairs of ways: nn, nf, fn and ff of pairs.pyx.

    near, sides: points of nn, and of nn and fn, of each pair; side: of nn and nf, of all; cells:
    room for LANES counts of each class.
    """
    cdef Py_ssize_t i, k, q
    cdef int32_t rest
    if not p.squares and 0 < p.norm < INFINITY and r.n < MANY_POINTS:
        kernels.norms_of_pairs(
            p.norm, p.scale_bits, r.n_classes, near, sides, stride, side, r.whole, n,
            out[0].exponent, out[1].exponent, out[2].exponent, out[3].exponent)
        for q in range(4):
            for i in range(n):
                out[q].mantissa[i] = 1
        return
    weigh_leaves(p, r, near, stride, n, &out[0])
    for k in range(r.n_classes):
        for i in range(n):
            cells[k * LANES + i] = side[k] - near[k * stride + i]
    weigh_leaves(p, r, cells, LANES, n, &out[1])
    for k in range(r.n_classes):
        for i in range(n):
            cells[k * LANES + i] = sides[k * stride + i] - near[k * stride + i]
    weigh_leaves(p, r, cells, LANES, n, &out[2])
    for k in range(r.n_classes):
        rest = r.whole[k] - side[k]
        for i in range(n):
            cells[k * LANES + i] = rest - cells[k * LANES + i]
    weigh_leaves(p, r, cells, LANES, n, &out[3])


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
    cdef double n_absent = p.n_classes - r.n_classes
    cdef int32_t highest[LANES]
    cdef int32_t largest = 0
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
    for k in range(r.n_classes):
        largest = max(largest, r.whole[k])
    if largest < min(DIGIT, p.negligible):
        # No difference has a second digit: nothing has to be asked.
        for k in range(r.n_classes):
            for i in range(n):
                out.mantissa[i] += p.ones[highest[i] - cells[k * stride + i]]
        return
    for k in range(r.n_classes):
        for i in range(n):
            out.mantissa[i] += power(p, highest[i] - cells[k * stride + i])


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
    cdef Py_ssize_t i
    cdef int32_t highest[LANES]
    for i in range(n):
        out.mantissa[i] = 1
    if p.norm == INFINITY:
        highest_of(r, cells, stride, n, highest)
        for i in range(n):
            out.exponent[i] = <int64_t> highest[i] << p.scale_bits
        return
    # In the order of the classes: those that are not there would add 0.
    kernels.norms(
        p.norm, p.scale_bits, r.n_classes, cells, stride, n, r.n >= MANY_POINTS, out.exponent)
