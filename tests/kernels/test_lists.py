# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of points in order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels import library
from tests.kernels.library import Struct
from tests.kernels.samples import (
    CLASSES,
    CODE_STYLES,
    LENGTHS,
    classes_of,
    codes_of,
    seeds,
    sizes,
)
from tests.naive import kernels as twin

# --- Sorting --------------------------------------------------------------------------


def check_sort(kernels, is_wide, n, stride, style, seed):
    rng = np.random.default_rng(seed)
    n_codes = rng.choice([2, 256, 65536] if is_wide else [2, 17, 256])
    codes = codes_of(rng, n, n_codes, style)
    points = rng.integers(2**16, size=n).astype(np.uint32)
    all_codes = rng.integers(256, size=(n - 1) * stride + 1)
    all_codes[::stride] = codes
    if stride == 1:  # so many may be read, though there are fewer
        all_codes = np.append(all_codes, rng.integers(256, size=max(0, 32 - n)))
    items = np.zeros(n, np.uint32)
    if is_wide:
        kernels.sort_shorts(all_codes.astype(np.uint16), stride, n, points, items)
    else:
        kernels.sort_bytes(all_codes.astype(np.uint8), stride, n, points, items)
    assert items.tolist() == twin.sort_codes(codes, points)


@pytest.mark.parametrize("is_wide", [False, True])
def test_codes_are_sorted_at_limits(kernels, is_wide):
    for n in LENGTHS:
        for i, style in enumerate(CODE_STYLES):
            for stride in (1, 2, 5):
                check_sort(kernels, is_wide, n, stride, style, i)


@given(
    st.booleans(),
    sizes(library.LIST),
    st.integers(1, 40),
    st.sampled_from(CODE_STYLES),
    seeds,
)
def test_codes_are_sorted(kernels, is_wide, n, stride, style, seed):
    check_sort(kernels, is_wide, n, stride, style, seed)


# --- Lists of a node ------------------------------------------------------------------


def lists_of_a_node(rng, n, n_classes, n_lists):
    """Return items, where each list begins, the items of each; the points' classes."""
    all_there = n >= n_classes and rng.random() < 0.5
    classes = classes_of(rng, n, n_classes, all_there)
    points = classes << 8 | rng.permutation(256)[:n]
    lists = []
    for _ in range(n_lists):
        n_codes = rng.choice([2, 3, 20, 256, 65536])
        codes = codes_of(rng, n, n_codes, rng.choice(CODE_STYLES))
        order = rng.permutation(n)
        lists.append(np.array(twin.sort_codes(codes[order], points[order]), np.uint32))
    place, items = place_lists(rng, lists, n)
    return items, place, lists, classes


def place_lists(rng, lists, n):
    """Lay lists in an array, not in order, with gaps; return their places and it."""
    place = np.zeros(len(lists), np.intp)
    end = 0
    for i in rng.permutation(len(lists)):
        place[i] = end + rng.integers(3)
        end = place[i] + n + rng.integers(3)
    # As much as may be read behind the last list, and not an item more
    end = place.max() + n + library.READ_AHEAD
    items = rng.integers(2**32, size=end, dtype=np.uint32)
    for i, some in enumerate(lists):
        items[place[i] : place[i] + n] = some
    return place, items


def gini_node(kernels, classes, n_classes):
    totals = np.bincount(classes, minlength=n_classes).astype(np.int32)
    present = np.flatnonzero(totals).astype(np.int32)
    node = Struct(
        "gini_node",
        n=len(classes),
        n_classes=n_classes,
        n_present=len(present),
        present=present,
        totals=totals,
    )
    kernels.enter_gini_node(node)
    assert (node.n, node.n_classes) == (len(classes), n_classes)
    assert node.present[: len(present)].tolist() == present.tolist()
    assert node.totals[:n_classes].tolist() == totals.tolist()
    weights, right_weights = twin.enter_gini_node(len(classes), len(present))
    assert node.weight[: len(weights)].tolist() == weights
    assert node.right_weight[: len(right_weights)].tolist() == right_weights
    return node


