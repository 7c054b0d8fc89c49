# SPDX-License-Identifier: BSD-3-Clause
"""Rows to leaves, leaves to votes or distributions.

A block of rows goes through one tree after the other, so a tree stays in the cache while it is
used, and a row's sums run in tree order whatever the number of threads. Several rows walk down
a tree side by side: while one waits for its node, the others go on.
"""

from libc.stdint cimport int32_t, int64_t, uint16_t

from mrforest._core.types cimport Node

cdef extern from "walk.h" nogil:
    enum:
        LANES "MRFOREST_LANES"
    void walk_any(
        const Node* nodes, const double* X, Py_ssize_t n_features, Py_ssize_t n_rows,
        int32_t* where)
    void walk_plain(
        const Node* nodes, const double* X, Py_ssize_t n_features, Py_ssize_t n_rows,
        int32_t* where)

ctypedef void (*Walk)(
    const Node*, const double*, Py_ssize_t, Py_ssize_t, int32_t*) noexcept nogil


cdef Walk walk_for(const double[:, ::1] X, bint has_equality) noexcept nogil:
    """The fastest walk that is right for these rows."""
    cdef Py_ssize_t i
    cdef const double* x = &X[0, 0]
    cdef bint any_missing = False
    for i in range(X.shape[0] * X.shape[1]):
        any_missing |= x[i] != x[i]
    return walk_any if has_equality or any_missing else walk_plain


def find_nodes(
    const double[:, ::1] X,            # IN
    const Node[::1] nodes,             # IN   all trees, one after the other
    const int64_t[::1] tree_start,     # IN   first node of each tree, and the end
    bint has_equality,                 # whether any node is an equality cut
    int32_t[:, ::1] out,               # OUT  rows x trees: number of the node in its tree
):
    """The leaf of every row in every tree, as a node number."""
    cdef Py_ssize_t n_rows = X.shape[0], n_trees = tree_start.shape[0] - 1, t, group, i, lane, n
    cdef int32_t where[LANES]
    cdef Walk walk
    with nogil:
        walk = walk_for(X, has_equality)
        for t in range(n_trees):
            for group in range((n_rows + LANES - 1) // LANES):
                i = group * LANES
                n = min(LANES, n_rows - i)
                walk(&nodes[tree_start[t]], &X[i, 0], X.shape[1], n, where)
                for lane in range(n):
                    out[i + lane, t] = where[lane]


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
    cdef Py_ssize_t n_rows = X.shape[0], n_trees = tree_start.shape[0] - 1, t, group, i, lane, n
    cdef const Node* tree
    cdef int32_t where[LANES]
    cdef Walk walk
    with nogil:
        walk = walk_for(X, has_equality)
        for t in range(n_trees):
            tree = &nodes[tree_start[t]]
            for group in range((n_rows + LANES - 1) // LANES):
                i = group * LANES
                n = min(LANES, n_rows - i)
                walk(tree, &X[i, 0], X.shape[1], n, where)
                for lane in range(n):
                    votes[i + lane, leaf_label[leaf_offset[t] - 1 - tree[where[lane]].child]] += 1


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
    """Add the class shares of a leaf of each tree; a leaf without mass knows nothing."""
    cdef Py_ssize_t n_rows = X.shape[0], n_trees = tree_start.shape[0] - 1
    cdef Py_ssize_t n_classes = shares.shape[1], t, group, i, lane, n, leaf, m
    cdef const Node* tree
    cdef int32_t where[LANES]
    cdef double total
    cdef Walk walk
    with nogil:
        walk = walk_for(X, has_equality)
        for t in range(n_trees):
            tree = &nodes[tree_start[t]]
            for group in range((n_rows + LANES - 1) // LANES):
                i = group * LANES
                n = min(LANES, n_rows - i)
                walk(tree, &X[i, 0], X.shape[1], n, where)
                for lane in range(n):
                    leaf = leaf_offset[t] - 1 - tree[where[lane]].child
                    total = 0
                    for m in range(mass_start[leaf], mass_start[leaf + 1]):
                        total += mass[m]
                    if total > 0:
                        for m in range(mass_start[leaf], mass_start[leaf + 1]):
                            shares[i + lane, mass_class[m]] += mass[m] / total
                    else:
                        for m in range(n_classes):
                            shares[i + lane, m] += 1.0 / n_classes
