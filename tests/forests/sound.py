# SPDX-License-Identifier: BSD-3-Clause
"""What holds for any fitted forest and any query."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_regressor


def assert_sound(forest, X) -> np.ndarray:
    """Check answers, importances and the shape of the trees; return the answers."""
    if is_regressor(forest):
        answers = forest.predict(X)
        assert answers.shape == (len(X),)
        assert np.isfinite(answers).all()
    else:
        answers = forest.predict_proba(X)
        assert answers.shape == (len(X), len(forest.classes_))
        assert ((answers >= 0) & (answers <= 1)).all()
        assert_allclose(answers.sum(axis=1), 1, rtol=1e-12)
        winner = forest.classes_[answers.argmax(axis=1)]
        assert_array_equal(forest.predict(X), winner)
    if hasattr(forest, "feature_importances_"):
        for importances in (forest.feature_importances_, forest.structure_importances_):
            assert np.isfinite(importances).all()
            total = np.abs(importances).sum()
            assert total == 0 or abs(total - 1) < 1e-9
    assert (forest.depths_ >= 0).all()
    nodes = [len(tree.children_left) for tree in forest.estimators_]
    assert_array_equal(2 * forest.n_leaves_ - 1, nodes)
    leaves = forest.apply(X)
    for tree, of_tree in zip(forest.estimators_, leaves.T, strict=True):
        assert (tree.children_left[of_tree] == -1).all()
    return answers