def entropy_node(kernels, classes, n_classes, f):
    totals = np.bincount(classes, minlength=n_classes).astype(np.int32)
    node = Struct("entropy_node")
    kernels.enter_entropy_node(len(classes), n_classes, totals, f, node)
    all_right, steps, of_sides = twin.enter_entropy_node(totals.tolist(), f)
    assert (node.n, node.n_classes) == (len(classes), n_classes)
    assert node.all_right == all_right
    for k in range(n_classes):
        found = node.step[node.begin[k] : node.begin[k] + totals[k]]
        assert found.tolist() == steps[k]
    assert node.of_sides[: len(of_sides)].tolist() == of_sides
    return node


def check_lists(kernels, criterion, n, n_classes, n_lists, seed):
    rng = np.random.default_rng(seed)
    items, place, lists, classes = lists_of_a_node(rng, n, n_classes, n_lists)
    if criterion == "gini" and len(set(classes.tolist())) < 2:
        return
    best = np.zeros(n_lists)
    cuts = cuts_with_room_for(n)
    f = None
    if criterion == "gini":
        node = gini_node(kernels, classes, n_classes)
        n_asked = n_lists if rng.random() < 0.5 else rng.integers(n_lists) + 1
        number = rng.permutation(n_lists).astype(np.int32)[:n_asked]
        best = np.zeros(n_asked)
        kernels.best_in_lists(items, place, number, len(number), node, best)
    else:
        f = twin.x_log_x(n)
        node = entropy_node(kernels, classes, n_classes, f)
        number = np.arange(n_lists)
        kernels.best_entropy_in_lists(items, place, n_lists, node, best)
    assert best.tolist() == [twin.best_in_list(lists[i], n_classes, f) for i in number]
    list_cuts = (
        kernels.cuts_in_list if criterion == "gini" else kernels.entropy_cuts_in_list
    )
    for i in range(n_lists):
        some = items[place[i] : place[i] + n + library.READ_AHEAD]
        n_cuts = list_cuts(some, node, cuts)
        assert_cuts(cuts, n_cuts, twin.cuts_in_list(lists[i], n_classes, f))


def cuts_with_room_for(n):
    """Return arrays of n cuts: one more than n points can have."""
    return Struct(
        "cuts",
        of_left=np.zeros(n),
        of_right=np.zeros(n),
        n_left=np.zeros(n, np.int32),
        bin=np.zeros(n, np.int32),
    )


def assert_cuts(cuts, n_cuts, expected):
    assert n_cuts == len(expected.scores)
    assert cuts.of_left[:n_cuts].tolist() == expected.scores
    assert cuts.n_left[:n_cuts].tolist() == expected.n_left
    assert cuts.bin[:n_cuts].tolist() == expected.bins


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_lists_of_any_length(kernels, criterion):
    for n in [n for n in LENGTHS if n > 1]:
        for n_classes in (2, 3):
            check_lists(kernels, criterion, n, n_classes, 5, n)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_lists_of_any_classes(kernels, criterion):
    for n_classes in CLASSES:
        for n in (40, 256):
            for seed in range(2):
                check_lists(kernels, criterion, n, n_classes, 9, seed)


@given(
    st.sampled_from(["gini", "entropy"]),
    sizes(library.LIST),
    sizes(256, CLASSES),
    st.integers(1, 9),
    seeds,
)
def test_lists(kernels, criterion, n, n_classes, n_lists, seed):
    check_lists(kernels, criterion, n, n_classes, n_lists, seed)


