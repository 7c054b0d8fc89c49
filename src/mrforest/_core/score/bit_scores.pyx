# SPDX-License-Identifier: BSD-3-Clause
"""Points left of the slices of a node, the scores of these, and which of them are candidates."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

from mrforest._core.kernels.dispatch cimport kernels
from mrforest._core.score.bit_matrix cimport ESTIMATION, STRUCTURE, Sheet, Sheets, ints_at
from mrforest._core.types cimport Cut


cdef enum:
    FEW_WORDS = 8               # of a mask; a slice at a time is quicker then


cdef struct Candidates:
    # Of one feature, one after the other.
    Py_ssize_t next             # slice to look at
    Py_ssize_t end
    Py_ssize_t slice            # of the one that was found
    bint is_categorical


cdef int count_in_sheet(Sheets* sheets, int64_t* totals) noexcept nogil:
    """Count the structure points of each class; return 0 if there is one class only."""
    cdef const Sheet* sheet = &sheets.items[sheets.sheet]
    sheets.n_classes = kernels.part_by_class(
        sheets.memory + sheet.classes, sheets.table.n_columns, sheets.mask[STRUCTURE],
        sheet.n_words[STRUCTURE], totals, sheets.totals, sheets.class_mask)
    return sheets.n_classes > 1


cdef void find_pure_sides(const Sheets* sheets, bint* is_pure) noexcept nogil:
    """Whether all structure points of a side of a node that is parted are of one class."""
    cdef const uint64_t* left = sheets.left[STRUCTURE]
    cdef const uint64_t* mask = sheets.class_mask
    cdef Py_ssize_t w, _k, W = sheets.items[sheets.sheet].n_words[STRUCTURE]
    cdef int on_left = 0, on_right = 0
    cdef uint64_t some_left, some_right
    for _k in range(sheets.n_classes):
        some_left = some_right = 0
        for w in range(W):
            some_left |= mask[w] & left[w]
            some_right |= mask[w] & ~left[w]
        on_left += some_left != 0
        on_right += some_right != 0
        mask += W
    is_pure[0] = on_left == 1
    is_pure[1] = on_right == 1


cdef void count_all_slices(Sheets* sheets) noexcept nogil:
    """Points on the left of all slices, and their scores."""
    cdef const Sheet* sheet = &sheets.items[sheets.sheet]
    cdef Py_ssize_t n = sheet.n_slices, room = sheets.slices.n
    kernels.count_left(
        sheets.memory + sheet.words[STRUCTURE], n, n, sheets.class_mask, sheets.n_classes,
        sheet.n_words[STRUCTURE], room, sheets.counts)
    kernels.score_columns(
        sheets.counts, room, n, sheets.totals, sheets.n_classes,
        <double> sheets.n_points[STRUCTURE], sheets.n_left, sheets.scores)
    if sheets.counts_estimation:
        kernels.count_left(
            sheets.memory + sheet.words[ESTIMATION], n, n, sheets.mask[ESTIMATION], 1,
            sheet.n_words[ESTIMATION], room, sheets.n_estimation_left)


cdef void count_slices_of(
    Sheets* sheets, const int32_t* features, Py_ssize_t n_features
) noexcept nogil:
    """The same of the slices of some features."""
    cdef const Sheet* sheet = &sheets.items[sheets.sheet]
    cdef const int32_t* start = ints_at(sheets, sheet.start)
    cdef int32_t* listed = sheets.kept
    cdef Py_ssize_t i, s, n = 0, room = sheets.slices.n
    for i in range(n_features):
        for s in range(start[features[i]], start[features[i] + 1]):
            listed[n] = <int32_t> s
            n += 1
    if sheet.n_words[STRUCTURE] <= FEW_WORDS:
        kernels.score_some(
            sheets.memory + sheet.words[STRUCTURE], sheet.n_slices, listed, n,
            sheets.class_mask, sheet.n_words[STRUCTURE], sheets.totals, sheets.n_classes,
            <double> sheets.n_points[STRUCTURE], sheets.n_left, sheets.scores)
    else:
        kernels.count_left_of_some(
            sheets.memory + sheet.words[STRUCTURE], sheet.n_slices, listed, n,
            sheets.class_mask, sheets.n_classes, sheet.n_words[STRUCTURE], room, sheets.counts)
        kernels.score_columns(
            sheets.counts, room, n, sheets.totals, sheets.n_classes,
            <double> sheets.n_points[STRUCTURE], sheets.some_left, sheets.some_scores)
        for i in range(n):
            sheets.n_left[listed[i]] = sheets.some_left[i]
            sheets.scores[listed[i]] = sheets.some_scores[i]
    if sheets.counts_estimation:
        kernels.count_left_of_some(
            sheets.memory + sheet.words[ESTIMATION], sheet.n_slices, listed, n,
            sheets.mask[ESTIMATION], 1, sheet.n_words[ESTIMATION], room, sheets.some_left)
        for i in range(n):
            sheets.n_estimation_left[listed[i]] = sheets.some_left[i]


cdef inline Candidates candidates_of(const Sheets* sheets, Py_ssize_t feature) noexcept nogil:
    cdef const int32_t* start = ints_at(sheets, sheets.items[sheets.sheet].start)
    cdef Candidates candidates
    candidates.next = start[feature]
    candidates.end = start[feature + 1]
    candidates.is_categorical = sheets.table.is_categorical[feature]
    return candidates


cdef inline bint find_next(const Sheets* sheets, Candidates* candidates) noexcept nogil:
    """Whether there is another candidate; then `slice` is the one of its cut."""
    cdef const int32_t* n_left = sheets.n_left
    cdef int64_t floor = sheets.floor, n = sheets.n_points[STRUCTURE]
    cdef int64_t n_points = sheets.n_points[ESTIMATION], points
    cdef Py_ssize_t first
    while candidates.next < candidates.end:
        first = candidates.next
        candidates.next += 1
        if not candidates.is_categorical:
            # Slices that part the points in the same way have a gap between them.
            while (candidates.next < candidates.end
                    and n_left[candidates.next] == n_left[first]):
                candidates.next += 1
        candidates.slice = first + (candidates.next - first - 1) // 2
        if not 0 < n_left[first] < n:
            continue
        if floor == 0:
            return True
        points = (sheets.n_estimation_left if sheets.counts_estimation
                  else n_left)[candidates.slice]
        if floor <= points <= n_points - floor:
            return True
    return False


cdef double best_in_sheet(const Sheets* sheets, Py_ssize_t feature) noexcept nogil:
    """The best score of the candidates of a feature that is counted; -INFINITY: it has none."""
    cdef Candidates candidates = candidates_of(sheets, feature)
    cdef double best = -INFINITY
    cdef Py_ssize_t s
    if sheets.floor == 0:
        # Slices that are no candidates have the score of one that is, or none.
        for s in range(candidates.next, candidates.end):
            best = max(best, sheets.scores[s])
        return best
    while find_next(sheets, &candidates):
        best = max(best, sheets.scores[candidates.slice])
    return best


cdef Py_ssize_t best_of_all(const Sheets* sheets, int32_t* features, double* best) noexcept nogil:
    """The same of all features, which are all sliced and counted: those that have a candidate, and
    their best scores; return how many they are."""
    cdef Py_ssize_t f, n = 0
    for f in range(sheets.slices.n_features):
        features[n] = <int32_t> f
        best[n] = best_in_sheet(sheets, f)
        n += best[n] != -INFINITY
    return n


cdef Py_ssize_t cuts_in_sheet(
    const Sheets* sheets,
    Py_ssize_t feature,     # one that is counted
    double* scores,         # OUT
    Cut* cuts,              # OUT
) noexcept nogil:
    """The candidates of a feature in their order; return how many there are."""
    cdef const int32_t* bin = ints_at(sheets, sheets.items[sheets.sheet].bin)
    cdef Candidates candidates = candidates_of(sheets, feature)
    cdef Py_ssize_t n_cuts = 0, s
    while find_next(sheets, &candidates):
        s = candidates.slice
        scores[n_cuts] = sheets.scores[s]
        cuts[n_cuts].bin = bin[s]
        cuts[n_cuts].is_equality = candidates.is_categorical
        cuts[n_cuts].missing_left = 2 * sheets.n_left[s] >= sheets.n_points[STRUCTURE]
        n_cuts += 1
    return n_cuts
