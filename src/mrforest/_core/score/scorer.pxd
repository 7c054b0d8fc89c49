# SPDX-License-Identifier: BSD-3-Clause
"""The candidates of a feature of a node, and their scores; or the best score alone."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from mrforest._core.random.rng cimport Stream
from mrforest._core.rules.rule cimport Draw, Range, RemotePoints, SplitRule
from mrforest._core.score.bit_matrix cimport BitMatrices
from mrforest._core.score.buffers cimport Buffers
from mrforest._core.score.histogram_pool cimport HistogramPool
from mrforest._core.score.impurity cimport Sides
from mrforest._core.score.node_histogram cimport NodeHistogram
from mrforest._core.score.node_lists cimport NodeLists
from mrforest._core.score.sorted_block cimport SortedBlock
from mrforest._core.types cimport Cut, Entry, Table

cdef extern from "math.h" nogil:
    const double NO_CUT "(-INFINITY)"   # instead of a score


cdef struct RowSpan:
    const int32_t* first
    const int32_t* end


cdef struct NodeView:
    # One node, as the splitter sees it.
    const int32_t* structure
    Py_ssize_t n_structure
    const int32_t* estimation
    Py_ssize_t n_estimation
    const int64_t* totals       # columns of the structure points
    int histogram               # number of its histogram, or NONE
    Py_ssize_t first            # of its structure points, among those of the tree
    int level                   # in the block; NONE: it has none
    Py_ssize_t depth
    Stream stream


cdef class Scorer:
    cdef const Table* table
    cdef SplitRule rule
    cdef HistogramPool pool
    cdef int64_t floor                  # estimation points that each side must keep; 0: none
    cdef bint counts_points             # whether class counts are counts of estimation points
    cdef bint is_plain                  # whether there are kernels for the best scores alone

    # Where points are ordered or counted; NULL: they are not
    cdef SortedBlock* block             # all features of a small subtree
    cdef NodeLists* node_lists          # some features of a small node
    cdef bint is_listed                 # whether the node that is scored has lists there
    cdef NodeHistogram* node_histogram  # some features of a node
    cdef BitMatrices* matrices          # the owner's
    cdef RemotePoints* remote_points    # points that are not here

    # The candidates of one feature
    cdef double* scores
    cdef Cut* cuts

    # Work space
    cdef Buffers buffers
    cdef Entry* entries
    cdef Entry* points
    cdef uint64_t* keys
    cdef uint64_t* more_keys
    cdef double* work
    cdef Sides sides
    cdef int32_t* lefts                 # of plain candidates: points on their left ...
    cdef int32_t* cut_bins              # ... and their cuts
    cdef int64_t* bins_work
    cdef double* best_in_bins           # scores of features that are counted, if they are plain
    cdef int32_t* same_width            # features of equally many bins, scored together ...
    cdef const int32_t** bins_of_same_width     # ... and their counts
    cdef uint8_t* marks
    cdef Py_ssize_t n_marks
    cdef uint8_t* categories
    cdef RowSpan* no_cut                # for each feature, rows among which it has no candidate

    cdef void set_table(self, const Table* table) noexcept nogil
    cdef void forget_nodes(self) noexcept nogil
    cdef void mark_up_to(self, Py_ssize_t n) except *
    cdef bint use_block(self) noexcept nogil
    cdef int use_lists(self, Py_ssize_t n_lists) noexcept nogil
    cdef Py_ssize_t score_feature(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place, Draw* draw
    ) noexcept nogil
    cdef void draw_range(
        self, const NodeView* node, Py_ssize_t feature, Range* range_, Draw* draw
    ) noexcept nogil
    cdef Py_ssize_t keep_in_range(
        self, const Range* range_, Py_ssize_t feature, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t write_entries(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t write_points(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef bint has_bits(self, Py_ssize_t feature) noexcept nogil
    cdef bint has_no_cut(self, const NodeView* node, Py_ssize_t feature) noexcept nogil
    cdef void set_no_cut(self, const NodeView* node, Py_ssize_t feature) noexcept nogil
    cdef void count_together(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, Py_ssize_t* place
    ) noexcept nogil
    cdef void list_together(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, Py_ssize_t* place
    ) noexcept nogil
    cdef bint begin_lists(self, const NodeView* node) noexcept nogil
    cdef const int32_t* bins_of(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef double best_of_cuts(self, Py_ssize_t n_cuts) noexcept nogil
    cdef bint is_plain_in(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t score_plain(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef void find_best_in_bins(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, const Py_ssize_t* place
    ) noexcept nogil
    cdef void find_best_of_same_width(self, const NodeView* node, Py_ssize_t n) noexcept nogil
    cdef double best_alone(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
