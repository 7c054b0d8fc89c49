# SPDX-License-Identifier: BSD-3-Clause
"""The draws of a rule among the candidates of a node."""

from mrforest._core.rules.rule cimport Draw
from mrforest._core.score.bit_matrix cimport BitMatrices
from mrforest._core.score.feature_scores cimport FeatureScores, NodeView
from mrforest._core.score.workspace cimport SplittableFeature
from mrforest._core.types cimport Cut, Split, Table


cdef class Splitter(FeatureScores):
    cdef int split(self, NodeView* node, Split* split) noexcept nogil
    cdef bint score_one(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place, Py_ssize_t n_found,
        Draw* draw) noexcept nogil
    cdef int make_lists(self, BitMatrices* matrices) noexcept nogil
    cdef Py_ssize_t score_block(self, const NodeView* node, Draw* draw) noexcept nogil
    cdef Py_ssize_t score_bit_matrix(self, const NodeView* node, Draw* draw) noexcept nogil
    cdef Py_ssize_t score_drawn(self, const NodeView* node, Draw* draw) noexcept nogil
    cdef bint can_use_block(self) noexcept nogil
    cdef void set_table(self, const Table* table) noexcept nogil
    cdef bint add_splittable(
        self, Py_ssize_t feature, Py_ssize_t place, Py_ssize_t n_found, double best
    ) noexcept nogil
