# SPDX-License-Identifier: BSD-3-Clause
"""Losses of a whole forest, from what some of its trees predict for rows they were not shaped by.

Each row is held out of few trees of a forest. Two halves of these, and all of them, show how its
loss falls with the number of trees T: loss(T) = a + b / T. For the squared error this is exact, so
the estimate has no bias; for other losses it is the first term.

    T     half      all      n_trees
          |---------|--------- - - - |          1 / T counts, not T
"""

import numpy as np

from libc.math cimport log
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from mrforest._core.kernels.dispatch cimport BLOCK_ROWS, N_POWERS, PowerSums, kernels

POWERS = np.array([kernels.powers[i] for i in range(N_POWERS)])

cdef enum:
    EVEN, ODD, ALL, N_PARTS             # halves of the groups of trees, and all of them


cdef inline double extrapolate(
    const double* losses, const int64_t[:, ::1] counts, Py_ssize_t row, Py_ssize_t n_trees
) noexcept nogil:
    """Loss of n_trees trees, from the losses of the three parts for one row."""
    cdef double beyond = <double> (counts[EVEN, row] + counts[ODD, row]) / n_trees - 1
    return losses[ALL] + ((losses[EVEN] + losses[ODD]) / 2 - losses[ALL]) * beyond


cdef inline bint has_halves(const int64_t[:, ::1] counts, Py_ssize_t row) noexcept nogil:
    return counts[EVEN, row] > 0 and counts[ODD, row] > 0


def squared_losses(
    const double[:, :, :, ::1] sums, const int64_t[:, ::1] counts, const double[:, ::1] truth,
    const double[::1] weights, Py_ssize_t n_trees
):
    """Weighted sum of the squared errors of a whole forest, for each leaf size.

    Parameters
    ----------
    sums : ndarray of shape (2, n_rows, n_sizes, n_columns)
        Predictions for held-out rows, added up over trees: even groups of trees, odd ones.
    counts : ndarray of shape (2, n_rows), dtype=int64
        How many trees these are. Rows without a tree in one half are left out.
    truth : ndarray of shape (n_rows, n_columns)
        The target; in classification 1 for the class of the row and 0 for the others.
    weights : ndarray of shape (n_rows,)
    n_trees : int
        Trees of the whole forest.

    Returns
    -------
    ndarray of shape (n_sizes,)
    """
    cdef Py_ssize_t n_sizes = sums.shape[2], K = sums.shape[3], row, size, k
    cdef double errors[N_PARTS]
    cdef double even, odd, n_even, n_odd, n_all
    out = np.zeros(n_sizes)
    cdef double[::1] losses = out
    with nogil:
        for row in range(sums.shape[1]):
            if not has_halves(counts, row):
                continue
            n_even = <double> counts[EVEN, row]
            n_odd = <double> counts[ODD, row]
            n_all = n_even + n_odd
            for size in range(n_sizes):
                errors[EVEN] = errors[ODD] = errors[ALL] = 0
                for k in range(K):
                    even = sums[EVEN, row, size, k]
                    odd = sums[ODD, row, size, k]
                    errors[EVEN] += square(even / n_even - truth[row, k])
                    errors[ODD] += square(odd / n_odd - truth[row, k])
                    errors[ALL] += square((even + odd) / n_all - truth[row, k])
                losses[size] += weights[row] * extrapolate(errors, counts, row, n_trees)
    return out


cdef inline double square(double x) noexcept nogil:
    return x * x


# ---- sharpened probabilities -------------------------------------------------------------

cdef struct RowBlock:
    # Rows whose losses are computed at once.
    Py_ssize_t first, n
    int32_t classes[BLOCK_ROWS]
    double* shares                          # classes x BLOCK_ROWS
    PowerSums sharp


cdef void set_shares(
    RowBlock* block, const double[:, :, ::1] sums, int part
) noexcept nogil:
    """Shares of the classes, divided by the largest of a row."""
    cdef Py_ssize_t K = sums.shape[2], i, k
    cdef double most, share
    for i in range(BLOCK_ROWS):
        most = 0
        for k in range(K):
            share = 1
            if i < block.n:
                if part == ALL:
                    share = sums[EVEN, block.first + i, k] + sums[ODD, block.first + i, k]
                else:
                    share = sums[part, block.first + i, k]
            most = max(most, share)
            block.shares[k * BLOCK_ROWS + i] = share
        for k in range(K):
            if most > 0:
                block.shares[k * BLOCK_ROWS + i] /= most
            else:       # no tree holds out the row; it does not count
                block.shares[k * BLOCK_ROWS + i] = 1


def sharpened_losses(
    const double[:, :, ::1] sums, const int64_t[:, ::1] counts, const int32_t[::1] classes,
    const double[::1] weights, Py_ssize_t n_trees, double floor
):
    """Weighted sums of two losses of sharpened probabilities, for each power.

    Parameters
    ----------
    sums : ndarray of shape (2, n_rows, n_classes)
    counts, weights, n_trees
        See `squared_losses`.
    classes : ndarray of shape (n_rows,), dtype=int32
    floor : float
        Weight of the uniform distribution, which is mixed in.

    Returns
    -------
    ndarray of shape (2, n_powers)
        Brier scores, logarithmic losses.
    """
    cdef Py_ssize_t K = sums.shape[2], n = sums.shape[1], i, row
    cdef int part, power
    cdef double total, own, rest = floor / K, keep = 1 - floor
    cdef double brier[N_PARTS][N_POWERS][BLOCK_ROWS]
    cdef double logarithmic[N_PARTS][N_POWERS][BLOCK_ROWS]
    cdef double of_row[N_PARTS]
    cdef RowBlock block
    out = np.zeros((2, N_POWERS))
    cdef double[:, ::1] losses = out
    block.first = 0
    block.shares = <double*> malloc(K * BLOCK_ROWS * sizeof(double))
    if block.shares is NULL:
        raise MemoryError("no memory for losses")
    with nogil:
        while block.first < n:
            block.n = min(<Py_ssize_t> BLOCK_ROWS, n - block.first)
            for i in range(BLOCK_ROWS):
                block.classes[i] = classes[block.first + i] if i < block.n else 0
            for part in range(N_PARTS):
                set_shares(&block, sums, part)
                kernels.sum_powers(block.shares, K, block.classes, &block.sharp)
                for power in range(N_POWERS):
                    for i in range(block.n):
                        total = block.sharp.total[power][i]
                        own = keep * (block.sharp.own[power][i] / total) + rest
                        logarithmic[part][power][i] = -log(own)
                        brier[part][power][i] = (
                            keep * keep * (block.sharp.squares[power][i] / (total * total))
                            + 2 * keep * rest + rest * floor + 1 - 2 * own)
            for i in range(block.n):
                row = block.first + i
                if not has_halves(counts, row):
                    continue
                for power in range(N_POWERS):
                    for part in range(N_PARTS):
                        of_row[part] = brier[part][power][i]
                    losses[0, power] += weights[row] * extrapolate(of_row, counts, row, n_trees)
                    for part in range(N_PARTS):
                        of_row[part] = logarithmic[part][power][i]
                    losses[1, power] += weights[row] * extrapolate(of_row, counts, row, n_trees)
            block.first += BLOCK_ROWS
    free(block.shares)
    return out
