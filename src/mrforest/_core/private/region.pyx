# SPDX-License-Identifier: BSD-3-Clause
"""The bins that the points of a region occupy, and the ways to part them."""

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memmove, memset

from mrforest._core.types cimport OUT_OF_MEMORY


cdef struct Source:
    # The table or region that points are taken from: its features, their bins, its classes.
    Py_ssize_t n_features
    const int32_t* feature      # NULL: their numbers
    const int32_t* slot
    const double* measure
    Py_ssize_t n_classes
    const int32_t* value        # NULL: their numbers


cdef struct Cells:
    # While a region is made: what of the source is there.
    int32_t* count              # classes x bins of the source
    int32_t* number             # of a bin of the source among the occupied ones of its feature
    int32_t* kept               # number of each feature in the source


cdef void free_region(Region* r) noexcept nogil:
    free(r.codes)
    free(r.y)
    free(r.value)
    free(r.whole)
    free(r.feature)
    free(r.slot)
    free(r.bin)
    free(r.points)
    free(r.measure)
    free(r.way_slot)
    free(r.way_measure)
    free(r.sides)
    memset(r, 0, sizeof(Region))


cdef void free_cells(Cells* cells) noexcept nogil:
    free(cells.count)
    free(cells.number)
    free(cells.kept)


cdef int make_region(
    const Problem* p, const uint8_t* codes, const int32_t* y, const int32_t* rows, Py_ssize_t n,
    bint with_codes, Region* r
) noexcept nogil:
    """Points `rows` of a table of codes, points x features. A region has codes if wanted."""
    cdef Py_ssize_t F = p.n_features, f, i, n_bins = p.slot[F]
    cdef const uint8_t* row
    cdef int32_t* of_class
    cdef Cells cells
    cdef Source source
    cdef int error
    source.n_features, source.feature, source.slot = F, NULL, p.slot
    source.measure, source.n_classes, source.value = p.measure, p.n_classes, NULL
    error = find_classes(&source, y, rows, n, r, &cells)
    if error == 0:
        for i in range(n):
            row = codes + rows[i] * F
            of_class = cells.count + r.y[i] * n_bins
            for f in range(F):
                of_class[p.slot[f] + row[f]] += 1
        error = find_bins(p, &source, with_codes, r, &cells)
    if error == 0 and with_codes:
        for i in range(n):
            row = codes + rows[i] * F
            for f in range(r.n_features):
                r.codes[f * n + i] = <uint8_t> cells.number[
                    p.slot[cells.kept[f]] + row[cells.kept[f]]]
    free_cells(&cells)
    return error


cdef int make_part(
    const Problem* p, const Region* whole, const int32_t* rows, Py_ssize_t n, bint with_codes,
    Region* r
) noexcept nogil:
    """Points `rows` of a region."""
    cdef Py_ssize_t f, i, n_bins = whole.slot[whole.n_features]
    cdef const uint8_t* column
    cdef const int32_t* number
    cdef int32_t* count
    cdef Cells cells
    cdef Source source
    cdef int error
    source.n_features, source.feature, source.slot = whole.n_features, whole.feature, whole.slot
    source.measure, source.n_classes, source.value = whole.measure, whole.n_classes, whole.value
    error = find_classes(&source, whole.y, rows, n, r, &cells)
    if error == 0:
        for f in range(whole.n_features):
            column = whole.codes + f * whole.n
            count = cells.count + whole.slot[f]
            for i in range(n):
                count[r.y[i] * n_bins + column[rows[i]]] += 1
        r.nothing = whole.nothing
        error = find_bins(p, &source, with_codes, r, &cells)
    if error == 0 and with_codes:
        for f in range(r.n_features):
            column = whole.codes + cells.kept[f] * whole.n
            number = cells.number + whole.slot[cells.kept[f]]
            for i in range(n):
                r.codes[f * n + i] = <uint8_t> number[column[rows[i]]]
    free_cells(&cells)
    return error


