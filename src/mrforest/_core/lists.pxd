# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of lists.h and sort.h, for blocks and shortlists."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "lists.h" nogil:
    ctypedef struct BlockNode "mrforest_node":
        Py_ssize_t n
        Py_ssize_t n_classes
        Py_ssize_t n_present
        int32_t* present
        int32_t* totals

    ctypedef struct PlainCuts "mrforest_cuts":
        double* of_left         # scores, in the end
        double* of_right
        int32_t* n_left
        int32_t* bin

    void mrforest_weigh_cuts(BlockNode* node)
    void mrforest_best_in_lists(
        const uint32_t* items, const Py_ssize_t* place, const int32_t* number, Py_ssize_t n_lists,
        const BlockNode* node, double* best)
    Py_ssize_t mrforest_cuts_in_list(
        const uint32_t* list, const BlockNode* node, PlainCuts cuts)
    void mrforest_part_lists(
        uint32_t* items, const Py_ssize_t* place, const int32_t* number, Py_ssize_t n_lists,
        Py_ssize_t n, const uint8_t* is_left, int sides)
    enum:
        LEFT "MRFOREST_LEFT"
        RIGHT "MRFOREST_RIGHT"
    void mrforest_count_slices(
        const uint64_t* slices, Py_ssize_t n_cuts, const uint64_t* classes, Py_ssize_t n_classes,
        Py_ssize_t n_words, int32_t* left)
    double mrforest_best_of_counts(
        const int32_t* left, Py_ssize_t n_cuts, Py_ssize_t n_classes, Py_ssize_t n,
        const int32_t* totals, const double* inverse)

cdef extern from "sort.h" nogil:
    void mrforest_sort_bytes(
        const uint8_t* codes, Py_ssize_t stride, Py_ssize_t n, const uint32_t* points,
        uint32_t* items)
    void mrforest_sort_shorts(
        const uint16_t* codes, Py_ssize_t stride, Py_ssize_t n, const uint32_t* points,
        uint32_t* items)
