# SPDX-License-Identifier: BSD-3-Clause
"""A tree and its prefixes: the trees that are left if nodes of at most so many points are leaves.

A tree that is shaped by some rows and filled by all tells for each row that is held out, and for
every leaf size at once, what it would say of that row if the row did not fill it:

    size 1    a ─ b ─ c ─ [d]       the row is in leaf d, which has 2 points
    size 4    a ─ b ─ [c]           c has 3
    size 9    a ─ [b]               b has 8
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from mrforest._core.tree import NODE_DTYPE
from mrforest._core.types cimport Node


cdef extern from *:
    """
    /* Masses of leaves are floats of 32 bits: a row is alone if the others weigh less than this
     * share of it. */
    #define MRFOREST_ROUNDING 1e-6
    """
    const double ROUNDING "MRFOREST_ROUNDING"


cdef struct Visit:
    int32_t node
    int32_t n_done          # children that have been visited
    int32_t first_row       # rows of the nodes before it


cdef class Prefixes:
    """The prefixes of one tree, and rows that are held out of it.

    Parameters
    ----------
    tree : dict of arrays
        As `grow_sampled_tree` returns it.
    n_classes : int
        0 for a regression.
    """

    cdef const Node[::1] nodes
    cdef const uint32_t[::1] leaf_points
    cdef const int32_t[::1] held_leaf
    cdef bint is_regression
    cdef Py_ssize_t n_columns
    cdef const int64_t[::1] mass_start
    cdef const uint16_t[::1] mass_class
    cdef const float[::1] mass
    cdef const int64_t[::1] leaf_mass
    cdef const int64_t[::1] leaf_moment
    cdef readonly object points         # of each node

    def __init__(self, tree, Py_ssize_t n_classes):
        self.nodes = tree["nodes"]
        self.leaf_points = tree["leaf_points"]
        self.held_leaf = tree["held_leaf"]
        self.is_regression = n_classes == 0
        self.n_columns = 2 if self.is_regression else n_classes
        if not self.is_regression:
            self.mass_start = tree["mass_start"]
            self.mass_class = tree["mass_class"]
            self.mass = tree["mass"]
        else:
            self.leaf_mass = tree["leaf_mass"]
            self.leaf_moment = tree["leaf_moment"]
        points_ = np.empty(self.nodes.shape[0], dtype=np.int64)
        cdef int64_t[::1] points = points_
        cdef Py_ssize_t i, child
        with nogil:
            for i in range(self.nodes.shape[0] - 1, -1, -1):
                child = self.nodes[i].child
                if child < 0:
                    points[i] = self.leaf_points[-1 - child]
                else:
                    points[i] = points[child] + points[child + 1]
        self.points = points_

    cdef void write_leaf(self, Py_ssize_t leaf, double* sums) noexcept nogil:
        """What the points of a leaf add up to: the mass of each class, or mass and moment."""
        cdef Py_ssize_t m
        if self.is_regression:
            sums[0] = <double> self.leaf_mass[leaf]
            sums[1] = <double> self.leaf_moment[leaf]
            return
        memset(sums, 0, self.n_columns * sizeof(double))
        for m in range(self.mass_start[leaf], self.mass_start[leaf + 1]):
            sums[self.mass_class[m]] = self.mass[m]

    def add_shares(
        self, const int64_t[::1] rows, const int32_t[::1] classes, const double[::1] own,
        const int64_t[::1] sizes, double[:, :, ::1] out
    ):
        """Add what each prefix says of rows that are held out, without their own part in it.

        Parameters
        ----------
        rows : ndarray of int64
            For each held row, where it stands in `out`; -1: nowhere.
        classes : ndarray of int32
            Its class.
        own : ndarray of float64
            Its mass.
        sizes : ndarray of int64
            Leaf sizes, ascending.
        out : ndarray of shape (n_sizes, n, n_classes)
            The shares of the classes are added.
        """
        visit(self, rows, classes, own, own, sizes, out)

    def add_values(
        self, const int64_t[::1] rows, const double[::1] own, const double[::1] own_moment,
        const int64_t[::1] sizes, double[:, :, ::1] out
    ):
        """The same of a regression: moment over mass is added to `out`, (n_sizes, n, 1)."""
        visit(self, rows, None, own, own_moment, sizes, out)

    def prune(self, Py_ssize_t size):
        """The prefix whose nodes of at most `size` points are leaves.

        Returns
        -------
        nodes : ndarray of NODE_DTYPE
        leaf_points : ndarray of uint32
        leaf_of : ndarray of int32
            For each leaf of the tree, the leaf of the prefix that it became a part of.
        kept : ndarray of int32
            Which node of the tree each node of the prefix is.
        """
        cdef Py_ssize_t n = self.nodes.shape[0], n_leaves = self.leaf_points.shape[0]
        cdef const int64_t[::1] points = self.points
        nodes_ = np.zeros(n, dtype=NODE_DTYPE)
        points_ = np.empty(n_leaves, dtype=np.uint32)
        leaf_of_ = np.empty(n_leaves, dtype=np.int32)
        old_ = np.empty(n, dtype=np.int32)
        cdef Node[::1] nodes = nodes_
        cdef uint32_t[::1] leaf_points = points_
        cdef int32_t[::1] leaf_of = leaf_of_, old = old_
        # Of each node: its leaf in the prefix, if it is in one; else -1 - its number.
        cdef int32_t[::1] where = np.empty(n, dtype=np.int32)
        cdef Py_ssize_t i, child, n_kept = 1, n_new = 0, kept
        with nogil:
            where[0] = -1
            for i in range(n):
                child = self.nodes[i].child
                if where[i] < 0:
                    kept = -1 - where[i]
                    old[kept] = <int32_t> i
                    if child >= 0 and points[i] > size:
                        nodes[kept] = self.nodes[i]
                        nodes[kept].child = <int32_t> n_kept
                        where[child] = <int32_t> (-1 - n_kept)
                        where[child + 1] = <int32_t> (-2 - n_kept)
                        n_kept += 2
                        continue
                    nodes[kept].child = <int32_t> (-1 - n_new)
                    leaf_points[n_new] = <uint32_t> points[i]
                    where[i] = <int32_t> n_new
                    n_new += 1
                if child >= 0:
                    where[child] = where[child + 1] = where[i]
                else:
                    leaf_of[-1 - child] = where[i]
        return nodes_[:n_kept].copy(), points_[:n_new].copy(), leaf_of_, old_[:n_kept].copy()


cdef int visit(
    Prefixes tree, const int64_t[::1] rows, const int32_t[::1] classes, const double[::1] own,
    const double[::1] own_moment, const int64_t[::1] sizes, double[:, :, ::1] out
) except -1:
    """Visit children before their parents; what they add up to is kept for one path only."""
    cdef Py_ssize_t n_held = tree.held_leaf.shape[0], n_leaves = tree.leaf_points.shape[0]
    cdef Py_ssize_t n_columns = tree.n_columns, n_sizes = sizes.shape[0]
    cdef Py_ssize_t n_stack = 0, room = 0, i, k, n_rows = 0, leaf, child, end
    cdef const int64_t[::1] points = tree.points
    # Rows by leaf, in the order in which leaves are visited
    cdef int64_t[::1] start = np.zeros(n_leaves + 1, dtype=np.int64)
    cdef int32_t[::1] by_leaf = np.empty(n_held, dtype=np.int32)
    cdef int32_t[::1] row_of = np.empty(n_held, dtype=np.int32)
    cdef int32_t[::1] next_size = np.zeros(n_held, dtype=np.int32)
    cdef Visit* stack = NULL
    cdef double* sums = NULL
    cdef void* more
    cdef int error = 0
    cdef double* here
    with nogil:
        for i in range(n_held):
            if rows[i] >= 0:
                start[tree.held_leaf[i] + 1] += 1
        for i in range(n_leaves):
            start[i + 1] += start[i]
        for i in range(n_held):
            if rows[i] >= 0:
                leaf = tree.held_leaf[i]
                by_leaf[start[leaf]] = <int32_t> i
                start[leaf] += 1
        # start[i] is now the end of leaf i, and so the start of the next one
        while n_stack >= 0:
            if n_stack + 1 >= room:
                room = 2 * room + 64
                more = realloc(stack, room * sizeof(Visit))
                if more is NULL:
                    error = 1
                    break
                stack = <Visit*> more
                more = realloc(sums, room * n_columns * sizeof(double))
                if more is NULL:
                    error = 1
                    break
                sums = <double*> more
                if n_stack == 0 and n_rows == 0:
                    stack[0].node = 0
                    stack[0].n_done = 0
                    stack[0].first_row = 0
            i = stack[n_stack].node
            child = tree.nodes[i].child
            here = sums + n_stack * n_columns
            if child < 0:
                leaf = -1 - child
                tree.write_leaf(leaf, here)
                for k in range(start[leaf - 1] if leaf > 0 else 0, start[leaf]):
                    row_of[n_rows] = by_leaf[k]
                    n_rows += 1
            else:
                if stack[n_stack].n_done > 0:
                    # The child that was visited last lies above on the stack.
                    for k in range(n_columns):
                        if stack[n_stack].n_done == 1:
                            here[k] = here[n_columns + k]
                        else:
                            here[k] += here[n_columns + k]
                if stack[n_stack].n_done < 2:
                    stack[n_stack + 1].node = <int32_t> (child + stack[n_stack].n_done)
                    stack[n_stack + 1].n_done = 0
                    stack[n_stack + 1].first_row = <int32_t> n_rows
                    stack[n_stack].n_done += 1
                    n_stack += 1
                    continue
            # All below is done: the node says its part for the sizes at which it is a leaf.
            end = n_sizes
            if n_stack > 0:
                end = 0
                while end < n_sizes and sizes[end] < points[stack[n_stack - 1].node]:
                    end += 1
            for k in range(stack[n_stack].first_row, n_rows):
                say(here, n_columns, row_of[k], end, rows, classes, own, own_moment, next_size,
                    out, tree.is_regression)
            n_stack -= 1
    free(stack)
    free(sums)
    if error:
        raise MemoryError("no memory for the prefixes of a tree")
    return 0


cdef inline void say(
    const double* sums, Py_ssize_t n_columns, Py_ssize_t held, Py_ssize_t end,
    const int64_t[::1] rows, const int32_t[::1] classes, const double[::1] own,
    const double[::1] own_moment, int32_t[::1] next_size, double[:, :, ::1] out,
    bint is_regression
) noexcept nogil:
    """Add what a node says of a held row to sizes up to `end` that no node below could tell."""
    cdef Py_ssize_t q = next_size[held], k, row = rows[held]
    cdef double total = -own[held], share
    if q >= end:
        return
    if is_regression:
        total += sums[0]
        if not total > ROUNDING * own[held]:
            return
        share = (sums[1] - own_moment[held]) / total
        for q in range(q, end):
            out[q, row, 0] += share
    else:
        for k in range(n_columns):
            total += sums[k]
        if not total > ROUNDING * own[held]:
            return
        for q in range(q, end):
            for k in range(n_columns):
                share = sums[k] - own[held] if k == classes[held] else sums[k]
                out[q, row, k] += max(share, 0.0) / total
    next_size[held] = <int32_t> end
