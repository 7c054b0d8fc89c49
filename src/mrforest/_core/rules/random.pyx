# SPDX-License-Identifier: BSD-3-Clause
"""The completely random rule: the multinomial one with both budgets 0.

A feature drawn uniformly among those that can be cut is the first such in a random order, so
only one feature need be looked at.
"""

from mrforest._core.random.rng cimport next_index
from mrforest._core.rules.rule cimport Draw, SplitRule


cdef class Random(SplitRule):
    """Take a random cut of a random feature."""

    def __init__(self):
        self.looks_at_all = False

    def __reduce__(self):
        return type(self), ()

    cdef Py_ssize_t count_features(self, Py_ssize_t n_features, Draw* draw) noexcept nogil:
        return 1

    cdef Py_ssize_t choose_feature(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Draw* draw
    ) noexcept nogil:
        return next_index(&draw.stream, n)

    cdef Py_ssize_t choose_cut(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Draw* draw
    ) noexcept nogil:
        return next_index(&draw.stream, n)
