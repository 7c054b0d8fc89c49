# SPDX-License-Identifier: BSD-3-Clause
"""Let a rule split a node by the scores of some of its points.

    features in random order ─► candidates and scores ─► enough features have one? ─► feature ─► cut

A feature that has no candidate does not count towards the features that the rule asks for.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from mrforest._core.kernels.dispatch cimport (
    EQUALITY, LEAST_FEATURES_AT_ONCE, MOST_CLASSES_AT_ONCE, MOST_CODES, MOST_CODES_AT_ONCE,
    MOST_POINTS_AT_ONCE, ORDER, ORDER_AND_EQUALITY, CutKind, PlainCuts, kernels,
)
from mrforest._core.plan cimport SAMPLE_COUNTS, SAMPLE_HISTOGRAMS, SAMPLE_LISTS, is_on
from mrforest._core.score.feature_order cimport free_order, make_order, next_feature, put_back
from mrforest._core.score.impurity cimport score_tolerance
from mrforest._core.score.scorer cimport NO_CUT
from mrforest._core.score.sweep cimport Feature, score_cuts
from mrforest._core.types cimport ENTROPY, NONE, VARIANCE, at, code_t, mass_of, moment_of


cdef class NodeScores:
    """Splits the nodes of one growing tree after the other; used by one thread.

    Parameters
    ----------
    table : TrainingTable
    rule : SplitRule
        One that does not restrict the cuts of a feature.
    offers_equality : bool
        Whether numeric features of few values are cut by equality, too.
    """

    def __cinit__(self, TrainingTable table, SplitRule rule, bint offers_equality):
        cdef Py_ssize_t D = table.view.n_features, K = table.view.n_columns, f, n_bins = 0
        self.table = table.view
        self.rule = rule
        if not offers_equality:
            self.table.offers_equality = NULL
        self.is_entropy = self.table.criterion == ENTROPY
        self.is_plain = (self.table.criterion != VARIANCE and self.table.mass is NULL
                         and self.table.class_weight is NULL)
        for f in range(D):
            n_bins = max(n_bins, self.table.n_bins[f] + 1)
        # Order cuts and equality cuts, with missing values on either side, and these alone
        cdef Py_ssize_t n_cuts = 4 * max(n_bins, <Py_ssize_t> BLOCK_POINTS) + 1
        self.number = <int32_t*> malloc(K * sizeof(int32_t))
        self.items = <uint32_t*> malloc((D * BLOCK_POINTS + READ_AHEAD_CELLS) * sizeof(uint32_t))
        self.place = <Py_ssize_t*> malloc(D * sizeof(Py_ssize_t))
        self.which = <int32_t*> malloc(D * sizeof(int32_t))
        self.best_in_list = <double*> malloc(D * sizeof(double))
        # Lists have 2-byte codes and few points, counted features 1-byte codes.
        self.codes = malloc(2 * BLOCK_POINTS + self.table.n_rows)
        self.classes = <uint8_t*> malloc(max(self.table.n_rows, <Py_ssize_t> BLOCK_POINTS))
        self.list_of = <int32_t*> malloc(D * sizeof(int32_t))
        self.splittable = <int32_t*> malloc(D * sizeof(int32_t))
        self.best = <double*> malloc(D * sizeof(double))
        self.entries = <Entry*> malloc(n_bins * K * sizeof(Entry))
        self.cells = <int64_t*> malloc(n_bins * K * sizeof(int64_t))
        self.marks = <uint64_t*> malloc((n_bins // 64 + 1) * sizeof(uint64_t))
        self.histogram.left = <int32_t*> malloc(K * sizeof(int32_t))
        self.histogram.counts = <int32_t*> malloc(
            MOST_CODES * min(K, <Py_ssize_t> MOST_CODES) * sizeof(int32_t))
        self.sides.left = <int64_t*> malloc(K * sizeof(int64_t))
        self.sides.right = <int64_t*> malloc(K * sizeof(int64_t))
        self.scores = <double*> malloc(n_cuts * sizeof(double))
        self.cuts = <Cut*> malloc(n_cuts * sizeof(Cut))
        self.work = <double*> malloc(max(n_cuts, D) * sizeof(double))
        self.lefts = <int32_t*> malloc(n_cuts * sizeof(int32_t))
        self.cut_bins = <int32_t*> malloc(n_cuts * sizeof(int32_t))
        self.constant = <RowSpan*> malloc(D * sizeof(RowSpan))
        self.differ = <uint8_t*> malloc(D)
        self.histograms.n_features = D
        self.histograms.n_codes = self.codes_at_once()
        self.histograms.differ = self.differ
        self.histograms.counts = <uint16_t*> malloc(
            (min(K, <Py_ssize_t> MOST_CLASSES_AT_ONCE) * self.histograms.n_codes * D + 1)
            * sizeof(uint16_t))
        self.rows_by_class = <int32_t*> malloc(
            (self.table.n_rows if self.histograms.n_codes else 1) * sizeof(int32_t))
        if (self.number is NULL or self.items is NULL or self.place is NULL
                or self.which is NULL or self.best_in_list is NULL or self.codes is NULL
                or self.classes is NULL or self.list_of is NULL or self.splittable is NULL
                or self.best is NULL or self.entries is NULL or self.cells is NULL
                or self.marks is NULL or self.histogram.left is NULL
                or self.histogram.counts is NULL or self.histograms.counts is NULL
                or self.rows_by_class is NULL or self.sides.left is NULL
                or self.sides.right is NULL or self.scores is NULL or self.cuts is NULL
                or self.work is NULL or self.lefts is NULL or self.cut_bins is NULL
                or self.constant is NULL or self.differ is NULL
                or not make_order(&self.order, D)):
            raise MemoryError("no memory to grow a tree")
        for f in range(D):
            self.place[f] = f * BLOCK_POINTS
            self.which[f] = <int32_t> f
        self.begin_tree()

    def __dealloc__(self):
        free(self.number)
        free(self.items)
        free(self.place)
        free(self.which)
        free(self.best_in_list)
        free(self.codes)
        free(self.list_of)
        free(self.splittable)
        free(self.best)
        free(self.entries)
        free(self.cells)
        free(self.marks)
        free(self.histogram.left)
        free(self.histogram.counts)
        free(self.histograms.counts)
        free(self.rows_by_class)
        free(self.classes)
        free(self.sides.left)
        free(self.sides.right)
        free(self.scores)
        free(self.cuts)
        free(self.work)
        free(self.lefts)
        free(self.cut_bins)
        free(self.constant)
        free(self.differ)
        free_order(&self.order)

    cdef int32_t codes_at_once(self) noexcept nogil:
        """How many codes are counted in all features at once; 0: none, since most features have
        more codes than can be."""
        cdef Py_ssize_t D = self.table.n_features, f, n_few = 0
        cdef int32_t most = 0
        for f in range(D):
            if self.table.n_bins[f] <= MOST_CODES_AT_ONCE:
                n_few += 1
                most = max(most, self.table.n_bins[f])
        if (not is_on(SAMPLE_HISTOGRAMS) or 2 * n_few < D or D < LEAST_FEATURES_AT_ONCE
                or self.table.wide or not self.is_plain):
            return 0
        return 2 if most <= 2 else 4 if most <= 4 else 8

    cdef void begin_tree(self) noexcept nogil:
        """Forget the nodes of the tree before."""
        memset(self.constant, 0, self.table.n_features * sizeof(RowSpan))

    # ---- features without a candidate ----------------------------------------------------

    # A feature that is constant in a node is so in all nodes below it. The points of these lie
    # where the node's points do, and a tree grows depth first: the latest span is enough to know.
    # If all features are counted at once, that tells.

    cdef inline bint is_constant(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil:
        cdef const RowSpan* known = &self.constant[feature]
        if self.has_histograms:
            return self.differ[feature] == 0
        return known.first <= node.first and node.end <= known.end

    cdef inline void set_constant(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil:
        if node.is_whole:
            self.constant[feature].first = node.first
            self.constant[feature].end = node.end

    # ---- one feature ---------------------------------------------------------------------

    cdef void enter(self, const ScoredNode* node) noexcept nogil:
        """Prepare what the kernels need; the node has two classes at least."""
        cdef Py_ssize_t i, k, n_classes = 0
        self.can_count = self.is_plain and (
            not self.is_entropy or node.n < self.table.n_xlogx)
        for k in range(self.table.n_columns if self.can_count else 0):
            if node.totals[k] > 0:
                if n_classes == MOST_CODES:
                    self.can_count = False
                    break
                self.number[k] = <int32_t> n_classes
                self.node.totals[n_classes] = <int32_t> node.totals[k]
                n_classes += 1
        self.can_list = self.can_count and node.n <= BLOCK_POINTS
        self.has_histograms = False
        if not self.can_count:
            return
        for i in range(node.n):
            self.classes[i] = <uint8_t> self.number[
                self.table.y[at(node.rows[i], self.table.n_rows)]]
        self.counted.n = node.n
        self.counted.classes = self.classes
        self.counted.n_classes = n_classes
        self.counted.totals = self.node.totals
        self.counted.xlogx = self.table.xlogx if self.is_entropy else NULL
        kernels.sum_totals(&self.counted)
        self.count_all(node)
        if not self.can_list:
            return
        for i in range(node.n):
            self.points[i] = <uint32_t> self.classes[i] << 8 | <uint32_t> i
        if self.is_entropy:
            kernels.enter_entropy_node(
                node.n, n_classes, self.node.totals, self.table.xlogx, &self.entropy_node)
            return
        for k in range(n_classes):
            self.node.present[k] = <int32_t> k
        self.node.n = node.n
        self.node.n_classes = self.node.n_present = n_classes
        kernels.enter_gini_node(&self.node)

    cdef void count_all(self, const ScoredNode* node) noexcept nogil:
        """Count the points of the node in all features, if there are few of each of few classes."""
        cdef int32_t end[MOST_CLASSES_AT_ONCE]
        cdef int32_t n = 0
        cdef Py_ssize_t i, k
        if self.histograms.n_codes == 0 or self.counted.n_classes > MOST_CLASSES_AT_ONCE:
            return
        for k in range(self.counted.n_classes):
            if self.counted.totals[k] > MOST_POINTS_AT_ONCE:
                return
            end[k] = n
            n += self.counted.totals[k]
        for i in range(node.n):
            k = self.classes[i]
            self.rows_by_class[end[k]] = <int32_t> at(node.rows[i], self.table.n_rows)
            end[k] += 1
        kernels.fill_histograms(
            &self.counted, <const uint8_t*> self.table.codes, self.rows_by_class, &self.histograms)
        self.has_histograms = True

    cdef Way way_of(self, Py_ssize_t feature) noexcept nogil:
        """The way to score a feature of the node, if no point has it missing."""
        cdef int32_t n_codes = self.table.n_bins[feature]
        if self.has_histograms and n_codes <= self.histograms.n_codes:
            return BY_HISTOGRAMS
        cdef bint is_list = self.kind_of(feature) == ORDER and (
            n_codes > FEW_CODES or self.counted.n <= n_codes)
        if self.can_list and is_list and is_on(SAMPLE_LISTS):
            return BY_LIST
        if self.can_count and n_codes <= MOST_CODES and is_on(SAMPLE_COUNTS):
            return BY_COUNTS
        return BY_ENTRIES

    cdef CutKind kind_of(self, Py_ssize_t feature) noexcept nogil:
        """Which cuts the feature has."""
        if self.table.is_categorical[feature]:
            return EQUALITY
        if self.table.offers_equality is not NULL and self.table.offers_equality[feature]:
            return ORDER_AND_EQUALITY
        return ORDER

    cdef bint gather(
        self, const ScoredNode* node, Py_ssize_t feature, void* codes
    ) noexcept nogil:
        """Codes of the points; False if one is missing. Codes that are counted are bytes."""
        cdef int32_t missing = self.table.n_bins[feature]
        if not self.table.wide:
            return gather_codes[uint8_t, uint8_t](
                &self.table, <const uint8_t*> self.table.codes, node.rows, node.n, feature,
                <uint8_t*> codes) < missing
        if self.way_of(feature) == BY_COUNTS:
            return gather_codes[uint16_t, uint8_t](
                &self.table, <const uint16_t*> self.table.codes, node.rows, node.n, feature,
                <uint8_t*> codes) < missing
        return gather_codes[uint16_t, uint16_t](
            &self.table, <const uint16_t*> self.table.codes, node.rows, node.n, feature,
            <uint16_t*> codes) < missing

    cdef bint count(self, const ScoredNode* node, Py_ssize_t feature) noexcept nogil:
        """Count points by code and class; False if there is no way to, or a value is missing."""
        cdef Way way = self.way_of(feature)
        cdef int32_t n_codes = self.table.n_bins[feature]
        if way == BY_HISTOGRAMS:
            return kernels.read_histogram(
                &self.counted, &self.histograms, feature, n_codes, &self.histogram)
        if way != BY_COUNTS or not self.gather(node, feature, self.codes):
            return False
        kernels.fill_histogram(
            &self.counted, <const uint8_t*> self.codes, n_codes, &self.histogram)
        return True

    cdef Py_ssize_t score_list(self, Py_ssize_t list_) noexcept nogil:
        """Write the candidates of a feature that has a list; return how many."""
        cdef PlainCuts plain
        cdef Py_ssize_t i, n
        plain.of_left = self.scores
        plain.of_right = self.work
        plain.n_left = self.lefts
        plain.bin = self.cut_bins
        if self.is_entropy:
            n = kernels.entropy_cuts_in_list(
                self.items + self.place[list_], &self.entropy_node, plain)
        else:
            n = kernels.cuts_in_list(self.items + self.place[list_], &self.node, plain)
        for i in range(n):
            self.cuts[i].bin = plain.bin[i]
            self.cuts[i].is_equality = False
            self.cuts[i].missing_left = 2 * plain.n_left[i] >= self.counted.n
        return n

    cdef Py_ssize_t score_counts(self, Py_ssize_t feature) noexcept nogil:
        """Write the candidates of a feature whose codes are counted; return how many."""
        cdef Py_ssize_t i, n
        n = kernels.all_counted_cuts(
            &self.counted, &self.histogram, self.table.n_bins[feature], self.kind_of(feature),
            self.counted_cuts)
        for i in range(n):
            self.scores[i] = self.counted_cuts[i].score
            self.cuts[i].bin = self.counted_cuts[i].bin
            self.cuts[i].is_equality = self.counted_cuts[i].is_equality
            self.cuts[i].missing_left = (
                2 * <Py_ssize_t> self.counted_cuts[i].n_left >= self.counted.n)
        return n

    cdef Py_ssize_t write_entries(
        self, const ScoredNode* node, Py_ssize_t feature
    ) noexcept nogil:
        """What each bin adds to each column, by bin; return how many entries there are."""
        if self.table.wide:
            return count_entries(
                &self.table, <const uint16_t*> self.table.codes, node.rows, node.n, feature,
                self.cells, self.marks, self.entries)
        return count_entries(
            &self.table, <const uint8_t*> self.table.codes, node.rows, node.n, feature,
            self.cells, self.marks, self.entries)

    cdef Py_ssize_t score_entries(
        self, const ScoredNode* node, Py_ssize_t feature
    ) noexcept nogil:
        """Write the candidates of any feature; return how many."""
        cdef Feature view
        view.index = feature
        view.entries = self.entries
        view.n_entries = self.write_entries(node, feature)
        view.floor = 0
        view.counts_points = False
        view.points = NULL
        view.n_points = 0
        if self.entries[0].bin == self.entries[view.n_entries - 1].bin:
            return 0
        return score_cuts(
            &self.table, &view, node.totals, &self.sides, self.scores, self.cuts)

    cdef Py_ssize_t score(
        self, const ScoredNode* node, Py_ssize_t feature, Py_ssize_t list_
    ) noexcept nogil:
        """Write all candidates of a feature; return how many."""
        if list_ != NONE:
            return self.score_list(list_)
        if self.count(node, feature):
            return self.score_counts(feature)
        return self.score_entries(node, feature)

    # ---- some features -------------------------------------------------------------------

    cdef void best_in_lists(self, Py_ssize_t first) noexcept nogil:
        """Find the best scores of lists, from the first on."""
        if self.is_entropy:
            kernels.best_entropy_in_lists(
                self.items, self.place + first, self.n_lists - first, &self.entropy_node,
                self.best_in_list + first)
        elif self.n_lists > first:
            kernels.best_in_lists(
                self.items, self.place, self.which + first, self.n_lists - first, &self.node,
                self.best_in_list + first)

    cdef Py_ssize_t score_some(
        self, const ScoredNode* node, const int32_t* features, Py_ssize_t n, Py_ssize_t n_found
    ) noexcept nogil:
        """Write those of the features that have a candidate behind n_able others, with their best
        scores; return how many there are then."""
        cdef Py_ssize_t i, j, first_list = self.n_lists, feature
        cdef double best
        for i in range(n):
            feature = features[i]
            self.list_of[feature] = NONE
            if self.is_constant(node, feature) or self.way_of(feature) != BY_LIST:
                continue
            if not self.gather(node, feature, self.codes):
                continue
            if self.table.wide:
                kernels.sort_shorts(
                    <const uint16_t*> self.codes, 1, node.n, self.points,
                    self.items + self.place[self.n_lists])
            else:
                kernels.sort_bytes(
                    <const uint8_t*> self.codes, 1, node.n, self.points,
                    self.items + self.place[self.n_lists])
            self.list_of[feature] = <int32_t> self.n_lists
            self.n_lists += 1
        self.best_in_lists(first_list)
        for i in range(n):
            feature = features[i]
            if self.is_constant(node, feature):
                continue
            best = NO_CUT
            if self.list_of[feature] != NONE:
                best = self.best_in_list[self.list_of[feature]]
            elif self.count(node, feature):
                best = kernels.best_counted_cut(
                    &self.counted, &self.histogram, self.table.n_bins[feature],
                    self.kind_of(feature))
            else:
                for j in range(self.score_entries(node, feature)):
                    best = max(best, self.scores[j])
            if best == NO_CUT:
                self.set_constant(node, feature)
                continue
            self.splittable[n_found] = <int32_t> feature
            self.best[n_found] = best
            n_found += 1
        return n_found

    cdef Py_ssize_t score_drawn(self, const ScoredNode* node, Draw* draw) noexcept nogil:
        """Look at features until as many have a candidate as the rule asks for; return how many
        have."""
        cdef Py_ssize_t D = self.table.n_features, n_drawn = 0, n_found = 0, _draw
        cdef Py_ssize_t wanted = self.rule.count_features(D, draw), first
        self.n_lists = 0
        if wanted >= D:
            return self.score_some(node, self.order.features, D, 0)
        while n_found < wanted and n_drawn < D:
            first = n_drawn
            for _draw in range(min(wanted - n_found, D - n_drawn)):
                next_feature(&self.order, n_drawn, &draw.stream)
                n_drawn += 1
            n_found = self.score_some(
                node, self.order.features + first, n_drawn - first, n_found)
        put_back(&self.order, n_drawn)
        return n_found

    cdef int split(
        self, const ScoredNode* node, Draw* draw, Split* split
    ) noexcept nogil:
        """Let the rule draw a feature and a cut; 0 if no feature has a candidate."""
        cdef Py_ssize_t n_found, n_cuts, i, chosen, feature
        cdef double highest, tolerance
        n_found = self.score_drawn(node, draw)
        if n_found == 0:
            return 0
        highest = self.best[0]
        for i in range(1, n_found):
            highest = max(highest, self.best[i])
        tolerance = score_tolerance(&self.table, node.totals, highest)
        draw.features = self.splittable
        chosen = self.rule.choose_feature(self.best, n_found, tolerance, self.work, draw)
        feature = self.splittable[chosen]
        n_cuts = self.score(node, feature, self.list_of[feature])
        draw.features = &self.splittable[chosen]
        chosen = self.rule.choose_cut(self.scores, n_cuts, tolerance, self.work, draw)
        split.feature = feature
        split.place = 0
        split.cut = self.cuts[chosen]
        split.score = self.scores[chosen]
        return 1


ctypedef fused out_t:
    uint8_t
    uint16_t


cdef int32_t gather_codes(
    const Table* table, const code_t* codes, const int32_t* rows, Py_ssize_t n,
    Py_ssize_t feature, out_t* out
) noexcept nogil:
    """Codes of one feature; return the largest."""
    cdef Py_ssize_t i, D = table.n_features
    cdef code_t code, most = 0
    for i in range(n):
        code = codes[at(rows[i], table.n_rows) * D + feature]
        out[i] = <out_t> code
        most = max(most, code)
    return most


cdef Py_ssize_t count_entries(
    const Table* table, const code_t* codes, const int32_t* rows, Py_ssize_t n,
    Py_ssize_t feature, int64_t* cells, uint64_t* marks, Entry* entries
) noexcept nogil:
    """Add up the points of each bin, and list what is there, by bin."""
    cdef Py_ssize_t D = table.n_features, K = table.n_columns, i, k, bin, row, w, n_entries = 0
    cdef Py_ssize_t n_words = (table.n_bins[feature] >> 6) + 1
    cdef uint64_t word
    memset(marks, 0, n_words * sizeof(uint64_t))
    for i in range(n):
        row = at(rows[i], table.n_rows)
        bin = codes[row * D + feature]
        if not marks[bin >> 6] >> (bin & 63) & 1:
            marks[bin >> 6] |= <uint64_t> 1 << (bin & 63)
            memset(cells + bin * K, 0, K * sizeof(int64_t))
        if table.criterion == VARIANCE:
            cells[bin * K] += mass_of(table, row)
            cells[bin * K + 1] += moment_of(table, row)
        else:
            cells[bin * K + table.y[row]] += mass_of(table, row)
    for w in range(n_words):
        word = marks[w]
        for i in range(64):
            if not word >> i & 1:
                continue
            bin = (w << 6) + i
            for k in range(K):
                if cells[bin * K + k] != 0 or (table.criterion == VARIANCE):
                    entries[n_entries].bin = <int32_t> bin
                    entries[n_entries].column = <int32_t> k
                    entries[n_entries].count = cells[bin * K + k]
                    n_entries += 1
    return n_entries
