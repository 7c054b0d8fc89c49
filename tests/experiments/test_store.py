# SPDX-License-Identifier: BSD-3-Clause
"""Results are there once, whole, and for everybody to read."""

import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pandas")

from mrforest import __version__
from mrforest.experiments import store as stores
from mrforest.experiments.store import Store, identity

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "results.sqlite"


@pytest.fixture
def store(path):
    with Store(path) as opened:
        yield opened


def ask(path, query):
    connection = sqlite3.connect(path)
    rows = connection.execute(query).fetchall()
    connection.close()
    return rows


# ---- identities ----------------------------------------------------------------------


@given(st.dictionaries(st.text(), SCALARS | st.lists(SCALARS)), st.randoms())
def test_identity_is_the_same_in_any_order_and_can_be_read_back(settings, random):
    names = list(settings)
    random.shuffle(names)
    shuffled = {name: settings[name] for name in names}
    assert identity(shuffled) == identity(settings)
    assert json.loads(identity(settings)) == settings


def test_identity_tells_settings_apart():
    texts = [
        identity({"a": value}) for value in (1, 2, True, "1", None, [1], "x", math.inf)
    ]
    assert len(set(texts)) == len(texts)


def test_numbers_of_numpy_are_plain_numbers():
    ours = identity({"a": np.int64(3), "b": np.float64(0.5), "c": np.array([1, 2])})
    assert ours == identity({"a": 3, "b": 0.5, "c": [1, 2]})


def test_infinity_is_a_number():
    assert identity({"budget": math.inf}) == '{"budget":9e999}'
    assert json.loads(identity({"budget": math.inf})) == {"budget": math.inf}
    with pytest.raises(ValueError, match="-inf"):
        identity({"budget": -math.inf})


# ---- results -------------------------------------------------------------------------


def test_a_result_is_there_once(store):
    store.add("e", {"b": 1, "a": "x"}, {"accuracy": 0.5})
    store.add("e", {"a": "x", "b": 1}, {"accuracy": 0.9})
    assert store.done("e") == {'{"a":"x","b":1}'}
    assert store.done("another") == set()
    assert list(store.frame("e")["accuracy"]) == [0.5]


def test_a_frame_has_settings_measures_version_and_time(store):
    store.add("e", {"dataset": "zoo", "fold": 0}, {"accuracy": 0.5, "gap": np.nan})
    store.add("e", {"dataset": "zoo", "fold": 1}, {"accuracy": 0.7, "gap": math.inf})
    frame = store.frame("e")
    assert list(frame) == ["dataset", "fold", "accuracy", "gap", "version", "added"]
    assert list(frame["fold"]) == [0, 1]
    assert frame["gap"].isna().tolist() == [True, False]
    assert frame["gap"][1] == math.inf
    assert set(frame["version"]) == {__version__}
    assert frame["added"].dt.tz is not None
    assert store.frame("nothing").empty


def test_a_view_has_plain_columns(store, path):
    store.add("my-table", {"dataset": "zoo", "fold": 0}, {"accuracy": 0.5}, seconds=2)
    store.add("my-table", {"dataset": "zoo", "fold": 1}, {"accuracy": 1.0, "more": 7})
    store.add("other", {"fold": 9}, {})
    rows = ask(
        path, "select dataset, avg(accuracy), sum(more) from my_table group by 1"
    )
    assert rows == [("zoo", 0.75, 7)]
    rows = ask(path, "select settings, seconds, version from my_table where fold = 0")
    assert rows == [('{"dataset":"zoo","fold":0}', 2.0, __version__)]
    assert ask(path, "select fold from other") == [(9,)]


def test_a_view_grows_by_the_columns_of_two_stores(store, path):
    with Store(path) as other:
        store.add("e", {"fold": 0}, {"a": 1})
        other.add("e", {"fold": 1}, {"b": 2})
        store.add("e", {"fold": 2}, {"a": 3, "c": 4})
        other.add("e", {"fold": 3}, {"b": 5})
    rows = ask(path, "select fold, a, b, c from e order by fold")
    assert rows == [
        (0, 1, None, None),
        (1, None, 2, None),
        (2, 3, None, 4),
        (3, None, 5, None),
    ]


