# SPDX-License-Identifier: BSD-3-Clause
"""Memory that lives as long as its owner."""


cdef class Buffers:
    cdef void** items
    cdef int n_items

    cdef void* take(self, size_t n_bytes) except NULL
