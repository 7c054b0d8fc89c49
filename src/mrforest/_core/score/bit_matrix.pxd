# SPDX-License-Identifier: BSD-3-Clause
"""Trees of tables whose features have few codes: a node is a mask, and bits are counted.

A *slice* has a bit for each point, 1 if the point lies left of one cut of one feature: numbers
have a slice for each code but the last, categories one for each. A *sheet* holds slices of the
points of a node. The nodes below are masks over the sheet, until they are so small that a new
sheet pays: it has their points alone, squeezed together, and only slices that part them.

    sheet    0  1 1 0 1 0 0 1 1        node   1 0 1 1 0 0 1 0        squeezed   0  1 0 1 1
             1  1 0 0 1 1 0 0 1                                                 1  1 0 1 0
             2  1 1 1 1 0 1 1 0

Sheets and masks lie in one piece of memory, one after the other: a tree grows depth first, so
what is made last is done with first.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from mrforest._core.types cimport Cut, CutBits, Table

cdef enum:
    STRUCTURE = 0               # the two kinds of points; if they are the same, there is one kind
    ESTIMATION = 1


cdef struct BitMatrix:
    Py_ssize_t n_bits
    Py_ssize_t n_words[2]       # of a mask, for each kind
    # Places in the memory of all sheets
    Py_ssize_t start            # int32, per feature: its first slice; [n_features]: n_slices
    Py_ssize_t bin              # int32, per slice
    Py_ssize_t words[2]
    Py_ssize_t rows[2]          # int32, per point, where they are kept
    Py_ssize_t classes          # slices of the structure points of each class


cdef struct BitMatrices:
    const Table* table
    const CutBits* slices
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
    int32_t* counts             # classes x slices: structure points on the left
    int32_t* n_left             # slices: of any class
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
    const Table* table, const CutBits* slices, Py_ssize_t n_structure, Py_ssize_t n_estimation,
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
    """The part of a mask over the sheet that tells of the estimation points."""
    if matrices.n_kinds == 2:
        mask += matrices.items[matrices.matrix].n_words[STRUCTURE]
    return matrices.memory + mask
