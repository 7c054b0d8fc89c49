# SPDX-License-Identifier: BSD-3-Clause
"""Partition and score by a threshold on values; see raw.pxd."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport Limits, PendingNode, TreeBuilder
from mrforest._core.score.impurity cimport all_right, fresh_score
from mrforest._core.types cimport EQUALITY, FEATURE_MASK, MISSING_LEFT, VARIANCE, Node, Table, at


cdef inline bint goes_left(const Table* table, const Node* cut, Py_ssize_t row) noexcept nogil:
    cdef double x = table.X[row * table.n_features + (cut.feature & FEATURE_MASK)]
    if x != x:
        return (cut.feature & MISSING_LEFT) != 0
    return x == cut.threshold if cut.feature & EQUALITY else x <= cut.threshold


cdef double number_between(double a, double b, double u) noexcept nogil:
    """A number in [a, b)."""
    cdef double t = a * (1 - u) + b * u
    return t if a <= t < b else a


cdef class ValueBuilder(TreeBuilder):
    """A tree of thresholds on values."""

    def __cinit__(self, TrainingTable table, structure, estimation, key, Limits limits, *_):
        self.sides.left = <int64_t*> malloc(self.table.n_columns * sizeof(int64_t))
        self.sides.right = <int64_t*> malloc(self.table.n_columns * sizeof(int64_t))
        if self.sides.left is NULL or self.sides.right is NULL:
            raise MemoryError("no memory to grow a tree")

    def __dealloc__(self):
        free(self.sides.left)
        free(self.sides.right)

    cdef Py_ssize_t partition(
        self, int32_t* rows, Py_ssize_t n, const Node* cut
    ) noexcept nogil:
        """Left ones first, both sides in their order; return how many go left."""
        cdef Py_ssize_t n_left = 0, n_right = 0, i
        cdef int32_t row
        cdef bint left
        for i in range(n):
            row = rows[i]
            left = goes_left(self.table, cut, at(row, self.table.n_rows))
            rows[n_left] = row
            self.scratch[n_right] = row
            n_left += left
            n_right += not left
        memcpy(rows + n_left, self.scratch, n_right * sizeof(int32_t))
        return n_left

    cdef double score(self, const PendingNode* node, const Node* cut) noexcept nogil:
        """Score of a cut of a node whose totals are counted; an empty side adds 0."""
        cdef const Table* table = self.table
        cdef const int32_t* rows = &self.structure[0] + node.first_structure
        cdef Py_ssize_t i, k
        cdef int64_t mass = 1
        all_right(table, self.totals, &self.sides)
        for i in range(node.n_structure):
            if not goes_left(table, cut, rows[i]):
                continue
            if table.mass is not NULL:
                mass = table.mass[rows[i]]
            if table.criterion == VARIANCE:
                self.sides.left[0] += mass
                self.sides.left[1] += table.moment[rows[i]]
            else:
                self.sides.left[table.y[rows[i]]] += mass
        for k in range(table.n_columns):
            self.sides.right[k] = self.totals[k] - self.sides.left[k]
        return fresh_score(table, &self.sides)

    cdef bint is_heavier_left(self) noexcept nogil:
        """Whether the cut that was scored last has at least half of the mass on the left."""
        cdef int64_t gap = 0
        cdef Py_ssize_t k, n = 1 if self.table.criterion == VARIANCE else self.table.n_columns
        for k in range(n):
            gap += self.sides.left[k] - self.sides.right[k]
        return gap >= 0

    cdef Py_ssize_t cut_estimation(self, const PendingNode* node, const Node* cut) noexcept nogil:
        """Partition the estimation points of a node; return how many are left."""
        return self.partition(
            &self.estimation[0] + self.nodes[node.number].first_estimation,
            self.nodes[node.number].n_estimation, cut)

    cdef int cut_node(
        self, const PendingNode* node, const Node* cut, Py_ssize_t left_estimation, double score,
        PendingNode* children
    ) noexcept nogil:
        """Partition the structure points, too, and add the children."""
        cdef Py_ssize_t number = node.number, left_structure = left_estimation
        cdef int32_t child
        cdef int error
        if self.is_honest:
            left_structure = self.partition(
                &self.structure[0] + node.first_structure, node.n_structure, cut)
        error = self.add_children(node, left_structure, left_estimation, score, children)
        if error == 0:
            child = self.nodes[number].node.child
            self.nodes[number].node = cut[0]
            self.nodes[number].node.child = child
        return error
