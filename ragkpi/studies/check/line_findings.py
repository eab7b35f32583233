"""Findings about single lines of a run: columns, numbers, run ids."""

from __future__ import annotations

import numpy as np

from ragkpi.studies.check.checked_run import Kind
from ragkpi.studies.check.finding import MOST_EXAMPLES, Example, Found, Subject, first_examples
from ragkpi.wording import counted, listed, named


def columns(subject: Subject) -> Found | None:
    """Lines with fewer than the six columns `query Q0 document rank score run_id`.

    'ragkpi eval' stops at the first of them. Often a run id is missing, or a line was cut off.
    """
    return _problems(subject, "columns", "line has", "lines have", "fewer than 6 columns")


def number(subject: Subject) -> Found | None:
    """Scores that are no decimal numbers, NaN among them.

    'ragkpi eval' stops at the first of them; trec_eval takes a word for 0 and ranks NaN anywhere.
    """
    return _problems(subject, "number", "line has", "lines have", "a score that is no number")


def nul_byte(subject: Subject) -> Found | None:
    """Lines with a NUL byte: the file is binary, damaged, or UTF-16.

    'ragkpi eval' stops at the first of them.
    """
    return _problems(subject, "nul_byte", "line holds", "lines hold", "a NUL byte")


def extra_columns(subject: Subject) -> Found | None:
    """Lines with more than six columns; the rest is ignored, as trec_eval does.

    A run id with a space in it is harmless; a document id with one is not.
    """
    return _problems(subject, "extra_columns", "line has", "lines have", "more than 6 columns")


def _problems(subject: Subject, kind: Kind, singular: str, plural: str, words: str) -> Found | None:
    problems = subject.run.problems
    count = problems.count[kind]
    if not count:
        return None
    examples = [Example(*problem) for problem in problems.first[kind][:MOST_EXAMPLES]]
    return Found(count, f"{counted(count, singular, plural)} {words}", examples)


def infinite(subject: Subject) -> Found | None:
    """Scores that are infinite: they rank first or last and tie with each other."""
    run = subject.run
    rows = np.flatnonzero(np.isinf(run.score))
    if not len(rows):
        return None
    text = f"{counted(len(rows), 'score')} {'is' if len(rows) == 1 else 'are'} infinite"
    return Found(len(rows), text, first_examples(run, rows, lambda row: f"score {run.score[row]}"))


def run_ids(subject: Subject) -> Found | None:
    """Lines with different run ids: perhaps two runs in one file. The last one is reported."""
    run = subject.run
    if run.run_id is None or run.different_run_ids is None:
        return None
    numbers, representative = run.different_run_ids
    if len(representative) < 2:
        return None
    ids = run.run_id.take(representative).tolist()
    return Found(
        len(ids),
        f"{len(ids):,} different run ids: {listed(ids)}",
        first_examples(run, representative, lambda row: f"run id {named(ids[numbers[row]])}"),
    )


def scattered(subject: Subject) -> Found | None:
    """Queries whose lines do not stand together; the values are the same.

    Such a run is held in memory and takes longer; 'ragkpi check --fix' puts the lines together.
    """
    run = subject.run
    count = run.places - len(run.queries)
    if count <= 0:
        return None
    return Found(count, f"lines of a query go on elsewhere in the file {counted(count, 'time')}")
