# SPDX-License-Identifier: BSD-3-Clause
"""Trees whose cuts are thresholds on values, not on codes; NaN is missing."""

from libc.stdint cimport int32_t, int64_t

from mrforest._core.grow.builder cimport PendingNode, TreeBuilder
from mrforest._core.score.impurity cimport Sides
from mrforest._core.types cimport Node


cdef class ValueBuilder(TreeBuilder):
    cdef Sides sides

    cdef Py_ssize_t partition(
        self, int32_t* rows, Py_ssize_t n, const Node* cut) noexcept nogil
    cdef double score(self, const PendingNode* node, const Node* cut) noexcept nogil
    cdef bint is_heavier_left(self) noexcept nogil
    cdef Py_ssize_t cut_estimation(self, const PendingNode* node, const Node* cut) noexcept nogil
    cdef int cut_node(
        self, const PendingNode* node, const Node* cut, Py_ssize_t left_estimation, double score,
        PendingNode* children) noexcept nogil


cdef double number_between(double a, double b, double u) noexcept nogil
