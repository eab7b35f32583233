"""The catalogue of `ragkpi check`: what it finds in runs, in the order of this file.

A finding is one function below its record. Its name and docstring are what `--list` shows. A
`line_finding` goes from a block of queries to the rows that have it; a `LineTally` counts them over
all blocks, and keeps the first as examples. A `run_finding` goes from the totals of a run to a
result.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.files.lines import Tokens
from ragkpi.questions.check.files import (
    MOST_EXAMPLES,
    CheckRequest,
    Example,
    LineTally,
    QueryBlock,
    Tallies,
)
from ragkpi.ranking.judgements import OF_DOCUMENTS, OF_QUERIES, Judgements, queries_meant
from ragkpi.wording import counted, listed, named

Severity = Literal["error", "warning", "note"]
Need = Literal["run", "qrels"]

# The depths of the judged shares.
DEPTHS = (10, 100)


class Rows(NamedTuple):
    """The rows of a block that have a finding."""

    rows: IntArray = np.empty(0, dtype=np.int64)
    describe: Callable[[int], str] | None = None  # says what is wrong with a row, for examples
    numbers: Mapping[int | str, int] = MappingProxyType({})  # to add up for the sentence

    def add_to(self, tally: LineTally, block: QueryBlock) -> None:
        """Count the rows, and describe the first ones."""
        tally.lines += len(self.rows)
        tally.queries += len(np.unique(block.query[self.rows]))
        tally.numbers.update(self.numbers)
        room = MOST_EXAMPLES - len(tally.examples)
        if self.describe and room:
            first = self.rows[np.argsort(block.line[self.rows], kind="stable")[:room]].tolist()
            tally.examples += [Example(int(block.line[row]), self.describe(row)) for row in first]


class RunTotals:
    """What all blocks of a run have together: tallies of lines, and facts about the whole."""

    def __init__(self, request: CheckRequest) -> None:
        self.request = request
        self.tallies: Tallies = defaultdict(lambda: LineTally(request))
        self.problems = self.tallies  # those of the reader, which adds to them to the end
        self.documents = 0
        self.queries: set[bytes] = set()
        self.returns = 0  # of queries, where their lines go on elsewhere in the file
        self.run_ids: dict[bytes, int] = {}  # with the first line of each
        self.last_run_id = b""
        self.first_document = b""
        self.judged_queries = 0
        # Judged and retrieved documents of judged queries by depth, (D, 2).
        self.shares = np.zeros((len(DEPTHS), 2), dtype=np.int64)

    @property
    def judgements(self) -> Judgements:
        """The qrels, for findings that need them."""
        assert self.request.judgements is not None
        return self.request.judgements

    def add(self, block: QueryBlock) -> None:
        for finding in self.findings():
            if finding.rows is not None:
                finding.rows(block).add_to(self.tallies[finding.name], block)
        self.problems, self.last_run_id = block.problems, block.last_run_id
        self.documents += len(block)
        self.queries.update(block.queries)
        self.returns += block.stretches - len(block.queries)
        for row, id_ in block.first_of_run_ids.items():
            self.run_ids.setdefault(id_, int(block.line[row]))
        if self.request.judgements is not None and len(block):
            self._add_shares(block)

    def _add_shares(self, block: QueryBlock) -> None:
        self.first_document = self.first_document or block.document[0]
        judged = block.judged_queries >= 0
        self.judged_queries += int(np.count_nonzero(judged))
        retrieved = np.diff(block.starts)[judged]
        row = block.judgement[block.order]
        rank = block.ranks[(row >= 0) & (self.judgements.level[row] >= 0)]
        self.shares += [
            (np.count_nonzero(rank <= depth), np.minimum(retrieved, depth).sum())
            for depth in DEPTHS
        ]

    def findings(self) -> Iterator[Finding]:
        """Yield the findings that can be looked for."""
        for finding in FINDINGS:
            if finding.needs == "run" or self.request.judgements is not None:
                yield finding

    def results(self) -> list[tuple[Finding, FindingResult]]:
        """Return what was found, in the order of the catalogue."""
        self.tallies.update(self.problems)
        results = ((finding, finding.result(self)) for finding in self.findings())
        return [(finding, result) for finding, result in results if result is not None]


@dataclass(frozen=True)
class FindingResult:
    """What a finding reports of a run: a count, a sentence, and the first examples."""

    count: int
    text: str
    examples: Sequence[Example] = ()


RowsOfBlock = Callable[[QueryBlock], Rows]
ResultOfRun = Callable[[RunTotals], FindingResult | None]
Sentence = Callable[[LineTally], str]


class Finding(NamedTuple):
    """A record of the catalogue."""

    name: str
    explanation: str
    severity: Severity
    needs: Need
    rows: RowsOfBlock | None  # None where the totals of a run are enough
    result: ResultOfRun


FINDINGS: list[Finding] = []


def run_finding(severity: Severity, needs: Need = "run") -> Callable[[ResultOfRun], ResultOfRun]:
    """Enter a function of a whole run into the catalogue, under its name."""

    def enter(result: ResultOfRun) -> ResultOfRun:
        FINDINGS.append(Finding(*described(result), severity, needs, None, result))
        return result

    return enter


def line_finding(
    severity: Severity,
    sentence: Sentence,
    *,
    needs: Need = "run",
    count: Callable[[LineTally], int] = lambda tally: tally.lines,
) -> Callable[[RowsOfBlock], RowsOfBlock]:
    """Enter a function of a block into the catalogue; it is reported unless its count is 0."""

    def enter(rows: RowsOfBlock) -> RowsOfBlock:
        name, text = described(rows)
        result = result_of(name, sentence, count)
        FINDINGS.append(Finding(name, text, severity, needs, rows, result))
        return rows

    return enter


def result_of(
    name: str, sentence: Sentence, count: Callable[[LineTally], int] = lambda tally: tally.lines
) -> ResultOfRun:
    """Return the function that puts a tally into words, unless its count is 0."""

    def result(run: RunTotals) -> FindingResult | None:
        tally = run.tallies[name]
        number = count(tally)
        return FindingResult(number, sentence(tally), tally.examples) if number else None

    return result


def unreadable(name: str, severity: Severity, sentence: Sentence, explanation: str) -> None:
    """Enter lines that no block has, since their reader tallies them, into the catalogue."""
    result = result_of(name, sentence)
    FINDINGS.append(Finding(name, explanation, severity, "run", None, result))


def refusal(name: str, explanation: str, end: str = ".") -> None:
    """Enter a refusal of files (`SeparateRankingsError`), which is their only finding."""
    text = f"{explanation}\n\nEvery command refuses such a run, and nothing else is checked{end}"
    FINDINGS.append(Finding(name, text, "error", "run", None, lambda run: None))


def described(function: Callable[..., object]) -> tuple[str, str]:
    """Return the name of a finding, and its explanation."""
    return function.__name__.replace("_", "-"), inspect.getdoc(function) or ""


def words(singular: str, plural: str, rest: str) -> Sentence:
    """Return a sentence that begins with the number of lines."""
    return lambda tally: f"{counted(tally.lines, singular, plural)} {rest}"


def if_most(tally: LineTally) -> int:
    """Count lines, one of a query, if they are from most of the ``numbers["queries"]``."""
    return tally.lines if 2 * tally.lines > tally.numbers["queries"] else 0


def about_queries(
    queries: Sequence[bytes], singular: str, plural: str, rest: str
) -> FindingResult | None:
    """Report queries, and name the first ones."""
    text = f"{counted(len(queries), singular, plural)} {rest}"
    examples = [Example(None, listed(queries))]
    return FindingResult(len(queries), text, examples) if queries else None


unreadable(
    "columns",
    "error",
    words("line has", "lines have", "fewer than 6 columns"),
    "Lines with fewer than the six columns `query Q0 document rank score run_id`.\n\n"
    "'ragkpi eval' stops at the first of them. Often a run id is missing, or a line was cut off.",
)
unreadable(
    "number",
    "error",
    words("line has", "lines have", "a score that is no number"),
    "Scores that are no decimal numbers, NaN among them.\n\n"
    "'ragkpi eval' stops at the first of them; trec_eval takes a word for 0 and ranks NaN "
    "anywhere.",
)
unreadable(
    "nul-byte",
    "error",
    words("line holds", "lines hold", "a NUL byte"),
    "Lines with a NUL byte: the file is binary, damaged, or UTF-16.\n\n"
    "'ragkpi eval' stops at the first of them.",
)
refusal(
    "subsets",
    "Several rankings of the queries, such as MTEB's subsets and splits, in one file.",
    ": --subset chooses one.",
)
refusal(
    "keys-twice",
    "A key that comes twice in an object of JSON: two rankings of a query, or two values.",
)
refusal(
    "ranks-twice",
    "Ranks without scores, or lists in their order, that a query has twice: two rankings of it.",
)


@line_finding(
    "error",
    lambda tally: (
        f"{counted(tally.lines, 'line repeats', 'lines repeat')} a document of the same query, in "
        f"{counted(tally.queries, 'query', 'queries')}"
    ),
)
def duplicates(block: QueryBlock) -> Rows:
    """Documents that a query retrieves more than once.

    'ragkpi eval' and trec_eval refuse such a run. --fix keeps the place with the highest score.
    """
    rows, first = block.repeated
    first_line = dict(zip(rows.tolist(), block.line[first].tolist(), strict=True))
    return Rows(
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
        f"{counted(tally.request.max_hits or 0, 'document')}"
    ),
)
def max_hits(block: QueryBlock) -> Rows:
    """Queries with more documents than --max-hits allows. --fix keeps the best ones."""
    most, sizes = block.request.max_hits, np.diff(block.starts)
    return Rows(
        block.first_row[sizes > (np.inf if most is None else most)],
        lambda row: f"query {block.name_of_query(row)} has {sizes[block.query[row]]:,}",
    )


unreadable(
    "extra-columns",
    "warning",
    words("line has", "lines have", "more than 6 columns"),
    "Lines with more than six columns; the rest is ignored, as trec_eval does.\n\n"
    "A run id with a space in it is harmless; a document id with one is not.",
)


@line_finding("warning", words("score is", "scores are", "infinite"))
def infinite(block: QueryBlock) -> Rows:
    """Scores that are infinite: they rank first or last and tie with each other."""
    return Rows(np.flatnonzero(np.isinf(block.score)), lambda row: f"score {block.score[row]}")


@run_finding("warning")
def run_ids(run: RunTotals) -> FindingResult | None:
    """Lines with different run ids: perhaps two runs in one file. The last one is reported."""
    lines, count = run.run_ids, len(run.run_ids)
    first = islice(lines.items(), MOST_EXAMPLES)
    examples = [Example(line, f"run id {named(id_)}") for id_, line in first]
    text = f"{count:,} different run ids: {listed(lines)}"
    return FindingResult(count, text, examples) if count > 1 else None


_ITSELF = "the document of the same id; --ignore-identical-ids leaves it out"


@line_finding("warning", words("query retrieves", "queries retrieve", _ITSELF))
def own_query(block: QueryBlock) -> Rows:
    """Documents with the id of their query: a query that retrieves itself.

    In collections where queries are documents too, BEIR's ArguAna for one, these are left out:
    --ignore-identical-ids.
    """
    queries = Tokens.from_strings(block.queries)
    both = Tokens.joined([queries, block.document])
    group = np.concatenate([np.arange(len(queries)), block.query])
    rows = np.flatnonzero(both.first_rows(group)[len(queries) :] < len(queries))
    return Rows(rows, lambda row: f"query {block.name_of_query(row)}")


@line_finding(
    "warning",
    lambda tally: (
        f"scores rise down the ranking in {tally.lines:,} of "
        f"{counted(tally.numbers['queries'], 'query', 'queries')}: are they distances? The highest "
        "ranks first"
    ),
    count=if_most,
)
def ascending(block: QueryBlock) -> Rows:
    """Scores that rise down most rankings, by rank or by line: they look like distances.

    The highest score ranks first, as for trec_eval, which turns such rankings upside down.
    Write -distance as the score.
    """
    ranked = block.rank_numbers is None or block.rank_numbers[1].all()
    order = block.order_by_rank if ranked else block.ordered(block.line)
    query, score = block.query[order], block.score[order]
    inside = query[1:] == query[:-1]
    queries = len(block.queries)
    rises = np.bincount(query[1:][inside & (score[1:] > score[:-1])], minlength=queries)
    falls = np.bincount(query[1:][inside & (score[1:] < score[:-1])], minlength=queries)
    return Rows(
        block.first_row[(rises > 0) & (falls == 0)],
        lambda row: f"query {block.name_of_query(row)} begins with {block.score[row]:.6g}",
        {"queries": int(np.count_nonzero(rises + falls))},
    )


@line_finding(
    "warning",
    words("query gives", "queries give", "all documents one score: their ids decide the order"),
    count=if_most,
)
def one_score(block: QueryBlock) -> Rows:
    """Most queries give all of their documents one score, so that ids alone decide the order.

    Often the scores were lost on the way: write them, or the ranks as scores.
    """
    sizes, tied = np.diff(block.starts), np.append(0, np.cumsum(block.tied_with_above))
    flat = (sizes > 1) & (np.diff(tied[block.starts]) == sizes - 1)
    several = int(np.count_nonzero(sizes > 1))
    rows = block.first_row[flat]
    return Rows(rows, lambda row: f"query {block.name_of_query(row)}", {"queries": several})


@line_finding(
    "warning",
    lambda tally: (
        f"ranks disagree with scores in {counted(tally.queries, 'query', 'queries')} "
        f"({counted(tally.lines, 'line')}); scores count"
    ),
    count=lambda tally: tally.queries,
)
def ranks(block: QueryBlock) -> Rows:
    """Queries whose rank column disagrees with the scores, or is not whole numbers.

    Scores alone count, as for trec_eval: the ranking that is evaluated is not the one that the
    rank column shows. --fix numbers the ranks by the scores.
    """
    if block.rank is None or block.rank_numbers is None:
        return Rows()
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

    return Rows(np.union1d(np.flatnonzero(~valid), order[rising]), describe)


@run_finding("warning", "qrels")
def nothing_relevant(run: RunTotals) -> FindingResult | None:
    """No judged document has the level of -l or a higher one, so nothing can be relevant."""
    highest, level = int(run.judgements.level.max(initial=-1)), run.request.settings.relevance_level
    text = f"-l {level} is above the highest judged level, {highest}"
    return FindingResult(1, text) if level > highest else None


@run_finding("warning", "qrels")
def missing_queries(run: RunTotals) -> FindingResult | None:
    """Judged queries that the run lacks: 0 in every command but trec_eval's lines of one run."""
    missing = [query for query in run.judgements.queries if query not in run.queries]
    return about_queries(missing, "judged query is", "judged queries are", "missing from the run")


