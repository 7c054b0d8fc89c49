# SPDX-License-Identifier: BSD-3-Clause
"""One feature of a node: its entries, its candidates and their scores, or the best score alone."""

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.kernels.dispatch cimport PlainCuts, kernels
from mrforest._core.plan cimport (
    BLOCKS, BLOCK_POINTS, CELLS_PER_CODE, HISTOGRAMS, LARGEST_HISTOGRAM, NODE_HISTOGRAMS,
    can_use_blocks, can_use_node_lists, has_plain_points, is_on,
)
from mrforest._core.rules.rule cimport Points, is_empty, is_in_range
from mrforest._core.score.bit_scores cimport count_bits_of, cuts_of_bits
from mrforest._core.score.histogram cimport (
    counted_entries, counted_points, sorted_entries, sorted_points,
)
from mrforest._core.score.node_histogram cimport (
    count_node_histogram, count_node_histogram_points, free_node_histogram, new_node_histogram,
    select_feature, select_none,
)
from mrforest._core.score.node_lists cimport (
    add_node_list, cuts_in_node_list, enter_node_lists, find_best_in_node_lists, free_node_lists,
    new_node_lists,
)
from mrforest._core.score.sorted_block cimport block_entries, cuts_in_block, free_block, new_block
from mrforest._core.score.sweep cimport Feature, score_cuts
from mrforest._core.types cimport NONE, OUT_OF_MEMORY


cdef Py_ssize_t most_bins(const Table* table) noexcept nogil:
    """Bins of a feature, that of missing values among them, at most."""
    cdef Py_ssize_t f, most = 0
    for f in range(table.n_features):
        most = max(most, table.n_bins[f] + 1)
    return most


