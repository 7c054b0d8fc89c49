# SPDX-License-Identifier: BSD-3-Clause
"""Number the nodes breadth first and fill the leaves.

Breadth first puts the nodes that every row visits next to each other, makes a shallower tree a
prefix of a deeper one, and does not depend on the order in which the nodes were grown.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t

from mrforest._core.grow.builder cimport GrownNode, Growth
from mrforest._core.grow.leaves cimport draw_label, leaf_masses, leaf_moments
from mrforest._core.types cimport FEATURE_MASK, VARIANCE, Node

NODE_DTYPE = np.dtype([("threshold", "f8"), ("feature", "u4"), ("child", "i4")])


cdef const GrownNode* with_points(Growth growth, const GrownNode* node) noexcept nogil:
    """The node itself, or the nearest one above it that has estimation points."""
    while node.n_estimation == 0 and node.parent >= 0:
        node = &growth.nodes[node.parent]
    return node


cdef void breadth_first(
    Growth growth,
    int32_t[::1] order,     # OUT  which grown node becomes node 0, 1, ...
    int32_t[::1] leaves,    # OUT  and leaf 0, 1, ...
    Node[::1] nodes,        # OUT  with children and leaves numbered in their new order
    uint32_t[::1] points,   # OUT  of each leaf
) noexcept nogil:
    cdef Py_ssize_t i, n_leaves = 0, n_children = 1
    cdef const GrownNode* grown
    order[0] = 0
    for i in range(growth.n_nodes):
        grown = &growth.nodes[order[i]]
        nodes[i] = grown.node
        if grown.node.child >= 0:
            order[n_children] = grown.node.child
            order[n_children + 1] = grown.node.child + 1
            nodes[i].child = <int32_t> n_children
            n_children += 2
        else:
            leaves[n_leaves] = order[i]
            points[n_leaves] = <uint32_t> grown.n_points
            n_leaves += 1
            nodes[i].child = <int32_t> -n_leaves


cdef dict class_leaves(Growth growth, const int32_t[::1] leaves):
    cdef Py_ssize_t n_leaves = leaves.shape[0], n_classes = growth.table.n_columns
    cdef Py_ssize_t i, k, n_masses = 0, room
    cdef const GrownNode* leaf
    cdef const GrownNode* source
    label_ = np.empty(n_leaves, dtype=np.uint16)
    start_ = np.zeros(n_leaves + 1, dtype=np.int64)
    cdef uint16_t[::1] label = label_
    cdef int64_t[::1] start = start_
    cdef int64_t[::1] counts = np.empty(n_classes, dtype=np.int64)
    cdef double[::1] masses = np.empty(n_classes)
    cdef double[::1] shares = np.empty(n_classes)
    cdef double[::1] work = np.empty(n_classes)
    # A leaf has at most as many classes as points.
    with nogil:
        room = 0
        for i in range(n_leaves):
            room += min(with_points(growth, &growth.nodes[leaves[i]]).n_estimation, n_classes)
    mass_class_ = np.empty(room, dtype=np.uint16)
    mass_ = np.empty(room, dtype=np.float32)
    cdef uint16_t[::1] mass_class = mass_class_
    cdef float[::1] mass = mass_
    count_ = np.empty(room if growth.keeps_counts else 0, dtype=np.int64)
    cdef int64_t[::1] count = count_
    with nogil:
        for i in range(n_leaves):
            leaf = &growth.nodes[leaves[i]]
            source = with_points(growth, leaf)
            leaf_masses(
                growth.table, &growth.estimation[0] + source.first_estimation,
                source.n_estimation, &counts[0], &masses[0])
            label[i] = <uint16_t> draw_label(
                growth.table, &masses[0], growth.limits.label_budget, growth.key0, growth.key1,
                leaf.path, &shares[0], &work[0])
            for k in range(n_classes):
                if counts[k] > 0:
                    mass_class[n_masses] = <uint16_t> k
                    mass[n_masses] = <float> masses[k]
                    if growth.keeps_counts:
                        count[n_masses] = counts[k]
                    n_masses += 1
            start[i + 1] = n_masses
    arrays = {
        "leaf_label": label_,
        "mass_start": start_,
        "mass_class": mass_class_[:n_masses],
        "mass": mass_[:n_masses],
    }
    if growth.keeps_counts:
        arrays["count"] = count_[:n_masses]
    return arrays


cdef dict value_leaves(Growth growth, const int32_t[::1] leaves):
    cdef Py_ssize_t n_leaves = leaves.shape[0], i
    cdef const GrownNode* source
    mass_ = np.empty(n_leaves, dtype=np.int64)
    moment_ = np.empty(n_leaves, dtype=np.int64)
    variance_ = np.empty(n_leaves)
    cdef int64_t[::1] mass = mass_
    cdef int64_t[::1] moment = moment_
    cdef double[::1] variance = variance_
    with nogil:
        for i in range(n_leaves):
            source = with_points(growth, &growth.nodes[leaves[i]])
            leaf_moments(
                growth.table, &growth.estimation[0] + source.first_estimation,
                source.n_estimation, &mass[i], &moment[i], &variance[i])
    return {"leaf_mass": mass_, "leaf_moment": moment_, "leaf_variance": variance_}


cdef object node_decreases(Growth growth, const int32_t[::1] order):
    """By how much each node decreases the impurity; 0 for leaves."""
    out = np.empty(growth.n_nodes)
    cdef double[::1] decrease = out
    cdef Py_ssize_t i
    for i in range(growth.n_nodes):
        decrease[i] = growth.nodes[order[i]].decrease
    return out


cdef object decrease_of(Growth growth, const int32_t[::1] order):
    """For each feature, by how much its splits decrease the impurity."""
    out = np.zeros(growth.table.n_features)
    cdef double[::1] of_feature = out
    cdef const GrownNode* node
    cdef Py_ssize_t i
    with nogil:
        for i in range(growth.n_nodes):
            node = &growth.nodes[order[i]]
            if node.node.child >= 0:
                of_feature[node.node.feature & FEATURE_MASK] += node.decrease
    return out


cdef object pivots_of(Growth growth, const int32_t[::1] order):
    out = np.empty((growth.n_nodes, 2), dtype=np.int32)
    cdef int32_t[:, ::1] pivots = out
    cdef Py_ssize_t i
    for i in range(growth.n_nodes):
        pivots[i, 0] = growth.nodes[order[i]].pivots[0]
        pivots[i, 1] = growth.nodes[order[i]].pivots[1]
    return out


def grown_tree(Growth growth):
    """Grow a tree, and return its arrays.

    A leaf without estimation points is filled from the nearest node above that has some.

    Returns
    -------
    dict
        nodes : NODE_DTYPE, breadth first, see `Node` in types.pxd
        leaf_points : uint32, estimation points of each leaf

        Trees of cuts:
        structure_decrease : float64, for each feature, by how much its splits decrease the
            impurity of the structure points

        Subtrees of cuts, instead of that:
        node_decrease : float64, the same of each node alone

        Trees of comparisons:
        pivots : int32 of shape (n_nodes, 2), the two rows that a split compares with

        Classification:
        leaf_label : uint16, the label of each leaf
        mass_start : int64, where the masses of each leaf begin, and the end
        mass_class, mass : uint16, float32, class and mass, ascending by class in each leaf
        count : int64, the same before class weights and rounding, if the growth keeps it

        Regression:
        leaf_mass, leaf_moment : int64, sums over the estimation points
        leaf_variance : float64, of moment / mass
    """
    growth.run()
    cdef Py_ssize_t n_leaves = (growth.n_nodes + 1) // 2  # inner nodes have two children
    cdef int32_t[::1] order = np.empty(growth.n_nodes, dtype=np.int32)
    cdef int32_t[::1] leaves = np.empty(n_leaves, dtype=np.int32)
    nodes = np.empty(growth.n_nodes, dtype=NODE_DTYPE)
    leaf_points = np.empty(n_leaves, dtype=np.uint32)
    cdef Node[::1] node = nodes
    cdef uint32_t[::1] points = leaf_points
    with nogil:
        breadth_first(growth, order, leaves, node, points)
    tree = {"nodes": nodes, "leaf_points": leaf_points}
    if growth.compares:
        tree["pivots"] = pivots_of(growth, order)
    elif growth.root.is_whole:
        tree["structure_decrease"] = decrease_of(growth, order)
    else:
        tree["node_decrease"] = node_decreases(growth, order)
    if growth.table.criterion == VARIANCE:
        return tree | value_leaves(growth, leaves)
    return tree | class_leaves(growth, leaves)
