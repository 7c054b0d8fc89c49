# SPDX-License-Identifier: BSD-3-Clause
"""Sweep a cut over the bins of a feature.

Without missing values there is one candidate between neighbouring bins (numeric) or one for
each bin (categorical). With missing values each is two, missing left and missing right, and
"missing against the rest" stands last:

    scores   [ cut 0 ][ cut 1 ] ...                                  no missing
    scores   [ cut 0, missing left ][ cut 0, missing right ] ... [ missing | rest ]

A numeric feature that offers equality has its order cuts first, then one equality cut for each
bin between the first and the last: equality with these two is an order cut already.
"""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t

from mrforest._core.score.impurity cimport Sides, all_right, move_left, split_score
from mrforest._core.types cimport Cut, Entry, Table


cdef struct Sweep:
    # Where a sweep writes its candidates, and what it knows of the estimation points.
    double* scores
    Cut* cuts
    Py_ssize_t at             # next candidate
    Py_ssize_t stride
    int64_t n_estimation      # all estimation points of the node ...
    int64_t n_missing         # ... and those without a value
    bint counts_points        # the sides know better
    int64_t floor
    bint missing_known        # structure points have missing values
    bint missing_left


cdef inline void emit(
    const Table* table, Sweep* sweep, const Sides* sides, int32_t bin, bint is_equality,
    int64_t points_left
) noexcept nogil:
    """Write the candidate between the sides; NaN if it leaves too few estimation points.

    points_left are the estimation points left of the cut, missing ones not counted.
    """
    cdef Py_ssize_t at = sweep.at
    cdef int64_t points_right
    cdef bint missing_left = sweep.missing_left
    if not sweep.missing_known:
        missing_left = sides.n_left >= sides.n_right
    sweep.at += sweep.stride
    sweep.cuts[at].bin = bin
    sweep.cuts[at].is_equality = is_equality
    sweep.cuts[at].missing_left = missing_left
    if sweep.floor > 0:
        if sweep.counts_points:
            points_left = sides.n_left
            points_right = sides.n_right
        else:
            if missing_left:
                points_left += sweep.n_missing
            points_right = sweep.n_estimation - points_left
        if points_left < sweep.floor or points_right < sweep.floor:
            sweep.scores[at] = NAN
            return
    sweep.scores[at] = split_score(table, sides)


cdef void sweep_numeric(
    const Table* table, const Feature* feature, Py_ssize_t n_values, Sides* sides, Sweep* sweep
) noexcept nogil:
    """Move bin after bin to the left; a candidate before each next one.

    n_values entries have a value; with sides as they are, missing ones are where they belong.
    """
    cdef const Entry* entries = feature.entries
    cdef Py_ssize_t i = 0, p = 0
    cdef int64_t points_left = 0
    cdef int32_t bin, cut
    while i < n_values:
        bin = entries[i].bin
        while i < n_values and entries[i].bin == bin:
            move_left(table, sides, entries[i].column, entries[i].count)
            i += 1
        if i == n_values:
            break
        cut = (bin + entries[i].bin - 1) // 2
        while p < feature.n_points and feature.points[p].bin <= cut:
            points_left += feature.points[p].count
            p += 1
        emit(table, sweep, sides, cut, False, points_left)


cdef void sweep_categorical(
    const Table* table, const Feature* feature, Py_ssize_t n_values, Sides* sides, Sweep* sweep,
    bint without_ends
) noexcept nogil:
    """Move a bin to the left, write its candidate, move it back.

    The first and the last bin have no candidate if this is `without_ends`.
    """
    cdef const Entry* entries = feature.entries
    cdef Py_ssize_t i = 0, first, p = 0
    cdef int64_t points_left
    cdef int32_t bin
    while i < n_values:
        bin = entries[i].bin
        if without_ends and (bin == entries[0].bin or bin == entries[n_values - 1].bin):
            i += 1
            continue
        first = i
        while i < n_values and entries[i].bin == bin:
            move_left(table, sides, entries[i].column, entries[i].count)
            i += 1
        points_left = 0
        while p < feature.n_points and feature.points[p].bin <= bin:
            if feature.points[p].bin == bin:
                points_left += feature.points[p].count
            p += 1
        emit(table, sweep, sides, bin, True, points_left)
        while first < i:
            move_left(table, sides, entries[first].column, -entries[first].count)
            first += 1


