"""Write docs/speed.md: what people wait for, and what stands beside it on the same machine.

    TREC_EVAL=/path/to/trec_eval make bench
    make bench BENCH='--quick --only Starting,Questions --write /tmp/speed.md'

`--quick` takes inputs of a million lines and less, and under five minutes; `--xl` adds a run of 50
million lines (2.3 GB). Inputs are made when they are missing.
"""

from __future__ import annotations

import argparse
import compileall
import datetime
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import evaluator_table
import task_table
import tasks
from derived import Files
from measuring import processor
from peers import MEASURES, ROOT, asked, versions

GROUPS = {
    "Starting": tasks.starting,
    "Runs of many kinds": tasks.reading,
    "Formats, check and convert": tasks.formats,
    "Values of single queries": tasks.outputs,
    "Questions": tasks.questions,
    "Growth: ten times the input": tasks.growth,
}
_EVALUATORS = "Evaluators"
_PYTHON = "Calls from Python"
_TOO_LONG = 40.0  # seconds of the processor after which a command is not repeated
_TOO_LONG_QUICKLY = 3.0


def main() -> None:
    """Measure all that can be measured here, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller inputs")
    parser.add_argument("--xl", action="store_true", help="also a run of 50 million lines")
    parser.add_argument("--only", default="", help="tables whose names begin so, with commas")
    parser.add_argument("--repeats", type=int, default=3, help="default 3")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page there")
    options = parser.parse_args()
    compileall.compile_dir(ROOT / "ragkpi", quiet=1)  # as installing does
    page = []
    for line in _page(options):
        print(line, flush=True)
        page.append(line)
    if options.write:
        options.write.write_text("\n".join(page) + "\n", "utf-8")


def _page(options: argparse.Namespace) -> Iterator[str]:
    files = Files(options.quick)
    too_long = _TOO_LONG_QUICKLY if options.quick else _TOO_LONG
    beginnings = tuple(options.only.split(","))
    yield from _head(options)
    if _EVALUATORS.startswith(beginnings):
        names = ["S", "T", "M", "M-shuffled"] + ([] if options.quick else ["L", "Ld"])
        inputs = [(name, *files.of(name)) for name in names + ["XL"] * options.xl]
        yield f"## {_EVALUATORS}"
        yield ""
        command = " ".join(asked(MEASURES))
        yield from _paragraph(
            f"Wall time and peak memory of `{command}`. Every value of every query is compared to "
            "trec_eval's, line by line. What is empty was not measured. Below some 150,000 lines "
            "trec_eval is faster: a tenth of a second is what Python and numpy take to start."
        )
        yield from evaluator_table.table(inputs, options.repeats, too_long)
    for heading, group in GROUPS.items():
        if heading.startswith(beginnings):
            yield f"## {heading}"
            yield ""
            yield from task_table.table(group(files), options.repeats, too_long)
    if _PYTHON.startswith(beginnings):
        yield f"## {_PYTHON}"
        yield ""
        yield from _calls(options.quick)


def _head(options: argparse.Namespace) -> Iterator[str]:
    chosen = " ".join(["--quick"] * options.quick + ["--xl"] * options.xl)
    command = f"make bench BENCH='{chosen}'" if chosen else "make bench"
    where = f"{len(os.sched_getaffinity(0))} cores, {processor()}"
    yield "# Speed"
    yield ""
    yield f"Made by `{command}`, {datetime.date.today()}, {where};"
    yield f"{'; '.join(versions())}."
    yield ""
    yield from _paragraph(
        f"Times of whole processes, medians of {options.repeats}; the commands of a line "
        "alternate. Except in the first table, time is processor time (user and system) on one "
        "core. Missed targets are bold. `tests/README.md` describes the inputs."
    )
    yield from _paragraph(
        "The compiled kernel reads a run on one core. Several runs of a call are read in parallel, "
        "unless `RAGKPI_WORKERS=1`."
    )


def _paragraph(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, 100)
    yield ""


def _calls(quick: bool) -> Iterator[str]:
    """Measure what is in memory in a process of its own, which imports the peers."""
    script = Path(__file__).with_name("in_memory.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, *(["200", "1000"] if quick else [])],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        check=True,
    )
    yield from done.stdout.decode().splitlines()


if __name__ == "__main__":
    main()
