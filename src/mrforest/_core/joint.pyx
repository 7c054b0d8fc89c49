# SPDX-License-Identifier: BSD-3-Clause
"""Several features of few bins counted as one.

Four features of three bins each are one feature of 81 joint bins: a point goes into one cell
instead of four, and the cells of each feature are sums of joint cells.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from mrforest._core.region cimport OUT_OF_MEMORY, count


cdef void free_joint(Joint* joint) noexcept nogil:
    free(joint.first)
    free(joint.slot)
    free(joint.codes)
    memset(joint, 0, sizeof(Joint))


cdef int make_joint(const Problem* p, const Region* r, Joint* joint) noexcept nogil:
    """Groups of neighbours; of one feature each, if points are too few to make more pay."""
    cdef Py_ssize_t F = p.n_features, f, g, i, end, n_bins, n_groups = 0, code
    # Sums are taken once a split, which moves the points of about one bin.
    cdef Py_ssize_t most = min(256, r.n * F // (max(r.slot[F], 1) * p.n_columns))
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
        while f < F and n_bins * (r.slot[f + 1] - r.slot[f]) <= most:
            n_bins *= r.slot[f + 1] - r.slot[f]
            f += 1
        joint.slot[n_groups + 1] = joint.slot[n_groups] + <int32_t> n_bins
        n_groups += 1
    joint.first[n_groups] = <int32_t> F
    joint.n_groups = n_groups
    joint.codes = <uint8_t*> malloc(r.n * n_groups + 1)
    if joint.codes is NULL:
        return OUT_OF_MEMORY
    for i in range(r.n):
        for g in range(n_groups):
            code = 0
            end = joint.first[g + 1]
            for f in range(joint.first[g], end):
                code = code * (r.slot[f + 1] - r.slot[f]) + r.codes[i * F + f]
            joint.codes[i * n_groups + g] = <uint8_t> code
    return 0


cdef void put(
    const Problem* p, const Region* r, const Joint* joint, const int32_t* points, Py_ssize_t n,
    int64_t* joint_cells
) noexcept nogil:
    """Put points of a region into the joint cells and the last one, of all points."""
    cdef Py_ssize_t G = joint.n_groups, C = p.n_columns, g, i
    cdef const uint8_t* code
    cdef int64_t y
    for i in range(n):
        code = joint.codes + points[i] * G
        y = r.y[points[i]]
        for g in range(G):
            count(p, joint_cells + (joint.slot[g] + code[g]) * C, y)
        count(p, joint_cells + joint.slot[G] * C, y)


cdef void marginals(
    const Problem* p, const Region* r, const Joint* joint, const int64_t* joint_cells,
    int64_t* cells
) noexcept nogil:
    """The cells of all features, and of all points, from the joint ones."""
    cdef Py_ssize_t C = p.n_columns, f, g, k, m, b, outer, width, last, _i, _j
    cdef const int64_t* source
    cdef int64_t* target
    memset(cells, 0, r.slot[p.n_features] * C * sizeof(int64_t))
    for g in range(joint.n_groups):
        # A joint bin is (((b_1) m_2 + b_2) m_3 + b_3) ..., so bins of the last feature change
        # fastest; `width` joint bins in a row have the same bin of feature f.
        width = joint.slot[g + 1] - joint.slot[g]
        outer = 1
        last = joint.first[g + 1]
        for f in range(joint.first[g], last):
            m = r.slot[f + 1] - r.slot[f]
            width //= m
            source = joint_cells + joint.slot[g] * C
            for _i in range(outer):
                for b in range(m):
                    target = cells + (r.slot[f] + b) * C
                    for _j in range(width):
                        for k in range(C):
                            target[k] += source[k]
                        source += C
            outer *= m
    memcpy(cells + r.slot[p.n_features] * C, joint_cells + joint.slot[joint.n_groups] * C,
           C * sizeof(int64_t))
