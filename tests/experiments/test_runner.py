# SPDX-License-Identifier: BSD-3-Clause
"""What is missing is measured, once, whatever happens on the way."""

import io
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("pandas")
pytest.importorskip("rich")

from rich.console import Console

from mrforest.experiments._progress import Display
from mrforest.experiments.runner import FailedTasksError, Task, run
from mrforest.experiments.store import Store
from tests.experiments import measures

posix = pytest.mark.skipif(os.name != "posix", reason="sends signals")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "results.sqlite") as opened:
        yield opened


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=200)


def squares(tmp_path, n, **more):
    log = str(tmp_path / "log")
    return [
        Task("squares", {"x": x, "log": log, **more}, measures.square) for x in range(n)
    ]


def calls(tmp_path):
    return sorted(map(int, (tmp_path / "log").read_text().split()))


def test_what_is_missing_is_measured_in_processes(tmp_path, store, console):
    tasks = squares(tmp_path, 6)
    store.add("squares", tasks[2].settings, {"square": 4})
    assert run(tasks, store, n_jobs=2, title="squares", console=console) == 5
    assert calls(tmp_path) == [0, 1, 3, 4, 5]
    frame = store.frame("squares").sort_values("x")
    assert list(frame["square"]) == [0, 1, 4, 9, 16, 25]
    assert os.getpid() not in set(frame["process"])
    # Nothing is left to do, and no process is started.
    assert run(tasks, store, n_jobs=2, title="squares", console=console) == 0


def test_the_costliest_come_first(tmp_path, store, console):
    tasks = [
        task._replace(cost=cost)
        for task, cost in zip(squares(tmp_path, 4), [1, 3, 2, 4], strict=True)
    ]
    run(tasks, store, n_jobs=1, title="squares", console=console)
    assert (tmp_path / "log").read_text().split() == ["3", "1", "2", "0"]


def test_processes_have_one_thread(store, console):
    task = Task("threads", {"x": 0}, measures.threads)
    run([task], store, n_jobs=1, title="threads", console=console)
    assert list(store.frame("threads")["threads"]) == [1]


def test_a_failure_is_reported_and_the_others_go_on(store, console):
    tasks = [Task("halves", {"x": x}, measures.odd_ones_fail) for x in range(5)]
    with pytest.raises(FailedTasksError, match="2 tasks failed") as failed:
        run(tasks, store, n_jobs=1, title="halves", console=console)
    assert sorted(task.settings["x"] for task, _ in failed.value.failures) == [1, 3]
    assert sorted(store.frame("halves")["half"]) == [0, 1, 2]
    told = console.file.getvalue()
    for x in (1, 3):
        assert f'halves failed for {{"x":{x}}}' in told
        assert f"ValueError: {x} is odd" in told
    # They are tried again the next time.
    assert store.claim("halves", {"x": 1})


@posix
def test_a_killed_process_is_told_of(store, console):
    task = Task("deaths", {"x": 0}, measures.kill_oneself)
    with pytest.raises(RuntimeError, match=r'killed.*"x":0'):
        run([task], store, n_jobs=1, title="deaths", console=console)
    assert store.claim("deaths", {"x": 0})


def test_functions_that_others_cannot_find_are_refused(store):
    with pytest.raises(ValueError, match=r"measure=.*lambda"):
        run([Task("e", {}, lambda settings: {})], store, n_jobs=1, title="e")


def test_no_processes_are_refused(store):
    with pytest.raises(ValueError, match="n_jobs=0"):
        run([], store, n_jobs=0, title="e")


# ---- several at once, and signals ----------------------------------------------------

PROGRAM = """
import sys
from mrforest.experiments.runner import Task, run
from mrforest.experiments.store import Store
from tests.experiments import measures

if __name__ == "__main__":
    folder, n, sleep = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    settings = [{"x": x, "log": f"{folder}/log", "sleep": sleep} for x in range(n)]
    tasks = [Task("squares", each, measures.square) for each in settings]
    with Store(f"{folder}/results.sqlite") as store:
        run(tasks, store, n_jobs=2, title="squares")
"""


