# SPDX-License-Identifier: BSD-3-Clause
"""Class shares of leaves that are made once, for many rows."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.stdlib cimport free, malloc

from mrforest._core.predict.walk cimport Rows
from mrforest._core.types cimport Node


cdef struct Share:
    double share
    int32_t label
    int32_t is_last         # of its leaf


cdef class LeafShares:
    """The class shares of all leaves, by node: as add_tree_shares makes them, but once.

    `lay_out` is to be called for all trees before rows come.

    Parameters
    ----------
    nodes, leaf_offset, mass_start, mass_class, mass
        As a ClassForest has them.
    n_classes : int
    """
    cdef const Node[::1] nodes
    cdef const int64_t[::1] leaf_offset, mass_start
    cdef const uint16_t[::1] mass_class
    cdef const float[::1] mass
    cdef Py_ssize_t n_classes
    # The only class that a leaf has, n_classes if all are alike; else -1 - its first share.
    cdef int32_t[::1] of_node
    cdef Share* shares

    def __cinit__(self, const Node[::1] nodes not None, const int64_t[::1] leaf_offset not None,
                  const int64_t[::1] mass_start not None, const uint16_t[::1] mass_class not None,
                  const float[::1] mass not None, Py_ssize_t n_classes):
        self.nodes = nodes
        self.leaf_offset = leaf_offset
        self.mass_start = mass_start
        self.mass_class = mass_class
        self.mass = mass
        self.n_classes = n_classes
        self.of_node = np.empty(nodes.shape[0], dtype=np.int32)
        self.shares = <Share*> malloc((mass.shape[0] + 1) * sizeof(Share))
        if self.shares is NULL:
            raise MemoryError("no memory for shares")

    def __dealloc__(self):
        free(self.shares)

    def lay_out(self, const int64_t[::1] tree_start not None, Py_ssize_t first_tree):
        """Make the shares of some trees.

        Parameters
        ----------
        tree_start : ndarray of int64
            First node of each of these trees, and the end.
        first_tree : int
            Number of the first of them.
        """
        cdef Py_ssize_t t, i, first_leaf
        with nogil:
            for t in range(tree_start.shape[0] - 1):
                first_leaf = self.leaf_offset[first_tree + t]
                for i in range(tree_start[t], tree_start[t + 1]):
                    if self.nodes[i].child < 0:
                        self.of_node[i] = self.put(first_leaf - 1 - self.nodes[i].child)

    cdef int32_t put(self, Py_ssize_t leaf) noexcept nogil:
        """Make the shares of a leaf; return what `of_node` says of it."""
        cdef Py_ssize_t first = self.mass_start[leaf], end = self.mass_start[leaf + 1], m
        cdef double total = 0
        for m in range(first, end):
            total += self.mass[m]
        if not total > 0:  # a leaf without mass says that all classes are alike
            return <int32_t> self.n_classes
        if end - first == 1:
            return self.mass_class[first]
        for m in range(first, end):
            self.shares[m].is_last = m == end - 1
            self.shares[m].label = self.mass_class[m]
            self.shares[m].share = self.mass[m] / total
        return <int32_t> (-1 - first)

    cdef void add(
        self, Py_ssize_t first_node, const int32_t* where, double[:, ::1] shares
    ) noexcept nogil:
        """Add the shares of the leaf of each row, in a tree that begins with that node."""
        cdef Py_ssize_t i, k
        cdef int32_t of_leaf
        cdef const Share* share
        cdef const int32_t* of_node = &self.of_node[first_node]
        for i in range(shares.shape[0]):
            of_leaf = of_node[where[i]]
            if 0 <= of_leaf < self.n_classes:
                shares[i, of_leaf] += 1.0
                continue
            if of_leaf >= 0:
                for k in range(self.n_classes):
                    shares[i, k] += 1.0 / self.n_classes
                continue
            share = self.shares + (-1 - of_leaf)
            shares[i, share.label] += share.share
            while not share.is_last:
                share += 1
                shares[i, share.label] += share.share


def add_leaf_shares(
    Rows rows not None,                # IN
    LeafShares leaf_shares not None,   # IN
    double[:, ::1] shares,             # IN and OUT rows x classes
):
    """Add the class shares of a leaf of each tree."""
    cdef Py_ssize_t t
    cdef int32_t[::1] where = np.empty(rows.n, dtype=np.int32)
    with nogil:
        for t in range(rows.n_trees):
            rows.walk(t, &where[0])
            leaf_shares.add(rows.tree_start[t], &where[0], shares)
