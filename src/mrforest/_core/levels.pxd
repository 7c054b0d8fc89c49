# SPDX-License-Identifier: BSD-3-Clause
"""Weights of the splits of a region, with all subtrees below them; see levels.pyx."""

from mrforest._core.joint cimport Joint
from mrforest._core.region cimport Problem, Region, Weight

cdef int one_side_empty(
    const Problem* p, const Region* r, Py_ssize_t d, Weight* out) noexcept nogil
cdef int weigh(
    const Problem* p, const Region* r, const Joint* joint, Py_ssize_t d, Py_ssize_t f,
    Weight* each) noexcept nogil
