# SPDX-License-Identifier: BSD-3-Clause
"""Grow a tree whose nodes are masks."""

from libc.stdint cimport uint64_t

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport Limits, PendingNode, TreeBuilder, larger_of
from mrforest._core.grow.cut_builder cimport CutBuilder
from mrforest._core.grow.partition cimport part_copies
from mrforest._core.rules.rule cimport SplitRule
from mrforest._core.score.bit_matrix cimport (
    ESTIMATION, STRUCTURE, BitMatrices, enter_matrix, estimation_mask, free_bit_matrices,
    make_first_matrix, new_bit_matrices, partition_mask, write_masks, write_rows_of_mask,
)
from mrforest._core.score.bit_scores cimport count_classes_of_mask, find_pure_sides
from mrforest._core.types cimport FAILED, Split


cdef class BitBuilder(CutBuilder):
    """Nodes are masks, see bit_matrix.pxd. Row numbers are written at leaves only, and where some
    features have no bits."""

    cdef BitMatrices* matrices
    cdef bint needs_rows

    def __init__(self, TrainingTable table, structure, estimation, key, Limits limits,
                 SplitRule rule):
        CutBuilder.__init__(self, table, structure, estimation, key, limits, rule)
        self.needs_rows = not table.cut_bits.is_all
        self.matrices = new_bit_matrices(
            self.table, &table.cut_bits, self.most_structure, self.most_estimation,
            2 if self.is_honest else 1, self.needs_rows,
            limits.min_leaf)
        if self.matrices is NULL:
            raise MemoryError("no memory to grow a tree")
        if self.splitter.use_matrices(self.matrices) != 0:
            raise MemoryError("no memory to grow a tree")

    cdef void prepare(self) except *:
        if self.matrices is not NULL:
            self.matrices.n_items = 0
            self.matrices.top = 0

    def __dealloc__(self):
        free_bit_matrices(self.matrices)

    cdef int start(self, PendingNode* root) noexcept nogil:
        cdef int error = TreeBuilder.start(self, root)
        if error == 0 and not self.must_stop(root):
            root.matrix = 0
            # Lists that ascend can be squeezed, and rows of a bag nearly do.
            part_copies(&self.structure[0], self.structure.shape[0], self.scratch)
            if self.is_honest:
                part_copies(&self.estimation[0], self.estimation.shape[0], self.scratch)
            error = make_first_matrix(
                self.matrices, &self.structure[0], self.structure.shape[0], &self.estimation[0],
                self.estimation.shape[0], &root.mask)
        return error

    cdef void fill_estimation(self, const PendingNode* node, const uint64_t* mask) noexcept nogil:
        write_rows_of_mask(
            self.matrices, self.matrices.n_kinds - 1, mask,
            &self.estimation[0] + self.nodes[node.number].first_estimation)

    cdef int draw_from_matrix(self, PendingNode* node, Split* split) except FAILED nogil:
        """Let the rule draw; 0 if the node stays a leaf."""
        cdef int error = enter_matrix(
            self.matrices, node.matrix, node.mask, node.n_structure,
            self.nodes[node.number].n_estimation)
        if error != 0:
            return error
        node.matrix = self.matrices.matrix
        if not count_classes_of_mask(self.matrices, self.totals) and self.stops_when_pure():
            return 0
        if self.needs_rows:
            write_rows_of_mask(self.matrices, STRUCTURE, self.matrices.mask[STRUCTURE],
                          &self.structure[0] + node.first_structure)
            if self.is_honest:
                self.fill_estimation(node, self.matrices.mask[ESTIMATION])
        return self.draw(node, split)

    cdef int split(self, PendingNode* node) except FAILED nogil:
        cdef Py_ssize_t left[2]
        cdef Py_ssize_t masks[2]
        cdef PendingNode children[2]
        cdef bint is_pure[2]
        cdef Split split
        cdef int error = self.draw_from_matrix(node, &split), side
        if error == 1:
            partition_mask(self.matrices, split.feature, &split.cut, left)
            error = 0 if self.is_refused(node, left[ESTIMATION]) else 1
        if error == 0:
            self.fill_estimation(node, self.matrices.mask[self.matrices.n_kinds - 1])
        if error <= 0:
            return error
        error = self.add_children(node, left[STRUCTURE], left[ESTIMATION], split.score, children)
        if error == 0:
            self.write(&self.nodes[node.number].node, &split)
            find_pure_sides(self.matrices, is_pure)
            error = write_masks(self.matrices, larger_of(children), masks)
        for side in range(2):
            if error == 0:
                children[side].is_pure = is_pure[side] and self.stops_when_pure()
                children[side].mask = masks[side]
                if self.must_stop(&children[side]):
                    self.fill_estimation(
                        &children[side], estimation_mask(self.matrices, masks[side]))
        return error if error != 0 else self.push_children(children)
