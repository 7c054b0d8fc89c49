# SPDX-License-Identifier: BSD-3-Clause
"""Streams as Python sees them, and the structure and estimation points of a tree."""

import numpy as np

from libc.stdint cimport int32_t, uint64_t

from mrforest._core.rng cimport Purpose, Stream, next_index, next_word, open_stream

SPLIT_PURPOSE = <int> Purpose.SPLIT


def words(key, uint64_t path, int purpose, Py_ssize_t n):
    """The first n words of a stream."""
    cdef Stream stream = open_stream(key[0], key[1], path, <Purpose> purpose)
    cdef Py_ssize_t i
    out = np.empty(n, dtype=np.uint64)
    cdef uint64_t[::1] view = out
    with nogil:
        for i in range(n):
            view[i] = next_word(&stream)
    return out


def partition_points(key, Py_ssize_t n, Py_ssize_t n_structure):
    """Draw the structure points of a tree: a uniform subset of fixed size.

    Point i owns word i of the tree's sample stream, and the points with the smallest words
    are taken; so whoever knows the key and the largest word taken can tell the side of a
    point from its number alone.

    Parameters
    ----------
    key : pair of uint64
        Key of the tree.
    n : int
        Number of points.
    n_structure : int
        Number of structure points, in [0, n].

    Returns
    -------
    structure, estimation : ndarray of int32
        Numbers of the points, ascending.
    """
    sample = words(key, 0, Purpose.SAMPLE, n)
    structure = np.empty(n_structure, dtype=np.int32)
    estimation = np.empty(n - n_structure, dtype=np.int32)
    cdef const uint64_t[::1] word = sample
    cdef int32_t[::1] s = structure, e = estimation
    cdef Py_ssize_t i, n_s = 0, n_e = 0, n_ties
    cdef uint64_t last = 0
    cdef bint is_structure
    if n_structure > 0:
        last = np.partition(sample, n_structure - 1)[n_structure - 1]
    # Equal words (one tree in 10^7 at a million points): the lower number first.
    n_ties = n_structure - np.count_nonzero(sample < last)
    with nogil:
        for i in range(n):
            is_structure = word[i] < last
            if word[i] == last and n_ties > 0:
                n_ties -= 1
                is_structure = True
            if is_structure:
                s[n_s] = <int32_t> i
                n_s += 1
            else:
                e[n_e] = <int32_t> i
                n_e += 1
    return structure, estimation


def bootstrap_points(key, Py_ssize_t n):
    """Draw n of n points with replacement; point numbers, ascending.

    Draw i takes the uniform number of word i of the tree's sample stream.
    """
    cdef Stream stream = open_stream(key[0], key[1], 0, Purpose.SAMPLE)
    copies_ = np.zeros(n, dtype=np.int32)
    bag_ = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] copies = copies_, bag = bag_
    cdef Py_ssize_t i, _draw, _copy, place = 0
    with nogil:
        for _draw in range(n):
            copies[next_index(&stream, n)] += 1
        for i in range(n):
            for _copy in range(copies[i]):
                bag[place] = <int32_t> i
                place += 1
    return bag_
