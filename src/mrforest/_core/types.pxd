# SPDX-License-Identifier: BSD-3-Clause
"""The structs that the kernels share. Counts are whole numbers everywhere."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "kernels/checked.h" nogil:
    # i; the checked build aborts unless 0 <= i < n
    Py_ssize_t at "mrforest_at"(Py_ssize_t i, Py_ssize_t n)


cdef enum:
    NONE = -1                       # instead of the number or the place of something


# What functions return when they fail.
cdef enum:
    OUT_OF_MEMORY = -1
    INTERRUPTED = -2
    FAILED = -3                     # a Python exception is set
    BAD_CHOICE = -4                 # a rule chose what it was not given


# A table's codes fit one byte by default; two bytes when every midpoint is kept.
ctypedef fused code_t:
    uint8_t
    uint16_t

# Class counts of points fit 32 bits; sums of masses (real sample weights) and of moments
# (targets of a regression) need 64.
ctypedef fused count_t:
    int32_t
    int64_t


cdef enum Criterion:
    GINI = 0
    ENTROPY = 1
    VARIANCE = 2    # regression


cdef struct Table:
    # The training rows in canonical order: as codes, or as they are. Everything is read only.
    const void* codes               # rows x features, row after row: uint16 if wide, else uint8
    bint wide
    const void* by_column           # the same codes, column after column; may be NULL
    const double* X                 # or the values; then there are no codes, bins and slots
    Py_ssize_t n_rows
    Py_ssize_t n_features
    Py_ssize_t n_columns            # what is counted: each class; in regression mass and moment
    const int32_t* n_bins           # per feature; the missing code is n_bins, one past the values
    const uint8_t* is_categorical   # per feature
    const uint8_t* offers_equality  # per feature: numeric, but cut by equality, too; or NULL
    const int64_t* slot             # per feature: its first bin in a histogram; [n_features]: total
    const int32_t* start            # columns x features: first cell in a histogram; or NULL
    const int32_t* y                # class of each row; in regression the rank of its target
    const int64_t* mass             # of each row, from real sample weights; NULL: every row is 1
    const int64_t* moment           # of each row: target, times mass, in fixed point; or NULL
    const int32_t* copies           # points that a tree has of each row; NULL: a row a point
    const double* class_weight      # of each class; NULL: every class is 1
    const int64_t* xlogx            # round(x log x 2^26) of x < n_xlogx
    Py_ssize_t n_xlogx
    Criterion criterion


cdef struct CutBits:
    # Of all rows of a table. Read only.
    Py_ssize_t n_features
    Py_ssize_t n_words
    Py_ssize_t n                # cuts
    const int32_t* start        # per feature: its first cut; [n_features]: n
    const int32_t* bin          # of each cut
    const uint8_t* has_bits    # per feature; the others are looked at row by row
    bint is_all                 # whether there are no others
    const uint64_t* words       # 64 rows x cuts, see bit_columns.c


cdef struct Column:
    # Where the codes of one feature lie in `codes_of(table)`.
    Py_ssize_t first
    Py_ssize_t stride


cdef inline const void* codes_of(const Table* table) noexcept nogil:
    """The codes in the order that suits single columns best."""
    return table.codes if table.by_column is NULL else table.by_column


cdef inline Column column_of(const Table* table, Py_ssize_t feature) noexcept nogil:
    cdef Column column
    column.first = feature if table.by_column is NULL else feature * table.n_rows
    column.stride = table.n_features if table.by_column is NULL else 1
    return column


cdef inline int32_t copies_of(const Table* table, Py_ssize_t row) noexcept nogil:
    """Points that a row of a tree stands for."""
    return 1 if table.copies is NULL else table.copies[row]


cdef inline int64_t mass_of(const Table* table, Py_ssize_t row) noexcept nogil:
    """Mass of all points of a row."""
    return copies_of(table, row) * (1 if table.mass is NULL else table.mass[row])


cdef inline int64_t moment_of(const Table* table, Py_ssize_t row) noexcept nogil:
    """Moment of all points of a row."""
    return copies_of(table, row) * table.moment[row]


cdef struct Entry:
    # What one bin of a feature adds to one column. A node's entries are sorted by bin.
    int32_t bin
    int32_t column
    int64_t count


cdef struct Cut:
    # A candidate of one feature. Left: code <= bin, or code == bin for an equality cut.
    int32_t bin
    bint is_equality
    bint missing_left


cdef struct Split:
    # The cut that a rule has chosen.
    Py_ssize_t feature
    Py_ssize_t place            # of the feature where it is scored, see SplittableFeature
    Cut cut
    double score


cdef extern from "kernels/node.h" nogil:
    ctypedef struct Node "mrforest_node":
        double threshold
        uint32_t feature
        int32_t child

    const uint32_t FEATURE_MASK "MRFOREST_FEATURE"
    const uint32_t MISSING_LEFT "MRFOREST_MISSING_LEFT"
    const uint32_t EQUALITY "MRFOREST_EQUALITY"
