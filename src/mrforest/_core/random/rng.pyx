# SPDX-License-Identifier: BSD-3-Clause
"""Streams as Python sees them, and the structure and estimation points of a tree."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from mrforest._core.random.rng cimport (
    Purpose, Stream, index_below, next_index, open_stream, philox4x64, uniform_from,
)

cdef extern from *:
    int popcount "__builtin_popcountll"(unsigned long long bits) nogil

SPLIT_PURPOSE = <int> Purpose.SPLIT

cdef enum:
    # Words are told apart by their highest bits first.
    HIGH_BITS = 8
    N_HIGH = 1 << HIGH_BITS
    # Words that are drawn before any of them is used: then the processor draws several at a time
    BLOCKS_AT_ONCE = 16
    WORDS_AT_ONCE = 4 * BLOCKS_AT_ONCE
    # Copies of a point that are written whether it has them or not
    COPIES_AT_ONCE = 4


cdef inline void write_block(Stream* stream, Py_ssize_t block, uint64_t* out) noexcept nogil:
    """Four words, as `next_word` gives them."""
    stream.counter[0] = <uint64_t> block + 1
    philox4x64(stream.key0, stream.key1, stream.counter, out)


def words(key, uint64_t path, int purpose, Py_ssize_t n):
    """The first n words of a stream."""
    cdef Stream stream = open_stream(key[0], key[1], path, <Purpose> purpose)
    cdef Py_ssize_t block, n_blocks = (n + 3) // 4
    out = np.empty(4 * n_blocks, dtype=np.uint64)
    cdef uint64_t[::1] view = out
    with nogil:
        for block in range(n_blocks):
            write_block(&stream, block, &view[4 * block])
    return out[:n]


def indices(key, uint64_t path, int purpose, const int64_t[::1] limits):
    """Indices drawn one after the other from a stream, each below its limit."""
    cdef Stream stream = open_stream(key[0], key[1], path, <Purpose> purpose)
    cdef Py_ssize_t i
    out = np.empty(limits.shape[0], dtype=np.int64)
    cdef int64_t[::1] view = out
    for i in range(limits.shape[0]):
        view[i] = next_index(&stream, limits[i])
    return out


cdef uint64_t select(uint64_t* word, Py_ssize_t n, Py_ssize_t rank) noexcept nogil:
    """The word that has so many before it in ascending order; reorders the words."""
    cdef Py_ssize_t first = 0, last = n - 1, i, j
    cdef uint64_t pivot
    while first < last:
        # Invariant: it lies in [first, last]; what is before is not larger, what is behind not
        # smaller.
        pivot = word[(first + last) >> 1]
        i, j = first, last
        while i <= j:
            while word[i] < pivot:
                i += 1
            while word[j] > pivot:
                j -= 1
            if i <= j:
                word[i], word[j] = word[j], word[i]
                i += 1
                j -= 1
        if rank <= j:
            last = j
        elif rank >= i:
            first = i
        else:
            break
    return word[rank]


cdef inline uint64_t word_of(Stream* stream, Py_ssize_t i) noexcept nogil:
    """Word i of the stream."""
    cdef uint64_t block[4]
    write_block(stream, i >> 2, block)
    return block[i & 3]


cdef void draw_high_bits(
    Stream* stream, Py_ssize_t n,
    uint8_t* high,              # OUT  the highest bits of n words
    int32_t* counts,            # OUT  how many have the same
) noexcept nogil:
    cdef uint64_t word[WORDS_AT_ONCE]
    cdef Stream own = stream[0]
    cdef Py_ssize_t part, i
    memset(counts, 0, N_HIGH * sizeof(int32_t))
    for part in range((n + WORDS_AT_ONCE - 1) // WORDS_AT_ONCE):
        for i in range(BLOCKS_AT_ONCE):
            write_block(&own, part * BLOCKS_AT_ONCE + i, word + 4 * i)
        for i in range(min(n - part * WORDS_AT_ONCE, WORDS_AT_ONCE)):
            high[part * WORDS_AT_ONCE + i] = <uint8_t> (word[i] >> (64 - HIGH_BITS))
    for i in range(n):
        counts[high[i]] += 1


cdef Py_ssize_t highest_taken(
    const int32_t* counts,
    Py_ssize_t n_taken,         # in [1, n]
    Py_ssize_t* before,         # OUT  how many have lower ones
) noexcept nogil:
    """The highest bits of the largest of the n_taken smallest words."""
    cdef Py_ssize_t bits = 0
    before[0] = 0
    while before[0] + counts[bits] < n_taken:
        before[0] += counts[bits]
        bits += 1
    return bits


cdef uint64_t largest_taken(
    Stream* stream, const uint8_t* high, Py_ssize_t n,
    Py_ssize_t bits,            # its highest
    uint64_t* found,            # OUT  the words that have the same, in their order
    uint64_t* work,             # as many
    Py_ssize_t* n_ties,         # IN   of these, how many are taken
                                # OUT  how many of those equal to it are taken
) noexcept nogil:
    """The largest of the smallest words.

    Words are random, so a few of them only share its highest bits; those are drawn again.
    """
    cdef Py_ssize_t i, n_work = 0
    cdef uint64_t last
    for i in range(n):
        if high[i] == bits:
            found[n_work] = work[n_work] = word_of(stream, i)
            n_work += 1
    last = select(work, n_work, n_ties[0] - 1)
    for i in range(n_work):
        n_ties[0] -= work[i] < last
    return last


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
    cdef Stream stream = open_stream(key[0], key[1], 0, Purpose.SAMPLE)
    # A point is written to both sides, and then belongs to one: room for one more on each.
    structure = np.empty(n_structure + 1, dtype=np.int32)
    estimation = np.empty(n - n_structure + 1, dtype=np.int32)
    cdef int32_t[::1] s = structure, e = estimation
    cdef int32_t counts[N_HIGH]
    # The highest bits of a word nearly always tell; it is drawn again where they do not.
    cdef uint8_t* high = <uint8_t*> malloc(n + 1)
    cdef uint64_t* found = NULL
    cdef Py_ssize_t i, n_s = 0, n_seen = 0, before = 0, n_ties = 0, bits
    cdef uint64_t last = 0
    cdef bint is_structure
    with nogil:
        if high is not NULL:
            draw_high_bits(&stream, n, high, counts)
            bits = highest_taken(counts, n_structure, &before) if n_structure > 0 else 0
            found = <uint64_t*> malloc((2 * counts[bits] + 1) * sizeof(uint64_t))
        if high is not NULL and found is not NULL:
            if n_structure > 0:
                n_ties = n_structure - before
                last = largest_taken(
                    &stream, high, n, bits, found, found + counts[bits], &n_ties)
            for i in range(n):
                is_structure = high[i] < bits
                if high[i] == bits and n_structure > 0:
                    is_structure = found[n_seen] < last
                    # Equal words (one tree in 10^7 at a million points): the lower number first.
                    if found[n_seen] == last and n_ties > 0:
                        n_ties -= 1
                        is_structure = True
                    n_seen += 1
                s[n_s] = <int32_t> i
                e[i - n_s] = <int32_t> i
                n_s += is_structure
    is_drawn = high is not NULL and found is not NULL
    free(high)
    free(found)
    if not is_drawn:
        raise MemoryError("no memory to draw points")
    return structure[:n_structure], estimation[:n - n_structure]


# ---- some of the points ------------------------------------------------------------------

# What a machine must know that has some of the points only, and the tree's key.

def structure_boundary(key, Py_ssize_t n, Py_ssize_t n_structure):
    """Up to which word points are structure points, see `partition_points`.

    Parameters
    ----------
    key : pair of uint64
    n, n_structure : int

    Returns
    -------
    word, point : int
        Points with smaller words are structure points, and of those with this word the ones up
        to this point.
    """
    cdef Stream stream = open_stream(key[0], key[1], 0, Purpose.SAMPLE)
    cdef int64_t counts[N_HIGH]
    cdef uint64_t block[4]
    cdef Py_ssize_t i, bits = 0, before = 0, n_found = 0, n_ties, point = -1
    cdef uint64_t last
    if n_structure == 0:
        return 0, -1
    memset(counts, 0, sizeof(counts))
    with nogil:
        for i in range(n):
            if i & 3 == 0:
                write_block(&stream, i >> 2, block)
            counts[block[i & 3] >> (64 - HIGH_BITS)] += 1
        while before + counts[bits] < n_structure:
            before += counts[bits]
            bits += 1
    words_ = np.empty(counts[bits], dtype=np.uint64)
    cdef uint64_t[::1] found = words_
    with nogil:
        for i in range(n):
            if i & 3 == 0:
                write_block(&stream, i >> 2, block)
            if block[i & 3] >> (64 - HIGH_BITS) == <uint64_t> bits:
                found[n_found] = block[i & 3]
                n_found += 1
        n_ties = n_structure - before
        last = select(&found[0], n_found, n_ties - 1)
        for i in range(n_found):
            n_ties -= found[i] < last
        while n_ties > 0:
            point += 1
            n_ties -= word_of(&stream, point) == last
    return last, point


def held_out_points(key, Py_ssize_t n, double low, double high):
    """Divide points into those that shape a tree and those that it holds out.

    Point i owns word i of the sample stream of a group of trees, and is held out if its uniform
    number is in [low, high).

    Returns
    -------
    points : ndarray of shape (n,), dtype=int32
        Points that shape the tree, ascending, then those that are held out, ascending.
    n_structure : int
        How many shape it.
    """
    cdef Stream stream = open_stream(key[0], key[1], 0, Purpose.SAMPLE)
    points = np.empty(n, dtype=np.int32)
    held = np.empty(n + 1, dtype=np.int32)
    cdef int32_t[::1] s = points, h = held
    cdef uint64_t drawn[WORDS_AT_ONCE]
    cdef Py_ssize_t i, first, block, n_structure = 0, n_held = 0
    cdef double u
    cdef bint is_held
    with nogil:
        first = 0
        while first < n:
            for block in range(BLOCKS_AT_ONCE):
                write_block(&stream, first // 4 + block, &drawn[4 * block])
            for i in range(min(n - first, <Py_ssize_t> WORDS_AT_ONCE)):
                u = uniform_from(drawn[i])
                is_held = low <= u and u < high
                # Write to both, advance one: no branch to mispredict.
                s[n_structure] = <int32_t> (first + i)
                h[n_held] = <int32_t> (first + i)
                n_structure += not is_held
                n_held += is_held
            first += WORDS_AT_ONCE
    points[n_structure:] = held[:n_held]
    return points, n_structure


def is_structure(key, const int32_t[::1] points, uint64_t word, int64_t point):
    """Which of some points are structure points, given the boundary.

    Points ascend. Returns an ndarray of bool.
    """
    cdef Stream stream = open_stream(key[0], key[1], 0, Purpose.SAMPLE)
    cdef uint64_t block[4]
    cdef uint64_t own
    cdef Py_ssize_t i, at_block = -1
    out = np.empty(points.shape[0], dtype=np.bool_)
    cdef uint8_t[::1] side = out.view(np.uint8)
    with nogil:
        for i in range(points.shape[0]):
            if points[i] >> 2 != at_block:
                at_block = points[i] >> 2
                write_block(&stream, at_block, block)
            own = block[points[i] & 3]
            side[i] = own < word or (own == word and points[i] <= point)
    return out


def is_held_out(key, const int32_t[::1] points, double low, double high):
    """Which of some points a tree holds out, see `held_out_points`.

    Points ascend. Returns an ndarray of bool.
    """
    cdef Stream stream = open_stream(key[0], key[1], 0, Purpose.SAMPLE)
    cdef uint64_t block[4]
    cdef Py_ssize_t i, at_block = -1
    cdef double u
    out = np.empty(points.shape[0], dtype=np.bool_)
    cdef uint8_t[::1] is_held = out.view(np.uint8)
    with nogil:
        for i in range(points.shape[0]):
            if points[i] >> 2 != at_block:
                at_block = points[i] >> 2
                write_block(&stream, at_block, block)
            u = uniform_from(block[points[i] & 3])
            is_held[i] = low <= u and u < high
    return out


def copies_in_bag(key, Py_ssize_t n, const int32_t[::1] points):
    """How often some points are in the bag that `bootstrap_points` draws from n of them.

    Points ascend. Returns an ndarray of int32.
    """
    cdef Stream stream = open_stream(key[0], key[1], 0, Purpose.SAMPLE)
    cdef uint64_t block[4]
    cdef uint64_t mask
    cdef Py_ssize_t i, drawn
    # A bit for each of the n, and how many bits there are before each word of them
    cdef uint64_t[::1] bits = np.zeros((n + 63) // 64, dtype=np.uint64)
    cdef int64_t[::1] before = np.zeros((n + 63) // 64 + 1, dtype=np.int64)
    out = np.zeros(points.shape[0], dtype=np.int32)
    cdef int32_t[::1] copies = out
    with nogil:
        for i in range(points.shape[0]):
            bits[points[i] >> 6] |= <uint64_t> 1 << (points[i] & 63)
        for i in range(bits.shape[0]):
            before[i + 1] = before[i] + popcount(bits[i])
        for i in range(n):
            if i & 3 == 0:
                write_block(&stream, i >> 2, block)
            drawn = index_below(block[i & 3], n)
            mask = <uint64_t> 1 << (drawn & 63)
            if bits[drawn >> 6] & mask:
                copies[before[drawn >> 6] + popcount(bits[drawn >> 6] & (mask - 1))] += 1
    return out


def bootstrap_points(key, Py_ssize_t n):
    """Draw n of n points with replacement; point numbers, ascending.

    Draw i takes the uniform number of word i of the tree's sample stream.
    """
    cdef Stream stream = open_stream(key[0], key[1], 0, Purpose.SAMPLE)
    copies_ = np.zeros(n, dtype=np.int32)
    bag_ = np.empty(n + COPIES_AT_ONCE, dtype=np.int32)
    cdef int32_t[::1] copies = copies_, bag = bag_
    cdef uint64_t word[WORDS_AT_ONCE]
    cdef Py_ssize_t part, i, copy, place = 0
    with nogil:
        for part in range((n + WORDS_AT_ONCE - 1) // WORDS_AT_ONCE):
            for i in range(BLOCKS_AT_ONCE):
                write_block(&stream, part * BLOCKS_AT_ONCE + i, word + 4 * i)
            for i in range(min(n - part * WORDS_AT_ONCE, WORDS_AT_ONCE)):
                copies[index_below(word[i], n)] += 1
        for i in range(n):
            for copy in range(COPIES_AT_ONCE):
                bag[place + copy] = <int32_t> i
            for copy in range(COPIES_AT_ONCE, copies[i]):
                bag[place + copy] = <int32_t> i
            place += copies[i]
    return bag_[:n]
