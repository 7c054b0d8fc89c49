# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of kernels.h, which says what each does, for this machine."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from mrforest._core.types cimport Node

cdef extern from "kernels/kernels.h" nogil:
    enum:
        LIST_POINTS "MRFOREST_LIST"
        READ_AHEAD "MRFOREST_READ_AHEAD"
        LEFT "MRFOREST_LEFT"
        RIGHT "MRFOREST_RIGHT"
        MOST_CODES "MRFOREST_MOST_CODES"
        MOST_CODES_AT_ONCE "MRFOREST_HISTOGRAMS_MOST_CODES"
        MOST_CLASSES_AT_ONCE "MRFOREST_HISTOGRAMS_MOST_CLASSES"
        MOST_POINTS_AT_ONCE "MRFOREST_HISTOGRAMS_MOST_POINTS"
        LEAST_FEATURES_AT_ONCE "MRFOREST_HISTOGRAMS_LEAST_FEATURES"
        MOST_LEAVES "MRFOREST_LEAVES"
        BLOCK_ROWS "MRFOREST_BLOCK_ROWS"
        N_POWERS "MRFOREST_N_POWERS"
        SET_ROWS "MRFOREST_SET_ROWS"
        FEW_TREES "MRFOREST_FEW_TREES"
        MOST_COUNTED "MRFOREST_MOST_COUNTED"
        DROP "MRFOREST_DROP"
        JOIN "MRFOREST_JOIN"
        KEEP "MRFOREST_KEEP"
        N_ENDS "MRFOREST_N_ENDS"

    ctypedef enum CutKind "mrforest_kind":
        ORDER "MRFOREST_ORDER_CUTS"
        ORDER_AND_EQUALITY "MRFOREST_ORDER_AND_EQUAL_CUTS"
        EQUALITY "MRFOREST_EQUAL_CUTS"

    ctypedef enum Distance "mrforest_distance":
        NUMBERS "MRFOREST_NUMBERS"
        CATEGORIES "MRFOREST_CATEGORIES"
        GAPS "MRFOREST_GAPS"

    ctypedef struct GiniNode "mrforest_gini_node":
        Py_ssize_t n
        Py_ssize_t n_classes
        Py_ssize_t n_present
        int32_t* present
        int32_t* totals

    ctypedef struct EntropyNode "mrforest_entropy_node":
        pass

    ctypedef struct PlainCuts "mrforest_cuts":
        double* of_left
        double* of_right
        int32_t* n_left
        int32_t* bin

    ctypedef struct CountedRows "mrforest_counted":
        const uint8_t* codes
        Py_ssize_t n_features
        Py_ssize_t n_rows
        const int32_t* y
        const int32_t* copies
        const int32_t* rows
        Py_ssize_t n

    ctypedef struct CountedPoints "mrforest_points":
        Py_ssize_t n
        const uint8_t* classes
        Py_ssize_t n_classes
        const int32_t* totals
        const int64_t* xlogx

    ctypedef struct ClassHistogram "mrforest_histogram":
        int32_t* counts
        int32_t* left

    ctypedef struct ClassHistograms "mrforest_histograms":
        uint16_t* counts
        uint8_t* differ
        int32_t n_codes
        Py_ssize_t n_features

    ctypedef struct CountedCut "mrforest_cut":
        double score
        int32_t bin
        int32_t is_equality
        int32_t n_left

    ctypedef struct LeftCodes "mrforest_left_codes":
        int32_t bin
        int32_t is_equality
        int32_t missing
        int32_t missing_left

    ctypedef struct Packing "mrforest_packing":
        Py_ssize_t n_plain
        Py_ssize_t n_words
        Py_ssize_t n_bits

    ctypedef struct PowerSums "mrforest_power_sums":
        double total[N_POWERS][BLOCK_ROWS]
        double squares[N_POWERS][BLOCK_ROWS]
        double own[N_POWERS][BLOCK_ROWS]

    ctypedef struct CodeColumn "mrforest_column":
        const double* values
        int32_t n_values
        int32_t feature
        int32_t is_equality

    ctypedef struct CodedNode "mrforest_coded_node":
        int32_t child
        uint16_t column
        uint16_t high

    ctypedef struct RowSet "mrforest_row_set":
        pass

    ctypedef struct SetSplit "mrforest_set_split":
        int32_t cut
        uint16_t origin "from"
        uint16_t left
        uint16_t right

    ctypedef struct SplitRun "mrforest_split_run":
        int32_t n_splits
        int32_t ends

    ctypedef struct VoteCount "mrforest_vote_count":
        pass

    ctypedef struct Kernels "mrforest_kernels":
        const char* name
        void (*sort_bytes)(
            const uint8_t* codes, Py_ssize_t stride, Py_ssize_t n, const uint32_t* points,
            uint32_t* items) noexcept nogil
        void (*sort_shorts)(
            const uint16_t* codes, Py_ssize_t stride, Py_ssize_t n, const uint32_t* points,
            uint32_t* items) noexcept nogil
        void (*enter_gini_node)(GiniNode* node) noexcept nogil
        void (*best_in_lists)(
            const uint32_t* items, const Py_ssize_t* place, const int32_t* number,
            Py_ssize_t n_lists, const GiniNode* node, double* best) noexcept nogil
        Py_ssize_t (*cuts_in_list)(
            const uint32_t* list, const GiniNode* node, PlainCuts cuts) noexcept nogil
        void (*enter_entropy_node)(
            Py_ssize_t n, Py_ssize_t n_classes, const int32_t* totals, const int64_t* f,
            EntropyNode* node) noexcept nogil
        void (*best_entropy_in_lists)(
            const uint32_t* items, const Py_ssize_t* place, Py_ssize_t n_lists,
            const EntropyNode* node, double* best) noexcept nogil
        Py_ssize_t (*entropy_cuts_in_list)(
            const uint32_t* list, const EntropyNode* node, PlainCuts cuts) noexcept nogil
        void (*part_lists)(
            uint32_t* items, const Py_ssize_t* place, const int32_t* number, Py_ssize_t n_lists,
            Py_ssize_t n, const uint8_t* is_left, int sides) noexcept nogil
        void (*best_in_bins)(
            const int32_t** counts, Py_ssize_t n_features, Py_ssize_t n_bins, Py_ssize_t stride,
            Py_ssize_t n_classes, const int64_t* totals, int64_t* work,
            double* best) noexcept nogil
        Py_ssize_t (*cuts_in_bins)(
            const int32_t* counts, Py_ssize_t n_bins, Py_ssize_t stride, Py_ssize_t n_classes,
            const int64_t* totals, int64_t* work, PlainCuts cuts) noexcept nogil
        void (*count_rows)(
            const CountedRows* node, const int32_t* start, Py_ssize_t size,
            int32_t* counts) noexcept nogil
        void (*sum_totals)(CountedPoints* points) noexcept nogil
        void (*fill_histogram)(
            const CountedPoints* points, const uint8_t* codes, int32_t n_codes,
            ClassHistogram* histogram) noexcept nogil
        void (*fill_histograms)(
            const CountedPoints* points, const uint8_t* codes, const int32_t* rows,
            ClassHistograms* histograms) noexcept nogil
        bint (*read_histogram)(
            const CountedPoints* points, const ClassHistograms* histograms, Py_ssize_t feature,
            int32_t n_codes, ClassHistogram* histogram) noexcept nogil
        double (*best_counted_cut)(
            const CountedPoints* points, const ClassHistogram* histogram, int32_t n_codes,
            CutKind kind) noexcept nogil
        Py_ssize_t (*all_counted_cuts)(
            const CountedPoints* points, const ClassHistogram* histogram, int32_t n_codes,
            CutKind kind, CountedCut* cuts) noexcept nogil
        void (*copy_rows)(
            const void* codes, Py_ssize_t n_bytes, Py_ssize_t n_rows, const int32_t* rows,
            Py_ssize_t n, void* copy, uint8_t* differ) noexcept nogil
        Py_ssize_t (*part_rows_of_bytes)(
            const uint8_t* codes, Py_ssize_t stride, Py_ssize_t n_rows, int32_t* rows,
            Py_ssize_t n, LeftCodes left, int32_t* scratch) noexcept nogil
        Py_ssize_t (*part_rows_of_shorts)(
            const uint16_t* codes, Py_ssize_t stride, Py_ssize_t n_rows, int32_t* rows,
            Py_ssize_t n, LeftCodes left, int32_t* scratch) noexcept nogil
        void (*count_left)(
            const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, const uint64_t* masks,
            Py_ssize_t n_masks, Py_ssize_t n_words, Py_ssize_t capacity,
            int32_t* counts) noexcept nogil
        void (*count_left_of_some)(
            const uint64_t* words, Py_ssize_t stride, const int32_t* columns, Py_ssize_t n,
            const uint64_t* masks, Py_ssize_t n_masks, Py_ssize_t n_words, Py_ssize_t capacity,
            int32_t* counts) noexcept nogil
        void (*score_columns)(
            const int32_t* counts, Py_ssize_t capacity, Py_ssize_t n, const double* totals,
            Py_ssize_t n_classes, double n_points, int32_t* n_left, double* scores) noexcept nogil
        void (*score_some)(
            const uint64_t* words, Py_ssize_t stride, const int32_t* columns, Py_ssize_t n,
            const uint64_t* masks, Py_ssize_t n_words, const double* totals, Py_ssize_t n_classes,
            double n_points, int32_t* n_left, double* scores) noexcept nogil
        void (*find_sides)(
            const uint64_t* words, Py_ssize_t n_columns, const uint64_t* mask, Py_ssize_t n_words,
            uint64_t* left, uint64_t* right) noexcept nogil
        void (*squeeze)(
            const uint64_t* words, Py_ssize_t n_columns, const int32_t* kept, Py_ssize_t n_kept,
            const uint64_t* mask, Py_ssize_t n_words, Py_ssize_t first,
            uint64_t* out) noexcept nogil
        void (*gather_points)(
            const uint64_t* words, Py_ssize_t n_columns, const int32_t* points, Py_ssize_t first,
            Py_ssize_t n, uint64_t* out) noexcept nogil
        Py_ssize_t (*count_bits)(const uint64_t* mask, Py_ssize_t n_words) noexcept nogil
        Py_ssize_t (*part_by_class)(
            const uint64_t* classes, Py_ssize_t n_classes, const uint64_t* mask,
            Py_ssize_t n_words, int64_t* totals, double* present_totals,
            uint64_t* present) noexcept nogil
        Py_ssize_t (*rows_of_mask)(
            const int32_t* rows, const uint64_t* mask, Py_ssize_t n_words,
            int32_t* out) noexcept nogil
        Py_ssize_t (*draw_softmax)(
            const double* scores, Py_ssize_t n, double highest, double span, double steep,
            double u, double* work) noexcept nogil
        void (*norms)(
            double norm, int scale_bits, Py_ssize_t n_classes, const int32_t* counts,
            Py_ssize_t stride, Py_ssize_t n, int is_large, int64_t* out) noexcept nogil
        void (*norms_of_pairs)(
            double norm, int scale_bits, Py_ssize_t n_classes, const int32_t* near,
            const int32_t* sides, Py_ssize_t stride, const int32_t* side, const int32_t* whole,
            Py_ssize_t n, int64_t* nn, int64_t* nf, int64_t* fn, int64_t* ff) noexcept nogil
        void (*compare)(
            const double* X, const int32_t* rows, Py_ssize_t n_rows, const double* p,
            const double* q, Py_ssize_t n, const uint8_t* is_categorical, Distance kind,
            uint8_t* left) noexcept nogil
        void (*compare_packed)(
            const double* X, const int32_t* rows, Py_ssize_t n_rows, Py_ssize_t p, Py_ssize_t q,
            Py_ssize_t n, const uint8_t* is_categorical, Distance kind, const uint64_t* words,
            Packing packing, uint8_t* left) noexcept nogil
        bint (*is_nearer)(
            const double* x, const double* p, const double* q, Py_ssize_t n,
            const uint8_t* is_categorical, Distance kind) noexcept nogil
        bint (*is_nearer_packed)(
            const double* x, const double* p, const double* q, const uint8_t* is_categorical,
            Distance kind, const uint64_t* x_words, const uint64_t* p_words,
            const uint64_t* q_words, Packing packing) noexcept nogil
        const double* powers
        void (*sum_powers)(
            const double* shares, Py_ssize_t n_classes, const int32_t* classes,
            PowerSums* out) noexcept nogil
        bint (*has_missing)(const double* X, Py_ssize_t n) noexcept nogil
        void (*count_below)(
            const double* values, int32_t n_values, const double* x, Py_ssize_t stride, int n,
            int32_t* below) noexcept nogil
        void (*code_bytes)(
            const CodeColumn* columns, Py_ssize_t n_columns, const double* X,
            Py_ssize_t n_features, Py_ssize_t n_rows, uint8_t* codes,
            Py_ssize_t stride) noexcept nogil
        void (*code_shorts)(
            const CodeColumn* columns, Py_ssize_t n_columns, const double* X,
            Py_ssize_t n_features, Py_ssize_t n_rows, uint16_t* codes,
            Py_ssize_t stride) noexcept nogil
        void (*walk_any)(
            const Node* nodes, const double* X, Py_ssize_t n_features, Py_ssize_t n_rows,
            int32_t* where) noexcept nogil
        void (*walk_plain)(
            const Node* nodes, const double* X, Py_ssize_t n_features, Py_ssize_t n_rows,
            int32_t* where) noexcept nogil
        void (*walk_slim)(
            const uint32_t* nodes, Py_ssize_t n_nodes, const uint8_t* codes, Py_ssize_t stride,
            Py_ssize_t n_rows, int32_t* where, int32_t* waiting) noexcept nogil
        void (*walk_bytes)(
            const CodedNode* nodes, Py_ssize_t n_nodes, const uint8_t* codes, Py_ssize_t stride,
            Py_ssize_t n_rows, int32_t* where, int32_t* waiting) noexcept nogil
        void (*walk_shorts)(
            const CodedNode* nodes, Py_ssize_t n_nodes, const uint16_t* codes, Py_ssize_t stride,
            Py_ssize_t n_rows, int32_t* where, int32_t* waiting) noexcept nogil
        int (*cut_rows)(
            const CodeColumn* columns, Py_ssize_t n_columns, const uint8_t* is_single,
            const double* single_thresholds, const double* X, Py_ssize_t n_features,
            Py_ssize_t n_rows, uint64_t* above, uint16_t* codes, RowSet* cuts) noexcept nogil
        void (*split_sets)(
            const SplitRun* runs, Py_ssize_t n_runs, const SetSplit* splits, const RowSet* cuts,
            Py_ssize_t n_cuts, RowSet* sets, Py_ssize_t n_sets) noexcept nogil
        void (*count_votes)(const RowSet* sets, int n_sets, VoteCount* count) noexcept nogil
        void (*carry_votes)(VoteCount* count) noexcept nogil
        void (*read_votes)(
            VoteCount* count, Py_ssize_t n_rows, int32_t* votes, Py_ssize_t stride) noexcept nogil


cdef const Kernels* kernels         # the widest that this machine has
cdef uint8_t* is_off                # for each way of plan.pxd, whether it is switched off
