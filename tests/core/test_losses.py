# SPDX-License-Identifier: BSD-3-Clause
"""Losses of a whole forest from those of its halves: the same as the twin's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mrforest import _core
from tests.naive.losses import (
    POWERS,
    Loss,
    Said,
    logarithmic_loss,
    loss_of_row,
    sharpened,
    squared_error,
)

SIZES = (1, 2, 7)


@st.composite
def predictions(draw, *, n_columns: st.SearchStrategy) -> tuple[list, int, tuple]:
    """What trees say of some rows, the number of all trees, and what shape it has."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows, n_sizes = draw(st.integers(0, 40)), draw(st.sampled_from(SIZES))
    shape = (n_sizes, draw(n_columns))
    highest = draw(st.sampled_from([1, 2, 5]))
    said = []
    for _ in range(n_rows):
        halves = tuple(
            [some_numbers(rng, shape) for _ in range(rng.integers(0, highest + 1))]
            for _ in range(2)
        )
        said.append(Said(halves))
    n_trees = draw(st.sampled_from([1, 5, 100, 100_000]))
    return said, n_trees, shape


def some_numbers(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Shares that add up to 1, some of them 0."""
    numbers = rng.random(shape) * (rng.random(shape) < 0.7)
    numbers[:, 0] += 1e-3
    return numbers / numbers.sum(axis=1, keepdims=True)


def sums_of(said: list[Said], shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of what trees say, for each half, and how many say it."""
    sums, counts = np.zeros((2, len(said), *shape)), np.zeros((2, len(said)), int)
    for half in (0, 1):
        for row, of_row in enumerate(said):
            counts[half, row] = len(of_row.halves[half])
            for numbers in of_row.halves[half]:
                sums[half, row] += numbers
    return sums, counts.astype(np.int64)


def of_size(said: Said, s: int) -> Said:
    first, second = ([list(n[s]) for n in half] for half in said.halves)
    return Said((first, second))


def expected_sum(said, weights, s: int, loss: Loss, n_trees: int) -> float:
    return math.fsum(
        weights[row] * loss_of_row(of_size(of_row, s), row, loss, n_trees)
        for row, of_row in enumerate(said)
        if of_row.counts
    )


def some_weights(n_rows: int) -> np.ndarray:
    """Return weights some of which are 0."""
    return np.arange(n_rows) % 4 * 0.7


@given(what=predictions(n_columns=st.integers(1, 12)))
def test_squared_losses_of_the_twin(what):
    """Of any numbers: those of classes or those of a regression."""
    said, n_trees, shape = what
    sums, counts = sums_of(said, shape)
    truth = np.random.default_rng(0).random((len(said), shape[1]))
    weights = some_weights(len(said))
    losses = _core.squared_losses(sums, counts, truth, weights, n_trees)
    loss = squared_error(truth)
    expected = [expected_sum(said, weights, s, loss, n_trees) for s in range(shape[0])]
    assert_allclose(losses, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("floor", [0.0, 1e-6, 1 / 31])
@given(what=predictions(n_columns=st.sampled_from([1, 2, 3, 4, 5, 8, 9, 17])))
def test_sharpened_losses_of_the_twin(floor, what):
    said, n_trees, shape = what
    sums, counts = sums_of(said, shape)
    rng = np.random.default_rng(0)
    classes = rng.integers(0, shape[1], len(said)).astype(np.int32)
    if floor == 0:
        classes[:] = 0  # the one that always has a share
    weights = some_weights(len(said))
    of_first = np.ascontiguousarray(sums[:, :, 0])
    losses = _core.sharpened_losses(of_first, counts, classes, weights, n_trees, floor)
    assert losses.shape == (2, len(POWERS))
    squares, logarithms = (
        squared_error(np.eye(shape[1])[classes]),
        logarithmic_loss(classes),
    )
    for row, loss in zip(losses, (squares, logarithms), strict=True):
        expected = [
            expected_sum(said, weights, 0, sharpened(loss, power, floor), n_trees)
            for power in POWERS
        ]
        assert_allclose(row, expected, rtol=1e-12, atol=1e-12)


def test_powers():
    assert_array_equal(_core.POWERS, POWERS)


def test_losses_by_hand():
    """One row of class 0, two trees in the first half and one in the second."""
    sums = np.array([[[[1.2, 0.8]]], [[[0.9, 0.1]]]])
    counts = np.array([[2], [1]])
    truth, weights = np.array([[1.0, 0.0]]), np.array([3.0])
    first, second, both = 2 * 0.4**2, 2 * 0.1**2, 2 * 0.3**2
    for n_trees in (1, 3, 12):
        expected = both + ((first + second) / 2 - both) * (3 / n_trees - 1)
        losses = _core.squared_losses(sums, counts, truth, weights, n_trees)
        assert_allclose(losses, [3 * expected])


def test_rows_without_a_tree_in_a_half_are_left_out():
    sums = np.full((2, 3, 1, 2), 0.5)
    truth = np.tile([1.0, 0.0], (3, 1))
    counts = np.array([[1, 0, 1], [1, 1, 0]])
    losses = _core.squared_losses(sums, counts, truth, np.ones(3), 2)
    assert_allclose(losses, [0.5])
    classes = np.zeros(3, dtype=np.int32)
    both = _core.sharpened_losses(
        sums[:, :, 0].copy(), counts, classes, np.ones(3), 2, 0.0
    )
    assert_allclose(both[0], 0.5)
    assert_allclose(both[1], math.log(2))


def test_many_rows_are_added_up():
    """Blocks of rows, and those that are left."""
    rng = np.random.default_rng(5)
    n_rows, n_classes = 1003, 3
    shares = rng.dirichlet(np.ones(n_classes), (2, n_rows))
    counts = np.ones((2, n_rows), dtype=np.int64)
    classes = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = rng.random(n_rows)
    whole = _core.sharpened_losses(shares, counts, classes, weights, 50, 0.01)
    parts = [
        _core.sharpened_losses(
            shares[:, [row]].copy(),
            counts[:, [row]].copy(),
            classes[[row]],
            weights[[row]],
            50,
            0.01,
        )
        for row in range(n_rows)
    ]
    assert_allclose(whole, np.sum(parts, axis=0), rtol=1e-11)
