# SPDX-License-Identifier: BSD-3-Clause
"""The exhaustive audit: our mechanisms keep what they claim, broken ones are found."""

import itertools
import math

import numpy as np
import pytest

from mrforest.experiments.flawed import printed_split
from mrforest.privacy import audit
from mrforest.privacy.grid import Grid, Numeric
from mrforest.privacy.mechanisms import Exponential
from mrforest.privacy.sensitivity import GINI_RANGE, gini
from mrforest.privacy.subtree import Scoring, SubtreeMechanism
from tests.naive import subtree as naive
from tests.privacy.standin import unplain

THREE = Grid.of([Numeric(0, 2, is_whole=True)])
FOUR = Grid.of([Numeric(0, 3, is_whole=True)])
MIXED = Grid.of([Numeric(0, 1, is_whole=True), ["a"]])
NORMS = [None, 1.5, 2.0, 3.0, math.inf]


def every_pair(distribution, domain, n_most):
    """The largest loss by definition: ordered datasets, any row taken away."""
    largest, witness = 0.0, None
    for n in range(1, n_most + 1):
        for more in itertools.product(domain, repeat=n):
            for i in range(n):
                one, other = distribution(more), distribution(more[:i] + more[i + 1 :])
                for output in {*one, *other}:
                    pair = [d.get(output, -math.inf) for d in (one, other)]
                    if abs(pair[0] - pair[1]) > largest:
                        largest, witness = abs(pair[0] - pair[1]), output
    return largest, witness


def vote(epsilon, n_least=0):
    """Tell the commonest letter; parties without n_least votes do not stand."""

    def distribution(votes):
        standing = [k for k in "abc" if votes.count(k) >= n_least] or ["none"]
        weights = np.exp([epsilon * votes.count(k) for k in standing])
        return dict(
            zip(standing, np.log(weights / weights.sum()).tolist(), strict=True)
        )

    return distribution


# ---- the audit itself ----------------------------------------------------------------


@pytest.mark.parametrize("n_least", [0, 1])
def test_it_finds_the_largest_loss(n_least):
    found = audit.exhaustive(vote(0.7, n_least), "abc", 4)
    expected, _ = every_pair(vote(0.7, n_least), "abc", 4)
    assert found.largest == pytest.approx(expected, rel=1e-12)
    assert found.n_datasets == math.comb(3 + 4, 4)
    # Every dataset with each of its different records taken away.
    assert found.n_pairs == sum(
        len(set(d))
        for n in range(5)
        for d in itertools.combinations_with_replacement("abc", n)
    )
    assert found.n_outputs == (3 if n_least == 0 else 4)


def test_the_witness_is_one():
    found = audit.exhaustive(vote(0.7), "abc", 4)
    one, other = (
        vote(0.7)(records)[found.witness.output]
        for records in (found.witness.dataset, found.witness.neighbour)
    )
    assert one - other == found.largest
    assert abs(len(found.witness.dataset) - len(found.witness.neighbour)) == 1
    assert str(found.witness.neighbour) in str(found)


def test_outputs_of_one_side_only():
    found = audit.exhaustive(vote(0.1, n_least=2), "abc", 2)
    assert found.largest == math.inf
    # aa, bb and cc against a, b and c; under the latter alone "none" is possible.
    assert found.n_one_sided == 6
    assert "not private" in str(found)
    dataset, neighbour = found.witness.dataset, found.witness.neighbour
    assert found.witness.output in vote(0.1, 2)(dataset)
    assert found.witness.output not in vote(0.1, 2)(neighbour)
    assert audit.exhaustive(vote(0.1), "abc", 2).n_one_sided == 0


def test_one_record_replaced():
    found = audit.exhaustive(vote(1.0), "abc", 4, neighbours="replace-one")
    n_pairs, largest = 0, 0.0
    datasets = [
        d for n in range(5) for d in itertools.combinations_with_replacement("abc", n)
    ]
    for one, other in itertools.combinations(datasets, 2):
        common = sum(min(one.count(k), other.count(k)) for k in "abc")
        if len(one) == len(other) == common + 1:
            n_pairs += 1
            p, q = vote(1.0)(one), vote(1.0)(other)
            largest = max(largest, *(abs(p[k] - q[k]) for k in "abc"))
    assert found.n_pairs == n_pairs
    assert found.largest == pytest.approx(largest, rel=1e-12)
    assert 1.0 < largest <= 2.0
    assert len(found.witness.dataset) == len(found.witness.neighbour)


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"probabilities of \(\) sum to 0.5"):
        audit.exhaustive(lambda records: {0: math.log(0.5)}, "a", 1)
    with pytest.raises(ValueError, match="sum to nan"):
        audit.exhaustive(lambda records: {0: math.nan}, "a", 1)
    with pytest.raises(ValueError, match="neighbours must be one of"):
        audit.exhaustive(vote(1.0), "abc", 2, neighbours="any")
    with pytest.raises(ValueError, match="n_most must be at least 1; got 0"):
        audit.exhaustive(vote(1.0), "abc", 0)
    with pytest.raises(ValueError, match="domain must have"):
        audit.exhaustive(vote(1.0), "", 2)
    with pytest.raises(ValueError, match="grid has no candidate"):
        audit.subtree_distribution(Grid.of([Numeric(1, 1)]), 2, Scoring(1.0, None), 1)


# ---- our own mechanisms --------------------------------------------------------------


def as_twin(tree):
    """A subtree as the naive twin writes it."""
    if not isinstance(tree, tuple):
        return ("leaf", tree)
    return ("split", *tree[:2], as_twin(tree[2]), as_twin(tree[3]))


@pytest.mark.parametrize("grid", [THREE, MIXED])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("norm", [None, 1.5])
def test_distributions_are_those_of_all_subtrees(grid, depth, norm):
    scoring = Scoring(0.8, norm)
    distribution = audit.subtree_distribution(grid, 2, scoring, depth)
    domain = audit.records_of(grid, 2)
    rng = np.random.default_rng(0)
    for n in (0, 1, 5):
        records = tuple(domain[i] for i in rng.integers(len(domain), size=n))
        found = distribution(records)
        rows, y = [list(c) for c, _ in records], [label for _, label in records]
        trees = naive.subtrees(grid, 2, depth, labels=norm is None)
        weights = {
            t: naive.log_weight(grid, 2, t, rows, y, float(scoring.unit(2)), scoring)
            for t in trees
        }
        total = np.logaddexp.reduce(list(weights.values()))
        assert {as_twin(tree) for tree in found} == set(trees)
        for tree, log_probability in found.items():
            expected = weights[as_twin(tree)] - total
            assert log_probability == pytest.approx(expected, abs=1e-9)
        # And they are what the mechanism itself says of each tree.
        codes = np.array(rows, dtype=np.uint8).reshape(n, len(grid.n_codes))
        mechanism = SubtreeMechanism(
            codes, np.array(y, dtype=np.int32), 2, grid, scoring
        )
        everyone = np.arange(n, dtype=np.int32)
        for tree in list(found)[::17]:
            assert found[tree] == pytest.approx(
                mechanism.log_probability(unplain(tree), everyone, depth), abs=1e-12
            )


@pytest.mark.parametrize(
    ("grid", "depth", "n_most"), [(THREE, 1, 5), (MIXED, 1, 4), (THREE, 2, 5)]
)
@pytest.mark.parametrize("norm", NORMS)
def test_no_subtree_tells_more_than_epsilon(grid, depth, n_most, norm):
    epsilon = 1.0
    distribution = audit.subtree_distribution(grid, 2, Scoring(epsilon, norm), depth)
    found = audit.exhaustive(distribution, audit.records_of(grid, 2), n_most)
    assert 0.3 * epsilon < found.largest <= epsilon
    if norm is None:
        assert found.largest >= 0.95 * epsilon


