# SPDX-License-Identifier: BSD-3-Clause
"""Weights of both sides of the ways to split a region, with all subtrees below; see levels.pyx."""

from mrforest._core.private.joint_bins cimport Joint
from mrforest._core.private.log_weight cimport Weight
from mrforest._core.private.region cimport Problem, Region

cdef int one_side_empty(
    const Problem* p, const Region* r, Py_ssize_t d, Weight* out) noexcept nogil
cdef int start(
    const Problem* p, const Region* r, Py_ssize_t d, Weight* first, Weight* second
) noexcept nogil
cdef int weigh(
    const Problem* p, const Region* r, const Joint* joint, Py_ssize_t d, Py_ssize_t f,
    Py_ssize_t end, Weight* first, Weight* second) noexcept nogil
cdef Weight sum_of_feature(
    const Problem* p, const Region* r, Py_ssize_t f, const Weight* first, const Weight* second
) noexcept nogil
