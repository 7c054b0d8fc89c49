# SPDX-License-Identifier: BSD-3-Clause
"""Everything that a privacy report says is so: each leak is shown on a forest."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest

from mrforest import MultinomialForestClassifier
from mrforest.forests import base
from mrforest.privacy import Leak, allocate
from tests.leaves import leaf_options

# Shown below, test by test
SHOWN = {
    "values",
    "categories",
    "classes",
    "features",
    "class weights",
    "where trees end",
    "halves",
    "best splits",
    "majorities",
    "counts",
    "importances",
    "number and order of rows",
    "seed",
}


def table(seed, n_rows=120, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_features))
    return X, (X[:, 0] + 0.3 * rng.standard_normal(n_rows) > 0.5).astype(int)


def fitted(X, y, **options):
    return MultinomialForestClassifier(
        **{"n_estimators": 10, "random_state": 0, **options}
    ).fit(X, y)


def alternating(n_rows):
    return np.arange(float(n_rows))[:, None], np.arange(n_rows) % 2


def told(forest):
    return {item.what for item in forest.privacy_report().items}


# ---- the leaks -----------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [8, 255, "exact"])
def test_thresholds_are_midpoints_of_neighbouring_values(seed, max_bins):
    X, y = table(seed)
    forest = fitted(X, y, max_bins=max_bins)
    seen = 0
    for tree in forest.estimators_:
        for feature, threshold in zip(tree.feature, tree.threshold, strict=True):
            if feature >= 0:
                values = np.sort(X[:, feature])
                above = np.searchsorted(values, threshold)
                assert threshold == values[above - 1] / 2 + values[above] / 2
                seen += 1
    assert seen > 0


def test_a_row_makes_thresholds_that_are_impossible_without_it():
    X, y = np.array([[0.0], [1.0]] * 10), np.array([0, 1] * 10)
    before = fitted(X, y, n_estimators=50)
    after = fitted(np.append(X, [[0.3]], axis=0), np.append(y, 0), n_estimators=50)

    def thresholds(forest):
        found = np.concatenate([tree.threshold for tree in forest.estimators_])
        return set(found[~np.isnan(found)])

    assert thresholds(before) == {0.5}
    assert thresholds(after) == {0.15, 0.65}


def test_categories_are_those_that_occur():
    colours = pd.Categorical(["red", "blue"] * 20, ["red", "blue", "green"])
    frame, y = pd.DataFrame({"colour": colours}), np.array([0, 1] * 20)
    assert list(fitted(frame, y)._schema.categories[0]) == ["blue", "red"]
    frame.loc[0, "colour"] = "green"
    assert list(fitted(frame, y)._schema.categories[0]) == ["blue", "green", "red"]


def test_classes_are_those_that_occur():
    X, y = table(0)
    assert fitted(X, y).classes_.tolist() == [0, 1]
    y[7] = 2
    assert fitted(X, y).classes_.tolist() == [0, 1, 2]


def test_a_feature_that_cannot_be_cut_is_not_drawn():
    X, y = table(0)
    X[:, 2] = 0.0
    any_feature = {"feature_budget": 0.0, "n_estimators": 100}
    assert fitted(X, y, **any_feature).n_leaves_.min() > 1
    # Now roots may draw the third feature, and are left as they are: its one cut has
    # no estimation points on one side.
    X[0, 2] = 1.0
    assert fitted(X, y, **any_feature).n_leaves_.min() == 1


def test_balanced_weights_are_shares_of_the_rows():
    X, y = table(0)
    forest = fitted(X, y, class_weight="balanced", min_samples_split=2)
    masses, classes = forest._forest.mass, forest._forest.mass_class
    of_one = [masses[classes == c].min() for c in (0, 1)]  # leaves with one point
    counts = np.bincount(y)
    assert of_one[0] / of_one[1] == pytest.approx(counts[1] / counts[0], rel=1e-6)


@pytest.mark.parametrize(("leaf_rule", "n_rows"), [("stop", 11), ("floor", 19)])
def test_one_row_decides_whether_there_is_a_split(leaf_rule, n_rows, seed):
    options = {
        **leaf_options(leaf_rule, 5),
        "n_estimators": 50,
        "random_state": seed,
    }
    without = fitted(*alternating(n_rows), **options)
    assert without.n_leaves_.max() == 1
    assert fitted(*alternating(n_rows + 1), **options).n_leaves_.max() > 1


def test_the_shape_tells_counts_of_estimation_points(seed):
    X, y = table(seed)
    forest = fitted(X, y)
    for i, tree in enumerate(forest.estimators_):
        nodes = tree.apply(X[forest.estimation_samples(i)])
        points = np.bincount(nodes, minlength=len(tree.children_left))
        for node in reversed(range(len(points))):
            if tree.children_left[node] >= 0:
                children = tree.children_left[node], tree.children_right[node]
                assert min(points[list(children)]) > 0
                points[node] = sum(points[list(children)])
                assert points[node] > 5


def test_one_row_moves_others_from_half_to_half(seed):
    X, y = table(seed)
    before, after = fitted(X, y), fitted(X[:-1], y[:-1])
    moved = [
        set(before.structure_samples(tree)) & set(after.estimation_samples(tree))
        for tree in range(10)
    ]
    assert any(moved)
    sizes = {len(before.structure_samples(tree)) for tree in range(10)}
    assert sizes == {len(X) // 2}


def test_infinite_budgets_take_the_best():
    # Only the first feature tells the class, and one cut of it all.
    X = np.column_stack([np.repeat([0.0, 1.0], 20), np.tile([0.0, 1.0], 20)])
    y = X[:, 0].astype(int)
    forest = fitted(X, y, feature_budget=math.inf, split_budget=math.inf)
    assert {(tree.feature[0], tree.threshold[0]) for tree in forest.estimators_} == {
        (0, 0.5)
    }


def test_an_infinite_label_budget_tells_majorities(seed):
    X, y = table(seed)
    forest = fitted(X, y)
    for i, tree in enumerate(forest.estimators_):
        rows = forest.estimation_samples(i)
        leaves = tree.apply(X[rows])
        for leaf in np.unique(leaves):
            counts = np.bincount(y[rows][leaves == leaf], minlength=2)
            label = tree.predict(X[rows][leaves == leaf][:1])[0]
            assert counts[label] == counts.max()


@pytest.mark.parametrize(
    ("voting", "label_budget"), [("hard", 1.0), ("hard", math.inf), ("soft", math.inf)]
)
def test_leaves_keep_exact_counts(voting, label_budget, seed):
    X, y = table(seed)
    forest = fitted(X, y, voting=voting, label_budget=label_budget)
    forest.set_params(voting="soft")
    shares = np.zeros((len(X), 2))
    for i, tree in enumerate(forest.estimators_):
        rows = forest.estimation_samples(i)
        leaves, filled = tree.apply(X), tree.apply(X[rows])
        counts = np.array([np.bincount(y[rows][filled == a], minlength=2)
                           for a in leaves])  # fmt: skip
        shares += counts / counts.sum(axis=1, keepdims=True)
        assert forest._forest[i].leaf_points.sum() == len(rows)
        for c in (0, 1):
            of_class = forest._forest[i].mass_class == c
            assert forest._forest[i].mass[of_class].sum() == (y[rows] == c).sum()
    np.testing.assert_allclose(forest.predict_proba(X), shares / 10)


@pytest.mark.parametrize("name", ["feature_importances_", "structure_importances_"])
def test_one_row_shows_in_importances(name):
    X, y = table(0)
    one = getattr(fitted(X, y), name)
    y[5] = 1 - y[5]
    assert not np.array_equal(one, getattr(fitted(X, y), name))


def test_number_and_order_of_rows_are_kept():
    X, y = table(0)
    (batch,) = fitted(X, y)._batches
    assert sorted(batch.origin) == list(range(len(X)))
    y[5] = 1 - y[5]
    (other,) = fitted(X, y)._batches
    assert not np.array_equal(batch.origin, other.origin)  # it says where row 5 went


def test_the_seed_lets_others_check_a_guess_of_the_table(monkeypatch):
    X, y = table(0)
    released = pickle.loads(pickle.dumps(fitted(X, y, random_state=None)))
    monkeypatch.setattr(base, "seed_from", lambda random_state: released._seed)
    right = fitted(X, y)
    assert np.array_equal(right._forest.nodes, released._forest.nodes)
    X[0, 0] = 1 - X[0, 0]
    wrong = fitted(X, y)
    assert not np.array_equal(wrong._forest.nodes, released._forest.nodes)


def test_without_random_state_the_seed_comes_from_numpys_generator():
    X, y = table(0)
    np.random.seed(3)  # noqa: NPY002
    first = fitted(X, y, random_state=None)._seed
    np.random.seed(3)  # noqa: NPY002
    assert fitted(X, y, random_state=None)._seed == first


# ---- which of them are told ----------------------------------------------------------


def test_every_item_is_shown_above():
    everything = MultinomialForestClassifier(
        feature_budget=math.inf, class_weight="balanced"
    )
    assert told(everything) == SHOWN


def test_a_forest_keeps_nothing_that_no_item_is_about():
    forest = fitted(*table(0))
    kept = set(vars(forest)) - set(forest.get_params())
    assert kept == {
        "_batches",  # number and order of rows
        "_forest",  # values, counts, labels, shape
        "_schema",  # categories
        "_seed",
        "_structure_decrease",  # importances
        "classes_",
        "n_classes_",
        "n_features_in_",  # known before
    }


def test_items_follow_the_parameters():
    plain = MultinomialForestClassifier(label_budget=1.0, categorical_features=None)
    absent = {"categories", "class weights", "best splits", "majorities"}
    assert told(plain) == SHOWN - absent
    infinite = MultinomialForestClassifier(
        feature_budget=math.inf, split_budget=math.inf
    )
    (item,) = (i for i in infinite.privacy_report().items if i.what == "best splits")
    assert item.why.startswith("feature_budget and split_budget:")


@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_texts_follow_the_parameters(leaf_rule, voting):
    forest = MultinomialForestClassifier(**leaf_options(leaf_rule, 5), voting=voting)
    texts = {item.what: item.why for item in forest.privacy_report().items}
    assert ("both sides" in texts["where trees end"]) == (leaf_rule == "floor")
    assert ("predict_proba" in texts["counts"]) == (voting == "soft")


def test_a_fitted_forest_knows_its_columns():
    X, y = table(0)
    assert "categories" not in told(fitted(X, y))
    codes = pd.DataFrame({"a": pd.Categorical((9 * X[:, 0]).astype(int))})
    assert "values" not in told(fitted(codes, y))
    assert "categories" in told(fitted(codes, y))


# ---- the theorem ---------------------------------------------------------------------


def test_the_theorem_undoes_its_allocation():
    budgets = allocate(3.0, 7, 5)
    forest = MultinomialForestClassifier(7, max_depth=5, **budgets)
    report = forest.privacy_report()
    assert report.budgets == budgets
    assert report.theorem_epsilon == pytest.approx(3.0)
    assert report.sequential_epsilon == pytest.approx(6.0)
    assert report.epsilon == math.inf


def test_a_fitted_forest_counts_its_own_trees_and_levels():
    budgets = {"feature_budget": 1.0, "split_budget": 2.0, "label_budget": 4.0}
    forest = fitted(*table(0), max_depth=50, **budgets)
    depth = forest.depths_.max()
    forest.set_params(n_estimators=77)
    report = forest.privacy_report()
    assert (report.n_estimators, report.depth) == (10, depth)
    assert report.theorem_epsilon == 10 * max(depth * 3, 4)
    assert report.sequential_epsilon == 10 * (depth * 3 + 4)


def test_no_bound_no_epsilon():
    assert MultinomialForestClassifier(label_budget=1).privacy_report().depth is None
    for options in ({"label_budget": 1}, {"max_depth": 3}):
        report = MultinomialForestClassifier(**options).privacy_report()
        assert report.theorem_epsilon == report.sequential_epsilon == math.inf


def test_trees_of_one_leaf_draw_no_splits():
    forest = fitted(*alternating(11), feature_budget=math.inf, label_budget=0.5)
    assert forest.privacy_report().theorem_epsilon == 10 * 0.5


# ---- the report ----------------------------------------------------------------------


def test_text():
    report = MultinomialForestClassifier(max_depth=5, label_budget=1).privacy_report()
    text = str(report)
    assert text.startswith("Not differentially private")
    assert all(f"\n- {item.what}: " in text for item in report.items)
    assert "100 max(5 (10 + 10), 1) = 10000 by Theorem 2" in text
    assert text.endswith("PrivateForestClassifier.")
    assert max(map(len, text.splitlines())) <= 88


def test_items_are_plain_data():
    item = MultinomialForestClassifier().privacy_report().items[0]
    assert item == Leak(item.what, item.why)
    assert isinstance(item.what, str)
    assert isinstance(item.why, str)


def test_bad_parameters_are_named():
    forest = MultinomialForestClassifier(label_budget=-1)
    with pytest.raises(ValueError, match="'label_budget' parameter"):
        forest.privacy_report()