@run_finding("warning", "qrels")
def unknown_queries(run: RunTotals) -> FindingResult | None:
    """Queries of the run that are not judged; 'ragkpi eval' ignores them."""
    unknown = sorted(run.queries - run.judgements.index.keys())
    return about_queries(unknown, "query of the run is", "queries of the run are", "not judged")


@line_finding(
    "warning",
    words("query id differs", "query ids differ", f"from a judged one {OF_QUERIES}"),
    needs="qrels",
)
def query_spelling(block: QueryBlock) -> Rows:
    """Unjudged query ids that are judged ones but for case, white space or leading zeros."""
    unknown = np.flatnonzero(block.judged_queries < 0).tolist()
    ids = [block.queries[query] for query in unknown]
    meant = queries_meant(block.judgements.queries, ids) if ids else {}

    def describe(row: int) -> str:
        query = block.queries[block.query[row]]
        return f"{ascii(query)[1:]} where the qrels have {ascii(meant[query])[1:]}"

    misspelt = [query for query, id_ in zip(unknown, ids, strict=True) if id_ in meant]
    return Rows(block.first_row[misspelt], describe)


@line_finding(
    "warning",
    words("document id differs", "document ids differ", f"from a judged one {OF_DOCUMENTS}"),
    needs="qrels",
)
def document_spelling(block: QueryBlock) -> Rows:
    """Unjudged documents that are judged for their query but for case, white space, zeros or #.

    Leading zeros do not count, nor what follows a # (the number of a passage).
    """
    meant: dict[int, int] = {}  # rows of judgements by the row of their misspelling
    for query in np.flatnonzero(block.judged_queries >= 0).tolist():
        rows = block.order[block.starts[query] : block.starts[query + 1]]
        unjudged = rows[block.judgement[rows] < 0]
        documents = block.document.take(unjudged).tolist()
        spellings = block.judgements.spellings(int(block.judged_queries[query]))
        if spellings.any_meant(documents):
            judged = map(spellings.meant, documents)
            pairs = zip(unjudged.tolist(), judged, strict=True)
            meant |= {row: judgement for row, judgement in pairs if judgement >= 0}
    judged_ids = block.judgements.document
    return Rows(
        np.array(sorted(meant), dtype=np.int64),
        lambda row: (
            f"{ascii(block.document[row])[1:]} where the qrels have "
            f"{ascii(judged_ids[meant[row]])[1:]}"
        ),
    )


@run_finding("warning", "qrels")
def nothing_judged(run: RunTotals) -> FindingResult | None:
    """No document of any ranking is judged down to rank 100: the ids may be of another kind.

    Passages where documents are judged, URLs where keys are, another collection.
    """
    judged, retrieved = run.shares[-1].tolist()
    if judged or not retrieved:
        return None
    ids = f"{named(run.first_document)}, the qrels {named(run.judgements.document[0])}"
    none = f"none of {counted(retrieved, 'document')} is judged"
    return FindingResult(retrieved, f"{none}; the run has ids such as {ids}")


@run_finding("note", "qrels")
def unanswerable(run: RunTotals) -> FindingResult | None:
    """Judged queries without a relevant document: recall, nDCG and success are 0 there.

    Sets for RAG hold questions without an answer on purpose; in an average they cost every run.
    """
    judgements, least = run.judgements, run.request.settings.relevance_level
    answered = set(judgements.query[judgements.level >= least].tolist())
    lacking = [id_ for query, id_ in enumerate(judgements.queries) if query not in answered]
    lacking = lacking if answered else []  # without any it is `nothing_relevant`
    return about_queries(lacking, "judged query has", "judged queries have", "no relevant document")


def _ties_at_cutoffs(tally: LineTally) -> str:
    cutoffs = (
        f"rank {cutoff} in {counted(count, 'query', 'queries')}"
        for cutoff in tally.request.cutoffs
        if (count := tally.numbers[cutoff])
    )
    return f"ties cross {', '.join(cutoffs)}"


