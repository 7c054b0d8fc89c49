# SPDX-License-Identifier: BSD-3-Clause
"""Rows to leaves, leaves to votes or distributions.

A block of rows goes through one tree after the other, so a tree stays in the cache while it is
used, and a row's sums run in tree order whatever the number of threads. Several rows walk down
a tree side by side: while one waits for its node, the others go on.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc

from mrforest._core.kernels.dispatch cimport CodeColumn, CodedNode, kernels
from mrforest._core.types cimport Node

CODED_NODE_DTYPE = np.dtype([("child", np.int32), ("column", np.uint16), ("high", np.uint16)])


cdef class CodedNodes:
    """The nodes of a forest that ask for codes instead of values.

    Parameters
    ----------
    nodes : ndarray of CODED_NODE_DTYPE or None
        As many as the forest has, in their order. None: `slim_nodes` will do.
    features : ndarray of int32
        Feature of each column of codes.
    is_equality : ndarray of uint8
        Whether a column tells if a row differs from a value, or how many lie below it.
    values : ndarray of float64
        The values of each column, ascending, one column after the other.
    start : ndarray of int64
        First value of each column, and the end.
    slim_nodes : ndarray of uint32 or None
        The nodes as kernels.h has them, if they fit.
    """

    def __cinit__(self, const CodedNode[::1] nodes, const int32_t[::1] features,
                  const uint8_t[::1] is_equality, const double[::1] values,
                  const int64_t[::1] start, const uint32_t[::1] slim_nodes):
        cdef Py_ssize_t j
        self.slim_nodes = slim_nodes
        self.nodes = nodes
        self.values = values
        self.n_columns = features.shape[0]
        self.n_values = values.shape[0]
        self.stride = self.n_columns
        if slim_nodes is not None:
            self.stride = 16
            while self.stride < self.n_columns:
                self.stride *= 2
        self.columns = <CodeColumn*> malloc(self.n_columns * sizeof(CodeColumn))
        if self.columns is NULL:
            raise MemoryError("no memory for codes")
        for j in range(self.n_columns):
            self.columns[j].values = &values[start[j]]
            self.columns[j].n_values = <int32_t> (start[j + 1] - start[j])
            self.columns[j].feature = features[j]
            self.columns[j].is_equality = is_equality[j]
            self.is_wide |= self.columns[j].n_values > 255

    def __dealloc__(self):
        free(self.columns)


cdef class Rows:
    """Rows that go through a forest, as they are or, if no value is missing, as codes.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), dtype=float64
    nodes : ndarray of NODE_DTYPE
        All trees, one after the other.
    tree_start : ndarray of int64
        First node of each tree, and the end.
    has_equality : bool
        Whether any node is an equality cut.
    coded : CodedNodes or None
        The same nodes.
    """

    def __cinit__(self, const double[:, ::1] X not None, const Node[::1] nodes not None,
                  const int64_t[::1] tree_start not None, bint has_equality, CodedNodes coded):
        cdef bint missing
        self.X = X
        self.nodes = nodes
        self.tree_start = tree_start
        self.n = X.shape[0]
        self.n_trees = tree_start.shape[0] - 1
        with nogil:
            missing = kernels.has_missing(&X[0, 0], X.shape[0] * X.shape[1])
        self.is_plain = not (has_equality or missing)
        if coded is not None and not missing:
            self.coded = coded
            self.code()

    def __dealloc__(self):
        free(self.codes)
        free(self.waiting)

    cdef int code(self) except -1:
        cdef CodedNodes coded = self.coded
        cdef Py_ssize_t n_columns = coded.n_columns, n_features = self.X.shape[1]
        self.codes = malloc(self.n * coded.stride * (2 if coded.is_wide else 1))
        self.waiting = <int32_t*> malloc(self.n * sizeof(int32_t))
        if self.codes is NULL or self.waiting is NULL:
            raise MemoryError("no memory for codes")
        with nogil:
            if coded.is_wide:
                kernels.code_shorts(coded.columns, n_columns, &self.X[0, 0], n_features, self.n,
                            <uint16_t*> self.codes, coded.stride)
            else:
                kernels.code_bytes(coded.columns, n_columns, &self.X[0, 0], n_features, self.n,
                           <uint8_t*> self.codes, coded.stride)
        return 0

    cdef const Node* tree(self, Py_ssize_t t) noexcept nogil:
        return &self.nodes[self.tree_start[t]]

    cdef void walk(self, Py_ssize_t t, int32_t* where) noexcept nogil:
        """Leaf node of each row in a tree."""
        cdef Py_ssize_t first = self.tree_start[t], n_nodes = self.tree_start[t + 1] - first
        if self.codes is NULL:
            if self.is_plain:
                kernels.walk_plain(self.tree(t), &self.X[0, 0], self.X.shape[1], self.n, where)
            else:
                kernels.walk_any(self.tree(t), &self.X[0, 0], self.X.shape[1], self.n, where)
        elif self.coded.slim_nodes is not None:
            kernels.walk_slim(
                &self.coded.slim_nodes[first], n_nodes, <const uint8_t*> self.codes,
                self.coded.stride, self.n, where, self.waiting)
        elif self.coded.is_wide:
            kernels.walk_shorts(
                &self.coded.nodes[first], n_nodes, <const uint16_t*> self.codes,
                self.coded.stride, self.n, where, self.waiting)
        else:
            kernels.walk_bytes(
                &self.coded.nodes[first], n_nodes, <const uint8_t*> self.codes,
                self.coded.stride, self.n, where, self.waiting)


def find_nodes(
    Rows rows not None,                # IN
    int32_t[:, ::1] out,               # OUT  rows x trees: number of the node in its tree
):
    """The leaf of every row in every tree, as a node number."""
    cdef Py_ssize_t t, i
    cdef int32_t[::1] where = np.empty(rows.n, dtype=np.int32)
    with nogil:
        for t in range(rows.n_trees):
            rows.walk(t, &where[0])
            for i in range(rows.n):
                out[i, t] = where[i]


# What a tree adds, given the leaf node of each row: kernels that all walks share.

cdef void add_tree_votes(
    const Node* tree, const int32_t* where, const uint16_t* leaf_label, int32_t[:, ::1] votes
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(votes.shape[0]):
        votes[i, leaf_label[-1 - tree[where[i]].child]] += 1


cdef void add_tree_shares(
    const Node* tree, const int32_t* where, const int64_t* mass_start,
    const uint16_t[::1] mass_class, const float[::1] mass, double[:, ::1] shares
) noexcept nogil:
    cdef Py_ssize_t n_classes = shares.shape[1], i, leaf, m
    cdef double total
    for i in range(shares.shape[0]):
        leaf = -1 - tree[where[i]].child
        total = 0
        for m in range(mass_start[leaf], mass_start[leaf + 1]):
            total += mass[m]
        if total > 0:
            for m in range(mass_start[leaf], mass_start[leaf + 1]):
                shares[i, mass_class[m]] += mass[m] / total
        else:  # a leaf without mass knows nothing
            for m in range(n_classes):
                shares[i, m] += 1.0 / n_classes


def add_votes(
    Rows rows not None,                # IN
    const int64_t[::1] leaf_offset,    # IN         first leaf of each tree, and the end
    const uint16_t[::1] leaf_label,    # IN
    int32_t[:, ::1] votes,             # IN and OUT rows x classes
):
    """Add one vote a tree."""
    cdef Py_ssize_t t
    cdef int32_t[::1] where = np.empty(rows.n, dtype=np.int32)
    with nogil:
        for t in range(rows.n_trees):
            rows.walk(t, &where[0])
            add_tree_votes(rows.tree(t), &where[0], &leaf_label[leaf_offset[t]], votes)


def add_labels(
    Rows rows not None,                # IN
    const uint16_t[::1] labels,        # IN         by node, of all trees
    int32_t[:, ::1] votes,             # IN and OUT rows x classes
):
    """Add one vote a tree, for the label of the leaf node."""
    cdef Py_ssize_t t, i
    cdef int32_t[::1] where = np.empty(rows.n, dtype=np.int32)
    cdef const uint16_t* label
    with nogil:
        for t in range(rows.n_trees):
            rows.walk(t, &where[0])
            label = &labels[rows.tree_start[t]]
            for i in range(rows.n):
                votes[i, label[where[i]]] += 1


def add_shares(
    Rows rows not None,                # IN
    const int64_t[::1] leaf_offset,    # IN
    const int64_t[::1] mass_start,     # IN         first mass of each leaf, and the end
    const uint16_t[::1] mass_class,    # IN
    const float[::1] mass,             # IN
    double[:, ::1] shares,             # IN and OUT rows x classes
):
    """Add the class shares of a leaf of each tree."""
    cdef Py_ssize_t t
    cdef int32_t[::1] where = np.empty(rows.n, dtype=np.int32)
    with nogil:
        for t in range(rows.n_trees):
            rows.walk(t, &where[0])
            add_tree_shares(
                rows.tree(t), &where[0], &mass_start[leaf_offset[t]], mass_class, mass, shares)


def add_values(
    Rows rows not None,                # IN
    const int64_t[::1] leaf_offset,    # IN
    const double[::1] leaf_value,      # IN
    double[::1] values,                # IN and OUT one a row
):
    """Add the value of a leaf of each tree."""
    cdef Py_ssize_t t, i
    cdef int32_t[::1] where = np.empty(rows.n, dtype=np.int32)
    cdef const Node* tree
    with nogil:
        for t in range(rows.n_trees):
            tree = rows.tree(t)
            rows.walk(t, &where[0])
            for i in range(rows.n):
                values[i] += leaf_value[leaf_offset[t] - 1 - tree[where[i]].child]


def add_votes_at(
    const int32_t[:, ::1] where,       # IN         trees x rows: leaf nodes that were found
    const Node[::1] nodes,             # IN
    const int64_t[::1] tree_start,     # IN
    const int64_t[::1] leaf_offset,    # IN
    const uint16_t[::1] leaf_label,    # IN
    int32_t[:, ::1] votes,             # IN and OUT rows x classes
):
    """Add one vote a tree, for rows whose leaves are known."""
    cdef Py_ssize_t t
    with nogil:
        for t in range(tree_start.shape[0] - 1):
            add_tree_votes(
                &nodes[tree_start[t]], &where[t, 0], &leaf_label[leaf_offset[t]], votes)


def add_shares_at(
    const int32_t[:, ::1] where,       # IN         trees x rows: leaf nodes that were found
    const Node[::1] nodes,             # IN
    const int64_t[::1] tree_start,     # IN
    const int64_t[::1] leaf_offset,    # IN
    const int64_t[::1] mass_start,     # IN
    const uint16_t[::1] mass_class,    # IN
    const float[::1] mass,             # IN
    double[:, ::1] shares,             # IN and OUT rows x classes
):
    """Add the class shares of a leaf of each tree, for rows whose leaves are known."""
    cdef Py_ssize_t t
    with nogil:
        for t in range(tree_start.shape[0] - 1):
            add_tree_shares(
                &nodes[tree_start[t]], &where[t, 0], &mass_start[leaf_offset[t]], mass_class,
                mass, shares)
