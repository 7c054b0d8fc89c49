# SPDX-License-Identifier: BSD-3-Clause
"""Counting, subtracting and sorting; see histogram.pxd for what comes out."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from mrforest._core.kernels.dispatch cimport CountedRows, kernels
from mrforest._core.plan cimport COLUMNS_TOGETHER, is_on
from mrforest._core.types cimport (
    Column, Entry, Table, at, code_t, codes_of, column_of, copies_of, count_t, mass_of, moment_of,
)

# The kernels below come in four kinds: codes of one or two bytes, cells of 32 or 64 bits. Those
# of 64 bits serve masses and, with a second column, moments.

cdef void count_rows_of(
    const Table* table, const code_t* codes, const int32_t* rows, Py_ssize_t n, Selection chosen,
    count_t* counts
) noexcept nogil:
    """One pass over the rows, each of which lies in a few cache lines."""
    cdef Py_ssize_t n_columns = table.n_columns, i, j, row, column
    cdef Py_ssize_t size = chosen.slot[chosen.n] * n_columns
    cdef const int64_t* slot = chosen.slot
    cdef const int32_t* features = chosen.features
    cdef const int32_t* start
    cdef const code_t* code
    cdef count_t count, moment = 0
    cdef bint has_moment = count_t is int64_t and table.moment is not NULL
    cdef CountedRows bytes
    if code_t is uint8_t and count_t is int32_t:
        if features is NULL:
            bytes.codes = codes
            bytes.n_features = table.n_features
            bytes.n_rows = table.n_rows
            bytes.y = table.y
            bytes.copies = table.copies
            bytes.rows = rows
            bytes.n = n
            kernels.count_rows(&bytes, table.start, size, counts)
            return
    for i in range(n):
        row = at(rows[i], table.n_rows)
        code = codes + row * table.n_features
        column = 0 if has_moment else table.y[row]
        count = <count_t> mass_of(table, row)
        if features is NULL:
            start = table.start + column * table.n_features
            for j in range(chosen.n):
                counts[at(start[j] + code[j], size)] += count
        else:
            for j in range(chosen.n):
                counts[at(cell_of(slot + j, n_columns, column, code[features[j]]), size)] += count
        if has_moment:
            moment = <count_t> moment_of(table, row)
            for j in range(chosen.n):
                counts[at(cell_of(
                    slot + j, 2, 1, code[j if features is NULL else features[j]]
                ), size)] += moment


cdef inline Py_ssize_t cell_of(
    const int64_t* slot, Py_ssize_t n_columns, Py_ssize_t column, Py_ssize_t code
) noexcept nogil:
    """The cell of one column of a code; slot points to that of its feature."""
    return slot[0] * n_columns + column * (slot[1] - slot[0]) + code


# What the counting of columns is told of the rows: their numbers, and of each its class and mass,
# or its moment and mass.
cdef struct Counted:
    const int32_t* rows
    Py_ssize_t n
    const int64_t* target_of_row
    const int64_t* mass


cdef void count_one_of(
    const Table* table, const code_t* codes, Counted points, const int64_t* slot, Py_ssize_t size,
    count_t* counts
) noexcept nogil:
    """One pass over the codes of one feature, which lie in one column."""
    cdef Py_ssize_t i, first = slot[0] * table.n_columns, width = slot[1] - slot[0], cell
    for i in range(points.n):
        cell = first + codes[at(points.rows[i], table.n_rows)]
        if table.moment is NULL:
            counts[at(cell + points.target_of_row[i] * width, size)] += <count_t> points.mass[i]
        else:
            counts[at(cell, size)] += <count_t> points.mass[i]
            counts[at(cell + width, size)] += <count_t> points.target_of_row[i]


cdef void count_four_of(
    const Table* table, const code_t* codes0, const code_t* codes1, const code_t* codes2,
    const code_t* codes3, Counted points, const int64_t* slot, Py_ssize_t size, count_t* counts
) noexcept nogil:
    """The classes of four features at once.

    Points that follow each other often meet in one cell, and the second has to wait until the
    first is written; the cells of other features do not.
    """
    cdef Py_ssize_t i, row, column, n_columns = table.n_columns
    cdef count_t count
    for i in range(points.n):
        row = at(points.rows[i], table.n_rows)
        column = points.target_of_row[i]
        count = <count_t> points.mass[i]
        counts[at(cell_of(slot, n_columns, column, codes0[row]), size)] += count
        counts[at(cell_of(slot + 1, n_columns, column, codes1[row]), size)] += count
        counts[at(cell_of(slot + 2, n_columns, column, codes2[row]), size)] += count
        counts[at(cell_of(slot + 3, n_columns, column, codes3[row]), size)] += count


cdef void count_by_column_of(
    const Table* table, const code_t* codes, Counted points, Selection chosen, count_t* counts
) noexcept nogil:
    cdef Py_ssize_t j = 0, n_rows = table.n_rows
    cdef Py_ssize_t size = chosen.slot[chosen.n] * table.n_columns
    cdef const int32_t* f = chosen.features
    if table.moment is NULL:
        while j + 4 <= chosen.n and is_on(COLUMNS_TOGETHER):
            count_four_of(
                table, codes + f[j] * n_rows, codes + f[j + 1] * n_rows,
                codes + f[j + 2] * n_rows, codes + f[j + 3] * n_rows, points,
                chosen.slot + j, size, counts)
            j += 4
    for j in range(j, chosen.n):
        count_one_of(table, codes + f[j] * n_rows, points, chosen.slot + j, size, counts)


cdef void count_all_of(
    const Table* table, const code_t* codes, const int32_t* rows, Py_ssize_t n, Selection chosen,
    const int64_t* target_of_row, const int64_t* mass, count_t* counts
) noexcept nogil:
    cdef Counted points
    memset(counts, 0, chosen.slot[chosen.n] * table.n_columns * sizeof(count_t))
    if chosen.features is NULL or table.by_column is NULL:
        count_rows_of(table, codes, rows, n, chosen, counts)
    else:
        points.rows = rows
        points.n = n
        points.target_of_row = target_of_row
        points.mass = mass
        count_by_column_of(table, <const code_t*> table.by_column, points, chosen, counts)


cdef void count_columns(
    const Table* table,
    const int32_t* rows,    # IN
    Py_ssize_t n,
    Selection chosen,
    const int64_t* target_of_row,   # IN   class or moment; NULL: all features are chosen
    const int64_t* mass,    # IN
    void* counts,           # OUT
) noexcept nogil:
    """Sums of each column in each bin of the chosen features."""
    if table.wide:
        if has_small_cells(table):
            count_all_of(table, <const uint16_t*> table.codes, rows, n, chosen, target_of_row, mass,
                         <int32_t*> counts)
        else:
            count_all_of(table, <const uint16_t*> table.codes, rows, n, chosen, target_of_row, mass,
                         <int64_t*> counts)
    elif has_small_cells(table):
        count_all_of(table, <const uint8_t*> table.codes, rows, n, chosen, target_of_row, mass,
                     <int32_t*> counts)
    else:
        count_all_of(table, <const uint8_t*> table.codes, rows, n, chosen, target_of_row, mass,
                     <int64_t*> counts)


cdef void count_points_of(
    const Table* table, const code_t* codes, const int32_t* rows, Py_ssize_t n, Selection chosen,
    int32_t* counts
) noexcept nogil:
    cdef Py_ssize_t size = chosen.slot[chosen.n], i, j, row
    cdef const int32_t* features = chosen.features
    cdef const code_t* by_column = <const code_t*> table.by_column
    cdef const code_t* code
    memset(counts, 0, size * sizeof(int32_t))
    if features is not NULL and by_column is not NULL:
        for j in range(chosen.n):
            code = by_column + features[j] * table.n_rows
            for i in range(n):
                row = at(rows[i], table.n_rows)
                counts[at(chosen.slot[j] + code[row], size)] += copies_of(table, row)
        return
    for i in range(n):
        row = at(rows[i], table.n_rows)
        code = codes + row * table.n_features
        for j in range(chosen.n):
            counts[at(
                chosen.slot[j] + code[j if features is NULL else features[j]], size
            )] += copies_of(table, row)


cdef void count_points(
    const Table* table, const int32_t* rows, Py_ssize_t n, Selection chosen, int32_t* counts
) noexcept nogil:
    """Points in each bin of the chosen features, whatever their class."""
    if table.wide:
        count_points_of(table, <const uint16_t*> table.codes, rows, n, chosen, counts)
    else:
        count_points_of(table, <const uint8_t*> table.codes, rows, n, chosen, counts)


cdef void subtract(count_t* counts, const count_t* other, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        counts[i] -= other[i]


cdef void subtract_columns(
    const Table* table, void* counts, const void* other
) noexcept nogil:
    """Parent minus one child is the other child, exactly: counts are whole numbers."""
    cdef Py_ssize_t size = table.slot[table.n_features] * table.n_columns
    if has_small_cells(table):
        subtract(<int32_t*> counts, <const int32_t*> other, size)
    else:
        subtract(<int64_t*> counts, <const int64_t*> other, size)


cdef void subtract_points(
    const Table* table, int32_t* counts, const int32_t* other
) noexcept nogil:
    subtract(counts, other, table.slot[table.n_features])


cdef Py_ssize_t occupied(
    const count_t* counts, Py_ssize_t n_bins, Py_ssize_t n_columns, Entry* entries
) noexcept nogil:
    cdef Py_ssize_t n = 0, b, k
    for b in range(n_bins):
        for k in range(n_columns):
            # Write first, keep if there is something: no branch to mispredict.
            entries[n].bin = <int32_t> b
            entries[n].column = <int32_t> k
            entries[n].count = counts[k * n_bins + b]
            n += counts[k * n_bins + b] != 0
    return n


cdef Py_ssize_t counted_entries(
    const Table* table, const void* counts, Py_ssize_t slot, Py_ssize_t feature, Entry* entries
) noexcept nogil:
    cdef Py_ssize_t first = slot * table.n_columns
    cdef Py_ssize_t n_bins = table.n_bins[feature] + 1  # with missing
    if has_small_cells(table):
        return occupied(<const int32_t*> counts + first, n_bins, table.n_columns, entries)
    return occupied(<const int64_t*> counts + first, n_bins, table.n_columns, entries)


cdef Py_ssize_t counted_points(
    const Table* table, const int32_t* counts, Py_ssize_t slot, Py_ssize_t feature, Entry* entries
) noexcept nogil:
    return occupied(counts + slot, table.n_bins[feature] + 1, 1, entries)


cdef enum:
    FEW = 32  # up to here insertion beats counting


cdef void insertion_sort(uint64_t* keys, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef uint64_t key
    for i in range(1, n):
        key = keys[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


cdef void counting_sort(
    uint64_t* keys, uint64_t* scratch, Py_ssize_t n, int shift
) noexcept nogil:
    """Stable sort by the byte at shift."""
    cdef Py_ssize_t start[256]
    cdef Py_ssize_t i, total = 0, count
    memset(start, 0, sizeof(start))
    for i in range(n):
        start[(keys[i] >> shift) & 255] += 1
    for i in range(256):
        count = start[i]
        if count == n:
            return
        start[i] = total
        total += count
    for i in range(n):
        scratch[start[(keys[i] >> shift) & 255]] = keys[i]
        start[(keys[i] >> shift) & 255] += 1
    memcpy(keys, scratch, n * sizeof(uint64_t))


cdef void sort_keys(
    const Table* table, uint64_t* keys, uint64_t* scratch, Py_ssize_t n
) noexcept nogil:
    """Sort by code; a key is code (16 bits) | class (16 bits) | place in the node (32 bits)."""
    if n <= FEW:
        insertion_sort(keys, n)
        return
    counting_sort(keys, scratch, n, 48)
    if table.wide:
        counting_sort(keys, scratch, n, 56)


cdef void gather_keys(
    const Table* table, const code_t* codes, const int32_t* rows, Py_ssize_t n,
    Py_ssize_t feature, uint64_t* keys
) noexcept nogil:
    cdef Column column = column_of(table, feature)
    cdef Py_ssize_t i, row
    cdef bint has_classes = table.moment is NULL  # ranks of targets do not fit
    for i in range(n):
        row = at(rows[i], table.n_rows)
        keys[i] = (<uint64_t> codes[column.first + row * column.stride] << 48
                   | (<uint64_t> table.y[row] << 32 if has_classes else 0) | <uint64_t> i)


cdef inline void gather_and_sort(
    const Table* table, const int32_t* rows, Py_ssize_t n, Py_ssize_t feature,
    uint64_t* keys, uint64_t* scratch
) noexcept nogil:
    if table.wide:
        gather_keys(table, <const uint16_t*> codes_of(table), rows, n, feature, keys)
    else:
        gather_keys(table, <const uint8_t*> codes_of(table), rows, n, feature, keys)
    sort_keys(table, keys, scratch, n)


cdef Py_ssize_t sorted_entries(
    const Table* table, const int32_t* rows, Py_ssize_t n, Py_ssize_t feature,
    uint64_t* keys, uint64_t* scratch, Entry* entries
) noexcept nogil:
    """One entry a point (two with moments); those of one bin are in no special order."""
    cdef Py_ssize_t i, row
    gather_and_sort(table, rows, n, feature, keys, scratch)
    if table.moment is NULL:
        for i in range(n):
            entries[i].bin = <int32_t> (keys[i] >> 48)
            entries[i].column = <int32_t> (keys[i] >> 32 & 0xFFFF)
            entries[i].count = mass_of(table, rows[at(<uint32_t> keys[i], n)])
        return n
    for i in range(n):
        row = rows[at(<uint32_t> keys[i], n)]
        entries[2 * i].bin = entries[2 * i + 1].bin = <int32_t> (keys[i] >> 48)
        entries[2 * i].column = 0
        entries[2 * i].count = mass_of(table, row)
        entries[2 * i + 1].column = 1
        entries[2 * i + 1].count = moment_of(table, row)
    return 2 * n


cdef Py_ssize_t sorted_points(
    const Table* table, const int32_t* rows, Py_ssize_t n, Py_ssize_t feature,
    uint64_t* keys, uint64_t* scratch, Entry* entries
) noexcept nogil:
    cdef Py_ssize_t i
    gather_and_sort(table, rows, n, feature, keys, scratch)
    for i in range(n):
        entries[i].bin = <int32_t> (keys[i] >> 48)
        entries[i].column = 0
        entries[i].count = copies_of(table, rows[at(<uint32_t> keys[i], n)])
    return n
