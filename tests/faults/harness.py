"""Every command line under every fault: what may come of it, and what must not.

    python -m tests.faults.harness               every n, until a command line does without
    python -m tests.faults.harness --bounded     one n of 1, 2, 4, 5, 13, two threads: `make test`
    python -m tests.faults.harness thread write  these kinds alone

Each command line runs in a process that is forked from this one, with its modules imported, so
that a fault costs milliseconds. A line is printed for each breach of the contract: an exit status
that is not documented or is that of the last net, a traceback, a line that does not say who speaks,
an old file lost or a new one torn, a partial file, a process that is left, or other numbers.
"""

import functools
import hashlib
import importlib
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "helpdesk"
FILES = {
    "qrels": "qrels.txt",
    "llm.qrels": "qrels.llm.txt",
    "quality.tsv": "quality.tsv",
    "bm25.run": "runs/bm25.run",
    "dense.run": "runs/dense.run",
    "fusion.run": "runs/fusion.run",
    "gold.jsonl": "examples/gold.jsonl",
    "retrieved.jsonl": "examples/retrieved.jsonl",
}
OLD = b"what stood here before\n"
OLD_LOG = (
    '{"kind": "run", "time": "2026-01-01T00:00:00Z", "name": "bm25", "run_id": "bm25",'
    ' "signature": "l:1", "queries": 12, "values": {"map": 0.25}, "known": {"map": 12}}\n'
)
COMMANDS = {
    "eval": "eval qrels bm25.run",
    "eval to a file": "eval -q -o out qrels bm25.run",
    "eval several": "eval -m map -o out qrels bm25.run dense.run fusion.run",
    "eval json": "eval --format json --log log qrels bm25.run",
    "eval pool": "eval -m proc.10 --pool bm25.run qrels fusion.run",
    "eval records": "eval -m recall.5 gold.jsonl retrieved.jsonl",
    "eval intervals": "eval --ci --resamples 50 -m map qrels bm25.run",
    "compare": "compare -m map --trials 50 qrels bm25.run fusion.run",
    "report": "report -o out qrels bm25.run fusion.run",
    "convert": "convert bm25.run out --to csv",
    "check": "check --fix out qrels bm25.run",
    "depth": "depth -N 1000 -o out qrels bm25.run fusion.run",
    "depth counts": "depth -N 58 --relevant 4",
    "holes": "holes -m P.5 --assess out qrels bm25.run fusion.run",
    "diagnose": "diagnose --pool bm25.run qrels fusion.run",
    "calibrate": "calibrate --quality quality.tsv -m P.5 --resamples 50 -o out qrels bm25.run",
    "agree": "agree --resamples 50 -m P.5 -o out qrels llm.qrels bm25.run fusion.run",
    "correct": "correct -m P.5 -o out people.qrels llm.qrels bm25.run fusion.run",
    "power": "power --sd 0.26 -o out",
    "zscores": "zscores -m map qrels bm25.run fusion.run",
    "measures": "measures map",
    "formats": "formats csv",
    "inspect": "inspect qrels bm25.run",
    "log": "log old.log",
    "verify": "verify stored.json",
    "schema": "schema",
}
STATUSES_OF_SIGNALS = {128 + signal.SIGHUP, 128 + signal.SIGTERM, -signal.SIGKILL}
DOCUMENTED = {0, 1, 2, 3, 4, 7, 130, 141} | STATUSES_OF_SIGNALS
BOUNDED = (1, 2, 4, 5, 13)
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)


