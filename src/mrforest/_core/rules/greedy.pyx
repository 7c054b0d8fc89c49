# SPDX-License-Identifier: BSD-3-Clause
"""Breiman's forest: L. Breiman, "Random forests", Machine Learning 45 (2001) 5-32.

Some features are drawn uniformly, and the best cut among all of theirs is taken.
"""

from mrforest._core.rules.rule cimport Draw, SplitRule


cdef class Greedy(SplitRule):
    """Take the best cut of n_features features."""

    cdef readonly Py_ssize_t n_features

    def __init__(self, Py_ssize_t n_features):
        self.n_features = n_features
        self.looks_at_all = False

    def __reduce__(self):
        return type(self), (self.n_features,)

    cdef Py_ssize_t count_features(self, Py_ssize_t n_features, Draw* draw) noexcept nogil:
        return min(self.n_features, n_features)