cdef int make_counted(
    const Problem* p, const int32_t* counts, const int32_t* pairs, Region* r
) noexcept nogil:
    """Points of which only counts are known, classes x bins, or pairs of bins.

    See `pairs_before`. The region has no codes and no classes of single points.
    """
    cdef Py_ssize_t F = p.n_features, n_bins = p.slot[F], b, f, k, m = 0, width
    cdef const int32_t* own
    cdef int32_t* whole
    cdef Cells cells
    cdef Source source
    cdef int error
    source.n_features, source.feature, source.slot = F, NULL, p.slot
    source.measure, source.n_classes, source.value = p.measure, p.n_classes, NULL
    error = make_places(&source, 0, r, &cells)
    if error != 0:
        free_cells(&cells)
        return error
    whole = <int32_t*> calloc(p.n_classes * n_bins + 1, sizeof(int32_t))
    cells.count = whole
    if whole is NULL:
        free_cells(&cells)
        return OUT_OF_MEMORY
    if pairs is NULL:
        memcpy(whole, counts, p.n_classes * n_bins * sizeof(int32_t))
    else:
        for f in range(F):
            own = pairs + pairs_before(p, f)
            width = n_bins - p.slot[f]
            for b in range(p.slot[f + 1] - p.slot[f]):
                for k in range(p.n_classes):
                    # Every point is in one bin of a feature: the pair of it and itself.
                    whole[k * n_bins + p.slot[f] + b] = own[(b * p.n_classes + k) * width + b]
    for k in range(p.n_classes):
        r.whole[m] = 0
        for b in range(p.slot[1]):
            r.whole[m] += whole[k * n_bins + b]
        if r.whole[m] > 0:
            r.value[m] = <int32_t> k
            r.n += r.whole[m]
            memmove(whole + m * n_bins, whole + k * n_bins, n_bins * sizeof(int32_t))
            m += 1
    r.n_classes = m
    error = find_bins(p, &source, False, r, &cells)
    free_cells(&cells)
    return error


cdef int make_places(const Source* source, Py_ssize_t n, Region* r, Cells* cells) noexcept nogil:
    """Room for n points, and for what does not depend on them."""
    cdef Py_ssize_t K = source.n_classes, F = source.n_features, n_bins = source.slot[F]
    memset(r, 0, sizeof(Region))
    memset(cells, 0, sizeof(Cells))
    r.n = n
    r.y = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    r.value = <int32_t*> malloc((K + 1) * sizeof(int32_t))
    r.whole = <int32_t*> malloc((K + 1) * sizeof(int32_t))
    cells.number = <int32_t*> malloc((n_bins + 1) * sizeof(int32_t))
    cells.kept = <int32_t*> malloc((F + 1) * sizeof(int32_t))
    if (r.y is NULL or r.value is NULL or r.whole is NULL or cells.number is NULL
            or cells.kept is NULL):
        return OUT_OF_MEMORY
    return 0


cdef int find_classes(
    const Source* source, const int32_t* y, const int32_t* rows, Py_ssize_t n, Region* r,
    Cells* cells
) noexcept nogil:
    """Number the classes that are there, in their order, and make cells for them."""
    cdef Py_ssize_t K = source.n_classes, n_bins = source.slot[source.n_features]
    cdef Py_ssize_t i, k, m = 0
    cdef int error = make_places(source, n, r, cells)
    cdef int32_t* number = <int32_t*> calloc(K + 1, sizeof(int32_t))
    if error != 0 or number is NULL:
        free(number)
        return OUT_OF_MEMORY
    for i in range(n):
        number[y[rows[i]]] += 1
    for k in range(K):
        if number[k] > 0:
            r.whole[m] = number[k]
            r.value[m] = <int32_t> k if source.value is NULL else source.value[k]
            number[k] = <int32_t> m
            m += 1
    r.n_classes = m
    for i in range(n):
        r.y[i] = number[y[rows[i]]]
    free(number)
    cells.count = <int32_t*> calloc(m * n_bins + 1, sizeof(int32_t))
    return 0 if cells.count is not NULL else OUT_OF_MEMORY


