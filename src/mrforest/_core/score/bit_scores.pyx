# SPDX-License-Identifier: BSD-3-Clause
"""Points left of each cut of a node, the scores of the cuts, and which are candidates."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

from mrforest._core.kernels.dispatch cimport kernels
from mrforest._core.plan cimport scores_bits_one_by_one
from mrforest._core.score.bit_matrix cimport ESTIMATION, STRUCTURE, BitMatrices, BitMatrix, ints_at
from mrforest._core.types cimport Cut


cdef struct Candidates:
    # Of one feature, one after the other.
    Py_ssize_t next             # cut to check
    Py_ssize_t end
    Py_ssize_t cut              # of the one that was found
    bint is_categorical


cdef int count_classes_of_mask(BitMatrices* matrices, int64_t* totals) noexcept nogil:
    """Count the structure points of each class; return 0 if there is one class only."""
    cdef const BitMatrix* matrix = &matrices.items[matrices.matrix]
    matrices.n_classes = kernels.part_by_class(
        matrices.memory + matrix.classes, matrices.table.n_columns, matrices.mask[STRUCTURE],
        matrix.n_words[STRUCTURE], totals, matrices.totals, matrices.class_mask)
    return matrices.n_classes > 1


cdef void find_pure_sides(const BitMatrices* matrices, bint* is_pure) noexcept nogil:
    """Whether all structure points of a side of a node that is parted are of one class."""
    cdef const uint64_t* left = matrices.left[STRUCTURE]
    cdef const uint64_t* mask = matrices.class_mask
    cdef Py_ssize_t w, _k, W = matrices.items[matrices.matrix].n_words[STRUCTURE]
    cdef int on_left = 0, on_right = 0
    cdef uint64_t some_left, some_right
    for _k in range(matrices.n_classes):
        some_left = some_right = 0
        for w in range(W):
            some_left |= mask[w] & left[w]
            some_right |= mask[w] & ~left[w]
        on_left += some_left != 0
        on_right += some_right != 0
        mask += W
    is_pure[0] = on_left == 1
    is_pure[1] = on_right == 1


cdef void count_all_bits(BitMatrices* matrices) noexcept nogil:
    """Points on the left of all cuts, and their scores."""
    cdef const BitMatrix* matrix = &matrices.items[matrices.matrix]
    cdef Py_ssize_t n = matrix.n_bits, capacity = matrices.cut_bits.n
    kernels.count_left(
        matrices.memory + matrix.words[STRUCTURE], n, n, matrices.class_mask, matrices.n_classes,
        matrix.n_words[STRUCTURE], capacity, matrices.counts)
    kernels.score_columns(
        matrices.counts, capacity, n, matrices.totals, matrices.n_classes,
        <double> matrices.n_points[STRUCTURE], matrices.n_left, matrices.scores)
    if matrices.counts_estimation:
        kernels.count_left(
            matrices.memory + matrix.words[ESTIMATION], n, n, matrices.mask[ESTIMATION], 1,
            matrix.n_words[ESTIMATION], capacity, matrices.n_estimation_left)


cdef void count_bits_of(
    BitMatrices* matrices, const int32_t* features, Py_ssize_t n_features
) noexcept nogil:
    """The same of the cuts of some features."""
    cdef const BitMatrix* matrix = &matrices.items[matrices.matrix]
    cdef const int32_t* start = ints_at(matrices, matrix.start)
    cdef int32_t* listed = matrices.kept
    cdef Py_ssize_t i, s, n = 0, capacity = matrices.cut_bits.n
    for i in range(n_features):
        for s in range(start[features[i]], start[features[i] + 1]):
            listed[n] = <int32_t> s
            n += 1
    if scores_bits_one_by_one(matrix.n_words[STRUCTURE]):
        kernels.score_some(
            matrices.memory + matrix.words[STRUCTURE], matrix.n_bits, listed, n,
            matrices.class_mask, matrix.n_words[STRUCTURE], matrices.totals, matrices.n_classes,
            <double> matrices.n_points[STRUCTURE], matrices.n_left, matrices.scores)
    else:
        kernels.count_left_of_some(
            matrices.memory + matrix.words[STRUCTURE], matrix.n_bits, listed, n,
            matrices.class_mask, matrices.n_classes, matrix.n_words[STRUCTURE], capacity,
            matrices.counts)
        kernels.score_columns(
            matrices.counts, capacity, n, matrices.totals, matrices.n_classes,
            <double> matrices.n_points[STRUCTURE], matrices.some_left, matrices.some_scores)
        for i in range(n):
            matrices.n_left[listed[i]] = matrices.some_left[i]
            matrices.scores[listed[i]] = matrices.some_scores[i]
    if matrices.counts_estimation:
        kernels.count_left_of_some(
            matrices.memory + matrix.words[ESTIMATION], matrix.n_bits, listed, n,
            matrices.mask[ESTIMATION], 1, matrix.n_words[ESTIMATION], capacity, matrices.some_left)
        for i in range(n):
            matrices.n_estimation_left[listed[i]] = matrices.some_left[i]


cdef inline Candidates candidates_of(
    const BitMatrices* matrices, Py_ssize_t feature
) noexcept nogil:
    cdef const int32_t* start = ints_at(matrices, matrices.items[matrices.matrix].start)
    cdef Candidates candidates
    candidates.next = start[feature]
    candidates.end = start[feature + 1]
    candidates.is_categorical = matrices.table.is_categorical[feature]
    return candidates


cdef inline bint find_next(const BitMatrices* matrices, Candidates* candidates) noexcept nogil:
    """Whether there is another candidate; then `cut` is its number."""
    cdef const int32_t* n_left = matrices.n_left
    cdef int64_t floor = matrices.floor, n = matrices.n_points[STRUCTURE]
    cdef int64_t n_points = matrices.n_points[ESTIMATION], points
    cdef Py_ssize_t first
    while candidates.next < candidates.end:
        first = candidates.next
        candidates.next += 1
        if not candidates.is_categorical:
            # Cuts that split the points in the same way have a gap between them.
            while (candidates.next < candidates.end
                    and n_left[candidates.next] == n_left[first]):
                candidates.next += 1
        candidates.cut = first + (candidates.next - first - 1) // 2
        if not 0 < n_left[first] < n:
            continue
        if floor == 0:
            return True
        points = (matrices.n_estimation_left if matrices.counts_estimation
                  else n_left)[candidates.cut]
        if floor <= points <= n_points - floor:
            return True
    return False


cdef double best_of_bits(const BitMatrices* matrices, Py_ssize_t feature) noexcept nogil:
    """The best score of the candidates of a feature that is counted; -INFINITY: it has none."""
    cdef Candidates candidates = candidates_of(matrices, feature)
    cdef double best = -INFINITY
    cdef Py_ssize_t s
    if matrices.floor == 0:
        # Cuts that are no candidates have the score of one that is, or none.
        for s in range(candidates.next, candidates.end):
            best = max(best, matrices.scores[s])
        return best
    while find_next(matrices, &candidates):
        best = max(best, matrices.scores[candidates.cut])
    return best


cdef Py_ssize_t best_of_all(
    const BitMatrices* matrices, int32_t* features, double* best
) noexcept nogil:
    """The same of all features, which all have bits and are counted: write those that have a
    candidate, and their best scores; return how many they are."""
    cdef Py_ssize_t f, n = 0
    for f in range(matrices.cut_bits.n_features):
        features[n] = <int32_t> f
        best[n] = best_of_bits(matrices, f)
        n += best[n] != -INFINITY
    return n


cdef Py_ssize_t cuts_of_bits(
    const BitMatrices* matrices,
    Py_ssize_t feature,     # one that is counted
    double* scores,         # OUT
    Cut* cuts,              # OUT
) noexcept nogil:
    """The candidates of a feature in their order; return how many there are."""
    cdef const int32_t* bin = ints_at(matrices, matrices.items[matrices.matrix].bin)
    cdef Candidates candidates = candidates_of(matrices, feature)
    cdef Py_ssize_t n_cuts = 0, s
    while find_next(matrices, &candidates):
        s = candidates.cut
        scores[n_cuts] = matrices.scores[s]
        cuts[n_cuts].bin = bin[s]
        cuts[n_cuts].is_equality = candidates.is_categorical
        cuts[n_cuts].missing_left = 2 * matrices.n_left[s] >= matrices.n_points[STRUCTURE]
        n_cuts += 1
    return n_cuts