cdef Py_ssize_t most_sorted(const Table* table) noexcept nogil:
    """Points of a node that may be sorted, not counted, at most; see `counting_pays`.

    Counting pays for any features together if it does for the one that has most bins.
    """
    cdef Py_ssize_t n_cells = most_bins(table) * table.n_columns
    if (table.slot[table.n_features] * table.n_columns > LARGEST_HISTOGRAM
            or not is_on(HISTOGRAMS) or not is_on(NODE_HISTOGRAMS)):
        return INT64_MAX
    return max(n_cells // CELLS_PER_CODE + 1, BLOCK_POINTS)


cdef class Scorer:
    """Scores the nodes of one growing tree, one after the other.

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
    sorts_any : bool
        Whether nodes are sorted where counting would pay, too.
    """

    def __cinit__(self, TrainingTable table, SplitRule rule, HistogramPool pool,
                  Py_ssize_t n_structure, Py_ssize_t n_estimation, int64_t floor,
                  bint counts_points, bint sorts_any):
        self.buffers = Buffers()
        self.table = &table.view
        self.rule = rule
        self.pool = pool
        self.floor = floor
        self.counts_points = counts_points
        # Estimation points are looked at feature by feature for a floor that nothing else tells.
        cdef Py_ssize_t n_points = n_estimation if floor > 0 and not counts_points else 0
        cdef Py_ssize_t n_sorted = n_structure
        if not sorts_any:
            n_sorted = min(n_structure, most_sorted(self.table))
        cdef Py_ssize_t longest = max(n_sorted, n_points) + 1
        cdef Py_ssize_t of_point = 1 if self.table.moment is NULL else 2
        cdef Py_ssize_t n_entries = of_point * max(n_sorted, min(
            n_structure, most_bins(self.table) * self.table.n_columns))
        # Between the bins that have points, with missing values on either side, and these alone
        cdef Py_ssize_t n_cuts = 2 * min(n_structure, most_bins(self.table)) + 2
        cdef Py_ssize_t n_features = self.table.n_features, n_columns = self.table.n_columns
        cdef Py_ssize_t n_categories = 1 + max(
            [n for n, c in zip(table.n_bins, table.is_categorical) if c], default=0)
        cdef Buffers buffers = self.buffers
        self.entries = <Entry*> buffers.take((n_entries + 1) * sizeof(Entry))
        self.points = <Entry*> buffers.take((n_points + 1) * sizeof(Entry))
        self.keys = <uint64_t*> buffers.take(longest * sizeof(uint64_t))
        self.more_keys = <uint64_t*> buffers.take(longest * sizeof(uint64_t))
        self.scores = <double*> buffers.take(n_cuts * sizeof(double))
        self.cuts = <Cut*> buffers.take(n_cuts * sizeof(Cut))
        self.work = <double*> buffers.take(max(n_cuts, n_features) * sizeof(double))
        self.sides.left = <int64_t*> buffers.take(n_columns * sizeof(int64_t))
        self.sides.right = <int64_t*> buffers.take(n_columns * sizeof(int64_t))
        self.lefts = <int32_t*> buffers.take(n_cuts * sizeof(int32_t))
        self.cut_bins = <int32_t*> buffers.take(n_cuts * sizeof(int32_t))
        self.bins_work = <int64_t*> buffers.take(129 * n_columns * sizeof(int64_t))
        self.best_in_bins = <double*> buffers.take(n_features * sizeof(double))
        self.same_width = <int32_t*> buffers.take(n_features * sizeof(int32_t))
        self.bins_of_same_width = <const int32_t**> buffers.take(n_features * sizeof(int32_t*))
        self.categories = <uint8_t*> buffers.take(n_categories)
        self.no_cut = <RowSpan*> buffers.take(n_features * sizeof(RowSpan))
        self.mark_up_to(n_structure if rule.restricts else 0)
        self.node_histogram = new_node_histogram(self.table, n_structure)
        if self.node_histogram is NULL:
            raise MemoryError("no memory to grow a tree")
        self.set_table(self.table)
        self.forget_nodes()

    def __dealloc__(self):
        free_block(self.block)
        free_node_lists(self.node_lists)
        free_node_histogram(self.node_histogram)
        free(self.marks)

    cdef void set_table(self, const Table* table) noexcept nogil:
        """Score rows of another table than the forest's, a tree's own."""
        self.table = table
        self.is_plain = (
            not self.rule.restricts
            and (self.floor == 0 or (self.counts_points and self.floor <= 1))
            and has_plain_points(table))

    cdef void mark_up_to(self, Py_ssize_t n) except *:
        """A rule that restricts cuts may mark so many points."""
        if self.marks is NULL or n > self.n_marks:
            free(self.marks)
            self.n_marks = 0
            self.marks = <uint8_t*> calloc(n + 1, 1)
            if self.marks is NULL:
                raise MemoryError("no memory to grow a tree")
            self.n_marks = n

    cdef bint use_block(self) noexcept nogil:
        """Keep small subtrees in a block, if that serves the rule and there is memory."""
        if can_use_blocks(self.is_plain, self.rule.looks_at_all, self.table.copies is not NULL):
            self.block = new_block(self.table)
        return self.block is not NULL

    cdef int use_lists(self, Py_ssize_t n_lists) noexcept nogil:
        """Keep small nodes as lists of up to so many features, if that serves the rule. Without
        bits, rules that look at all features have blocks instead."""
        if n_lists == 0 or not can_use_node_lists(
                self.is_plain, self.table.n_columns,
                self.matrices is NULL and self.rule.looks_at_all and is_on(BLOCKS)):
            return 0
        self.node_lists = new_node_lists(n_lists)
        return 0 if self.node_lists is not NULL else OUT_OF_MEMORY

    # ---- features without a candidate ----------------------------------------------------

    # A feature that is constant in a node is so in all nodes below it. If E is S, the floor
    # cannot allow below what it refuses here: the sides of a cut only lose points. The slices of
    # the nodes below lie in the node's slice, and a tree grows depth first, so the latest slice
    # of a feature is enough to know.

    cdef inline bint has_no_cut(self, const NodeView* node, Py_ssize_t feature) noexcept nogil:
        """Whether a feature is known to have no candidate in a node."""
        cdef const RowSpan* known = &self.no_cut[feature]
        return known.first <= node.structure and node.structure + node.n_structure <= known.end

    cdef void forget_nodes(self) noexcept nogil:
        """Rows of the next tree may lie where those of the last one did."""
        memset(self.no_cut, 0, self.table.n_features * sizeof(RowSpan))

    cdef inline void set_no_cut(self, const NodeView* node, Py_ssize_t feature) noexcept nogil:
        self.no_cut[feature].first = node.structure
        self.no_cut[feature].end = node.structure + node.n_structure

    # ---- counting ------------------------------------------------------------------------

    cdef inline bint has_bits(self, Py_ssize_t feature) noexcept nogil:
        return self.matrices is not NULL and self.matrices.cut_bits.has_bits[feature]

    cdef void count_together(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, Py_ssize_t* place
    ) noexcept nogil:
        """Count or list features together, if they are not counted yet and it pays."""
        cdef NodeHistogram* node_histogram = self.node_histogram
        cdef Py_ssize_t i
        if self.matrices is not NULL and not self.rule.looks_at_all:
            count_bits_of(self.matrices, features, n)
        for i in range(n):
            place[i] = NONE
        if self.is_listed:
            self.list_together(node, features, n, place)
        elif node.histogram == NONE:
            select_none(node_histogram)
            for i in range(n):
                if not (self.has_bits(features[i]) or self.has_no_cut(node, features[i])):
                    place[i] = select_feature(node_histogram, self.table, features[i])
            if not count_node_histogram(
                    node_histogram, self.table, node.structure, node.n_structure):
                for i in range(n):
                    place[i] = NONE
            elif self.floor > 0 and not self.counts_points:
                count_node_histogram_points(
                    node_histogram, self.table, node.estimation, node.n_estimation)
        if self.is_plain and not self.is_listed:
            self.find_best_in_bins(node, features, n, place)

    cdef void list_together(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, Py_ssize_t* place
    ) noexcept nogil:
        """Make lists of features, and ask for their best scores."""
        cdef Py_ssize_t i
        self.node_lists.n = 0
        for i in range(n):
            if not (self.has_bits(features[i]) or self.table.is_categorical[features[i]]
                    or self.has_no_cut(node, features[i])):
                if add_node_list(self.node_lists, self.table, features[i]):
                    place[i] = self.node_lists.n - 1
        find_best_in_node_lists(self.node_lists)

    cdef bint begin_lists(self, const NodeView* node) noexcept nogil:
        """Whether lists of the node's points are made; then they are begun."""
        return (
            self.node_lists is not NULL and node.histogram == NONE
            and node.n_structure <= BLOCK_POINTS
            and enter_node_lists(
                self.node_lists, self.table, node.structure, node.n_structure, node.totals))

    # ---- one feature ---------------------------------------------------------------------

    cdef Py_ssize_t write_entries(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place
    ) noexcept nogil:
        """Entries of the structure points; return how many."""
        if node.level != NONE:
            return block_entries(
                self.table, self.block, place, node.first, node.n_structure, self.entries)
        if place != NONE:
            return counted_entries(
                self.table, self.node_histogram.columns, self.node_histogram.slot[place], feature,
                self.entries)
        if node.histogram != NONE:
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
        if place != NONE:
            return counted_points(
                self.table, self.node_histogram.points, self.node_histogram.slot[place], feature,
                self.points)
        if node.histogram != NONE:
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
        if self.has_bits(feature):
            return cuts_of_bits(self.matrices, feature, self.scores, self.cuts)
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
        points.remote_points = self.remote_points
        if self.remote_points is not NULL:
            # The feature that is chosen comes once more, behind all others.
            self.remote_points.order[self.remote_points.n_order % self.table.n_features] = (
                <int32_t> feature)
            self.remote_points.n_order += 1
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

    cdef double best_of_cuts(self, Py_ssize_t n_cuts) noexcept nogil:
        cdef Py_ssize_t i
        cdef double best = self.scores[0] if n_cuts > 0 else NO_CUT
        for i in range(1, n_cuts):
            best = max(best, self.scores[i])
        return best

    # ---- the best score alone ------------------------------------------------------------

    # Of most features a rule wants to know no more. There are kernels for the Gini score of points
    # that count one each, of features that are numeric and nowhere missing.

    cdef inline const int32_t* bins_of(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place
    ) noexcept nogil:
        """Class counts of a feature, classes x bins; NULL: it is not counted."""
        if place != NONE and not self.is_listed:
            return (<const int32_t*> self.node_histogram.columns
                    + self.node_histogram.slot[place] * self.table.n_columns)
        if node.histogram == NONE:
            return NULL
        return (<const int32_t*> self.pool.items[node.histogram].columns
                + self.table.slot[feature] * self.table.n_columns)

    cdef bint is_plain_in(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place
    ) noexcept nogil:
        """Whether there is a kernel for a feature of a node."""
        cdef Py_ssize_t k, missing = self.table.n_bins[feature]
        cdef const int32_t* bins
        if node.level != NONE:
            return self.block.is_plain[place]
        if self.is_listed:
            return place != NONE
        if not self.is_plain or self.table.is_categorical[feature]:
            return False
        bins = self.bins_of(node, feature, place)
        if bins is NULL:
            return False
        for k in range(self.table.n_columns):
            if bins[k * (missing + 1) + missing] != 0:
                return False
        return True

    cdef void find_best_in_bins(
        self, const NodeView* node, const int32_t* features, Py_ssize_t n, const Py_ssize_t* place
    ) noexcept nogil:
        """The best scores of such features that are counted; neighbours of equally many bins are
        looked at together."""
        cdef Py_ssize_t i, n_same_width = 0
        cdef int32_t feature
        for i in range(n):
            feature = features[i]
            if (self.has_bits(feature) or self.has_no_cut(node, feature)
                    or not self.is_plain_in(node, feature, place[i])):
                continue
            if (n_same_width > 0
                    and self.table.n_bins[feature] != self.table.n_bins[self.same_width[0]]):
                self.find_best_of_same_width(node, n_same_width)
                n_same_width = 0
            self.same_width[n_same_width] = feature
            self.bins_of_same_width[n_same_width] = self.bins_of(node, feature, place[i])
            n_same_width += 1
        if n_same_width > 0:
            self.find_best_of_same_width(node, n_same_width)

    cdef void find_best_of_same_width(self, const NodeView* node, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i, n_bins = self.table.n_bins[self.same_width[0]]
        kernels.best_in_bins(
            self.bins_of_same_width, n, n_bins, n_bins + 1, self.table.n_columns, node.totals,
            self.bins_work, self.work)
        for i in range(n):
            self.best_in_bins[self.same_width[i]] = self.work[i]

    cdef double best_alone(
        self, const NodeView* node, Py_ssize_t feature, Py_ssize_t place
    ) noexcept nogil:
        """The best score of the cuts of such a feature, or NO_CUT."""
        cdef double best
        if self.has_no_cut(node, feature):
            return NO_CUT
        best = self.node_lists.best[place] if self.is_listed else self.best_in_bins[feature]
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
        if node.level != NONE:
            n = cuts_in_block(self.block, place, node.first, plain)
        elif self.is_listed:
            n = cuts_in_node_list(self.node_lists, place, plain)
        else:
            n = kernels.cuts_in_bins(
                self.bins_of(node, feature, place), n_bins, n_bins + 1, self.table.n_columns,
                node.totals, self.bins_work, plain)
        for i in range(n):
            self.cuts[i].bin = plain.bin[i]
            self.cuts[i].is_equality = False
            self.cuts[i].missing_left = 2 * plain.n_left[i] >= n_points
        return n
