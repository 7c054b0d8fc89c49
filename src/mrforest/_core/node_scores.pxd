# SPDX-License-Identifier: BSD-3-Clause
"""Candidates and scores of one node, from some of its points."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from mrforest._core.block cimport BEYOND, BLOCK_POINTS
from mrforest._core.impurity cimport Sides
from mrforest._core.lists cimport BlockNode
from mrforest._core.order cimport Order
from mrforest._core.rule cimport Draw, SplitRule
from mrforest._core.splitter cimport Split
from mrforest._core.table cimport TrainingTable
from mrforest._core.types cimport Cut, Entry, Table

cdef extern from "few_codes.h" nogil:
    ctypedef struct FewCut "mrforest_few_cut":
        double score
        int32_t bin
        int32_t is_equality
        int32_t n_left

    enum:
        MOST_FEW_CODES "MRFOREST_MOST_FEW_CODES"
        MOST_CUTS_OF_FEW "MRFOREST_MOST_CUTS_OF_FEW"


cdef enum Way:
    # How the candidates of a feature are found.
    BY_LIST         # points in the order of their codes: numeric, nowhere missing, few points
    BY_COUNTS       # classes counted by code: likewise, and few codes
    BY_ENTRIES      # any feature, criterion and weights


cdef struct ScoredNode:
    const int32_t* rows             # points that are scored ...
    Py_ssize_t n
    const int64_t* totals           # ... and their columns
    # Where all points of the node lie, and whether they are the ones that are scored.
    const int32_t* first
    const int32_t* end
    bint is_whole


cdef struct Span:
    const int32_t* first
    const int32_t* end


cdef class NodeScores:
    cdef Table table                # as the tree sees it
    cdef SplitRule rule
    cdef bint is_plain              # Gini impurity of points that count one each

    # Of the node, if it is small and plain: classes that are there are numbered in their order
    cdef bint is_small
    cdef BlockNode node
    cdef uint32_t points[BLOCK_POINTS]      # class (8 bits) | number (8)
    cdef uint8_t classes[BLOCK_POINTS]
    cdef int32_t* number                    # of each class

    # Of the features that are looked at, in their order
    cdef Order order                        # of all features; natural between nodes
    cdef Py_ssize_t n_lists
    cdef uint32_t* items                    # lists of BLOCK_POINTS each, see block.pxd
    cdef Py_ssize_t* place                  # where each list begins
    cdef int32_t* which                     # 0, 1, 2, ...
    cdef double* best_in_list
    cdef void* codes                        # features x BLOCK_POINTS
    cdef int32_t* list_of                   # feature -> its list; -1: it has none
    cdef int32_t* able                      # features that have a candidate ...
    cdef double* best                       # ... and the best score of each

    # Of one feature
    cdef Entry* entries
    cdef int64_t* cells                     # bins x columns
    cdef uint64_t* marks                    # bins that have points
    cdef int32_t* few_counts
    cdef int32_t few_left[BLOCK_POINTS]
    cdef FewCut few_cuts[MOST_CUTS_OF_FEW]
    cdef Sides sides
    cdef double* scores
    cdef Cut* cuts
    cdef double* work
    cdef int32_t* lefts
    cdef int32_t* cut_bins

    cdef Span* constant                     # for each feature, points among which it has no cut

    cdef void begin_tree(self) noexcept nogil
    cdef void enter(self, const ScoredNode* node) noexcept nogil
    cdef int split(self, const ScoredNode* node, Draw* draw, Split* split) noexcept nogil

    cdef Py_ssize_t look(self, const ScoredNode* node, Draw* draw) noexcept nogil
    cdef Py_ssize_t look_at(
        self, const ScoredNode* node, const int32_t* features, Py_ssize_t n, Py_ssize_t n_able
    ) noexcept nogil
    cdef bint is_constant(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil
    cdef void set_constant(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil
    cdef Way way_of(self, Py_ssize_t feature) noexcept nogil
    cdef bint gather(
        self, const ScoredNode* node, Py_ssize_t feature, void* codes) noexcept nogil
    cdef Py_ssize_t score(
        self, const ScoredNode* node, Py_ssize_t feature, Py_ssize_t list_) noexcept nogil
    cdef Py_ssize_t score_list(self, Py_ssize_t list_) noexcept nogil
    cdef Py_ssize_t score_counts(
        self, Py_ssize_t feature, const void* codes, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t score_entries(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil
    cdef Py_ssize_t write_entries(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil
