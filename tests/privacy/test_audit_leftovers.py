# SPDX-License-Identifier: BSD-3-Clause
"""What fitted objects keep: seeds that replay, counts, rows; or nothing of it."""

import functools
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mrforest.privacy import Accountant, audit
from mrforest.privacy.audit._traces import _other_table
from mrforest.privacy.randomness import RandomBits
from tests.privacy.standin import PrivateTree

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), np.repeat([0, 1], [25, 35])
# More rows than a column has cells: no code of a split is the number of rows by chance.
MANY_X, MANY_Y = RNG.normal(size=(100, 3)), np.repeat([0, 1], [40, 60])


class NoisyMeans(ClassifierMixin, BaseEstimator):
    """Means with noise; keeps what it is told to keep."""

    def __init__(self, random_state=None, keep=None, accountant=None, budget=1.0):
        self.random_state = random_state
        self.keep = keep
        self.accountant = accountant
        self.budget = budget

    def fit(self, X, y):
        seed = self.random_state
        if seed is None:
            seed = int(np.random.default_rng().integers(2**31))
        if self.accountant is not None:
            self.accountant.charge(1.0, "fit")
        rng = np.random.default_rng(seed)
        self.means_ = np.mean(X, axis=0) + rng.normal(size=X.shape[1])
        if self.keep is not None:
            self.keep(self, seed, rng, X, y)
        return self

    def predict(self, X):
        return (np.asarray(X) @ self.means_ > 0).astype(int)


def found_in(keep, *table, **parameters):
    return audit.leftovers(NoisyMeans(keep=keep, **parameters).fit(X, Y), *table)


def paths(found):
    return [finding.path for finding in found.findings]


# ---- seeds ---------------------------------------------------------------------------


def keep_seed(fitted, seed, rng, X, y):
    fitted.seed_ = seed


def test_a_seed_that_is_kept_replays_the_model():
    found = found_in(keep_seed, X, Y)
    assert paths(found) == ["seed_"]
    assert found.replays
    assert "its noise is no secret" in str(found)
    # Without the table it is only found.
    found = found_in(keep_seed)
    assert paths(found) == ["seed_"]
    assert not found.replays


def test_the_seed_of_another_fit_does_not_replay():
    def keep_another(fitted, seed, rng, X, y):
        fitted.seed_ = seed + 1

    found = found_in(keep_another, X, Y)
    assert paths(found) == ["seed_"]
    assert not found.replays
    assert "its noise is no secret" not in str(found)


class NoisyShift(NoisyMeans):
    """Has its noise in a plain number, not in an array."""

    def fit(self, X, y):
        super().fit(np.zeros_like(X), y)
        self.means_ = float(self.means_[0])
        return self

    def predict(self, X):
        return np.full(len(X), self.means_)


@pytest.mark.parametrize("wrong", [0, 1])
def test_models_without_arrays_are_told_apart_by_what_they_predict(wrong):
    model = NoisyShift(random_state=5).fit(X, Y)
    model.random_state, model.seed_ = None, 5 + wrong
    assert audit.leftovers(model, X, Y).replays == (not wrong)


def test_a_flag_is_no_seed():
    model = NoisyMeans().fit(X, Y)
    model.is_seeded_ = True
    assert audit.leftovers(model).clean


def test_a_seed_that_the_user_gave():
    found = audit.leftovers(NoisyMeans(random_state=7).fit(X, Y), X, Y)
    assert paths(found) == ["random_state"]
    assert found.findings[0].what == "seed 7"
    assert found.replays


def test_a_model_without_noise_is_told_apart():
    tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[:, :1], Y)
    found = audit.leftovers(tree, X[:, :1], Y)
    (finding,) = [f for f in found.findings if f.path == "random_state"]
    assert finding.why == "any seed gives the same model: it has no noise"
    assert not found.replays


@pytest.mark.parametrize("bootstrap", [True, False])
def test_trees_of_a_forest_replay(bootstrap):
    labels = np.array(["no", "yes"])[Y]
    forest = RandomForestClassifier(4, bootstrap=bootstrap).fit(X, labels)
    found = audit.leftovers(forest, X, labels)
    seeds = [f for f in found.findings if f.what.startswith("seed ")]
    assert [f.path for f in seeds] == [
        f"estimators_[{i}].random_state" for i in range(4)
    ]
    assert [f.what for f in seeds] == [
        f"seed {tree.random_state}" for tree in forest.estimators_
    ]
    assert all("it replays" in f.why for f in seeds)
    assert "(and 3 alike)" in str(found)


def test_the_step_of_a_pipeline_replays():
    model = make_pipeline(StandardScaler(), NoisyMeans(keep=keep_seed)).fit(X, Y)
    found = audit.leftovers(model, X, Y)
    assert "steps[1][1].seed_" in paths(found)
    assert "steps[0][1].n_samples_seen_" in paths(found)
    assert found.replays


def test_lists_and_arrays_of_seeds():
    def keep_seeds(fitted, seed, rng, X, y):
        fitted.seeds_ = [seed, 5]
        fitted.tree_seeds_ = np.array([3, seed])
        fitted.key_of_seed_ = b"\x01\x01"

    found = found_in(keep_seeds, X, Y)
    assert paths(found) == [
        "seeds_[0]", "seeds_[1]", "tree_seeds_[0]", "tree_seeds_[1]", "key_of_seed_",
    ]  # fmt: skip
    assert ["it replays" in f.why for f in found.findings] == [
        True, False, False, True, False,
    ]  # fmt: skip
    assert found.findings[-1].what == "seed 257"


def test_an_accountant_is_not_charged_for_a_replay():
    accountant = Accountant(2.0)
    model = NoisyMeans(keep=keep_seed, accountant=accountant).fit(X, Y)
    assert audit.leftovers(model, X, Y).replays
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
    assert audit.leftovers(pipeline, X, Y).replays
    assert accountant.spent == 2.0


class ChargesWhoeverIsThere(NoisyMeans):
    def fit(self, X, y):
        if Accountant.current() is not None:
            Accountant.current().charge(1.0, "fit")
        return super().fit(X, y)


def test_nor_is_one_that_was_entered():
    with Accountant(5.0) as accountant:
        model = ChargesWhoeverIsThere(keep=keep_seed).fit(X, Y)
        assert audit.leftovers(model, X, Y).replays
    assert accountant.spent == 1.0


# ---- generators ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "generator",
    [
        np.random.default_rng(),
        np.random.RandomState(),
        np.random.PCG64(),
        np.random.SeedSequence(),
        random.Random(),
        RandomBits.secure(),
    ],
    ids=lambda generator: type(generator).__name__,
)
def test_generators(generator):
    model = NoisyMeans().fit(X, Y)
    model.inner_ = {"noise": [generator]}
    found = audit.leftovers(model)
    assert paths(found)[0] == "inner_['noise'][0]"
    assert found.findings[0].what == f"a {type(generator).__name__}"


# ---- the table -----------------------------------------------------------------------


class Hidden:
    """Shows nothing, but pickles all."""

    __slots__ = ("inside",)

    def __init__(self, inside):
        self.inside = inside


class Pickled:
    """A state that is made when it is asked for."""

    def __init__(self, n):
        self.of_n = lambda: {"n": n}

    def __getstate__(self):
        return self.of_n()


@pytest.mark.parametrize(
    ("attribute", "path", "why"),
    [
        (lambda X, y: len(y), "kept_", "the exact number of training rows"),
        (lambda X, y: float(len(y)), "kept_", "the exact number of training rows"),
        (lambda X, y: np.array([len(y), 31]), "kept_", "number of training rows"),
        (lambda X, y: np.bincount(y), "kept_", "the exact class counts"),
        (lambda X, y: np.bincount(y).tolist(), "kept_", "the exact class counts"),
        (
            lambda X, y: dict(enumerate(np.bincount(y))),
            "kept_",
            "the exact class counts",
        ),
        (lambda X, y: np.array([[1, 0], np.bincount(y) / len(y)]), "kept_", "shares"),
        (lambda X, y: y, "kept_", "one entry for each training row"),
        (lambda X, y: list(y), "kept_", "one entry for each training row"),
        (lambda X, y: pd.DataFrame(X), "kept_", "one entry for each training row"),
        (lambda X, y: pl.DataFrame(X), "kept_", "one entry for each training row"),
        (lambda X, y: X[3], "kept_", "exact values of X"),
        (lambda X, y: float(X[3, 1]), "kept_", "exact values of X"),
        (lambda X, y: X[:4].astype(np.float32), "kept_", "exact values of X"),
        (lambda X, y: np.sort(X[:, 0])[5:7].mean(), "kept_", "halfway between"),
        (lambda X, y: Hidden(len(y)), "kept_.inside", "number of training rows"),
        (lambda X, y: Pickled(len(y)), "kept_.<n>", "number of training rows"),
        (lambda X, y: lambda: X, "kept_.<X>", "one entry for each training row"),
        (
            lambda X, y: functools.partial(max, len(y)),
            "kept_.<pickled>[1][0]",
            "number of training rows",
        ),
        (
            lambda X, y: np.array([len(y), None], dtype=object),
            "kept_[0]",
            "number of training rows",
        ),
        (
            lambda X, y: np.array([(len(y), 1)], dtype=[("n", int), ("m", int)]),
            "kept_['n']",
            "number of training rows",
        ),
    ],
)
def test_what_the_table_says(attribute, path, why):
    def keep_it(fitted, seed, rng, X, y):
        fitted.kept_ = attribute(X, y)

    found = found_in(keep_it, X, Y)
    assert any(f.path == path and why in f.why for f in found.findings), str(found)


def test_a_sound_object_is_clean():
    tree = PrivateTree(bounds=[(-5.0, 5.0)] * 3, classes=[0, 1], depth=2).fit(
        MANY_X, MANY_Y
    )
    found = audit.leftovers(tree, MANY_X, MANY_Y)
    assert found.clean
    assert str(found) == "nothing found that was not paid for"
    assert audit.leftovers(NoisyMeans().fit(X, Y), X, Y).clean


