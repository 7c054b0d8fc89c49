# SPDX-License-Identifier: BSD-3-Clause
"""Small subtrees, grown where the cache holds all that they need."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from mrforest._core.kernels.dispatch cimport LIST_POINTS, READ_AHEAD, GiniNode, PlainCuts
from mrforest._core.plan cimport BLOCK_POINTS
from mrforest._core.types cimport Cut, Entry, Table

cdef enum:
    READ_AHEAD_CELLS = READ_AHEAD         # items that are read, but not used, after the last list


cdef struct SortedBlock:
    # The structure points of a node, for each feature that tells them apart in the order of its
    # codes. A node below is a slice of all of these lists, the same one:
    #
    #     points      [ a c | b d e ]
    #     feature 0   [ a c | b e d ]
    #     feature 3   [ c a | d b e ]        a and c went left, at a cut of some feature
    #
    # Features that no longer tell the points of a node apart are closed. Which are open is known
    # for each level, for a tree grows depth first.
    Py_ssize_t first            # of its points, among those of the tree
    Py_ssize_t n
    Py_ssize_t n_classes        # that are there
    int32_t column[BLOCK_POINTS]    # which they are
    Py_ssize_t n_features
    int32_t* feature            # which feature it is
    uint8_t* is_plain           # it is numeric, and no point has it missing
    Py_ssize_t* place           # of its list in `items`
    uint32_t points[BLOCK_POINTS + READ_AHEAD_CELLS]  # class (8 bits) | number (8)
    uint32_t* items             # code (16 bits) | class (8) | number (8)
    int32_t* open               # levels x features
    Py_ssize_t n_open[BLOCK_POINTS + 1]

    # Of the node that is looked at
    GiniNode node
    double* best                    # score of the best cut of each open feature that is plain

    # Work space
    Py_ssize_t capacity             # for features
    Py_ssize_t n_table_columns
    int32_t* number             # of a class in the block, per column of the table; -1: not there
    void* differ                # bits in which codes of a feature differ, per feature of the table
    void* codes                 # of the points, row after row
    uint8_t is_left[BLOCK_POINTS]
    int32_t* listed             # features that are plain ...
    int32_t* where              # ... their places among the open ones ...
    double* best_listed         # ... and the best score of each


cdef struct SidesOfCut:
    # The points of a node on the sides of a cut. A side has one class if its two words are equal.
    Py_ssize_t n_left
    uint32_t any_left, all_left     # classes, bit by bit
    uint32_t any_right, all_right


cdef SortedBlock* new_block(const Table* table) noexcept nogil
cdef void free_block(SortedBlock* block) noexcept nogil
cdef int make_block(
    const Table* table, const int32_t* rows, Py_ssize_t first, Py_ssize_t n, SortedBlock* block
) noexcept nogil
cdef int enter_node(
    SortedBlock* block, Py_ssize_t first, Py_ssize_t n, int level, int64_t* totals) noexcept nogil
cdef void find_best(SortedBlock* block, Py_ssize_t first, int level) noexcept nogil
cdef Py_ssize_t cuts_in_block(
    const SortedBlock* block, Py_ssize_t number, Py_ssize_t first, PlainCuts cuts) noexcept nogil
cdef Py_ssize_t block_entries(
    const Table* table, SortedBlock* block, Py_ssize_t number, Py_ssize_t first, Py_ssize_t n,
    Entry* entries) noexcept nogil
cdef SidesOfCut mark_sides(
    const Table* table, SortedBlock* block, Py_ssize_t number, Py_ssize_t first, Py_ssize_t n,
    const Cut* cut) noexcept nogil
cdef void partition_block(
    SortedBlock* block, Py_ssize_t first, Py_ssize_t n, int level, bint wants_left, bint wants_right
) noexcept nogil
