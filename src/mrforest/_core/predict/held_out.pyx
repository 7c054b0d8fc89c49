# SPDX-License-Identifier: BSD-3-Clause
"""What a tree says of rows that are held out of it, without their own part in it.

A node is a leaf for leaf sizes from the number of its points on, up to that of its parent. So one
way up from the leaf of a row tells what the tree says of it for every leaf size:

    sizes    1   2   4   8   16
    [d]      .   x                   the row is in leaf d, which has 2 points ...
    c                x               ... below c, which has 3 ...
    b                    x           ... below b, which has 8; the root has more than 16
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.predict.importance cimport add_decreases
from mrforest._core.types cimport (
    EQUALITY, FEATURE_MASK, MISSING_LEFT, VARIANCE, Node, Table, at, mass_of, moment_of,
)


cdef class Leaves:
    """The leaves of a tree, and what is counted in them."""

    cdef const Table* table
    cdef bint is_regression
    cdef const Node[::1] nodes
    cdef const uint32_t[::1] points             # of each leaf
    cdef const int32_t[::1] held_leaf
    cdef const int64_t[::1] start
    cdef const uint16_t[::1] column
    cdef const int64_t[::1] count
    cdef const int64_t[::1] mass
    cdef const int64_t[::1] moment
    cdef Py_ssize_t n_said                      # numbers that a leaf says: one a class, or a mean
    cdef double[::1] said

    def __init__(self, TrainingTable table, tree):
        self.table = &table.view
        self.is_regression = self.table.criterion == VARIANCE
        self.nodes = tree["nodes"]
        self.points = tree["leaf_points"]
        self.held_leaf = tree["held_leaf"]
        if self.is_regression:
            self.mass, self.moment = tree["leaf_mass"], tree["leaf_moment"]
        else:
            self.start, self.column = tree["mass_start"], tree["mass_class"]
            self.count = tree["count"]
        self.n_said = 1 if self.is_regression else self.table.n_columns
        self.said = np.empty(self.n_said)

    cdef inline double weight(self, Py_ssize_t k) noexcept nogil:
        return 1.0 if self.table.class_weight is NULL else self.table.class_weight[k]

    cdef void add(self, Py_ssize_t leaf, int64_t* counts) noexcept nogil:
        """Add what is counted in a leaf: the mass of each class, or mass and moment."""
        cdef Py_ssize_t m
        if self.is_regression:
            counts[0] += self.mass[leaf]
            counts[1] += self.moment[leaf]
            return
        for m in range(self.start[leaf], self.start[leaf + 1]):
            counts[self.column[m]] += self.count[m]

    cdef void say(self, const int64_t* counts, Py_ssize_t row) noexcept nogil:
        """Set `said` to the shares of the classes, or the mean target, of all points but one."""
        cdef int64_t own = mass_of(self.table, row)
        cdef Py_ssize_t k, own_class
        cdef double total = 0
        if self.is_regression:
            self.said[0] = (
                <double> (counts[1] - moment_of(self.table, row)) / <double> (counts[0] - own))
            return
        own_class = self.table.y[row]
        for k in range(self.n_said):
            self.said[k] = <double> (counts[k] - own if k == own_class else counts[k])
            self.said[k] *= self.weight(k)
            total += self.said[k]
        for k in range(self.n_said):
            # Without any weight all classes are alike, as for rows that are predicted.
            self.said[k] = self.said[k] / total if total > 0 else 1.0 / self.n_said


def add_prefixes(
    TrainingTable table, tree, const int32_t[::1] held, const int64_t[::1] sizes,
    double[:, :, ::1] out
):
    """Add what a tree says of held rows, for every leaf size.

    Parameters
    ----------
    table : TrainingTable
    tree : dict of arrays
        As `grow_sampled_tree` returns it.
    held : ndarray of int32
        The rows that are held out of it, ascending. Those from the length of `out` on are left
        out.
    sizes : ndarray of int64
        Leaf sizes, ascending. A node of at most so many points is a leaf.
    out : ndarray of shape (n_rows, n_sizes, n_classes)
        In a regression n_classes is 1.
    """
    cdef Leaves leaves = Leaves(table, tree)
    cdef const Node[::1] nodes = leaves.nodes
    cdef Py_ssize_t n = nodes.shape[0], n_columns = leaves.table.n_columns
    cdef Py_ssize_t i, child, k, q, row, node, up, first
    cdef int32_t[::1] parent = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] node_of_leaf = np.empty(leaves.points.shape[0], dtype=np.int32)
    cdef int64_t[::1] points = np.zeros(n, dtype=np.int64)
    cdef int64_t[:, ::1] counts = np.zeros((n, n_columns), dtype=np.int64)
    cdef int32_t[::1] first_size = np.empty(n, dtype=np.int32)
    with nogil:
        parent[0] = -1
        # Children come after their parents.
        for i in range(n - 1, -1, -1):
            child = nodes[i].child
            first_size[i] = 0
            if child < 0:
                leaves.add(-1 - child, &counts[i, 0])
                points[i] = leaves.points[-1 - child]
                node_of_leaf[-1 - child] = <int32_t> i
                continue
            for q in range(2):
                parent[child + q] = <int32_t> i
                points[i] += points[child + q]
                for k in range(n_columns):
                    counts[i, k] += counts[child + q, k]
            while first_size[i] < sizes.shape[0] and sizes[first_size[i]] < points[i]:
                first_size[i] += 1
        for i in range(held.shape[0]):
            row = held[i]
            if row >= out.shape[0]:
                break
            node = node_of_leaf[leaves.held_leaf[i]]
            first = 0
            while first < sizes.shape[0]:
                up = parent[node]
                child = sizes.shape[0] if up < 0 else first_size[up]
                if child > first:
                    leaves.say(&counts[node, 0], row)
                    for q in range(first, child):
                        for k in range(leaves.n_said):
                            out[row, q, k] += leaves.said[k]
                    first = child
                node = up


def add_leaves(TrainingTable table, tree, const int32_t[::1] held, double[:, ::1] out):
    """Add what the leaves of a tree say of held rows to `out`, of shape (n_rows, n_classes)."""
    cdef Leaves leaves = Leaves(table, tree)
    cdef int64_t[::1] counts = np.zeros(leaves.table.n_columns, dtype=np.int64)
    cdef Py_ssize_t i, k, row
    with nogil:
        for i in range(held.shape[0]):
            row = held[i]
            if row >= out.shape[0]:
                break
            memset(&counts[0], 0, counts.shape[0] * sizeof(int64_t))
            leaves.add(leaves.held_leaf[i], &counts[0])
            leaves.say(&counts[0], row)
            for k in range(leaves.n_said):
                out[row, k] += leaves.said[k]


def find_leaves(TrainingTable table, tree, const int32_t[::1] rows):
    """Leaf of each of some rows of a table, by its number in the tree; ndarray of int32."""
    cdef const Node[::1] nodes = tree["nodes"]
    cdef const Table* view = &table.view
    cdef const uint8_t* narrow = <const uint8_t*> view.codes
    cdef const uint16_t* wide = <const uint16_t*> view.codes
    cdef int32_t[::1] bins = bins_of(table, nodes)
    cdef Py_ssize_t i, node, feature, place
    cdef int32_t code
    cdef bint is_left
    out = np.empty(rows.shape[0], dtype=np.int32)
    cdef int32_t[::1] leaf_of = out
    with nogil:
        for i in range(rows.shape[0]):
            node = 0
            while nodes[node].child >= 0:
                feature = nodes[node].feature & FEATURE_MASK
                place = at(rows[i], view.n_rows) * view.n_features + feature
                code = wide[place] if view.wide else narrow[place]
                if code == view.n_bins[feature]:
                    is_left = nodes[node].feature & MISSING_LEFT != 0
                elif nodes[node].feature & EQUALITY:
                    is_left = code == bins[node]
                else:
                    is_left = code <= bins[node]
                node = nodes[node].child + (not is_left)
            leaf_of[i] = -1 - nodes[node].child
    return out


cdef object bins_of(TrainingTable table, const Node[::1] nodes):
    """The bin that each split cuts at; `write_split` turned it into a threshold."""
    cdef Py_ssize_t i, feature, low, high, middle, start
    cdef const double[::1] values
    out = np.zeros(nodes.shape[0], dtype=np.int32)
    cdef int32_t[::1] bins = out
    for i in range(nodes.shape[0]):
        feature = nodes[i].feature & FEATURE_MASK
        if nodes[i].child < 0:
            continue
        if nodes[i].threshold == INFINITY:
            bins[i] = table.view.n_bins[feature] - 1
            continue
        if not nodes[i].feature & EQUALITY:
            values = table.cuts
            start, high = table.cuts_start[feature], table.cuts_start[feature + 1]
        elif table.view.is_categorical[feature]:
            bins[i] = <int32_t> nodes[i].threshold
            continue
        else:
            values = table.equal_values
            start, high = table.equal_start[feature], table.equal_start[feature + 1]
        low = start
        while low < high:
            middle = (low + high) // 2
            if values[middle] < nodes[i].threshold:
                low = middle + 1
            else:
                high = middle
        bins[i] = <int32_t> (low - start)
    return out


# ---- importances -------------------------------------------------------------------------

cdef double class_impurity(
    const Table* table, const int64_t* counts, double points
) noexcept nogil:
    """Gini impurity of points, of which there are so many of each class."""
    cdef double mass, total = 0, squares = 0
    cdef Py_ssize_t k
    if points < 2:
        return 0
    for k in range(table.n_columns):
        mass = <double> counts[k]
        if table.class_weight is not NULL:
            mass *= table.class_weight[k]
        total += mass
        squares += mass * mass
    return (1 - squares / (total * total)) * (points / (points - 1)) if total > 0 else 0


cdef double value_impurity(const double* sums, double points) noexcept nogil:
    """Variance of points, from their masses, moments, and squared moments over masses."""
    cdef double mean
    if points < 2:
        return 0
    mean = sums[1] / sums[0]
    return max(sums[2] / sums[0] - mean * mean, 0.0) * (points / (points - 1))


def held_impurity(TrainingTable table, tree, const int32_t[::1] held):
    """Held rows of each node of a tree, and the impurity among them.

    It is the Gini impurity or, in the unit of the squared moments, the variance; without bias, and
    0 for fewer than two rows.

    Returns
    -------
    points, impurity : ndarray of float64
    """
    cdef Leaves leaves = Leaves(table, tree)
    cdef const Node[::1] nodes = leaves.nodes
    cdef Py_ssize_t n = nodes.shape[0], n_columns = leaves.table.n_columns, i, k, child, side
    cdef int32_t[::1] node_of_leaf = np.empty(leaves.points.shape[0], dtype=np.int32)
    points_, impurity_ = np.zeros(n), np.zeros(n)
    cdef double[::1] points = points_, impurity = impurity_
    # Of each node: the mass of each class; or mass, moment and squared moments over masses.
    cdef int64_t[:, ::1] counts = np.zeros(
        (0 if leaves.is_regression else n, n_columns), dtype=np.int64)
    cdef double[:, ::1] sums = np.zeros((n if leaves.is_regression else 0, 3))
    cdef double mass, moment
    with nogil:
        for i in range(n):
            if nodes[i].child < 0:
                node_of_leaf[-1 - nodes[i].child] = <int32_t> i
        for k in range(held.shape[0]):
            i = node_of_leaf[leaves.held_leaf[k]]
            points[i] += 1
            if leaves.is_regression:
                mass = <double> mass_of(leaves.table, held[k])
                moment = <double> moment_of(leaves.table, held[k])
                sums[i, 0] += mass
                sums[i, 1] += moment
                sums[i, 2] += moment * moment / mass
            else:
                counts[i, leaves.table.y[held[k]]] += mass_of(leaves.table, held[k])
        for i in range(n - 1, -1, -1):
            child = nodes[i].child
            if child >= 0:
                for side in range(2):
                    points[i] += points[child + side]
                    for k in range(sums.shape[1] if leaves.is_regression else 0):
                        sums[i, k] += sums[child + side, k]
                    for k in range(0 if leaves.is_regression else n_columns):
                        counts[i, k] += counts[child + side, k]
            if leaves.is_regression:
                impurity[i] = value_impurity(&sums[i, 0], points[i])
            else:
                impurity[i] = class_impurity(leaves.table, &counts[i, 0], points[i])
    return points_, impurity_


def impurity_of_classes(TrainingTable table, const int64_t[::1] counts):
    """Impurity of points that count one each, so many of each class, as `held_impurity` has it."""
    return class_impurity(&table.view, &counts[0], np.sum(counts))


def decrease_by_feature(
    const Node[::1] nodes, const double[::1] points, double[::1] impurity, Py_ssize_t n_features
):
    """By how much the splits of a tree on each feature decrease the impurity.

    Parameters
    ----------
    nodes : ndarray of NODE_DTYPE
    points, impurity : ndarray of float64
        Of each node. Where there is one point, the impurity is replaced by its parent's.
    n_features : int
    """
    out = np.zeros(n_features)
    cdef double[::1] of_feature = out
    with nogil:
        add_decreases(&nodes[0], &points[0], &impurity[0], of_feature)
    return out


def held_decrease(TrainingTable table, tree, const int32_t[::1] held):
    """Decrease of the Gini impurity, or of the variance, by feature, measured on held rows.

    In a regression the unit is that of the squared moments.
    """
    points, impurity = held_impurity(table, tree, held)
    return decrease_by_feature(tree["nodes"], points, impurity, table.view.n_features)
