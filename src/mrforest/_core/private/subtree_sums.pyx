# SPDX-License-Identifier: BSD-3-Clause
"""Weights of whole subtrees, for the exponential mechanism that draws them.

A subtree of depth d of a region A has the weight

    product over its splits of w(split)  x  exp(unit * sum over its leaves of their scores)

and the sum of the weights of all subtrees follows by recursion,

    Z(A, 0) = sum over labels k of exp(unit * score of A with label k)    if labels are drawn
              exp(unit * score of A)                                      if they are not
    Z(A, d) = sum over splits s of w(s) Z(left of s, d - 1) Z(right of s, d - 1)

so a subtree is drawn from its root down.

All terms are positive, so nothing cancels: the relative error of a sum is bounded by the number
of operations that lead to it (`mrforest.privacy.subtree` has the bound).

Splits that part the points of a region in the same way have the same weight up to w(s), so only
occupied bins are looked at; "all points on one side" is one of these ways.
"""

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from mrforest._core.private.joint_bins cimport free_joint, make_joint
from mrforest._core.private.log_weight cimport (
    LANES, Leaves, add, no_weight, times, weigh_leaf, weigh_leaves,
)
from mrforest._core.private.pair_sums cimport Work, free_work, make_work, two_levels
from mrforest._core.private.region cimport adds_up, free_region, make_part
from mrforest._core.types cimport OUT_OF_MEMORY


# ---- one level ---------------------------------------------------------------------------

cdef int leaves_of_ways(
    const Problem* p, const Region* r, Weight* first, Weight* second
) noexcept nogil:
    """Z(side, 0) of both sides of all ways."""
    cdef Py_ssize_t C = r.n_classes, W = r.way_slot[r.n_features], i, k, n, w
    cdef int32_t* others = <int32_t*> malloc((C * LANES + 1) * sizeof(int32_t))
    cdef Leaves a, b
    if others is NULL:
        return OUT_OF_MEMORY
    w = 0
    while w < W:
        n = min(LANES, W - w)
        for k in range(C):
            for i in range(n):
                others[k * LANES + i] = r.whole[k] - r.sides[k * W + w + i]
        weigh_leaves(p, r, r.sides + w, W, n, &a)
        weigh_leaves(p, r, others, LANES, n, &b)
        for i in range(n):
            first[w + i].exponent = a.exponent[i]
            first[w + i].mantissa = a.mantissa[i]
            second[w + i].exponent = b.exponent[i]
            second[w + i].mantissa = b.mantissa[i]
        w += n
    free(others)
    return 0


cdef inline double of_nothing(const Problem* p) noexcept nogil:
    """Z(nothing, 0): worth nothing, under each label that a leaf may have."""
    return p.n_classes if p.norm == 0 else 1


# ---- more levels -------------------------------------------------------------------------

cdef int more_levels(
    const Problem* p, const Region* r, Py_ssize_t d, Py_ssize_t f, Weight* first, Weight* second
) noexcept nogil:
    """Weigh both sides of the ways of a feature, d - 1 > 1 more levels below each."""
    cdef Py_ssize_t i, j, w, n_near, n_far
    cdef const uint8_t* codes = r.codes + f * r.n
    cdef int32_t* near = <int32_t*> malloc((2 * r.n + 2) * sizeof(int32_t))
    cdef int32_t* far = near + r.n + 1
    cdef int error = 0
    cdef bint is_near, adds = adds_up(p, r, f)
    if near is NULL:
        return OUT_OF_MEMORY
    for w in range(r.way_slot[f], r.way_slot[f + 1]):
        j = w - r.way_slot[f]
        n_near = n_far = 0
        for i in range(r.n):
            is_near = codes[i] <= j if adds else codes[i] == j
            near[n_near] = <int32_t> i
            far[n_far] = <int32_t> i
            n_near += is_near
            n_far += not is_near
        error = sum_of_part(p, r, near, n_near, d - 1, &first[w])
        if error == 0:
            error = sum_of_part(p, r, far, n_far, d - 1, &second[w])
        if error != 0:
            break
    free(near)
    return error


