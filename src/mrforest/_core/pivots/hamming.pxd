# SPDX-License-Identifier: BSD-3-Clause
"""Features whose distances are 0 or 1, as bits; see kernels/pivot_distance.c."""

from libc.stdint cimport uint8_t

from mrforest._core.kernels.dispatch cimport Packing


cdef Packing no_packing(Py_ssize_t n_features) noexcept nogil
cdef Packing pack_for(
    Packing packing, const double[:, ::1] X, const uint8_t[::1] is_categorical) noexcept nogil
cdef object pack(const double[:, ::1] X, Packing packing)
