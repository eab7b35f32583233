"""The catalogue of `ragkpi check`: what it finds in runs, in the order of this file.

A finding is one function below its record. Its name and docstring are what `--list` shows. A
`line_finding` goes from a block of queries to the tally of its lines, which is summed over all
blocks. A `run_finding` goes from the totals of a run to a result.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.files.lines import Tokens
from ragkpi.library.examiner import (
    MOST_EXAMPLES,
    Examination,
    Example,
    LineTally,
    QueryBlock,
    Tallies,
)
from ragkpi.ranking.judgements import OF_DOCUMENTS, OF_QUERIES, queries_meant
from ragkpi.wording import counted, listed, named, percent

Severity = Literal["error", "warning", "note"]
Need = Literal["run", "qrels"]

# The depths of the judged shares.
DEPTHS = (10, 100)


class RunTotals:
    """What all blocks of a run have together: tallies of lines, and facts about the whole."""

    def __init__(self, examination: Examination) -> None:
        self.examination = examination
        judged = examination.judgements is not None
        self.findings = [finding for finding in FINDINGS if judged or finding.needs == "run"]
        self.tallies: Tallies = defaultdict(LineTally)
        self.documents = 0
        self.queries: set[bytes] = set()
        self.run_ids: dict[bytes, int] = {}  # with the first line of each
        self.is_sorted = self.is_numbered = True  # as --fix writes the run
        self.first_document = b""
        self.judged_queries = 0
        # Judged and retrieved documents of judged queries by depth, (D, 2).
        self.shares = np.zeros((len(DEPTHS), 2), dtype=np.int64)

    def add(self, block: QueryBlock) -> None:
        for finding in self.findings:
            if finding.tally is not None:
                self.tallies[finding.name].add(finding.tally(block))
        self.documents += len(block)
        lines = block.line[block.order]  # of a scattered query, which is read as a whole
        self.is_sorted &= bool((np.diff(block.order) > 0).all() and (np.diff(lines) >= 0).all())
        self.is_numbered &= block.distinct.is_numbered
        self.queries.update(block.queries)
        if block.run_id is not None:
            for row in np.unique(block.run_id.first_rows()).tolist():
                self.run_ids.setdefault(block.run_id[row], int(block.line[row]))
        if self.examination.judgements is None:
            return
        if len(block):  # not of empty rankings alone
            self.first_document = self.first_document or block.document[0]
        judged = block.judged_queries >= 0
        self.judged_queries += int(np.count_nonzero(judged))
        retrieved = np.diff(block.starts)[judged]
        row = block.judgement[block.order]
        rank = block.ranks[(row >= 0) & (self.examination.qrels.level[row] >= 0)]
        self.shares += [
            (np.count_nonzero(rank <= depth), np.minimum(retrieved, depth).sum())
            for depth in DEPTHS
        ]

    def found(self) -> list[Found]:
        """Return what was found, in the order of the catalogue."""
        found = ((finding, finding.of_run(self)) for finding in self.findings)
        return [Found(of.name, of.severity, *counts) for of, counts in found if counts is not None]


@dataclass(frozen=True)
class Found:
    """What a finding reports of a run: a count, a sentence, and the first examples."""

    name: str
    severity: Severity
    count: int
    text: str
    examples: Sequence[Example]


Sentence = Callable[[LineTally], str]
TallyOfBlock = Callable[[QueryBlock], LineTally]
Counts = tuple[int, str, Sequence[Example]]
CountsOfRun = Callable[[RunTotals], Counts | None]


class Finding(NamedTuple):
    """A record of the catalogue."""

    name: str
    explanation: str
    severity: Severity
    needs: Need
    of_run: CountsOfRun
    tally: TallyOfBlock | None = None  # None where the totals of a run are enough


FINDINGS: list[Finding] = []


def run_finding(severity: Severity, needs: Need = "run") -> Callable[[CountsOfRun], CountsOfRun]:
    """Enter a function of a whole run into the catalogue, under its name."""

    def enter(of_run: CountsOfRun) -> CountsOfRun:
        FINDINGS.append(Finding(*described(of_run), severity, needs, of_run))
        return of_run

    return enter


def line_finding(
    severity: Severity,
    sentence: Sentence,
    *,
    needs: Need = "run",
    count: Callable[[LineTally], int] = lambda tally: tally.lines,
) -> Callable[[TallyOfBlock], TallyOfBlock]:
    """Enter a function of a block into the catalogue; it is reported unless its count is 0."""

    def enter(tally: TallyOfBlock) -> TallyOfBlock:
        name, explanation = described(tally)

        def of_run(run: RunTotals) -> Counts | None:
            lines = run.tallies[name]
            number = count(lines)
            return (number, sentence(lines), lines.examples) if number else None

        FINDINGS.append(Finding(name, explanation, severity, needs, of_run, tally))
        return tally

    return enter


def described(function: Callable[..., object]) -> tuple[str, str]:
    """Return the name of a finding, and its explanation."""
    return function.__name__.replace("_", "-"), inspect.getdoc(function) or ""


def words(singular: str, plural: str, rest: str) -> Sentence:
    """Return a sentence that begins with the number of lines."""
    return lambda tally: f"{counted(tally.lines, singular, plural)} {rest}"


def if_most(tally: LineTally) -> int:
    """Count lines, one of a query, if they are from most of the ``numbers["queries"]``."""
    return tally.lines if 2 * tally.lines > tally.numbers["queries"] else 0


def about_queries(queries: Sequence[bytes], singular: str, plural: str, rest: str) -> Counts | None:
    """Report queries, and name the first ones."""
    text = f"{counted(len(queries), singular, plural)} {rest}"
    return (len(queries), text, [Example(None, listed(queries))]) if queries else None


@line_finding("error", words("line has", "lines have", "fewer than 6 columns"))
def columns(block: QueryBlock) -> LineTally:
    """Lines with fewer than the six columns `query Q0 document rank score run_id`.

    'ragkpi eval' stops at the first of them. Often a run id is missing, or a line was cut off.
    """
    return LineTally()  # these lines are tallied as they are read


@line_finding("error", words("line has", "lines have", "a score that is no number"))
def number(block: QueryBlock) -> LineTally:
    """Scores that are no decimal numbers, NaN among them.

    'ragkpi eval' stops at the first of them; trec_eval takes a word for 0 and ranks NaN anywhere.
    """
    return LineTally()  # these lines are tallied as they are read


@line_finding("error", words("line holds", "lines hold", "a NUL byte"))
def nul_byte(block: QueryBlock) -> LineTally:
    """Lines with a NUL byte: the file is binary, damaged, or UTF-16.

    'ragkpi eval' stops at the first of them.
    """
    return LineTally()  # these lines are tallied as they are read


@run_finding("error")
def separate_rankings(run: RunTotals) -> Counts | None:
    """Several rankings of a query: subsets of MTEB, keys of JSON or ranks that come twice.

    Every command refuses such a run, and nothing else is checked; --map-run chooses a subset.
    """
    return None  # the reader of the file raises `SeparateRankingsError`


@line_finding(
    "error",
    lambda tally: (
        f"{counted(tally.lines, 'line repeats', 'lines repeat')} a document of the same query, in "
        f"{counted(tally.queries, 'query', 'queries')}"
    ),
)
def duplicates(block: QueryBlock) -> LineTally:
    """Documents that a query retrieves more than once.

    'ragkpi eval' and trec_eval refuse such a run. --fix keeps the place with the highest score.
    """
    rows, first = block.repeated
    first_line = dict(zip(rows.tolist(), block.line[first].tolist(), strict=True))
    return block.tally(
        rows,
        lambda row: (
            f"document {named(block.document[row])} of query {block.name_of_query(row)} again, "
            f"first at line {first_line[row]}"
        ),
    )


@line_finding(
    "error",
    lambda tally: (
        f"{counted(tally.lines, 'query retrieves', 'queries retrieve')} more than "
        f"{' or '.join(counted(int(most), 'document') for most in tally.numbers)}"
    ),
)
def max_hits(block: QueryBlock) -> LineTally:
    """Queries with more documents than --max-hits allows. --fix keeps the best ones."""
    most, sizes = block.examination.max_hits, np.diff(block.starts)
    if most is None:
        return LineTally()
    cut = int(np.maximum(np.diff(block.distinct.starts) - most, 0).sum())
    return block.tally(
        block.first_row[sizes > most],
        lambda row: f"query {block.name_of_query(row)} has {sizes[block.query[row]]:,}",
        {most: cut},
    )


@line_finding("warning", words("line has", "lines have", "more than 6 columns"))
def extra_columns(block: QueryBlock) -> LineTally:
    """Lines with more than six columns; the rest is ignored, as trec_eval does.

    A run id with a space in it is harmless; a document id with one is not.
    """
    return LineTally()  # these lines are tallied as they are read


@run_finding("warning")
def run_ids(run: RunTotals) -> Counts | None:
    """Lines with different run ids: perhaps two runs in one file. The last one is reported."""
    lines, count = run.run_ids, len(run.run_ids)
    first = islice(lines.items(), MOST_EXAMPLES)
    examples = [Example(line, f"run id {named(id_)}") for id_, line in first]
    text = f"{count:,} different run ids: {listed(lines)}"
    return (count, text, examples) if count > 1 else None


_ITSELF = "the document of the same id; --ignore-identical-ids leaves it out"


@line_finding("warning", words("query retrieves", "queries retrieve", _ITSELF))
def own_query(block: QueryBlock) -> LineTally:
    """Documents with the id of their query: a query that retrieves itself.

    In collections where queries are documents too, BEIR's ArguAna for one, these are left out:
    --ignore-identical-ids.
    """
    queries = Tokens.from_strings(block.queries)
    both = Tokens.joined([queries, block.document])
    group = np.concatenate([np.arange(len(queries)), block.query])
    rows = np.flatnonzero(both.first_rows(group)[len(queries) :] < len(queries))
    return block.tally(rows, lambda row: f"query {block.name_of_query(row)}")


@line_finding(
    "warning",
    lambda tally: (
        f"scores rise down the ranking in {tally.lines:,} of "
        f"{counted(tally.numbers['queries'], 'query', 'queries')}: are they distances? The highest "
        "ranks first"
    ),
    count=if_most,
)
def ascending(block: QueryBlock) -> LineTally:
    """Scores that rise down most rankings, by rank or by line: they look like distances.

    The highest score ranks first, as for trec_eval, which turns such rankings upside down.
    Write -distance as the score.
    """
    order = block.order_by_rank
    if block.rank_numbers is not None and not block.rank_numbers[1].all():
        number, whole = block.rank_numbers
        by_line = np.isin(block.query, block.query[~whole])
        order = block.ordered(np.where(by_line, block.line, number))
    query, score = block.query[order], block.score[order]
    inside = query[1:] == query[:-1]
    queries = len(block.queries)
    rises = np.bincount(query[1:][inside & (score[1:] > score[:-1])], minlength=queries)
    falls = np.bincount(query[1:][inside & (score[1:] < score[:-1])], minlength=queries)
    return block.tally(
        block.first_row[(rises > 0) & (falls == 0)],
        lambda row: f"query {block.name_of_query(row)} begins with {block.score[row]:.6g}",
        {"queries": int(np.count_nonzero(rises + falls))},
    )


@line_finding(
    "warning",
    words("query gives", "queries give", "all documents one score: their ids decide the order"),
    count=if_most,
)
def one_score(block: QueryBlock) -> LineTally:
    """Most queries give all of their documents one score, so that ids alone decide the order.

    Often the scores were lost on the way: write them, or the ranks as scores.
    """
    sizes, tied = np.diff(block.starts), np.append(0, np.cumsum(block.tied_with_above))
    flat = (sizes > 1) & (np.diff(tied[block.starts]) == sizes - 1)
    several = int(np.count_nonzero(sizes > 1))
    rows = block.first_row[flat]
    return block.tally(rows, lambda row: f"query {block.name_of_query(row)}", {"queries": several})


@line_finding(
    "warning",
    lambda tally: (
        f"ranks disagree with scores in {counted(tally.queries, 'query', 'queries')} "
        f"({counted(tally.lines, 'line')}); scores count"
    ),
    count=lambda tally: tally.queries,
)
def ranks(block: QueryBlock) -> LineTally:
    """Queries whose rank column disagrees with the scores, or is not whole numbers.

    Scores alone count, as for trec_eval: the ranking that is evaluated is not the one that the
    rank column shows. --fix numbers the ranks by the scores.
    """
    if block.rank is None or block.rank_numbers is None:
        return LineTally()
    text, (_, valid) = block.rank, block.rank_numbers
    order = block.order_by_rank[valid[block.order_by_rank]]
    query, score = block.query[order], block.score[order]
    rising = np.flatnonzero((query[1:] == query[:-1]) & (score[1:] > score[:-1])) + 1
    above = dict(zip(order[rising].tolist(), order[rising - 1].tolist(), strict=True))

    def describe(row: int) -> str:
        if not valid[row]:
            return f"rank {named(text[row])} is no whole number"
        other = above[row]
        return (
            f"rank {named(text[row])} of query {block.name_of_query(row)} scores "
            f"{block.score[row]:.6g}, above rank {named(text[other])} with {block.score[other]:.6g}"
        )

    return block.tally(np.union1d(np.flatnonzero(~valid), order[rising]), describe)


@run_finding("warning", "qrels")
def missing_queries(run: RunTotals) -> Counts | None:
    """Judged queries that the run lacks: 0 in every command but trec_eval's lines of one run."""
    missing = [query for query in run.examination.qrels.queries if query not in run.queries]
    return about_queries(missing, "judged query is", "judged queries are", "missing from the run")


@run_finding("warning", "qrels")
def unknown_queries(run: RunTotals) -> Counts | None:
    """Queries of the run that are not judged; 'ragkpi eval' ignores them."""
    unknown = sorted(run.queries - run.examination.qrels.index.keys())
    return about_queries(unknown, "query of the run is", "queries of the run are", "not judged")


@line_finding(
    "warning",
    words("query id differs", "query ids differ", f"from a judged one {OF_QUERIES}"),
    needs="qrels",
)
def query_spelling(block: QueryBlock) -> LineTally:
    """Unjudged query ids that are judged ones but for case, white space or leading zeros."""
    unknown = np.flatnonzero(block.judged_queries < 0).tolist()
    ids = [block.queries[query] for query in unknown]
    meant = queries_meant(block.examination.qrels.queries, ids) if ids else {}

    def describe(row: int) -> str:
        query = block.queries[block.query[row]]
        return f"{ascii(query)[1:]} where the qrels have {ascii(meant[query])[1:]}"

    misspelt = [query for query, id_ in zip(unknown, ids, strict=True) if id_ in meant]
    return block.tally(block.first_row[misspelt], describe)


@line_finding(
    "warning",
    words("document id differs", "document ids differ", f"from a judged one {OF_DOCUMENTS}"),
    needs="qrels",
)
def document_spelling(block: QueryBlock) -> LineTally:
    """Unjudged documents that are judged for their query but for case, white space, zeros or #.

    Leading zeros do not count, nor what follows a # (the number of a passage).
    """
    qrels = block.examination.qrels
    meant = qrels.meant(block.judged_queries[block.query], block.document)
    return block.tally(
        np.flatnonzero(meant >= 0),
        lambda row: (
            f"{ascii(block.document[row])[1:]} where the qrels have "
            f"{ascii(qrels.document[int(meant[row])])[1:]}"
        ),
    )


@run_finding("warning", "qrels")
def nothing_judged(run: RunTotals) -> Counts | None:
    """No document of any ranking is judged down to rank 100: the ids may be of another kind.

    Passages where documents are judged, URLs where keys are, another collection.
    """
    judged, retrieved = run.shares[-1].tolist()
    if judged or not retrieved:
        return None
    ids = f"{named(run.first_document)}, the qrels {named(run.examination.qrels.document[0])}"
    none = f"none of {counted(retrieved, 'document')} is judged"
    return retrieved, f"{none}; the run has ids such as {ids}", []


@run_finding("note", "qrels")
def unanswerable(run: RunTotals) -> Counts | None:
    """Judged queries without a relevant document: recall, nDCG and success are 0 there.

    Sets for RAG hold questions without an answer on purpose; in an average they cost every run.
    """
    judgements, least = run.examination.qrels, run.examination.settings.relevance_level
    answered = set(judgements.query[judgements.level >= least].tolist())
    lacking = [id_ for query, id_ in enumerate(judgements.queries) if query not in answered]
    lacking = lacking if answered else []  # without any, -l is too high, as `eval` warns
    return about_queries(lacking, "judged query has", "judged queries have", "no relevant document")


def _ties_at_cutoffs(tally: LineTally) -> str:
    cutoffs = (
        f"rank {cutoff} in {counted(count, 'query', 'queries')}"
        for cutoff, count in tally.numbers.items()
        if count
    )
    return f"ties cross {', '.join(cutoffs)}"


