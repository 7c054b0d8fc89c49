# SPDX-License-Identifier: BSD-3-Clause
"""Rows to leaves, leaves to votes or distributions.

A block of rows goes through one tree after the other, so a tree stays in the cache while it is
used, and a row's sums run in tree order whatever the number of threads. Several rows walk down
a tree side by side: while one waits for its node, the others go on.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t

from mrforest._core.types cimport Node

cdef extern from "walk.h" nogil:
    void walk_any(
        const Node* nodes, const double* X, Py_ssize_t n_features, Py_ssize_t n_rows,
        int32_t* where)
    void walk_plain(
        const Node* nodes, const double* X, Py_ssize_t n_features, Py_ssize_t n_rows,
        int32_t* where)


cdef bint has_missing(const double[:, ::1] X) noexcept nogil:
    cdef Py_ssize_t i
    cdef const double* x = &X[0, 0]
    cdef bint found = False
    for i in range(X.shape[0] * X.shape[1]):
        found |= x[i] != x[i]
    return found


cdef inline void walk(
    const Node* tree, const double[:, ::1] X, bint is_plain, int32_t* where
) noexcept nogil:
    """Leaf node of each row; plain if there is neither a missing value nor an equality cut."""
    if is_plain:
        walk_plain(tree, &X[0, 0], X.shape[1], X.shape[0], where)
    else:
        walk_any(tree, &X[0, 0], X.shape[1], X.shape[0], where)


def find_nodes(
    const double[:, ::1] X,            # IN
    const Node[::1] nodes,             # IN   all trees, one after the other
    const int64_t[::1] tree_start,     # IN   first node of each tree, and the end
    bint has_equality,                 # whether any node is an equality cut
    int32_t[:, ::1] out,               # OUT  rows x trees: number of the node in its tree
):
    """The leaf of every row in every tree, as a node number."""
    cdef Py_ssize_t n_rows = X.shape[0], t, i
    cdef int32_t[::1] where = np.empty(n_rows, dtype=np.int32)
    cdef bint is_plain
    with nogil:
        is_plain = not (has_equality or has_missing(X))
        for t in range(tree_start.shape[0] - 1):
            walk(&nodes[tree_start[t]], X, is_plain, &where[0])
            for i in range(n_rows):
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
    const double[:, ::1] X,            # IN
    const Node[::1] nodes,             # IN
    const int64_t[::1] tree_start,     # IN
    bint has_equality,
    const int64_t[::1] leaf_offset,    # IN         first leaf of each tree, and the end
    const uint16_t[::1] leaf_label,    # IN
    int32_t[:, ::1] votes,             # IN and OUT rows x classes
):
    """Add one vote a tree."""
    cdef Py_ssize_t t
    cdef int32_t[::1] where = np.empty(X.shape[0], dtype=np.int32)
    cdef bint is_plain
    with nogil:
        is_plain = not (has_equality or has_missing(X))
        for t in range(tree_start.shape[0] - 1):
            walk(&nodes[tree_start[t]], X, is_plain, &where[0])
            add_tree_votes(
                &nodes[tree_start[t]], &where[0], &leaf_label[leaf_offset[t]], votes)


def add_shares(
    const double[:, ::1] X,            # IN
    const Node[::1] nodes,             # IN
    const int64_t[::1] tree_start,     # IN
    bint has_equality,
    const int64_t[::1] leaf_offset,    # IN
    const int64_t[::1] mass_start,     # IN         first mass of each leaf, and the end
    const uint16_t[::1] mass_class,    # IN
    const float[::1] mass,             # IN
    double[:, ::1] shares,             # IN and OUT rows x classes
):
    """Add the class shares of a leaf of each tree."""
    cdef Py_ssize_t t
    cdef int32_t[::1] where = np.empty(X.shape[0], dtype=np.int32)
    cdef bint is_plain
    with nogil:
        is_plain = not (has_equality or has_missing(X))
        for t in range(tree_start.shape[0] - 1):
            walk(&nodes[tree_start[t]], X, is_plain, &where[0])
            add_tree_shares(
                &nodes[tree_start[t]], &where[0], &mass_start[leaf_offset[t]], mass_class,
                mass, shares)


def add_values(
    const double[:, ::1] X,            # IN
    const Node[::1] nodes,             # IN
    const int64_t[::1] tree_start,     # IN
    bint has_equality,
    const int64_t[::1] leaf_offset,    # IN
    const double[::1] leaf_value,      # IN
    double[::1] values,                # IN and OUT one a row
):
    """Add the value of a leaf of each tree."""
    cdef Py_ssize_t t, i
    cdef int32_t[::1] where = np.empty(X.shape[0], dtype=np.int32)
    cdef const Node* tree
    cdef bint is_plain
    with nogil:
        is_plain = not (has_equality or has_missing(X))
        for t in range(tree_start.shape[0] - 1):
            tree = &nodes[tree_start[t]]
            walk(tree, X, is_plain, &where[0])
            for i in range(X.shape[0]):
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
