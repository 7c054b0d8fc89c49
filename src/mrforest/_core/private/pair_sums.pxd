# SPDX-License-Identifier: BSD-3-Clause
"""Weights of all pairs of ways to part a region; see pairs.pyx."""

from libc.stdint cimport int32_t

from mrforest._core.private.joint_bins cimport Joint
from mrforest._core.private.log_weight cimport Leaves, Weight
from mrforest._core.private.region cimport Problem, Region


cdef struct Work:
    # Points of a region on one side of the ways of a feature f, one way after the other
    Py_ssize_t group            # of f: features from here on are counted
    int32_t* order              # points of the region by their bin of f
    int32_t* start              # first of each bin; [m]: all
    int32_t* joint_cells        # classes x joint bins: points on the side that is counted
    int32_t* near               # classes x ways: of these, those on the first side of each way
    int32_t* seen               # the same, of categories that have been weighed
    int32_t* side               # points of each class on the side that is counted
    int32_t* cells              # classes x LANES
    Weight* first               # of both sides of all ways: what f adds to them
    Leaves leaves[4]            # nn, nf, fn, ff


cdef int make_work(const Region* r, const Joint* joint, Work* work) noexcept nogil
cdef void free_work(Work* work) noexcept nogil
cdef void two_levels(
    const Problem* p, const Region* r, const Joint* joint, Work* work, Py_ssize_t f,
    Weight* first, Weight* second) noexcept nogil