@line_finding("note", _ties_at_cutoffs, count=lambda tally: tally.queries)
def ties_at_cutoff(block: QueryBlock) -> LineTally:
    """Ties across a cutoff of -m: which documents are inside depends on the order of ids.

    With qrels, the range that each measure could take is printed below the findings.
    """
    cutoffs = block.examination.cutoffs
    rank = np.where(block.tied_with_above, block.ranks, 0)
    return block.tally(
        block.order[np.isin(rank, [cutoff + 1 for cutoff in cutoffs])],
        lambda row: (
            f"document {named(block.document[row])} of query {block.name_of_query(row)}, "
            f"score {block.score[row]:.6g}"
        ),
        {cutoff: int(np.count_nonzero(rank == cutoff + 1)) for cutoff in cutoffs},
    )


@line_finding(
    "note",
    lambda tally: (
        f"{counted(tally.lines, 'document')} "
        f"({percent(tally.lines / tally.numbers['documents'], 1)}) tie with another one, in "
        f"{counted(tally.queries, 'query', 'queries')}"
    ),
)
def ties(block: QueryBlock) -> LineTally:
    """Documents with the score of another one of their query; the id decides, as for trec_eval.

    Other tools break ties in another way, and print other numbers.
    """
    return block.tally(block.tied, numbers={"documents": len(block)})


@run_finding("note", "qrels")
def judged(run: RunTotals) -> Counts | None:
    """The judged share of the retrieved documents, over the judged queries of the run.

    A pool judges what the systems behind it retrieved: a low share makes a run look worse than
    it is. A query that retrieves fewer documents than the depth counts with what it has.
    """
    if not run.judged_queries:
        return None
    shares = [
        f"{percent(judged / max(retrieved, 1), 1)} of the top {depth} ({judged:,} of {retrieved:,})"
        for depth, (judged, retrieved) in zip(DEPTHS, run.shares.tolist(), strict=True)
    ]
    return int(run.shares[0, 0]), ", ".join(shares), []


def catalogue() -> Iterator[str]:
    """Yield the catalogue as lines of text."""
    yield "Findings of 'ragkpi check': name, severity, explanation"
    for finding in FINDINGS:
        yield f"\n{finding.name} ({finding.severity})"
        for line in finding.explanation.splitlines():
            yield f"  {line}".rstrip()
    yield ""
    yield "A file that cannot be read ends every command in one line, 'ragkpi: FILE:LINE: …', which"
    yield "says what is wrong and what is expected: status 2, or 4 for a document that comes twice."
