# SPDX-License-Identifier: BSD-3-Clause
"""Grow one tree. The node loop; no Python inside.

    pending ─► stop? ─► entries of each feature ─► scores ─► the rule draws ─► partition ─► children

Draws belong to nodes, so the order in which nodes are taken does not matter. The child with fewer
structure points is taken first: then at most log2(n) histograms wait at any time.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

from mrforest._core.candidates cimport Feature, score_cuts
from mrforest._core.histogram cimport (
    counted_entries, counted_points, sorted_entries, sorted_points,
)
from mrforest._core.impurity cimport Sides, node_score, node_weight, score_tolerance
from mrforest._core.partition cimport partition_rows
from mrforest._core.pool cimport NO_HISTOGRAM, HistogramPool
from mrforest._core.rng cimport ROOT_PATH, Purpose, Stream, child_path, open_stream
from mrforest._core.rule cimport SplitRule
from mrforest._core.table cimport TrainingTable
from mrforest._core.tree cimport GrownNode, flatten
from mrforest._core.types cimport EQUALITY, MISSING_LEFT, Cut, Entry, Table, at


cdef enum:
    INTERRUPTED = -2
    OUT_OF_MEMORY = -1
    # The main thread runs signal handlers, such as Ctrl-C's, after so many points; other
    # threads have nothing to run and are told by `interrupt`.
    POINTS_BETWEEN_LOOKS = 1 << 17


cdef struct Pending:
    int32_t number              # of the node
    int32_t depth
    Py_ssize_t first_structure
    Py_ssize_t n_structure
    int histogram               # number of its histogram, or NO_HISTOGRAM


cdef class Grower:
    """The state of one growing tree; used once, by one thread."""

    # What is given
    cdef TrainingTable owner
    cdef const Table* table
    cdef SplitRule rule
    cdef uint64_t key0, key1
    cdef Py_ssize_t min_leaf, max_depth
    cdef bint has_floor
    cdef const uint8_t[::1] interrupt
    cdef int32_t[::1] structure, estimation     # row numbers; a node is a slice of each

    # What grows
    cdef GrownNode* nodes
    cdef Py_ssize_t n_nodes, room_for_nodes
    cdef Pending* pending
    cdef Py_ssize_t n_pending, room_for_pending
    cdef HistogramPool pool
    cdef double root_weight                     # of the structure points

    # Work space
    cdef Entry* entries
    cdef Entry* points
    cdef uint64_t* keys
    cdef double* scores
    cdef double* work
    cdef Cut* cuts
    cdef int32_t* scratch
    cdef int64_t* class_counts
    cdef Sides sides
    cdef int32_t* features
    cdef double* best

    def __cinit__(self, TrainingTable table, SplitRule rule, structure, estimation, key,
                  Py_ssize_t min_leaf, bint has_floor, Py_ssize_t max_depth,
                  const uint8_t[::1] interrupt):
        self.owner = table
        self.table = &table.view
        self.rule = rule
        self.key0, self.key1 = key
        self.min_leaf = min_leaf
        self.has_floor = has_floor
        self.max_depth = max_depth
        self.interrupt = interrupt
        self.pool = HistogramPool()
        self.pool.table = self.table
        self.pool.with_points = has_floor
        self.structure = structure
        self.estimation = estimation
        cdef Py_ssize_t n_structure = structure.shape[0]
        cdef Py_ssize_t n_estimation = estimation.shape[0]
        cdef Py_ssize_t longest = max(n_structure, n_estimation) + 1
        cdef Py_ssize_t n_cuts = 2 * n_structure + 2
        cdef Py_ssize_t n_features = self.table.n_features, n_classes = self.table.n_classes
        self.entries = <Entry*> malloc((n_structure + 1) * sizeof(Entry))
        self.points = <Entry*> malloc((n_estimation + 1) * sizeof(Entry))
        self.keys = <uint64_t*> malloc(2 * longest * sizeof(uint64_t))
        self.scores = <double*> malloc(n_cuts * sizeof(double))
        self.work = <double*> malloc(max(n_cuts, n_features) * sizeof(double))
        self.cuts = <Cut*> malloc(n_cuts * sizeof(Cut))
        self.scratch = <int32_t*> malloc(longest * sizeof(int32_t))
        self.class_counts = <int64_t*> malloc(n_classes * sizeof(int64_t))
        self.sides.left = <int64_t*> malloc(n_classes * sizeof(int64_t))
        self.sides.right = <int64_t*> malloc(n_classes * sizeof(int64_t))
        self.sides.weighted = (
            self.table.mass is not NULL or self.table.class_weight is not NULL)
        self.features = <int32_t*> malloc(n_features * sizeof(int32_t))
        self.best = <double*> malloc(n_features * sizeof(double))
        if (self.entries is NULL or self.points is NULL or self.keys is NULL
                or self.scores is NULL or self.work is NULL or self.cuts is NULL
                or self.scratch is NULL or self.class_counts is NULL
                or self.sides.left is NULL or self.sides.right is NULL
                or self.features is NULL or self.best is NULL):
            raise MemoryError("no memory to grow a tree")

    def __dealloc__(self):
        free(self.nodes)
        free(self.pending)
        free(self.entries)
        free(self.points)
        free(self.keys)
        free(self.scores)
        free(self.work)
        free(self.cuts)
        free(self.scratch)
        free(self.class_counts)
        free(self.sides.left)
        free(self.sides.right)
        free(self.features)
        free(self.best)

    # ---- nodes ---------------------------------------------------------------------------

    cdef int add_node(
        self, uint64_t path, Py_ssize_t first_estimation, Py_ssize_t n_estimation
    ) noexcept nogil:
        """A new node, a leaf until it is split."""
        cdef GrownNode* nodes
        cdef GrownNode* node
        if self.n_nodes == self.room_for_nodes:
            self.room_for_nodes = 2 * self.room_for_nodes + 64
            nodes = <GrownNode*> realloc(
                self.nodes, self.room_for_nodes * sizeof(GrownNode))
            if nodes is NULL:
                return OUT_OF_MEMORY
            self.nodes = nodes
        node = &self.nodes[self.n_nodes]
        node.node.threshold = 0
        node.node.feature = 0
        node.node.child = -1
        node.path = path
        node.decrease = 0
        node.first_estimation = first_estimation
        node.n_estimation = n_estimation
        self.n_nodes += 1
        return 0

    cdef int push(self, Pending node) noexcept nogil:
        cdef Pending* pending
        if self.n_pending == self.room_for_pending:
            self.room_for_pending = 2 * self.room_for_pending + 64
            pending = <Pending*> realloc(
                self.pending, self.room_for_pending * sizeof(Pending))
            if pending is NULL:
                return OUT_OF_MEMORY
            self.pending = pending
        self.pending[self.n_pending] = node
        self.n_pending += 1
        return 0

    cdef void count(self, int histogram, const Pending* node) noexcept nogil:
        cdef const GrownNode* grown = &self.nodes[node.number]
        self.pool.count(
            histogram, &self.structure[0] + node.first_structure, node.n_structure,
            &self.estimation[0] + grown.first_estimation, grown.n_estimation)

    # ---- one node ------------------------------------------------------------------------

    cdef bint must_stop(self, const Pending* node) noexcept nogil:
        """Whether a node is a leaf whatever its structure points are."""
        cdef Py_ssize_t n_estimation = self.nodes[node.number].n_estimation
        if node.depth == self.max_depth or node.n_structure < 2:
            return True
        if self.has_floor:
            return n_estimation < 2 * self.min_leaf
        return n_estimation <= self.min_leaf

    cdef int count_labels(self, const Pending* node) noexcept nogil:
        """Class counts of the structure points; return the number of classes."""
        cdef const int32_t* rows = &self.structure[0] + node.first_structure
        cdef Py_ssize_t i
        cdef int n_present = 0
        memset(self.class_counts, 0, self.table.n_classes * sizeof(int64_t))
        for i in range(node.n_structure):
            self.class_counts[self.table.y[rows[i]]] += (
                1 if self.table.mass is NULL else self.table.mass[rows[i]])
        for i in range(self.table.n_classes):
            n_present += self.class_counts[i] > 0
        return n_present

    cdef Py_ssize_t score_feature(
        self, const Pending* node, Py_ssize_t feature
    ) noexcept nogil:
        """Fill scores and cuts with the candidates of a feature; return how many."""
        cdef const GrownNode* grown = &self.nodes[node.number]
        cdef Feature view
        view.index = feature
        view.entries = self.entries
        view.points = self.points
        view.n_points = 0
        view.floor = self.min_leaf if self.has_floor else 0
        if node.histogram != NO_HISTOGRAM:
            view.n_entries = counted_entries(
                self.table, self.pool.items[node.histogram].classes, feature, self.entries)
            if self.has_floor:
                view.n_points = counted_points(
                    self.table, self.pool.items[node.histogram].points, feature, self.points)
        else:
            view.n_entries = sorted_entries(
                self.table, &self.structure[0] + node.first_structure, node.n_structure,
                feature, self.keys, self.keys + self.structure.shape[0], self.entries)
            if self.has_floor:
                view.n_points = sorted_points(
                    self.table, &self.estimation[0] + grown.first_estimation,
                    grown.n_estimation, feature, self.keys,
                    self.keys + self.estimation.shape[0], self.points)
        return score_cuts(
            self.table, &view, self.class_counts, &self.sides, self.scores, self.cuts)

    cdef bint draw_split(
        self, const Pending* node, Py_ssize_t* feature, Cut* cut, double* decrease
    ) noexcept nogil:
        """Let the rule draw a feature and a cut; False if there is no candidate."""
        cdef Stream stream = open_stream(
            self.key0, self.key1, self.nodes[node.number].path, Purpose.SPLIT)
        cdef double tolerance = score_tolerance(
            self.table, node_weight(self.table, self.class_counts))
        cdef Py_ssize_t n_selected, n_able = 0, n_cuts, i, j, chosen, looked_at
        cdef double best
        n_selected = self.rule.select_features(
            self.table.n_features, self.features, &stream)
        for i in range(n_selected):
            looked_at = at(self.features[i], self.table.n_features)
            n_cuts = self.score_feature(node, looked_at)
            if n_cuts > 0:
                best = self.scores[0]
                for j in range(1, n_cuts):
                    best = max(best, self.scores[j])
                self.best[n_able] = best
                self.features[n_able] = <int32_t> looked_at
                n_able += 1
        if n_able == 0:
            return False
        chosen = self.rule.choose_feature(self.best, n_able, tolerance, self.work, &stream)
        feature[0] = self.features[at(chosen, n_able)]
        n_cuts = self.score_feature(node, feature[0])
        chosen = self.rule.choose_cut(self.scores, n_cuts, tolerance, self.work, &stream)
        cut[0] = self.cuts[at(chosen, n_cuts)]
        decrease[0] = self.scores[chosen] - node_score(self.table, self.class_counts)
        return True

    cdef int split(self, const Pending* node) noexcept nogil:
        """Split a node, or leave it a leaf; its histogram goes to its children."""
        cdef Py_ssize_t feature = 0, left_structure, left_estimation, first
        cdef Py_ssize_t number = node.number, n_estimation = self.nodes[number].n_estimation
        cdef Cut cut
        cdef double decrease = 0
        cdef GrownNode* grown
        cdef Pending children[2]
        cdef int side, error = 0
        if self.count_labels(node) < 2 and not self.has_floor:
            self.pool.release(node.histogram)
            return 0
        if not self.draw_split(node, &feature, &cut, &decrease):
            self.pool.release(node.histogram)
            return 0
        first = self.nodes[number].first_estimation
        left_estimation = partition_rows(
            self.table, &self.estimation[0] + first, n_estimation, feature, &cut, self.scratch)
        if left_estimation == 0 or left_estimation == n_estimation:
            self.pool.release(node.histogram)
            return 0
        left_structure = partition_rows(
            self.table, &self.structure[0] + node.first_structure, node.n_structure, feature,
            &cut, self.scratch)

        if (self.add_node(child_path(self.nodes[number].path, 0), first, left_estimation) != 0
                or self.add_node(child_path(self.nodes[number].path, 1),
                                 first + left_estimation,
                                 n_estimation - left_estimation) != 0):
            return OUT_OF_MEMORY
        grown = &self.nodes[number]
        if self.root_weight > 0:  # class weights may be 0
            grown.decrease = max(decrease, 0.0) / self.root_weight
        grown.node.child = <int32_t> (self.n_nodes - 2)
        grown.node.feature = <uint32_t> feature
        if cut.missing_left:
            grown.node.feature |= MISSING_LEFT
        if cut.is_equality:
            grown.node.feature |= EQUALITY
            grown.node.threshold = cut.bin
        elif cut.bin == self.table.n_bins[feature] - 1:
            grown.node.threshold = INFINITY
        else:
            grown.node.threshold = self.owner.cuts[self.owner.cuts_start[feature] + cut.bin]

        for side in range(2):
            children[side].number = grown.node.child + side
            children[side].depth = node.depth + 1
            children[side].histogram = NO_HISTOGRAM
        children[0].first_structure = node.first_structure
        children[0].n_structure = left_structure
        children[1].first_structure = node.first_structure + left_structure
        children[1].n_structure = node.n_structure - left_structure
        error = self.hand_down(node.histogram, children)
        if error != 0:
            return error
        # Last in, first out: the smaller child is taken first.
        side = 0 if children[0].n_structure > children[1].n_structure else 1
        if not self.must_stop(&children[side]):
            error = self.push(children[side])
        if error == 0 and not self.must_stop(&children[1 - side]):
            error = self.push(children[1 - side])
        return error

    cdef int hand_down(self, int histogram, Pending* children) noexcept nogil:
        """Histograms of the children, counting as few rows as possible.

        Only the smaller child is counted; the larger one is what is left of the parent.
        """
        cdef int smaller = 0 if children[0].n_structure <= children[1].n_structure else 1
        cdef int larger = 1 - smaller, own
        cdef bint wants_smaller = (
            not self.must_stop(&children[smaller])
            and self.pool.is_counted(children[smaller].n_structure))
        cdef bint wants_larger = (
            not self.must_stop(&children[larger])
            and self.pool.is_counted(children[larger].n_structure))
        if histogram == NO_HISTOGRAM or not (wants_smaller or wants_larger):
            self.pool.release(histogram)
            return 0
        if not wants_larger:
            self.count(histogram, &children[smaller])
            children[smaller].histogram = histogram
            return 0
        own = self.pool.take()
        if own < 0:
            return OUT_OF_MEMORY
        self.count(own, &children[smaller])
        self.pool.subtract(histogram, own)
        children[larger].histogram = histogram
        if wants_smaller:
            children[smaller].histogram = own
        else:
            self.pool.release(own)
        return 0

    cdef int grow(self) except? INTERRUPTED nogil:
        cdef Pending node
        cdef int error
        cdef Py_ssize_t since_look = 0
        if self.add_node(ROOT_PATH, 0, self.estimation.shape[0]) != 0:
            return OUT_OF_MEMORY
        node.number = 0
        node.depth = 0
        node.first_structure = 0
        node.n_structure = self.structure.shape[0]
        node.histogram = NO_HISTOGRAM
        if self.must_stop(&node):
            return 0
        self.count_labels(&node)
        self.root_weight = node_weight(self.table, self.class_counts)
        if self.pool.is_counted(node.n_structure):
            node.histogram = self.pool.take()
            if node.histogram < 0:
                return OUT_OF_MEMORY
            self.count(node.histogram, &node)
        if self.push(node) != 0:
            return OUT_OF_MEMORY
        while self.n_pending > 0:
            if self.interrupt[0]:
                return INTERRUPTED
            self.n_pending -= 1
            node = self.pending[self.n_pending]
            since_look += node.n_structure
            if since_look > POINTS_BETWEEN_LOOKS:
                since_look = 0
                with gil:
                    PyErr_CheckSignals()
            error = self.split(&node)
            if error != 0:
                return error
        return 0


def grow_tree(
    TrainingTable table, SplitRule rule, structure, estimation, key, *,
    Py_ssize_t min_leaf, bint has_floor, Py_ssize_t max_depth, double label_budget, interrupt
):
    """Grow a tree and fill its leaves.

    Parameters
    ----------
    table : TrainingTable
    rule : SplitRule
    structure, estimation : ndarray of int32
        Rows, with repetition; both are reordered.
    key : pair of uint64
        Key of the tree's random streams.
    min_leaf : int
        Estimation points: a node with at most this many is not split, or, if has_floor,
        each side of a cut must keep this many.
    has_floor : bool
        Whether min_leaf is a floor.
    max_depth : int
        -1: no limit.
    label_budget : float
        Budget of the exponential mechanism that draws a leaf's label.
    interrupt : ndarray of shape (1,), dtype=uint8
        Growth ends with KeyboardInterrupt soon after this becomes 1.

    Returns
    -------
    dict of arrays
        See `flatten`.
    """
    cdef Grower grower = Grower(
        table, rule, structure, estimation, key, min_leaf, has_floor, max_depth, interrupt)
    cdef int error
    with nogil:
        error = grower.grow()
    if error == INTERRUPTED:
        raise KeyboardInterrupt
    if error == OUT_OF_MEMORY:
        raise MemoryError("no memory to grow a tree")
    return flatten(grower.nodes, grower.n_nodes, table, grower.estimation, key, label_budget)