@pytest.fixture
def start(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def start(n, sleep):
        return subprocess.Popen(
            [sys.executable, str(program), str(tmp_path), str(n), str(sleep)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return start


def wait_for(tmp_path, n):
    """Wait until so many tasks have begun."""
    end = time.monotonic() + 60
    while not (tmp_path / "log").exists() or len(calls(tmp_path)) < n:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_two_programs_share_the_work(tmp_path, start, store):
    both = [start(40, 0.02) for _ in range(2)]
    for program in both:
        _, told = program.communicate(timeout=120)
        assert program.returncode == 0, told
    # Each of them ends when all is done, and nothing is done twice.
    assert calls(tmp_path) == list(range(40))
    assert len(store.done("squares")) == 40


@posix
def test_after_a_kill_only_what_was_in_flight_is_done_again(tmp_path, start, store):
    program = start(30, 0.05)
    wait_for(tmp_path, 8)
    program.send_signal(signal.SIGKILL)
    program.communicate(timeout=60)
    n_done = len(store.done("squares"))
    n_begun = len(calls(tmp_path))
    assert n_done >= 1
    program = start(30, 0.05)
    _, told = program.communicate(timeout=120)
    assert program.returncode == 0, told
    assert len(store.done("squares")) == 30
    # Two processes may have been at work, and a result on its way from each.
    assert len(calls(tmp_path)) - 30 <= 4
    assert n_begun - n_done <= 4


@posix
def test_ctrl_c_leaves_a_file_to_go_on_with_and_no_process(tmp_path, start, store):
    program = start(1000, 0.05)
    wait_for(tmp_path, 8)
    # A terminal sends it to all processes.
    os.killpg(program.pid, signal.SIGINT)
    _, told = program.communicate(timeout=60)
    assert program.returncode != 0
    n_done = len(store.done("squares"))
    assert f"Stopped. {n_done} of 1000 results are in {store.path}" in told
    assert "goes on from there" in told
    assert n_done >= 1
    assert store.claim("squares", {"x": 999})
    begun = len(calls(tmp_path))
    time.sleep(0.3)
    assert len(calls(tmp_path)) == begun


# ---- the display ---------------------------------------------------------------------


def drawn(display):
    console = Console(file=io.StringIO(), width=200)
    console.print(display.draw())
    return console.file.getvalue()


def cells(**more):
    return [
        Task("e", {"dataset": d, "forest": f, "fold": i}, measures.square, **more)
        for d in ("zoo", "car")
        for f in ("MRF", "BRF")
        for i in range(2)
    ]


def test_the_display_counts_by_row_and_column():
    tasks = cells()
    display = Display("title", tasks, rows="dataset", columns="forest", n_jobs=1)
    for task in tasks[:3]:
        display.finish(task, 1.0)
    display.fail(tasks[4])
    lines = drawn(display).splitlines()
    assert "3/8" in lines[0]
    assert "1 failed" in lines[0]
    assert lines[1].split() == ["dataset", "MRF", "BRF"]
    assert lines[2].split() == ["zoo", "✓", "1/2"]
    assert lines[3].split() == ["car", "0/2", "0/2"]


def test_there_is_no_table_without_rows_or_columns():
    tasks = [Task("e", {"x": x}, measures.square) for x in range(2)]
    display = Display("title", tasks, rows="dataset", columns="forest", n_jobs=1)
    assert len(drawn(display).splitlines()) == 1


def test_the_time_left_is_that_of_what_was_measured():
    tasks = cells()
    display = Display("title", tasks, rows="dataset", columns="forest", n_jobs=2)
    assert display.seconds_left() is None
    display.finish(tasks[0], 10.0)
    # One more of this kind, and six that are guessed to take as long.
    assert display.seconds_left() == pytest.approx(7 * 10 / 2)
    display.finish(tasks[2], 2.0)
    # Of the four not measured at all, the mean of the others is expected.
    assert display.seconds_left() == pytest.approx((10 + 2 + 4 * 6) / 2)
    assert display.expected(tasks[1]) == 10
    assert display.expected(tasks[3]) == 2


def test_guessed_costs_are_scaled_by_what_was_measured():
    small = Task("e", {"dataset": "zoo", "fold": 0}, measures.square, cost=1)
    large = Task("e", {"dataset": "car", "fold": 0}, measures.square, cost=100)
    display = Display("t", [small, large], rows="a", columns="b", n_jobs=1)
    display.finish(small, 0.5)
    assert display.seconds_left() == pytest.approx(50)
