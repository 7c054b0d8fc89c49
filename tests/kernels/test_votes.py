# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of votes of sets of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels import library
from tests.kernels.samples import AROUND_LANES, random_words, seeds, sizes
from tests.kernels.test_walks import as_structs, columns_of, rows_around
from tests.naive import kernels as twin

N_WORDS, N_ROWS = library.SET_WORDS, library.SET_ROWS
ROWS = (*AROUND_LANES, 255, 256, 257, 1000, 1023, 1024)
ENDS = {"drop": library.DROP, "join": library.JOIN, "keep": library.KEEP}


def set_array(words: np.ndarray) -> np.ndarray:
    """Return sets of rows as they lie in memory, from words."""
    sets = np.zeros(len(words), library.header().dtype("mrforest_row_set"))
    sets["words"] = words
    return sets


def bits_of_sets(sets: np.ndarray) -> np.ndarray:
    """Return sets x rows."""
    return twin.bits_of(sets["words"].T).T


# --- Cuts -----------------------------------------------------------------------------


def check_cut_rows(kernels, n_columns, n_rows, n_features, with_single, seed):
    rng = np.random.default_rng(seed)
    columns = columns_of(rng, n_columns, n_features, 40)
    X = rows_around(rng, columns, n_rows, n_features)
    n_cuts = sum(len(values) for values, _, _ in columns)
    is_single, single_thresholds = np.zeros(n_columns, np.uint8), None
    if with_single:
        single_thresholds = np.full(n_features, np.nan)
        for j, (values, feature, is_equality) in enumerate(columns):
            is_free = np.isnan(single_thresholds[feature])
            if len(values) == 1 and not is_equality and is_free:
                is_single[j] = 1
                single_thresholds[feature] = values[0]
    cuts = set_array(random_words(rng, (n_cuts, N_WORDS)))
    has_missing = kernels.cut_rows(
        as_structs(columns),
        n_columns,
        is_single,
        single_thresholds,
        X,
        n_features,
        n_rows,
        rng.integers(2**63, size=n_features).astype(np.uint64),
        rng.integers(2**16, size=n_columns * N_ROWS).astype(np.uint16),
        cuts,
    )
    assert not has_missing
    found = bits_of_sets(cuts)[:, :n_rows]
    assert found.tolist() == twin.cut_rows(columns, X).tolist()


@pytest.mark.parametrize("with_single", [False, True])
def test_any_number_of_rows_is_cut(kernels, with_single):
    for n_rows in ROWS:
        check_cut_rows(kernels, 8, n_rows, 3, with_single, n_rows)


@given(
    st.integers(1, 30),
    sizes(N_ROWS, ROWS),
    sizes(40, AROUND_LANES),
    st.booleans(),
    seeds,
)
def test_rows_are_cut(kernels, n_columns, n_rows, n_features, with_single, seed):
    check_cut_rows(kernels, n_columns, n_rows, n_features, with_single, seed)


@pytest.mark.parametrize("with_single", [False, True])
@pytest.mark.parametrize("n_features", [1, 2, 7, 8, 9, 33])
def test_missing_values_are_seen(kernels, n_features, with_single):
    rng = np.random.default_rng(n_features)
    columns = [(np.array([0.0]), feature, False) for feature in range(n_features)]
    for n_rows in (1, 2, 63, 64, 65, 200):
        X = rng.normal(size=(n_rows, n_features))
        X[rng.integers(n_rows), rng.integers(n_features)] = np.nan
        assert kernels.cut_rows(
            as_structs(columns),
            n_features,
            np.full(n_features, with_single, np.uint8),
            np.zeros(n_features) if with_single else None,
            X,
            n_features,
            n_rows,
            np.zeros(n_features, np.uint64),
            np.zeros(n_features * N_ROWS, np.uint16),
            set_array(np.zeros((n_features, N_WORDS), np.uint64)),
        )


# --- Splits ---------------------------------------------------------------------------


