# SPDX-License-Identifier: BSD-3-Clause
"""Fill the leaves of a tree from its estimation points."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from mrforest._core.types cimport Table

cdef void leaf_masses(
    const Table* table, const int32_t* rows, Py_ssize_t n, int64_t* counts,
    double* masses) noexcept nogil
cdef Py_ssize_t draw_label(
    const Table* table, const double* masses, double budget, uint64_t key0, uint64_t key1,
    uint64_t path, double* shares, double* work) noexcept nogil
cdef void leaf_moments(
    const Table* table, const int32_t* rows, Py_ssize_t n, int64_t* mass, int64_t* moment,
    double* variance) noexcept nogil
cdef void weigh_classes(
    const Table* table, const int64_t* counts, double* masses) noexcept nogil
