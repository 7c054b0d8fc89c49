# SPDX-License-Identifier: BSD-3-Clause
"""A small node of which only some features are looked at: their lists, made for it alone."""

from libc.stdint cimport int32_t, int64_t, uint32_t

from mrforest._core.kernels.dispatch cimport GiniNode, PlainCuts
from mrforest._core.plan cimport BLOCK_POINTS
from mrforest._core.score.sorted_block cimport READ_AHEAD_CELLS
from mrforest._core.types cimport Table


cdef struct NodeLists:
    # Lists as those of a block (block.pxd), of the features that are numeric and nowhere missing.
    GiniNode node
    Py_ssize_t n                            # lists
    int32_t rows[BLOCK_POINTS]              # of the points
    uint32_t points[BLOCK_POINTS]           # class (8 bits) | number (8)
    uint32_t* items                         # lists of BLOCK_POINTS each
    Py_ssize_t* place                       # where they begin ...
    int32_t* number                         # ... and which they are: all
    double* best                            # score of the best cut of each
    void* codes                             # of one feature


cdef NodeLists* new_node_lists(Py_ssize_t n_lists) noexcept nogil
cdef void free_node_lists(NodeLists* lists) noexcept nogil
cdef bint enter_node_lists(
    NodeLists* lists, const Table* table, const int32_t* rows, Py_ssize_t n, const int64_t* totals
) noexcept nogil
cdef bint add_node_list(NodeLists* lists, const Table* table, Py_ssize_t feature) noexcept nogil
cdef void find_best_in_node_lists(NodeLists* lists) noexcept nogil
cdef Py_ssize_t cuts_in_node_list(
    const NodeLists* lists, Py_ssize_t number, PlainCuts cuts) noexcept nogil
