# SPDX-License-Identifier: BSD-3-Clause
"""Sheets: made, squeezed, parted; see sheet.pxd."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from mrforest._core.kernels.dispatch cimport kernels
from mrforest._core.types cimport OUT_OF_MEMORY, Column, Cut, Table, codes_of, column_of

cdef enum:
    WORTH = 4                   # words of a mask of a sheet that is worth squeezing


cdef inline Py_ssize_t words_for(Py_ssize_t n_bits) noexcept nogil:
    return (n_bits + 63) // 64


# ---- memory ------------------------------------------------------------------------------

cdef Sheets* new_sheets(
    const Table* table, const Slices* slices, Py_ssize_t n_structure, Py_ssize_t n_estimation,
    int n_kinds, bint keeps_structure, int64_t floor
) noexcept nogil:
    """Room for the sheets of a tree; NULL: no memory."""
    cdef Py_ssize_t K = table.n_columns, S = slices.n + 1
    cdef Py_ssize_t W = words_for(max(n_structure, n_estimation)) + 1
    cdef Py_ssize_t i
    cdef int kind
    cdef Sheets* sheets = <Sheets*> calloc(1, sizeof(Sheets))
    if sheets is NULL:
        return NULL
    sheets.table = table
    sheets.slices = slices
    sheets.n_kinds = n_kinds
    # A side of a cut has a structure point anyway.
    sheets.floor = 0 if n_kinds == 1 and floor == 1 else floor
    sheets.counts_estimation = floor > 0 and n_kinds == 2
    for kind in range(2):
        sheets.mask[kind] = <uint64_t*> malloc(W * sizeof(uint64_t))
        sheets.left[kind] = <uint64_t*> malloc(W * sizeof(uint64_t))
    sheets.class_mask = <uint64_t*> malloc(K * W * sizeof(uint64_t))
    sheets.totals = <double*> malloc(K * sizeof(double))
    sheets.counts = <int32_t*> malloc(K * S * sizeof(int32_t))
    sheets.n_left = <int32_t*> malloc(S * sizeof(int32_t))
    sheets.n_estimation_left = <int32_t*> malloc(S * sizeof(int32_t))
    sheets.scores = <double*> malloc(S * sizeof(double))
    sheets.kept = <int32_t*> malloc(S * sizeof(int32_t))
    sheets.every = <int32_t*> malloc((S + K) * sizeof(int32_t))
    sheets.some_left = <int32_t*> malloc(S * sizeof(int32_t))
    sheets.some_scores = <double*> malloc(S * sizeof(double))
    sheets.row = <uint64_t*> malloc(S * sizeof(uint64_t))
    sheets.other_row = <uint64_t*> malloc(S * sizeof(uint64_t))
    if (sheets.mask[0] is NULL or sheets.mask[1] is NULL or sheets.left[0] is NULL
            or sheets.left[1] is NULL or sheets.class_mask is NULL
            or sheets.totals is NULL or sheets.counts is NULL or sheets.n_left is NULL
            or sheets.n_estimation_left is NULL or sheets.scores is NULL or sheets.kept is NULL
            or sheets.every is NULL or sheets.some_left is NULL or sheets.some_scores is NULL
            or sheets.row is NULL or sheets.other_row is NULL):
        free_sheets(sheets)
        return NULL
    for i in range(S + K):
        sheets.every[i] = <int32_t> i
    # Rows are known of the points that fill leaves, and of others where somebody asks.
    sheets.keeps_rows[STRUCTURE] = keeps_structure or n_kinds == 1
    sheets.keeps_rows[ESTIMATION] = n_kinds == 2
    return sheets


cdef void free_sheets(Sheets* sheets) noexcept nogil:
    cdef int kind
    if sheets is NULL:
        return
    for kind in range(2):
        free(sheets.mask[kind])
        free(sheets.left[kind])
    free(sheets.memory)
    free(sheets.items)
    free(sheets.class_mask)
    free(sheets.totals)
    free(sheets.counts)
    free(sheets.n_left)
    free(sheets.n_estimation_left)
    free(sheets.scores)
    free(sheets.kept)
    free(sheets.every)
    free(sheets.some_left)
    free(sheets.some_scores)
    free(sheets.row)
    free(sheets.other_row)
    free(sheets)


cdef int reserve(Sheets* sheets, Py_ssize_t n_words) noexcept nogil:
    """See to it that so many words more fit above the top."""
    cdef uint64_t* memory
    cdef Py_ssize_t room = sheets.top + n_words
    if room > sheets.room:
        room += room >> 1
        memory = <uint64_t*> realloc(sheets.memory, room * sizeof(uint64_t))
        if memory is NULL:
            return OUT_OF_MEMORY
        sheets.memory = memory
        sheets.room = room
    return 0


cdef inline Py_ssize_t take(Sheets* sheets, Py_ssize_t n_words) noexcept nogil:
    """The place of words that have been reserved."""
    sheets.top += n_words
    return sheets.top - n_words


cdef Sheet* add_sheet(
    Sheets* sheets, Py_ssize_t n_slices, const Py_ssize_t* n_points
) noexcept nogil:
    """Room for a sheet; NULL: no memory."""
    cdef Sheet* items
    cdef Sheet* sheet
    cdef Py_ssize_t F = sheets.slices.n_features, K = sheets.table.n_columns, size
    cdef int kind
    if sheets.n_items == sheets.room_for_items:
        items = <Sheet*> realloc(
            sheets.items, (2 * sheets.n_items + 16) * sizeof(Sheet))
        if items is NULL:
            return NULL
        sheets.items = items
        sheets.room_for_items = 2 * sheets.n_items + 16
    sheet = &sheets.items[sheets.n_items]
    sheet.n_slices = n_slices
    size = F // 2 + 1 + n_slices // 2 + 1
    for kind in range(2):
        sheet.n_words[kind] = words_for(n_points[kind]) if kind < sheets.n_kinds else 0
        size += sheet.n_words[kind] * n_slices + 32 * sheet.n_words[kind] * sheets.keeps_rows[kind]
    size += K * sheet.n_words[STRUCTURE]
    if reserve(sheets, size) != 0:
        return NULL
    sheet.start = take(sheets, F // 2 + 1)
    sheet.bin = take(sheets, n_slices // 2 + 1)
    for kind in range(2):
        sheet.words[kind] = take(sheets, sheet.n_words[kind] * n_slices)
        sheet.rows[kind] = take(sheets, 32 * sheet.n_words[kind] * sheets.keeps_rows[kind])
    sheet.classes = take(sheets, K * sheet.n_words[STRUCTURE])
    sheets.n_items += 1
    return sheet


# ---- making ------------------------------------------------------------------------------

cdef void find_classes(
    Sheets* sheets, const Sheet* sheet, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    """Slices of the structure points of each class."""
    cdef uint64_t* classes = sheets.memory + sheet.classes
    cdef Py_ssize_t i, K = sheets.table.n_columns
    memset(classes, 0, sheet.n_words[STRUCTURE] * K * sizeof(uint64_t))
    for i in range(n):
        classes[(i >> 6) * K + sheets.table.y[rows[i]]] |= <uint64_t> 1 << (i & 63)


cdef Py_ssize_t end_of_run(const int32_t* rows, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """The end of rows that ascend."""
    cdef Py_ssize_t i
    for i in range(first + 1, n):
        if rows[i] <= rows[i - 1]:
            return i
    return n


cdef int gather_rows(
    Sheets* sheets, const int32_t* rows, Py_ssize_t n, uint64_t* out
) noexcept nogil:
    """All slices of some rows of the table."""
    cdef const Slices* slices = sheets.slices
    cdef Py_ssize_t i, first = 0, end = end_of_run(rows, 0, n)
    cdef uint64_t* mask = <uint64_t*> malloc(slices.n_words * sizeof(uint64_t))
    if mask is NULL:
        return OUT_OF_MEMORY
    memset(out, 0, words_for(n) * slices.n * sizeof(uint64_t))
    # Rows that ascend are a mask over the table. Few of them are taken one by one.
    while end - first >= slices.n_words and first < n:
        memset(mask, 0, slices.n_words * sizeof(uint64_t))
        for i in range(first, end):
            mask[rows[i] >> 6] |= <uint64_t> 1 << (rows[i] & 63)
        kernels.squeeze(
            slices.words, slices.n, sheets.every, slices.n, mask, slices.n_words, first, out)
        first = end
        end = end_of_run(rows, first, n)
    kernels.gather_points(slices.words, slices.n, rows, first, n, out)
    free(mask)
    return 0


cdef int make_first_sheet(
    Sheets* sheets,
    const int32_t* structure, Py_ssize_t n_structure,
    const int32_t* estimation, Py_ssize_t n_estimation,
    Py_ssize_t* mask,       # OUT  of the root
) noexcept nogil:
    """The sheet of all points of a tree."""
    cdef const Slices* slices = sheets.slices
    cdef const int32_t* rows
    cdef const Sheet* sheet
    cdef int kind
    sheets.n_points[STRUCTURE] = n_structure
    sheets.n_points[ESTIMATION] = n_estimation
    sheet = add_sheet(sheets, slices.n, sheets.n_points)
    if sheet is NULL:
        return OUT_OF_MEMORY
    memcpy(ints_at(sheets, sheet.start), slices.start, (slices.n_features + 1) * sizeof(int32_t))
    memcpy(ints_at(sheets, sheet.bin), slices.bin, slices.n * sizeof(int32_t))
    for kind in range(sheets.n_kinds):
        rows = structure if kind == STRUCTURE else estimation
        if sheets.keeps_rows[kind]:
            memcpy(ints_at(sheets, sheet.rows[kind]), rows,
                   sheets.n_points[kind] * sizeof(int32_t))
        if gather_rows(
                sheets, rows, sheets.n_points[kind], sheets.memory + sheet.words[kind]) != 0:
            return OUT_OF_MEMORY
    find_classes(sheets, sheet, structure, n_structure)
    set_all(sheets)
    return keep_mask(sheets, mask)


cdef int keep_mask(Sheets* sheets, Py_ssize_t* mask) noexcept nogil:
    """Write the mask of the node."""
    cdef const Sheet* sheet = &sheets.items[sheets.sheet]
    cdef int kind
    if reserve(sheets, sheet.n_words[STRUCTURE] + sheet.n_words[ESTIMATION]) != 0:
        return OUT_OF_MEMORY
    mask[0] = sheets.top
    for kind in range(sheets.n_kinds):
        memcpy(sheets.memory + take(sheets, sheet.n_words[kind]), sheets.mask[kind],
               sheet.n_words[kind] * sizeof(uint64_t))
    return 0


cdef void set_all(Sheets* sheets) noexcept nogil:
    """Every point of the last sheet belongs to the node."""
    cdef Py_ssize_t n
    cdef int kind
    sheets.sheet = sheets.n_items - 1
    for kind in range(sheets.n_kinds):
        n = sheets.n_points[kind]
        memset(sheets.mask[kind], 0xff, (n >> 6) * sizeof(uint64_t))
        if n & 63:
            sheets.mask[kind][n >> 6] = (<uint64_t> 1 << (n & 63)) - 1


cdef Py_ssize_t find_kept(Sheets* sheets, const Sheet* sheet) noexcept nogil:
    """Slices that have structure points of the node on both sides; return how many."""
    cdef Py_ssize_t s, n = 0
    kernels.find_sides(
        sheets.memory + sheet.words[STRUCTURE], sheet.n_slices, sheets.mask[STRUCTURE],
        sheet.n_words[STRUCTURE], sheets.row, sheets.other_row)
    for s in range(sheet.n_slices):
        sheets.kept[n] = <int32_t> s
        n += sheets.row[s] != 0 and sheets.other_row[s] != 0
    return n


cdef inline void squeeze(
    Sheets* sheets, int kind, Py_ssize_t words, Py_ssize_t n_slices, const int32_t* kept,
    Py_ssize_t n_kept, Py_ssize_t n_words, Py_ssize_t n_out, Py_ssize_t out
) noexcept nogil:
    """Write some slices of the points of the node to another place."""
    memset(sheets.memory + out, 0, n_out * n_kept * sizeof(uint64_t))
    kernels.squeeze(
        sheets.memory + words, n_slices, kept, n_kept, sheets.mask[kind], n_words, 0,
        sheets.memory + out)


cdef int make_sheet(Sheets* sheets) noexcept nogil:
    """A sheet of the node alone."""
    cdef int number = sheets.sheet, kind
    cdef Py_ssize_t n_kept = find_kept(sheets, &sheets.items[number]), f, s = 0
    cdef Py_ssize_t K = sheets.table.n_columns
    cdef const Sheet* sheet = add_sheet(sheets, n_kept, sheets.n_points)
    cdef const Sheet* old
    cdef const int32_t* old_start
    cdef const int32_t* old_bin
    cdef int32_t* start
    cdef int32_t* bin
    if sheet is NULL:
        return OUT_OF_MEMORY
    old = &sheets.items[number]  # it may have moved
    old_start, old_bin = ints_at(sheets, old.start), ints_at(sheets, old.bin)
    start, bin = ints_at(sheets, sheet.start), ints_at(sheets, sheet.bin)
    for f in range(sheets.slices.n_features):
        start[f] = <int32_t> s
        while s < n_kept and sheets.kept[s] < old_start[f + 1]:
            bin[s] = old_bin[sheets.kept[s]]
            s += 1
    start[sheets.slices.n_features] = <int32_t> n_kept
    for kind in range(sheets.n_kinds):
        squeeze(
            sheets, kind, old.words[kind], old.n_slices, sheets.kept, n_kept, old.n_words[kind],
            sheet.n_words[kind], sheet.words[kind])
        if sheets.keeps_rows[kind]:
            kernels.rows_of_mask(
                ints_at(sheets, old.rows[kind]), sheets.mask[kind], old.n_words[kind],
                ints_at(sheets, sheet.rows[kind]))
    squeeze(
        sheets, STRUCTURE, old.classes, K, sheets.every, K, old.n_words[STRUCTURE],
        sheet.n_words[STRUCTURE], sheet.classes)
    set_all(sheets)
    return 0


# ---- a node ------------------------------------------------------------------------------

cdef int enter_sheet(
    Sheets* sheets, int sheet, Py_ssize_t mask, Py_ssize_t n_structure, Py_ssize_t n_estimation
) noexcept nogil:
    """Look at a node whose mask was the last that was written and is not yet entered.

    What lies above it is forgotten.
    """
    cdef const Sheet* old = &sheets.items[sheet]
    cdef Py_ssize_t n_old = 0, n_new = 0, W
    cdef int kind
    sheets.top = mask
    sheets.n_items = sheet + 1
    sheets.sheet = sheet
    sheets.n_points[STRUCTURE] = n_structure
    sheets.n_points[ESTIMATION] = n_estimation
    for kind in range(sheets.n_kinds):
        W = old.n_words[kind]
        memcpy(sheets.mask[kind], sheets.memory + mask, W * sizeof(uint64_t))
        mask += W
        n_old += W
        n_new += words_for(sheets.n_points[kind])
    return make_sheet(sheets) if n_old >= WORTH and 2 * n_new <= n_old else 0


# ---- parting -----------------------------------------------------------------------------

cdef void rows_in_sheet(
    const Sheets* sheets, int kind, const uint64_t* mask, int32_t* out
) noexcept nogil:
    """Rows of the points of a mask over the sheet."""
    cdef const Sheet* sheet = &sheets.items[sheets.sheet]
    kernels.rows_of_mask(ints_at(sheets, sheet.rows[kind]), mask, sheet.n_words[kind], out)


cdef void find_left_by_slice(
    Sheets* sheets, Py_ssize_t feature, const Cut* cut, int kind
) noexcept nogil:
    cdef const Sheet* sheet = &sheets.items[sheets.sheet]
    cdef const int32_t* bin = ints_at(sheets, sheet.bin)
    cdef Py_ssize_t s = ints_at(sheets, sheet.start)[feature], w
    cdef const uint64_t* words
    while bin[s] != cut.bin:
        s += 1
    words = sheets.memory + sheet.words[kind] + s
    for w in range(sheet.n_words[kind]):
        sheets.left[kind][w] = sheets.mask[kind][w] & words[w * sheet.n_slices]


cdef void find_left_by_code(
    Sheets* sheets, Py_ssize_t feature, const Cut* cut, int kind
) noexcept nogil:
    cdef const Sheet* sheet = &sheets.items[sheets.sheet]
    cdef const Table* table = sheets.table
    cdef const int32_t* rows = ints_at(sheets, sheet.rows[kind])
    cdef Column column = column_of(table, feature)
    cdef Py_ssize_t i, w
    cdef int32_t code
    cdef uint64_t left, is_left
    for w in range(sheet.n_words[kind]):
        left = 0
        for i in range(64):
            if sheets.mask[kind][w] >> i & 1:
                code = code_at(table, column.first + rows[64 * w + i] * column.stride)
                is_left = code == cut.bin if cut.is_equality else code <= cut.bin
                if code == table.n_bins[feature]:
                    is_left = cut.missing_left
                left |= is_left << i
        sheets.left[kind][w] = left


cdef inline int32_t code_at(const Table* table, Py_ssize_t place) noexcept nogil:
    if table.wide:
        return (<const uint16_t*> codes_of(table))[place]
    return (<const uint8_t*> codes_of(table))[place]


cdef void part_sheet(
    Sheets* sheets, Py_ssize_t feature, const Cut* cut, Py_ssize_t* n_left
) noexcept nogil:
    """Part the node by a cut; n_left: how many points of each kind go left."""
    cdef const Sheet* sheet = &sheets.items[sheets.sheet]
    cdef int kind
    for kind in range(sheets.n_kinds):
        if sheets.slices.is_sliced[feature]:
            find_left_by_slice(sheets, feature, cut, kind)
        else:
            find_left_by_code(sheets, feature, cut, kind)
        n_left[kind] = kernels.count_bits(sheets.left[kind], sheet.n_words[kind])
    if sheets.n_kinds == 1:
        n_left[ESTIMATION] = n_left[STRUCTURE]


cdef int write_masks(Sheets* sheets, int lower, Py_ssize_t* masks) noexcept nogil:
    """Write the masks of both sides; `lower`: the one that is entered last, so lies lower."""
    cdef const Sheet* sheet = &sheets.items[sheets.sheet]
    cdef uint64_t* out
    cdef Py_ssize_t w, size = sheet.n_words[STRUCTURE] + sheet.n_words[ESTIMATION]
    cdef int kind, i, side
    if reserve(sheets, 2 * size) != 0:
        return OUT_OF_MEMORY
    for i in range(2):
        side = lower if i == 0 else 1 - lower
        masks[side] = take(sheets, size)
        out = sheets.memory + masks[side]
        for kind in range(sheets.n_kinds):
            for w in range(sheet.n_words[kind]):
                out[w] = sheets.left[kind][w]
                if side == 1:
                    out[w] ^= sheets.mask[kind][w]
            out += sheet.n_words[kind]
    return 0
