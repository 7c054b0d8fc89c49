# SPDX-License-Identifier: BSD-3-Clause
"""Which ways of growing, scoring and predicting are taken, and when; see plan.pyx.

Every condition is a function here, and stands nowhere else; those of kernels alone, which ask for
numbers that only they know, are in the C files that plan.pyx names.
"""

from libc.stdint cimport uint8_t

from mrforest._core.kernels.dispatch cimport is_off
from mrforest._core.types cimport GINI, Table

cdef extern from "kernels/ways.h" nogil:
    ctypedef enum Way "mrforest_way":
        CUT_BITS "MRFOREST_CUT_BITS"
        SQUEEZED_BITS "MRFOREST_SQUEEZED_BITS"
        BITS_OF_SOME "MRFOREST_BITS_OF_SOME"
        ROW_CACHE "MRFOREST_ROW_CACHE"
        JOINED_COPIES "MRFOREST_JOINED_COPIES"
        COLUMNS "MRFOREST_COLUMNS"
        COLUMNS_TOGETHER "MRFOREST_COLUMNS_TOGETHER"
        BLOCKS "MRFOREST_BLOCKS"
        NODE_LISTS "MRFOREST_NODE_LISTS"
        HISTOGRAMS "MRFOREST_HISTOGRAMS"
        NODE_HISTOGRAMS "MRFOREST_NODE_HISTOGRAMS"
        CHILD_TOTALS "MRFOREST_CHILD_TOTALS"
        SAMPLE_HISTOGRAMS "MRFOREST_SAMPLE_HISTOGRAMS"
        SAMPLE_COUNTS "MRFOREST_SAMPLE_COUNTS"
        SAMPLE_LISTS "MRFOREST_SAMPLE_LISTS"
        LISTS_BY_LANES "MRFOREST_LISTS_BY_LANES"
        BINS_OF_TWO_BY_LANES "MRFOREST_BINS_OF_TWO_BY_LANES"
        BINS_OF_MANY_BY_LANES "MRFOREST_BINS_OF_MANY_BY_LANES"
        BINS_AT_ONCE "MRFOREST_BINS_AT_ONCE"
        ROWS_BY_LANES "MRFOREST_ROWS_BY_LANES"
        CELLS_BY_LANES "MRFOREST_CELLS_BY_LANES"
        FEW_SORTED "MRFOREST_FEW_SORTED"
        CODED_ROWS "MRFOREST_CODED_ROWS"
        SLIM_NODES "MRFOREST_SLIM_NODES"
        BIT_VOTES "MRFOREST_BIT_VOTES"
        SINGLE_THRESHOLDS "MRFOREST_SINGLE_THRESHOLDS"
        N_WAYS "MRFOREST_N_WAYS"


cdef enum:
    BLOCK_POINTS = 256              # of a node whose points are numbered by a byte each

    # A node is counted if its histogram has at most this many cells for each code of a point,
    # and fits the second-level cache. With 8, nodes of up to eight classes that are too large for
    # a block are never sorted.
    CELLS_PER_CODE = 8
    LARGEST_HISTOGRAM = 1 << 18

    # Features, and classes, of which there are bits
    MOST_CODES_OF_BITS = 8
    MOST_CLASSES_OF_BITS = 8

    # Bytes of codes: more than the cache of one core holds, and a part of it that leaves room for
    # lists and histograms.
    LARGE_TABLE = 1 << 22
    ROW_CACHE_BYTES = 1 << 17

cdef inline bint is_on(Way way) noexcept nogil:
    return not is_off[<int> way]


# ---- rows --------------------------------------------------------------------------------

cdef inline bint can_use_bits(const Table* table, double min_weight, bint is_compiled_rule,
                              bint restricts) noexcept nogil:
    """Nodes can be masks if points count one each and it does not matter which they are."""
    return (is_on(CUT_BITS) and table.criterion == GINI and table.mass is NULL
            and table.class_weight is NULL and min_weight == 0 and is_compiled_rule
            and not restricts)


cdef inline bint squeezes_bits(Py_ssize_t n_words, Py_ssize_t n_squeezed) noexcept nogil:
    """A bit matrix of the points of a node alone has at most half as many words."""
    return is_on(SQUEEZED_BITS) and n_words >= 4 and 2 * n_squeezed <= n_words


cdef inline bint scores_bits_one_by_one(Py_ssize_t n_words) noexcept nogil:
    """The bits of a cut are counted and scored at once, if they are few."""
    return is_on(BITS_OF_SOME) and n_words <= 8


cdef inline bint has_row_cache(Py_ssize_t n_bytes, Py_ssize_t cache_bytes) noexcept nogil:
    """The codes of a tree are much more than a row cache holds."""
    return is_on(ROW_CACHE) and n_bytes > 4 * cache_bytes


cdef inline bint joins_copies(bint is_honest, bint restricts, bint is_compiled_rule) noexcept nogil:
    """Rules that draw points, or say how many there are, need all copies of a row."""
    return is_on(JOINED_COPIES) and not (is_honest or restricts) and is_compiled_rule


cdef inline bint keeps_columns(bint looks_at_all, Py_ssize_t n_bytes) noexcept nogil:
    """Codes column by column serve rules that look at few features, and the partition of the rows
    of large tables."""
    return is_on(COLUMNS) and (not looks_at_all or n_bytes > LARGE_TABLE)


# ---- scores ------------------------------------------------------------------------------

cdef inline bint has_plain_points(const Table* table) noexcept nogil:
    """Kernels find the best Gini score of points that count one each."""
    return table.criterion == GINI and table.mass is NULL and table.class_weight is NULL


cdef inline bint can_use_blocks(bint is_plain, bint looks_at_all, bint has_copies) noexcept nogil:
    """Small subtrees keep their points in the order of each feature."""
    return is_on(BLOCKS) and is_plain and looks_at_all and not has_copies


cdef inline bint can_use_node_lists(
    bint is_plain, Py_ssize_t n_columns, bint is_listed_in_blocks
) noexcept nogil:
    """Small nodes order their points by the features that they look at."""
    return (is_on(NODE_LISTS) and is_plain and n_columns <= BLOCK_POINTS
            and not is_listed_in_blocks)


cdef inline bint counting_pays(Py_ssize_t n_cells, Py_ssize_t n_codes) noexcept nogil:
    return n_cells <= LARGEST_HISTOGRAM and n_cells <= CELLS_PER_CODE * n_codes