cdef int sum_of_part(
    const Problem* p, const Region* r, const int32_t* rows, Py_ssize_t n, Py_ssize_t d,
    Weight* out
) noexcept nogil:
    """Z(part of a region, d)."""
    cdef Region part
    cdef int error = make_part(p, r, rows, n, d > 1, &part)
    if error == 0:
        error = sum_of(p, &part, d, out)
    free_region(&part)
    return error


# ---- any number of levels ----------------------------------------------------------------

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
    empty.mantissa = of_nothing(p)
    for i in range(p.slot[p.n_features]):
        measure += p.measure[i]
    for _level in range(d - 1):
        empty.mantissa *= measure * empty.mantissa
    out[0] = times(out[0], empty)
    return error


cdef int start(
    const Problem* p, const Region* r, Py_ssize_t d, Weight* first, Weight* second
) noexcept nogil:
    """What both sides of all ways weigh before features are weighed: Z(side, 0) if d is 1; if it
    is 2, the splits below that leave one of their sides empty."""
    cdef Py_ssize_t w, W = r.way_slot[r.n_features]
    if d > 2:
        return 0
    if leaves_of_ways(p, r, first, second) != 0:
        return OUT_OF_MEMORY
    if d == 2:
        for w in range(W):
            first[w].mantissa *= of_nothing(p)
            second[w].mantissa *= of_nothing(p)
            first[w] = measured(p, r.nothing, first[w])
            second[w] = measured(p, r.nothing, second[w])
    return 0


cdef inline Weight measured(const Problem* p, double measure, Weight weight) noexcept nogil:
    cdef Weight out = no_weight()
    add(p, &out, measure, weight)
    return out


cdef int weigh(
    const Problem* p, const Region* r, const Joint* joint, Py_ssize_t d, Py_ssize_t f,
    Py_ssize_t end, Weight* first, Weight* second
) noexcept nogil:
    """Weigh the ways of features from f to end, w left out: each side with all subtrees of
    d - 1 levels."""
    cdef Py_ssize_t w, W = r.way_slot[r.n_features]
    cdef Work work
    cdef int error = 0
    if d == 2:
        error = make_work(r, joint, &work)
        for f in range(f, end):
            if error == 0:
                # Sums of a feature by themselves: of so many terms the last would lose digits.
                memset(work.first, 0, 2 * W * sizeof(Weight))
                two_levels(p, r, joint, &work, f, work.first, work.first + W)
                for w in range(r.way_slot[f], W):
                    add(p, &first[w], 1, work.first[w])
                    add(p, &second[w], 1, work.first[W + w])
        free_work(&work)
    elif d > 2:
        for f in range(f, end):
            if error == 0:
                error = more_levels(p, r, d, f, first, second)
    return error


cdef Weight sum_of_feature(
    const Problem* p, const Region* r, Py_ssize_t f, const Weight* first, const Weight* second
) noexcept nogil:
    cdef Py_ssize_t w
    cdef Weight out = no_weight()
    for w in range(r.way_slot[f], r.way_slot[f + 1]):
        add(p, &out, r.way_measure[w], times(first[w], second[w]))
    return out


cdef int sum_of(const Problem* p, const Region* r, Py_ssize_t d, Weight* out) noexcept nogil:
    """Z(A, d)."""
    cdef Py_ssize_t f, W = r.way_slot[r.n_features]
    cdef Joint joint
    cdef Weight* first
    cdef Weight* second
    cdef Weight empty
    cdef int error
    if d == 0:
        out[0] = weigh_leaf(p, r, r.whole)
        return 0
    memset(&joint, 0, sizeof(Joint))
    out[0] = no_weight()
    first = <Weight*> calloc(2 * W + 1, sizeof(Weight))
    if first is NULL:
        return OUT_OF_MEMORY
    second = first + W
    error = start(p, r, d, first, second)
    if error == 0 and d == 2:
        error = make_joint(r, &joint)
    if error == 0:
        error = weigh(p, r, &joint, d, 0, r.n_features, first, second)
    if error == 0:
        error = one_side_empty(p, r, d, &empty)
        add(p, out, r.nothing, empty)
        for f in range(r.n_features):
            add(p, out, 1, sum_of_feature(p, r, f, first, second))
    free_joint(&joint)
    free(first)
    return error