@functools.cache
def stored_result():
    """What eval stores of a run, for verify."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("qrels", "bm25.run"):
            shutil.copyfile(FIXTURES / FILES[name], Path(folder, name))
        words = "eval -q -m map -o stored.json qrels bm25.run"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "ragkpi", *words.split()]
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
        return Path(folder, "stored.json").read_bytes()


class Trial:
    """A command line run once in a folder of its own, with a fault or a signal or neither."""

    def __init__(self, words, workers, fault=None, stop=None):
        self.folder = Path(tempfile.mkdtemp(prefix="ragkpi-faults-"))
        for name, source in FILES.items():
            shutil.copyfile(FIXTURES / source, self.folder / name)
        (self.folder / "out").write_bytes(OLD)
        (self.folder / "old.log").write_text(OLD_LOG)
        if words[0] == "verify":
            (self.folder / "stored.json").write_bytes(stored_result())
        judged = (self.folder / "qrels").read_bytes().splitlines(keepends=True)
        (self.folder / "people.qrels").write_bytes(b"".join(judged[: len(judged) * 7 // 8]))
        self.several = words[0] == "eval" and len([word for word in words if ".run" in word]) > 1
        self._aside = Path(tempfile.mkdtemp(prefix="ragkpi-faults-"))
        for name in ("stdout", "stderr"):
            (self._aside / name).touch()
        try:
            begun = time.monotonic()
            # An interrupt waits until the child is through Python's own work after a fork.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            pid = os.fork()
            if not pid:
                try:
                    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
                    self._run(words, workers, fault)
                finally:  # interrupted before ragkpi has begun
                    os._exit(130)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            if stop is not None:
                time.sleep(stop[1])
                os.kill(pid, stop[0])
            _, status = os.waitpid(pid, 0)
            self.seconds = time.monotonic() - begun
            self.status = os.waitstatus_to_exitcode(status)
            self.left = self._left(pid)
            self.out = (self._aside / "stdout").read_bytes()
            self.err = (self._aside / "stderr").read_text(errors="replace")
            self.reached = (self._aside / "reached").exists()
            names = [*FILES, "out"]
            self.files = {name: self._hash(name) for name in names}
            ours = {*names, "log", "old.log", "people.qrels", "stored.json"}
            extra = set(os.listdir(self.folder)) - ours
            self.extra = {name: self._hash(name) for name in sorted(extra)}
            log = self.folder / "log"
            self.log = log.read_bytes() if log.exists() else b""
        finally:
            shutil.rmtree(self.folder)
            shutil.rmtree(self._aside)

    def _hash(self, name):
        path = self.folder / name
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None

    def _run(self, words, workers, fault):
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(self.folder)
        os.environ["RAGKPI_WORKERS"] = str(workers)
        os.environ.pop("RAGKPI_DEBUG", None)
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(self._aside / name, os.O_WRONLY | os.O_APPEND), number)
        sys.argv = ["ragkpi", *words]
        from ragkpi.cli import entry
        from tests.faults.injection import inject

        if fault is not None:
            inject(*fault, str(self._aside / "reached"))
        entry()

    @staticmethod
    def _left(group):
        """Return the processes of a session that go on although its first has ended."""
        for _ in range(200):
            left = [number for number in os.listdir("/proc") if number.isdecimal()]
            left = [number for number in left if _session(number) == group]
            if not left:
                return []
            time.sleep(0.01)
        return left


def _session(number):
    try:
        state, _, _, session = (
            Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[:4]
        )
    except OSError:
        return None
    return None if state in "ZX" else int(session)


def breaches(trial, clean):
    """Say what of the contract a trial broke, compared with the same command line unharmed."""
    if trial.status not in DOCUMENTED:
        yield f"exit status {trial.status}: {trial.err.splitlines()[-1:]}"
    if "Traceback" in trial.err:
        yield f"a traceback: {trial.err.splitlines()[-2:]}"
    for line in trial.err.splitlines():
        if "Traceback" not in trial.err and not line.startswith("ragkpi: "):
            yield f"a line that says not who speaks: {line}"
    if trial.status not in (0, 130, -signal.SIGKILL) and not trial.err.startswith("ragkpi: "):
        yield f"status {trial.status} without a word"
    if trial.left:
        yield f"processes are left: {trial.left}"
    # SECURITY.md: killed between two system calls, a finished output may keep its other name.
    killed = trial.status == -signal.SIGKILL
    extra = [
        name
        for name, digest in trial.extra.items()
        if not (killed and name.endswith(".partial") and digest == clean.files["out"])
    ]
    if extra:
        yield f"files are left: {extra}"
    old = hashlib.sha256(OLD).hexdigest()
    for name, digest in trial.files.items():
        allowed = {clean.files[name], old} if name == "out" else {clean.files[name]}
        # Where one of several runs cannot be read, the others are evaluated and written.
        some_runs = name == "out" and trial.several and trial.status > 0
        if digest not in allowed and not some_runs:
            yield f"{name} is neither the old file nor the new one"
    if trial.log and not trial.log.endswith(b"\n"):
        yield "half a record in the log"
    if trial.status == 0 and trial.out != clean.out:
        yield "other numbers"


@functools.cache
def unharmed(line, count):
    return Trial(line.split(), count)


def faults(kinds, numbers, commands=None, workers=(1, 2)):
    """Yield what went wrong when the n-th call of a kind failed, n from `numbers(turn)`."""
    for place, (name, line) in enumerate(COMMANDS.items()):
        if commands is not None and name not in commands:
            continue
        for count in workers:
            clean = unharmed(line, count)
            if clean.status not in (0, 3):  # 3: check found something
                yield f"{name}, {count} workers, no fault: {clean.err}"
            for turn, kind in enumerate(kinds, place):
                for number in numbers(turn):
                    trial = Trial(line.split(), count, (kind, number))
                    for breach in breaches(trial, clean):
                        yield f"{name}, {count} workers, {kind} {number}: {breach}"
                    if not trial.reached:
                        break


def signals(times, seed=7):
    """Yield what went wrong when processes were told to end at random moments."""
    chance = random.Random(seed)
    for name, line in COMMANDS.items():
        for count in (1, 2):
            clean = unharmed(line, count)
            for _ in range(times):
                number = chance.choice(SIGNALS)
                after = chance.random() * clean.seconds
                trial = Trial(line.split(), count, stop=(number, after))
                if trial.status == -number:  # before the handlers stand
                    trial.status = -signal.SIGKILL
                for breach in breaches(trial, clean):
                    yield f"{name}, {count} workers, {number.name} after {after:.3f} s: {breach}"


def main():
    """Try the kinds of faults that are named, or all; the last line counts the breaches."""
    import numpy as np

    from tests.faults.injection import KINDS
    from tests.processes import preload

    preload()  # so that faults meet ragkpi and not the import of numpy, nor that of others
    for name in ("bokeh.settings", "scipy.sparse", "scipy.stats"):
        importlib.import_module(name)
    np.random.default_rng(0)
    bounded = "--bounded" in sys.argv
    kinds = [word for word in sys.argv[1:] if not word.startswith("-")] or [*KINDS, "signals"]
    harmful = [kind for kind in kinds if kind != "signals"]
    if bounded:
        tried = faults(harmful, lambda turn: [BOUNDED[turn % len(BOUNDED)]], workers=(2,))
    else:
        tried = faults(harmful, lambda turn: itertools.count(1))
    if harmful != kinds:
        tried = itertools.chain(tried, signals(1 if bounded else 25))
    found = 0
    for breach in tried:
        found += 1
        print(breach, flush=True)
    print(f"{found} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
