# SPDX-License-Identifier: BSD-3-Clause
"""The base of all split rules: look at everything, take the best cut."""

from libc.math cimport INFINITY

from mrforest._core.random.softmax cimport draw_softmax


cdef class SplitRule:
    """Look at every feature and take the best cut, ties at random."""

    def __cinit__(self, *_, **__):
        self.looks_at_all = True

    cdef Py_ssize_t count_features(self, Py_ssize_t n_features, Draw* draw) noexcept nogil:
        return n_features

    cdef void restrict_cuts(
        self, const Points* points, Py_ssize_t feature, Range* range_, Draw* draw
    ) noexcept nogil:
        pass

    cdef Py_ssize_t choose_feature(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Draw* draw
    ) noexcept nogil:
        return draw_softmax(scores, n, INFINITY, tolerance, work, &draw.stream)

    cdef Py_ssize_t choose_cut(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Draw* draw
    ) noexcept nogil:
        return draw_softmax(scores, n, INFINITY, tolerance, work, &draw.stream)
