# SPDX-License-Identifier: BSD-3-Clause
"""Several features of few bins counted as one; see joint.pyx."""

from libc.stdint cimport int32_t, uint8_t

from mrforest._core.private.region cimport Problem, Region


cdef struct Joint:
    # The points of a region by the bins of groups of features.
    Py_ssize_t n_groups
    int32_t* first              # first feature of each group; [n_groups]: all
    int32_t* slot               # first joint bin of each group; [n_groups]: all
    uint8_t* codes              # points x groups: number of the joint bin; or NULL
    const int32_t* pairs        # instead: points by pairs of bins of the table, or NULL


cdef int make_joint(const Region* r, Joint* joint) noexcept nogil
cdef int make_single(const Region* r, const int32_t* pairs, Joint* joint) noexcept nogil
cdef void free_joint(Joint* joint) noexcept nogil
cdef Py_ssize_t group_of(const Joint* joint, Py_ssize_t f) noexcept nogil
cdef void put(
    const Region* r, const Joint* joint, Py_ssize_t group, const int32_t* points, Py_ssize_t n,
    int32_t* joint_cells, int32_t* of_class) noexcept nogil
cdef void put_counted(
    const Problem* p, const Region* r, const Joint* joint, Py_ssize_t f, Py_ssize_t b,
    int32_t* cells, int32_t* of_class) noexcept nogil
cdef void sides_of(
    const Problem* p, const Region* r, const Joint* joint, Py_ssize_t group,
    const int32_t* joint_cells, int32_t* sides) noexcept nogil
