# SPDX-License-Identifier: BSD-3-Clause
"""The base of all split rules: look at every feature, take the best cut."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from mrforest._core.draw cimport draw_softmax
from mrforest._core.rng cimport Stream


cdef class SplitRule:
    """Look at every feature and take the best cut, ties at random."""

    cdef Py_ssize_t select_features(
        self, Py_ssize_t n_features, int32_t* selected, Stream* stream
    ) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(n_features):
            selected[j] = <int32_t> j
        return n_features

    cdef Py_ssize_t choose_feature(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Stream* stream
    ) noexcept nogil:
        return draw_softmax(scores, n, INFINITY, tolerance, work, stream)

    cdef Py_ssize_t choose_cut(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Stream* stream
    ) noexcept nogil:
        return draw_softmax(scores, n, INFINITY, tolerance, work, stream)
