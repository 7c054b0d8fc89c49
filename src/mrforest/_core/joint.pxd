# SPDX-License-Identifier: BSD-3-Clause
"""Several features of few bins counted as one; see joint.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from mrforest._core.region cimport Problem, Region


cdef struct Joint:
    # The points of a region by the bins of groups of features.
    Py_ssize_t n_groups
    int32_t* first              # first feature of each group; [n_groups]: all
    int32_t* slot               # first joint bin of each group; [n_groups]: all
    uint8_t* codes              # points x groups: number of the joint bin


cdef int make_joint(const Problem* p, const Region* r, Joint* joint) noexcept nogil
cdef void free_joint(Joint* joint) noexcept nogil
cdef void put(
    const Problem* p, const Region* r, const Joint* joint, const int32_t* points, Py_ssize_t n,
    int64_t* joint_cells) noexcept nogil
cdef void marginals(
    const Problem* p, const Region* r, const Joint* joint, const int64_t* joint_cells,
    int64_t* cells) noexcept nogil
