# SPDX-License-Identifier: BSD-3-Clause
"""Trees in less room: nodes as bits and places in lists, numbers as short as they can be.

    nodes      x0 <= 2.5    leaf 0    x1 <= 7.0    leaf 1    leaf 2
    is_inner   1            0         1            0         0          a bit each
    feature    0                      1                                 inner nodes only
    cut        4                      0                                 2.5 is number 4 of x0's list
"""

import numpy as np

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from mrforest._core.grow.finish import NODE_DTYPE
from mrforest._core.predict.walk cimport CodedNode
from mrforest._core.types cimport Node

cdef extern from "kernels/node.h" nogil:
    const uint32_t EQUALITY "MRFOREST_EQUALITY"

cdef enum:
    FLAGS = 2                   # high bits of a node's feature, see kernels/node.h
    LEAF_HIGH = 0xFFFF          # no code is above that of a leaf

cdef uint64_t SIGN = <uint64_t> 1 << 63
cdef double TOO_LARGE = 2.0**32


cdef inline uint64_t rank_of(double x) noexcept nogil:
    """Orders all numbers by their bits: -0 comes before 0, which are different here."""
    cdef uint64_t bits
    memcpy(&bits, &x, sizeof(bits))
    return ~bits if bits & SIGN else bits | SIGN


cdef inline Py_ssize_t place_in(
    const double* values, Py_ssize_t n, double x
) noexcept nogil:
    """Place of a number in an ascending list; -1: it is not there."""
    cdef uint64_t rank = rank_of(x)
    cdef Py_ssize_t first = 0, length = n, half
    # Invariant: it lies in [first, first + length), if anywhere. No branch depends on it.
    while length > 1:
        half = length >> 1
        first += half if rank_of(values[first + half]) <= rank else 0
        length -= half
    return first if n > 0 and rank_of(values[first]) == rank else -1


cdef inline uint32_t with_low_flags(uint32_t feature) noexcept nogil:
    """The flags are moved below the feature: small numbers where there are few features."""
    return feature << FLAGS | feature >> (32 - FLAGS)


cdef inline uint32_t with_high_flags(uint32_t feature) noexcept nogil:
    return feature >> FLAGS | feature << (32 - FLAGS)


cdef Py_ssize_t pack_tree(
    const Node* nodes, Py_ssize_t n,    # IN   of one tree
    const double[::1] cuts,             # IN   see `pack_nodes`
    const int64_t[::1] cuts_start,      # IN
    uint8_t* is_inner,                  # OUT  bits, lowest first; 0 before
    uint32_t* feature,                  # OUT
    uint32_t* cut,                      # OUT
) noexcept nogil:
    """Return how many nodes are inner; -1: the nodes have more to say."""
    cdef Py_ssize_t i, n_inner = 0, number, place, start
    for i in range(n):
        if nodes[i].child < 0:
            # Leaves are numbered, and blank but for their number.
            if nodes[i].child != n_inner - i - 1 or nodes[i].feature != 0 or (
                    rank_of(nodes[i].threshold) != SIGN):
                return -1
            continue
        number = with_low_flags(nodes[i].feature) >> FLAGS
        if nodes[i].child != 2 * n_inner + 1 or number + 1 >= cuts_start.shape[0]:
            return -1
        start = cuts_start[number]
        place = -1
        if start < cuts_start[number + 1]:
            place = place_in(&cuts[start], cuts_start[number + 1] - start, nodes[i].threshold)
        if place < 0:
            return -1
        is_inner[i >> 3] |= <uint8_t> (1 << (i & 7))
        feature[n_inner] = with_low_flags(nodes[i].feature)
        cut[n_inner] = <uint32_t> place
        n_inner += 1
    return n_inner if 2 * n_inner + 1 == n else -1


