# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of ways to part a region.

Two levels of splits look at all pairs of ways, and a pair parts a region into the same four leaves,
whichever of the two comes first:

              side of g
             near    far
    side   +-------+-------+
    of f   |  nn   |  nf   |     f above g:  nn nf | fn ff
           +-------+-------+     g above f:  nn fn | nf ff
           |  fn   |  ff   |
           +-------+-------+
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from mrforest._core.private.joint_bins cimport group_of, put, put_counted, sides_of
from mrforest._core.private.log_weight cimport LANES, add, both, power, weigh_four
from mrforest._core.private.region cimport MOST_BINS, adds_up
from mrforest._core.types cimport OUT_OF_MEMORY


cdef void free_work(Work* work) noexcept nogil:
    free(work.order)
    free(work.start)
    free(work.joint_cells)
    free(work.near)
    free(work.seen)
    free(work.side)
    free(work.cells)
    free(work.first)


cdef int make_work(const Region* r, const Joint* joint, Work* work) noexcept nogil:
    cdef Py_ssize_t C = r.n_classes, W = r.way_slot[r.n_features]
    cdef Py_ssize_t n = r.n if joint.pairs is NULL else 0
    memset(work, 0, sizeof(Work))
    work.order = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    work.start = <int32_t*> malloc((MOST_BINS + 2) * sizeof(int32_t))
    work.joint_cells = <int32_t*> malloc((C * joint.slot[joint.n_groups] + 1) * sizeof(int32_t))
    work.near = <int32_t*> calloc(C * W + 1, sizeof(int32_t))
    work.seen = <int32_t*> malloc((C * W + 1) * sizeof(int32_t))
    work.side = <int32_t*> malloc((C + 1) * sizeof(int32_t))
    work.cells = <int32_t*> malloc((C * LANES + 1) * sizeof(int32_t))
    work.first = <Weight*> malloc((2 * W + 1) * sizeof(Weight))
    if (work.order is NULL or work.start is NULL or work.joint_cells is NULL
            or work.near is NULL or work.seen is NULL or work.side is NULL
            or work.cells is NULL or work.first is NULL):
        return OUT_OF_MEMORY
    return 0


cdef void sort_points(const Region* r, Py_ssize_t f, Work* work) noexcept nogil:
    """By their bins of a feature."""
    cdef Py_ssize_t i, j, m = r.slot[f + 1] - r.slot[f]
    cdef const uint8_t* codes = r.codes + f * r.n
    work.start[0] = work.start[1] = 0
    for j in range(m):
        work.start[j + 2] = work.start[j + 1] + r.points[r.slot[f] + j]
    for i in range(r.n):
        j = codes[i]
        work.order[work.start[j + 1]] = <int32_t> i
        work.start[j + 1] += 1
    # Now start[j] is where bin j starts.


cdef void clear(const Region* r, const Joint* joint, Work* work) noexcept nogil:
    memset(work.joint_cells, 0, r.n_classes * joint.slot[joint.n_groups] * sizeof(int32_t))
    memset(work.side, 0, r.n_classes * sizeof(int32_t))


cdef inline void add_all(
    const Problem* p, const double* measure, Py_ssize_t n, const Leaves* a, const Leaves* b,
    Weight* total
) noexcept nogil:
    """Add products of leaves; none has to wait for the one before, and most are nothing beside the
    highest."""
    cdef Py_ssize_t i
    cdef int64_t exponent[LANES]
    cdef int64_t highest = total.exponent
    cdef double sum = 0
    for i in range(n):
        exponent[i] = a.exponent[i] + b.exponent[i] if measure[i] > 0 else -1
    for i in range(n):
        highest = max(highest, exponent[i])
    if total.exponent < highest:
        total.mantissa *= power(p, highest - total.exponent)
        total.exponent = highest
    for i in range(n):
        if highest - exponent[i] < p.negligible and measure[i] > 0:
            sum += (measure[i] * (a.mantissa[i] * b.mantissa[i])
                    * power(p, highest - exponent[i]))
    total.mantissa += sum


