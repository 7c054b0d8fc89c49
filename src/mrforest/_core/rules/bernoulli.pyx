# SPDX-License-Identifier: BSD-3-Clause
"""The Bernoulli random forest: Wang, Xia, Tang, Wu, Zhu, "A novel consistent random forest
framework: Bernoulli random forests", IEEE TNNLS 29 (2018); first at IJCAI 2016.

Two coins at each node: with probability p1 one feature is looked at, not several; with
probability p2 the cut is drawn uniformly, not searched.
"""

from libc.math cimport INFINITY

from mrforest._core.random.rng cimport next_uniform
from mrforest._core.random.softmax cimport draw_softmax
from mrforest._core.rules.rule cimport Draw, SplitRule

cdef enum:
    BEST = 0
    AT_RANDOM = 1


cdef class Bernoulli(SplitRule):
    """Best cut of n_features features; one feature with p1, a random cut with p2."""

    cdef readonly Py_ssize_t n_features
    cdef readonly double p1
    cdef readonly double p2

    def __init__(self, Py_ssize_t n_features, double p1, double p2):
        self.n_features = n_features
        self.p1 = p1
        self.p2 = p2
        self.looks_at_all = False

    def __reduce__(self):
        return type(self), (self.n_features, self.p1, self.p2)

    cdef Py_ssize_t count_features(self, Py_ssize_t n_features, Draw* draw) noexcept nogil:
        cdef bint one = next_uniform(&draw.stream) < self.p1
        draw.mode = AT_RANDOM if next_uniform(&draw.stream) < self.p2 else BEST
        return 1 if one else min(self.n_features, n_features)

    cdef Py_ssize_t choose_feature(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Draw* draw
    ) noexcept nogil:
        cdef double budget = 0 if draw.mode == AT_RANDOM else INFINITY
        return draw_softmax(scores, n, budget, tolerance, work, &draw.stream)

    cdef Py_ssize_t choose_cut(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Draw* draw
    ) noexcept nogil:
        return self.choose_feature(scores, n, tolerance, work, draw)
