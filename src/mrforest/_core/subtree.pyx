# SPDX-License-Identifier: BSD-3-Clause
"""Weights of whole subtrees, for the exponential mechanism that draws them.

A subtree of depth d of a region A has the weight

    product over its splits of w(split)  x  exp(epsilon * sum over its leaves of their scores)

and the sum of the weights of all subtrees follows by recursion,

    Z(A, 0) = sum over labels k of exp(epsilon * points of A with label k)    if labels are drawn
              exp(epsilon * score of A)                                       if they are not
    Z(A, d) = sum over splits s of w(s) Z(left of s, d - 1) Z(right of s, d - 1)

so a subtree is drawn from its root down. Scores are whole numbers, and a weight is written

    mantissa * exp(unit * exponent),  exponent a whole number

All terms are positive, so nothing cancels: the relative error of a sum is bounded by the number
of operations that lead to it (`mrforest.privacy.subtree` has the bound).

Splits that part the points of a region in the same way have the same weight up to w(s), so only
occupied bins are looked at; "all points on one side" is one of these ways.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from mrforest._core.region cimport (
    OUT_OF_MEMORY, Problem, Region, Weight, add, free_region, leaf, make_region, norm_of,
)

WEIGHT_DTYPE = np.dtype([("exponent", np.int64), ("mantissa", np.float64)])


# ---- one level ---------------------------------------------------------------------------

cdef Weight one_level(
    const Problem* p, const Region* r, const int32_t* counts, const int32_t* totals,
    int32_t* work, Weight* each
) noexcept nogil:
    """Z(A, 1) of a part of a region, given its counts.

    `each` gets the weights of the region's groups of splits, w left out.
    """
    cdef Py_ssize_t f, k, K = p.n_classes
    cdef int32_t b, n, last
    cdef int32_t* left = work
    cdef int32_t* right = work + K
    cdef const int32_t* bins
    cdef Weight total, empty, a, c
    cdef double base
    memset(left, 0, K * sizeof(int32_t))
    empty = leaf(p, left)
    a = leaf(p, totals)
    empty.exponent += a.exponent
    empty.mantissa *= a.mantissa
    total.exponent = empty.exponent
    total.mantissa = r.nothing * empty.mantissa
    for f in range(p.n_features):
        last = r.slot[f + 1]
        if p.is_categorical[f]:
            for b in range(r.slot[f], last):
                bins = counts + b * K
                n = 0
                for k in range(K):
                    n += bins[k]
                    right[k] = totals[k] - bins[k]
                c = empty
                if n > 0:
                    a = leaf(p, bins)
                    c = leaf(p, right)
                    c.exponent += a.exponent
                    c.mantissa *= a.mantissa
                add(p, &total, c.exponent, r.measure[b] * c.mantissa)
                if each is not NULL:
                    each[b] = c
            continue
        memset(left, 0, K * sizeof(int32_t))
        base = 0
        c = empty
        for b in range(r.slot[f], last - 1):
            bins = counts + b * K
            n = 0
            for k in range(K):
                n += bins[k]
            if n > 0:
                add(p, &total, c.exponent, base * c.mantissa)
                base = 0
                for k in range(K):
                    left[k] += bins[k]
                    right[k] = totals[k] - left[k]
                a = leaf(p, left)
                c = leaf(p, right)
                c.exponent += a.exponent
                c.mantissa *= a.mantissa
            base += r.measure[b]
            if each is not NULL:
                each[b] = c
        add(p, &total, c.exponent, base * c.mantissa)
    return total


cdef inline Py_ssize_t n_ways(const Problem* p, Py_ssize_t f, Py_ssize_t m) noexcept nogil:
    """Ways to part points that occupy m bins of a feature, both sides taken."""
    return m if p.is_categorical[f] and m > 1 else m - 1


# ---- two levels --------------------------------------------------------------------------

cdef int two_levels(
    const Problem* p, const Region* r, Py_ssize_t f, Weight* total, Weight* each
) noexcept nogil:
    """Add the part of a feature to Z(A, 2)."""
    cdef Py_ssize_t F = p.n_features, K = p.n_classes, i, j, k, g
    cdef Py_ssize_t first = r.slot[f], m = r.slot[f + 1] - first, size = r.slot[F] * K
    cdef int32_t* left = <int32_t*> calloc(2 * size + 4 * K + 1, sizeof(int32_t))
    cdef int32_t* right = left + size
    cdef int32_t* left_totals = right + size
    cdef int32_t* right_totals = left_totals + K
    cdef int32_t* work = right_totals + K
    cdef int32_t* order = <int32_t*> malloc((r.n + 1) * sizeof(int32_t))
    cdef int32_t* end = <int32_t*> calloc(m + 2, sizeof(int32_t))
    cdef int32_t* cell
    cdef const uint8_t* code
    cdef Weight a, c
    if left is NULL or order is NULL or end is NULL:
        free(left)
        free(order)
        free(end)
        return OUT_OF_MEMORY
    for i in range(r.n):
        end[r.codes[i * F + f] + 1] += 1
    for j in range(m):
        end[j + 1] += end[j]
    for i in range(r.n):
        j = r.codes[i * F + f]
        order[end[j]] = <int32_t> i
        end[j] += 1
    # Now end[j] is where bin j ends.
    for j in range(n_ways(p, f, m)):
        if p.is_categorical[f]:
            memset(left, 0, size * sizeof(int32_t))
            memset(left_totals, 0, K * sizeof(int32_t))
        for i in range(0 if j == 0 else end[j - 1], end[j]):
            code = r.codes + order[i] * F
            cell = left + r.y[order[i]]
            left_totals[r.y[order[i]]] += 1
            for g in range(F):
                cell[(r.slot[g] + code[g]) * K] += 1
        for i in range(size):
            right[i] = r.counts[i] - left[i]
        for k in range(K):
            right_totals[k] = r.totals[k] - left_totals[k]
        a = one_level(p, r, left, left_totals, work, NULL)
        c = one_level(p, r, right, right_totals, work, NULL)
        c.exponent += a.exponent
        c.mantissa *= a.mantissa
        add(p, total, c.exponent, r.measure[first + j] * c.mantissa)
        if each is not NULL:
            each[first + j] = c
    free(left)
    free(order)
    free(end)
    return 0


cdef int more_levels(
    const Problem* p, const Region* r, Py_ssize_t f, Py_ssize_t d, Weight* total, Weight* each
) noexcept nogil:
    """Add the part of a feature to Z(A, d), d > 2."""
    cdef Py_ssize_t F = p.n_features, i, j, first = r.slot[f], m = r.slot[f + 1] - first
    cdef Py_ssize_t n_left, n_right
    cdef int32_t* rows = <int32_t*> malloc((2 * r.n + 2) * sizeof(int32_t))
    cdef int32_t* others = rows + r.n + 1
    cdef Weight left, both
    cdef int error = 0
    cdef bint is_left
    if rows is NULL:
        return OUT_OF_MEMORY
    for j in range(n_ways(p, f, m)):
        n_left = n_right = 0
        for i in range(r.n):
            is_left = (r.codes[i * F + f] == j if p.is_categorical[f]
                       else r.codes[i * F + f] <= j)
            rows[n_left] = <int32_t> i
            others[n_right] = <int32_t> i
            n_left += is_left
            n_right += not is_left
        error = sum_of_part(p, r, rows, n_left, d - 1, &left)
        if error == 0:
            error = sum_of_part(p, r, others, n_right, d - 1, &both)
        if error != 0:
            break
        both.exponent += left.exponent
        both.mantissa *= left.mantissa
        add(p, total, both.exponent, r.measure[first + j] * both.mantissa)
        if each is not NULL:
            each[first + j] = both
    free(rows)
    return error


cdef int sum_of_part(
    const Problem* p, const Region* r, const int32_t* rows, Py_ssize_t n, Py_ssize_t d,
    Weight* out
) noexcept nogil:
    """Z(part of a region, d)."""
    cdef Region part
    cdef int error = make_region(p, r.codes, r.y, rows, n, r.slot, r.bin, &part)
    if error == 0:
        error = sum_of(p, &part, d, out, NULL)
    free_region(&part)
    return error


cdef int one_side_empty(
    const Problem* p, const Region* r, Py_ssize_t d, Weight* out
) noexcept nogil:
    """Z(A, d - 1) Z(nothing, d - 1): the weight of splits that leave a side empty."""
    cdef int32_t* none = <int32_t*> calloc(p.n_classes, sizeof(int32_t))
    cdef Weight empty
    cdef Py_ssize_t i, _level
    cdef double measure = 0
    cdef int error
    if none is NULL:
        return OUT_OF_MEMORY
    empty = leaf(p, none)
    free(none)
    # Every split of nothing has nothing on both sides.
    for i in range(p.slot[p.n_features]):
        measure += p.measure[i]
    for _level in range(d - 1):
        empty.exponent *= 2
        empty.mantissa *= measure * empty.mantissa
    error = sum_of(p, r, d - 1, out, NULL)
    out.exponent += empty.exponent
    out.mantissa *= empty.mantissa
    return error


cdef int sum_of(
    const Problem* p, const Region* r, Py_ssize_t d, Weight* out, Weight* each
) noexcept nogil:
    """Z(A, d).

    `each` gets the weight, w left out, of the split after (or at) each occupied bin; last, of
    all splits that leave a side empty.
    """
    cdef Py_ssize_t f
    cdef int32_t* work
    cdef int error
    if d == 0:
        out[0] = leaf(p, r.totals)
        return 0
    error = one_side_empty(p, r, d, out)
    if each is not NULL:
        each[r.slot[p.n_features]] = out[0]
    if d == 1:
        work = <int32_t*> malloc(2 * p.n_classes * sizeof(int32_t))
        if work is NULL:
            return OUT_OF_MEMORY
        out[0] = one_level(p, r, r.counts, r.totals, work, each)
        free(work)
        return error
    out.mantissa *= r.nothing
    for f in range(p.n_features):
        if error == 0 and d == 2:
            error = two_levels(p, r, f, out, each)
        elif error == 0:
            error = more_levels(p, r, f, d, out, each)
    return error


cdef class Subtrees:
    """Weights of the subtrees of regions of a table.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_features), dtype=uint8
    y : ndarray of shape (n_rows,), dtype=int32
    n_classes : int
    slot : ndarray of shape (n_features + 1,), dtype=int32
    is_categorical : ndarray of shape (n_features,), dtype=uint8
    measure : ndarray of shape (n_bins,), dtype=float64
    """
    cdef Problem p
    cdef const uint8_t[:, ::1] codes
    cdef const int32_t[::1] y
    cdef const int32_t[::1] slot
    cdef const uint8_t[::1] is_categorical
    cdef const double[::1] ones, tens, hundreds, measure

    def __init__(self, codes, y, Py_ssize_t n_classes, slot, is_categorical, measure, ones,
                 tens, hundreds, int shift, double norm):
        self.codes = codes
        self.y = y
        self.slot = slot
        self.is_categorical = is_categorical
        self.measure = measure
        self.ones = ones
        self.tens = tens
        self.hundreds = hundreds
        self.p.n_features = codes.shape[1]
        self.p.n_classes = n_classes
        self.p.slot = &self.slot[0]
        self.p.is_categorical = &self.is_categorical[0]
        self.p.measure = &self.measure[0]
        self.p.ones = &self.ones[0]
        self.p.tens = &self.tens[0]
        self.p.hundreds = &self.hundreds[0]
        self.p.n_hundreds = self.hundreds.shape[0]
        self.p.shift = shift
        self.p.norm = norm

    def score(self, const int32_t[::1] counts):
        """The score of a leaf, a whole number; only without labels."""
        return norm_of(&self.p, &counts[0])

    def total(self, const int32_t[::1] rows, Py_ssize_t d):
        """Z(rows, d) as exponent and mantissa."""
        cdef Region r
        cdef Weight out
        cdef int error
        with nogil:
            error = self.look_at(rows, &r)
            if error == 0:
                error = sum_of(&self.p, &r, d, &out, NULL)
            free_region(&r)
        if error != 0:
            raise MemoryError("no memory to weigh subtrees")
        return out.exponent, out.mantissa

    def weights(self, const int32_t[::1] rows, Py_ssize_t d):
        """Weights of the splits of a region, each with all subtrees below it; d >= 1.

        Returns
        -------
        slot, bins : ndarray of int32
            First occupied bin of each feature, and which bins are occupied.
        weights : structured ndarray (exponent, mantissa)
            Of the split after (or at) each occupied bin, w left out; last, of the splits that
            leave a side empty.
        """
        cdef Region r
        cdef Py_ssize_t n_features = self.p.n_features
        cdef int error
        with nogil:
            error = self.look_at(rows, &r)
        try:
            if error != 0:
                raise MemoryError("no memory to weigh subtrees")
            slot_ = np.empty(n_features + 1, dtype=np.int32)
            bins_ = np.empty(r.slot[n_features], dtype=np.int32)
            weights_ = np.zeros(len(bins_) + 1, dtype=WEIGHT_DTYPE)
            self.copy(&r, slot_, bins_)
            error = self.fill(&r, d, weights_)
            if error != 0:
                raise MemoryError("no memory to weigh subtrees")
            return slot_, bins_, weights_
        finally:
            free_region(&r)

    cdef int look_at(self, const int32_t[::1] rows, Region* r) noexcept nogil:
        if rows.shape[0] == 0:
            return make_region(&self.p, NULL, NULL, NULL, 0, NULL, NULL, r)
        return make_region(&self.p, &self.codes[0, 0], &self.y[0], &rows[0], rows.shape[0],
                           NULL, NULL, r)

    cdef copy(self, const Region* r, int32_t[::1] slot, int32_t[::1] bins):
        cdef Py_ssize_t i
        for i in range(slot.shape[0]):
            slot[i] = r.slot[i]
        for i in range(bins.shape[0]):
            bins[i] = r.bin[i]

    cdef int fill(self, const Region* r, Py_ssize_t d, Weight[::1] weights):
        cdef Weight out
        with nogil:
            return sum_of(&self.p, r, d, &out, &weights[0])
