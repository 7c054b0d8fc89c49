# SPDX-License-Identifier: BSD-3-Clause
"""Features whose distances are 0 or 1, as bits; see nearer.h."""

from libc.stdint cimport uint8_t

cdef extern from "nearer.h" nogil:
    ctypedef struct Packing "MRForestPacking":
        Py_ssize_t n_plain
        Py_ssize_t n_words
        Py_ssize_t n_bits


cdef Packing no_packing(Py_ssize_t n_features) noexcept nogil
cdef Packing pack_for(
    Packing packing, const double[:, ::1] X, const uint8_t[::1] is_categorical) noexcept nogil
cdef object pack(const double[:, ::1] X, Packing packing)
