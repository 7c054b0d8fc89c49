# SPDX-License-Identifier: BSD-3-Clause
"""One node: which features, their best scores, and what the rule draws.

    how many ─► which features ─► entries ─► candidates and scores ─► range ─► feature ─► cut
"""

from libc.stdint cimport int32_t

from mrforest._core.rules.rule cimport LEAF
from mrforest._core.score.bit_scores cimport best_of_all, best_of_bits, count_all_bits
from mrforest._core.score.feature_order cimport free_order, make_order, next_feature, put_back
from mrforest._core.score.impurity cimport score_tolerance
from mrforest._core.score.scorer cimport NO_CUT
from mrforest._core.score.sorted_block cimport SortedBlock, find_best
from mrforest._core.types cimport BAD_CHOICE, NONE


cdef class Splitter:
    """Lets a rule split the nodes of one growing tree.

    Parameters
    ----------
    scorer : Scorer
        Of the nodes.
    """

    def __cinit__(self, Scorer scorer):
        cdef Py_ssize_t n_features = scorer.table.n_features
        self.scorer = scorer
        self.rule = scorer.rule
        self.buffers = Buffers()
        self.splittable = <SplittableFeature*> self.buffers.take(
            n_features * sizeof(SplittableFeature))
        self.splittable_columns = <int32_t*> self.buffers.take(n_features * sizeof(int32_t))
        self.best = <double*> self.buffers.take(n_features * sizeof(double))
        self.others = <int32_t*> self.buffers.take(n_features * sizeof(int32_t))
        self.place = <Py_ssize_t*> self.buffers.take(n_features * sizeof(Py_ssize_t))
        if not make_order(&self.order, n_features):
            raise MemoryError("no memory to grow a tree")

    def __dealloc__(self):
        free_order(&self.order)

    cdef int use_matrices(self, BitMatrices* matrices) noexcept nogil:
        """Features without bits, which are all if there are no matrices, may have lists."""
        cdef Py_ssize_t f
        self.scorer.matrices = matrices
        for f in range(self.scorer.table.n_features):
            self.others[self.n_others] = <int32_t> f
            self.n_others += not self.scorer.has_bits(f)
        return self.scorer.use_lists(self.n_others)

    # ---- some features -------------------------------------------------------------------

    cdef bint score_one(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place, Py_ssize_t n_found,
        Draw* draw
    ) noexcept nogil:
        """Whether a feature has a candidate; then it is written to `able` and `best`."""
        cdef double best
        if self.scorer.has_bits(feature):
            best = best_of_bits(self.scorer.matrices, feature)
        elif self.scorer.is_plain_in(node, feature, place):
            best = self.scorer.best_alone(node, feature, place)
        else:
            if self.rule.restricts:
                self.splittable[n_found].before = draw[0]
            best = self.scorer.best_of_cuts(self.scorer.score_feature(node, feature, place, draw))
        return self.add_splittable(feature, place, n_found, best)

    cdef inline bint add_splittable(
        self, Py_ssize_t feature, Py_ssize_t place, Py_ssize_t n_found, double best
    ) noexcept nogil:
        """Write a feature to `able` and `best`, unless it has no cut."""
        self.best[n_found] = best
        self.splittable_columns[n_found] = <int32_t> feature
        self.splittable[n_found].place = place
        return best != NO_CUT

    cdef Py_ssize_t score_drawn(self, const NodeView* node, Draw* draw) noexcept nogil:
        """Look at as many features as the rule wants, and further ones until one has a candidate;
        return how many have."""
        cdef Py_ssize_t n_features = self.scorer.table.n_features
        cdef Py_ssize_t n = self.rule.count_features(n_features, draw), n_drawn = 0, n_found = 0, i
        if n < n_features:
            n_drawn = n
            for i in range(n):
                next_feature(&self.order, i, &draw.stream)
        else:
            n = n_features
        self.scorer.node_histogram.has_rows = False
        self.scorer.is_listed = self.scorer.begin_lists(node)
        self.scorer.count_together(node, self.order.features, n, self.place)
        for i in range(n):
            n_found += self.score_one(node, self.order.features[i], self.place[i], n_found, draw)
        while n_found == 0 and n < n_features:
            next_feature(&self.order, n, &draw.stream)
            self.scorer.count_together(node, self.order.features + n, 1, self.place + n)
            n_found += self.score_one(node, self.order.features[n], self.place[n], n_found, draw)
            n += 1
            n_drawn = n
        put_back(&self.order, n_drawn)
        return n_found

    # ---- in a block ----------------------------------------------------------------------

    cdef Py_ssize_t score_block(self, const NodeView* node, Draw* draw) noexcept nogil:
        """Look at all features; return how many have a candidate: these stay open."""
        cdef SortedBlock* block = self.scorer.block
        cdef const int32_t* above = block.open + node.level * block.n_features
        cdef int32_t* open = block.open + (node.level + 1) * block.n_features
        cdef Py_ssize_t i, n_found = 0
        cdef int32_t number
        self.rule.count_features(self.scorer.table.n_features, draw)
        find_best(block, node.first, node.level)
        for i in range(block.n_open[node.level]):
            number = open[n_found] = above[i]
            if block.is_plain[number]:
                n_found += self.add_splittable(
                    block.feature[number], number, n_found, block.best[i])
            else:
                n_found += self.score_one(node, block.feature[number], number, n_found, draw)
        block.n_open[node.level + 1] = n_found
        return n_found

    # ---- by bits -----------------------------------------------------------------------

    cdef Py_ssize_t score_bit_matrix(self, const NodeView* node, Draw* draw) noexcept nogil:
        """Look at all features; return how many have a candidate."""
        cdef Py_ssize_t f, i = 0, n_found = 0
        self.rule.count_features(self.scorer.table.n_features, draw)
        count_all_bits(self.scorer.matrices)
        if self.n_others == 0:
            return best_of_all(self.scorer.matrices, self.splittable_columns, self.best)
        self.scorer.node_histogram.has_rows = False
        self.scorer.is_listed = self.scorer.begin_lists(node)
        self.scorer.count_together(node, self.others, self.n_others, self.place)
        for f in range(self.scorer.table.n_features):
            if self.scorer.matrices.cut_bits.has_bits[f]:
                n_found += self.add_splittable(
                    f, NONE, n_found, best_of_bits(self.scorer.matrices, f))
            else:
                n_found += self.score_one(node, f, self.place[i], n_found, draw)
                i += 1
        return n_found

    # ---- the node ------------------------------------------------------------------------

    cdef int split(self, NodeView* node, Split* split) noexcept nogil:
        """Let the rule draw a feature and a cut; 0 if the node stays a leaf."""
        cdef Draw draw
        cdef Py_ssize_t n_found, n_cuts, i, chosen
        cdef double highest, tolerance
        cdef SplittableFeature* splittable
        draw.stream = node.stream
        draw.mode = 0
        draw.depth = node.depth
        draw.n_structure = node.n_structure
        draw.n_estimation = node.n_estimation
        draw.totals = node.totals
        draw.features = self.splittable_columns
        if self.scorer.matrices is not NULL and self.rule.looks_at_all:
            n_found = self.score_bit_matrix(node, &draw)
        elif node.level != NONE:
            n_found = self.score_block(node, &draw)
        else:
            n_found = self.score_drawn(node, &draw)
        if n_found == 0:
            return 0

        highest = self.best[0]
        for i in range(1, n_found):
            highest = max(highest, self.best[i])
        tolerance = score_tolerance(self.scorer.table, node.totals, highest)
        chosen = self.rule.choose_feature(
            self.best, n_found, tolerance, self.scorer.work, &draw)
        if not 0 <= chosen < n_found:
            return 0 if chosen == LEAF else BAD_CHOICE
        splittable = &self.splittable[chosen]
        splittable.feature = self.splittable_columns[chosen]
        n_cuts = self.scorer.score_feature(
            node, splittable.feature, splittable.place, &splittable.before)
        draw.features = &splittable.feature
        chosen = self.rule.choose_cut(
            self.scorer.scores, n_cuts, tolerance, self.scorer.work, &draw)
        if not 0 <= chosen < n_cuts:
            return 0 if chosen == LEAF else BAD_CHOICE
        split.feature = splittable.feature
        split.place = splittable.place
        split.cut = self.scorer.cuts[chosen]
        split.score = self.scorer.scores[chosen]
        return 1
