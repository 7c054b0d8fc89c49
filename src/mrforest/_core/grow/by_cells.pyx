# SPDX-License-Identifier: BSD-3-Clause
"""Trees that cut cells, not data.

The root's cell is the box that holds all points; a cut of a cell asks nothing of the points
in it. The side of a cell in one feature follows from the cuts above it, so no box is stored:

    node ─► parent ─► ... ─► root      the first cut of the feature on the way up that bounds
                                       a side from below or above is the tightest

- Purely random: Biau, Devroye, Lugosi, "Consistency of random forests and other averaging
  classifiers", Journal of Machine Learning Research 9 (2008).
- Centered: Biau, "Analysis of a random forests model", Journal of Machine Learning Research 13
  (2012).
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport free, malloc

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport GrownNode, Limits, PendingNode
from mrforest._core.grow.by_values cimport ValueBuilder, number_between
from mrforest._core.random.rng cimport Purpose, Stream, next_index, next_uniform, open_stream
from mrforest._core.random.softmax cimport draw_softmax
from mrforest._core.score.impurity cimport score_tolerance
from mrforest._core.types cimport EQUALITY, FAILED, FEATURE_MASK, MISSING_LEFT, Node
from mrforest._core.grow.finish import grown_tree


cdef struct Side:
    # A cell in one numeric feature.
    double low
    double high


cdef inline bint can_cut(bint in_the_middle, double low, double high) noexcept nogil:
    if in_the_middle:
        return low < low / 2 + high / 2 < high
    return low < high


cdef class Box:
    """The cell that holds all rows of a table: the root of its trees.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), dtype=float64
    is_categorical : ndarray of shape (n_features,), dtype=bool
    in_the_middle : bool
        Whether cells are cut in the middle, or anywhere.
    """

    cdef const double[::1] low, high            # per feature
    cdef const int64_t[::1] category_start      # per feature ...
    cdef const double[::1] category             # ... those that occur, one after the other
    cdef const int32_t[::1] splittable                # features that can be cut
    cdef bint in_the_middle
    cdef object arguments

    def __init__(self, X, is_categorical, bint in_the_middle):
        self.arguments = (X, is_categorical, in_the_middle)
        self.in_the_middle = in_the_middle
        low, high, categories, splittable = [], [], [], []
        for j, is_category in enumerate(is_categorical):
            values = X[~np.isnan(X[:, j]), j]
            categories.append(np.unique(values) if is_category else np.empty(0))
            low.append(values.min() if len(values) else 0.0)
            high.append(values.max() if len(values) else 0.0)
            if len(categories[j]) > 1 if is_category else can_cut(
                    in_the_middle, low[j], high[j]):
                splittable.append(j)
        self.low, self.high = np.array(low), np.array(high)
        self.category = np.concatenate(categories)
        self.category_start = np.concatenate(
            [[0], np.cumsum([len(c) for c in categories])]).astype(np.int64)
        self.splittable = np.array(splittable, dtype=np.int32)

    def __reduce__(self):
        return type(self), self.arguments


cdef class CellBuilder(ValueBuilder):
    """A tree of cells."""

    cdef Box box
    cdef int32_t* seen                      # features on the way to the root
    cdef int32_t* unable                    # places in `able` of those that are used up

    def __init__(self, TrainingTable table, structure, estimation, key, Limits limits, Box box):
        self.box = box
        self.seen = <int32_t*> malloc((self.table.n_features + 1) * sizeof(int32_t))
        self.unable = <int32_t*> malloc((self.table.n_features + 1) * sizeof(int32_t))
        if self.seen is NULL or self.unable is NULL:
            raise MemoryError("no memory to grow a tree")

    def __dealloc__(self):
        free(self.seen)
        free(self.unable)

    # ---- cells ---------------------------------------------------------------------------

    cdef Side side(self, Py_ssize_t number, Py_ssize_t feature) noexcept nogil:
        """The cell of a node in a numeric feature."""
        cdef Side side
        cdef bint has_low = False, has_high = False
        cdef const GrownNode* parent
        while self.nodes[number].parent >= 0 and not (has_low and has_high):
            parent = &self.nodes[self.nodes[number].parent]
            if <Py_ssize_t> (parent.node.feature & FEATURE_MASK) == feature:
                if number == parent.node.child:
                    if not has_high:
                        side.high = parent.node.threshold
                        has_high = True
                elif not has_low:
                    side.low = parent.node.threshold
                    has_low = True
            number = self.nodes[number].parent
        if not has_low:
            side.low = self.box.low[feature]
        if not has_high:
            side.high = self.box.high[feature]
        return side

    cdef bint is_excluded(
        self, Py_ssize_t number, Py_ssize_t feature, double category
    ) noexcept nogil:
        """Whether the cell of a node lies on the side of a cut where a category is not."""
        cdef const GrownNode* parent
        while self.nodes[number].parent >= 0:
            parent = &self.nodes[self.nodes[number].parent]
            if <Py_ssize_t> (parent.node.feature & FEATURE_MASK) == feature:
                if (number == parent.node.child) != (parent.node.threshold == category):
                    return True
            number = self.nodes[number].parent
        return False

    cdef Py_ssize_t count_categories(
        self, Py_ssize_t number, Py_ssize_t feature, Py_ssize_t wanted, double* found
    ) noexcept nogil:
        """Categories of a cell; the one whose number is wanted is written to `found`."""
        cdef Py_ssize_t i, n = 0
        for i in range(self.box.category_start[feature], self.box.category_start[feature + 1]):
            if not self.is_excluded(number, feature, self.box.category[i]):
                if n == wanted:
                    found[0] = self.box.category[i]
                n += 1
        return n

    cdef bint is_used_up(self, Py_ssize_t number, Py_ssize_t feature) noexcept nogil:
        cdef Side side
        cdef double unused
        if self.table.is_categorical[feature]:
            return self.count_categories(number, feature, -1, &unused) < 2
        side = self.side(number, feature)
        return not can_cut(self.box.in_the_middle, side.low, side.high)

    cdef Py_ssize_t find_unable(self, Py_ssize_t number) noexcept nogil:
        """Places in `able` of the features that cannot be cut any more, ascending.

        Only features that have been cut on the way down can be used up.
        """
        cdef Py_ssize_t above = self.nodes[number].parent, n_seen = 0, n = 0, i, j, place
        cdef int32_t feature
        while above >= 0:
            feature = <int32_t> (self.nodes[above].node.feature & FEATURE_MASK)
            for i in range(n_seen):
                if self.seen[i] == feature:
                    break
            else:
                self.seen[n_seen] = feature
                n_seen += 1
                if self.is_used_up(number, feature):
                    place = 0
                    while self.box.splittable[place] != feature:
                        place += 1
                    # Insertion keeps them ascending.
                    j = n
                    while j > 0 and self.unable[j - 1] > place:
                        self.unable[j] = self.unable[j - 1]
                        j -= 1
                    self.unable[j] = <int32_t> place
                    n += 1
            above = self.nodes[above].parent
        return n

    cdef void draw_cut(
        self, Py_ssize_t number, Py_ssize_t n_unable, Node* cut, Stream* stream
    ) noexcept nogil:
        """Draw one cut of a cell in which some feature can be cut."""
        cdef Py_ssize_t place = next_index(stream, self.box.splittable.shape[0] - n_unable), i, n
        cdef Side side
        cdef int32_t feature
        for i in range(n_unable):
            place += place >= self.unable[i]
        feature = self.box.splittable[place]
        cut.feature = <uint32_t> feature
        if self.table.is_categorical[feature]:
            n = self.count_categories(number, feature, -1, &cut.threshold)
            self.count_categories(number, feature, next_index(stream, n), &cut.threshold)
            cut.feature |= EQUALITY
        else:
            side = self.side(number, feature)
            if self.box.in_the_middle:
                cut.threshold = side.low / 2 + side.high / 2
            else:
                cut.threshold = number_between(side.low, side.high, next_uniform(stream))
        if next_uniform(stream) < 0.5:
            cut.feature |= MISSING_LEFT


cdef class PurelyRandomBuilder(CellBuilder):
    """A leaf, a feature and a cut, all drawn uniformly, again and again."""

    cdef Py_ssize_t n_leaves
    cdef PendingNode* leaves

    def __init__(self, TrainingTable table, structure, estimation, key, Limits limits, Box box,
                 Py_ssize_t n_leaves):
        super().__init__(table, structure, estimation, key, limits, box)
        self.n_leaves = n_leaves
        self.leaves = <PendingNode*> malloc(n_leaves * sizeof(PendingNode))
        if self.leaves is NULL:
            raise MemoryError("no memory to grow a tree")

    def __dealloc__(self):
        free(self.leaves)

    cdef int grow(self) except FAILED nogil:
        cdef Stream order = open_stream(self.key0, self.key1, 0, Purpose.GROWTH)
        cdef Stream stream
        cdef PendingNode children[2]
        cdef Node cut
        cdef Py_ssize_t n = 1, _step, place, number, n_unable
        cdef int error = self.start(&self.leaves[0])
        for _step in range(self.n_leaves - 1):
            if error != 0:
                return error
            place = next_index(&order, n)
            number = self.leaves[place].number
            error = self.check_interrupt(self.leaves[place].n_structure)
            n_unable = self.find_unable(number)
            if error != 0 or n_unable == self.box.splittable.shape[0]:
                continue
            stream = open_stream(self.key0, self.key1, self.nodes[number].path, Purpose.SPLIT)
            self.draw_cut(number, n_unable, &cut, &stream)
            self.count_totals(&self.leaves[place])
            error = self.cut_node(
                &self.leaves[place], &cut, self.cut_estimation(&self.leaves[place], &cut),
                self.score(&self.leaves[place], &cut), children)
            if error == 0:
                self.leaves[place] = children[0]
                self.leaves[n] = children[1]
                n += 1
        return error


cdef class CenteredBuilder(CellBuilder):
    """The best of a few cuts through the middle of the cell, down to one depth."""

    cdef Py_ssize_t depth
    cdef Py_ssize_t n_tries
    cdef Node* tries
    cdef double* scores
    cdef double* work

    def __init__(self, TrainingTable table, structure, estimation, key, Limits limits, Box box,
                 Py_ssize_t depth, Py_ssize_t n_tries):
        super().__init__(table, structure, estimation, key, limits, box)
        self.depth = depth
        self.n_tries = n_tries
        self.tries = <Node*> malloc(n_tries * sizeof(Node))
        self.scores = <double*> malloc(n_tries * sizeof(double))
        self.work = <double*> malloc(n_tries * sizeof(double))
        if self.tries is NULL or self.scores is NULL or self.work is NULL:
            raise MemoryError("no memory to grow a tree")

    def __dealloc__(self):
        free(self.tries)
        free(self.scores)
        free(self.work)

    cdef bint must_stop(self, const PendingNode* node) noexcept nogil:
        return node.depth == self.depth or self.nodes[node.number].n_estimation == 0

    cdef int split(self, PendingNode* node) except FAILED nogil:
        cdef Stream stream = open_stream(
            self.key0, self.key1, self.nodes[node.number].path, Purpose.SPLIT)
        cdef PendingNode children[2]
        cdef Py_ssize_t i, chosen, n_left, n_unable = self.find_unable(node.number)
        cdef double highest = -INFINITY
        cdef int error
        if n_unable == self.box.splittable.shape[0]:
            return 0
        self.count_totals(node)
        for i in range(self.n_tries):
            self.draw_cut(node.number, n_unable, &self.tries[i], &stream)
            self.scores[i] = self.score(node, &self.tries[i])
            highest = max(highest, self.scores[i])
        chosen = draw_softmax(
            self.scores, self.n_tries, INFINITY,
            score_tolerance(self.table, self.totals, highest), self.work, &stream)
        n_left = self.cut_estimation(node, &self.tries[chosen])
        if self.is_too_light(node, n_left):
            return 0
        error = self.cut_node(
            node, &self.tries[chosen], n_left, self.scores[chosen], children)
        return error if error != 0 else self.push_children(children)


def grow_purely_random(
    TrainingTable table, structure, estimation, key, Limits limits, *, Box box,
    Py_ssize_t n_leaves
):
    """Grow a tree of n_leaves cells of a box; see `grow_tree` for the other arguments."""
    return grown_tree(PurelyRandomBuilder(table, structure, estimation, key, limits, box, n_leaves))


def grow_centered(
    TrainingTable table, structure, estimation, key, Limits limits, *, Box box,
    Py_ssize_t depth, Py_ssize_t n_tries
):
    """Grow a tree of centered cuts of a box; see `grow_tree` for the other arguments."""
    return grown_tree(CenteredBuilder(
        table, structure, estimation, key, limits, box, depth, n_tries))
