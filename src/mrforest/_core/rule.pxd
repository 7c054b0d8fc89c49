# SPDX-License-Identifier: BSD-3-Clause
"""The split rule: what makes one forest differ from another.

A rule answers three questions at every node, with the node's own random stream, in this order:
which features to look at, which of those that can be cut to cut, and which of its cuts to take.
Everything else (counting, scoring, partitioning, stopping, leaves) is the same for all forests.
A rule holds parameters only and is shared by all threads, so its methods change nothing.
"""

from libc.stdint cimport int32_t

from mrforest._core.rng cimport Stream


cdef class SplitRule:
    # Features to look at: write them to `selected`, ascending, and return how many.
    cdef Py_ssize_t select_features(
        self, Py_ssize_t n_features, int32_t* selected, Stream* stream) noexcept nogil

    # The index of a feature, given the largest score of each feature that has a candidate.
    # Scores closer than `tolerance` are equal. `work` has room for n numbers.
    cdef Py_ssize_t choose_feature(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work,
        Stream* stream) noexcept nogil

    # The index of a cut of that feature, given the scores of all of them.
    cdef Py_ssize_t choose_cut(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work,
        Stream* stream) noexcept nogil
