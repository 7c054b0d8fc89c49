# SPDX-License-Identifier: BSD-3-Clause
"""Draws from a list of scores."""

from mrforest._core.random.rng cimport Stream

# scores are normalised to [0, 1] first
cdef Py_ssize_t draw_softmax(
    const double* scores, Py_ssize_t n, double budget, double tolerance, double* work,
    Stream* stream) noexcept nogil

# scores are taken as they are; range is the width that counts as one
cdef Py_ssize_t draw_exponential(
    const double* scores, Py_ssize_t n, double budget, double lowest, double highest,
    double range_, double tolerance, double* work, Stream* stream) noexcept nogil
