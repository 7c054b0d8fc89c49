# SPDX-License-Identifier: BSD-3-Clause
"""The training rows as the kernels read them."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from mrforest._core.types cimport CutBits, Table


cdef class Target:
    cdef readonly Py_ssize_t n_columns
    cdef readonly str criterion
    cdef const int32_t[::1] y
    cdef const int64_t[::1] mass
    cdef const int64_t[::1] moment
    cdef const double[::1] class_weight
    cdef const int64_t[::1] xlogx
    cdef object arguments               # for pickling

    cdef void show(self, Table* table) except *


cdef class TrainingTable:
    cdef Table view                     # pointers into the arrays below
    cdef readonly Target target
    cdef const uint8_t[:, ::1] narrow   # codes: one of the two; or values
    cdef const uint16_t[:, ::1] wide
    cdef public Py_ssize_t row_cache_bytes
    cdef object by_column               # the same codes transposed, if a rule asks
    cdef CutBits cut_bits                # of features of few codes, if has_cut_bits
    cdef readonly bint has_cut_bits
    cdef object cut_bit_arrays            # that cut_bits points into
    cdef const double[:, ::1] values
    cdef const int32_t[::1] n_bins
    cdef const uint8_t[::1] is_categorical
    cdef const int64_t[::1] slot
    cdef const int32_t[:, ::1] start
    cdef const double[::1] cuts         # thresholds of all features ...
    cdef const int64_t[::1] cuts_start  # ... and where each feature's begin
    cdef const uint8_t[::1] offers_equality
    cdef const double[::1] equal_values         # values of codes that equality asks for ...
    cdef const int64_t[::1] equal_start         # ... and where each feature's begin
    cdef object arguments               # for pickling

    cdef void show_equality(self, equal_values, equal_start) except *
