# SPDX-License-Identifier: BSD-3-Clause
"""Decreases of the impurity, by feature."""

from mrforest._core.types cimport Node

cdef void add_decreases(
    const Node* nodes, const double* points, double* impurity, double[::1] of_feature
) noexcept nogil
