"""Tasks side by side: the same results from threads and from processes, and nothing left over."""

import os
import subprocess
import sys
import threading
import time
import warnings

import pytest

from ragkpi.errors import UsageError
from ragkpi.ranking import workers
from ragkpi.ranking.workers import Died, available_workers, may_fork, threaded
from tests.ranking.engines import ENGINES


@pytest.mark.parametrize("engine", ENGINES)
def test_results_come_with_the_number_of_their_task(engine):
    with engine([lambda: ["a", "b"], list, lambda: ["c"]]) as results:
        assert sorted(results) == [(0, "a"), (0, "b"), (2, "c")]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_task_that_fails_says_so_last_and_harms_no_other(engine):
    def fails():
        yield 1
        raise RuntimeError("not for anybody's eyes")

    with engine([fails, lambda: [2]]) as results:
        told = list(results)
    assert (1, 2) in told
    first, last = [result for number, result in told if number == 0]
    assert first == 1
    assert isinstance(last, Died)


@pytest.mark.parametrize("engine", ENGINES)
def test_leaving_early_leaves_no_worker(engine):
    def for_ever():
        while True:
            yield time.sleep(0.01)

    def leave():
        with engine([for_ever, for_ever]) as results:
            next(results)
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        leave()
    assert threading.active_count() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("engine", ENGINES)
def test_idle_is_called_while_nothing_comes(engine, monkeypatch):
    for module in (workers, sys.modules["ragkpi.ranking.forked"]):
        monkeypatch.setattr(module, "PATIENCE", 0.001)
    go_on = threading.Event()
    reading, writing = os.pipe()

    def waits():
        os.read(reading, 1)
        return [1]

    def idle():
        if not go_on.is_set():
            go_on.set()
            os.write(writing, b".")

    with engine([waits], idle) as results:
        assert list(results) == [(0, 1)]
    assert go_on.is_set()


@pytest.mark.parametrize("engine", ENGINES)
def test_warnings_of_workers_are_heard(engine):
    def warns():
        warnings.warn("scores rise", UserWarning, stacklevel=2)
        return [1]

    with pytest.warns(UserWarning, match="scores rise"), engine([warns]) as results:
        assert list(results) == [(0, 1)]


def test_threads_that_cannot_be_started_are_named(monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with threaded([lambda: [1]]) as results:
        assert list(results) == [(0, Died("could not be started (can't start new thread)"))]


def test_no_process_with_threads_forks(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    for threads, may in (["1"], True), (["1", "2"], False):
        monkeypatch.setattr(os, "listdir", lambda _, found=threads: found)
        assert may_fork() == may
    monkeypatch.setattr(os, "listdir", lambda _: ["1"])
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not may_fork()


def test_the_number_of_workers(monkeypatch):
    monkeypatch.delenv("RAGKPI_WORKERS", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert available_workers() == 3
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert available_workers() == 5
    monkeypatch.setenv("RAGKPI_WORKERS", "2")
    assert available_workers() == 2
    for said in ("0", "-1", "many", "9" * 30, "\u0663", "\udcff"):
        monkeypatch.setenv("RAGKPI_WORKERS", said)
        with pytest.raises(UsageError, match="expected a number of cores from 1"):
            available_workers()


@pytest.mark.parametrize("thread", [False, True], ids=["alone", "beside a thread"])
def test_no_warning_of_python_is_raised(thread, tmp_path):
    """Python 3.12 and later warn of processes that fork beside a thread."""
    (tmp_path / "qrels").write_bytes(b"1 0 d1 1\n")
    (tmp_path / "run").write_bytes(b"1 Q0 d0 1 2 me\n1 Q0 d1 2 1 me\n")
    program = (
        "import threading, ragkpi\n"
        "from ragkpi.ranking import reading\n"
        "reading._SMALLEST_SHARE = 1\n"
        f"if {thread}: threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "print(ragkpi.evaluate('qrels', {'a': 'run', 'b': 'run'}, ['recip_rank']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "RAGKPI_WORKERS": "2", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.count("0.5") == 2
