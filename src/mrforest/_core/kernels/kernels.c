/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All kernels, compiled for the registers of one width: MRFOREST_TABLE is what their table is called, MRFOREST_NAME
 * the name that it has in it. */
#include "kernels.h"

#include "class_histogram.c"
#include "code_rows.c"
#include "count_norms.c"
#include "count_rows.c"
#include "counted_cuts.c"
#include "entropy_lists.c"
#include "gini_bins.c"
#include "gini_lists.c"
#include "partition.c"
#include "pivot_distance.c"
#include "powers.c"
#include "softmax_draw.c"
#include "sort_codes.c"
#include "walk.c"
/* These use what is above. */
#include "bit_columns.c"
#include "bit_votes.c"
#include "walk_codes.c"

extern const mrforest_kernels MRFOREST_TABLE;

const mrforest_kernels MRFOREST_TABLE = {
    .name = MRFOREST_NAME,
    .sort_bytes = sort_bytes,
    .sort_shorts = sort_shorts,
    .enter_gini_node = enter_gini_node,
    .best_in_lists = best_in_lists,
    .cuts_in_list = cuts_in_list,
    .enter_entropy_node = enter_entropy_node,
    .best_entropy_in_lists = best_entropy_in_lists,
    .entropy_cuts_in_list = entropy_cuts_in_list,
    .part_lists = part_lists,
    .best_in_bins = best_in_bins,
    .cuts_in_bins = cuts_in_bins,
    .count_rows = count_rows,
    .sum_totals = sum_totals,
    .fill_histogram = fill_histogram,
    .fill_histograms = fill_histograms,
    .read_histogram = read_histogram,
    .best_counted_cut = best_counted_cut,
    .all_counted_cuts = all_counted_cuts,
    .copy_rows = copy_rows,
    .part_rows_of_bytes = part_rows_of_bytes,
    .part_rows_of_shorts = part_rows_of_shorts,
    .count_left = count_left,
    .count_left_of_some = count_left_of_some,
    .score_columns = score_columns,
    .score_some = score_some,
    .find_sides = find_sides,
    .squeeze = squeeze,
    .gather_points = gather_points,
    .count_bits = count_bits,
    .part_by_class = part_by_class,
    .rows_of_mask = rows_of_mask,
    .draw_softmax = draw_softmax,
    .norms = norms,
    .norms_of_pairs = norms_of_pairs,
    .compare = compare,
    .compare_packed = compare_packed,
    .is_nearer = is_nearer,
    .is_nearer_packed = is_nearer_packed,
    .powers = powers,
    .sum_powers = sum_powers,
    .has_missing = has_missing,
    .count_below = count_below,
    .code_bytes = code_bytes,
    .code_shorts = code_shorts,
    .walk_any = walk_any,
    .walk_plain = walk_plain,
    .walk_slim = walk_slim,
    .walk_bytes = walk_bytes,
    .walk_shorts = walk_shorts,
    .cut_rows = cut_rows,
    .split_sets = split_sets,
    .count_votes = count_votes,
    .carry_votes = carry_votes,
    .read_votes = read_votes,
};
