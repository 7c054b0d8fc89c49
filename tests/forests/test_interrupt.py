# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C in the middle of a fit: it ends, and the forest that was there stays.

In a process of its own, because a signal would hit the test runner.
"""

import subprocess
import sys

import pytest

# The fit that is interrupted would take many minutes. It has other columns and classes
# than the one before it. The signal comes when the first tree grows.
PROGRAM = """
import os, signal, sys, threading
import numpy as np
from mrforest import MultinomialForestClassifier
from mrforest.forests import _base

growing = threading.Event()
grow_one = _base.grow_one

def watched(*args, **kwargs):
    growing.set()
    return grow_one(*args, **kwargs)

def interrupt():
    growing.wait()
    os.kill(os.getpid(), signal.SIGINT)

def main(n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 10)), rng.integers(0, 3, 20_000)
    forest = MultinomialForestClassifier(5, n_jobs=n_jobs, random_state=0)
    forest.fit(X[:500, :4], y[:500] % 2)
    query = X[:100, :4]
    before = forest.predict_proba(query), forest.feature_importances_
    forest.set_params(n_estimators=20_000, min_samples_leaf=1)
    _base.grow_one = watched
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        forest.fit(X, y)
    except KeyboardInterrupt:
        print("interrupted")
    after = forest.predict_proba(query), forest.feature_importances_
    print("same", all(map(np.array_equal, before, after)), forest.n_features_in_)
    print("classes", forest.classes_.tolist())
    # Threads that went on growing would keep the process from ending.
    forest.set_params(n_estimators=3).fit(X[:200], y[:200])
    print("fits again", len(forest.estimators_), forest.classes_.tolist())

main(int(sys.argv[1]))
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_keyboard_interrupt(n_jobs):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(n_jobs)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "interrupted",
        "same True 4",
        "classes [0, 1]",
        "fits again 3 [0, 1, 2]",
    ]
