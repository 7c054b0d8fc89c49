# SPDX-License-Identifier: BSD-3-Clause
"""Tables whose features have few codes: a node is a mask, and bits are counted.

A bit matrix has a row for each cut of a feature and a column for each point: 1 if the point lies
left of the cut. Numbers have a row for each code but the last, categories one for each. The nodes
below are masks over the matrix, until they are so small that a new matrix pays: it has their points
alone, squeezed together, and only the rows that split them.

    cut 0   1 1 0 1 0 0 1 1        node   1 0 1 1 0 0 1 0        squeezed   1 0 1 1
        1   1 0 0 1 1 0 0 1                                                 1 0 1 0
        2   1 1 1 1 0 1 1 0

In memory, 64 points of all cuts lie next to each other. Matrices and masks lie in one piece of
memory, one after the other: a tree grows depth first, so what is made last is freed first.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from mrforest._core.types cimport Cut, CutBits, Table

cdef enum:
    STRUCTURE = 0               # the two kinds of points; if they are the same, there is one kind
    ESTIMATION = 1


cdef struct BitMatrix:
    Py_ssize_t n_bits
    Py_ssize_t n_words[2]       # of a mask, for each kind
    # Places in the memory of all matrices
    Py_ssize_t start            # int32, per feature: its first cut; [n_features]: n_bits
    Py_ssize_t bin              # int32, per cut
    Py_ssize_t words[2]
    Py_ssize_t rows[2]          # int32, per point, where they are kept
    Py_ssize_t classes          # bits of the structure points of each class


cdef struct BitMatrices:
    const Table* table
    const CutBits* cut_bits
    int n_kinds
    bint keeps_rows[2]
    int64_t floor               # estimation points that each side of a cut keeps; 0: none
    bint counts_estimation      # for it; structure points are counted anyway
    uint64_t* memory
    Py_ssize_t top, capacity        # in words
    BitMatrix* items
    int n_items, item_capacity

    # Of the node that is looked at
    int matrix
    Py_ssize_t n_points[2]
    uint64_t* mask[2]
    uint64_t* left[2]           # of them, those that go left
    Py_ssize_t n_classes        # that are there
    uint64_t* class_mask        # of the structure points of each
    double* totals              # how many these are
    int32_t* counts             # classes x cuts: structure points on the left
    int32_t* n_left             # cuts: of any class
    int32_t* n_estimation_left
    double* scores

    # Work space
    int32_t* kept
    int32_t* every              # 0, 1, 2, ...
    int32_t* some_left
    double* some_scores
    uint64_t* row
    uint64_t* other_row


cdef BitMatrices* new_bit_matrices(
    const Table* table, const CutBits* cut_bits, Py_ssize_t n_structure, Py_ssize_t n_estimation,
    int n_kinds, bint keeps_structure, int64_t floor) noexcept nogil
cdef void free_bit_matrices(BitMatrices* matrices) noexcept nogil
cdef int make_first_matrix(
    BitMatrices* matrices, const int32_t* structure, Py_ssize_t n_structure,
    const int32_t* estimation,
    Py_ssize_t n_estimation, Py_ssize_t* mask) noexcept nogil
cdef int enter_matrix(
    BitMatrices* matrices, int matrix, Py_ssize_t mask, Py_ssize_t n_structure,
    Py_ssize_t n_estimation
) noexcept nogil
cdef void write_rows_of_mask(
    const BitMatrices* matrices, int kind, const uint64_t* mask, int32_t* out) noexcept nogil
cdef void partition_mask(
    BitMatrices* matrices, Py_ssize_t feature, const Cut* cut, Py_ssize_t* n_left) noexcept nogil
cdef int write_masks(BitMatrices* matrices, int lower, Py_ssize_t* masks) noexcept nogil


cdef inline int32_t* ints_at(const BitMatrices* matrices, Py_ssize_t place) noexcept nogil:
    return <int32_t*> (matrices.memory + place)


cdef inline const uint64_t* estimation_mask(
    const BitMatrices* matrices, Py_ssize_t mask
) noexcept nogil:
    """The part of a mask that has the estimation points."""
    if matrices.n_kinds == 2:
        mask += matrices.items[matrices.matrix].n_words[STRUCTURE]
    return matrices.memory + mask
