# SPDX-License-Identifier: BSD-3-Clause
"""Grow a tree whose nodes are slices of lists of rows."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from mrforest._core.data.row_cache cimport (
    RowCache, add_rows, free_row_cache, new_row_cache, use_row_cache, use_whole_table,
)
from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport (
    GrownNode, Limits, PendingNode, TreeBuilder, count_classes_of, larger_of,
)
from mrforest._core.grow.cut_builder cimport CutBuilder
from mrforest._core.grow.partition cimport partition_rows
from mrforest._core.plan cimport BLOCK_POINTS, CHILD_TOTALS, HISTOGRAMS, is_on, joins_copies
from mrforest._core.rules.rule cimport SplitRule
from mrforest._core.score.sorted_block cimport (
    SidesOfCut, enter_node, make_block, mark_sides, partition_block,
)
from mrforest._core.types cimport FAILED, NONE, OUT_OF_MEMORY, VARIANCE, Split, Table, at

cdef enum:
    # The smaller child is taken first, so the points of one that waits are at most half of those
    # of the one that waits before it.
    MOST_PENDING = 64


cdef class RowBuilder(CutBuilder):
    """Nodes are slices of lists of rows. Subtrees grow in a row cache, see row_cache.pxd,
    and small ones in blocks, see block.pxd."""

    cdef bint has_blocks
    cdef int64_t* side_totals           # classes of the left side and of the right; or NULL
    cdef int64_t* known_totals          # of each node that waits, as long as it does
    cdef Table own                      # the table as this tree sees it at the moment
    cdef object copies_buffer         # of the rows in a bag
    cdef RowCache* row_cache               # NULL: all rows fit the cache
    cdef bint is_in_row_cache
    cdef SidesOfCut sides               # of the node of a block that is parted

    def __init__(self, TrainingTable table, structure, estimation, key, Limits limits,
                 SplitRule rule):
        CutBuilder.__init__(self, table, structure, estimation, key, limits, rule)
        cdef Py_ssize_t n = self.most_structure
        self.has_blocks = self.python is None and self.scorer.use_block()
        if self.splitter.use_matrices(NULL) != 0:
            raise MemoryError("no memory to grow a tree")
        if self.is_honest:
            n += self.most_estimation
        if self.python is None:
            self.row_cache = new_row_cache(self.table, n, table.row_cache_bytes)
        if self.counts_points and self.table.criterion != VARIANCE and is_on(CHILD_TOTALS):
            self.make_totals()

    def __dealloc__(self):
        free(self.side_totals)
        free(self.known_totals)
        free_row_cache(self.row_cache)

    cdef void make_totals(self) except *:
        cdef Py_ssize_t size = self.table.n_columns * sizeof(int64_t)
        self.side_totals = <int64_t*> malloc(2 * size)
        self.known_totals = <int64_t*> malloc(MOST_PENDING * size)
        if self.side_totals is NULL or self.known_totals is NULL:
            raise MemoryError("no memory to grow a tree")

    cdef void prepare(self) except *:
        self.own = self.owner.view
        if joins_copies(self.is_honest, self.rule.restricts, self.python is None):
            self.join_copies()
        self.table = self.pool.table = self.scorer.table = &self.own
        self.has_blocks = self.scorer.block is not NULL and self.own.copies is NULL

    cdef void join_copies(self) except *:
        """Let each row of a bag stand once in the list: it is a third shorter then.

        Rules that draw points, or ask how many there are, need them all.
        """
        cdef int32_t[::1] rows = self.structure
        cdef Py_ssize_t i, n = 0
        if self.copies_buffer is None:
            self.copies_buffer = np.empty(self.own.n_rows, dtype=np.int32)
        cdef int32_t[::1] copies = self.copies_buffer
        with nogil:
            memset(&copies[0], 0, copies.shape[0] * sizeof(int32_t))
            for i in range(rows.shape[0]):
                # No branch depends on the row; what is written in vain is written over.
                rows[n] = rows[i]
                n += copies[rows[i]] == 0
                copies[rows[i]] += 1
        if n < rows.shape[0]:
            self.structure = self.estimation = rows[:n]
            self.own.copies = &copies[0]

    cdef void count(self, int histogram, const PendingNode* node) noexcept nogil:
        self.pool.count(
            histogram, &self.structure[0] + node.first_structure, node.n_structure,
            &self.estimation[0] + self.nodes[node.number].first_estimation,
            self.nodes[node.number].n_estimation)

    cdef int start(self, PendingNode* root) noexcept nogil:
        cdef int error = TreeBuilder.start(self, root)
        if error == 0 and self.wants_histogram(root):
            root.histogram = self.pool.take()
            if root.histogram < 0:
                return OUT_OF_MEMORY
            self.count(root.histogram, root)
        return error

    cdef bint wants_histogram(self, const PendingNode* node) noexcept nogil:
        """A histogram of all features serves rules that look at all of them."""
        return (is_on(HISTOGRAMS) and self.rule.looks_at_all and not self.must_stop(node)
                and not self.fits_block(node) and self.pool.is_counted(node.n_structure))

    cdef bint fits_block(self, const PendingNode* node) noexcept nogil:
        return self.has_blocks and node.n_structure <= BLOCK_POINTS

    cdef int pass_histogram_to_children(self, int histogram, PendingNode* children) noexcept nogil:
        """Histograms of the children, counting as few rows as possible.

        Only the smaller child is counted; the larger one is what is left of the parent.
        """
        cdef int smaller = 0 if children[0].n_structure <= children[1].n_structure else 1
        cdef int larger = 1 - smaller, own
        cdef bint smaller_wants = self.wants_histogram(&children[smaller])
        cdef bint larger_wants = self.wants_histogram(&children[larger])
        if histogram == NONE or not (smaller_wants or larger_wants):
            self.pool.release(histogram)
            return 0
        if not larger_wants:
            self.count(histogram, &children[smaller])
            children[smaller].histogram = histogram
            return 0
        own = self.pool.take()
        if own < 0:
            return OUT_OF_MEMORY
        self.count(own, &children[smaller])
        self.pool.subtract(histogram, own)
        children[larger].histogram = histogram
        if smaller_wants:
            children[smaller].histogram = own
        else:
            self.pool.release(own)
        return 0

    cdef int enter_block(self, PendingNode* node) noexcept nogil:
        """Copy a small subtree, unless it is part of one that has been copied."""
        if node.level != NONE or not self.fits_block(node):
            return 0
        node.level = 0
        return make_block(
            self.table, &self.structure[0] + node.first_structure, node.first_structure,
            node.n_structure, self.scorer.block)

    cdef int count_classes(self, const PendingNode* node) noexcept nogil:
        """See `count_totals`."""
        if node.level != NONE:
            return enter_node(
                self.scorer.block, node.first_structure, node.n_structure, node.level,
                self.totals)
        if node.histogram != NONE and self.table.criterion != VARIANCE:
            return self.pool.add_up(node.histogram, self.totals)
        if self.side_totals is NULL or node.number == 0:
            return self.count_totals(node)
        memcpy(self.totals, self.waiting_totals(), self.table.n_columns * sizeof(int64_t))
        return 1  # else it would not have waited

    # ---- what is known of the children ---------------------------------------------------

    # Where all points shape and fill, the classes of the smaller child are counted, and those of
    # the larger one are what is left of the node's. A child of one class is a leaf then and does
    # not wait, and one that waits is not counted again.

    cdef inline int64_t* waiting_totals(self) noexcept nogil:
        """Of the node that waits behind all that wait, or was the last to do so."""
        return self.known_totals + at(self.n_pending, MOST_PENDING) * self.table.n_columns

    cdef Py_ssize_t points_on_left(
        self, const PendingNode* node, Py_ssize_t left_estimation
    ) noexcept nogil:
        cdef const GrownNode* grown = &self.nodes[node.number]
        cdef const int32_t* rows = &self.estimation[0] + grown.first_estimation
        cdef Py_ssize_t n = left_estimation, K = self.table.n_columns, k, points = 0
        cdef int64_t* counted = self.side_totals
        cdef int64_t* others = self.side_totals + K
        if self.side_totals is NULL:
            return TreeBuilder.points_on_left(self, node, left_estimation)
        if 2 * n > grown.n_estimation:
            rows += n
            n = grown.n_estimation - n
            counted, others = others, counted
        count_classes_of(self.table, rows, n, counted)
        for k in range(K):
            others[k] = self.totals[k] - counted[k]
            points += self.side_totals[k]
        return points

    cdef void find_pure(self, const PendingNode* node, PendingNode* children) noexcept nogil:
        """Mark children that are leaves because they have one class."""
        cdef Py_ssize_t k, K = self.table.n_columns
        cdef int on_left = 0, on_right = 0
        if not self.stops_when_pure():
            return
        if node.level != NONE:
            children[0].is_pure = self.sides.any_left == self.sides.all_left
            children[1].is_pure = self.sides.any_right == self.sides.all_right
        elif self.side_totals is not NULL:
            for k in range(K):
                on_left += self.side_totals[k] > 0
                on_right += self.side_totals[K + k] > 0
            children[0].is_pure = on_left == 1
            children[1].is_pure = on_right == 1

    cdef int push_children(self, const PendingNode* children) noexcept nogil:
        cdef Py_ssize_t K = self.table.n_columns
        cdef int error = 0, side = larger_of(children), _child
        if self.side_totals is NULL:
            return TreeBuilder.push_children(self, children)
        for _child in range(2):
            if error == 0 and not self.must_stop(&children[side]):
                memcpy(self.waiting_totals(), self.side_totals + side * K, K * sizeof(int64_t))
                error = self.push(children[side])
            side = 1 - side
        return error

    # ---- one node ------------------------------------------------------------------------

    cdef Py_ssize_t part_structure(
        self, const PendingNode* node, const Split* split
    ) noexcept nogil:
        """Partition the structure points; return how many go left. Those of a block stay where
        they are in the list of the tree, which is not read again, and its lists are partitioned
        when it is known which sides are needed."""
        if node.level == NONE:
            return partition_rows(
                self.table, &self.structure[0] + node.first_structure, node.n_structure,
                split.feature, &split.cut, self.scratch)
        self.sides = mark_sides(
            self.table, self.scorer.block, split.place, node.first_structure, node.n_structure,
            &split.cut)
        return self.sides.n_left

    cdef void part_lists(self, const PendingNode* node, const PendingNode* children) noexcept nogil:
        """Partition the lists of a block, for the children that are split further."""
        if node.level != NONE:
            partition_block(
                self.scorer.block, node.first_structure, node.n_structure, node.level,
                not self.must_stop(&children[0]), not self.must_stop(&children[1]))

    cdef int grow_in_row_cache(self, const PendingNode* node) except FAILED nogil:
        """Grow a subtree with its rows copied together."""
        cdef int32_t* structure = &self.structure[0] + node.first_structure
        cdef int32_t* estimation = (
            &self.estimation[0] + self.nodes[node.number].first_estimation)
        cdef Py_ssize_t n_estimation = self.nodes[node.number].n_estimation
        cdef Py_ssize_t n = add_rows(self.row_cache, self.table, structure, 0, node.n_structure)
        cdef int error
        if self.is_honest:
            n = add_rows(self.row_cache, self.table, estimation, n, n_estimation)
        use_row_cache(self.row_cache, n, &self.own)
        self.is_in_row_cache = True
        error = self.grow_below(node[0])
        self.is_in_row_cache = False
        use_whole_table(self.row_cache, estimation, n_estimation, &self.own)
        return error

    cdef bint fits_row_cache(self, const PendingNode* node) noexcept nogil:
        cdef Py_ssize_t n = node.n_structure
        if self.row_cache is NULL or self.is_in_row_cache:
            return False
        if self.is_honest:
            n += self.nodes[node.number].n_estimation
        return n <= self.row_cache.capacity

    cdef int split(self, PendingNode* node) except FAILED nogil:
        cdef Py_ssize_t number = node.number, first = self.nodes[number].first_estimation
        cdef Py_ssize_t n_estimation = self.nodes[number].n_estimation
        cdef Py_ssize_t left_structure, left_estimation
        cdef PendingNode children[2]
        cdef Split split
        cdef int error
        if self.fits_row_cache(node):
            return self.grow_in_row_cache(node)
        error = self.enter_block(node)
        if error == 0 and (self.count_classes(node) or not self.stops_when_pure()):
            error = self.draw(node, &split)
        if error <= 0:
            self.pool.release(node.histogram)
            return error
        left_estimation = partition_rows(
            self.table, &self.estimation[0] + first, n_estimation, split.feature, &split.cut,
            self.scratch)
        if self.is_refused(node, left_estimation):
            self.pool.release(node.histogram)
            return 0
        left_structure = left_estimation
        if self.is_honest or node.level != NONE:
            left_structure = self.part_structure(node, &split)
        error = self.add_children(
            node, left_structure, left_estimation, split.score, children)
        if error == 0:
            self.write(&self.nodes[number].node, &split)
            self.find_pure(node, children)
            self.part_lists(node, children)
            error = self.pass_histogram_to_children(node.histogram, children)
        return error if error != 0 else self.push_children(children)
