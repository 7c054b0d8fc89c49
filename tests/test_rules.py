# SPDX-License-Identifier: BSD-3-Clause
"""Split rules in Python, and what docs/rules.md promises about them."""

import importlib.util
import pickle
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import mrforest
from mrforest import (
    BreimanForestClassifier,
    MultinomialForestClassifier,
    MultinomialForestRegressor,
)
from mrforest.rules import RuleForestClassifier, RuleForestRegressor
from tests.leaves import leaf_options

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
    options = {"n_estimators": 5, "random_state": 3, **leaf_options(leaf_rule, 5)}
    forest = RuleForestClassifier(Softmax(10.0), **options).fit(X, y)
    compiled = MultinomialForestClassifier(**options).fit(X, y)
    for mine, theirs in zip(trees_of(forest), trees_of(compiled), strict=True):
        for a, b in zip(mine, theirs, strict=True):
            assert_array_equal(a, b)
    assert_array_equal(forest.predict_proba(X), compiled.predict_proba(X))


def test_the_multinomial_rule_in_python_for_a_number():
    X, y = load_diabetes(return_X_y=True)
    options = {"n_estimators": 3, "random_state": 3, "min_samples_split": 21}
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
    with pytest.warns(UserWarning, match="Look.choose returned None"):
        RuleForestClassifier(
            Look(), n_estimators=1, honest=False, min_samples_split=2
        ).fit(X, y)
    assert_array_equal(seen["candidates"].threshold, [0.5, 1.5, 2.5])
    np.testing.assert_allclose(seen["candidates"].decrease, [1 / 6, 1 / 2, 1 / 6])
    assert_array_equal(seen["node"].class_weights, [2, 2])
    assert (seen["node"].depth, seen["node"].n_structure) == (0, 4)

    seen.clear()
    target = np.array([1e6, 1e6, 1e6 + 4, 1e6 + 8])
    with pytest.warns(UserWarning, match="every tree is a single leaf"):
        RuleForestRegressor(
            Look(), n_estimators=1, honest=False, min_samples_split=2
        ).fit(X, target)
    parts = [(1, 3), (2, 2), (3, 1)]
    wanted = [
        target.var() - (n * target[:n].var() + m * target[n:].var()) / 4
        for n, m in parts
    ]
    np.testing.assert_allclose(seen["candidates"].decrease, wanted, rtol=1e-9)
    assert seen["node"].class_weights is None


def test_none_leaves_a_leaf():
    class Stump:
        def choose(self, node, candidates, rng):
            return None if node.depth == 1 else candidates.decrease.argmax()

    X, y = load_iris(return_X_y=True)
    forest = RuleForestClassifier(Stump(), n_estimators=5, random_state=0).fit(X, y)
    assert_array_equal(forest.depths_, 1)


@pytest.mark.parametrize("answer", [-1, 10**6, 1.5, "3", [0], True, np.True_])
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
    for honest, bootstrap in [(True, False), (False, True), (False, False)]:
        fitted = clone(forest).set_params(honest=honest, bootstrap=bootstrap).fit(X, y)
        structure, estimation = (
            fitted.structure_samples(0),
            fitted.estimation_samples(0),
        )
        assert np.array_equal(structure, estimation) != honest
        if not honest and not bootstrap:
            assert_array_equal(structure, np.arange(len(X)))
    bag = clone(forest).set_params(honest=False, bootstrap=True).fit(X, y)
    breiman = BreimanForestClassifier(2, max_features=None, random_state=0).fit(X, y)
    rows = breiman._batches[0].origin[
        mrforest._core.bootstrap_points(
            mrforest.forests.sampling.tree_key(0, 0), len(X)
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
    exec(block("python", "class TopFeatures:"), names)
    exec(block("python", "cross_val_score"), names)
    assert 0.9 < float(capsys.readouterr().out) < 1


def build_rule(folder: Path, name: str, code: str):
    """Build a compiled rule against the installed package, and import it."""
    pytest.importorskip("Cython", reason="Cython is needed to build a rule")
    (folder / f"{name}.pyx").write_text(code)
    core = Path(mrforest._core.__file__).parent
    packages = str(core.parent.parent)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "cython",
            "-3",
            "--include-dir",
            packages,
            f"{name}.pyx",
        ],
        cwd=folder,
        check=True,
    )
    library = folder / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = [core, Path(sysconfig.get_path("include"))]
    subprocess.run(
        [
            *sysconfig.get_config_var("CC").split(),
            "-shared",
            "-fPIC",
            *(f"-I{path}" for path in include),
            f"{name}.c",
            "-o",
            str(library),
            "-lm",
        ],
        cwd=folder,
        check=True,
    )
    found = importlib.util.spec_from_file_location(name, library)
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module  # so that its objects pickle
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def compiled_rule(tmp_path_factory):
    """The page's compiled rule."""
    code = block("cython", "class TopFeatures(SplitRule)")
    folder = tmp_path_factory.mktemp("rule")
    return build_rule(folder, "top_features", code).TopFeatures


