# SPDX-License-Identifier: BSD-3-Clause
"""In the manner of the data-driven multinomial random forest: Chen, Wang, Lei, Journal of Big
Data 11 (2024) 34, arXiv:2211.15154. A reconstruction: see forests/data_driven.py.

Some features are drawn uniformly. A coin decides between the best cut of theirs and the two
draws of the multinomial forest.
"""

from libc.math cimport INFINITY

from mrforest._core.random.rng cimport next_uniform
from mrforest._core.random.softmax cimport draw_softmax
from mrforest._core.rules.rule cimport Draw, SplitRule

cdef enum:
    BEST = 0
    DRAWN = 1


cdef class DataDriven(SplitRule):
    """Best cut of n_features features; with probability p it is drawn with budgets."""

    cdef readonly Py_ssize_t n_features
    cdef readonly double p
    cdef readonly double feature_budget
    cdef readonly double split_budget

    def __init__(self, Py_ssize_t n_features, double p, double feature_budget,
                 double split_budget):
        self.n_features = n_features
        self.p = p
        self.feature_budget = feature_budget
        self.split_budget = split_budget
        self.looks_at_all = False

    def __reduce__(self):
        return type(self), (self.n_features, self.p, self.feature_budget, self.split_budget)

    cdef Py_ssize_t count_features(self, Py_ssize_t n_features, Draw* draw) noexcept nogil:
        draw.mode = DRAWN if next_uniform(&draw.stream) < self.p else BEST
        return min(self.n_features, n_features)

    cdef Py_ssize_t choose_feature(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Draw* draw
    ) noexcept nogil:
        cdef double budget = self.feature_budget if draw.mode == DRAWN else INFINITY
        return draw_softmax(scores, n, budget, tolerance, work, &draw.stream)

    cdef Py_ssize_t choose_cut(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Draw* draw
    ) noexcept nogil:
        cdef double budget = self.split_budget if draw.mode == DRAWN else INFINITY
        return draw_softmax(scores, n, budget, tolerance, work, &draw.stream)
