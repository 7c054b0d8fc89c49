# SPDX-License-Identifier: BSD-3-Clause
"""The draws of a rule among the candidates of a node."""

from libc.stdint cimport int32_t

from mrforest._core.rules.rule cimport Draw, SplitRule
from mrforest._core.score.bit_matrix cimport BitMatrices
from mrforest._core.score.buffers cimport Buffers
from mrforest._core.score.feature_order cimport Order
from mrforest._core.score.scorer cimport NodeView, Scorer
from mrforest._core.types cimport Split


cdef struct SplittableFeature:
    int32_t feature
    Py_ssize_t place            # in the block, the lists or the histogram of a node, or NONE
    Draw before                 # the draw as it was before the range of the feature


cdef class Splitter:
    cdef Scorer scorer
    cdef SplitRule rule
    cdef Buffers buffers
    cdef Order order                            # of the features; natural between nodes
    cdef SplittableFeature* splittable          # features that have a candidate ...
    cdef int32_t* splittable_columns            # ... their columns ...
    cdef double* best                           # ... and the largest score of each
    cdef Py_ssize_t* place                      # of each feature that a node draws, or NONE
    cdef int32_t* others                        # features without bits
    cdef Py_ssize_t n_others

    cdef int use_matrices(self, BitMatrices* matrices) noexcept nogil
    cdef int split(self, NodeView* node, Split* split) noexcept nogil
    cdef bint score_one(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place, Py_ssize_t n_found,
        Draw* draw) noexcept nogil
    cdef Py_ssize_t score_block(self, const NodeView* node, Draw* draw) noexcept nogil
    cdef Py_ssize_t score_bit_matrix(self, const NodeView* node, Draw* draw) noexcept nogil
    cdef Py_ssize_t score_drawn(self, const NodeView* node, Draw* draw) noexcept nogil
    cdef bint add_splittable(
        self, Py_ssize_t feature, Py_ssize_t place, Py_ssize_t n_found, double best
    ) noexcept nogil
