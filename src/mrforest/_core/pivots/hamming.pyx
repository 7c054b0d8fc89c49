# SPDX-License-Identifier: BSD-3-Clause
"""Which features can be packed, and packing them."""

import numpy as np

from libc.stdint cimport uint8_t, uint64_t

cdef enum:
    WORTH_PACKING = 8   # features at least


cdef inline bint fits(double x, bint is_categorical) noexcept nogil:
    return x == 0 or x == 1 or (is_categorical and 0 <= x <= 255 and x == <int> x)


cdef Packing no_packing(Py_ssize_t n_features) noexcept nogil:
    cdef Packing packing
    packing.n_plain = n_features
    packing.n_words = 0
    packing.n_bits = 1
    return packing


cdef Packing pack_for(
    Packing packing, const double[:, ::1] X, const uint8_t[::1] is_categorical
) noexcept nogil:
    """A packing that serves these rows, too."""
    cdef Py_ssize_t i, j, F = X.shape[1]
    for i in range(X.shape[0]):
        for j in range(F - 1, packing.n_plain - 1, -1):
            if not fits(X[i, j], is_categorical[j]):
                packing.n_plain = j + 1
                break
    if F - packing.n_plain < WORTH_PACKING:
        return no_packing(F)
    for i in range(X.shape[0]):
        for j in range(packing.n_plain, F):
            while <int> X[i, j] >> packing.n_bits > 0:
                packing.n_bits += 1
    packing.n_words = (F - packing.n_plain + 63) // 64 * packing.n_bits
    return packing


cdef object pack(const double[:, ::1] X, Packing packing):
    """The words of each row."""
    packed = np.zeros((X.shape[0], packing.n_words), dtype=np.uint64)
    cdef uint64_t[:, ::1] words = packed
    cdef Py_ssize_t i, j, place, bit
    for i in range(X.shape[0]):
        for j in range(packing.n_plain, X.shape[1]):
            place = j - packing.n_plain
            for bit in range(packing.n_bits):
                words[i, (place >> 6) * packing.n_bits + bit] |= (
                    <uint64_t> (<int> X[i, j] >> bit & 1) << (place & 63))
    return packed