def near_ties(totals, n_most):
    """Yield classes and codes of lists that have two cuts of nearly the same score."""
    n, grid = totals.sum(), np.indices(totals + 1).reshape(len(totals), -1).T
    grid = grid[(grid.sum(axis=1) > 0) & (grid.sum(axis=1) < n)]
    left = grid.sum(axis=1)
    right_squares = ((totals - grid) ** 2).sum(axis=1)
    scores = (grid**2).sum(axis=1) / left + right_squares / (n - left)
    order = scores.argsort()
    apart = np.diff(scores[order])
    # Neighbours, one of which has all points that the other one has, and that differ
    nested = (np.diff(grid[order], axis=0) >= 0).all(axis=1)
    places = np.flatnonzero(nested & (apart > 0) & (apart < 2**-22 * scores[order[1:]]))
    classes = np.tile(np.arange(len(totals)), 3)
    for place in places[:: max(1, len(places) // n_most)]:
        first, second = grid[order[place]], grid[order[place + 1]]
        groups = np.array([first, second - first, totals - second])
        codes = np.repeat([0, 1, 2], groups.sum(axis=1))
        yield np.repeat(classes, groups.reshape(-1)), codes


@pytest.mark.parametrize(
    "totals",
    [(127, 128), (50, 206), (97, 154), (90, 80, 86), (70, 60, 53), (25, 23, 20, 17)],
)
def test_lists_with_near_ties(kernels, totals):
    n, n_classes = sum(totals), len(totals)
    lists = []
    for classes, codes in near_ties(np.array(totals), 150):
        items = twin.sort_codes(codes, classes << 8 | np.arange(n))
        lists.append(np.array(items, np.uint32))
    assert len(lists) > 20
    place, items = place_lists(np.random.default_rng(n), lists, n)
    node = gini_node(kernels, np.repeat(np.arange(n_classes), totals), n_classes)
    best = np.zeros(len(lists))
    number = np.arange(len(lists), dtype=np.int32)
    kernels.best_in_lists(items, place, number, len(lists), node, best)
    expected = [twin.best_in_list(some, n_classes) for some in lists]
    assert best.tolist() == expected
    for i in number:  # alone, they are looked at in another way
        kernels.best_in_lists(items, place, number[i:], 1, node, best[i:])
    assert best.tolist() == expected


@pytest.mark.parametrize("n_classes", [2, 3, 17])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_best_cut_may_be_anywhere(kernels, criterion, n_classes):
    f = twin.x_log_x(256)
    for n in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 18, 256):
        for left in {1, 2, n // 2, n - 2, n - 1}:
            if left < 1 or n - left < n_classes - 1:
                continue
            # The first class on one side, the others on the other one
            classes = 1 + np.arange(n) % (n_classes - 1)
            classes[:left] = 0
            lists = []
            for order in (np.arange(n), np.arange(n)[::-1]):
                items = twin.sort_codes(
                    np.arange(n), classes[order] << 8 | np.arange(n)
                )
                lists.append(np.array(items, np.uint32))
            lists = lists * 3
            place, items = place_lists(np.random.default_rng(n), lists, n)
            best = np.zeros(6)
            if criterion == "gini":
                node = gini_node(kernels, classes, n_classes)
                number = np.arange(6, dtype=np.int32)
                kernels.best_in_lists(items, place, number, 6, node, best)
                expected = [twin.best_in_list(some, n_classes) for some in lists]
            else:
                node = entropy_node(kernels, classes, n_classes, f[: n + 1])
                kernels.best_entropy_in_lists(items, place, 6, node, best)
                expected = [twin.best_in_list(some, n_classes, f) for some in lists]
            assert best.tolist() == expected


# --- Partition ------------------------------------------------------------------------


def check_part(kernels, n, n_lists, sides, share_left, seed):
    rng = np.random.default_rng(seed)
    lists = [rng.integers(2**32, size=n, dtype=np.uint32) for _ in range(n_lists)]
    place, items = place_lists(rng, lists, n)
    # A list in the midst of others: what lies behind it stays as it is.
    number = rng.permutation(n_lists).astype(np.int32)[: rng.integers(n_lists) + 1]
    is_left = (rng.random(256) < share_left).astype(np.uint8)
    before = items.copy()
    kernels.part_lists(items, place, number, len(number), n, is_left, sides)
    for i in number:
        left, right = twin.part_list(lists[i], is_left)
        parted = items[place[i] : place[i] + n].tolist()
        if sides & library.LEFT:
            assert parted[: len(left)] == left
        if sides & library.RIGHT:
            assert parted[len(left) :] == right
        items[place[i] : place[i] + n] = before[place[i] : place[i] + n]
    assert items.tolist() == before.tolist()


@pytest.mark.parametrize("sides", [1, 2, 3])
def test_lists_are_parted_at_limits(kernels, sides):
    for n in LENGTHS:
        for share_left in (0, 0.1, 0.5, 1):
            check_part(kernels, n, 3, sides, share_left, n)


@given(
    sizes(library.LIST),
    st.integers(1, 9),
    st.sampled_from([1, 2, 3]),
    st.floats(0, 1),
    seeds,
)
def test_lists_are_parted(kernels, n, n_lists, sides, share_left, seed):
    check_part(kernels, n, n_lists, sides, share_left, seed)
