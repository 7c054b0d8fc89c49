# SPDX-License-Identifier: BSD-3-Clause
"""Trees that some of the rows shape and all rows fill, and whose large nodes are scored on samples.

A node is a slice of one list: structure points first, then the points that are held out.

    points    [ . . | a b c d e f : u v w | . . ]       a node; a to f shape it
    points    [ . . | a d : v | b c e f : u w | . . ]   its children, if a, d and v go left
"""

import numpy as np

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

from mrforest._core.grow.builder cimport GrownNode, count_classes_of
from mrforest._core.grow.cut_builder cimport write_split
from mrforest._core.grow.partition cimport partition_rows
from mrforest._core.random.rng cimport Purpose, next_index, open_stream
from mrforest._core.score.sample_scores cimport ScoredNode
from mrforest._core.types cimport FAILED, VARIANCE, mass_of, moment_of
from mrforest._core.grow.finish import grown_tree

cdef class SampleBuilder(TreeBuilder):
    """A growing tree; used by one thread, for one tree after the other."""

    def __init__(self, TrainingTable table, structure, points, key, Limits limits,
                 SplitRule rule, bint offers_equality, Py_ssize_t max_scored,
                 Py_ssize_t min_minority, Py_ssize_t n_asked):
        self.rule = rule
        self.keeps_counts = True
        self.n_asked = n_asked
        self.offers_equality = offers_equality
        self.max_scored = max_scored
        self.min_minority = min_minority
        self.scores = NodeScores(table, rule, offers_equality)
        self.sample = <int32_t*> malloc((self.most_structure + 1) * sizeof(int32_t))
        if self.sample is NULL:
            raise MemoryError("no memory to grow a tree")
        self.held = points[len(structure):].copy()

    def __dealloc__(self):
        free(self.sample)

    cdef bint can_grow(
        self, TrainingTable table, structure, points, Limits limits, SplitRule rule,
        bint offers_equality, Py_ssize_t max_scored, Py_ssize_t min_minority, Py_ssize_t n_asked
    ) except -1:
        """Whether the next tree can be this one."""
        return (table is self.owner and limits is self.limits and rule is self.rule
                and offers_equality == self.offers_equality and max_scored == self.max_scored
                and min_minority == self.min_minority and n_asked == self.n_asked
                and len(structure) <= self.most_structure
                and len(points) <= self.most_estimation)

    cdef void begin(self, structure, points, key) except *:
        self.set_points(structure, points, key)
        self.scores.begin_tree()
        self.held = points[len(structure):].copy()

    cdef int start(self, PendingNode* root) noexcept nogil:
        cdef int error = TreeBuilder.start(self, root)
        if error == 0:
            self.nodes[0].n_structure = <int32_t> root.n_structure
        return error

    cdef bint must_stop(self, const PendingNode* node) noexcept nogil:
        return TreeBuilder.must_stop(self, node) or not self.is_asked(node)

    cdef bint is_asked(self, const PendingNode* node) noexcept nogil:
        """Whether the node is to be split at all: those of a trial are, if somebody asks what the
        tree says of one of their held points. These ascend, so a look at the first is enough."""
        cdef const GrownNode* grown = &self.nodes[node.number]
        if self.n_asked == ALL_NODES:
            return True
        return (node.n_structure < grown.n_estimation
                and self.estimation[grown.first_estimation + node.n_structure] < self.n_asked)

    # ---- points that are scored ----------------------------------------------------------

    cdef void count_columns(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        """Set `totals` to the columns of these points."""
        cdef Py_ssize_t i
        if self.table.criterion != VARIANCE:
            count_classes_of(self.table, rows, n, self.totals)
            return
        self.totals[0] = self.totals[1] = 0
        for i in range(n):
            self.totals[0] += mass_of(self.table, rows[i])
            self.totals[1] += moment_of(self.table, rows[i])

    cdef Py_ssize_t count_minority(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        """Points that are not of the largest class; in regression, that differ from the first."""
        cdef Py_ssize_t i, k, most = 0, differ = 0
        if self.table.criterion == VARIANCE:
            for i in range(n):
                differ += self.table.y[rows[i]] != self.table.y[rows[0]]
            return differ
        memset(self.counts, 0, self.table.n_columns * sizeof(int64_t))
        for i in range(n):
            self.counts[self.table.y[rows[i]]] += 1
        for k in range(self.table.n_columns):
            most = max(most, <Py_ssize_t> self.counts[k])
        return n - most

    cdef bint is_pure(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        """Whether points, whose columns are in `totals`, have one class or target only."""
        cdef Py_ssize_t i, n_present = 0
        if self.table.criterion == VARIANCE:
            for i in range(1, n):
                if self.table.y[rows[i]] != self.table.y[rows[0]]:
                    return False
            return True
        for i in range(self.table.n_columns):
            n_present += self.totals[i] > 0
        return n_present < 2

    cdef const int32_t* take_sample(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t size, Draw* draw
    ) noexcept nogil:
        """One point of each of `size` equally long parts of the node; all points if there are no
        more. NULL: they are elsewhere."""
        cdef Py_ssize_t i, first = 0, length, shortest = n // size, over = 0
        if size == n:
            return rows
        # Part i begins at floor(i n / size); `over` is what the division leaves over.
        for i in range(size):
            over += n - shortest * size
            length = shortest + (over >= size)
            over -= size if over >= size else 0
            self.sample[i] = rows[first + next_index(&draw.stream, length)]
            first += length
        return self.sample

    cdef const int32_t* draw_sample(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t* size, Draw* draw
    ) noexcept nogil:
        """Draw so many points of the node, or twice as many, and so on, until enough are not of
        the largest class, or all points are there. Set the size to how many these are."""
        cdef const int32_t* sample
        while True:
            size[0] = min(size[0], n)
            sample = self.take_sample(rows, n, size[0], draw)
            if (sample is NULL or size[0] == n
                    or self.count_minority(sample, size[0]) >= self.min_minority):
                return sample
            size[0] *= 2

    cdef int draw_split(
        self, const PendingNode* node, Split* split, Py_ssize_t* n_scored
    ) noexcept nogil:
        """Let the rule draw; 0 if the node stays a leaf, ELSEWHERE if points are."""
        cdef const GrownNode* grown = &self.nodes[node.number]
        cdef const int32_t* rows = &self.estimation[0] + grown.first_estimation
        cdef ScoredNode scored
        cdef Draw draw
        cdef Py_ssize_t n = self.max_scored
        cdef int found = 0
        draw.stream = open_stream(self.key0, self.key1, grown.path, Purpose.SPLIT)
        draw.mode = 0
        draw.depth = node.depth
        draw.n_structure = node.n_structure
        draw.n_estimation = grown.n_estimation
        draw.totals = self.totals
        scored.totals = self.totals
        scored.first = rows
        scored.end = rows + grown.n_estimation
        while True:
            scored.rows = self.draw_sample(rows, node.n_structure, &n, &draw)
            if scored.rows is NULL:
                return ELSEWHERE
            scored.is_whole = n == node.n_structure
            scored.n = n
            self.count_columns(scored.rows, n)
            if scored.is_whole and self.is_pure(scored.rows, n):
                return 0
            self.scores.enter(&scored)
            found = self.scores.split(&scored, &draw, split)
            n_scored[0] = n
            if found or scored.is_whole:
                return found
            n *= 2      # no feature tells the points of the sample apart

    # ---- one node ------------------------------------------------------------------------

    cdef void join_sides(
        self, int32_t* rows, Py_ssize_t n_structure, Py_ssize_t left_structure,
        Py_ssize_t left_held
    ) noexcept nogil:
        """Bring the held points of the left child behind its structure points.

            [ left | right : left | right ]  ->  [ left : left | right : right ]
        """
        cdef Py_ssize_t n_right = n_structure - left_structure
        cdef int32_t* middle = rows + left_structure
        if left_held <= n_right:
            memcpy(self.scratch, middle + n_right, left_held * sizeof(int32_t))
            memmove(middle + left_held, middle, n_right * sizeof(int32_t))
            memcpy(middle, self.scratch, left_held * sizeof(int32_t))
        else:
            memcpy(self.scratch, middle, n_right * sizeof(int32_t))
            memmove(middle, middle + n_right, left_held * sizeof(int32_t))
            memcpy(middle + left_held, self.scratch, n_right * sizeof(int32_t))

    cdef int split(self, PendingNode* node) except FAILED nogil:
        cdef Py_ssize_t number = node.number, first = self.nodes[number].first_estimation
        cdef Py_ssize_t n = self.nodes[number].n_estimation, n_structure = node.n_structure
        cdef Py_ssize_t left_structure, left_held, n_scored, left
        cdef int32_t* rows = &self.estimation[0] + first
        cdef PendingNode children[2]
        cdef Split split
        cdef int error, side
        error = self.draw_split(node, &split, &n_scored)
        if error <= 0:
            return error
        left_structure = partition_rows(
            self.table, rows, n_structure, split.feature, &split.cut, self.scratch)
        left_held = partition_rows(
            self.table, rows + n_structure, n - n_structure, split.feature, &split.cut,
            self.scratch)
        left = left_structure + left_held
        if left < self.limits.min_side or n - left < self.limits.min_side:
            return 0
        self.join_sides(rows, n_structure, left_structure, left_held)
        if self.is_too_light(node, left):
            # Leaves, too, have their structure points first.
            self.join_sides(rows, left, left_structure, n_structure - left_structure)
            return 0
        error = self.add_children(node, left_structure, left, split.score, children)
        if error != 0:
            return error
        write_split(self.owner, &split, &self.nodes[number].node)
        # The decrease is that of the points that were scored, who stand for the others.
        self.nodes[number].decrease *= <double> n_structure / <double> n_scored
        for side in range(2):
            children[side].first_structure = (
                self.nodes[children[side].number].first_estimation)
            self.nodes[children[side].number].n_structure = <int32_t> children[side].n_structure
        return self.push_children(children)

    # ---- held points ---------------------------------------------------------------------

    cdef object held_leaves(self):
        """Leaf of each point that is held out, by its number in the tree."""
        cdef const int32_t[::1] held = self.held
        out = np.empty(held.shape[0], dtype=np.int32)
        cdef int32_t[::1] leaf_of = out
        cdef int32_t[::1] order = np.empty(self.n_nodes, dtype=np.int32)
        cdef int32_t[::1] leaf_of_row = np.empty(self.table.n_rows, dtype=np.int32)
        cdef Py_ssize_t i, j, n_children = 1, n_leaves = 0
        cdef const GrownNode* grown
        with nogil:
            order[0] = 0
            for i in range(self.n_nodes):
                grown = &self.nodes[order[i]]
                if grown.node.child >= 0:
                    order[n_children] = grown.node.child
                    order[n_children + 1] = grown.node.child + 1
                    n_children += 2
                    continue
                for j in range(grown.n_structure, grown.n_estimation):
                    leaf_of_row[self.estimation[grown.first_estimation + j]] = (
                        <int32_t> n_leaves)
                n_leaves += 1
            for i in range(held.shape[0]):
                leaf_of[i] = leaf_of_row[held[i]]
        return out


def grow_sampled_tree(
    TrainingTable table, points, Py_ssize_t n_structure, key, Limits limits, *, SplitRule rule,
    bint offers_equality, Py_ssize_t max_scored, Py_ssize_t min_minority,
    Py_ssize_t n_asked=ALL_NODES, idle=None, below=None
):
    """Grow a tree that some of the rows shape and all of them fill.

    Parameters
    ----------
    table : TrainingTable
        With codes.
    points : ndarray of shape (n_rows,), dtype=int32
        All rows: those that shape the tree, ascending, then the others, ascending. They are
        reordered.
    n_structure : int
        How many shape the tree, at least 1.
    key : pair of uint64
        Key of the tree's random streams.
    limits : Limits
        `min_split` and `min_side` count all points of a node.
    rule : SplitRule
    offers_equality : bool
        Whether numeric features of few values are cut by equality, too.
    max_scored, min_minority : int
        A node of more than `max_scored` structure points is scored on so many, or on twice as
        many, and so on, until `min_minority` of them are not of their largest class.
    n_asked : int, default=-1
        A node is split only if one of the rows 0 to n_asked - 1 is in it and held out. -1: all
        nodes are.
    idle, below : default=None
        See `grow_tree`. Below a node, points are its rows.

    Returns
    -------
    dict of arrays
        See `grown_tree`, `count` included; and held_leaf, int32, the leaf of each of
        the last points, in their order.
    """
    cdef SampleBuilder builder = None
    structure = points[:n_structure]
    while idle:
        try:
            builder = idle.pop()
        except IndexError:  # another thread was faster
            break
        if builder.can_grow(
                table, structure, points, limits, rule, offers_equality, max_scored, min_minority,
                n_asked):
            builder.begin(structure, points, key)
            break
        builder = None
    if builder is None:
        builder = SampleBuilder(
            table, structure, points, key, limits, rule, offers_equality, max_scored,
            min_minority, n_asked)
    builder.begin_at(below)
    tree = grown_tree(builder)
    tree["held_leaf"] = builder.held_leaves()
    if idle is not None:
        builder.forget_points()
        idle.append(builder)
    return tree
