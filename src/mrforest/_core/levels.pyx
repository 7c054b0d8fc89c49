# SPDX-License-Identifier: BSD-3-Clause
"""Weights of whole subtrees, for the exponential mechanism that draws them.

A subtree of depth d of a region A has the weight

    product over its splits of w(split)  x  exp(unit * sum over its leaves of their scores)

and the sum of the weights of all subtrees follows by recursion,

    Z(A, 0) = sum over labels k of exp(unit * score of A with label k)    if labels are drawn
              exp(unit * score of A)                                      if they are not
    Z(A, d) = sum over splits s of w(s) Z(left of s, d - 1) Z(right of s, d - 1)

so a subtree is drawn from its root down. Scores are whole numbers, and a weight is written

    mantissa * exp(unit * exponent),  exponent a whole number

All terms are positive, so nothing cancels: the relative error of a sum is bounded by the number
of operations that lead to it (`mrforest.privacy.subtree` has the bound).

Splits that part the points of a region in the same way have the same weight up to w(s), so only
occupied bins are looked at; "all points on one side" is one of these ways.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from mrforest._core.joint cimport free_joint, make_joint, marginals, put
from mrforest._core.region cimport (
    OUT_OF_MEMORY, add, free_region, leaf, make_region, no_weight, points_of, times,
)


# ---- one level ---------------------------------------------------------------------------

cdef inline const int64_t* all_points(
    const Problem* p, const Region* r, const int64_t* cells
) noexcept nogil:
    """The last cell."""
    return cells + r.slot[p.n_features] * p.n_columns


cdef inline Weight nothing_left(const Problem* p, const int64_t* cell) noexcept nogil:
    """Z(A, 0) Z(nothing, 0): a leaf of nothing is worth nothing, under each label it may have."""
    cdef Weight out = leaf(p, cell)
    if p.norm == 0:
        out.mantissa *= p.n_classes
    return out


cdef inline void one_level_of(
    const Problem* p, const Region* r, Py_ssize_t f, const int64_t* cells, Weight empty,
    int64_t* work, Weight* total, Weight* each
) noexcept nogil:
    """Add the part of a feature to Z(A, 1)."""
    cdef Py_ssize_t k, C = p.n_columns
    cdef int32_t b, last = r.slot[f + 1]
    cdef const int64_t* everything = all_points(p, r, cells)
    cdef const int64_t* cell
    cdef int64_t* left = work
    cdef int64_t* right = work + C
    cdef int64_t some           # 0 if no point is in the cell: no column is negative
    cdef Weight both
    cdef double base
    if p.is_categorical[f]:
        for b in range(r.slot[f], last):
            cell = cells + b * C
            both = empty
            some = 0
            for k in range(C):
                some |= cell[k]
                right[k] = everything[k] - cell[k]
            if some != 0:
                both = times(leaf(p, right), leaf(p, cell))
            add(p, total, r.measure[b], both)
            if each is not NULL:
                each[b] = both
        return
    memset(left, 0, C * sizeof(int64_t))
    base = 0
    both = empty
    for b in range(r.slot[f], last - 1):
        cell = cells + b * C
        some = 0
        for k in range(C):
            some |= cell[k]
            left[k] += cell[k]
            right[k] = everything[k] - left[k]
        if some != 0:
            add(p, total, base, both)
            base = 0
            both = times(leaf(p, right), leaf(p, left))
        base += r.measure[b]
        if each is not NULL:
            each[b] = both
    add(p, total, base, both)


cdef Weight one_level(
    const Problem* p, const Region* r, const int64_t* cells, int64_t* work
) noexcept nogil:
    """Z(A, 1) of a part of a region, given its cells."""
    cdef Py_ssize_t f
    cdef Weight total = no_weight()
    cdef Weight empty = nothing_left(p, all_points(p, r, cells))
    add(p, &total, r.nothing, empty)
    for f in range(p.n_features):
        one_level_of(p, r, f, cells, empty, work, &total, NULL)
    return total


# ---- two levels --------------------------------------------------------------------------

cdef inline Py_ssize_t n_ways(const Problem* p, Py_ssize_t f, Py_ssize_t m) noexcept nogil:
    """Ways to part points that occupy m bins of a feature, both sides taken."""
    return m if p.is_categorical[f] and m > 1 else m - 1


cdef Weight two_sides(
    const Problem* p, const Region* r, const int64_t* cells, int64_t* others, int64_t* work
) noexcept nogil:
    """Z(side, 1) Z(other side, 1), given the cells of a side."""
    cdef Py_ssize_t i
    for i in range((r.slot[p.n_features] + 1) * p.n_columns):
        others[i] = r.cells[i] - cells[i]
    return times(one_level(p, r, cells, work), one_level(p, r, others, work))


cdef int two_levels(
    const Problem* p, const Region* r, const Joint* joint, Py_ssize_t f, Weight* each
) noexcept nogil:
    """Weigh the splits of a feature, one more level below each.

    A side is counted from the points of its bins, except the fullest bin of all: that is always
    on the other side, which has what is left.
    """
    cdef Py_ssize_t F = p.n_features, C = p.n_columns, i, j
    cdef Py_ssize_t m = r.slot[f + 1] - r.slot[f], size = (r.slot[F] + 1) * C
    cdef Py_ssize_t joint_size = (joint.slot[joint.n_groups] + 1) * C
    cdef Py_ssize_t fullest = 0
    cdef int64_t* cells
    cdef int64_t* others
    cdef int64_t* rest
    cdef int64_t* joint_cells
    cdef int64_t* work
    cdef int32_t* order
    cdef int32_t* start
    if m < 2:
        return 0
    each += r.slot[f]
    cells = <int64_t*> calloc(3 * size + joint_size + 2 * C, sizeof(int64_t))
    order = <int32_t*> malloc(r.n * sizeof(int32_t))
    start = <int32_t*> calloc(m + 2, sizeof(int32_t))
    if cells is NULL or order is NULL or start is NULL:
        free(cells)
        free(order)
        free(start)
        return OUT_OF_MEMORY
    others = cells + size
    rest = others + size
    joint_cells = rest + size
    work = joint_cells + joint_size
    for j in range(m):
        start[j + 2] = <int32_t> points_of(p, r.cells + (r.slot[f] + j) * C)
        if start[j + 2] > start[fullest + 2]:
            fullest = j
    for j in range(m):
        start[j + 2] += start[j + 1]
    for i in range(r.n):
        j = r.codes[i * F + f]
        order[start[j + 1]] = <int32_t> i
        start[j + 1] += 1
    # Now start[j] is where bin j starts.
    if p.is_categorical[f]:
        for j in range(m):
            if j == fullest:
                continue
            memset(joint_cells, 0, joint_size * sizeof(int64_t))
            put(p, r, joint, order + start[j], start[j + 1] - start[j], joint_cells)
            marginals(p, r, joint, joint_cells, cells)
            each[j] = two_sides(p, r, cells, others, work)
            for i in range(size):
                rest[i] += cells[i]
        # Of two categories it does not matter which one is asked for.
        each[fullest] = each[1 - fullest] if m == 2 else two_sides(p, r, rest, others, work)
    else:
        for j in range(fullest):
            put(p, r, joint, order + start[j], start[j + 1] - start[j], joint_cells)
            marginals(p, r, joint, joint_cells, cells)
            each[j] = two_sides(p, r, cells, others, work)
        memset(joint_cells, 0, joint_size * sizeof(int64_t))
        for j in range(m - 1, fullest, -1):
            put(p, r, joint, order + start[j], start[j + 1] - start[j], joint_cells)
            marginals(p, r, joint, joint_cells, cells)
            each[j - 1] = two_sides(p, r, cells, others, work)
    free(cells)
    free(order)
    free(start)
    return 0


# ---- more levels -------------------------------------------------------------------------

cdef int more_levels(
    const Problem* p, const Region* r, Py_ssize_t d, Py_ssize_t f, Weight* each
) noexcept nogil:
    """Weigh the splits of a feature, d - 1 > 1 more levels below each."""
    cdef Py_ssize_t F = p.n_features, i, j, first = r.slot[f], m = r.slot[f + 1] - first
    cdef Py_ssize_t n_left, n_right
    cdef int32_t* rows = <int32_t*> malloc((2 * r.n + 2) * sizeof(int32_t))
    cdef int32_t* others = rows + r.n + 1
    cdef Weight left, right
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
            error = sum_of_part(p, r, others, n_right, d - 1, &right)
        if error != 0:
            break
        each[first + j] = times(right, left)
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
        error = sum_of(p, &part, d, out)
    free_region(&part)
    return error


cdef int one_side_empty(
    const Problem* p, const Region* r, Py_ssize_t d, Weight* out
) noexcept nogil:
    """Z(A, d - 1) Z(nothing, d - 1): the weight of splits that leave a side empty."""
    cdef Weight empty
    cdef Py_ssize_t i, _level
    cdef double measure = 0
    cdef int error = sum_of(p, r, d - 1, out)
    # Every split of nothing has nothing on both sides.
    empty.exponent = 0
    empty.mantissa = p.n_classes if p.norm == 0 else 1
    for i in range(p.slot[p.n_features]):
        measure += p.measure[i]
    for _level in range(d - 1):
        empty.mantissa *= measure * empty.mantissa
    out[0] = times(out[0], empty)
    return error


cdef int weigh(
    const Problem* p, const Region* r, const Joint* joint, Py_ssize_t d, Py_ssize_t f,
    Weight* each
) noexcept nogil:
    """Weigh the splits of a feature, w left out, each with all subtrees of d levels from it on.

    `each` is of all features: the split after (or at) each occupied bin.
    """
    cdef int64_t* work
    cdef Weight total = no_weight()
    if d == 2:
        return two_levels(p, r, joint, f, each)
    if d > 2:
        return more_levels(p, r, d, f, each)
    work = <int64_t*> malloc(2 * p.n_columns * sizeof(int64_t))
    if work is NULL:
        return OUT_OF_MEMORY
    one_level_of(p, r, f, r.cells, nothing_left(p, all_points(p, r, r.cells)), work, &total, each)
    free(work)
    return 0


cdef int sum_of(const Problem* p, const Region* r, Py_ssize_t d, Weight* out) noexcept nogil:
    """Z(A, d)."""
    cdef Py_ssize_t b, f, n_bins = r.slot[p.n_features]
    cdef Joint joint
    cdef Weight* each = <Weight*> calloc(n_bins + 1, sizeof(Weight))
    cdef int64_t* work = <int64_t*> malloc(2 * p.n_columns * sizeof(int64_t))
    cdef int error = 0
    memset(&joint, 0, sizeof(Joint))
    out[0] = no_weight()
    if each is NULL or work is NULL:
        error = OUT_OF_MEMORY
    elif d == 0:
        out[0] = leaf(p, all_points(p, r, r.cells))
    elif d == 1:
        out[0] = one_level(p, r, r.cells, work)
    else:
        if d == 2:
            error = make_joint(p, r, &joint)
        for f in range(p.n_features):
            if error == 0:
                error = weigh(p, r, &joint, d, f, each)
        if error == 0:
            error = one_side_empty(p, r, d, each + n_bins)
        add(p, out, r.nothing, each[n_bins])
        for b in range(n_bins):
            add(p, out, r.measure[b], each[b])
    free_joint(&joint)
    free(each)
    free(work)
    return error
