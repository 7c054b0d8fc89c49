# SPDX-License-Identifier: BSD-3-Clause
"""Completely random trees whose cuts are uniform in the range of the node: Liu, Ting, Yu, Zhou,
"Spectrum of variable-random trees", Journal of Artificial Intelligence Research 32 (2008).

Features come in random order; the first that can be cut is cut, anywhere between its smallest
and its largest value in the node.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport free, malloc, qsort

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport Limits, PendingNode
from mrforest._core.grow.by_values cimport ValueBuilder, number_between
from mrforest._core.random.rng cimport Purpose, Stream, next_index, next_uniform, open_stream
from mrforest._core.score.feature_order cimport (
    Order, free_order, make_order, next_feature, put_back,
)
from mrforest._core.types cimport EQUALITY, FAILED, MISSING_LEFT, Node
from mrforest._core.grow.finish import grown_tree


cdef int compare(const void* a, const void* b) noexcept nogil:
    cdef double x = (<const double*> a)[0], y = (<const double*> b)[0]
    return (x > y) - (x < y)


cdef struct Column:
    # The values of one feature in a list of points.
    double* values
    Py_ssize_t n
    Py_ssize_t n_missing
    double lowest
    double highest


cdef struct Needs:
    # Estimation points with a value that each side of a cut must get.
    Py_ssize_t left
    Py_ssize_t right


cdef class RangeBuilder(ValueBuilder):
    """A tree of cuts drawn uniformly in the range of a node."""

    cdef Order order
    cdef Column own         # of the structure points
    cdef Column others      # of the estimation points; filled only with a floor

    def __cinit__(self, TrainingTable table, structure, estimation, key, Limits limits):
        self.own.values = <double*> malloc((self.structure.shape[0] + 1) * sizeof(double))
        self.others.values = <double*> malloc((self.estimation.shape[0] + 1) * sizeof(double))
        if (self.own.values is NULL or self.others.values is NULL
                or not make_order(&self.order, self.table.n_features)):
            raise MemoryError("no memory to grow a tree")

    def __dealloc__(self):
        free_order(&self.order)
        free(self.own.values)
        free(self.others.values)

    cdef void gather(
        self, Column* column, const int32_t* rows, Py_ssize_t n, Py_ssize_t feature
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double x
        column.n = 0
        column.lowest = INFINITY
        column.highest = -INFINITY
        for i in range(n):
            x = self.table.X[rows[i] * self.table.n_features + feature]
            column.values[column.n] = x
            column.n += x == x
            column.lowest = x if x < column.lowest else column.lowest
            column.highest = x if x > column.highest else column.highest
        column.n_missing = n - column.n

    cdef Needs needs(self, bint has_coin, bint missing_left) noexcept nogil:
        """What is left of the floor when missing points are counted where the coin says."""
        cdef Needs needs
        needs.left = needs.right = self.limits.min_leaf
        if has_coin and self.limits.min_leaf > 0:
            if missing_left:
                needs.left = max(needs.left - self.others.n_missing, 0)
            else:
                needs.right = max(needs.right - self.others.n_missing, 0)
        return needs

    cdef bint cut_number(self, Needs needs, Node* cut, Stream* stream) noexcept nogil:
        cdef double a = self.own.lowest, b = self.own.highest
        if self.others.n < needs.left or self.others.n < needs.right:
            return False
        if needs.left > 0:
            a = max(a, self.others.values[needs.left - 1])  # with a floor they are sorted
        if needs.right > 0:
            b = min(b, self.others.values[self.others.n - needs.right])
        if a >= b:
            return False
        cut.threshold = number_between(a, b, next_uniform(stream))
        return True

    cdef bint cut_category(self, Needs needs, Node* cut, Stream* stream) noexcept nogil:
        cdef Py_ssize_t i, j = 0, same, n_allowed = 0, number
        cdef double category
        # Categories that may be asked for take the place of the sorted values.
        qsort(self.own.values, self.own.n, sizeof(double), compare)
        i = 0
        while i < self.own.n:
            category = self.own.values[i]
            while i < self.own.n and self.own.values[i] == category:
                i += 1
            while j < self.others.n and self.others.values[j] < category:
                j += 1
            same = 0
            while j + same < self.others.n and self.others.values[j + same] == category:
                same += 1
            if same >= needs.left and self.others.n - same >= needs.right:
                self.own.values[n_allowed] = category
                n_allowed += 1
        if n_allowed == 0:
            return False
        number = next_index(stream, n_allowed)
        cut.threshold = self.own.values[number]
        cut.feature |= EQUALITY
        return True

    cdef bint try_feature(
        self, const PendingNode* node, Py_ssize_t feature, Node* cut, Stream* stream
    ) noexcept nogil:
        """Draw a cut of a feature; False if it cannot be cut."""
        cdef Py_ssize_t number = node.number
        cdef bint missing_left = False, has_coin
        cdef Needs needs
        self.gather(
            &self.own, &self.structure[0] + node.first_structure, node.n_structure, feature)
        self.others.n = self.others.n_missing = 0
        if self.limits.min_leaf > 0:
            self.gather(
                &self.others, &self.estimation[0] + self.nodes[number].first_estimation,
                self.nodes[number].n_estimation, feature)
            qsort(self.others.values, self.others.n, sizeof(double), compare)
        if self.own.n == 0:
            return False
        has_coin = self.own.n_missing > 0
        if has_coin:
            missing_left = next_uniform(stream) < 0.5
        cut.feature = <uint32_t> feature
        if self.own.lowest == self.own.highest:
            # One value: missing against the rest.
            cut.threshold = INFINITY
            return has_coin and not (self.limits.min_leaf > 0 and (
                self.others.n < self.limits.min_leaf
                or self.others.n_missing < self.limits.min_leaf))
        if missing_left:
            cut.feature |= MISSING_LEFT
        needs = self.needs(has_coin, missing_left)
        if self.table.is_categorical[feature]:
            return self.cut_category(needs, cut, stream)
        return self.cut_number(needs, cut, stream)

    cdef bint draw(self, const PendingNode* node, Node* cut) noexcept nogil:
        """Draw a cut of the first feature that can be cut; False if none can."""
        cdef Stream stream = open_stream(
            self.key0, self.key1, self.nodes[node.number].path, Purpose.SPLIT)
        cdef Py_ssize_t n_drawn = 0
        cdef bint found = False
        while not found and n_drawn < self.order.n:
            found = self.try_feature(
                node, next_feature(&self.order, n_drawn, &stream), cut, &stream)
            n_drawn += 1
        put_back(&self.order, n_drawn)
        return found

    cdef int split(self, PendingNode* node) except FAILED nogil:
        cdef PendingNode children[2]
        cdef Node cut
        cdef double score
        cdef Py_ssize_t n_left
        cdef int error
        if (not self.count_totals(node) and self.stops_when_pure()) or not self.draw(node, &cut):
            return 0
        score = self.score(node, &cut)
        if self.own.n_missing == 0 and self.is_heavier_left():
            cut.feature |= MISSING_LEFT
        n_left = self.cut_estimation(node, &cut)
        if self.is_refused(node, n_left):
            return 0
        error = self.cut_node(node, &cut, n_left, score, children)
        return error if error != 0 else self.push_children(children)


def grow_in_range(TrainingTable table, structure, estimation, key, Limits limits):
    """Grow a completely random tree of values; see `grow_tree` for the arguments."""
    return grown_tree(RangeBuilder(table, structure, estimation, key, limits))
