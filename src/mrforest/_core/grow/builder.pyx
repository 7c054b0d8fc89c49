# SPDX-License-Identifier: BSD-3-Clause
"""The node loop; no Python inside.

    pending ─► split (a subclass says how) ─► children ─► stop? ─► pending

Draws belong to nodes, so the order in which nodes are taken does not matter. The child with fewer
structure points is taken first: then at most log2(n) nodes wait at any time.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

from mrforest._core.random.rng cimport ROOT_PATH, child_path
from mrforest._core.score.impurity cimport node_score, node_weight
from mrforest._core.types cimport (
    BAD_CHOICE, INTERRUPTED, NONE, OUT_OF_MEMORY, VARIANCE, mass_of, moment_of,
)

cdef enum:
    # The main thread runs signal handlers, such as Ctrl-C's, after so many points; other
    # threads have nothing to run and are told by `interrupt`.
    POINTS_BETWEEN_CHECKS = 1 << 17


cdef void count_classes_of(
    const Table* table, const int32_t* rows, Py_ssize_t n, int64_t* totals
) noexcept nogil:
    """Mass of each class among some rows."""
    cdef Py_ssize_t i
    cdef int64_t mass, all = 0, ones = 0
    if table.n_columns == 2:
        for i in range(n):
            mass = mass_of(table, rows[i])
            all += mass
            ones += mass * table.y[rows[i]]
        totals[0] = all - ones
        totals[1] = ones
        return
    memset(totals, 0, table.n_columns * sizeof(int64_t))
    for i in range(n):
        totals[table.y[rows[i]]] += mass_of(table, rows[i])


cdef class Limits:
    """How far a tree grows, and how its leaves are labelled.

    Parameters
    ----------
    min_split : int
        A node with fewer estimation points is not split.
    min_leaf : int
        Each side of a cut must keep this many estimation points. 0: any cut may be drawn.
    max_depth : int
        -1: no limit.
    min_side : int
        A split that leaves a child with fewer estimation points is refused.
    min_weight : float
        A split that leaves a child with less than this share of the weight of all
        estimation points is refused.
    label_budget : float
        Budget of the exponential mechanism that draws a leaf's label.
    interrupt : ndarray of shape (1,), dtype=uint8
        Growth ends with KeyboardInterrupt soon after this becomes 1.
    """

    def __init__(self, *, Py_ssize_t min_split, Py_ssize_t min_leaf,
                 Py_ssize_t max_depth, double min_weight, double label_budget, interrupt,
                 Py_ssize_t min_side=1):
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.min_side = min_side
        self.max_depth = max_depth
        self.min_weight = min_weight
        self.label_budget = label_budget
        self.interrupt = interrupt
        self.arguments = interrupt

    def __reduce__(self):
        return rebuild_limits, ({
            "min_split": self.min_split, "min_leaf": self.min_leaf,
            "max_depth": self.max_depth, "min_weight": self.min_weight,
            "label_budget": self.label_budget, "interrupt": self.arguments,
            "min_side": self.min_side},)


def rebuild_limits(arguments):
    """Pickled limits again."""
    return Limits(**arguments)


cdef class TreeBuilder:
    """The state of one growing tree; used by one thread, for one tree after the other.

    Parameters
    ----------
    table : TrainingTable
    structure, estimation : ndarray of int32
        Rows, with repetition; both are reordered. None as estimation: the structure points.
    key : pair of uint64
        Key of the tree's random streams.
    limits : Limits
    """

    def __cinit__(self, TrainingTable table, structure, estimation, key, Limits limits, *_):
        self.owner = table
        self.table = &table.view
        self.limits = limits
        self.set_points(structure, estimation, key)
        self.most_structure = self.structure.shape[0]
        self.most_estimation = self.estimation.shape[0]
        cdef Py_ssize_t longest = max(self.most_structure, self.most_estimation) + 1
        self.scratch = <int32_t*> malloc(longest * sizeof(int32_t))
        self.totals = <int64_t*> malloc(self.table.n_columns * sizeof(int64_t))
        self.counts = <int64_t*> malloc(self.table.n_columns * sizeof(int64_t))
        if self.scratch is NULL or self.totals is NULL or self.counts is NULL:
            raise MemoryError("no memory to grow a tree")

    def __dealloc__(self):
        free(self.nodes)
        free(self.pending)
        free(self.scratch)
        free(self.totals)
        free(self.counts)

    cdef void set_points(self, structure, estimation, key) except *:
        """Begin a tree. What it needs of work space is kept from the tree before."""
        self.key0, self.key1 = key
        self.is_honest = estimation is not None
        self.structure = structure
        self.estimation = structure if estimation is None else estimation
        self.n_nodes = self.n_pending = 0
        self.root_weight = self.min_weight = 0
        self.points_since_check = 0
        self.begin_at(None)

    cdef void begin_at(self, below) except *:
        """Begin with a node of a tree that others have begun, see `grow_tree`; None: the root."""
        self.root.is_whole = below is None
        self.root.path, self.root.depth, self.root.weight, self.root.min_weight = (
            (ROOT_PATH, 0, 0, 0) if below is None else below)

    cdef void forget_points(self) except *:
        """The tree is done: the points of the next one may take their place."""
        self.structure = self.estimation = None

    # ---- nodes ---------------------------------------------------------------------------

    cdef int add_node(
        self, int32_t parent, uint64_t path, Py_ssize_t first_estimation,
        Py_ssize_t n_estimation, Py_ssize_t n_points
    ) noexcept nogil:
        """A new node, a leaf until it is split."""
        cdef GrownNode* nodes
        cdef GrownNode* node
        if self.n_nodes == self.node_capacity:
            self.node_capacity = 2 * self.node_capacity + 64
            nodes = <GrownNode*> realloc(
                self.nodes, self.node_capacity * sizeof(GrownNode))
            if nodes is NULL:
                return OUT_OF_MEMORY
            self.nodes = nodes
        node = &self.nodes[self.n_nodes]
        memset(node, 0, sizeof(GrownNode))
        node.node.child = -1
        node.parent = parent
        node.path = path
        node.first_estimation = <int32_t> first_estimation
        node.n_estimation = <int32_t> n_estimation
        node.n_points = <int32_t> n_points
        self.n_nodes += 1
        return 0

    cdef int add_children(
        self, const PendingNode* node, Py_ssize_t left_structure, Py_ssize_t left_estimation,
        double score, PendingNode* children
    ) noexcept nogil:
        """Split a node whose points are partitioned; `score` is that of the cut."""
        cdef int32_t number = node.number
        cdef uint64_t path = self.nodes[number].path
        cdef Py_ssize_t first = self.nodes[number].first_estimation
        cdef Py_ssize_t n_estimation = self.nodes[number].n_estimation
        cdef Py_ssize_t n_points = self.nodes[number].n_points
        cdef Py_ssize_t left_points = self.points_on_left(node, left_estimation)
        cdef double decrease = score - node_score(self.table, self.totals)
        cdef int side
        if (self.add_node(number, child_path(path, 0), first, left_estimation, left_points) != 0
                or self.add_node(number, child_path(path, 1), first + left_estimation,
                                 n_estimation - left_estimation, n_points - left_points) != 0):
            return OUT_OF_MEMORY
        self.nodes[number].node.child = <int32_t> (self.n_nodes - 2)
        if self.root_weight > 0:  # class weights may be 0
            self.nodes[number].decrease = max(decrease, 0.0) / self.root_weight
        for side in range(2):
            children[side].number = <int32_t> (self.n_nodes - 2 + side)
            children[side].depth = node.depth + 1
            children[side].histogram = NONE
            children[side].level = NONE if node.level == NONE else node.level + 1
            children[side].matrix = node.matrix
            children[side].is_pure = False
        children[0].first_structure = node.first_structure
        children[0].n_structure = left_structure
        children[1].first_structure = node.first_structure + left_structure
        children[1].n_structure = node.n_structure - left_structure
        return 0

    cdef int push(self, PendingNode node) noexcept nogil:
        cdef PendingNode* pending
        if self.n_pending == self.pending_capacity:
            self.pending_capacity = 2 * self.pending_capacity + 64
            pending = <PendingNode*> realloc(
                self.pending, self.pending_capacity * sizeof(PendingNode))
            if pending is NULL:
                return OUT_OF_MEMORY
            self.pending = pending
        self.pending[self.n_pending] = node
        self.n_pending += 1
        return 0

    cdef int push_children(self, const PendingNode* children) noexcept nogil:
        """Last in, first out: the smaller child is taken first."""
        cdef int error = 0, side = larger_of(children)
        if not self.must_stop(&children[side]):
            error = self.push(children[side])
        if error == 0 and not self.must_stop(&children[1 - side]):
            error = self.push(children[1 - side])
        return error

    # ---- one node ------------------------------------------------------------------------

    cdef bint must_stop(self, const PendingNode* node) noexcept nogil:
        """Whether a node is known to be a leaf without a look at its structure points."""
        return node.is_pure or self.limits.end_at(
            node.depth, node.n_structure, self.nodes[node.number].n_points)

    cdef bint stops_when_pure(self) noexcept nogil:
        """Whether a node whose structure points are all alike is a leaf.

        With `min_leaf` it is split on, for the sake of its estimation points, if it has others.
        """
        return not (self.limits.min_leaf > 0 and self.is_honest)

    cdef int count_totals(self, const PendingNode* node) noexcept nogil:
        """Columns of the structure points; return 0 if there is one class or target only."""
        cdef const int32_t* rows = &self.structure[0] + node.first_structure
        cdef const Table* table = self.table
        cdef Py_ssize_t i
        cdef int differ = 0
        if table.criterion == VARIANCE:
            self.totals[0] = self.totals[1] = 0
            for i in range(node.n_structure):
                self.totals[0] += mass_of(table, rows[i])
                self.totals[1] += moment_of(table, rows[i])
        else:
            count_classes_of(table, rows, node.n_structure, self.totals)
            if table.n_columns == 2:
                return self.totals[0] > 0 and self.totals[1] > 0
        for i in range(node.n_structure):
            differ |= table.y[rows[i]] != table.y[rows[0]]
        return differ

    cdef Py_ssize_t points_on_left(
        self, const PendingNode* node, Py_ssize_t left_estimation
    ) noexcept nogil:
        """Estimation points of the left side of a node that is parted."""
        return self.points_of(self.nodes[node.number].first_estimation, left_estimation)

    cdef Py_ssize_t points_of(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Points that a slice of the estimation rows stands for."""
        cdef Py_ssize_t i, points = 0
        if self.table.copies is NULL:
            return n
        for i in range(n):
            points += self.table.copies[self.estimation[first + i]]
        return points

    cdef double weight_of(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        """Weight of some points; whole numbers are added, so their order does not matter."""
        cdef Py_ssize_t i, column = 0
        memset(self.counts, 0, self.table.n_columns * sizeof(int64_t))
        for i in range(n):
            if self.table.criterion != VARIANCE:
                column = self.table.y[rows[i]]
            self.counts[column] += mass_of(self.table, rows[i])
        return node_weight(self.table, self.counts)

    cdef bint is_too_light(
        self, const PendingNode* node, Py_ssize_t left_estimation
    ) noexcept nogil:
        """Whether a side of the partitioned estimation points has too little weight."""
        cdef const GrownNode* grown = &self.nodes[node.number]
        cdef const int32_t* rows = &self.estimation[0] + grown.first_estimation
        if self.min_weight == 0:
            return False
        return (self.weight_of(rows, left_estimation) < self.min_weight
                or self.weight_of(rows + left_estimation, grown.n_estimation - left_estimation)
                < self.min_weight)

    cdef bint is_refused(self, const PendingNode* node, Py_ssize_t left_estimation) noexcept nogil:
        """Whether a child would have too few estimation points, or too little of their weight."""
        cdef Py_ssize_t n = self.nodes[node.number].n_estimation
        return (left_estimation < self.limits.min_side
                or n - left_estimation < self.limits.min_side
                or self.is_too_light(node, left_estimation))

    cdef int split(self, PendingNode* node) except FAILED nogil:
        """Split a node and push its children, or leave it a leaf."""
        return 0

    # ---- the loop ------------------------------------------------------------------------

    cdef int start(self, PendingNode* root) noexcept nogil:
        cdef Py_ssize_t n = self.estimation.shape[0]
        if self.add_node(-1, self.root.path, 0, n, self.points_of(0, n)) != 0:
            return OUT_OF_MEMORY
        root.number = 0
        root.depth = <int32_t> self.root.depth
        root.first_structure = 0
        root.n_structure = self.structure.shape[0]
        root.histogram = NONE
        root.level = NONE
        root.matrix = NONE
        root.is_pure = False
        self.root_weight = self.root.weight
        self.min_weight = self.root.min_weight
        if root.n_structure > 0:
            self.count_totals(root)
        if not self.root.is_whole:
            return 0
        if root.n_structure > 0:
            self.root_weight = node_weight(self.table, self.totals)
        if self.limits.min_weight > 0:
            self.min_weight = self.limits.min_weight * self.weight_of(&self.estimation[0], n)
        return 0

    cdef int check_interrupt(self, Py_ssize_t n_points) except FAILED nogil:
        """Whether growth is to end; called after work on so many points."""
        if self.limits.interrupt[0]:
            return INTERRUPTED
        self.points_since_check += n_points
        if self.points_since_check > POINTS_BETWEEN_CHECKS:
            self.points_since_check = 0
            with gil:
                PyErr_CheckSignals()
        return 0

    cdef int grow(self) except FAILED nogil:
        cdef PendingNode node
        cdef int error = self.start(&node)
        if error != 0 or self.must_stop(&node):
            return error
        return self.grow_below(node)

    cdef int grow_below(self, PendingNode node) except FAILED nogil:
        """Grow a node and all that comes of it."""
        cdef Py_ssize_t n_others = self.n_pending
        cdef int error = self.push(node)
        while error == 0 and self.n_pending > n_others:
            self.n_pending -= 1
            node = self.pending[self.n_pending]
            error = self.check_interrupt(node.n_structure)
            if error == 0:
                error = self.split(&node)
        return error

    cdef int run(self) except -1:
        """Grow, and raise what went wrong."""
        cdef int error
        with nogil:
            error = self.grow()
        if error == INTERRUPTED:
            raise KeyboardInterrupt
        if error == OUT_OF_MEMORY:
            raise MemoryError("no memory to grow a tree")
        if error == BAD_CHOICE:
            raise ValueError("the split rule chose a feature or a cut that it was not given")
        return 0
