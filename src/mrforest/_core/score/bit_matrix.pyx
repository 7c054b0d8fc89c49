# SPDX-License-Identifier: BSD-3-Clause
"""Bit matrices of a tree: made, squeezed and partitioned; see bit_matrix.pxd."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from mrforest._core.kernels.dispatch cimport kernels
from mrforest._core.plan cimport squeezes_bits
from mrforest._core.types cimport OUT_OF_MEMORY, Column, Cut, Table, codes_of, column_of

cdef inline Py_ssize_t words_for(Py_ssize_t n_bits) noexcept nogil:
    return (n_bits + 63) // 64


# ---- memory ------------------------------------------------------------------------------

cdef BitMatrices* new_bit_matrices(
    const Table* table, const CutBits* cut_bits, Py_ssize_t n_structure, Py_ssize_t n_estimation,
    int n_kinds, bint keeps_structure, int64_t floor
) noexcept nogil:
    """Memory for the matrices of a tree; NULL: no memory."""
    cdef Py_ssize_t K = table.n_columns, S = cut_bits.n + 1
    cdef Py_ssize_t W = words_for(max(n_structure, n_estimation)) + 1
    cdef Py_ssize_t i
    cdef int kind
    cdef BitMatrices* matrices = <BitMatrices*> calloc(1, sizeof(BitMatrices))
    if matrices is NULL:
        return NULL
    matrices.table = table
    matrices.cut_bits = cut_bits
    matrices.n_kinds = n_kinds
    # A side of a cut has a structure point anyway.
    matrices.floor = 0 if n_kinds == 1 and floor == 1 else floor
    matrices.counts_estimation = floor > 0 and n_kinds == 2
    for kind in range(2):
        matrices.mask[kind] = <uint64_t*> malloc(W * sizeof(uint64_t))
        matrices.left[kind] = <uint64_t*> malloc(W * sizeof(uint64_t))
    matrices.class_mask = <uint64_t*> malloc(K * W * sizeof(uint64_t))
    matrices.totals = <double*> malloc(K * sizeof(double))
    matrices.counts = <int32_t*> malloc(K * S * sizeof(int32_t))
    matrices.n_left = <int32_t*> malloc(S * sizeof(int32_t))
    matrices.n_estimation_left = <int32_t*> malloc(S * sizeof(int32_t))
    matrices.scores = <double*> malloc(S * sizeof(double))
    matrices.kept = <int32_t*> malloc(S * sizeof(int32_t))
    matrices.every = <int32_t*> malloc((S + K) * sizeof(int32_t))
    matrices.some_left = <int32_t*> malloc(S * sizeof(int32_t))
    matrices.some_scores = <double*> malloc(S * sizeof(double))
    matrices.row = <uint64_t*> malloc(S * sizeof(uint64_t))
    matrices.other_row = <uint64_t*> malloc(S * sizeof(uint64_t))
    if (matrices.mask[0] is NULL or matrices.mask[1] is NULL or matrices.left[0] is NULL
            or matrices.left[1] is NULL or matrices.class_mask is NULL
            or matrices.totals is NULL or matrices.counts is NULL or matrices.n_left is NULL
            or matrices.n_estimation_left is NULL or matrices.scores is NULL
            or matrices.kept is NULL
            or matrices.every is NULL or matrices.some_left is NULL or matrices.some_scores is NULL
            or matrices.row is NULL or matrices.other_row is NULL):
        free_bit_matrices(matrices)
        return NULL
    for i in range(S + K):
        matrices.every[i] = <int32_t> i
    # Rows are known of the points that fill leaves, and of others where they are asked for.
    matrices.keeps_rows[STRUCTURE] = keeps_structure or n_kinds == 1
    matrices.keeps_rows[ESTIMATION] = n_kinds == 2
    return matrices


cdef void free_bit_matrices(BitMatrices* matrices) noexcept nogil:
    cdef int kind
    if matrices is NULL:
        return
    for kind in range(2):
        free(matrices.mask[kind])
        free(matrices.left[kind])
    free(matrices.memory)
    free(matrices.items)
    free(matrices.class_mask)
    free(matrices.totals)
    free(matrices.counts)
    free(matrices.n_left)
    free(matrices.n_estimation_left)
    free(matrices.scores)
    free(matrices.kept)
    free(matrices.every)
    free(matrices.some_left)
    free(matrices.some_scores)
    free(matrices.row)
    free(matrices.other_row)
    free(matrices)


cdef int reserve(BitMatrices* matrices, Py_ssize_t n_words) noexcept nogil:
    """See to it that so many words more fit above the top."""
    cdef uint64_t* memory
    cdef Py_ssize_t capacity = matrices.top + n_words
    if capacity > matrices.capacity:
        capacity += capacity >> 1
        memory = <uint64_t*> realloc(matrices.memory, capacity * sizeof(uint64_t))
        if memory is NULL:
            return OUT_OF_MEMORY
        matrices.memory = memory
        matrices.capacity = capacity
    return 0


cdef inline Py_ssize_t take(BitMatrices* matrices, Py_ssize_t n_words) noexcept nogil:
    """The place of words that have been reserved."""
    matrices.top += n_words
    return matrices.top - n_words


cdef BitMatrix* add_matrix(
    BitMatrices* matrices, Py_ssize_t n_bits, const Py_ssize_t* n_points
) noexcept nogil:
    """Memory for a matrix; NULL: no memory."""
    cdef BitMatrix* items
    cdef BitMatrix* matrix
    cdef Py_ssize_t F = matrices.cut_bits.n_features, K = matrices.table.n_columns, size
    cdef int kind
    if matrices.n_items == matrices.item_capacity:
        items = <BitMatrix*> realloc(
            matrices.items, (2 * matrices.n_items + 16) * sizeof(BitMatrix))
        if items is NULL:
            return NULL
        matrices.items = items
        matrices.item_capacity = 2 * matrices.n_items + 16
    matrix = &matrices.items[matrices.n_items]
    matrix.n_bits = n_bits
    size = F // 2 + 1 + n_bits // 2 + 1
    for kind in range(2):
        matrix.n_words[kind] = words_for(n_points[kind]) if kind < matrices.n_kinds else 0
        size += matrix.n_words[kind] * (n_bits + 32 * matrices.keeps_rows[kind])
    size += K * matrix.n_words[STRUCTURE]
    if reserve(matrices, size) != 0:
        return NULL
    matrix.start = take(matrices, F // 2 + 1)
    matrix.bin = take(matrices, n_bits // 2 + 1)
    for kind in range(2):
        matrix.words[kind] = take(matrices, matrix.n_words[kind] * n_bits)
        matrix.rows[kind] = take(matrices, 32 * matrix.n_words[kind] * matrices.keeps_rows[kind])
    matrix.classes = take(matrices, K * matrix.n_words[STRUCTURE])
    matrices.n_items += 1
    return matrix


# ---- making ------------------------------------------------------------------------------

cdef void find_classes(
    BitMatrices* matrices, const BitMatrix* matrix, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    """Bits of the structure points of each class."""
    cdef uint64_t* classes = matrices.memory + matrix.classes
    cdef Py_ssize_t i, K = matrices.table.n_columns
    memset(classes, 0, matrix.n_words[STRUCTURE] * K * sizeof(uint64_t))
    for i in range(n):
        classes[(i >> 6) * K + matrices.table.y[rows[i]]] |= <uint64_t> 1 << (i & 63)


cdef Py_ssize_t end_of_run(const int32_t* rows, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """The end of rows that ascend."""
    cdef Py_ssize_t i
    for i in range(first + 1, n):
        if rows[i] <= rows[i - 1]:
            return i
    return n


cdef int gather_rows(
    BitMatrices* matrices, const int32_t* rows, Py_ssize_t n, uint64_t* out
) noexcept nogil:
    """All columns of some rows of the table."""
    cdef const CutBits* cut_bits = matrices.cut_bits
    cdef Py_ssize_t i, first = 0, end = end_of_run(rows, 0, n)
    cdef uint64_t* mask = <uint64_t*> malloc(cut_bits.n_words * sizeof(uint64_t))
    if mask is NULL:
        return OUT_OF_MEMORY
    memset(out, 0, words_for(n) * cut_bits.n * sizeof(uint64_t))
    # Rows that ascend are a mask over the table. Few of them are taken one by one.
    while end - first >= cut_bits.n_words and first < n:
        memset(mask, 0, cut_bits.n_words * sizeof(uint64_t))
        for i in range(first, end):
            mask[rows[i] >> 6] |= <uint64_t> 1 << (rows[i] & 63)
        kernels.squeeze(
            cut_bits.words, cut_bits.n, matrices.every, cut_bits.n, mask, cut_bits.n_words, first,
            out)
        first = end
        end = end_of_run(rows, first, n)
    kernels.gather_points(cut_bits.words, cut_bits.n, rows, first, n, out)
    free(mask)
    return 0


cdef int make_first_matrix(
    BitMatrices* matrices,
    const int32_t* structure, Py_ssize_t n_structure,
    const int32_t* estimation, Py_ssize_t n_estimation,
    Py_ssize_t* mask,       # OUT  of the root
) noexcept nogil:
    """The matrix of all points of a tree."""
    cdef const CutBits* cut_bits = matrices.cut_bits
    cdef const int32_t* rows
    cdef const BitMatrix* matrix
    cdef int kind
    matrices.n_points[STRUCTURE] = n_structure
    matrices.n_points[ESTIMATION] = n_estimation
    matrix = add_matrix(matrices, cut_bits.n, matrices.n_points)
    if matrix is NULL:
        return OUT_OF_MEMORY
    memcpy(
        ints_at(matrices, matrix.start), cut_bits.start,
        (cut_bits.n_features + 1) * sizeof(int32_t))
    memcpy(ints_at(matrices, matrix.bin), cut_bits.bin, cut_bits.n * sizeof(int32_t))
    for kind in range(matrices.n_kinds):
        rows = structure if kind == STRUCTURE else estimation
        if matrices.keeps_rows[kind]:
            memcpy(ints_at(matrices, matrix.rows[kind]), rows,
                   matrices.n_points[kind] * sizeof(int32_t))
        if gather_rows(
                matrices, rows, matrices.n_points[kind], matrices.memory + matrix.words[kind]) != 0:
            return OUT_OF_MEMORY
    find_classes(matrices, matrix, structure, n_structure)
    set_all(matrices)
    return keep_mask(matrices, mask)


cdef int keep_mask(BitMatrices* matrices, Py_ssize_t* mask) noexcept nogil:
    """Write the mask of the node."""
    cdef const BitMatrix* matrix = &matrices.items[matrices.matrix]
    cdef int kind
    if reserve(matrices, matrix.n_words[STRUCTURE] + matrix.n_words[ESTIMATION]) != 0:
        return OUT_OF_MEMORY
    mask[0] = matrices.top
    for kind in range(matrices.n_kinds):
        memcpy(matrices.memory + take(matrices, matrix.n_words[kind]), matrices.mask[kind],
               matrix.n_words[kind] * sizeof(uint64_t))
    return 0


cdef void set_all(BitMatrices* matrices) noexcept nogil:
    """Every point of the last matrix belongs to the node."""
    cdef Py_ssize_t n
    cdef int kind
    matrices.matrix = matrices.n_items - 1
    for kind in range(matrices.n_kinds):
        n = matrices.n_points[kind]
        memset(matrices.mask[kind], 0xff, (n >> 6) * sizeof(uint64_t))
        if n & 63:
            matrices.mask[kind][n >> 6] = (<uint64_t> 1 << (n & 63)) - 1


cdef Py_ssize_t find_kept(BitMatrices* matrices, const BitMatrix* matrix) noexcept nogil:
    """Columns that have structure points of the node on both sides; return how many."""
    cdef Py_ssize_t s, n = 0
    kernels.find_sides(
        matrices.memory + matrix.words[STRUCTURE], matrix.n_bits, matrices.mask[STRUCTURE],
        matrix.n_words[STRUCTURE], matrices.row, matrices.other_row)
    for s in range(matrix.n_bits):
        matrices.kept[n] = <int32_t> s
        n += matrices.row[s] != 0 and matrices.other_row[s] != 0
    return n


cdef inline void squeeze(
    BitMatrices* matrices, int kind, Py_ssize_t words, Py_ssize_t n_bits, const int32_t* kept,
    Py_ssize_t n_kept, Py_ssize_t n_words, Py_ssize_t n_out, Py_ssize_t out
) noexcept nogil:
    """Write some columns of the points of the node to another place."""
    memset(matrices.memory + out, 0, n_out * n_kept * sizeof(uint64_t))
    kernels.squeeze(
        matrices.memory + words, n_bits, kept, n_kept, matrices.mask[kind], n_words, 0,
        matrices.memory + out)


cdef int make_matrix(BitMatrices* matrices) noexcept nogil:
    """A matrix of the node alone."""
    cdef int number = matrices.matrix, kind
    cdef Py_ssize_t n_kept = find_kept(matrices, &matrices.items[number]), f, s = 0
    cdef Py_ssize_t K = matrices.table.n_columns
    cdef const BitMatrix* matrix = add_matrix(matrices, n_kept, matrices.n_points)
    cdef const BitMatrix* old
    cdef const int32_t* old_start
    cdef const int32_t* old_bin
    cdef int32_t* start
    cdef int32_t* bin
    if matrix is NULL:
        return OUT_OF_MEMORY
    old = &matrices.items[number]  # it may have moved
    old_start, old_bin = ints_at(matrices, old.start), ints_at(matrices, old.bin)
    start, bin = ints_at(matrices, matrix.start), ints_at(matrices, matrix.bin)
    for f in range(matrices.cut_bits.n_features):
        start[f] = <int32_t> s
        while s < n_kept and matrices.kept[s] < old_start[f + 1]:
            bin[s] = old_bin[matrices.kept[s]]
            s += 1
    start[matrices.cut_bits.n_features] = <int32_t> n_kept
    for kind in range(matrices.n_kinds):
        squeeze(
            matrices, kind, old.words[kind], old.n_bits, matrices.kept, n_kept, old.n_words[kind],
            matrix.n_words[kind], matrix.words[kind])
        if matrices.keeps_rows[kind]:
            kernels.rows_of_mask(
                ints_at(matrices, old.rows[kind]), matrices.mask[kind], old.n_words[kind],
                ints_at(matrices, matrix.rows[kind]))
    squeeze(
        matrices, STRUCTURE, old.classes, K, matrices.every, K, old.n_words[STRUCTURE],
        matrix.n_words[STRUCTURE], matrix.classes)
    set_all(matrices)
    return 0


# ---- a node ------------------------------------------------------------------------------

cdef int enter_matrix(
    BitMatrices* matrices, int matrix, Py_ssize_t mask, Py_ssize_t n_structure,
    Py_ssize_t n_estimation
) noexcept nogil:
    """Make the node whose mask was written last the current one.

    A tree grows depth first, so the memory above that mask is free again.
    """
    cdef const BitMatrix* old = &matrices.items[matrix]
    cdef Py_ssize_t n_old = 0, n_new = 0, W
    cdef int kind
    matrices.top = mask
    matrices.n_items = matrix + 1
    matrices.matrix = matrix
    matrices.n_points[STRUCTURE] = n_structure
    matrices.n_points[ESTIMATION] = n_estimation
    for kind in range(matrices.n_kinds):
        W = old.n_words[kind]
        memcpy(matrices.mask[kind], matrices.memory + mask, W * sizeof(uint64_t))
        mask += W
        n_old += W
        n_new += words_for(matrices.n_points[kind])
    return make_matrix(matrices) if squeezes_bits(n_old, n_new) else 0


# ---- parting -----------------------------------------------------------------------------

cdef void write_rows_of_mask(
    const BitMatrices* matrices, int kind, const uint64_t* mask, int32_t* out
) noexcept nogil:
    """Rows of the points of a mask over the matrix."""
    cdef const BitMatrix* matrix = &matrices.items[matrices.matrix]
    kernels.rows_of_mask(ints_at(matrices, matrix.rows[kind]), mask, matrix.n_words[kind], out)


cdef void find_left_by_bits(
    BitMatrices* matrices, Py_ssize_t feature, const Cut* cut, int kind
) noexcept nogil:
    cdef const BitMatrix* matrix = &matrices.items[matrices.matrix]
    cdef const int32_t* bin = ints_at(matrices, matrix.bin)
    cdef Py_ssize_t s = ints_at(matrices, matrix.start)[feature], w
    cdef const uint64_t* words
    while bin[s] != cut.bin:
        s += 1
    words = matrices.memory + matrix.words[kind] + s
    for w in range(matrix.n_words[kind]):
        matrices.left[kind][w] = matrices.mask[kind][w] & words[w * matrix.n_bits]


cdef void find_left_by_code(
    BitMatrices* matrices, Py_ssize_t feature, const Cut* cut, int kind
) noexcept nogil:
    cdef const BitMatrix* matrix = &matrices.items[matrices.matrix]
    cdef const Table* table = matrices.table
    cdef const int32_t* rows = ints_at(matrices, matrix.rows[kind])
    cdef Column column = column_of(table, feature)
    cdef Py_ssize_t i, w
    cdef int32_t code
    cdef uint64_t left, is_left
    for w in range(matrix.n_words[kind]):
        left = 0
        for i in range(64):
            if matrices.mask[kind][w] >> i & 1:
                code = code_at(table, column.first + rows[64 * w + i] * column.stride)
                is_left = code == cut.bin if cut.is_equality else code <= cut.bin
                if code == table.n_bins[feature]:
                    is_left = cut.missing_left
                left |= is_left << i
        matrices.left[kind][w] = left


cdef inline int32_t code_at(const Table* table, Py_ssize_t place) noexcept nogil:
    if table.wide:
        return (<const uint16_t*> codes_of(table))[place]
    return (<const uint8_t*> codes_of(table))[place]


cdef void partition_mask(
    BitMatrices* matrices, Py_ssize_t feature, const Cut* cut, Py_ssize_t* n_left
) noexcept nogil:
    """Part the node by a cut; n_left: how many points of each kind go left."""
    cdef const BitMatrix* matrix = &matrices.items[matrices.matrix]
    cdef int kind
    for kind in range(matrices.n_kinds):
        if matrices.cut_bits.has_bits[feature]:
            find_left_by_bits(matrices, feature, cut, kind)
        else:
            find_left_by_code(matrices, feature, cut, kind)
        n_left[kind] = kernels.count_bits(matrices.left[kind], matrix.n_words[kind])
    if matrices.n_kinds == 1:
        n_left[ESTIMATION] = n_left[STRUCTURE]


cdef int write_masks(BitMatrices* matrices, int lower, Py_ssize_t* masks) noexcept nogil:
    """Write the masks of both sides; `lower`: the one that is entered last, so lies lower."""
    cdef const BitMatrix* matrix = &matrices.items[matrices.matrix]
    cdef uint64_t* out
    cdef Py_ssize_t w, size = matrix.n_words[STRUCTURE] + matrix.n_words[ESTIMATION]
    cdef int kind, i, side
    if reserve(matrices, 2 * size) != 0:
        return OUT_OF_MEMORY
    for i in range(2):
        side = lower if i == 0 else 1 - lower
        masks[side] = take(matrices, size)
        out = matrices.memory + masks[side]
        for kind in range(matrices.n_kinds):
            for w in range(matrix.n_words[kind]):
                out[w] = matrices.left[kind][w]
                if side == 1:
                    out[w] ^= matrices.mask[kind][w]
            out += matrix.n_words[kind]
    return 0