def test_the_page_compiled(compiled_rule):
    """The compiled rule grows the trees of the rule in Python, and clones."""
    names: dict = {}
    exec(block("python", "class TopFeatures:"), names)
    X, y = load_breast_cancer(return_X_y=True)
    for k in (1, 3):
        options = {"n_estimators": 5, "random_state": 0}
        forest = clone(RuleForestClassifier(compiled_rule(k), **options))
        assert forest.rule.k == k
        compiled = forest.fit(X, y)
        plain = RuleForestClassifier(names["TopFeatures"](k), **options).fit(X, y)
        for mine, theirs in zip(trees_of(plain), trees_of(compiled), strict=True):
            for a, b in zip(mine, theirs, strict=True):
                assert_array_equal(a, b)
        assert_array_equal(
            plain.structure_importances_, compiled.structure_importances_
        )


NOSY_RULE = """
from libc.stdint cimport int64_t
from mrforest._core.rules.rule cimport LEAF, Draw, SplitRule


cdef class Nosy(SplitRule):
    cdef readonly int answer
    def __init__(self, answer):
        self.answer = answer

    def __reduce__(self):
        return type(self), (self.answer,)

    cdef Py_ssize_t choose_feature(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work,
        Draw* draw
    ) noexcept nogil:
        cdef Py_ssize_t i
        if self.answer == 1:
            return n
        if self.answer == 2 or draw.depth == 2 or draw.n_structure < 20:
            return LEAF
        for i in range(n):  # the feature whose number is the depth, if it can be cut
            if draw.features[i] == draw.depth:
                return i
        return LEAF

    cdef Py_ssize_t choose_cut(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work,
        Draw* draw
    ) noexcept nogil:
        if self.answer == 3 or draw.features[0] != draw.depth:
            return -7
        return n // 2 if draw.totals[0] > 0 else LEAF
"""


@pytest.fixture(scope="module")
def nosy_rule(tmp_path_factory):
    return build_rule(tmp_path_factory.mktemp("nosy"), "nosy", NOSY_RULE).Nosy


def test_a_compiled_rule_knows_its_node(nosy_rule):
    """Depth, columns and counts of the node; the rule in Python does the same."""

    class Plain:
        def choose(self, node, candidates, rng):
            if node.depth == 2 or node.n_structure < 20 or not node.class_weights[0]:
                return None
            cuts = candidates.of(node.depth)
            return cuts[len(cuts) // 2] if len(cuts) else None

    X, y = load_iris(return_X_y=True)
    options = {"n_estimators": 10, "random_state": 0}
    compiled = RuleForestClassifier(nosy_rule(0), **options).fit(X, y)
    assert compiled.depths_.max() == 2
    plain = RuleForestClassifier(Plain(), **options).fit(X, y)
    for mine, theirs in zip(trees_of(plain), trees_of(compiled), strict=True):
        for a, b in zip(mine, theirs, strict=True):
            assert_array_equal(a, b)


@pytest.mark.parametrize("answer", [1, 3])
def test_a_wrong_answer_of_a_compiled_rule(nosy_rule, answer):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="chose a feature or a cut that it was not"):
        RuleForestClassifier(nosy_rule(answer), n_estimators=2).fit(X, y)


