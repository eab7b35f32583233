"""Measure whole processes, side by side, and print a Markdown table.

    TREC_EVAL=/path/to/trec_eval python tests/benchmarks/bench.py --inputs S,M,L

Wall time, CPU time (user and system) and peak memory are those of the child alone, from `wait4`.
Commands are interleaved, so that a busy minute of the machine hits all of them; medians are
printed. Inputs are made when they are missing and read once before the first measurement.

What a child occupies before its `exec` counts as its own, so no measured memory is below that of
this process, which therefore imports little. With two workers it is the memory of the larger one.
"""

from __future__ import annotations

import argparse
import datetime
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from peers import MEASURES, PEERS, ROOT, TREC_EVAL, Peer, asked, ragkpi, trec_eval, versions

START = "start"  # not an input: what it costs to start and to say --help
START_PEERS = ["python", "numpy", "ragkpi-help"]
INPUT_PEERS = ["trec_eval", "ragkpi1", "ragkpi2", "pytrec_eval", "ir_measures", "ranx", "numpy"]
TOO_LONG = 60.0  # seconds of the processor after which a command is not repeated


class Sample(NamedTuple):
    """One run of a command: seconds, seconds, megabytes."""

    wall: float
    cpu: float
    memory: float


def main() -> int:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", default="start,S,M,L,Ld,M-shuffled", help="see make_inputs.py")
    parser.add_argument("--peers", default="", help=f"of {','.join(PEERS)}; default all that fit")
    parser.add_argument("--repeats", type=int, default=5, help="0 compares outputs only")
    options = parser.parse_args()

    print(f"{datetime.date.today()}, {len(os.sched_getaffinity(0))} cores, {processor()};")
    print(f"{'; '.join(versions())}.")
    print(f"Medians of {options.repeats}, commands interleaved; {' '.join(asked(MEASURES))}.")
    least = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Peak memory of the largest process; below {least:.0f} MB it is not measured.\n")
    unequal = 0
    for name in options.inputs.split(","):
        asked_for = options.peers.split(",") if options.peers else INPUT_PEERS
        peers = runnable(START_PEERS if name == START else asked_for)
        qrels, run = (Path(), Path()) if name == START else make_input(name)
        if options.repeats and peers:
            show(name, measure(peers, qrels, run, options.repeats))
        if name != START:
            unequal += not outputs_equal(name, qrels, run)
    return 1 if unequal else 0


def make_input(name: str) -> tuple[Path, Path]:
    """Have an input made by a process of its own, and read it once."""
    script = Path(__file__).with_name("make_inputs.py")
    made = subprocess.run([sys.executable, script, name], stdout=subprocess.PIPE, check=True)
    folder = Path(os.fsdecode(made.stdout.strip()))
    for path in (folder / "qrels.txt", folder / "run.txt"):
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass
    return folder / "qrels.txt", folder / "run.txt"


def runnable(names: Sequence[str]) -> dict[str, Peer]:
    """Leave out what cannot run here, with a line that says so."""
    for name in names:
        if PEERS[name].missing:
            print(f"without {name}: {PEERS[name].missing}", file=sys.stderr)
    return {name: PEERS[name] for name in names if not PEERS[name].missing}


def measure(
    peers: dict[str, Peer], qrels: Path, run: Path, repeats: int, too_long: float = TOO_LONG
) -> dict[str, list[Sample]]:
    """Run all commands in turn, `repeats` times or until `too_long`; leave out those that fail."""
    samples: dict[str, list[Sample]] = {name: [] for name in peers}
    for _ in range(repeats):
        for name in list(samples):
            if any(sample.cpu > too_long for sample in samples[name]):
                continue
            try:
                samples[name].append(one_run(peers[name], qrels, run))
                print(f"{run.parent.name} {name} {samples[name][-1].wall:.3f} s", file=sys.stderr)
            except ChildProcessError as failure:
                del samples[name]
                print(f"{run.parent.name} {name} failed: {failure}", file=sys.stderr)
    return samples


def one_run(peer: Peer, qrels: Path, run: Path) -> Sample:
    """Run a command to its end."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(
            peer.command(qrels, run), stdout=output, stderr=errors, env=environment(peer)
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            errors.seek(0)
            raise ChildProcessError(errors.read().decode(errors="replace"))
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def environment(peer: Peer) -> dict[str, str]:
    """Let the commands of this checkout find its package."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, **peer.environment}


def show(name: str, samples: dict[str, list[Sample]]) -> None:
    """Print the table of one input."""
    medians = {
        peer: Sample(*(middle(column) for column in zip(*runs, strict=True)))
        for peer, runs in samples.items()
    }
    references = ["python"] if name == START else ["trec_eval", "pytrec_eval"]
    reference = next((peer for peer in references if peer in medians), None)
    compared = [peer for peer in dict.fromkeys([reference, "numpy"]) if peer in medians]
    head = ["input", "command", "runs", "wall", "CPU", "memory"]
    for peer in compared:
        head.append(f"wall ÷ {PEERS[peer].label}")
    if reference:
        head.append(f"memory ÷ {PEERS[reference].label}")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for peer, median in medians.items():
        cells = [
            *[name, f"`{PEERS[peer].label}`" if " -" in PEERS[peer].label else PEERS[peer].label],
            *[str(len(samples[peer])), seconds(median.wall), seconds(median.cpu)],
            f"{median.memory:,.0f} MB",
            *[f"{median.wall / medians[other].wall:.2f}" for other in compared],
        ]
        if reference:
            cells.append(f"{median.memory / medians[reference].memory:.2f}")
        print(f"| {' | '.join(cells)} |")
    print(flush=True)


def middle(values: Sequence[float]) -> float:
    """Return the median; of an even number, the lower of the two in the middle."""
    return sorted(values)[(len(values) - 1) // 2]


def seconds(value: float) -> str:
    """Write a duration with two or three digits."""
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def outputs_equal(name: str, qrels: Path, run: Path) -> bool:
    """Compare all per-query lines of ragkpi, with one and two workers, to trec_eval's."""
    options = ["-q", *asked(MEASURES)]
    ones, twos = (
        subprocess.run(
            ragkpi(*options)(qrels, run),
            stdout=subprocess.PIPE,
            env=environment(PEERS[peer]),
            check=False,
        ).stdout
        for peer in ("ragkpi1", "ragkpi2")
    )
    outputs = {"1 worker": ones, "2 workers": twos}
    if TREC_EVAL:
        command = trec_eval(*options)(qrels, run)
        outputs["trec_eval"] = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
    equal = bool(ones) and len(set(outputs.values())) == 1
    verdict = "equal" if equal else "DIFFERENT"
    print(f"{name}: ragkpi -q, {ones.count(10):,} lines: {', '.join(outputs)}: {verdict}\n")
    return equal


def processor() -> str:
    """Name the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


if __name__ == "__main__":
    sys.exit(main())
