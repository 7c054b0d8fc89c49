# SPDX-License-Identifier: BSD-3-Clause
"""Impurity decrease of each feature, measured on the estimation points.

With n points the unbiased estimate of the Gini impurity, p_c the class shares, and of the
variance, m the mean, are

    G = n / (n - 1) * (1 - sum(p_c^2)),    V = n / (n - 1) * mean((y - m)^2).

A node of one point has no such estimate; it takes its parent's, that is, "nothing learned".
"""

import numpy as np

from libc.stdint cimport int64_t, uint16_t, uint32_t

from mrforest._core.types cimport FEATURE_MASK, Node


def estimation_decrease(
    const Node[::1] nodes,            # IN  all trees, one after the other
    const int64_t[::1] tree_start,    # IN
    const int64_t[::1] leaf_offset,   # IN
    const uint32_t[::1] leaf_points,  # IN
    const int64_t[::1] mass_start,    # IN
    const uint16_t[::1] mass_class,   # IN
    const float[::1] mass,            # IN
    Py_ssize_t n_classes,
    Py_ssize_t n_features,
):
    """Sum over the splits of each feature, averaged over the trees."""
    cdef Py_ssize_t n_trees = tree_start.shape[0] - 1, t, i, k, m, leaf, child
    cdef Py_ssize_t most = int(np.diff(tree_start).max())
    cdef double[:, ::1] masses = np.empty((most, n_classes))
    cdef double[::1] points = np.empty(most)
    cdef double[::1] impurity = np.empty(most)
    cdef double total, squares
    out = np.zeros(n_features)
    cdef double[::1] of_feature = out
    cdef const Node* node
    with nogil:
        for t in range(n_trees):
            # Children come after their parents: from the last node up, masses add up.
            for i in range(tree_start[t + 1] - tree_start[t] - 1, -1, -1):
                node = &nodes[tree_start[t] + i]
                child = node.child
                if child >= 0:
                    points[i] = points[child] + points[child + 1]
                    for k in range(n_classes):
                        masses[i, k] = masses[child, k] + masses[child + 1, k]
                else:
                    leaf = leaf_offset[t] - 1 - child
                    points[i] = leaf_points[leaf]
                    for k in range(n_classes):
                        masses[i, k] = 0
                    if points[i] > 0:  # else its masses are those of a node above it
                        for m in range(mass_start[leaf], mass_start[leaf + 1]):
                            masses[i, mass_class[m]] = mass[m]
                total = 0
                squares = 0
                for k in range(n_classes):
                    total += masses[i, k]
                    squares += masses[i, k] * masses[i, k]
                impurity[i] = 0
                if points[i] > 1 and total > 0:
                    impurity[i] = (
                        points[i] / (points[i] - 1) * (1 - squares / (total * total)))
            add_decreases(&nodes[tree_start[t]], &points[0], &impurity[0], of_feature)
    out /= n_trees
    return out


cdef void add_decreases(
    const Node* nodes, const double* points, double* impurity, double[::1] of_feature
) noexcept nogil:
    """Add what each split of a tree takes off the impurity of the root's points."""
    cdef Py_ssize_t i = 0, end = 1, child, k
    if points[0] == 0:
        return
    # Breadth first: the last child of the splits so far is the end of the tree so far.
    while i < end:
        child = nodes[i].child
        if child >= 0:
            end = child + 2
            for k in range(child, child + 2):
                if points[k] == 1:
                    impurity[k] = impurity[i]
            of_feature[nodes[i].feature & FEATURE_MASK] += (
                points[i] * impurity[i] - points[child] * impurity[child]
                - points[child + 1] * impurity[child + 1]) / points[0]
        i += 1


def value_decrease(
    const Node[::1] nodes,            # IN  all trees, one after the other
    const int64_t[::1] tree_start,    # IN
    const int64_t[::1] leaf_offset,   # IN
    const uint32_t[::1] leaf_points,  # IN
    const double[::1] leaf_mass,      # IN
    const double[::1] leaf_value,     # IN
    const double[::1] leaf_variance,  # IN
    Py_ssize_t n_features,
):
    """The same of a regression: the variance takes the place of the Gini impurity."""
    cdef Py_ssize_t n_trees = tree_start.shape[0] - 1, t, i, leaf, child
    cdef Py_ssize_t most = int(np.diff(tree_start).max())
    cdef double[::1] points = np.empty(most)
    cdef double[::1] mass = np.empty(most)
    cdef double[::1] mean = np.empty(most)
    cdef double[::1] variance = np.empty(most)
    cdef double[::1] impurity = np.empty(most)
    cdef double left, right, gap
    out = np.zeros(n_features)
    cdef double[::1] of_feature = out
    cdef const Node* node
    with nogil:
        for t in range(n_trees):
            for i in range(tree_start[t + 1] - tree_start[t] - 1, -1, -1):
                node = &nodes[tree_start[t] + i]
                child = node.child
                if child >= 0:
                    points[i] = points[child] + points[child + 1]
                    mass[i] = mass[child] + mass[child + 1]
                    mean[i] = variance[i] = 0
                    if mass[i] > 0:
                        left = mass[child] / mass[i]
                        right = mass[child + 1] / mass[i]
                        gap = mean[child] - mean[child + 1]
                        mean[i] = left * mean[child] + right * mean[child + 1]
                        variance[i] = (
                            left * variance[child] + right * variance[child + 1]
                            + left * right * gap * gap)
                else:
                    leaf = leaf_offset[t] - 1 - child
                    points[i] = leaf_points[leaf]
                    mass[i] = leaf_mass[leaf] if points[i] > 0 else 0
                    mean[i] = leaf_value[leaf]
                    variance[i] = leaf_variance[leaf]
                impurity[i] = 0
                if points[i] > 1:
                    impurity[i] = points[i] / (points[i] - 1) * variance[i]
            add_decreases(&nodes[tree_start[t]], &points[0], &impurity[0], of_feature)
    out /= n_trees
    return out