def check_split(kernels, n_runs, most_splits, n_sets, seed):
    rng = np.random.default_rng(seed)
    n_cuts = int(rng.integers(1, 9))
    cuts = set_array(random_words(rng, (n_cuts, N_WORDS)))
    sets = set_array(random_words(rng, (n_sets, N_WORDS), 0.3))
    header = library.header()
    runs = np.zeros(n_runs, header.dtype("mrforest_split_run"))
    runs["n_splits"] = rng.integers(1, most_splits + 1, size=n_runs)
    ends = rng.choice(list(ENDS), (n_runs, 2))
    runs["ends"] = [
        ENDS[left] + library.N_ENDS * ENDS[right] for left, right in ends.tolist()
    ]
    n_splits = int(runs["n_splits"].sum())
    splits = np.zeros(n_splits, header.dtype("mrforest_set_split"))
    splits["cut"] = rng.integers(n_cuts, size=n_splits)
    places = [rng.choice(n_sets, 3, replace=False) for _ in range(n_splits)]
    splits["from"], splits["left"], splits["right"] = np.transpose(places)
    expected = twin.split_sets(
        np.repeat(ends, runs["n_splits"], axis=0).tolist(),
        splits.tolist(),
        bits_of_sets(cuts),
        bits_of_sets(sets),
    )
    kernels.split_sets(runs, n_runs, splits, cuts, n_cuts, sets, n_sets)
    assert (bits_of_sets(sets) == expected).all()


@given(st.integers(1, 20), st.integers(1, 9), st.integers(3, 12), seeds)
def test_sets_are_split(kernels, n_runs, most_splits, n_sets, seed):
    check_split(kernels, n_runs, most_splits, n_sets, seed)


# A side that is kept may take the place of the set that is split.
REUSES = [
    (left, right, reused)
    for left in ENDS
    for right in ENDS
    for reused, end in ((None, None), ("left", left), ("right", right))
    if reused is None or end == "keep"
]
REUSES.append(("join", "join", "one"))  # both sides are joined to one set


@pytest.mark.parametrize(("left", "right", "reused"), REUSES)
def test_sides_end_as_runs_say(kernels, left, right, reused):
    rng = np.random.default_rng(0)
    cuts = set_array(random_words(rng, (2, N_WORDS)))
    sets = set_array(random_words(rng, (4, N_WORDS)))
    places = {"from": 1, "left": 2, "right": 0}
    if reused == "one":
        places["right"] = places["left"]
    elif reused:
        places[reused] = places["from"]
    split = (1, *places.values())
    header = library.header()
    splits = np.array([split], header.dtype("mrforest_set_split"))
    ends = ENDS[left] + library.N_ENDS * ENDS[right]
    runs = np.array([(1, ends)], header.dtype("mrforest_split_run"))
    expected = twin.split_sets(
        [(left, right)], [split], bits_of_sets(cuts), bits_of_sets(sets)
    )
    kernels.split_sets(runs, 1, splits, cuts, 2, sets, 4)
    assert (bits_of_sets(sets) == expected).all()


# --- Votes ----------------------------------------------------------------------------


def new_count():
    """Return a count of no votes."""
    few = np.zeros(
        (library.header().constants["MRFOREST_DIGITS"] + 2) * N_WORDS * 8, "u1"
    )
    return few.view(library.header().dtype("mrforest_vote_count"))


def check_votes(kernels, n_trees, n_sets, n_rows, stride, seed):
    rng = np.random.default_rng(seed)
    count = new_count()
    expected = np.zeros(N_ROWS, np.int64)
    waiting = 0
    density = rng.choice([0.2, 0.9, 1.0])
    for _ in range(n_trees):
        sets = set_array(random_words(rng, (n_sets, N_WORDS), density))
        expected += bits_of_sets(sets).any(axis=0)
        kernels.count_votes(sets, n_sets, count)
        waiting += 1
        # As late as may be, sometimes earlier
        if waiting == library.FEW_TREES or rng.random() < 0.2:
            kernels.carry_votes(count)
            waiting = 0
    votes = rng.integers(1000, size=(n_rows - 1) * stride + 1).astype(np.int32)
    now = votes.copy()
    now[::stride] += expected[:n_rows].astype(np.int32)
    kernels.read_votes(count, n_rows, votes, stride)
    assert votes.tolist() == now.tolist()
    assert not count.view(np.uint8).any()


def test_votes_of_any_number_of_rows(kernels):
    for n_rows in ROWS:
        check_votes(kernels, 5, 2, n_rows, 3, n_rows)


@pytest.mark.parametrize("n_trees", [0, 1, 2, 3, 4, 15, 16, 127, 128, 254, 255])
def test_votes_of_any_number_of_trees(kernels, n_trees):
    check_votes(kernels, n_trees, 1, 1000, 1, n_trees)


@given(
    st.integers(0, 40),
    st.integers(1, 9),
    sizes(N_ROWS, ROWS),
    st.integers(1, 5),
    seeds,
)
def test_votes(kernels, n_trees, n_sets, n_rows, stride, seed):
    check_votes(kernels, n_trees, n_sets, n_rows, stride, seed)
