"""The catalogue of `ragkpi check`: findings about runs, in the order of this file.

A finding is a function from a run to its report: a count, a sentence and examples, or None.
`--list` shows its name and docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.library.examiner import MOST_EXAMPLES, ExaminedRun, Example
from ragkpi.ranking.judgements import (
    JUDGES_NOTHING,
    OF_DOCUMENTS,
    OF_QUERIES,
    other_queries,
    queries_meant,
)
from ragkpi.wording import counted, listed, named, named_apart, percent

Severity = Literal["error", "warning", "note"]
Need = Literal["run", "qrels"]

# Depths of judged shares.
DEPTHS = (10, 100)
_BLOCK = 100_000  # ids that are respelled at a time


@dataclass(frozen=True)
class Found:
    """The report of a finding on a run: a count, a sentence, and the first examples."""

    name: str
    severity: Severity
    count: int
    text: str
    examples: Sequence[Example]


Counts = tuple[int, str, Sequence[Example]]
Describe = Callable[[int], str]
LookFor = Callable[[ExaminedRun], Counts | None]


class Finding(NamedTuple):
    """A record of the catalogue; its function returns None if there is nothing to report."""

    look: LookFor
    severity: Severity
    needs: Need

    @property
    def name(self) -> str:
        return self.look.__name__.replace("_", "-")

    @property
    def explanation(self) -> str:
        return inspect.getdoc(self.look) or ""


FINDINGS: list[Finding] = []


def finding(severity: Severity, needs: Need = "run") -> Callable[[LookFor], LookFor]:
    """Add a function of a run to the catalogue, under its name."""

    def enter(look: LookFor) -> LookFor:
        FINDINGS.append(Finding(look, severity, needs))
        return look

    return enter


def findings_of(run: ExaminedRun) -> list[Found]:
    """Return the findings about a run, in the order of the catalogue."""
    judged = run.examination.judgements is not None
    looked = [(one, one.look(run)) for one in FINDINGS if judged or one.needs == "run"]
    return [Found(one.name, one.severity, *counts) for one, counts in looked if counts]


def about_rows(
    run: ExaminedRun, rows: IntArray, nouns: tuple[str, str], rest: str, describe: Describe
) -> Counts | None:
    """Report rows of a run; the sentence begins with their number."""
    text = f"{counted(len(rows), *nouns)} {rest}"
    return (len(rows), text, run.examples(rows, describe)) if len(rows) else None


def queries_of(run: ExaminedRun, rows: IntArray) -> str:
    """Count the queries of rows, in words."""
    return counted(len(np.unique(run.query[rows])), "query", "queries")


def about_queries(queries: Sequence[bytes], singular: str, plural: str, rest: str) -> Counts | None:
    """Report queries, and name the first ones."""
    text = f"{counted(len(queries), singular, plural)} {rest}"
    return (len(queries), text, [Example(None, listed(queries))]) if queries else None


@finding("error")
def unreadable(run: ExaminedRun) -> Counts | None:
    """Lines that are not `query Q0 document rank score run_id` with a decimal score.

    'ragkpi eval' stops at the first of them: too few columns, a document id with a space, a NUL
    byte, or a score that is no number. --fix drops them.
    """
    number = len(run.skipped)
    text = f"{counted(number, 'line')} that 'ragkpi eval' cannot read"
    return (number, text, run.skipped[:MOST_EXAMPLES]) if number else None


@finding("error")
def separate_rankings(run: ExaminedRun) -> Counts | None:
    """Several rankings of a query: subsets of MTEB, keys of JSON or repeated ranks.

    Every command refuses the run, and nothing else is checked; --map-run selects a subset.
    """
    return None  # the reader of the file raises `SeparateRankingsError`


@finding("error")
def repeated_judgements(run: ExaminedRun) -> Counts | None:
    """Documents that the qrels judge several times for a query, all of them.

    'ragkpi eval' and trec_eval refuse these qrels. --repeated max, mean or last folds them: --fix
    then writes the qrels instead of the run. Without it, the highest level counts here.
    """
    return None  # it is about the qrels: `judged_again`


@finding("error")
def duplicates(run: ExaminedRun) -> Counts | None:
    """Documents that a query retrieves more than once.

    'ragkpi eval' and trec_eval refuse the run. --fix keeps the rank with the highest score.
    """
    rows, first = run.repeated
    first_line = dict(zip(rows.tolist(), run.line[first].tolist(), strict=True))
    return about_rows(
        run,
        rows,
        ("line repeats", "lines repeat"),
        f"a document of the same query, in {queries_of(run, rows)}",
        lambda row: (
            f"document {named(run.document[row])} of query {run.name_of_query(row)} again, "
            f"first at line {first_line[row]}"
        ),
    )


@finding("error")
def max_hits(run: ExaminedRun) -> Counts | None:
    """Queries with more documents than --max-hits allows. --fix keeps the best ones."""
    most, sizes = run.examination.max_hits, np.diff(run.starts)
    if most is None:
        return None
    return about_rows(
        run,
        run.first_row[sizes > most],
        ("query retrieves", "queries retrieve"),
        f"more than {counted(most, 'document')}",
        lambda row: f"query {run.name_of_query(row)} has {sizes[run.query[row]]:,}",
    )


@finding("warning")
def run_ids(run: ExaminedRun) -> Counts | None:
    """Lines with different run ids: perhaps two runs in one file. The last one is reported."""
    if (column := run.run_id) is None:
        return None
    rows = np.unique(column.first_rows())
    ids = column.take(rows).tolist()
    text = f"{len(ids):,} different run ids: {listed(ids)}"
    examples = run.examples(rows, lambda row: f"run id {named(column[row])}")
    return (len(ids), text, examples) if len(ids) > 1 else None


@finding("warning")
def ascending(run: ExaminedRun) -> Counts | None:
    """Scores that ascend in most rankings, by rank or by line: they look like distances.

    The highest score ranks first, as in trec_eval, which reverses these rankings. Write
    -distance as the score.
    """
    query, score = run.query[run.order_by_rank], run.score[run.order_by_rank]
    inside = query[1:] == query[:-1]
    queries = len(run.queries)
    rises = np.bincount(query[1:][inside & (score[1:] > score[:-1])], minlength=queries)
    falls = np.bincount(query[1:][inside & (score[1:] < score[:-1])], minlength=queries)
    rows = run.first_row[(rises > 0) & (falls == 0)]
    several = int(np.count_nonzero(rises + falls))
    text = (
        f"scores increase down the ranking in {len(rows):,} of "
        f"{counted(several, 'query', 'queries')}: are they distances? The highest score ranks first"
    )
    examples = run.examples(
        rows, lambda row: f"query {run.name_of_query(row)} begins with {run.score[row]:.6g}"
    )
    return (len(rows), text, examples) if 2 * len(rows) > several else None


@finding("warning")
def one_score(run: ExaminedRun) -> Counts | None:
    """One score for all documents in most queries, so that only ids decide the order.

    Often the scores were lost in a conversion: write them, or use negative ranks.
    """
    sizes, tied = np.diff(run.starts), np.append(0, np.cumsum(run.tied_with_above))
    flat = (sizes > 1) & (np.diff(tied[run.starts]) == sizes - 1)
    if 2 * np.count_nonzero(flat) <= np.count_nonzero(sizes > 1):
        return None
    return about_rows(
        run,
        run.first_row[flat],
        ("query gives", "queries give"),
        "all documents the same score, so their ids decide the order",
        lambda row: f"query {run.name_of_query(row)}",
    )


@finding("warning")
def ranks(run: ExaminedRun) -> Counts | None:
    """Queries whose rank column disagrees with the scores.

    Only scores count, as in trec_eval: the evaluated ranking differs from the rank column. --fix
    writes ranks by score.
    """
    if (rank := run.rank) is None:
        return None
    order = run.order_by_rank
    query, score = run.query[order], run.score[order]
    rising = np.flatnonzero((query[1:] == query[:-1]) & (score[1:] > score[:-1])) + 1
    above = dict(zip(order[rising].tolist(), order[rising - 1].tolist(), strict=True))

    def describe(row: int) -> str:
        other = above[row]
        return (
            f"rank {named(rank[row])} of query {run.name_of_query(row)} scores "
            f"{run.score[row]:.6g}, above rank {named(rank[other])} with {run.score[other]:.6g}"
        )

    rows = order[rising]
    number = counted(len(rows), "line")
    text = f"ranks disagree with scores in {queries_of(run, rows)} ({number}); scores count"
    count = len(np.unique(run.query[rows]))
    return (count, text, run.examples(rows, describe)) if count else None


@finding("warning", "qrels")
def missing_queries(run: ExaminedRun) -> Counts | None:
    """Judged queries missing from the run: 0 in every output except the TREC lines of one run."""
    queries = {*run.queries}
    missing = [query for query in run.examination.qrels.queries if query not in queries]
    return about_queries(missing, "judged query is", "judged queries are", "missing from the run")


@finding("error", "qrels")
def nothing_in_common(run: ExaminedRun) -> Counts | None:
    """A run without a judged query: 'ragkpi eval' refuses it, with exit status 7."""
    judged = run.examination.qrels
    if not run.queries or not judged.index.keys().isdisjoint(run.queries):
        return None
    apart = other_queries(judged.queries, run.queries)
    return len(run.queries), f"run and qrels share no query: {apart}", []


@finding("warning", "qrels")
def unknown_queries(run: ExaminedRun) -> Counts | None:
    """Unjudged queries of the run; 'ragkpi eval' ignores them."""
    unknown = sorted({*run.queries} - run.examination.qrels.index.keys())
    return about_queries(unknown, "query of the run is", "queries of the run are", "not judged")


def _apart(mine: bytes, theirs: bytes) -> str:
    names = (name if " " in name else f"'{name}'" for name in named_apart(mine, theirs))
    return " where the qrels have ".join(names)


@finding("warning", "qrels")
def query_spelling(run: ExaminedRun) -> Counts | None:
    """Unjudged query ids that differ from judged ones only in case, whitespace or leading zeros."""
    unknown = np.flatnonzero(run.judged_queries < 0).tolist()
    ids = [run.queries[query] for query in unknown]
    meant = queries_meant(run.examination.qrels.queries, ids) if ids else {}

    def describe(row: int) -> str:
        query = run.queries[run.query[row]]
        return _apart(query, meant[query])

    misspelt = [query for query, id_ in zip(unknown, ids, strict=True) if id_ in meant]
    rows, rest = run.first_row[misspelt], f"from a judged one {OF_QUERIES}"
    return about_rows(run, rows, ("query id differs", "query ids differ"), rest, describe)


@finding("warning", "qrels")
def document_spelling(run: ExaminedRun) -> Counts | None:
    """Unjudged document ids that differ from judged ones only in case, whitespace, zeros or #.

    Leading zeros are ignored, and so is the text after a # (the number of a passage).
    """
    qrels = run.examination.qrels
    query = run.judged_queries[run.query]
    meant = np.concatenate(
        [
            qrels.meant(query[rows], run.document.take(rows))
            for rows in np.array_split(np.arange(len(run)), len(run) // _BLOCK + 1)
        ]
    )

    def describe(row: int) -> str:
        return _apart(run.document[row], qrels.document[int(meant[row])])

    rows, rest = np.flatnonzero(meant >= 0), f"from a judged one {OF_DOCUMENTS}"
    return about_rows(run, rows, ("document id differs", "document ids differ"), rest, describe)


@finding("warning", "qrels")
def nothing_judged(run: ExaminedRun) -> Counts | None:
    """No judged document in any ranking down to rank 100: the ids are perhaps of another kind.

    For example, passages instead of documents, URLs instead of keys, or another collection.
    """
    judged, retrieved = judged_of(run, DEPTHS[-1])
    if judged or not retrieved:
        return None
    mine, theirs = named_apart(run.document[0], run.examination.qrels.document[0])
    none = f"none of {counted(retrieved, 'document')} is judged"
    return retrieved, f"{none}; the run has ids such as {mine}, the qrels {theirs}", []


@finding("warning", "qrels")
def nothing_relevant(run: ExaminedRun) -> Counts | None:
    """No judgement reaches the relevance level -l: every value is 0."""
    judgements, least = run.examination.qrels, run.examination.settings.relevance_level
    highest = int(judgements.level.max(initial=-1))
    if highest >= least:
        return None
    judged = f"the highest judged level is {highest}" if highest >= 0 else JUDGES_NOTHING
    return len(judgements.queries), f"no document is relevant at level {least}; {judged}", []


@finding("note", "qrels")
def unanswerable(run: ExaminedRun) -> Counts | None:
    """Judged queries without a relevant document: recall, nDCG and success are 0 for them.

    RAG test sets have unanswerable questions on purpose; they lower the mean of every run.
    """
    judgements, least = run.examination.qrels, run.examination.settings.relevance_level
    answered = set(judgements.query[judgements.level >= least].tolist())
    lacking = [id_ for query, id_ in enumerate(judgements.queries) if query not in answered]
    lacking = lacking if answered else []  # if none is answered: `nothing_relevant`
    return about_queries(lacking, "judged query has", "judged queries have", "no relevant document")


@finding("note")
def ties_at_cutoff(run: ExaminedRun) -> Counts | None:
    """Ties across a cutoff of -m: the order of ids decides which documents are inside.

    With qrels, the possible range of each measure is printed below the findings.
    """
    rank = np.where(run.tied_with_above, run.ranks, 0)
    rows_of = {cutoff: run.order[rank == cutoff + 1] for cutoff in run.examination.cutoffs}
    places = [f"rank {k} in {queries_of(run, rows)}" for k, rows in rows_of.items() if len(rows)]
    if not places:
        return None
    every = np.concatenate(list(rows_of.values()))
    examples = run.examples(
        every,
        lambda row: (
            f"document {named(run.document[row])} of query {run.name_of_query(row)}, "
            f"score {run.score[row]:.6g}"
        ),
    )
    return len(np.unique(run.query[every])), f"ties cross {', '.join(places)}", examples


@finding("note")
def ties(run: ExaminedRun) -> Counts | None:
    """Documents with the same score as another one of their query; ids decide, as in trec_eval.

    Other tools break ties differently and print other values.
    """
    count, share = len(run.tied), percent(len(run.tied) / max(len(run), 1), 1)
    rest = f"({share}) tie with another document, in {queries_of(run, run.tied)}"
    return (count, f"{counted(count, 'document')} {rest}", []) if count else None


@finding("note", "qrels")
def judged(run: ExaminedRun) -> Counts | None:
    """The judged share of the retrieved documents, over the judged queries of the run.

    A judging pool covers the systems that formed it: a low share makes another run look worse
    than it is. A query with fewer documents than the depth counts with all of them.
    """
    if not (run.judged_queries >= 0).any():
        return None
    counts = {depth: judged_of(run, depth) for depth in DEPTHS}
    shares = [
        f"{percent(judged / max(retrieved, 1), 1)} of the top {depth} ({judged:,} of {retrieved:,})"
        for depth, (judged, retrieved) in counts.items()
    ]
    return counts[DEPTHS[0]][0], ", ".join(shares), []


def judged_of(run: ExaminedRun, depth: int) -> tuple[int, int]:
    """Count the judged and the retrieved documents of judged queries, down to a depth."""
    hits = run.hits
    judged = (run.examination.qrels.level[hits.judgement] >= 0) & (hits.rank <= depth)
    retrieved = np.minimum(hits.num_ret[hits.query >= 0], depth)
    return int(np.count_nonzero(judged)), int(retrieved.sum())


def catalogue() -> Iterator[str]:
    """Yield the catalogue as lines of text."""
    yield "Findings of 'ragkpi check': name, severity, explanation"
    for one in FINDINGS:
        yield f"\n{one.name} ({one.severity})"
        for line in one.explanation.splitlines():
            yield f"  {line}".rstrip()
    yield ""
    yield "A file that cannot be read ends a command in one line, 'ragkpi: error: FILE:LINE: …',"
    yield "which says what is wrong and what is expected: status 2, or 4 for a document twice."
