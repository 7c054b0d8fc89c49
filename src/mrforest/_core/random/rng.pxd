# SPDX-License-Identifier: BSD-3-Clause
"""Counter-based random streams. A stream belongs to a node of a tree, not to a thread."""

from libc.stdint cimport uint64_t

cdef extern from "random/philox.h" nogil:
    void philox4x64(uint64_t key0, uint64_t key1, const uint64_t* counter, uint64_t* out)


cdef enum Purpose:
    SAMPLE = 0
    SPLIT = 1
    LABEL = 2
    GROWTH = 3


cdef struct Stream:
    uint64_t key0
    uint64_t key1
    uint64_t counter[4]  # block, path, purpose, 0
    uint64_t words[4]
    # Words of the block that are given out. From 4 on the next block is due, of which 4 fewer
    # have been skipped.
    int used


cdef inline Stream open_stream(
    uint64_t key0, uint64_t key1, uint64_t path, Purpose purpose
) noexcept nogil:
    cdef Stream stream
    stream.key0 = key0
    stream.key1 = key1
    stream.counter[0] = 0
    stream.counter[1] = path
    stream.counter[2] = purpose
    stream.counter[3] = 0
    stream.words[0] = stream.words[1] = stream.words[2] = stream.words[3] = 0
    stream.used = 4
    return stream


cdef inline uint64_t next_word(Stream* stream) noexcept nogil:
    if stream.used >= 4:
        stream.counter[0] += 1
        philox4x64(stream.key0, stream.key1, stream.counter, stream.words)
        stream.used -= 4
    stream.used += 1
    return stream.words[stream.used - 1]


cdef inline void skip_word(Stream* stream) noexcept nogil:
    """Skip a word; a block of which all words are skipped is never made."""
    stream.used += 1
    if stream.used == 8:
        stream.counter[0] += 1
        stream.used = 4


cdef inline double uniform_from(uint64_t word) noexcept nogil:
    """A float64 in [0, 1), every multiple of 2**-53 equally likely."""
    return <double> (word >> 11) * (1.0 / 9007199254740992.0)


cdef inline Py_ssize_t index_below(uint64_t word, Py_ssize_t n) noexcept nogil:
    """An index in [0, n); uniform up to n * 2**-53."""
    return <Py_ssize_t> (uniform_from(word) * <double> n)


cdef inline double next_uniform(Stream* stream) noexcept nogil:
    return uniform_from(next_word(stream))


cdef inline Py_ssize_t next_index(Stream* stream, Py_ssize_t n) noexcept nogil:
    if n == 1:  # the word does not matter
        skip_word(stream)
        return 0
    return index_below(next_word(stream), n)


cdef inline uint64_t mix(uint64_t z) noexcept nogil:
    """The finaliser of splitmix64: a bijection that spreads every bit over all."""
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef enum:
    ROOT_PATH = 1


cdef inline uint64_t child_path(uint64_t path, int side) noexcept nogil:
    return mix(path ^ (<uint64_t> (side + 1) * <uint64_t> 0x9E3779B97F4A7C15))
