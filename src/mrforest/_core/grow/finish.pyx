# SPDX-License-Identifier: BSD-3-Clause
"""Number the nodes breadth first and fill the leaves.

Breadth first puts the nodes that every row visits next to each other, makes a shallower tree a
prefix of a deeper one, and does not depend on the order in which the nodes were grown.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t

from mrforest._core.grow.builder cimport GrownNode, TreeBuilder
from mrforest._core.grow.leaves cimport draw_label, leaf_masses, leaf_moments
from mrforest._core.types cimport FEATURE_MASK, VARIANCE, Node

NODE_DTYPE = np.dtype([("threshold", "f8"), ("feature", "u4"), ("child", "i4")])


cdef const GrownNode* with_points(TreeBuilder builder, const GrownNode* node) noexcept nogil:
    """The node itself, or the nearest one above it that has estimation points."""
    while node.n_estimation == 0 and node.parent >= 0:
        node = &builder.nodes[node.parent]
    return node


cdef void breadth_first(
    TreeBuilder builder,
    int32_t[::1] order,     # OUT  which grown node becomes node 0, 1, ...
    int32_t[::1] leaves,    # OUT  and leaf 0, 1, ...
    Node[::1] nodes,        # OUT  with children and leaves numbered in their new order
    uint32_t[::1] points,   # OUT  of each leaf
) noexcept nogil:
    cdef Py_ssize_t i, n_leaves = 0, n_children = 1
    cdef const GrownNode* grown
    order[0] = 0
    for i in range(builder.n_nodes):
        grown = &builder.nodes[order[i]]
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


cdef dict class_leaves(TreeBuilder builder, const int32_t[::1] leaves):
    cdef Py_ssize_t n_leaves = leaves.shape[0], n_classes = builder.table.n_columns
    cdef Py_ssize_t i, k, n_masses = 0, capacity
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
        capacity = 0
        for i in range(n_leaves):
            capacity += min(with_points(builder, &builder.nodes[leaves[i]]).n_estimation, n_classes)
    mass_class_ = np.empty(capacity, dtype=np.uint16)
    mass_ = np.empty(capacity, dtype=np.float32)
    cdef uint16_t[::1] mass_class = mass_class_
    cdef float[::1] mass = mass_
    count_ = np.empty(capacity if builder.keeps_counts else 0, dtype=np.int64)
    cdef int64_t[::1] count = count_
    with nogil:
        for i in range(n_leaves):
            leaf = &builder.nodes[leaves[i]]
            source = with_points(builder, leaf)
            leaf_masses(
                builder.table, &builder.estimation[0] + source.first_estimation,
                source.n_estimation, &counts[0], &masses[0])
            label[i] = <uint16_t> draw_label(
                builder.table, &masses[0], builder.limits.label_budget, builder.key0, builder.key1,
                leaf.path, &shares[0], &work[0])
            for k in range(n_classes):
                if counts[k] > 0:
                    mass_class[n_masses] = <uint16_t> k
                    mass[n_masses] = <float> masses[k]
                    if builder.keeps_counts:
                        count[n_masses] = counts[k]
                    n_masses += 1
            start[i + 1] = n_masses
    arrays = {
        "leaf_label": label_,
        "mass_start": start_,
        "mass_class": mass_class_[:n_masses],
        "mass": mass_[:n_masses],
    }
    if builder.keeps_counts:
        arrays["count"] = count_[:n_masses]
    return arrays


cdef dict value_leaves(TreeBuilder builder, const int32_t[::1] leaves):
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
            source = with_points(builder, &builder.nodes[leaves[i]])
            leaf_moments(
                builder.table, &builder.estimation[0] + source.first_estimation,
                source.n_estimation, &mass[i], &moment[i], &variance[i])
    return {"leaf_mass": mass_, "leaf_moment": moment_, "leaf_variance": variance_}


cdef object node_decreases(TreeBuilder builder, const int32_t[::1] order):
    """By how much each node decreases the impurity; 0 for leaves."""
    out = np.empty(builder.n_nodes)
    cdef double[::1] decrease = out
    cdef Py_ssize_t i
    for i in range(builder.n_nodes):
        decrease[i] = builder.nodes[order[i]].decrease
    return out


cdef object decrease_of(TreeBuilder builder, const int32_t[::1] order):
    """For each feature, by how much its splits decrease the impurity."""
    out = np.zeros(builder.table.n_features)
    cdef double[::1] of_feature = out
    cdef const GrownNode* node
    cdef Py_ssize_t i
    with nogil:
        for i in range(builder.n_nodes):
            node = &builder.nodes[order[i]]
            if node.node.child >= 0:
                of_feature[node.node.feature & FEATURE_MASK] += node.decrease
    return out


cdef object pivots_of(TreeBuilder builder, const int32_t[::1] order):
    out = np.empty((builder.n_nodes, 2), dtype=np.int32)
    cdef int32_t[:, ::1] pivots = out
    cdef Py_ssize_t i
    for i in range(builder.n_nodes):
        pivots[i, 0] = builder.nodes[order[i]].pivots[0]
        pivots[i, 1] = builder.nodes[order[i]].pivots[1]
    return out


def grown_tree(TreeBuilder builder):
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
    builder.run()
    cdef Py_ssize_t n_leaves = (builder.n_nodes + 1) // 2  # inner nodes have two children
    cdef int32_t[::1] order = np.empty(builder.n_nodes, dtype=np.int32)
    cdef int32_t[::1] leaves = np.empty(n_leaves, dtype=np.int32)
    nodes = np.empty(builder.n_nodes, dtype=NODE_DTYPE)
    leaf_points = np.empty(n_leaves, dtype=np.uint32)
    cdef Node[::1] node = nodes
    cdef uint32_t[::1] points = leaf_points
    with nogil:
        breadth_first(builder, order, leaves, node, points)
    tree = {"nodes": nodes, "leaf_points": leaf_points}
    if builder.compares:
        tree["pivots"] = pivots_of(builder, order)
    elif builder.root.is_whole:
        tree["structure_decrease"] = decrease_of(builder, order)
    else:
        tree["node_decrease"] = node_decreases(builder, order)
    if builder.table.criterion == VARIANCE:
        return tree | value_leaves(builder, leaves)
    return tree | class_leaves(builder, leaves)
