# SPDX-License-Identifier: BSD-3-Clause
"""Split rules in Python, and what docs/rules.md promises about them."""

import pickle
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import mrforest
from mrforest import (
    BreimanForestClassifier,
    MultinomialForestClassifier,
    MultinomialForestRegressor,
)
from mrforest.rules import RuleForestClassifier, RuleForestRegressor

PAGE = Path(__file__).parent.parent / "docs" / "rules.md"
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)


def block(language: str, containing: str) -> str:
    (found,) = [
        code for name, code in BLOCKS if name == language and containing in code
    ]
    return found


class Best:
    """The best cut, the first if several are."""

    def __repr__(self) -> str:
        return "Best()"  # names of tests must not change from run to run

    def choose(self, node, candidates, rng):
        return candidates.decrease.argmax()


class Softmax:
    """The multinomial rule once more: the same draws from the same stream."""

    def __init__(self, budget: float) -> None:
        self.budget = budget

    def choose(self, node, candidates, rng):
        features = np.unique(candidates.feature)
        best = np.array([candidates.decrease[candidates.of(f)].max() for f in features])
        numbers = candidates.of(features[self.draw(best, rng)])
        return numbers[self.draw(candidates.decrease[numbers], rng)]

    def draw(self, scores, rng):
        spread = scores.max() - scores.min()
        u = rng.random()
        if spread <= 1e-12:
            return int(u * len(scores))
        weights = np.exp(self.budget / 2 * ((scores - scores.min()) / spread - 1))
        return int(np.searchsorted(weights.cumsum(), u * weights.sum(), side="right"))


@parametrize_with_checks(
    [
        RuleForestClassifier(Best(), n_estimators=5),
        RuleForestRegressor(Best(), n_estimators=5),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)


def trees_of(forest):
    return [(t.feature, t.threshold, t.children_left) for t in forest.estimators_]


@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
def test_the_multinomial_rule_in_python(leaf_rule):
    """It draws as the compiled one does, so the trees are the same."""
    X, y = load_iris(return_X_y=True)
    options = {"n_estimators": 5, "random_state": 3, "leaf_rule": leaf_rule}
    forest = RuleForestClassifier(Softmax(10.0), **options).fit(X, y)
    compiled = MultinomialForestClassifier(**options).fit(X, y)
    for mine, theirs in zip(trees_of(forest), trees_of(compiled), strict=True):
        for a, b in zip(mine, theirs, strict=True):
            assert_array_equal(a, b)
    assert_array_equal(forest.predict_proba(X), compiled.predict_proba(X))


def test_the_multinomial_rule_in_python_for_a_number():
    X, y = load_diabetes(return_X_y=True)
    options = {"n_estimators": 3, "random_state": 3, "min_samples_leaf": 20}
    forest = RuleForestRegressor(Softmax(10.0), **options).fit(X, y)
    compiled = MultinomialForestRegressor(**options).fit(X, y)
    assert_array_equal(forest.predict(X), compiled.predict(X))


def test_decreases_are_what_they_say():
    """Of the Gini impurity, and of the variance in the units of the target."""
    seen = {}

    class Look:
        def choose(self, node, candidates, rng):
            seen.setdefault("node", node)
            seen.setdefault("candidates", candidates)

    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 0, 1, 1])
    RuleForestClassifier(
        Look(), n_estimators=1, sampling="all", min_samples_leaf=1
    ).fit(X, y)
    assert_array_equal(seen["candidates"].threshold, [0.5, 1.5, 2.5])
    np.testing.assert_allclose(seen["candidates"].decrease, [1 / 6, 1 / 2, 1 / 6])
    assert_array_equal(seen["node"].class_counts, [2, 2])
    assert (seen["node"].depth, seen["node"].n_structure) == (0, 4)

    seen.clear()
    target = np.array([1e6, 1e6, 1e6 + 4, 1e6 + 8])
    RuleForestRegressor(Look(), n_estimators=1, sampling="all", min_samples_leaf=1).fit(
        X, target
    )
    parts = [(1, 3), (2, 2), (3, 1)]
    wanted = [
        target.var() - (n * target[:n].var() + m * target[n:].var()) / 4
        for n, m in parts
    ]
    np.testing.assert_allclose(seen["candidates"].decrease, wanted, rtol=1e-9)
    assert seen["node"].class_counts is None


def test_none_leaves_a_leaf():
    class Stump:
        def choose(self, node, candidates, rng):
            return None if node.depth == 1 else candidates.decrease.argmax()

    X, y = load_iris(return_X_y=True)
    forest = RuleForestClassifier(Stump(), n_estimators=5, random_state=0).fit(X, y)
    assert_array_equal(forest.depths_, 1)


