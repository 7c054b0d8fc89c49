# SPDX-License-Identifier: BSD-3-Clause
"""What every growing tree has: points, nodes, and nodes that wait to be split.

A node is a slice of the structure points and a slice of the estimation points. If the two are
one and the same list (a bootstrap, or all points), so are the slices.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.types cimport FAILED, Node, Table

cdef struct GrownNode:
    Node node                       # a leaf has child -1
    int32_t pivots[2]               # rows, if the split compares with two of them
    uint64_t path
    double decrease                 # of the impurity of the tree's structure points
    # There are fewer than 2^31 points.
    int32_t parent                  # -1: the root
    int32_t first_estimation        # the node's slice of the estimation points
    int32_t n_estimation
    int32_t n_points                # that these rows stand for
    int32_t n_structure             # of trees of which all points fill the leaves


cdef struct PendingNode:
    int32_t number                  # of the node
    int32_t depth
    Py_ssize_t first_structure
    Py_ssize_t n_structure
    int histogram                   # number of its histogram, or NONE
    int level                       # in the block, or NONE
    int matrix                       # that its mask is of, or NONE
    Py_ssize_t mask                 # place of the mask
    bint is_pure                    # whether it is known to be a leaf, having one class only


cdef struct Root:
    # The node that growth begins with.
    uint64_t path
    Py_ssize_t depth
    bint is_whole                   # whether it is the tree's root; else the tree says:
    double weight                   # of its structure points
    double min_weight               # of the estimation points of a child


@cython.final
cdef class Limits:
    cdef readonly Py_ssize_t min_split
    cdef readonly Py_ssize_t min_leaf
    cdef readonly Py_ssize_t min_side
    cdef readonly Py_ssize_t max_depth
    cdef readonly double min_weight
    cdef readonly double label_budget
    cdef const uint8_t[::1] interrupt
    cdef object arguments

    cdef inline bint end_at(
        self, Py_ssize_t depth, Py_ssize_t n_structure, Py_ssize_t n_points
    ) noexcept nogil:
        """Whether a node of so many structure and estimation points is a leaf, whatever they are.
        """
        if depth == self.max_depth or n_structure < 2:
            return True
        return n_points < max(self.min_split, 2 * self.min_leaf)


cdef class TreeBuilder:
    # What is given
    cdef TrainingTable owner
    cdef const Table* table
    cdef Limits limits
    cdef uint64_t key0, key1
    cdef int32_t[::1] structure, estimation     # rows
    cdef Py_ssize_t most_structure, most_estimation     # rows that there is work space for
    cdef bint is_honest                         # whether the two are different lists
    cdef bint compares                          # whether nodes have pivots, not cuts
    cdef bint keeps_counts                      # whether leaves say what they counted, too
    cdef Root root

    # What grows
    cdef GrownNode* nodes
    cdef Py_ssize_t n_nodes, node_capacity
    cdef PendingNode* pending
    cdef Py_ssize_t n_pending, pending_capacity
    cdef double root_weight                     # of the structure points
    cdef double min_weight                      # of the estimation points of a child

    # Work space
    cdef int32_t* scratch                       # as long as the longer list
    cdef int64_t* totals                        # columns of a node's structure points
    cdef int64_t* counts                        # columns of some other points

    cdef int split(self, PendingNode* node) except FAILED nogil
    cdef bint must_stop(self, const PendingNode* node) noexcept nogil
    cdef bint stops_when_pure(self) noexcept nogil
    cdef int add_node(
        self, int32_t parent, uint64_t path, Py_ssize_t first_estimation,
        Py_ssize_t n_estimation, Py_ssize_t n_points) noexcept nogil
    cdef int add_children(
        self, const PendingNode* node, Py_ssize_t left_structure, Py_ssize_t left_estimation,
        double score, PendingNode* children) noexcept nogil
    cdef int push(self, PendingNode node) noexcept nogil
    cdef int push_children(self, const PendingNode* children) noexcept nogil
    cdef Py_ssize_t points_on_left(
        self, const PendingNode* node, Py_ssize_t left_estimation) noexcept nogil
    cdef Py_ssize_t points_of(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef double weight_of(self, const int32_t* rows, Py_ssize_t n) noexcept nogil
    cdef bint is_too_light(
        self, const PendingNode* node, Py_ssize_t left_estimation) noexcept nogil
    cdef bint is_refused(self, const PendingNode* node, Py_ssize_t left_estimation) noexcept nogil
    cdef int count_totals(self, const PendingNode* node) noexcept nogil
    cdef int start(self, PendingNode* root) noexcept nogil
    cdef int check_interrupt(self, Py_ssize_t n_points) except FAILED nogil
    cdef int grow(self) except FAILED nogil
    cdef int grow_below(self, PendingNode node) except FAILED nogil
    cdef void set_points(self, structure, estimation, key) except *
    cdef void begin_at(self, below) except *
    cdef void forget_points(self) except *
    cdef int run(self) except -1

    cdef Py_ssize_t points_since_check


cdef void count_classes_of(
    const Table* table, const int32_t* rows, Py_ssize_t n, int64_t* totals) noexcept nogil


cdef inline int larger_of(const PendingNode* children) noexcept nogil:
    """The child with more structure points, which is taken last."""
    return 0 if children[0].n_structure > children[1].n_structure else 1
