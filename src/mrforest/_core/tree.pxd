# SPDX-License-Identifier: BSD-3-Clause
"""From the nodes in the order of their growth to a fitted tree."""

from libc.stdint cimport int32_t, uint64_t

from mrforest._core.table cimport TrainingTable
from mrforest._core.types cimport Node


cdef struct GrownNode:
    Node node                       # a leaf has child -1
    uint64_t path
    double decrease                 # of the impurity of the tree's structure points
    Py_ssize_t first_estimation     # the node's slice of the estimation points
    Py_ssize_t n_estimation


cdef dict flatten(
    const GrownNode* grown, Py_ssize_t n_nodes, TrainingTable table,
    const int32_t[::1] estimation, key, double label_budget)
