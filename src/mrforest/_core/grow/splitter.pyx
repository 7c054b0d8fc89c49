# SPDX-License-Identifier: BSD-3-Clause
"""One node: which features, their best scores, and what the rule draws.

    how many ─► which features ─► entries ─► candidates and scores ─► range ─► feature ─► cut
"""

from libc.stdint cimport int32_t

from mrforest._core.rules.rule cimport LEAF, Draw
from mrforest._core.score.bit_matrix cimport Sheets
from mrforest._core.score.bit_scores cimport best_in_sheet, best_of_all, count_all_slices
from mrforest._core.score.feature_order cimport next_feature, put_back
from mrforest._core.score.impurity cimport score_tolerance
from mrforest._core.score.node_lists cimport new_shortlist
from mrforest._core.score.sorted_block cimport BLOCK_POINTS, Block, find_best, new_block
from mrforest._core.score.workspace cimport NO_CUT
from mrforest._core.types cimport BAD_CHOICE, GINI, NONE, OUT_OF_MEMORY, Table


cdef class Splitter(FeatureScores):
    """Lets a rule split the nodes of one growing tree."""

    # ---- some features -------------------------------------------------------------------

    cdef bint look_at(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place, Py_ssize_t n_able,
        Draw* draw
    ) noexcept nogil:
        """Whether a feature has a candidate; then it is written to `able` and `best`."""
        cdef double best
        if self.is_sliced(feature):
            best = best_in_sheet(self.sheets, feature)
        elif self.is_plain_in(node, feature, place):
            best = self.best_alone(node, feature, place)
        else:
            if self.rule.restricts:
                self.able[n_able].before = draw[0]
            best = self.best_of_cuts(self.score_feature(node, feature, place, draw))
        return self.note(feature, place, n_able, best)

    cdef inline bint note(
        self, Py_ssize_t feature, Py_ssize_t place, Py_ssize_t n_able, double best
    ) noexcept nogil:
        """Write a feature to `able` and `best`, unless it has no cut."""
        self.best[n_able] = best
        self.columns_able[n_able] = <int32_t> feature
        self.able[n_able].place = place
        return best != NO_CUT

    cdef Py_ssize_t look_at_some(self, const NodeView* node, Draw* draw) noexcept nogil:
        """Look at as many features as the rule wants, and further ones until one has a candidate;
        return how many have."""
        cdef Py_ssize_t n_features = self.table.n_features
        cdef Py_ssize_t n = self.rule.count_features(n_features, draw), n_drawn = 0, n_able = 0, i
        if n < n_features:
            n_drawn = n
            for i in range(n):
                next_feature(&self.order, i, &draw.stream)
        else:
            n = n_features
        self.selected.is_told = False
        self.is_listed = self.can_be_listed(node)
        self.look_together(node, self.order.features, n, self.place)
        for i in range(n):
            n_able += self.look_at(node, self.order.features[i], self.place[i], n_able, draw)
        while n_able == 0 and n < n_features:
            next_feature(&self.order, n, &draw.stream)
            self.look_together(node, self.order.features + n, 1, self.place + n)
            n_able += self.look_at(node, self.order.features[n], self.place[n], n_able, draw)
            n += 1
            n_drawn = n
        put_back(&self.order, n_drawn)
        return n_able

    # ---- in a block ----------------------------------------------------------------------

    cdef bint can_use_block(self) noexcept nogil:
        """Whether blocks serve the rule, and there is memory for one."""
        if self.is_plain and self.rule.looks_at_all and self.table.copies is NULL:
            self.block = new_block(self.table)
        return self.block is not NULL

    cdef void set_table(self, const Table* table) noexcept nogil:
        """Grow by another table than the forest's, a tree's own."""
        self.table = table
        self.is_plain = (
            not self.rule.restricts
            and (self.floor == 0 or (self.counts_points and self.floor <= 1))
            and table.criterion == GINI and table.mass is NULL and table.class_weight is NULL)

    cdef int make_lists(self, Sheets* sheets) noexcept nogil:
        """Room for lists of features that are no slices of the sheets, which may be NULL; without
        sheets, rules that look at all features have blocks instead."""
        cdef Py_ssize_t f
        self.sheets = sheets
        for f in range(self.table.n_features):
            self.others[self.n_others] = <int32_t> f
            self.n_others += not self.is_sliced(f)
        if (not self.is_plain or self.n_others == 0 or self.table.n_columns > BLOCK_POINTS
                or (sheets is NULL and self.rule.looks_at_all)):
            return 0
        self.short = new_shortlist(self.n_others)
        return 0 if self.short is not NULL else OUT_OF_MEMORY

    cdef Py_ssize_t look_in_block(self, const NodeView* node, Draw* draw) noexcept nogil:
        """Look at all features; return how many have a candidate: these stay open."""
        cdef Block* block = self.block
        cdef const int32_t* above = block.open + node.level * block.n_features
        cdef int32_t* open = block.open + (node.level + 1) * block.n_features
        cdef Py_ssize_t i, n_able = 0
        cdef int32_t number
        self.rule.count_features(self.table.n_features, draw)
        find_best(block, node.first, node.level)
        for i in range(block.n_open[node.level]):
            number = open[n_able] = above[i]
            if block.is_plain[number]:
                n_able += self.note(block.feature[number], number, n_able, block.best[i])
            else:
                n_able += self.look_at(node, block.feature[number], number, n_able, draw)
        block.n_open[node.level + 1] = n_able
        return n_able

    # ---- in a sheet ----------------------------------------------------------------------

    cdef Py_ssize_t look_in_sheet(self, const NodeView* node, Draw* draw) noexcept nogil:
        """Look at all features; return how many have a candidate."""
        cdef Py_ssize_t f, i = 0, n_able = 0
        self.rule.count_features(self.table.n_features, draw)
        count_all_slices(self.sheets)
        if self.n_others == 0:
            return best_of_all(self.sheets, self.columns_able, self.best)
        self.selected.is_told = False
        self.is_listed = self.can_be_listed(node)
        self.look_together(node, self.others, self.n_others, self.place)
        for f in range(self.table.n_features):
            if self.sheets.slices.is_sliced[f]:
                n_able += self.note(f, NONE, n_able, best_in_sheet(self.sheets, f))
            else:
                n_able += self.look_at(node, f, self.place[i], n_able, draw)
                i += 1
        return n_able

    # ---- the node ------------------------------------------------------------------------

    cdef int split(self, NodeView* node, Split* split) noexcept nogil:
        """Let the rule draw a feature and a cut; 0 if the node stays a leaf."""
        cdef Draw draw
        cdef Py_ssize_t n_able, n_cuts, i, chosen
        cdef double highest, tolerance
        cdef Able* able
        draw.stream = node.stream
        draw.mode = 0
        draw.depth = node.depth
        draw.n_structure = node.n_structure
        draw.n_estimation = node.n_estimation
        draw.totals = node.totals
        draw.features = self.columns_able
        if self.sheets is not NULL and self.rule.looks_at_all:
            n_able = self.look_in_sheet(node, &draw)
        elif node.level != NONE:
            n_able = self.look_in_block(node, &draw)
        else:
            n_able = self.look_at_some(node, &draw)
        if n_able == 0:
            return 0

        highest = self.best[0]
        for i in range(1, n_able):
            highest = max(highest, self.best[i])
        tolerance = score_tolerance(self.table, node.totals, highest)
        chosen = self.rule.choose_feature(self.best, n_able, tolerance, self.work, &draw)
        if not 0 <= chosen < n_able:
            return 0 if chosen == LEAF else BAD_CHOICE
        able = &self.able[chosen]
        able.feature = self.columns_able[chosen]
        n_cuts = self.score_feature(node, able.feature, able.place, &able.before)
        draw.features = &able.feature
        chosen = self.rule.choose_cut(self.scores, n_cuts, tolerance, self.work, &draw)
        if not 0 <= chosen < n_cuts:
            return 0 if chosen == LEAF else BAD_CHOICE
        split.feature = able.feature
        split.place = able.place
        split.cut = self.cuts[chosen]
        split.score = self.scores[chosen]
        return 1
