# SPDX-License-Identifier: BSD-3-Clause
"""Regions of a table on a public grid; see subtree.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef enum:
    MOST_BINS = 256             # of a feature


cdef struct Problem:
    # What is public, and what a budget makes of it.
    Py_ssize_t n_features
    Py_ssize_t n_classes
    const int32_t* slot         # first bin of each feature; [n_features]: all
    const uint8_t* is_categorical
    const double* measure       # w of the cut after each bin, or of the category
    double norm                 # 0: labels are drawn
    bint squares                # classes are numbers, and a label is worth more near a point's
    int scale_bits              # a norm is a multiple of 2^-scale_bits
    const double* ones          # exp(-unit * i), i < DIGIT
    const double* tens          # exp(-unit * DIGIT * i), i < DIGIT
    const double* hundreds      # exp(-unit * DIGIT^2 * i)
    int64_t negligible          # steps from which a power is taken for 0; not beyond the tables


cdef struct Region:
    # Some points, the bins that they occupy of features that tell any of them apart, and the ways
    # in which splits part them:
    #
    #     occupied bins       | 0 | 1 | 2 |        two categories     a, b
    #     ways of a number        0   1            one way            a | b
    #     ways of categories    0   1   2
    Py_ssize_t n
    uint8_t* codes              # features x points: number of the occupied bin; or NULL
    int32_t* y                  # number of the class among those that are there
    Py_ssize_t n_classes        # that are there
    int32_t* value              # which class it is
    Py_ssize_t n_features       # that tell points apart
    int32_t* feature            # which feature it is
    int32_t* slot               # first occupied bin of each feature; [n_features]: all
    int32_t* bin                # which bin of the table, or of the region it is a part of, it is
    int32_t* points             # how many points are in each
    double* measure             # w of all cuts up to the next occupied bin, or of the category
    double nothing              # w of all splits that leave a side empty
    int32_t* way_slot           # first way of each feature; [n_features]: all
    double* way_measure
    int32_t* sides              # classes x ways: points on the first side of each
    int32_t* whole              # points of each class


cdef inline Py_ssize_t pairs_before(const Problem* p, Py_ssize_t f) noexcept nogil:
    """Cells of pairs of bins of which the first is of a feature before f.

    Those of a feature are bins of it x classes x bins of features from it on.
    """
    cdef Py_ssize_t g, n_bins = p.slot[p.n_features], n = 0
    for g in range(f):
        n += (p.slot[g + 1] - p.slot[g]) * (n_bins - p.slot[g])
    return n * p.n_classes


cdef inline bint adds_up(const Problem* p, const Region* r, Py_ssize_t f) noexcept nogil:
    """Whether a way of a feature has all bins up to its own on the first side."""
    return not p.is_categorical[r.feature[f]] or r.slot[f + 1] - r.slot[f] == 2


cdef int make_region(
    const Problem* p, const uint8_t* codes, const int32_t* y, const int32_t* rows, Py_ssize_t n,
    bint with_codes, Region* r) noexcept nogil
cdef int make_counted(
    const Problem* p, const int32_t* counts, const int32_t* pairs, Region* r) noexcept nogil
cdef int make_part(
    const Problem* p, const Region* whole, const int32_t* rows, Py_ssize_t n, bint with_codes,
    Region* r) noexcept nogil
cdef void free_region(Region* r) noexcept nogil
