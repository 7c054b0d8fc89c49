# SPDX-License-Identifier: BSD-3-Clause
"""Work space of a growing tree, and what of it a node leaves for the next."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from mrforest._core.rules.rule cimport Draw, RemotePoints, SplitRule
from mrforest._core.score.bit_matrix cimport BitMatrices
from mrforest._core.score.feature_order cimport Order
from mrforest._core.score.histogram_pool cimport HistogramPool
from mrforest._core.score.impurity cimport Sides
from mrforest._core.score.node_histogram cimport NodeHistogram
from mrforest._core.score.node_lists cimport NodeLists
from mrforest._core.score.sorted_block cimport SortedBlock
from mrforest._core.types cimport Cut, Entry, Table

cdef extern from "math.h" nogil:
    const double NO_CUT "(-INFINITY)"   # instead of a score

cdef struct SplittableFeature:
    int32_t feature
    Py_ssize_t place            # in the block, shortlist or histogram of some, or NONE
    Draw before                 # the draw as it was before the range of the feature


cdef struct RowSpan:
    const int32_t* first
    const int32_t* end


cdef class Workspace:
    cdef const Table* table
    cdef SplitRule rule
    cdef HistogramPool pool
    cdef int64_t floor                  # estimation points that each side must keep; 0: none
    cdef bint counts_points             # see candidates.pxd

    cdef bint is_plain                  # whether there are kernels for the best scores alone
    cdef SortedBlock* block                   # NULL: small subtrees are not copied
    cdef NodeLists* node_lists               # NULL: small nodes are sorted
    cdef bint is_listed                 # whether the node that is looked at has lists there
    cdef BitMatrices* matrices                 # the owner's; NULL: nodes are no masks
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
    cdef int64_t* bins_work
    cdef double* best_in_bins           # scores of features that are counted, if they are plain
    cdef int32_t* same_width                 # features of equally many bins, looked at together ...
    cdef const int32_t** bins_of_same_width  # ... and their counts
    cdef uint8_t* marks
    cdef RemotePoints* remote_points           # NULL: points are here
    cdef uint8_t* categories
    cdef Order order                    # of the features; natural between nodes
    cdef SplittableFeature* splittable                     # features that have a candidate ...
    cdef int32_t* splittable_columns          # ... their columns ...
    cdef double* best                   # ... and the largest score of each
    cdef RowSpan* no_cut                  # for each feature, a slice in which it has no candidate

    cdef Py_ssize_t* place              # of each feature that a node draws; see NONE
    cdef NodeHistogram* node_histogram