@pytest.mark.parametrize("answer", [-1, 10**6, 1.5, "3", [0]])
def test_a_wrong_answer_is_named(answer):
    class Wrong:
        def choose(self, node, candidates, rng):
            return answer

    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"Wrong\.choose returned .*number of a"):
        RuleForestClassifier(Wrong(), n_estimators=2).fit(X, y)


def test_an_error_in_a_rule_reaches_the_user():
    class Broken:
        def choose(self, node, candidates, rng):
            raise ZeroDivisionError("mine")

    X, y = load_iris(return_X_y=True)
    for n_jobs in (1, 2):
        with pytest.raises(ZeroDivisionError, match="mine"):
            RuleForestClassifier(Broken(), n_jobs=n_jobs).fit(X, y)


def test_a_rule_must_choose():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"'rule' parameter .*choose"):
        RuleForestClassifier(object()).fit(X, y)


def test_samplings():
    """Which rows shape and which fill."""
    X, y = load_iris(return_X_y=True)
    forest = RuleForestClassifier(Best(), n_estimators=2, random_state=0)
    for sampling, both in [("partition", False), ("bootstrap", True), ("all", True)]:
        fitted = clone(forest).set_params(sampling=sampling).fit(X, y)
        structure, estimation = (
            fitted.structure_samples(0),
            fitted.estimation_samples(0),
        )
        assert np.array_equal(structure, estimation) == both
        if sampling == "all":
            assert_array_equal(structure, np.arange(len(X)))
    bag = clone(forest).set_params(sampling="bootstrap").fit(X, y)
    breiman = BreimanForestClassifier(2, max_features=None, random_state=0).fit(X, y)
    rows = breiman._batches[0].origin[
        mrforest._core.bootstrap_points(
            mrforest.forests._sampling.tree_key(0, 0), len(X)
        )
    ]
    assert_array_equal(bag.structure_samples(0), np.sort(rows))


def test_same_forest_for_any_number_of_threads():
    X, y = load_iris(return_X_y=True)
    forest = RuleForestClassifier(Softmax(5.0), n_estimators=6, random_state=1)
    one = clone(forest).set_params(n_jobs=1).fit(X, y)
    two = clone(forest).set_params(n_jobs=2).fit(X, y)
    assert pickle.dumps(one._forest) == pickle.dumps(two._forest)


def test_the_page_in_python(capsys):
    names: dict = {}
    exec(block("python", "class TopThree:"), names)
    exec(block("python", "RuleForestClassifier(TopThree()"), names)
    assert 0.9 < float(capsys.readouterr().out) < 1


@pytest.fixture(scope="module")
def compiled_rule(tmp_path_factory):
    """The page's compiled rule, built against the installed package."""
    cython = pytest.importorskip("Cython", reason="Cython is needed to build a rule")
    folder = tmp_path_factory.mktemp("rule")
    (folder / "top_three.pyx").write_text(block("cython", "class TopThree(SplitRule)"))
    core = Path(mrforest._core.__file__).parent
    include = [core, Path(sysconfig.get_path("include"))]
    subprocess.run(
        [
            sys.executable,
            "-m",
            "cython",
            "-3",
            "--include-dir",
            str(core.parent.parent),
            "top_three.pyx",
        ],
        cwd=folder,
        check=True,
    )
    assert cython.__version__
    library = folder / f"top_three{sysconfig.get_config_var('EXT_SUFFIX')}"
    compiler = sysconfig.get_config_var("CC").split()
    subprocess.run(
        [
            *compiler,
            "-shared",
            "-fPIC",
            *(f"-I{path}" for path in include),
            "top_three.c",
            "-o",
            str(library),
            "-lm",
        ],
        cwd=folder,
        check=True,
    )
    sys.path.insert(0, str(folder))
    yield __import__("top_three").TopThree
    sys.path.remove(str(folder))


def test_the_page_compiled(compiled_rule):
    """The compiled rule grows the trees of the rule in Python."""
    names: dict = {}
    exec(block("python", "class TopThree:"), names)

    class TopThreeForestClassifier(MultinomialForestClassifier):
        def _rule(self, n_features):
            return compiled_rule()

    X, y = load_breast_cancer(return_X_y=True)
    options = {"n_estimators": 5, "random_state": 0}
    compiled = TopThreeForestClassifier(**options).fit(X, y)
    plain = RuleForestClassifier(names["TopThree"](), **options).fit(X, y)
    for mine, theirs in zip(trees_of(plain), trees_of(compiled), strict=True):
        for a, b in zip(mine, theirs, strict=True):
            assert_array_equal(a, b)
