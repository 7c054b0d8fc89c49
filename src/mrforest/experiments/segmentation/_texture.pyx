# SPDX-License-Identifier: BSD-3-Clause
"""Haralick's texture features of the window around every pixel.

Pairs of pixels a fixed offset apart, both in the window, are counted by their two grey levels,
whichever of them comes first. When the window moves by a pixel, one column of pairs leaves it
and one comes in:

        | - . . . . . . + |      -  leaves      .  stays      +  comes in

so a pixel takes time in proportion to the height of the window, not to its area and not to the
number of grey levels. Whatever the features are made of is kept as whole numbers (logarithms and
quotients as multiples of 2^-40), so nothing is lost however far the window moves.
"""

from libc.math cimport llround, log, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset


cdef double UNIT = 2.0 ** 40

# The order of the features
cdef enum:
    ASM
    CONTRAST
    CORRELATION
    ENTROPY
    HOMOGENEITY
    MEAN
    VARIANCE
    DEVIATION
    N_FEATURES


cdef struct Pairs:
    Py_ssize_t n_levels
    int32_t* count          # of pairs of levels i <= j, at [i, j]
    int64_t* k_log_k        # by k, in units
    int64_t* closeness      # 1 / (1 + d^2) by d = |i - j|, in units
    # Sums over the cells: of count^2, and of count log(count), in units
    int64_t squares
    int64_t logs
    # Sums over the pairs
    int64_t close           # of closeness
    int64_t levels          # i + j
    int64_t levels_squared  # i^2 + j^2
    int64_t products        # i * j


cdef inline void put(Pairs* p, int64_t i, int64_t j, int sign) noexcept nogil:
    """Add a pair, or take it away."""
    cdef int64_t low = min(i, j), high = max(i, j)
    cdef int32_t* cell = p.count + low * p.n_levels + high
    cdef int64_t before = cell[0], after = before + sign
    cell[0] = <int32_t> after
    # A pair counts as (i, j) and as (j, i): in two cells, or twice in one.
    if low == high:
        p.squares += 4 * (after * after - before * before)
        p.logs += p.k_log_k[2 * after] - p.k_log_k[2 * before]
    else:
        p.squares += 2 * (after * after - before * before)
        p.logs += 2 * (p.k_log_k[after] - p.k_log_k[before])
    p.close += sign * p.closeness[high - low]
    p.levels += sign * (i + j)
    p.levels_squared += sign * (i * i + j * j)
    p.products += sign * i * j


cdef inline void put_column(
    Pairs* p, const uint8_t* first, const uint8_t* second, Py_ssize_t n_rows,
    Py_ssize_t width, int sign,
) noexcept nogil:
    cdef Py_ssize_t row
    for row in range(n_rows):
        put(p, first[row * width], second[row * width], sign)


cdef inline void clear(Pairs* p) noexcept nogil:
    memset(p.count, 0, p.n_levels * p.n_levels * sizeof(int32_t))
    p.squares = p.logs = p.close = p.levels = p.levels_squared = p.products = 0


cdef inline void add_features(
    const Pairs* p, int64_t n_pairs, double share, double* to
) noexcept nogil:
    """Add a share of the features of the pairs that are there."""
    cdef double n = 2.0 * n_pairs
    cdef double mean = p.levels / n
    # Whole numbers, so that no variance is exactly 0.
    cdef int64_t spread = 2 * n_pairs * p.levels_squared - p.levels * p.levels
    cdef int64_t together = 4 * n_pairs * p.products - p.levels * p.levels
    cdef double variance = spread / (n * n)
    to[ASM] += share * (p.squares / (n * n))
    to[CONTRAST] += share * ((p.levels_squared - 2 * p.products) / <double> n_pairs)
    to[CORRELATION] += share * (together / <double> spread if spread else 1.0)
    to[ENTROPY] += share * ((p.k_log_k[2 * n_pairs] - p.logs) / (n * UNIT))
    to[HOMOGENEITY] += share * (p.close / (n_pairs * UNIT))
    to[MEAN] += share * mean
    to[VARIANCE] += share * variance
    to[DEVIATION] += share * sqrt(variance)


