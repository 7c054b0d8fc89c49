# SPDX-License-Identifier: BSD-3-Clause
"""Accountants with a file: one budget for many threads and processes."""

import json
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrforest.privacy import Accountant, BudgetExceeded, Cost
from tests.privacy.costs import costs

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX")


def charged(accountant: Accountant, cost) -> bool:
    try:
        accountant.charge(cost, "a forest")
    except BudgetExceeded:
        return False
    return True


@pytest.fixture
def hasty_threads():
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_pickles(tmp_path):
    with pytest.raises(TypeError, match="without a path cannot be pickled"):
        pickle.dumps(Accountant(1.0))
    accountant = Accountant(1.0, 1e-6, path=tmp_path / "budget.json")
    other = pickle.loads(pickle.dumps(accountant))
    other.charge(0.25, "a forest elsewhere")
    assert accountant.charges == other.charges
    assert len(accountant.charges) == 1
    (tmp_path / "budget.json").unlink()
    with pytest.raises(FileNotFoundError, match="there is no accountant's file"):
        pickle.loads(pickle.dumps(accountant))


def test_a_file_is_gone_on_with(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = Accountant(1.0, path="budget.json")
    first.charge(Cost(0.25, rho=0.01), "a forest")
    monkeypatch.chdir("/")
    second = Accountant(1.0, path=tmp_path / "budget.json")
    assert second.charges == first.charges
    second.charge(0.5, "another")
    assert first.remaining == 0.25
    assert Accountant.open(tmp_path / "budget.json").spent == 0.75
    assert first.path == tmp_path / "budget.json"


@posix
def test_a_link_is_the_same_file(tmp_path):
    first = Accountant(1.0, path=tmp_path / "budget.json")
    (tmp_path / "link.json").symlink_to(tmp_path / "budget.json")
    second = Accountant(1.0, path=tmp_path / "link.json")
    second.charge(0.75, "a forest")
    assert (tmp_path / "link.json").is_symlink()
    assert not charged(first, 0.5)


@posix
def test_rights_of_a_file_stay(tmp_path):
    path = tmp_path / "budget.json"
    accountant = Accountant(1.0, path=path)
    path.chmod(0o640)
    accountant.charge(0.5, "a forest")
    assert path.stat().st_mode & 0o777 == 0o640


def test_infinite_costs_in_a_file(tmp_path):
    accountant = Accountant(1.0, 1e-6, path=tmp_path / "budget.json")
    accountant.charge(Cost(math.inf, rho=0.01), "Gaussian")
    json.loads((tmp_path / "budget.json").read_text(), parse_constant=pytest.fail)
    assert accountant.charges[0].epsilon == math.inf
    endless = Accountant(math.inf, path=tmp_path / "endless.json")
    assert Accountant.open(endless.path).epsilon == math.inf


@settings(max_examples=30)  # they write to disk
@given(st.lists(costs, max_size=4))
def test_floats_come_back_from_a_file(tmp_path_factory, epsilons):
    path = tmp_path_factory.mktemp("budget") / "budget.json"
    accountant = Accountant(math.inf, path=path)
    for epsilon in epsilons:
        accountant.charge(epsilon, "a forest")
    assert [c.epsilon for c in Accountant.open(path).charges] == epsilons


def test_another_budget(tmp_path):
    path = tmp_path / "budget.json"
    Accountant(1.0, 1e-6, path=path)
    for epsilon, delta in ((2.0, 1e-6), (1.0, 0.0)):
        with pytest.raises(
            ValueError, match=r"has the budget epsilon=1.0, delta=1e-06"
        ):
            Accountant(epsilon, delta, path=path)


def test_a_file_that_is_gone(tmp_path):
    """It is not begun anew: what was spent would be forgotten."""
    accountant = Accountant(1.0, path=tmp_path / "budget.json")
    (tmp_path / "budget.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"budget\.json' is gone"):
        accountant.charge(0.5, "a forest")
    assert not (tmp_path / "budget.json").exists()
    with pytest.raises(FileNotFoundError, match="there is no accountant's file"):
        Accountant.open(tmp_path / "budget.json")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (None, "broken JSON"),
        ({"schema": "other"}, "does not say schema"),
        ({"version": 2}, "written by a newer mrforest"),
        ({"charges": [{"epsilon": -1, "what": "", "when": ""}]}, "epsilon must be"),
        ({"charges": [{"epsilon": 0.5}]}, "cannot be read"),
        ({"charges": 3}, "cannot be read"),
        ({"charges": [3]}, "cannot be read"),
        ({"epsilon": None}, "epsilon must be"),
        ({"surplus": 1}, "surplus"),
    ],
)
def test_bad_files(tmp_path, changes, complaint):
    path = tmp_path / "budget.json"
    accountant = Accountant(1.0, path=path)
    text = path.read_text()
    bad = text[:-4] if changes is None else json.dumps(json.loads(text) | changes)
    path.write_text(bad)
    for attempt in (
        lambda: accountant.charge(0.1, "a forest"),
        lambda: Accountant(1.0, path=path),
        lambda: Accountant.open(path),
    ):
        with pytest.raises(ValueError, match=complaint) as caught:
            attempt()
        assert "budget.json" in str(caught.value)
    assert path.read_text() == bad


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "budget.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"budget\.json' is no mrforest privacy acc"):
        Accountant(1.0, path=tmp_path / "budget.json")


