# SPDX-License-Identifier: BSD-3-Clause
"""Lists of a block: made once, and parted at every split; see block.pxd."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from mrforest._core.kernels.dispatch cimport LEFT, RIGHT, GiniNode, PlainCuts, kernels
from mrforest._core.types cimport OUT_OF_MEMORY, Cut, Entry, Table, at

# ---- memory ------------------------------------------------------------------------------

cdef SortedBlock* new_block(const Table* table) noexcept nogil:
    """Room for the blocks of a tree; NULL: no memory."""
    cdef Py_ssize_t i
    cdef SortedBlock* block = <SortedBlock*> calloc(1, sizeof(SortedBlock))
    if block is NULL:
        return NULL
    block.n_table_columns = table.n_columns
    block.number = <int32_t*> malloc(table.n_columns * sizeof(int32_t))
    block.feature = <int32_t*> malloc(table.n_features * sizeof(int32_t))
    block.differ = malloc(table.n_features * sizeof(uint16_t))
    block.codes = malloc(
        BLOCK_POINTS * table.n_features * (sizeof(uint16_t) if table.wide else sizeof(uint8_t)))
    if (block.number is NULL or block.feature is NULL or block.differ is NULL
            or block.codes is NULL):
        free_block(block)
        return NULL
    for i in range(table.n_columns):
        block.number[i] = -1
    return block


cdef void free_features(SortedBlock* block) noexcept nogil:
    free(block.is_plain)
    free(block.place)
    free(block.items)
    free(block.open)
    free(block.best)
    free(block.listed)
    free(block.where)
    free(block.best_listed)


cdef void free_block(SortedBlock* block) noexcept nogil:
    if block is not NULL:
        free(block.number)
        free(block.feature)
        free(block.differ)
        free(block.codes)
        free_features(block)
        free(block)


cdef int reserve(SortedBlock* block) noexcept nogil:
    """Room for its features."""
    cdef Py_ssize_t F = block.n_features
    if F <= block.capacity:
        return 0
    free_features(block)
    block.capacity = F
    block.is_plain = <uint8_t*> malloc(F)
    block.place = <Py_ssize_t*> malloc(F * sizeof(Py_ssize_t))
    block.items = <uint32_t*> malloc((F * BLOCK_POINTS + READ_AHEAD_CELLS) * sizeof(uint32_t))
    block.open = <int32_t*> malloc(F * (BLOCK_POINTS + 1) * sizeof(int32_t))
    block.best = <double*> malloc(F * sizeof(double))
    block.listed = <int32_t*> malloc(F * sizeof(int32_t))
    block.where = <int32_t*> malloc(F * sizeof(int32_t))
    block.best_listed = <double*> malloc(F * sizeof(double))
    if (block.is_plain is NULL or block.place is NULL or block.items is NULL
            or block.open is NULL or block.best is NULL or block.listed is NULL
            or block.where is NULL or block.best_listed is NULL):
        block.capacity = 0
        return OUT_OF_MEMORY
    return 0


# ---- making ------------------------------------------------------------------------------

cdef void copy_rows(const Table* table, const int32_t* rows, SortedBlock* block) noexcept nogil:
    """Copy the rows, and find which features have two codes or more."""
    cdef Py_ssize_t size = 2 if table.wide else 1, f
    cdef uint8_t* differ = <uint8_t*> block.differ
    cdef uint8_t differs
    kernels.copy_rows(
        table.codes, table.n_features * size, table.n_rows, rows, block.n, block.codes, differ)
    block.n_features = 0
    for f in range(table.n_features):
        differs = differ[size * f] | differ[size * f + size - 1]
        block.feature[block.n_features] = <int32_t> f
        block.n_features += differs != 0


cdef void find_classes(const Table* table, const int32_t* rows, SortedBlock* block) noexcept nogil:
    """Number the classes as they come."""
    cdef Py_ssize_t i
    cdef int32_t y
    block.n_classes = 0
    for i in range(block.n):
        y = table.y[at(rows[i], table.n_rows)]
        if block.number[y] < 0:
            block.number[y] = <int32_t> block.n_classes
            block.column[block.n_classes] = y
            block.n_classes += 1
        block.points[i] = <uint32_t> block.number[y] << 8 | <uint32_t> i
    for i in range(block.n_classes):
        block.number[block.column[i]] = -1


cdef void make_lists(const Table* table, SortedBlock* block) noexcept nogil:
    """Lists of all features, from the copied rows."""
    cdef Py_ssize_t j, f, F = table.n_features
    cdef uint32_t* items
    for j in range(block.n_features):
        f = block.feature[j]
        block.place[j] = j * block.n
        items = block.items + block.place[j]
        if table.wide:
            kernels.sort_shorts(
                <const uint16_t*> block.codes + f, F, block.n, block.points, items)
        else:
            kernels.sort_bytes(
                <const uint8_t*> block.codes + f, F, block.n, block.points, items)
        # The missing code is the largest.
        block.is_plain[j] = not (
            table.is_categorical[f] or <int32_t> (items[block.n - 1] >> 16) == table.n_bins[f])
        block.open[j] = <int32_t> j
    block.n_open[0] = block.n_features


cdef int make_block(
    const Table* table, const int32_t* rows, Py_ssize_t first, Py_ssize_t n, SortedBlock* block
) noexcept nogil:
    """Copy the points of a node, which are n from the first one of a tree on."""
    block.first = first
    block.n = n
    find_classes(table, rows, block)
    copy_rows(table, rows, block)
    if reserve(block) != 0:
        return OUT_OF_MEMORY
    make_lists(table, block)
    return 0


# ---- a node of it ------------------------------------------------------------------------

cdef int enter_node(
    SortedBlock* block, Py_ssize_t first, Py_ssize_t n, int level, int64_t* totals
) noexcept nogil:
    """Count the points of each class; return 0 if there is one class only."""
    cdef const uint32_t* points = block.points + (first - block.first)
    cdef GiniNode* node = &block.node
    cdef Py_ssize_t i, k
    block.n_open[level + 1] = 0
    node.n = n
    node.n_classes = block.n_classes
    node.n_present = 0
    memset(node.totals, 0, block.n_classes * sizeof(int32_t))
    for i in range(n):
        node.totals[points[i] >> 8] += 1
    memset(totals, 0, block.n_table_columns * sizeof(int64_t))
    for k in range(block.n_classes):
        totals[block.column[k]] = node.totals[k]
        node.present[node.n_present] = <int32_t> k
        node.n_present += node.totals[k] > 0
    if node.n_present < 2:
        return 0
    kernels.enter_gini_node(node)
    return 1


cdef inline uint32_t* list_of(
    const SortedBlock* block, Py_ssize_t number, Py_ssize_t first
) noexcept nogil:
    return block.items + block.place[number] + (first - block.first)


cdef void find_best(SortedBlock* block, Py_ssize_t first, int level) noexcept nogil:
    """The best score of the cuts of each open feature, if it is plain; -INFINITY: it has none."""
    cdef const int32_t* open = block.open + level * block.n_features
    cdef Py_ssize_t i, n_listed = 0
    cdef int32_t number
    for i in range(block.n_open[level]):
        number = open[i]
        if block.is_plain[number]:
            block.listed[n_listed] = number
            block.where[n_listed] = <int32_t> i
            n_listed += 1
    kernels.best_in_lists(
        block.items + (first - block.first), block.place, block.listed, n_listed, &block.node,
        block.best_listed)
    for i in range(n_listed):
        block.best[block.where[i]] = block.best_listed[i]


cdef Py_ssize_t cuts_in_block(
    const SortedBlock* block, Py_ssize_t number, Py_ssize_t first, PlainCuts cuts
) noexcept nogil:
    """All candidates of a plain feature; return how many."""
    return kernels.cuts_in_list(list_of(block, number, first), &block.node, cuts)


cdef Py_ssize_t block_entries(
    const Table* table, SortedBlock* block, Py_ssize_t number, Py_ssize_t first, Py_ssize_t n,
    Entry* entries
) noexcept nogil:
    """Entries of a feature of a node; return how many."""
    cdef const uint32_t* items
    cdef Py_ssize_t i
    items = list_of(block, number, first)
    for i in range(n):
        entries[i].bin = <int32_t> (items[i] >> 16)
        entries[i].column = block.column[items[i] >> 8 & 255]
        entries[i].count = 1
    return n


# ---- parting -----------------------------------------------------------------------------

cdef inline void put_on_side(
    SortedBlock* block, uint32_t point, bint is_left, SidesOfCut* sides
) noexcept nogil:
    """A point is class (8 bits) | number (8), and whatever above."""
    cdef uint32_t left = -<uint32_t> is_left, one = point >> 8 & 255
    block.is_left[point & 255] = is_left
    sides.n_left += is_left
    sides.any_left |= one & left
    sides.all_left &= one | ~left
    sides.any_right |= one & ~left
    sides.all_right &= one | left


cdef SidesOfCut mark_sides(
    const Table* table, SortedBlock* block, Py_ssize_t number, Py_ssize_t first, Py_ssize_t n,
    const Cut* cut
) noexcept nogil:
    """Which points of a node go left."""
    cdef const uint32_t* items = list_of(block, number, first)
    cdef int32_t code, missing = table.n_bins[block.feature[number]]
    cdef Py_ssize_t i
    cdef bint is_left
    cdef SidesOfCut sides
    sides.n_left = 0
    sides.any_left = sides.any_right = 0
    sides.all_left = sides.all_right = 255
    for i in range(n):
        code = <int32_t> (items[i] >> 16)
        is_left = code == cut.bin if cut.is_equality else code <= cut.bin
        is_left = cut.missing_left if code == missing else is_left
        put_on_side(block, items[i], is_left, &sides)
    return sides


cdef void partition_block(
    SortedBlock* block, Py_ssize_t first, Py_ssize_t n, int level, bint wants_left, bint wants_right
) noexcept nogil:
    """Partition the open lists of a node by `mark_sides`, the sides that are wanted."""
    cdef const int32_t* open = block.open + (level + 1) * block.n_features
    cdef Py_ssize_t at_once = 0
    cdef int32_t the_points = 0
    cdef int sides = (LEFT if wants_left else 0) | (RIGHT if wants_right else 0)
    if sides == 0:
        return
    kernels.part_lists(
        block.items + (first - block.first), block.place, open, block.n_open[level + 1], n,
        block.is_left, sides)
    kernels.part_lists(
        block.points + (first - block.first), &at_once, &the_points, 1, n, block.is_left, sides)
