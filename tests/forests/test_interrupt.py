# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C in the middle of a fit: it ends, and the forest that was there stays.

In a process of its own, because a signal would hit the test runner.
"""

import subprocess
import sys

import pytest

# Each fit that is interrupted would take a minute or more. It has other columns and
# targets than the one before it. The signal comes when the first trees grow.
PROGRAM = """
import os, signal, sys, threading
import numpy as np
import mrforest
from mrforest.forests import base

growing, ended = threading.Event(), threading.Event()
grow_one = base.grow_one

def watched(*args, **kwargs):
    growing.set()
    return grow_one(*args, **kwargs)

def interrupt():
    growing.wait()
    pause = 0.2
    while not ended.wait(pause):
        os.kill(os.getpid(), signal.SIGINT)
        pause = 10  # Python may hear it in some __del__, which ignores it: once more

def nearer(i, j, k):
    return abs(i - j) <= abs(i - k)

def told(forest, X):
    return getattr(forest, "predict_proba", forest.predict)(X)

def main(name, params, n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 10)), rng.integers(0, 3, 20_000)
    small = X[:200, :4]
    if "oracle" in params:
        X, small = np.arange(20_000)[:, None], np.arange(200)[:, None]
    cls = getattr(mrforest, name)
    forest = cls(5, n_jobs=n_jobs, random_state=0, **params).fit(small, y[:200] % 2)
    before = told(forest, small), forest.n_leaves_
    forest.set_params(n_estimators=4000)
    if "min_samples_split" in forest.get_params():
        forest.set_params(min_samples_split=2)
    growing.clear()
    ended.clear()
    base.grow_one = watched
    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    try:
        forest.fit(X, y)
    except KeyboardInterrupt:
        print("interrupted", end=" ")
    ended.set()
    thread.join()
    after = told(forest, small), forest.n_leaves_
    print(all(map(np.array_equal, before, after)), end=" ")
    print(forest.n_features_in_ == small.shape[1], end=" ")
    # Threads that went on growing would keep the process from ending.
    forest.set_params(n_estimators=3).fit(X[:200], y[:200])
    print("fits again", len(forest.estimators_))

for name, params in eval(sys.argv[1]):
    main(name, params, int(sys.argv[2]))
"""

FORESTS = [
    ("MultinomialForestClassifier", "{}"),
    ("BreimanForestRegressor", "{}"),
    ("CompletelyRandomForestClassifier", '{"cuts": "range"}'),
    ("PurelyRandomForestClassifier", "{}"),
    ("CenteredForestClassifier", "{}"),
    ("ComparisonForestClassifier", "{}"),
    ("ComparisonForestClassifier", '{"oracle": nearer}'),
]


@pytest.mark.parametrize(("n_jobs", "forests"), [(1, FORESTS), (2, FORESTS[::3])])
def test_keyboard_interrupt(n_jobs, forests):
    """One kind of growth after the other, each interrupted."""
    listed = ", ".join(f"({name!r}, {params})" for name, params in forests)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, f"[{listed}]", str(n_jobs)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    expected = ["interrupted True True fits again 3"] * len(forests)
    assert done.stdout.splitlines() == expected
