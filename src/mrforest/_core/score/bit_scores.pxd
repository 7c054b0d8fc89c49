# SPDX-License-Identifier: BSD-3-Clause
"""The candidates of the node of a tree of masks; see sheet.pxd."""

from libc.stdint cimport int32_t, int64_t

from mrforest._core.score.bit_matrix cimport Sheets
from mrforest._core.types cimport Cut

cdef int count_in_sheet(Sheets* sheets, int64_t* totals) noexcept nogil
cdef void find_pure_sides(const Sheets* sheets, bint* is_pure) noexcept nogil
cdef void count_all_slices(Sheets* sheets) noexcept nogil
cdef void count_slices_of(
    Sheets* sheets, const int32_t* features, Py_ssize_t n_features) noexcept nogil
cdef double best_in_sheet(const Sheets* sheets, Py_ssize_t feature) noexcept nogil
cdef Py_ssize_t best_of_all(const Sheets* sheets, int32_t* features, double* best) noexcept nogil
cdef Py_ssize_t cuts_in_sheet(
    const Sheets* sheets, Py_ssize_t feature, double* scores, Cut* cuts) noexcept nogil