def pack_nodes(
    const Node[::1] nodes, const int64_t[::1] tree_start, const double[::1] cuts,
    const int64_t[::1] cuts_start
):
    """Pack the nodes of some trees.

    Parameters
    ----------
    nodes : ndarray of NODE_DTYPE
        Of all trees, one after the other, breadth first.
    tree_start : ndarray of shape (n_trees + 1,), dtype=int64
        First node of each tree, and the end.
    cuts : ndarray of float64
        Thresholds of all features, one feature after the other, ascending.
    cuts_start : ndarray of shape (n_features + 1,), dtype=int64
        First threshold of each feature, and the end.

    Returns
    -------
    None if some node is numbered in another way, or its threshold is in no list; else
    is_inner : ndarray of uint8
        Bits, lowest first. Each tree begins with a new byte.
    feature : ndarray of shape (n_inner,), dtype=uint32
        With its two flags as the lowest bits.
    cut : ndarray of shape (n_inner,), dtype=uint32
        Place of the threshold in the list of the feature.
    """
    cdef Py_ssize_t n_trees = tree_start.shape[0] - 1, t, n, n_bytes = 0, n_inner = 0, more = 0
    for t in range(n_trees):
        n_bytes += (tree_start[t + 1] - tree_start[t] + 7) // 8
    is_inner_ = np.zeros(n_bytes, dtype=np.uint8)
    feature_ = np.empty(nodes.shape[0], dtype=np.uint32)
    cut_ = np.empty(nodes.shape[0], dtype=np.uint32)
    cdef uint8_t[::1] is_inner = is_inner_
    cdef uint32_t[::1] feature = feature_, cut = cut_
    n_bytes = 0
    with nogil:
        for t in range(n_trees):
            n = tree_start[t + 1] - tree_start[t]
            more = pack_tree(
                &nodes[tree_start[t]], n, cuts, cuts_start, &is_inner[n_bytes],
                &feature[n_inner], &cut[n_inner])
            if more < 0:
                break
            n_inner += more
            n_bytes += (n + 7) // 8
    if more < 0:
        return None
    return is_inner_, feature_[:n_inner], cut_[:n_inner]


def unpack_nodes(
    const uint8_t[::1] is_inner, const uint32_t[::1] feature, const uint32_t[::1] cut,
    const double[::1] cuts, const int64_t[::1] cuts_start, const int64_t[::1] tree_start
):
    """The nodes again; see `pack_nodes`."""
    cdef Py_ssize_t t, i, n_bytes = 0, n_before = 0, n_inner
    nodes = np.zeros(tree_start[tree_start.shape[0] - 1], dtype=NODE_DTYPE)
    cdef Node[::1] node = nodes
    cdef Node* of_tree
    cdef uint32_t flagged
    with nogil:
        for t in range(tree_start.shape[0] - 1):
            of_tree = &node[tree_start[t]]
            n_inner = 0
            for i in range(tree_start[t + 1] - tree_start[t]):
                if is_inner[n_bytes + (i >> 3)] >> (i & 7) & 1:
                    flagged = feature[n_before + n_inner]
                    of_tree[i].threshold = cuts[
                        cuts_start[flagged >> FLAGS] + cut[n_before + n_inner]]
                    of_tree[i].feature = with_high_flags(flagged)
                    of_tree[i].child = <int32_t> (2 * n_inner + 1)
                    n_inner += 1
                else:
                    of_tree[i].child = <int32_t> (n_inner - i - 1)
            n_before += n_inner
            n_bytes += (tree_start[t + 1] - tree_start[t] + 7) // 8
    return nodes


# ---- codes -------------------------------------------------------------------------------

def find_cuts(
    const Node[::1] nodes,              # IN
    const double[::1] cuts,             # IN   see `pack_nodes`
    const int64_t[::1] cuts_start,      # IN
    int32_t[::1] place,                 # OUT  of the threshold of each inner node in its list
    uint8_t[::1] is_ordered,            # OUT  features that are cut by order; 0 before
    uint8_t[::1] is_equal,              # OUT  cuts that are asked for by equality; 0 before
):
    """Find the thresholds of nodes in lists that have all of them."""
    cdef Py_ssize_t i, number, start
    cdef uint32_t flagged
    with nogil:
        for i in range(nodes.shape[0]):
            if nodes[i].child < 0:
                continue
            flagged = with_low_flags(nodes[i].feature)
            number = flagged >> FLAGS
            start = cuts_start[number]
            place[i] = <int32_t> place_in(
                &cuts[start], cuts_start[number + 1] - start, nodes[i].threshold)
            if nodes[i].feature & EQUALITY:
                is_equal[start + place[i]] = 1
            else:
                is_ordered[number] = 1