cdef int find_bins(
    const Problem* p, const Source* source, bint with_codes, Region* r, Cells* cells
) noexcept nogil:
    """Keep the occupied bins of features that have two or more, and the ways to part them."""
    cdef Py_ssize_t F = source.n_features, f, b, k, m = 0, first, n_bins = source.slot[F]
    cdef int32_t points
    cdef double nothing
    cdef bint is_categorical
    r.feature = <int32_t*> malloc((F + 1) * sizeof(int32_t))
    r.slot = <int32_t*> malloc((F + 1) * sizeof(int32_t))
    r.bin = <int32_t*> malloc((n_bins + 1) * sizeof(int32_t))
    r.points = <int32_t*> malloc((n_bins + 1) * sizeof(int32_t))
    r.measure = <double*> malloc((n_bins + 1) * sizeof(double))
    if (r.feature is NULL or r.slot is NULL or r.bin is NULL or r.points is NULL
            or r.measure is NULL):
        return OUT_OF_MEMORY
    r.slot[0] = 0
    for f in range(F):
        first = m
        nothing = 0
        r.feature[r.n_features] = <int32_t> f if source.feature is NULL else source.feature[f]
        is_categorical = p.is_categorical[r.feature[r.n_features]]
        for b in range(source.slot[f], source.slot[f + 1]):
            points = 0
            for k in range(r.n_classes):
                points += cells.count[k * n_bins + b]
            if points > 0:
                if m > first and r.measure[m - 1] == 0 and not is_categorical:
                    # No cut lies between: this bin and the one before are one.
                    m -= 1
                    points += r.points[m]
                    for k in range(r.n_classes):
                        cells.count[k * n_bins + b] += (
                            cells.count[k * n_bins + source.slot[f] + r.bin[m]])
                r.bin[m] = <int32_t> (b - source.slot[f])
                r.points[m] = points
                r.measure[m] = 0
                cells.number[b] = <int32_t> (m - first)
                m += 1
            # An empty bin makes no difference to a cut; no point has an empty category.
            if m > first and (points > 0 or not is_categorical):
                r.measure[m - 1] += source.measure[b]
            else:
                nothing += source.measure[b]
        # A cut after the last occupied bin, or the only category, leaves a side empty.
        if m > first and (not is_categorical or m == first + 1):
            nothing += r.measure[m - 1]
            r.measure[m - 1] = 0
        r.nothing += nothing
        if m < first + 2:
            m = first
            continue
        cells.kept[r.n_features] = <int32_t> f
        r.n_features += 1
        r.slot[r.n_features] = <int32_t> m
    if with_codes:
        r.codes = <uint8_t*> malloc(r.n * r.n_features + 1)
        if r.codes is NULL:
            return OUT_OF_MEMORY
    return find_ways(p, source, r, cells)


cdef int find_ways(
    const Problem* p, const Source* source, Region* r, const Cells* cells
) noexcept nogil:
    """Measures of the ways, and the points on their first sides."""
    cdef Py_ssize_t F = r.n_features, f, j, k, m, W = 0
    cdef const int32_t* count
    cdef int32_t* side
    cdef int32_t total
    cdef bint adds
    r.way_slot = <int32_t*> malloc((F + 1) * sizeof(int32_t))
    r.way_measure = <double*> malloc((r.slot[F] + 1) * sizeof(double))
    if r.way_slot is NULL or r.way_measure is NULL:
        return OUT_OF_MEMORY
    for f in range(F):
        r.way_slot[f] = <int32_t> W
        m = r.slot[f + 1] - r.slot[f]
        memcpy(r.way_measure + W, r.measure + r.slot[f], m * sizeof(double))
        if p.is_categorical[r.feature[f]] and m == 2:
            # Whichever of two categories is asked for.
            r.way_measure[W] += r.measure[r.slot[f] + 1]
        W += m - 1 if adds_up(p, r, f) else m
    r.way_slot[F] = <int32_t> W
    r.sides = <int32_t*> malloc((r.n_classes * W + 1) * sizeof(int32_t))
    if r.sides is NULL:
        return OUT_OF_MEMORY
    for k in range(r.n_classes):
        for f in range(F):
            count = (cells.count + k * source.slot[source.n_features]
                     + source.slot[cells.kept[f]])
            side = r.sides + k * W + r.way_slot[f]
            adds = adds_up(p, r, f)
            total = 0
            for j in range(r.way_slot[f + 1] - r.way_slot[f]):
                total = count[r.bin[r.slot[f] + j]] + (total if adds else 0)
                side[j] = total
    return 0