@pytest.mark.parametrize(
    ("experiment", "settings", "measures", "named"),
    [
        ("no good", {}, {}, "no good"),
        ("claims", {}, {}, "claims"),
        ("e", {"a b": 1}, {}, "a b"),
        ("e", {"x": 1}, {"version": 1}, "version"),
        ("e", {"x": 1}, {"x": 1}, "x"),
    ],
)
def test_names_that_cannot_be_columns_are_refused(
    store, experiment, settings, measures, named
):
    with pytest.raises(ValueError, match=named):
        store.add(experiment, settings, measures)
    assert store.done("e") == set()


def test_what_cannot_be_written_leaves_nothing(store, path):
    with pytest.raises(TypeError):
        store.add("e", {"fold": 0}, {"a": object()})
    assert store.done("e") == set()
    store.add("e", {"fold": 0}, {"a": 1})
    assert ask(path, "select a from e") == [(1,)]


# ---- the file ------------------------------------------------------------------------


def test_results_outlive_the_store(path):
    with Store(path) as first:
        first.add("e", {"fold": 0}, {"a": 1}, seconds=0.5)
    with Store(path) as second:
        assert second.seconds("e") == {'{"fold":0}': 0.5}
    # Closed properly, it is one file.
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_another_version_of_the_schema_is_refused(path):
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ValueError, match=r"version 99 .* has version 1"):
        Store(path)


def test_files_of_others_are_refused_and_left_alone(tmp_path):
    text = tmp_path / "text"
    text.write_text("no database " * 100)
    with pytest.raises(ValueError, match="not a database"):
        Store(text)
    assert text.read_text() == "no database " * 100
    foreign = tmp_path / "foreign"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    with pytest.raises(ValueError, match="no file of results"):
        Store(foreign)
    assert ask(foreign, "select name from sqlite_master") == [("t",)]


# ---- claims --------------------------------------------------------------------------


def test_what_is_claimed_or_done_cannot_be_claimed(store, path):
    with Store(path) as other:
        assert store.claim("e", {"fold": 0})
        assert not other.claim("e", {"fold": 0})
        assert other.claim("e", {"fold": 1})
        assert other.claim("f", {"fold": 0})
        store.release("e", {"fold": 0})
        assert other.claim("e", {"fold": 0})
        other.add("e", {"fold": 0}, {"a": 1})
        assert not store.claim("e", {"fold": 0})
        assert len(ask(path, "select * from claims")) == 2
        other.release_all()
        assert ask(path, "select * from claims") == []


def test_a_claim_of_a_silent_process_does_not_last(store, path, monkeypatch):
    with Store(path) as other:
        other._host = "another machine"
        other.claim("e", {"fold": 0})
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + stores.STALE_SECONDS - 1)
        assert not store.claim("e", {"fold": 0})
        other.keep_claims()
        monkeypatch.setattr(time, "time", lambda: now + stores.STALE_SECONDS + 1)
        assert not store.claim("e", {"fold": 0})
        monkeypatch.setattr(time, "time", lambda: now + 2 * stores.STALE_SECONDS)
        assert store.claim("e", {"fold": 0})


# Claims and measures as fast as it can, until killed or all is done.
WORKER = """
import sys
from mrforest.experiments.store import Store
path, name = sys.argv[1:]
with Store(path) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    for i in range(300):
        if store.claim("e", {"i": i}):
            print(i, flush=True)
            store.add("e", {"i": i}, {"by": name})
"""


def worker(path, name):
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_two_processes_do_nothing_twice(path):
    both = [worker(path, name) for name in "ab"]
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    claimed = [set(process.communicate()[0].split()) for process in both]
    assert not claimed[0] & claimed[1]
    assert {int(i) for i in claimed[0] | claimed[1]} == set(range(300))
    with Store(path) as store:
        assert len(store.done("e")) == 300


@pytest.mark.skipif(os.name != "posix", reason="kills a process by a signal")
def test_a_killed_process_leaves_a_sound_file_and_no_claim_for_long(path):
    process = worker(path, "killed")
    process.stdin.write("go\n")
    process.stdin.flush()
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with Store(path) as store:
        assert ask(path, "pragma integrity_check") == [("ok",)]
        n_done = len(store.done("e"))
        assert n_done >= 19
        assert sum(store.claim("e", {"i": i}) for i in range(300)) == 300 - n_done