def test_a_compiled_rule_may_leave_leaves(nosy_rule):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="every tree is a single leaf"):
        forest = RuleForestClassifier(nosy_rule(2), n_estimators=2).fit(X, y)
    assert_array_equal(forest.n_leaves_, 1)


def test_what_a_rule_gets_is_its_own():
    """Writing into it changes nothing: the rule may use it as scratch."""

    class Vandal(Best):
        def choose(self, node, candidates, rng):
            best = candidates.decrease.argmax()
            for array in vars(candidates).values():
                array[:] = 1
            if node.class_weights is not None:
                node.class_weights[:] = -1
            candidates.feature[:] = 10**8
            return best

    for kind, (X, y) in [
        (RuleForestClassifier, load_iris(return_X_y=True)),
        (RuleForestRegressor, load_diabetes(return_X_y=True)),
    ]:
        good = kind(Best(), n_estimators=3, random_state=0).fit(X, y)
        bad = kind(Vandal(), n_estimators=3, random_state=0).fit(X, y)
        assert pickle.dumps(good._forest) == pickle.dumps(bad._forest)
        assert_array_equal(good.structure_importances_, bad.structure_importances_)


def test_importances_of_a_rule_are_those_of_the_forest():
    """Infinite budgets take the best cut; with other ties a few nodes differ."""
    X, y = load_diabetes(return_X_y=True)
    options = {"n_estimators": 20, "random_state": 0}
    rule = RuleForestRegressor(Best(), **options).fit(X, y)
    budgets = {"feature_budget": np.inf, "split_budget": np.inf}
    forest = MultinomialForestRegressor(**budgets, **options).fit(X, y)
    assert rule.structure_importances_.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        rule.structure_importances_, forest.structure_importances_, atol=0.01
    )


def test_class_weights_of_a_node():
    """Sample weights, up to a common power of two, times class weights."""
    seen = []

    class Look(Best):
        def choose(self, node, candidates, rng):
            seen.append((node.depth, node.class_weights))
            return super().choose(node, candidates, rng)

    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(150)
    RuleForestClassifier(
        Look(), n_estimators=1, honest=False, class_weight={0: 1, 1: 2.5, 2: 1}
    ).fit(X, y, sample_weight=weight)
    expected = np.bincount(y, weights=weight) * [1, 2.5, 1]
    factor = seen[0][1] / expected
    np.testing.assert_allclose(factor, factor[0], rtol=1e-9)
    assert np.frexp(factor[0].round(9))[0] == 0.5


def test_an_error_tells_where():
    class Broken:
        def choose(self, node, candidates, rng):
            return candidates.best_of(17)

    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="feature 17 has no candidate") as caught:
        RuleForestClassifier(Broken(), n_estimators=1).fit(X, y)
    assert "depth 0" in caught.value.__notes__[0]


def test_the_end_of_an_iterator_is_an_error():
    class Ended:
        def choose(self, node, candidates, rng):
            return next(iter(()))

    X, y = load_iris(return_X_y=True)
    with pytest.raises(RuntimeError, match=r"Ended\.choose raised StopIteration"):
        RuleForestClassifier(Ended(), n_estimators=1).fit(X, y)


def test_a_class_is_not_a_rule():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"not the class Best: Best\(\)"):
        RuleForestClassifier(Best).fit(X, y)


def test_a_rule_in_python_is_not_a_compiled_one():
    class Mistaken(MultinomialForestClassifier):
        def _rule(self, n_features):
            return Best()

    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"must return a compiled split rule"):
        Mistaken().fit(X, y)


def test_a_rule_is_tuned():
    """A rule that inherits from BaseEstimator has parameters."""

    class Tuned(BaseEstimator):
        def __init__(self, deepest=1):
            self.deepest = deepest

        def choose(self, node, candidates, rng):
            if node.depth == self.deepest:
                return None
            return candidates.decrease.argmax()

    X, y = load_iris(return_X_y=True)
    forest = RuleForestClassifier(Tuned(), n_estimators=5, random_state=0)
    search = GridSearchCV(forest, {"rule__deepest": [1, 3]}, cv=3).fit(X, y)
    assert search.best_params_ == {"rule__deepest": 3}
