# SPDX-License-Identifier: BSD-3-Clause
"""Number the nodes breadth first and fill the leaves.

Breadth first puts the nodes that every row visits next to each other, makes a shallower tree a
prefix of a deeper one, and does not depend on the order in which the nodes were grown.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

from mrforest._core.leaves cimport draw_label, leaf_masses
from mrforest._core.types cimport FEATURE_MASK, Node

NODE_DTYPE = np.dtype([("threshold", "f8"), ("feature", "u4"), ("child", "i4")])


cdef dict flatten(
    const GrownNode* grown, Py_ssize_t n_nodes, TrainingTable table,
    const int32_t[::1] estimation, key, double label_budget
):
    """The arrays of a tree.

    Returns
    -------
    dict
        nodes : NODE_DTYPE, breadth first, see `Node` in types.pxd
        leaf_label : uint16, the label of each leaf
        leaf_points : uint32, estimation points of each leaf
        leaf_start : int64, where the masses of each leaf begin, and the end
        mass_class, mass : uint16, float32, class and mass, ascending by class in each leaf
        structure_decrease : float64, for each feature, by how much its splits decrease the
            impurity of the structure points
    """
    cdef Py_ssize_t n_leaves = (n_nodes + 1) // 2, n_classes = table.view.n_classes
    cdef Py_ssize_t i, j, k, leaf, n_masses, capacity
    cdef uint64_t key0 = key[0], key1 = key[1]
    nodes = np.empty(n_nodes, dtype=NODE_DTYPE)
    leaf_label = np.empty(n_leaves, dtype=np.uint16)
    leaf_points = np.empty(n_leaves, dtype=np.uint32)
    leaf_start = np.zeros(n_leaves + 1, dtype=np.int64)
    decrease = np.zeros(table.view.n_features)
    cdef Node[::1] node = nodes
    cdef uint16_t[::1] label = leaf_label
    cdef uint32_t[::1] points = leaf_points
    cdef int64_t[::1] start = leaf_start
    cdef double[::1] feature_decrease = decrease
    cdef int32_t[::1] order = np.empty(n_nodes, dtype=np.int32)
    cdef int64_t[::1] counts = np.empty(n_classes, dtype=np.int64)
    cdef double[::1] masses = np.empty(n_classes)
    cdef double[::1] shares = np.empty(n_classes)
    cdef double[::1] work = np.empty(n_classes)
    # A leaf has at most as many classes as points.
    capacity = estimation.shape[0]
    mass_class = np.empty(capacity, dtype=np.uint16)
    mass = np.empty(capacity, dtype=np.float32)
    cdef uint16_t[::1] mass_class_view = mass_class
    cdef float[::1] mass_view = mass

    with nogil:
        # order[i] is the grown node that becomes node i; [j:] is still to be filled.
        order[0] = 0
        j = 1
        leaf = 0
        n_masses = 0
        for i in range(n_nodes):
            node[i] = grown[order[i]].node
            if node[i].child >= 0:
                order[j] = node[i].child
                order[j + 1] = node[i].child + 1
                node[i].child = <int32_t> j
                feature_decrease[node[i].feature & FEATURE_MASK] += grown[order[i]].decrease
                j += 2
                continue
            node[i].child = <int32_t> (-1 - leaf)
            points[leaf] = <uint32_t> grown[order[i]].n_estimation
            leaf_masses(
                &table.view, &estimation[0] + grown[order[i]].first_estimation,
                grown[order[i]].n_estimation, &counts[0], &masses[0])
            label[leaf] = <uint16_t> draw_label(
                &table.view, &masses[0], label_budget, key0, key1, grown[order[i]].path,
                &shares[0], &work[0])
            for k in range(n_classes):
                if counts[k] > 0:
                    mass_class_view[n_masses] = <uint16_t> k
                    mass_view[n_masses] = <float> masses[k]
                    n_masses += 1
            leaf += 1
            start[leaf] = n_masses
    return {
        "nodes": nodes,
        "leaf_label": leaf_label,
        "leaf_points": leaf_points,
        "leaf_start": leaf_start,
        "mass_class": mass_class[:n_masses].copy(),
        "mass": mass[:n_masses].copy(),
        "structure_decrease": decrease,
    }
