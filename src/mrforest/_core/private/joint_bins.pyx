# SPDX-License-Identifier: BSD-3-Clause
"""Several features of few bins counted as one.

Four features of three bins each are one feature of 81 joint bins: a point goes into one cell
instead of four, and the cells of each feature are sums of joint cells.
"""

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from mrforest._core.private.region cimport MOST_BINS, adds_up, pairs_before
from mrforest._core.types cimport OUT_OF_MEMORY


cdef void free_joint(Joint* joint) noexcept nogil:
    free(joint.first)
    free(joint.slot)
    free(joint.codes)
    memset(joint, 0, sizeof(Joint))


cdef int make_joint(const Region* r, Joint* joint) noexcept nogil:
    """Groups of neighbours; of one feature each, if points are too few to make more pay."""
    cdef Py_ssize_t F = r.n_features, f, g, i, m, n_bins, n_groups = 0
    cdef const uint8_t* column
    cdef uint8_t* out
    # Sums are taken once a split, which moves the points of about one bin.
    cdef Py_ssize_t most = min(MOST_BINS, r.n * F // max(r.slot[F] * r.n_classes, 1))
    memset(joint, 0, sizeof(Joint))
    joint.first = <int32_t*> malloc((F + 1) * sizeof(int32_t))
    joint.slot = <int32_t*> malloc((F + 1) * sizeof(int32_t))
    if joint.first is NULL or joint.slot is NULL:
        return OUT_OF_MEMORY
    joint.slot[0] = 0
    f = 0
    while f < F:
        joint.first[n_groups] = <int32_t> f
        n_bins = r.slot[f + 1] - r.slot[f]
        f += 1
        while f < F:
            m = r.slot[f + 1] - r.slot[f]
            if n_bins * m > most:
                break
            n_bins *= m
            f += 1
        joint.slot[n_groups + 1] = joint.slot[n_groups] + <int32_t> n_bins
        n_groups += 1
    joint.first[n_groups] = <int32_t> F
    joint.n_groups = n_groups
    joint.codes = <uint8_t*> malloc(r.n * n_groups + 1)
    if joint.codes is NULL:
        return OUT_OF_MEMORY
    for g in range(n_groups):
        out = joint.codes + g
        f = joint.first[g]
        column = r.codes + f * r.n
        for i in range(r.n):
            out[i * n_groups] = column[i]
        for f in range(f + 1, joint.first[g + 1]):
            m = r.slot[f + 1] - r.slot[f]
            column = r.codes + f * r.n
            for i in range(r.n):
                out[i * n_groups] = <uint8_t> (out[i * n_groups] * m + column[i])
    return 0


cdef int make_single(const Region* r, const int32_t* pairs, Joint* joint) noexcept nogil:
    """Groups of one feature each, of points that are known by pairs of their bins."""
    cdef Py_ssize_t f, F = r.n_features
    memset(joint, 0, sizeof(Joint))
    joint.first = <int32_t*> malloc((F + 1) * sizeof(int32_t))
    joint.slot = <int32_t*> malloc((F + 1) * sizeof(int32_t))
    if joint.first is NULL or joint.slot is NULL:
        return OUT_OF_MEMORY
    for f in range(F + 1):
        joint.first[f] = <int32_t> f
        joint.slot[f] = r.slot[f]
    joint.n_groups = F
    joint.pairs = pairs
    return 0


cdef Py_ssize_t group_of(const Joint* joint, Py_ssize_t f) noexcept nogil:
    cdef Py_ssize_t group = 0
    while joint.first[group + 1] <= f:
        group += 1
    return group


cdef void put(
    const Region* r, const Joint* joint, Py_ssize_t group, const int32_t* points, Py_ssize_t n,
    int32_t* joint_cells, int32_t* of_class
) noexcept nogil:
    """Put points of a region into joint cells, classes x bins, of all groups from one on."""
    cdef Py_ssize_t G = joint.n_groups, J = joint.slot[G], g, i
    cdef const uint8_t* code
    cdef int32_t* cells
    for i in range(n):
        code = joint.codes + points[i] * G
        cells = joint_cells + r.y[points[i]] * J
        of_class[r.y[points[i]]] += 1
        for g in range(group, G):
            cells[joint.slot[g] + code[g]] += 1


cdef void put_counted(
    const Problem* p, const Region* r, const Joint* joint, Py_ssize_t f, Py_ssize_t b,
    int32_t* cells, int32_t* of_class
) noexcept nogil:
    """Put the points of a bin of feature f into cells, of all features from f on."""
    cdef Py_ssize_t F = r.n_features, g, i, k, own = r.feature[f], other
    cdef Py_ssize_t first = p.slot[own], width = p.slot[p.n_features] - first
    cdef const int32_t* pairs = joint.pairs + pairs_before(p, own)
    cdef const int32_t* row
    b = r.bin[r.slot[f] + b]
    for k in range(r.n_classes):
        row = pairs + (b * p.n_classes + r.value[k]) * width
        of_class[k] += row[b]
        for g in range(f, F):
            other = p.slot[r.feature[g]] - first
            for i in range(r.slot[g], r.slot[g + 1]):
                cells[k * r.slot[F] + i] += row[other + r.bin[i]]


cdef void sides_of(
    const Problem* p, const Region* r, const Joint* joint, Py_ssize_t group,
    const int32_t* joint_cells, int32_t* sides
) noexcept nogil:
    """Points on the first side of each way, classes x ways, of all groups from one on."""
    cdef Py_ssize_t J = joint.slot[joint.n_groups], W = r.way_slot[r.n_features]
    cdef Py_ssize_t f, g, k, m, last, outer, width
    cdef const int32_t* cells
    cdef int32_t* out
    cdef int32_t bins[MOST_BINS]
    for g in range(group, joint.n_groups):
        # A joint bin is (((b_1) m_2 + b_2) m_3 + b_3) ..., so bins of the last feature change
        # fastest; `width` joint bins in a row have the same bin of feature f.
        last = joint.first[g + 1]
        outer = 1
        width = joint.slot[g + 1] - joint.slot[g]
        for f in range(joint.first[g], last):
            m = r.slot[f + 1] - r.slot[f]
            width //= m
            for k in range(r.n_classes):
                cells = joint_cells + k * J + joint.slot[g]
                out = sides + k * W + r.way_slot[f]
                if last - joint.first[g] > 1:
                    marginal(cells, outer, m, width, bins)
                    cells = bins
                fill_ways(cells, r.way_slot[f + 1] - r.way_slot[f], adds_up(p, r, f), out)
            outer *= m


cdef inline void marginal(
    const int32_t* cells, Py_ssize_t outer, Py_ssize_t m, Py_ssize_t width, int32_t* out
) noexcept nogil:
    cdef Py_ssize_t b, _i, _j
    memset(out, 0, m * sizeof(int32_t))
    for _i in range(outer):
        for b in range(m):
            for _j in range(width):
                out[b] += cells[0]
                cells += 1


cdef inline void fill_ways(
    const int32_t* bins, Py_ssize_t n_ways, bint adds, int32_t* out
) noexcept nogil:
    cdef Py_ssize_t w
    cdef int32_t total = 0
    for w in range(n_ways):
        total = bins[w] + (total if adds else 0)
        out[w] = total
