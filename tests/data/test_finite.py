# SPDX-License-Identifier: BSD-3-Clause
"""Large arrays are searched for infinite values in threads; errors are not ours."""

import numpy as np
import pytest
from sklearn.utils import check_array

from mrforest import ComparisonForestClassifier, MultinomialForestClassifier
from mrforest.data.finite import refuse_infinite

LARGE = (3_000, 100)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), LARGE])
@pytest.mark.parametrize("finite", [True, "allow-nan"])
@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, -np.inf, 1.7e308])
def test_same_as_scikit_learn(value, finite, shape, n_threads):
    """Wherever the value is; that of large ones the sum overflows is no error."""
    for place in (0, np.prod(shape) // 2, -1):
        X = np.zeros(shape)
        X.flat[place] = value
        X.flat[-1 - place] = value

        def told(check, X=X):
            try:
                check(X)
            except ValueError as error:
                return str(error)

        ours = told(lambda X: refuse_infinite(X, n_threads, ensure_all_finite=finite))
        assert ours == told(lambda X: check_array(X, ensure_all_finite=finite))


@pytest.mark.parametrize(
    ("forest", "value", "message"),
    [
        (MultinomialForestClassifier, np.inf, "Input X contains infinity"),
        (ComparisonForestClassifier, np.nan, "Input X contains NaN"),
    ],
)
def test_predict(forest, value, message):
    rng = np.random.default_rng(0)
    X, y = rng.random((50, LARGE[1])), np.arange(50) % 2
    options = {} if value == np.inf else {"metric": "manhattan"}
    fitted = forest(2, n_jobs=2, random_state=0, **options).fit(X, y)
    many = rng.random(LARGE)
    many[-1, -1] = value
    with pytest.raises(ValueError, match=message):
        fitted.predict(many)
