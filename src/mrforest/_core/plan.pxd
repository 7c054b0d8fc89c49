# SPDX-License-Identifier: BSD-3-Clause
"""Which way of growing and scoring runs, and when."""

cdef enum:
    # A node is counted if its histogram has at most this many cells for each code of a point,
    # and fits the second-level cache. With 8, nodes of up to eight classes that are too large for
    # a block (256 points) are never sorted.
    CELLS_PER_CODE = 8
    LARGEST_HISTOGRAM = 1 << 18


cdef inline bint counting_pays(Py_ssize_t n_cells, Py_ssize_t n_codes) noexcept nogil:
    return n_cells <= LARGEST_HISTOGRAM and n_cells <= CELLS_PER_CODE * n_codes
