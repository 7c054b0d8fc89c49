# SPDX-License-Identifier: BSD-3-Clause
"""Candidates of a node from the codes of its points, and the draws of a rule among them."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from mrforest._core.block cimport Block
from mrforest._core.impurity cimport Sides
from mrforest._core.order cimport Order
from mrforest._core.pool cimport HistogramPool
from mrforest._core.rng cimport Stream
from mrforest._core.rule cimport Draw, Range, SplitRule
from mrforest._core.selected cimport Selected
from mrforest._core.sheet cimport Sheets
from mrforest._core.shortlist cimport Shortlist
from mrforest._core.types cimport Cut, Entry, Table


cdef struct NodeView:
    # One node, as the splitter sees it.
    const int32_t* structure
    Py_ssize_t n_structure
    const int32_t* estimation
    Py_ssize_t n_estimation
    const int64_t* totals       # columns of the structure points
    int histogram               # number of its histogram, or NO_HISTOGRAM
    Py_ssize_t first            # of its structure points, among those of the tree
    int level                   # in the block; NOT_IN_BLOCK: it has none
    Py_ssize_t depth
    Stream stream


cdef struct Split:
    Py_ssize_t feature
    Py_ssize_t place            # see Able
    Cut cut
    double score


cdef enum:
    NOT_COUNTED = -1


cdef struct Able:
    int32_t feature
    Py_ssize_t place            # in the block, shortlist or histogram of some, or NOT_COUNTED
    Draw before                 # the draw as it was before the range of the feature


cdef struct Slice:
    const int32_t* first
    const int32_t* end


cdef class Splitter:
    cdef const Table* table
    cdef SplitRule rule
    cdef HistogramPool pool
    cdef int64_t floor                  # estimation points that each side must keep; 0: none
    cdef bint counts_points             # see candidates.pxd

    cdef bint is_plain                  # whether there are kernels for the best scores alone
    cdef Block* block                   # NULL: small subtrees are not copied
    cdef Shortlist* short               # NULL: small nodes are sorted
    cdef bint is_listed                 # whether the node that is looked at has lists there
    cdef Sheets* sheets                 # the owner's; NULL: nodes are no masks
    cdef int32_t* others                # features without slices
    cdef Py_ssize_t n_others

    # Work space
    cdef Entry* entries
    cdef Entry* points
    cdef uint64_t* keys
    cdef uint64_t* more_keys
    cdef double* scores
    cdef Cut* cuts
    cdef double* work
    cdef Sides sides
    cdef int32_t* lefts                 # of plain candidates: points on their left ...
    cdef int32_t* cut_bins              # ... and their cuts
    cdef int32_t* bins_work
    cdef uint8_t* marks
    cdef uint8_t* categories
    cdef Order order                    # of the features; natural between nodes
    cdef Able* able                     # features that have a candidate ...
    cdef int32_t* columns_able          # ... their columns ...
    cdef double* best                   # ... and the largest score of each
    cdef Slice* no_cut                  # for each feature, a slice in which it has no candidate

    cdef Py_ssize_t* place              # of each feature that a node draws; see NOT_COUNTED
    cdef Selected* selected

    cdef int split(self, NodeView* node, Split* split) noexcept nogil
    cdef Py_ssize_t score_feature(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place, Draw* draw
    ) noexcept nogil
    cdef void draw_range(
        self, const NodeView* node, Py_ssize_t feature, Range* range_, Draw* draw
    ) noexcept nogil
    cdef Py_ssize_t keep_in_range(
        self, const Range* range_, Py_ssize_t feature, Py_ssize_t n) noexcept nogil
    cdef bint look_at(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place, Py_ssize_t n_able,
        Draw* draw) noexcept nogil
    cdef Py_ssize_t write_entries(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t write_points(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef bint is_sliced(self, Py_ssize_t feature) noexcept nogil
    cdef bint has_no_cut(self, const NodeView* node, Py_ssize_t feature) noexcept nogil
    cdef void set_no_cut(self, const NodeView* node, Py_ssize_t feature) noexcept nogil
    cdef void look_together(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, Py_ssize_t* place
    ) noexcept nogil
    cdef void list_together(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, Py_ssize_t* place
    ) noexcept nogil
    cdef bint can_be_listed(self, const NodeView* node) noexcept nogil
    cdef int make_lists(self, Sheets* sheets) noexcept nogil
    cdef Py_ssize_t look_in_block(self, const NodeView* node, Draw* draw) noexcept nogil
    cdef Py_ssize_t look_in_sheet(self, const NodeView* node, Draw* draw) noexcept nogil
    cdef Py_ssize_t look_at_some(self, const NodeView* node, Draw* draw) noexcept nogil
    cdef bint can_use_block(self) noexcept nogil
    cdef void set_table(self, const Table* table) noexcept nogil
    cdef const int32_t* bins_of(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef bint note(
        self, Py_ssize_t feature, Py_ssize_t place, Py_ssize_t n_able, double best
    ) noexcept nogil
    cdef double best_of_cuts(self, Py_ssize_t n_cuts) noexcept nogil
    cdef bint is_plain_in(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t score_plain(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
    cdef double best_alone(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place) noexcept nogil
