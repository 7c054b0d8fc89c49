# SPDX-License-Identifier: BSD-3-Clause
"""The two draws of the multinomial forest: the softmax of a split and the label of a leaf."""

from libc.math cimport INFINITY, exp

from mrforest._core.kernels.dispatch cimport kernels
from mrforest._core.random.rng cimport Stream, next_index, next_uniform

cdef Py_ssize_t draw_softmax(
    const double* scores,   # IN
    Py_ssize_t n,           # at least 1
    double budget,          # 0 to inf
    double tolerance,       # scores closer than this are equal
    double* work,           # n of them
    Stream* stream,
) noexcept nogil:
    """Draw i with probability proportional to exp(budget / 2 * normalised score of i).

    Normalised: the smallest score is 0, the largest 1; if all are equal the draw is uniform.
    Takes one uniform number from the stream, whatever the scores are.
    """
    cdef double lowest = scores[0], highest = scores[0]
    cdef Py_ssize_t i
    for i in range(1, n):
        lowest = min(lowest, scores[i])
        highest = max(highest, scores[i])
    if highest - lowest <= tolerance:
        return next_index(stream, n)
    return draw_exponential(
        scores, n, budget, lowest, highest, highest - lowest, tolerance, work, stream)


cdef Py_ssize_t draw_exponential(
    const double* scores, Py_ssize_t n, double budget, double lowest, double highest,
    double range_, double tolerance, double* work, Stream* stream
) noexcept nogil:
    """Draw i with probability proportional to exp(budget / 2 * (score of i - lowest) / range)."""
    cdef Py_ssize_t i, n_best = 0, number
    cdef double total = 0, target, uniform, top = (highest - lowest) / range_
    if budget == 0:
        return next_index(stream, n)
    if budget == INFINITY:
        for i in range(n):
            n_best += scores[i] >= highest - tolerance
        number = next_index(stream, n_best)
        for i in range(n):
            if scores[i] >= highest - tolerance:
                if number == 0:
                    return i
                number -= 1
    uniform = next_uniform(stream)
    i = kernels.draw_softmax(
        scores, n, highest, highest - lowest, budget / 2 / range_, uniform, work)
    if i >= 0:
        return i
    for i in range(n):
        total += exp(budget / 2 * ((scores[i] - lowest) / range_ - top))
        work[i] = total
    target = uniform * total
    for i in range(n - 1):
        if work[i] > target:
            return i
    return n - 1