@line_finding("note", _ties_at_cutoffs, count=lambda tally: tally.queries)
def ties_at_cutoff(block: QueryBlock) -> Rows:
    """Ties across a cutoff of -m: which documents are inside depends on the order of ids.

    With qrels, the range that each measure could take is printed below the findings.
    """
    cutoffs = block.request.cutoffs
    rank = np.where(block.tied_with_above, block.ranks, 0)
    return Rows(
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
        f"({100 * tally.lines / tally.numbers['documents']:.1f} %) tie with another one, in "
        f"{counted(tally.queries, 'query', 'queries')}"
    ),
)
def ties(block: QueryBlock) -> Rows:
    """Documents with the score of another one of their query; the id decides, as for trec_eval.

    Other tools break ties in another way, and print other numbers.
    """
    either = block.tied_with_above.copy()
    either[:-1] |= either[1:]
    return Rows(block.order[either], numbers={"documents": len(block)})


@run_finding("note")
def scattered(run: RunTotals) -> FindingResult | None:
    """Queries whose lines are scattered over the file; the values are the same.

    Such a run is held in memory and takes longer; 'ragkpi check --fix' puts the lines together.
    """
    text = f"lines of a query go on elsewhere in the file {counted(run.returns, 'time')}"
    return FindingResult(run.returns, text) if run.returns else None


@run_finding("note", "qrels")
def judged(run: RunTotals) -> FindingResult | None:
    """The judged share of the retrieved documents, over the judged queries of the run.

    A pool judges what the systems behind it retrieved: a low share makes a run look worse than
    it is. A query that retrieves fewer documents than the depth counts with what it has.
    """
    if not run.judged_queries:
        return None
    shares = [
        f"{100 * judged / max(retrieved, 1):.1f} % of the top {depth} ({judged:,} of {retrieved:,})"
        for depth, (judged, retrieved) in zip(DEPTHS, run.shares.tolist(), strict=True)
    ]
    return FindingResult(int(run.shares[0, 0]), ", ".join(shares))


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
