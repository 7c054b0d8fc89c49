# SPDX-License-Identifier: BSD-3-Clause
"""The candidates of a node that is a mask; see bit_matrix.pxd."""

from libc.stdint cimport int32_t, int64_t

from mrforest._core.score.bit_matrix cimport BitMatrices
from mrforest._core.types cimport Cut

cdef int count_classes_of_mask(BitMatrices* matrices, int64_t* totals) noexcept nogil
cdef void find_pure_sides(const BitMatrices* matrices, bint* is_pure) noexcept nogil
cdef void count_all_bits(BitMatrices* matrices) noexcept nogil
cdef void count_bits_of(
    BitMatrices* matrices, const int32_t* features, Py_ssize_t n_features) noexcept nogil
cdef double best_of_bits(const BitMatrices* matrices, Py_ssize_t feature) noexcept nogil
cdef Py_ssize_t best_of_all(
    const BitMatrices* matrices, int32_t* features, double* best
) noexcept nogil
cdef Py_ssize_t cuts_of_bits(
    const BitMatrices* matrices, Py_ssize_t feature, double* scores, Cut* cuts) noexcept nogil