cdef void weigh_pairs(
    const Problem* p, const Region* r, Work* work, Py_ssize_t f, double measure, Py_ssize_t w,
    Py_ssize_t n, Weight* near, Weight* far, Weight* first, Weight* second
) noexcept nogil:
    """Add the pairs of a way of feature f, of this measure, and some ways from f on."""
    cdef Py_ssize_t i, W = r.way_slot[r.n_features]
    cdef const Leaves* nn = &work.leaves[0]
    cdef const Leaves* nf = &work.leaves[1]
    cdef const Leaves* fn = &work.leaves[2]
    cdef const Leaves* ff = &work.leaves[3]
    weigh_four(p, r, work.near + w, r.sides + w, W, work.side, n, work.cells, work.leaves)
    add_all(p, r.way_measure + w, n, nn, nf, near)
    add_all(p, r.way_measure + w, n, fn, ff, far)
    # Two ways of f are met once in either order.
    for i in range(max(r.way_slot[f + 1] - w, 0), n):
        add(p, &first[w + i], measure, both(nn, fn, i))
        add(p, &second[w + i], measure, both(nf, ff, i))


cdef void weigh_way(
    const Problem* p, const Region* r, Work* work, Py_ssize_t f, Py_ssize_t way, bint is_first,
    Weight* first, Weight* second
) noexcept nogil:
    """Add all pairs of a way of feature f and the ways from f on, given the points of a side."""
    cdef Py_ssize_t n, w = r.way_slot[f], W = r.way_slot[r.n_features]
    cdef Weight near, far
    way += r.way_slot[f]
    near, far = (first[way], second[way]) if is_first else (second[way], first[way])
    while w < W:
        n = min(LANES, W - w)
        weigh_pairs(p, r, work, f, r.way_measure[way], w, n, &near, &far, first, second)
        w += n
    if is_first:
        first[way], second[way] = near, far
    else:
        first[way], second[way] = far, near


cdef void put_bin(const Problem* p, const Region* r, const Joint* joint, Work* work, Py_ssize_t j
                  ) noexcept nogil:
    """Put the points of a bin on the side that is counted."""
    if joint.pairs is NULL:
        put(r, joint, work.group, work.order + work.start[j], work.start[j + 1] - work.start[j],
            work.joint_cells, work.side)
    else:
        put_counted(p, r, joint, work.group, j, work.joint_cells, work.side)
    sides_of(p, r, joint, work.group, work.joint_cells, work.near)


cdef void cuts(
    const Problem* p, const Region* r, const Joint* joint, Work* work, Py_ssize_t f,
    Py_ssize_t fullest, Weight* first, Weight* second
) noexcept nogil:
    """Cuts between bins, from both ends up to the fullest bin, which is never counted."""
    cdef Py_ssize_t j, last = r.slot[f + 1] - r.slot[f] - 1
    for j in range(fullest):
        put_bin(p, r, joint, work, j)
        weigh_way(p, r, work, f, j, True, first, second)
    clear(r, joint, work)
    for j in range(last, fullest, -1):
        put_bin(p, r, joint, work, j)
        weigh_way(p, r, work, f, j - 1, False, first, second)


cdef void categories(
    const Problem* p, const Region* r, const Joint* joint, Work* work, Py_ssize_t f,
    Py_ssize_t fullest, Weight* first, Weight* second
) noexcept nogil:
    """Each category against the others; the fullest one has what those leave."""
    cdef Py_ssize_t C = r.n_classes, W = r.way_slot[r.n_features], i, j, k
    memset(work.seen, 0, C * W * sizeof(int32_t))
    for j in range(r.slot[f + 1] - r.slot[f]):
        if j == fullest:
            continue
        clear(r, joint, work)
        put_bin(p, r, joint, work, j)
        weigh_way(p, r, work, f, j, True, first, second)
        for i in range(C * W):
            work.seen[i] += work.near[i]
    for i in range(C * W):
        work.near[i] = r.sides[i] - work.seen[i]
    for k in range(C):
        work.side[k] = r.sides[k * W + r.way_slot[f] + fullest]
    weigh_way(p, r, work, f, fullest, True, first, second)


cdef void two_levels(
    const Problem* p, const Region* r, const Joint* joint, Work* work, Py_ssize_t f,
    Weight* first, Weight* second
) noexcept nogil:
    """Add all pairs of a way of feature f and a way from f on."""
    cdef Py_ssize_t m = r.slot[f + 1] - r.slot[f], fullest = 0, j
    if m < 2:
        return
    work.group = group_of(joint, f)
    if joint.pairs is NULL:
        sort_points(r, f, work)
    clear(r, joint, work)
    for j in range(m):
        if r.points[r.slot[f] + j] > r.points[r.slot[f] + fullest]:
            fullest = j
    if adds_up(p, r, f):
        cuts(p, r, joint, work, f, fullest, first, second)
    else:
        categories(p, r, joint, work, f, fullest, first, second)
