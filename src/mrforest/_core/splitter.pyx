# SPDX-License-Identifier: BSD-3-Clause
"""One node: which features, their entries, their candidates, and what the rule draws.

    how many ─► which features ─► entries ─► candidates and scores ─► range ─► feature ─► cut
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from mrforest._core.block cimport (
    BLOCK_POINTS, NOT_IN_BLOCK, Block, block_entries, cuts_in_block, find_best, free_block,
    new_block,
)
from mrforest._core.candidates cimport Feature, score_cuts
from mrforest._core.growth cimport BAD_CHOICE, OUT_OF_MEMORY
from mrforest._core.histogram cimport (
    counted_entries, counted_points, sorted_entries, sorted_points,
)
from mrforest._core.impurity cimport score_tolerance
from mrforest._core.lists cimport PlainCuts
from mrforest._core.order cimport free_order, make_order, next_feature, put_back
from mrforest._core.pool cimport NO_HISTOGRAM, HistogramPool
from mrforest._core.rule cimport (
    LEAF, Draw, Points, Range, SplitRule, is_empty, is_in_range,
)
from mrforest._core.selected cimport (
    Selected, count_selected, count_selected_points, free_selected, new_selected, select_feature,
    select_none,
)
from mrforest._core.sheet_cuts cimport (
    best_in_sheet, best_of_all, count_all_slices, count_slices_of, cuts_in_sheet,
)
from mrforest._core.shortlist cimport (
    add_short, cuts_in_short, enter_short, find_best_short, free_shortlist, new_shortlist,
)
from mrforest._core.table cimport TrainingTable
from mrforest._core.types cimport GINI, Cut, Entry, Table

cdef extern from "lists.h" nogil:
    double mrforest_best_in_bins(
        const int32_t* counts, Py_ssize_t n_bins, Py_ssize_t stride, Py_ssize_t n_classes,
        const int64_t* totals, int32_t* work, int64_t* left, int64_t* right)
    Py_ssize_t mrforest_cuts_in_bins(
        const int32_t* counts, Py_ssize_t n_bins, Py_ssize_t stride, Py_ssize_t n_classes,
        const int64_t* totals, int64_t* left, PlainCuts cuts)

cdef double NO_CUT = -INFINITY  # instead of a score


cdef class Splitter:
    """Work space for the nodes of one growing tree.

    Parameters
    ----------
    table : TrainingTable
    rule : SplitRule
    pool : HistogramPool
    n_structure, n_estimation : int
        Points of the tree.
    floor : int
        Estimation points that each side of a cut must keep; 0: none.
    counts_points : bool
        Whether class counts are counts of estimation points.
    """

    def __cinit__(self, TrainingTable table, SplitRule rule, HistogramPool pool,
                  Py_ssize_t n_structure, Py_ssize_t n_estimation, int64_t floor,
                  bint counts_points):
        self.table = &table.view
        self.rule = rule
        self.pool = pool
        self.floor = floor
        self.counts_points = counts_points
        cdef Py_ssize_t longest = max(n_structure, n_estimation) + 1
        cdef Py_ssize_t n_cuts = 2 * n_structure + 2
        cdef Py_ssize_t n_features = self.table.n_features, n_columns = self.table.n_columns
        cdef Py_ssize_t n_categories = 1 + max(
            [n for n, c in zip(table.n_bins, table.is_categorical) if c], default=0)
        self.entries = <Entry*> malloc((2 * n_structure + 1) * sizeof(Entry))
        self.points = <Entry*> malloc((n_estimation + 1) * sizeof(Entry))
        self.keys = <uint64_t*> malloc(longest * sizeof(uint64_t))
        self.more_keys = <uint64_t*> malloc(longest * sizeof(uint64_t))
        self.scores = <double*> malloc(n_cuts * sizeof(double))
        self.cuts = <Cut*> malloc(n_cuts * sizeof(Cut))
        self.work = <double*> malloc(max(n_cuts, n_features) * sizeof(double))
        self.sides.left = <int64_t*> malloc(n_columns * sizeof(int64_t))
        self.sides.right = <int64_t*> malloc(n_columns * sizeof(int64_t))
        self.lefts = <int32_t*> malloc(n_cuts * sizeof(int32_t))
        self.cut_bins = <int32_t*> malloc(n_cuts * sizeof(int32_t))
        self.bins_work = <int32_t*> malloc(257 * n_columns * sizeof(int32_t))
        self.marks = <uint8_t*> malloc(n_structure + 1)
        self.categories = <uint8_t*> malloc(n_categories)
        self.able = <Able*> malloc(n_features * sizeof(Able))
        self.columns_able = <int32_t*> malloc(n_features * sizeof(int32_t))
        self.best = <double*> malloc(n_features * sizeof(double))
        self.no_cut = <Slice*> malloc(n_features * sizeof(Slice))
        self.others = <int32_t*> malloc(n_features * sizeof(int32_t))
        self.place = <Py_ssize_t*> malloc(n_features * sizeof(Py_ssize_t))
        self.selected = new_selected(self.table, n_structure)
        if (self.entries is NULL or self.points is NULL or self.keys is NULL
                or self.more_keys is NULL or self.scores is NULL or self.cuts is NULL
                or self.work is NULL or self.sides.left is NULL or self.sides.right is NULL
                or self.lefts is NULL or self.cut_bins is NULL or self.bins_work is NULL
                or self.marks is NULL or self.categories is NULL or self.able is NULL
                or self.columns_able is NULL or self.best is NULL or self.no_cut is NULL
                or self.others is NULL
                or self.place is NULL or self.selected is NULL
                or not make_order(&self.order, n_features)):
            raise MemoryError("no memory to grow a tree")
        memset(self.marks, 0, n_structure + 1)
        memset(self.no_cut, 0, n_features * sizeof(Slice))

    def __dealloc__(self):
        free_block(self.block)
        free_shortlist(self.short)
        free(self.entries)
        free(self.points)
        free(self.keys)
        free(self.more_keys)
        free(self.scores)
        free(self.cuts)
        free(self.work)
        free(self.sides.left)
        free(self.sides.right)
        free(self.lefts)
        free(self.cut_bins)
        free(self.bins_work)
        free(self.marks)
        free(self.categories)
        free_order(&self.order)
        free(self.able)
        free(self.columns_able)
        free(self.best)
        free(self.no_cut)
        free(self.others)
        free(self.place)
        free_selected(self.selected)

    # ---- features without a candidate ----------------------------------------------------

    # A feature that is constant in a node is so in all nodes below it. If E is S, the floor
    # cannot allow below what it refuses here: the sides of a cut only lose points. The slices of
    # the nodes below lie in the node's slice, and a tree grows depth first, so the latest slice
    # of a feature is enough to know.

    cdef inline bint has_no_cut(self, const NodeView* node, Py_ssize_t feature) noexcept nogil:
        """Whether a feature is known to have no candidate in a node."""
        cdef const Slice* known = &self.no_cut[feature]
        return known.first <= node.structure and node.structure + node.n_structure <= known.end

    cdef inline void set_no_cut(self, const NodeView* node, Py_ssize_t feature) noexcept nogil:
        self.no_cut[feature].first = node.structure
        self.no_cut[feature].end = node.structure + node.n_structure

    # ---- counting ------------------------------------------------------------------------

    cdef inline bint is_sliced(self, Py_ssize_t feature) noexcept nogil:
        return self.sheets is not NULL and self.sheets.slices.is_sliced[feature]

    cdef void look_together(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, Py_ssize_t* place
    ) noexcept nogil:
        """Count or list features together, if they are not counted yet and it pays."""
        cdef Selected* selected = self.selected
        cdef Py_ssize_t i
        if self.sheets is not NULL and not self.rule.looks_at_all:
            count_slices_of(self.sheets, features, n)
        for i in range(n):
            place[i] = NOT_COUNTED
        if self.is_listed:
            self.list_together(node, features, n, place)
        elif node.histogram == NO_HISTOGRAM:
            select_none(selected)
            for i in range(n):
                if not (self.is_sliced(features[i]) or self.has_no_cut(node, features[i])):
                    place[i] = select_feature(selected, self.table, features[i])
            if not count_selected(selected, self.table, node.structure, node.n_structure):
                for i in range(n):
                    place[i] = NOT_COUNTED
            elif self.floor > 0 and not self.counts_points:
                count_selected_points(
                    selected, self.table, node.estimation, node.n_estimation)

    cdef void list_together(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, Py_ssize_t* place
    ) noexcept nogil:
        """Make lists of features, and ask for their best scores."""
        cdef Py_ssize_t i
        self.short.n = 0
        for i in range(n):
            if not (self.is_sliced(features[i]) or self.table.is_categorical[features[i]]
                    or self.has_no_cut(node, features[i])):
                if add_short(self.short, self.table, features[i]):
                    place[i] = self.short.n - 1
        find_best_short(self.short)

    cdef bint can_be_listed(self, const NodeView* node) noexcept nogil:
        """Whether lists of the node's points are made; then they are begun."""
        return (
            self.short is not NULL and node.histogram == NO_HISTOGRAM
            and node.n_structure <= BLOCK_POINTS
            and enter_short(
                self.short, self.table, node.structure, node.n_structure, node.totals))

    # ---- one feature ---------------------------------------------------------------------

    cdef Py_ssize_t write_entries(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place
    ) noexcept nogil:
        """Entries of the structure points; return how many."""
        if node.level != NOT_IN_BLOCK:
            return block_entries(
                self.table, self.block, place, node.first, node.n_structure, self.entries)
        if place != NOT_COUNTED:
            return counted_entries(
                self.table, self.selected.columns, self.selected.slot[place], feature,
                self.entries)
        if node.histogram != NO_HISTOGRAM:
            return counted_entries(
                self.table, self.pool.items[node.histogram].columns, self.table.slot[feature],
                feature, self.entries)
        return sorted_entries(
            self.table, node.structure, node.n_structure, feature, self.keys, self.more_keys,
            self.entries)

    cdef Py_ssize_t write_points(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place
    ) noexcept nogil:
        """The same of the estimation points."""
        if place != NOT_COUNTED:
            return counted_points(
                self.table, self.selected.points, self.selected.slot[place], feature,
                self.points)
        if node.histogram != NO_HISTOGRAM:
            return counted_points(
                self.table, self.pool.items[node.histogram].points, self.table.slot[feature],
                feature, self.points)
        return sorted_points(
            self.table, node.estimation, node.n_estimation, feature, self.keys,
            self.more_keys, self.points)

    cdef Py_ssize_t score_feature(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place, Draw* draw
    ) noexcept nogil:
        """Fill scores and cuts with the candidates of a feature; return how many."""
        cdef Feature view
        cdef Range range_
        cdef Py_ssize_t n
        if self.rule.restricts:
            self.draw_range(node, feature, &range_, draw)
            if is_empty(&range_, self.table.is_categorical[feature]):
                return 0
        if self.is_sliced(feature):
            return cuts_in_sheet(self.sheets, feature, self.scores, self.cuts)
        if self.has_no_cut(node, feature):
            return 0
        if self.is_plain_in(node, feature, place):
            return self.score_plain(node, feature, place)
        view.index = feature
        view.entries = self.entries
        view.points = self.points
        view.n_points = 0
        view.floor = self.floor
        view.counts_points = self.counts_points
        view.n_entries = self.write_entries(node, feature, place)
        if (view.n_entries == 0
                or self.entries[0].bin == self.entries[view.n_entries - 1].bin):
            self.set_no_cut(node, feature)
            return 0
        if self.floor > 0 and not self.counts_points:
            view.n_points = self.write_points(node, feature, place)
        n = score_cuts(self.table, &view, node.totals, &self.sides, self.scores, self.cuts)
        if n == 0 and self.counts_points:
            self.set_no_cut(node, feature)
        return self.keep_in_range(&range_, feature, n) if self.rule.restricts else n

    cdef void draw_range(
        self, const NodeView* node, Py_ssize_t feature, Range* range_, Draw* draw
    ) noexcept nogil:
        """Let the rule say which candidates of a feature it looks at."""
        cdef Points points
        points.table = self.table
        points.rows = node.structure
        points.n = node.n_structure
        points.marks = self.marks
        range_.is_all = True
        range_.categories = self.categories
        if self.table.is_categorical[feature]:
            memset(self.categories, 0, self.table.n_bins[feature])
        self.rule.restrict_cuts(&points, feature, range_, draw)

    cdef Py_ssize_t keep_in_range(
        self, const Range* range_, Py_ssize_t feature, Py_ssize_t n
    ) noexcept nogil:
        """Leave those candidates that the rule looks at; return how many."""
        cdef Py_ssize_t i, kept = 0
        if range_.is_all:
            return n
        for i in range(n):
            if is_in_range(range_, &self.cuts[i], self.table.n_bins[feature]):
                self.scores[kept] = self.scores[i]
                self.cuts[kept] = self.cuts[i]
                kept += 1
        return kept

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

    cdef double best_of_cuts(self, Py_ssize_t n_cuts) noexcept nogil:
        cdef Py_ssize_t i
        cdef double best = self.scores[0] if n_cuts > 0 else NO_CUT
        for i in range(1, n_cuts):
            best = max(best, self.scores[i])
        return best

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

    # ---- the best score alone ------------------------------------------------------------

    # Of most features a rule wants to know no more. There are kernels for the Gini score of points
    # that count one each, of features that are numeric and nowhere missing.

    cdef inline const int32_t* bins_of(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place
    ) noexcept nogil:
        """Class counts of a feature, classes x bins; NULL: it is not counted."""
        if place != NOT_COUNTED and not self.is_listed:
            return (<const int32_t*> self.selected.columns
                    + self.selected.slot[place] * self.table.n_columns)
        if node.histogram == NO_HISTOGRAM:
            return NULL
        return (<const int32_t*> self.pool.items[node.histogram].columns
                + self.table.slot[feature] * self.table.n_columns)

    cdef bint is_plain_in(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place
    ) noexcept nogil:
        """Whether there is a kernel for a feature of a node."""
        cdef Py_ssize_t k, missing = self.table.n_bins[feature]
        cdef const int32_t* bins
        if node.level != NOT_IN_BLOCK:
            return self.block.is_plain[place] and self.block.n_slices[place] == 0
        if self.is_listed:
            return place != NOT_COUNTED
        if not self.is_plain or self.table.is_categorical[feature]:
            return False
        bins = self.bins_of(node, feature, place)
        if bins is NULL:
            return False
        for k in range(self.table.n_columns):
            if bins[k * (missing + 1) + missing] != 0:
                return False
        return True

    cdef double best_alone(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place
    ) noexcept nogil:
        """The best score of the cuts of such a feature, or NO_CUT."""
        cdef Py_ssize_t n_bins = self.table.n_bins[feature]
        cdef double best
        if self.has_no_cut(node, feature):
            return NO_CUT
        if self.is_listed:
            best = self.short.best[place]
        else:
            best = mrforest_best_in_bins(
                self.bins_of(node, feature, place), n_bins, n_bins + 1, self.table.n_columns,
                node.totals, self.bins_work, self.sides.left, self.sides.right)
        if best == NO_CUT:
            self.set_no_cut(node, feature)
        return best

    cdef Py_ssize_t score_plain(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place
    ) noexcept nogil:
        """Fill scores and cuts with all candidates of such a feature; return how many."""
        cdef PlainCuts plain
        cdef Py_ssize_t n, i, k, n_bins = self.table.n_bins[feature]
        cdef int64_t n_points = 0
        for k in range(self.table.n_columns):
            n_points += node.totals[k]
        plain.of_left = self.scores
        plain.of_right = self.work
        plain.n_left = self.lefts
        plain.bin = self.cut_bins
        if node.level != NOT_IN_BLOCK:
            n = cuts_in_block(self.block, place, node.first, plain)
        elif self.is_listed:
            n = cuts_in_short(self.short, place, plain)
        else:
            n = mrforest_cuts_in_bins(
                self.bins_of(node, feature, place), n_bins, n_bins + 1, self.table.n_columns,
                node.totals, self.sides.left, plain)
        for i in range(n):
            self.cuts[i].bin = plain.bin[i]
            self.cuts[i].is_equality = False
            self.cuts[i].missing_left = 2 * plain.n_left[i] >= n_points
        return n

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
            if self.is_sliced(f):
                n_able += self.note(f, NOT_COUNTED, n_able, best_in_sheet(self.sheets, f))
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
        elif node.level != NOT_IN_BLOCK:
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