cdef int make_pairs(Pairs* p, Py_ssize_t n_levels, Py_ssize_t most_pairs) noexcept nogil:
    cdef Py_ssize_t k
    p.n_levels = n_levels
    p.count = <int32_t*> calloc(n_levels * n_levels, sizeof(int32_t))
    p.k_log_k = <int64_t*> malloc((2 * most_pairs + 1) * sizeof(int64_t))
    p.closeness = <int64_t*> malloc(n_levels * sizeof(int64_t))
    if p.count is NULL or p.k_log_k is NULL or p.closeness is NULL:
        return -1
    p.k_log_k[0] = 0
    for k in range(1, 2 * most_pairs + 1):
        p.k_log_k[k] = llround(k * log(<double> k) * UNIT)
    for k in range(n_levels):
        p.closeness[k] = llround(UNIT / (1.0 + <double> k * k))
    return 0


cdef void free_pairs(Pairs* p) noexcept nogil:
    free(p.count)
    free(p.k_log_k)
    free(p.closeness)


cdef check(
    const uint8_t[:, ::1] levels, Py_ssize_t n_levels, Py_ssize_t window,
    const int32_t[:, ::1] offsets, Py_ssize_t n_rows, Py_ssize_t width,
):
    """Refuse what would be looked up beyond the end of an array."""
    cdef Py_ssize_t i, j, o
    cdef bint is_wrong = levels.shape[0] < n_rows + window - 1
    is_wrong |= levels.shape[1] < width + window - 1 or offsets.shape[1] != 2
    is_wrong |= not 1 <= window <= 255 or not 1 <= n_levels <= 256
    for o in range(offsets.shape[0]):
        is_wrong |= not -window < offsets[o, 0] < window
        is_wrong |= not 0 <= offsets[o, 1] < window
    for i in range(levels.shape[0]):
        for j in range(levels.shape[1]):
            is_wrong |= levels[i, j] >= n_levels
    if is_wrong:
        raise ValueError("levels, window and offsets do not fit each other")


def haralick_features(
    const uint8_t[:, ::1] levels,
    Py_ssize_t n_levels,
    Py_ssize_t window,
    const int32_t[:, ::1] offsets,
    Py_ssize_t first_row,
    double[:, :, ::1] features,
):
    """Fill in the features of some rows of pixels, averaged over offsets.

    Parameters
    ----------
    levels : ndarray of uint8 of shape (height + window - 1, width + window - 1)
        Grey levels below `n_levels`, of the image and half a window around it.
    n_levels : int
    window : int
        Odd, at most 255.
    offsets : ndarray of int32 of shape (n_offsets, 2)
        From the first to the second pixel of a pair: rows, and columns, which are not
        negative. Smaller than the window.
    first_row : int
        Row of the image that `features` begins with.
    features : ndarray of float64 of shape (n_rows, width, 8)
        Zeros, to be added to.
    """
    cdef Py_ssize_t n_rows = features.shape[0], width = features.shape[1]
    cdef Py_ssize_t wide = levels.shape[1], row, column, x, o, down, right, n_in_column, top
    cdef double share = 1.0 / offsets.shape[0]
    cdef int64_t n_pairs
    cdef const uint8_t* first
    cdef const uint8_t* second
    cdef Pairs pairs
    cdef int failed
    if n_rows == 0 or width == 0:
        return
    check(levels, n_levels, window, offsets, first_row + n_rows, width)
    with nogil:
        failed = make_pairs(&pairs, n_levels, window * window)
        if not failed:
            for row in range(n_rows):
                top = first_row + row
                for o in range(offsets.shape[0]):
                    down, right = offsets[o, 0], offsets[o, 1]
                    n_in_column = window - max(down, -down)
                    n_pairs = n_in_column * (window - right)
                    # Where the pairs of a column begin, in the first column
                    first = &levels[top + max(0, -down), 0]
                    second = &levels[top + max(0, down), right]
                    clear(&pairs)
                    for x in range(window - right):
                        put_column(&pairs, first + x, second + x, n_in_column, wide, 1)
                    add_features(&pairs, n_pairs, share, &features[row, 0, 0])
                    for column in range(1, width):
                        x = column - 1
                        put_column(&pairs, first + x, second + x, n_in_column, wide, -1)
                        x = column + window - right - 1
                        put_column(&pairs, first + x, second + x, n_in_column, wide, 1)
                        add_features(&pairs, n_pairs, share, &features[row, column, 0])
        free_pairs(&pairs)
    if failed:
        raise MemoryError("no memory for the counts of grey levels")
