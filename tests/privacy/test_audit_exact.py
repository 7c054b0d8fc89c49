# SPDX-License-Identifier: BSD-3-Clause
"""Exact losses of fitted trees: those of the definition, for arrays and frames."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config

from mrforest.privacy import Item, Ledger, audit
from mrforest.privacy.audit._tables import take
from tests.privacy.standin import PrivateTree

BOUNDS = [(0, 3, True), (0.0, 1.0)]


def table(n, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 4, n), rng.random(n)])
    return X, np.where(rng.random(n) < 0.8, X[:, 0] > 1, rng.integers(2, size=n))


def fitted(X, y, **parameters):
    return PrivateTree(bounds=BOUNDS, classes=[0, 1], **parameters).fit(X, y)


def test_losses_are_those_of_the_definition(seed):
    (X, y), others = table(30, seed), table(4, seed + 1)
    tree = fitted(X, y, depth=2, random_state=seed)
    found = audit.exact(tree, X, y, others=others)
    own = tree.log_probability(X, y)
    expected = [
        own - tree.log_probability(np.delete(X, i, axis=0), np.delete(y, i))
        for i in range(30)
    ] + [
        own - tree.log_probability(np.vstack([X, x]), np.append(y, label))
        for x, label in zip(*others, strict=True)
    ]
    np.testing.assert_allclose(found.losses, expected, rtol=1e-12)
    assert found.neighbours[:2] == (audit.Neighbour(row=0), audit.Neighbour(row=1))
    assert found.neighbours[-1] == audit.Neighbour(other=3)
    assert found.largest == max(map(abs, expected))
    assert found.worst == found.neighbours[int(np.argmax(np.abs(expected)))]
    assert found.holds
    assert f"largest {found.largest:.6g} ({found.worst})" in str(found)
    assert str(found).endswith("claimed epsilon 1 holds")


def test_losses_count_in_both_directions():
    neighbours = (audit.Neighbour(0), audit.Neighbour(1))
    found = audit.ExactAudit(np.array([0.5, -1.5]), neighbours, epsilon=1.0)
    assert found.largest == 1.5
    assert found.worst == audit.Neighbour(1)
    assert not found.holds


def test_only_some_rows():
    X, y = table(20, 0)
    tree = fitted(X, y)
    everyone = audit.exact(tree, X, y)
    some = audit.exact(tree, X, y, rows=[7, 3])
    assert some.losses.tolist() == everyone.losses[[7, 3]].tolist()
    assert [neighbour.row for neighbour in some.neighbours] == [7, 3]
    alone = audit.exact(tree, X, y, rows=[], others=(X[:2], y[:2]))
    assert [str(n) for n in alone.neighbours] == [
        "with other row 0",
        "with other row 1",
    ]


def test_a_row_replaced():
    (X, y), (X_other, y_other) = table(12, 0), table(3, 1)
    tree = fitted(X, y)
    tree.neighbours = "replace-one"
    found = audit.exact(tree, X, y, rows=[4, 5], others=(X_other, y_other))
    assert len(found.losses) == 6
    assert str(found.neighbours[5]) == "with other row 2 in place of row 5"
    X[5], y[5] = X_other[2], y_other[2]
    X_before, y_before = table(12, 0)
    expected = tree.log_probability(X_before, y_before) - tree.log_probability(X, y)
    assert found.losses[5] == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="others must be given"):
        audit.exact(tree, X, y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame):
    (X, y), (X_other, y_other) = table(15, 0), table(2, 1)
    tree = fitted(X, y)
    expected = audit.exact(tree, X, y, others=(X_other, y_other))

    def as_frame(numbers):
        return frame({"a": numbers[:, 0], "b": numbers[:, 1]})

    found = audit.exact(
        tree, as_frame(X), list(y), others=(as_frame(X_other), y_other.tolist())
    )
    assert found.losses.tolist() == expected.losses.tolist()


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_rows_are_taken_in_their_order(kind):
    X, y = table(5, 0)
    X_taken, y_taken = take((kind(X), y), np.array([3, 0, 3]))
    np.testing.assert_array_equal(np.asarray(X_taken), X[[3, 0, 3]])
    assert y_taken.tolist() == y[[3, 0, 3]].tolist()


def test_threads_and_a_bar(capsys):
    X, y = table(40, 0)
    tree = fitted(X, y)
    alone = audit.exact(tree, X, y)
    with parallel_config("threading"):
        together = audit.exact(tree, X, y, n_jobs=2, verbose=1)
    assert alone.losses.tolist() == together.losses.tolist()
    assert "40/40" in capsys.readouterr().err


def test_a_tree_that_spends_more_than_it_claims_is_found():
    """A label against all others of its class tells of itself, if epsilon is large."""
    X, y = np.zeros((8, 2)), np.array([0] * 7 + [1])
    sound, broken = (
        fitted(X, y, epsilon=0.5, spent=spent, random_state=0) for spent in (0.5, 3.0)
    )
    for tree in (sound, broken):
        tree.tree_ = (0, 0, 1, 0)
    assert audit.exact(sound, X, y).holds
    found = audit.exact(broken, X, y)
    assert not found.holds
    assert found.worst.row == 7
    assert found.largest == pytest.approx(3.0, abs=0.01)
    assert "claimed epsilon 0.5 is VIOLATED" in str(found)
    assert audit.exact(broken, X, y, epsilon=3.0).holds


def test_the_claim_of_a_forest_with_a_delta_is_its_pure_epsilon():
    X, y = table(10, 0)
    tree = fitted(X, y)
    tree.delta, tree.epsilon_ = 1e-6, 0.1
    tree.ledger_ = Ledger(Item("tree", "exponential", 2.5))
    assert audit.exact(tree, X, y).epsilon == 2.5
    tree.delta = 0.0
    assert audit.exact(tree, X, y).epsilon == 0.1


class Impossible:
    """Tells how many rows there are."""

    epsilon_ = 1.0

    def __init__(self, n, found=0.0):
        self.n, self.found = n, found

    def log_probability(self, X, y):
        return self.found if len(X) == self.n else -math.inf


def test_an_impossible_neighbour_is_an_infinite_loss():
    found = audit.exact(Impossible(3), np.zeros((3, 1)), [0, 1, 1])
    assert found.losses.tolist() == [math.inf] * 3
    assert not found.holds


def test_bad_arguments():
    X, y = np.zeros((3, 1)), [0, 1, 1]
    with pytest.raises(ValueError, match="are they its training table"):
        audit.exact(Impossible(4), X, y)
    with pytest.raises(ValueError, match="log_probability gives NaN"):
        audit.exact(Impossible(3, math.nan), X, y)
    with pytest.raises(ValueError, match=r"rows must be in \[0, 3\); got -1"):
        audit.exact(Impossible(3), X, y, rows=[0, -1])
    with pytest.raises(ValueError, match="no neighbour to look at"):
        audit.exact(Impossible(3), X, y, rows=[])
    with pytest.raises(ValueError, match=r"X, y must .* \(3, 1\) and \(2,\)"):
        audit.exact(Impossible(3), X, y[:2])
    with pytest.raises(ValueError, match="others must be a table"):
        audit.exact(Impossible(3), X, y, others=([1.0], [0]))