@pytest.mark.parametrize("has_path", [False, True])
def test_threads_never_overspend_together(tmp_path, has_path, hasty_threads):
    path = tmp_path / "budget.json" if has_path else None
    accountant = Accountant(1.0, path=path)
    start = threading.Barrier(8, timeout=10)

    def spend() -> int:
        start.wait()
        return sum(charged(accountant, 1 / 256) for _ in range(40))

    with ThreadPoolExecutor(8) as pool:
        n_charges = sum(f.result() for f in [pool.submit(spend) for _ in range(8)])
    assert n_charges == len(accountant.charges) == 256
    assert accountant.spent == 1.0


SPEND = """
import sys
from mrforest.privacy import Accountant, BudgetExceeded
accountant = Accountant(1.0, path=sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
n_charges = 0
try:
    while True:
        accountant.charge(float(sys.argv[2]), "a forest")
        n_charges += 1
except BudgetExceeded:
    print(n_charges)
"""


def spender(path, epsilon: float, code: str = SPEND) -> subprocess.Popen:
    """Start another process, which waits for a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path), repr(epsilon)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_never_overspend_together(tmp_path):
    path = tmp_path / "budget.json"
    processes = [spender(path, 1 / 128) for _ in range(2)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    counts = [int(process.communicate(timeout=60)[0]) for process in processes]
    accountant = Accountant.open(path)
    assert sum(counts) == len(accountant.charges) == 128
    assert all(counts), "one was through before the other began"
    assert accountant.spent == 1.0


@posix
def test_a_process_killed_at_any_time_leaves_a_readable_file(tmp_path):
    path = tmp_path / "budget.json"
    accountant = Accountant(1.0, path=path)
    for n_milliseconds in (3, 7, 20):
        before = len(accountant.charges)
        with spender(path, 2.0**-20) as process:
            process.stdin.write("go\n")
            process.stdin.flush()
            while len(accountant.charges) == before:
                time.sleep(0.001)
            time.sleep(n_milliseconds / 1000)
            process.kill()
        after = len(accountant.charges)
        assert after > before
        accountant.charge(2.0**-20, "after the end of the other")
        assert len(accountant.charges) == after + 1


DIE = """
import os, signal, sys
from pathlib import Path
from mrforest.privacy import Accountant
accountant = Accountant(1.0, path=sys.argv[1])
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
os.{step} = die
print("ready", flush=True)
sys.stdin.readline()
accountant.charge(0.25, "never written")
"""


@posix
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_process_killed_while_writing(tmp_path, step):
    """The old charges stand, the lock is free, the half-written file is no matter."""
    path = tmp_path / "budget.json"
    accountant = Accountant(1.0, path=path)
    accountant.charge(0.5, "before")
    process = spender(path, 0.25, DIE.format(step=step))
    process.communicate("go\n", timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert list(tmp_path.glob(".writing-*/budget.json"))
    assert [charge.what for charge in accountant.charges] == ["before"]
    accountant.charge(0.5, "after")
    assert accountant.remaining == 0


FORK = """
import os
from mrforest.privacy import Accountant
accountant = Accountant(1.0)
if os.fork() == 0:
    try:
        accountant.charge(0.5, "the same budget again")
    except RuntimeError as error:
        print(error)
    os._exit(0)
os.wait()
"""


@posix
def test_a_fork_does_not_double_the_budget():
    run = subprocess.run(
        [sys.executable, "-uc", FORK], capture_output=True, text=True, timeout=60
    )
    assert "cannot be used in another process" in run.stdout


def test_a_failing_disk_charges_nothing(tmp_path, monkeypatch):
    accountant = Accountant(1.0, path=tmp_path / "budget.json")

    def full(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space left"):
            accountant.charge(0.5, "a forest")
    assert accountant.charges == ()
    accountant.charge(1.0, "a forest")