cdef Py_ssize_t keep_allowed(Py_ssize_t n, double* scores, Cut* cuts) noexcept nogil:
    """Close the gaps that refused candidates leave."""
    cdef Py_ssize_t i, kept = 0
    for i in range(n):
        if scores[i] == scores[i]:
            scores[kept] = scores[i]
            cuts[kept] = cuts[i]
            kept += 1
    return kept


cdef void all_values_right(
    const Table* table, const Feature* feature, Py_ssize_t n_values, const int64_t* totals,
    Sides* sides, bint missing_left
) noexcept nogil:
    """Begin a sweep: points that have a value are on the right."""
    cdef Py_ssize_t i
    all_right(table, totals, sides)
    if missing_left:
        for i in range(n_values, feature.n_entries):
            move_left(table, sides, feature.entries[i].column, feature.entries[i].count)


cdef Py_ssize_t score_cuts(
    const Table* table,
    const Feature* feature,        # IN
    const int64_t* totals,         # IN   columns of the node's structure points
    Sides* sides,                  # work
    double* scores,                # OUT  2 * n_entries + 1 at most; twice that with equality
    Cut* cuts,                     # OUT
) noexcept nogil:
    """Write the candidates of a feature in their order; return how many there are."""
    cdef const Entry* entries = feature.entries
    cdef Py_ssize_t n_values = feature.n_entries, n_bins = 0, i, p, n_gaps
    cdef int32_t missing = table.n_bins[feature.index]
    cdef bint categorical = table.is_categorical[feature.index]
    cdef bint offers_equality = (
        table.offers_equality is not NULL and table.offers_equality[feature.index])
    cdef int side
    cdef Sweep sweep

    while n_values > 0 and entries[n_values - 1].bin == missing:
        n_values -= 1
    for i in range(n_values):
        n_bins += i == 0 or entries[i].bin != entries[i - 1].bin
    sweep.missing_known = n_values < feature.n_entries
    n_gaps = (n_bins if categorical else n_bins - 1) if n_bins >= 2 else 0
    if offers_equality and n_bins > 2:
        n_gaps += n_bins - 2
    if n_gaps == 0 and not (sweep.missing_known and n_values > 0):
        return 0

    sweep.scores = scores
    sweep.cuts = cuts
    sweep.floor = feature.floor
    sweep.counts_points = feature.counts_points
    sweep.n_estimation = sweep.n_missing = 0
    for p in range(feature.n_points):
        sweep.n_estimation += feature.points[p].count
        if feature.points[p].bin == missing:
            sweep.n_missing += feature.points[p].count
    sweep.stride = 2 if sweep.missing_known else 1

    for side in range(sweep.stride):
        sweep.at = side
        sweep.missing_left = sweep.missing_known and side == 0
        all_values_right(table, feature, n_values, totals, sides, sweep.missing_left)
        if n_gaps > 0:
            if categorical:
                sweep_categorical(table, feature, n_values, sides, &sweep, False)
            else:
                sweep_numeric(table, feature, n_values, sides, &sweep)
        if n_gaps > 0 and offers_equality:
            all_values_right(table, feature, n_values, totals, sides, sweep.missing_left)
            sweep_categorical(table, feature, n_values, sides, &sweep, True)

    if sweep.missing_known and n_values > 0:
        # Every value left, missing right: "code <= the last bin".
        all_right(table, totals, sides)
        for i in range(n_values):
            move_left(table, sides, entries[i].column, entries[i].count)
        sweep.at = 2 * n_gaps
        sweep.missing_left = False
        emit(table, &sweep, sides, missing - 1, False, sweep.n_estimation - sweep.n_missing)
        n_gaps = 2 * n_gaps + 1
    return keep_allowed(n_gaps, scores, cuts) if feature.floor > 0 else n_gaps
