# SPDX-License-Identifier: BSD-3-Clause
"""Candidates and scores of one node, from some of its points."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.kernels.dispatch cimport (
    MOST_CODES, ClassHistogram, ClassHistograms, CountedCut, CountedPoints, CutKind, EntropyNode,
    GiniNode,
)
from mrforest._core.plan cimport BLOCK_POINTS
from mrforest._core.rules.rule cimport Draw, SplitRule
from mrforest._core.score.feature_order cimport Order
from mrforest._core.score.impurity cimport Sides
from mrforest._core.score.scorer cimport RowSpan
from mrforest._core.score.sorted_block cimport READ_AHEAD_CELLS
from mrforest._core.types cimport Cut, Entry, Split, Table

cdef enum:
    FEW_CODES = 32      # up to so many, points are counted rather than put in order


cdef enum Way:
    # How the candidates of a feature are found.
    BY_HISTOGRAMS   # points counted by code and class in all features: few codes and classes
    BY_LIST         # points in the order of their codes: numeric, no value missing, few points
    BY_COUNTS       # points counted by code and class: no value missing, at most MOST_CODES codes
    BY_ENTRIES      # any feature, criterion and weights


cdef struct ScoredNode:
    const int32_t* rows             # points that are scored ...
    Py_ssize_t n
    const int64_t* totals           # ... and their columns
    # Where all points of the node lie, and whether they are the ones that are scored.
    const int32_t* first
    const int32_t* end
    bint is_whole


cdef class NodeScores:
    cdef Table table                # as the tree sees it
    cdef SplitRule rule
    cdef bint is_plain              # classes of points that count one each
    cdef bint is_entropy

    # Of the node: classes that are there are numbered in their order
    cdef bint can_count                     # whether they are few, and all is plain
    cdef bint can_list                      # likewise, and points are few
    cdef bint has_histograms                # likewise, and most features have few codes
    cdef CountedPoints counted
    cdef GiniNode node
    cdef EntropyNode entropy_node
    cdef uint32_t points[BLOCK_POINTS]      # class (8 bits) | number (8)
    cdef uint8_t* classes
    cdef int32_t* number                    # of each class
    cdef ClassHistograms histograms              # of all features; n_codes is 0 if no node has them
    cdef int32_t* rows_by_class             # points, those of class 0 first

    # Of the features that are looked at, in their order
    cdef Order order                        # of all features; natural between nodes
    cdef Py_ssize_t n_lists
    cdef uint32_t* items                    # lists of BLOCK_POINTS each, see block.pxd
    cdef Py_ssize_t* place                  # where each list begins
    cdef int32_t* which                     # 0, 1, 2, ...
    cdef double* best_in_list
    cdef void* codes                        # of the points
    cdef int32_t* list_of                   # feature -> its list; -1: it has none
    cdef int32_t* splittable                      # features that have a candidate ...
    cdef double* best                       # ... and the best score of each

    # Of one feature
    cdef Entry* entries
    cdef int64_t* cells                     # bins x columns
    cdef uint64_t* marks                    # bins that have points
    cdef ClassHistogram histogram
    cdef CountedCut counted_cuts[2 * MOST_CODES]
    cdef Sides sides
    cdef double* scores
    cdef Cut* cuts
    cdef double* work
    cdef int32_t* lefts
    cdef int32_t* cut_bins

    cdef RowSpan* constant                     # for each feature, points among which it has no cut
    cdef uint8_t* differ                    # whether points differ in a feature, by histograms

    cdef void enter(self, const ScoredNode* node) noexcept nogil
    cdef void best_in_lists(self, Py_ssize_t first) noexcept nogil
    cdef int split(self, const ScoredNode* node, Draw* draw, Split* split) noexcept nogil

    cdef Py_ssize_t score_drawn(self, const ScoredNode* node, Draw* draw) noexcept nogil
    cdef Py_ssize_t score_some(
        self, const ScoredNode* node, const int32_t* features, Py_ssize_t n, Py_ssize_t n_found
    ) noexcept nogil
    cdef int32_t codes_at_once(self) noexcept nogil
    cdef void begin_tree(self) noexcept nogil
    cdef bint is_constant(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil
    cdef void set_constant(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil
    cdef Way way_of(self, Py_ssize_t feature) noexcept nogil
    cdef void count_all(self, const ScoredNode* node) noexcept nogil
    cdef bint count(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil
    cdef bint gather(
        self, const ScoredNode* node, Py_ssize_t feature, void* codes) noexcept nogil
    cdef Py_ssize_t score(
        self, const ScoredNode* node, Py_ssize_t feature, Py_ssize_t list_) noexcept nogil
    cdef Py_ssize_t score_list(self, Py_ssize_t list_) noexcept nogil
    cdef CutKind kind_of(self, Py_ssize_t feature) noexcept nogil
    cdef Py_ssize_t score_counts(self, Py_ssize_t feature) noexcept nogil
    cdef Py_ssize_t score_entries(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil
    cdef Py_ssize_t write_entries(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil
