# SPDX-License-Identifier: BSD-3-Clause
"""Class shares of leaves that are made once, for many rows."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.stdlib cimport free, malloc

from mrforest._core.predict cimport Rows
from mrforest._core.types cimport Node


cdef struct Share:
    double share
    int32_t label
    int32_t is_last         # of its leaf


cdef class LeafShares:
    """The class shares of all leaves, by node: as add_tree_shares makes them, but once.

    Parameters
    ----------
    nodes, tree_start, leaf_offset, mass_start, mass_class, mass
        As a ClassForest has them.
    n_classes : int
    """
    cdef int32_t[::1] of_node       # the only class that a leaf has; else -1 - its first share
    cdef Share* shares

    def __cinit__(self, const Node[::1] nodes not None, const int64_t[::1] tree_start not None,
                  const int64_t[::1] leaf_offset not None, const int64_t[::1] mass_start not None,
                  const uint16_t[::1] mass_class not None, const float[::1] mass not None,
                  Py_ssize_t n_classes):
        cdef Py_ssize_t t, i, leaf, n_shares = mass.shape[0], at = 0, m
        cdef const Share* first
        cdef double total
        with nogil:
            # A leaf without mass says that all classes are alike.
            for leaf in range(mass_start.shape[0] - 1):
                total = 0
                for m in range(mass_start[leaf], mass_start[leaf + 1]):
                    total += mass[m]
                n_shares += 0 if total > 0 else n_classes
        self.shares = <Share*> malloc((n_shares + 1) * sizeof(Share))
        if self.shares is NULL:
            raise MemoryError("no memory for shares")
        self.of_node = np.empty(nodes.shape[0], dtype=np.int32)
        with nogil:
            for t in range(tree_start.shape[0] - 1):
                for i in range(tree_start[t], tree_start[t + 1]):
                    if nodes[i].child >= 0:
                        continue
                    leaf = leaf_offset[t] - 1 - nodes[i].child
                    first = self.shares + at
                    self.of_node[i] = -1 - <int32_t> at
                    at += self.put(at, mass_start[leaf], mass_start[leaf + 1], mass_class, mass,
                                   n_classes)
                    if first.share == 1.0 and first.is_last:
                        at -= 1
                        self.of_node[i] = first.label

    def __dealloc__(self):
        free(self.shares)

    cdef Py_ssize_t put(
        self, Py_ssize_t at, Py_ssize_t first, Py_ssize_t end, const uint16_t[::1] mass_class,
        const float[::1] mass, Py_ssize_t n_classes
    ) noexcept nogil:
        cdef Py_ssize_t m, n = 0
        cdef double total = 0
        for m in range(first, end):
            total += mass[m]
        n = end - first if total > 0 else n_classes
        for m in range(n):
            self.shares[at + m].is_last = m == n - 1
            self.shares[at + m].label = mass_class[first + m] if total > 0 else <int32_t> m
            self.shares[at + m].share = mass[first + m] / total if total > 0 else 1.0 / n_classes
        return n

    cdef void add(
        self, Py_ssize_t first_node, const int32_t* where, double[:, ::1] shares
    ) noexcept nogil:
        """Add the shares of the leaf of each row, in a tree that begins with that node."""
        cdef Py_ssize_t i
        cdef int32_t of_leaf
        cdef const Share* share
        cdef const int32_t* of_node = &self.of_node[first_node]
        for i in range(shares.shape[0]):
            of_leaf = of_node[where[i]]
            if of_leaf >= 0:
                shares[i, of_leaf] += 1.0
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