def test_what_any_table_gives_is_no_finding():
    """A number that is n by chance, and a grid on which two values lie."""

    def keep_constants(fitted, seed, rng, rows, y):
        fitted.n_steps_ = 60
        fitted.table_ = [25, 35]
        fitted.grid_ = np.array([X[3, 0], X[9, 2]])

    found = found_in(keep_constants, X, Y)
    assert found.clean, str(found)


GRID = np.array([X[3, 0], 0.4711])


def keep_draw(fitted, seed, rng, rows, y):
    fitted.grid_, fitted.drawn_ = GRID.copy(), GRID[int(len(y) < 60)]


def test_what_is_drawn_from_a_public_grid_is_no_finding():
    """Though another fit draws something else."""
    found = found_in(keep_draw, X, Y)
    assert found.clean, str(found)


def test_a_fit_that_fails_on_the_other_table_hides_nothing():
    def keep_or_fail(fitted, seed, rng, rows, y):
        if len(y) < 60:
            raise RuntimeError("too few rows")
        fitted.n_ = len(y)
        fitted.limits_ = np.array([fitted.budget])

    # But for parameters, which are public.
    model = NoisyMeans(keep=keep_or_fail, budget=X[3, 0]).fit(X, Y)
    assert paths(audit.leftovers(model, X, Y)) == ["n_"]
    model.set_params(budget=60)
    assert paths(audit.leftovers(model, X, Y))[0] == "n_"
    assert "budget" not in paths(audit.leftovers(model, X, Y))


def test_parameters_are_public():
    """Bounds that happen to be values of the table; a number of trees that is n."""
    bounds = [
        (low, high) for low, high in zip(MANY_X.min(0), MANY_X.max(0), strict=True)
    ]
    tree = PrivateTree(bounds=bounds, classes=[0, 1]).fit(MANY_X, MANY_Y)
    tree.limits_ = np.array(bounds)
    tree.set_params(spent=100.0)
    assert audit.leftovers(tree, MANY_X, MANY_Y).clean
    tree.limits_ = np.sort(MANY_X, axis=0)[1]
    assert paths(audit.leftovers(tree, MANY_X, MANY_Y)) == ["limits_"]


def test_whole_and_short_numbers_are_no_findings():
    table = np.column_stack([np.arange(100.0, 160), np.arange(60) / 10])
    model = NoisyMeans().fit(table, Y)
    model.grid_ = np.array([101.0, 122.0, 0.5, 2.5])
    assert audit.leftovers(model, table, Y).clean
    table[7, 1] = model.grid_[0] = 0.4711
    assert paths(audit.leftovers(model, table, Y)) == ["grid_"]


def test_known_estimators():
    assert paths(audit.leftovers(GaussianNB().fit(X, Y), X, Y)) == [
        "class_count_", "class_prior_",
    ]  # fmt: skip
    nearest = KNeighborsClassifier().fit(X, Y)
    assert {"_fit_X", "_y", "n_samples_fit_"} <= {
        *paths(audit.leftovers(nearest, X, Y))
    }


def test_frames_with_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=list("xy") * 30)

    class Keeps:
        kept_ = None

    fitted = Keeps()
    fitted.kept_ = X[5]
    for table in (frame, pl.DataFrame(frame.to_dict("list"))):
        assert paths(audit.leftovers(fitted, table, Y)) == ["kept_"]
    assert paths(audit.leftovers(fitted, frame.to_numpy(), Y)) == ["kept_"]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_the_other_table(kind):
    """Two rows less, other numbers, the same words and whole numbers."""
    frame = kind({"a": X[:, 0], "b": list("xy") * 30, "c": np.arange(60)})
    other, y = _other_table((frame, Y))
    assert np.bincount(y).tolist() == [24, 34]
    kept = np.delete(np.arange(60), [0, 25])
    for name, same in (("a", False), ("b", True), ("c", True)):
        before = np.asarray(frame[name])[kept]
        after = np.asarray(other[name])
        assert (before == after).all() == same
        assert not set(before) & set(after) or same
    np.testing.assert_allclose(np.asarray(other["a"]), X[kept, 0], atol=0.01)
    found = audit.leftovers(KeepsSome().fit(frame, Y), frame, Y)
    assert paths(found) == ["n_", "first_"]


class KeepsSome(BaseEstimator):
    """Keeps the size and the first number of a frame, and a constant."""

    def fit(self, X, y):
        self.n_ = len(y)
        self.first_ = float(np.asarray(X["a"])[0])
        self.constant_ = 60
        return self


def test_objects_that_contain_themselves_end():
    model = NoisyMeans().fit(X, Y)
    model.itself_ = [model]
    model.seed_ = 3
    assert paths(audit.leftovers(model)) == ["seed_"]


def test_x_and_y_belong_together():
    with pytest.raises(ValueError, match="X and y must be given together"):
        audit.leftovers(GaussianNB().fit(X, Y), X)
