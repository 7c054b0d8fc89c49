# SPDX-License-Identifier: BSD-3-Clause
"""The multinomial random forest: Bai, Li, Li, Yang, Jiang, Xia, "Multinomial random forest",
Pattern Recognition 122 (2022) 108331, arXiv:1903.04003.

The feature is drawn from the softmax of the features' best impurity decreases, the cut from the
softmax of the decreases of that feature's cuts, both normalised to [0, 1].
"""

from mrforest._core.random.softmax cimport draw_softmax
from mrforest._core.rules.rule cimport Draw, SplitRule


cdef class Multinomial(SplitRule):
    """Draw the feature with budget B1 and the cut with budget B2, each from 0 to inf.

    Of n_features features that are drawn uniformly; 0: of all.
    """

    cdef readonly double feature_budget
    cdef readonly double split_budget
    cdef readonly Py_ssize_t n_features

    def __init__(self, double feature_budget, double split_budget, Py_ssize_t n_features=0):
        self.feature_budget = feature_budget
        self.split_budget = split_budget
        self.n_features = n_features
        self.looks_at_all = n_features == 0

    def __reduce__(self):
        return type(self), (self.feature_budget, self.split_budget, self.n_features)

    cdef Py_ssize_t count_features(self, Py_ssize_t n_features, Draw* draw) noexcept nogil:
        return n_features if self.looks_at_all else min(self.n_features, n_features)

    cdef Py_ssize_t choose_feature(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Draw* draw
    ) noexcept nogil:
        return draw_softmax(scores, n, self.feature_budget, tolerance, work, &draw.stream)

    cdef Py_ssize_t choose_cut(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work, Draw* draw
    ) noexcept nogil:
        return draw_softmax(scores, n, self.split_budget, tolerance, work, &draw.stream)