def write_codes(
    const Node[::1] nodes,              # IN
    const int64_t[::1] tree_start,      # IN   of some trees, and the end
    const int64_t[::1] cuts_start,      # IN
    const int32_t[::1] place,           # IN   see `find_cuts`
    const int32_t[::1] column_of_feature,   # IN   for order cuts
    const int32_t[::1] column_of_cut,       # IN   for equality cuts
    CodedNode[::1] coded,               # OUT  or None
    uint32_t[::1] slim,                 # OUT  or None; see descent.h
):
    """Write the nodes of some trees in codes; return whether the slim ones hold all."""
    cdef bint writes_coded = coded is not None, writes_slim = slim is not None
    cdef Py_ssize_t t, i, number
    cdef int32_t child, column, high, ahead, farthest = 0
    with nogil:
        for t in range(tree_start.shape[0] - 1):
            for i in range(tree_start[t], tree_start[t + 1]):
                # A leaf is its own child, whatever the code.
                column, high, ahead = 0, LEAF_HIGH, 0
                child = <int32_t> (i - tree_start[t])
                if nodes[i].child >= 0:
                    ahead = nodes[i].child - child
                    child = nodes[i].child
                    number = with_low_flags(nodes[i].feature) >> FLAGS
                    column, high = column_of_feature[number], place[i]
                    if nodes[i].feature & EQUALITY:
                        column, high = column_of_cut[cuts_start[number] + place[i]], 0
                if writes_coded:
                    coded[i].child = child
                    coded[i].column = <uint16_t> column
                    coded[i].high = <uint16_t> high
                if writes_slim:
                    farthest = max(farthest, ahead)
                    slim[i] = (<uint32_t> ahead << 16 | <uint32_t> column << 8
                               | <uint32_t> min(high, 255))
    return farthest < 1 << 16


# ---- numbers -----------------------------------------------------------------------------

ctypedef fused short_t:
    uint8_t
    uint16_t
    uint32_t

ctypedef fused number_t:
    uint16_t
    uint32_t
    int32_t
    int64_t
    float
    double


cdef int64_t largest_whole(const number_t* numbers, Py_ssize_t n) noexcept nogil:
    """The largest number; -1: not all of them are whole, and in [0, 2^32)."""
    cdef Py_ssize_t i
    cdef uint32_t whole, largest = 0
    for i in range(n):
        if not 0 <= <double> numbers[i] < TOO_LARGE:
            return -1
        whole = <uint32_t> numbers[i]
        if number_t is float or number_t is double:
            # -0 has other bits than 0.
            if whole != numbers[i] or (whole == 0 and rank_of(numbers[i]) != SIGN):
                return -1
        largest = max(largest, whole)
    return largest


cdef void copy_numbers(
    const number_t* numbers, Py_ssize_t n, short_t* out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = <short_t> <uint32_t> numbers[i]


cdef object shortened(const number_t* numbers, Py_ssize_t n):
    """A new array; None: it would not be shorter, or not the same."""
    cdef int64_t largest
    cdef uint8_t[::1] bytes_
    cdef uint16_t[::1] pairs
    cdef uint32_t[::1] fours
    with nogil:
        largest = largest_whole(numbers, n)
    if largest < 0 or (largest > 0xFF and sizeof(number_t) <= 2) or (
            largest > 0xFFFF and sizeof(number_t) <= 4):
        return None
    if largest <= 0xFF:
        out = np.empty(n, dtype=np.uint8)
        bytes_ = out
        with nogil:
            copy_numbers(numbers, n, &bytes_[0])
    elif largest <= 0xFFFF:
        out = np.empty(n, dtype=np.uint16)
        pairs = out
        with nogil:
            copy_numbers(numbers, n, &pairs[0])
    else:
        out = np.empty(n, dtype=np.uint32)
        fours = out
        with nogil:
            copy_numbers(numbers, n, &fours[0])
    return out


def shortest(array):
    """The same numbers in the shortest whole numbers without sign, or the array itself.

    Parameters
    ----------
    array : contiguous ndarray of uint8, uint16, uint32, int32, int64, float32 or float64

    Examples
    --------
    >>> import numpy as np
    >>> shortest(np.array([3.0, 250.0]))
    array([  3, 250], dtype=uint8)
    >>> shortest(np.array([3.0, 256.0]))
    array([  3, 256], dtype=uint16)
    >>> shortest(np.array([3.0, 0.5]))
    array([3. , 0.5])
    """
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    try:
        found = shortest_in(&view)
    finally:
        PyBuffer_Release(&view)
    if found is None:
        return array
    return found if array.ndim == 1 else found.reshape(array.shape)


cdef object shortest_in(const Py_buffer* view):
    """See `shortened`."""
    cdef Py_ssize_t n = view.len // view.itemsize
    cdef char kind = view.format[0]
    if n == 0 or view.itemsize == 1:
        return None
    if kind == b"f":
        return shortened(<const float*> view.buf, n)
    if kind == b"d":
        return shortened(<const double*> view.buf, n)
    if kind == b"H":
        return shortened(<const uint16_t*> view.buf, n)
    if kind == b"I" or (kind == b"L" and view.itemsize == 4):
        return shortened(<const uint32_t*> view.buf, n)
    if view.itemsize == 4:
        return shortened(<const int32_t*> view.buf, n)
    return shortened(<const int64_t*> view.buf, n)
