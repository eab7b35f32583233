"""Write docs/decisions.md: how often verdicts are wrong under noise, and how often they come.

make simulate
make simulate TRIALS=100
python -m tests.simulation --only depth,diagnose --trials 50 --write /tmp/decisions.md
python -m tests.simulation --only "correct,95% intervals of a rate" --write docs/decisions.md
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from ragkpi.version import __version__
from tests.simulation.rates import SEED, Outcome, lines_of, trials_of
from tests.simulation.studies import STUDIES

HEAD = """\
# How sure decisions are

Made by `make simulate`: ragkpi {version}, {trials:,} trials of each world, seed {seed}.

Every decision rule is tested on simulated collections with known ground truth. How often does it
find a difference that does not exist? The target is at most 5%. How often does it find one that
exists, compared with the best known test of the same numbers? [Statistics](statistics.md) explains
the rules.

Numbers are percent of the trials ± one standard error. **Bold** is a miss: further from its target
than two standard errors of the target, or more than five points below the test next to it.
"""


def main() -> None:
    """Run the studies, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=800, help="of every world; default 800")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--only", default="", help="studies and tables whose names begin so, with commas"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page there")
    options = parser.parse_args()
    beginnings = tuple(options.only.split(","))
    chosen = {
        (study.heading, table.title)
        for study in STUDIES
        for table in study.tables
        if study.heading.startswith(beginnings) or table.title.startswith(beginnings)
    }
    before = options.write.read_text("utf-8") if options.write and options.write.exists() else ""
    lines = HEAD.format(version=__version__, trials=options.trials, seed=SEED).splitlines()
    print("\n".join(lines))
    lines.append("")
    for line in _page(chosen, before, options.trials, options.workers):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        options.write.write_text("\n".join(lines).rstrip() + "\n", "utf-8")


_AT_ONCE = 20  # trials a task


def _page(chosen: set[tuple[str, str]], before: str, trials: int, workers: int) -> Iterator[str]:
    """Run all trials on all cores, and yield the lines of each study when it is complete.

    Tables that are not `chosen` keep the rows that the page had `before`, if it had them.
    """
    parts = [range(trials)[start : start + _AT_ONCE] for start in range(0, trials, _AT_ONCE)]
    with ProcessPoolExecutor(workers) as pool:
        waiting = {
            (study.heading, table.title, world): [
                pool.submit(_task, study.heading, table.title, world, part) for part in parts
            ]
            for study in STUDIES
            for table in study.tables
            for world in table.worlds
            if (study.heading, table.title) in chosen
        }
        for study in STUDIES:
            outcomes = {
                (title, world): [one for part in done for one in part.result()]
                for (heading, title, world), done in waiting.items()
                if heading == study.heading
            }
            section = before.partition(f"## {study.heading}\n")[2].partition("\n## ")[0]
            yield from lines_of(study, outcomes, section)


def _task(heading: str, title: str, world: str, some: range) -> list[Outcome]:
    """Run trials in another process, which finds the functions by their names."""
    study = next(study for study in STUDIES if study.heading == heading)
    table = next(table for table in study.tables if table.title == title)
    return trials_of(study, table, world, some)


if __name__ == "__main__":
    main()