@pytest.mark.parametrize("epsilon", [0.1, 4.0])
def test_other_budgets(epsilon):
    distribution = audit.subtree_distribution(THREE, 2, Scoring(epsilon, None), 1)
    domain = audit.records_of(THREE, 2)
    found = audit.exhaustive(distribution, domain, 4)
    assert 0.55 * epsilon < found.largest <= epsilon
    replaced = audit.exhaustive(distribution, domain, 3, neighbours="replace-one")
    assert found.largest < replaced.largest <= 2 * epsilon


def test_a_gini_score_with_half_its_range_is_found():
    """The losses that the design study found on the same 6,188 datasets."""
    domain = audit.records_of(FOUR, 3)

    def largest(unit):
        mechanism = Exponential(1.0, unit)
        distribution = audit.split_distribution(FOUR, 3, gini, mechanism)
        return audit.exhaustive(distribution, domain, 5)

    sound, broken = largest(GINI_RANGE), largest(GINI_RANGE // 2)
    assert sound.n_datasets == 6188
    assert sound.largest == pytest.approx(0.597, abs=5e-4)
    assert broken.largest == pytest.approx(1.291, abs=5e-4)


def test_split_distributions_by_hand():
    mechanism = Exponential(1.0, GINI_RANGE)
    grid = Grid.of([Numeric(0, 4, is_whole=True), ["a", "b"]])
    # All features are equally likely if the records say nothing.
    found = audit.split_distribution(grid, 2, gini, mechanism)(())
    by_feature = [
        sum(math.exp(p) for (feature, _), p in found.items() if feature == j)
        for j in range(2)
    ]
    assert by_feature == pytest.approx([0.5, 0.5])
    # Every cut tells the classes apart, and so does asking for "a" or for "b", but not
    # for other values.
    records = (((0, 0), 0), ((0, 0), 0), ((4, 1), 1))
    found = audit.split_distribution(grid, 2, gini, mechanism)(records)
    assert found[0, 0] == found[0, 3]
    assert found[1, 0] == found[1, 1]
    gain = -gini(np.array([2, 1])) / GINI_RANGE
    assert found[1, 0] - found[1, 2] == pytest.approx(gain)


# ---- the paper's mechanism -----------------------------------------------------------

POINTS = [((x,), label) for x in (0.0, 0.3, 1.0) for label in (0, 1)]


def test_cuts_of_the_data_are_found():
    """Whatever the budgets are."""
    for budget in (0.01, 1.0):
        found = audit.exhaustive(printed_split(budget, budget), POINTS, 3)
        assert found.largest == math.inf
        assert found.n_one_sided > 100


def test_it_is_the_cuts_that_break_it():
    """With public ones the paper's lemmas hold: no loss is above B1 + B2."""
    pairs = [((x, z), label) for x in (0, 1) for z in (0, 1) for label in (0, 1)]
    distribution = printed_split(0.7, 0.3, n_features=2, public_cuts=[0.2, 0.5])
    found = audit.exhaustive(distribution, pairs, 4)
    assert 0.3 < found.largest <= 1.0
    assert found.n_one_sided == 0


def test_the_printed_split_is_the_papers():
    """Two features, by hand: gains (1/2, 1/6, 1/6) and (1/6,) of three records."""
    records = (((0.0, 0.0), 0), ((1.0, 0.0), 1), ((2.0, 1.0), 1))
    found = printed_split(2.0, 4.0, n_features=2)(records)
    probabilities = {output: math.exp(p) for output, p in found.items()}
    first = math.e / (math.e + 1)  # softmax(2/2 · (1, 0))
    best = math.e**2 / (math.e**2 + 1)  # softmax(4/2 · (1, 0))
    assert probabilities == pytest.approx(
        {
            (0, 0.5): first * best,
            (0, 1.5): first * (1 - best),
            (1, 0.5): 1 - first,
        }
    )
