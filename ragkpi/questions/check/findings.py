"""The catalogue of `ragkpi check`: findings, which see a run part by part."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.files.lines import Tokens
from ragkpi.measures.measure import Metric, score
from ragkpi.questions.check.files import MOST_EXAMPLES, CheckedRun, Example, ProblemKind, Problems
from ragkpi.ranking.judge import judge
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import OF_DOCUMENTS, OF_QUERIES, Judgements, queries_meant
from ragkpi.ranking.reading import Hits, join_hits
from ragkpi.wording import counted, listed, named

Severity = Literal["error", "warning", "note"]

# The depths of the judged shares.
DEPTHS = (10, 100)


@dataclass(frozen=True)
class Found:
    """The result of a check: a count, a sentence, and the first examples."""

    count: int
    text: str
    examples: Sequence[Example] = ()


@dataclass(frozen=True)
class Asked:
    """The qrels, measures and limits to check a run against."""

    judgements: Judgements | None = None  # the qrels; None without any
    metrics: Sequence[Metric] = ()  # the measures whose cutoffs and tie ranges are checked
    settings: Settings = field(default_factory=Settings)
    max_hits: int | None = None  # the most documents that a query may retrieve; None for no limit

    @property
    def cutoffs(self) -> list[int]:
        cutoffs = {metric.arguments.get("cutoff") for metric in self.metrics}
        return sorted(cutoff for cutoff in cutoffs if isinstance(cutoff, int))


class Part:
    """Whole queries of a run, n readable lines, joined with the qrels."""

    def __init__(self, run: CheckedRun, asked: Asked) -> None:
        self.run, self.asked = run, asked

    @cached_property
    def judged_queries(self) -> IntArray:
        """The index of each query in the judgements, -1 for an unjudged query, (Q,)."""
        judgements = self.asked.judgements
        index = {} if judgements is None else judgements.index
        return np.array([index.get(query, -1) for query in self.run.queries], dtype=np.int64)

    @cached_property
    def judgement(self) -> IntArray:
        """The row of each line's judgement, -1 for none, (n,)."""
        run, judgements = self.run, self.asked.judgements
        rows = np.full(len(run), -1, dtype=np.int64)
        if judgements is not None:
            position, row = judgements.find(self.judged_queries, run.starts, run.ranked)
            rows[run.order[position]] = row
        return rows

    @cached_property
    def meant(self) -> IntArray:
        """The judgement row whose id an unjudged document misspells, or -1, (n,)."""
        run, judgements = self.run, self.asked.judgements
        rows = np.full(len(run), -1, dtype=np.int64)
        if judgements is None:
            return rows
        for number in np.flatnonzero(self.judged_queries >= 0).tolist():
            of_query = run.order[run.starts[number] : run.starts[number + 1]]
            unjudged = of_query[self.judgement[of_query] < 0]
            documents = run.document.take(unjudged).tolist()
            spellings = judgements.spellings(int(self.judged_queries[number]))
            if spellings.any_meant(documents):
                rows[unjudged] = [spellings.meant(id_) for id_ in documents]
        return rows

    @cached_property
    def shares(self) -> IntArray:
        """Numbers of judged and of retrieved documents of judged queries by depth, (D, 2)."""
        run, judgements = self.run, self.asked.judgements
        of_judged = self.judged_queries >= 0
        if judgements is None or not of_judged.any():
            return np.zeros((len(DEPTHS), 2), dtype=np.int64)
        retrieved = np.diff(run.starts)[of_judged]
        row = self.judgement[run.order]
        hit = np.flatnonzero(row >= 0)
        rank = run.ranks[hit[judgements.level[row[hit]] >= 0]]
        return np.array(
            [
                (np.count_nonzero(rank <= depth), np.minimum(retrieved, depth).sum())
                for depth in DEPTHS
            ]
        )


class Finding:
    """One check of the catalogue. It sees a run part after part, and reports at the end.

    The docstring of a subclass explains the check to users.
    """

    words: tuple[str, str, str]  # the noun, singular and plural, and the rest of the sentence
    counts_queries = False

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.count = 0
        self.queries = 0
        self.examples: list[Example] = []

    def see(self, part: Part) -> None:
        """Check some whole queries, in the order of the file."""

    def found(self) -> Found | None:
        count = self.queries if self.counts_queries else self.count
        return Found(count, self.text(), self.examples) if self.count else None

    def text(self) -> str:
        singular, plural, rest = self.words
        return f"{counted(self.count, singular, plural)} {rest}"

    def note(self, run: CheckedRun, rows: IntArray, describe: Callable[[int], str]) -> None:
        """Count rows, and keep the first ones in the file as examples."""
        self.count += len(rows)
        room = MOST_EXAMPLES - len(self.examples)
        if room > 0:
            first = rows[np.argsort(run.line[rows], kind="stable")[:room]]
            self.examples += [Example(int(run.line[row]), describe(row)) for row in first.tolist()]


class Check(NamedTuple):
    """One line of the catalogue; the docstring of the finding explains it."""

    name: str
    severity: Severity
    finding: type[Finding]


class _Lines(Finding):
    """Lines that cannot be read, or only in part."""

    kind: ProblemKind
    problems: Problems

    def see(self, part: Part) -> None:
        self.problems = part.run.problems  # of all parts, including later ones

    def found(self) -> Found | None:
        self.count = self.problems.count[self.kind]
        self.examples = self.problems.first.get(self.kind, [])
        return super().found()


class Columns(_Lines):
    """Lines with fewer than the six columns `query Q0 document rank score run_id`.

    'ragkpi eval' stops at the first of them. Often a run id is missing, or a line was cut off.
    """

    kind = "columns"
    words = "line has", "lines have", "fewer than 6 columns"


class NoNumber(_Lines):
    """Scores that are no decimal numbers, NaN among them.

    'ragkpi eval' stops at the first of them; trec_eval takes a word for 0 and ranks NaN anywhere.
    """

    kind = "number"
    words = "line has", "lines have", "a score that is no number"


class NulByte(_Lines):
    """Lines with a NUL byte: the file is binary, damaged, or UTF-16.

    'ragkpi eval' stops at the first of them.
    """

    kind = "nul_byte"
    words = "line holds", "lines hold", "a NUL byte"


class ExtraColumns(_Lines):
    """Lines with more than six columns; the rest is ignored, as trec_eval does.

    A run id with a space in it is harmless; a document id with one is not.
    """

    kind = "extra_columns"
    words = "line has", "lines have", "more than 6 columns"


class Infinite(Finding):
    """Scores that are infinite: they rank first or last and tie with each other."""

    words = "score is", "scores are", "infinite"

    def see(self, part: Part) -> None:
        run = part.run
        self.note(run, np.flatnonzero(np.isinf(run.score)), lambda row: f"score {run.score[row]}")


class RunIds(Finding):
    """Lines with different run ids: perhaps two runs in one file. The last one is reported."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._ids: dict[bytes, None] = {}

    def see(self, part: Part) -> None:
        run = part.run
        new = [row for row, id_ in run.first_of_run_ids.items() if id_ not in self._ids]
        self._ids.update(dict.fromkeys(run.first_of_run_ids.values()))
        rows = np.array(new, dtype=np.int64)
        self.note(run, rows, lambda row: f"run id {named(run.first_of_run_ids[row])}")

    def found(self) -> Found | None:
        return super().found() if self.count > 1 else None

    def text(self) -> str:
        return f"{self.count:,} different run ids: {listed(self._ids)}"


class Scattered(Finding):
    """Queries whose lines are scattered over the file; the values are the same.

    Such a run is held in memory and takes longer; 'ragkpi check --fix' puts the lines together.
    """

    def see(self, part: Part) -> None:
        self.count += part.run.stretches - len(part.run.queries)

    def text(self) -> str:
        return f"lines of a query go on elsewhere in the file {counted(self.count, 'time')}"


@dataclass(frozen=True)
class TieRange:
    """A measure over all queries: its printed value, and the extremes over all orders of ties."""

    name: str
    value: float
    lowest: float
    highest: float


class TieRanges:
    """The ranges of the requested measures, from a run that is seen part after part."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._metrics = [metric for metric in asked.metrics if has_range(metric)]
        self._parts: list[list[Hits]] = []

    def see(self, part: Part) -> None:
        """Evaluate some whole queries, without repeated documents."""
        if self._asked.judgements is not None and self._metrics:
            self._parts.append(_orders(part, self._asked.judgements))

    def extremes(self) -> list[TieRange]:
        judgements = self._asked.judgements
        if judgements is None or not self._parts:
            return []
        orders = [join_hits(parts) for parts in zip(*self._parts, strict=True)]
        if not (orders[0].query >= 0).any():
            return []
        judged = [judge(judgements, hits, self._asked.settings)[0] for hits in orders]
        columns = [score(of_order, self._metrics).columns for of_order in judged]
        return [
            TieRange(metric.name, *(float(column.summary) for column in of_metric))
            for metric, *of_metric in zip(self._metrics, *columns, strict=True)
        ]


def has_range(metric: Metric) -> bool:
    """Return whether the extremes are known, because a higher level is never worth less.

    Such a measure is highest with the best levels first among equal scores, and lowest with the
    best levels last. The same holds for its means, since queries are ranked independently. With
    ``gains=`` a higher level may be worth less.
    """
    return metric.measure.ties == "monotone" and not metric.arguments.get("gains")


def _orders(part: Part, judgements: Judgements) -> list[Hits]:
    """Return the hits as ranked, with the best levels last among ties, and with them first."""
    run = part.run
    row = part.judgement[run.order]
    hit = np.flatnonzero(row >= 0)
    tied, rank = run.tied_with_above, run.ranks
    ranked = _hits(part, row[hit], rank[hit])
    if not tied.any():
        return [ranked] * 3
    group = np.cumsum(~tied) - 1
    size = np.bincount(group)
    first = np.flatnonzero(~tied)  # start of each group of ties
    hits_in_group = np.bincount(group[hit], minlength=len(size))
    level = np.maximum(judgements.level[row[hit]], 0)  # negative levels gain as little as 0
    best = np.lexsort((-level, group[hit]))
    worst = np.lexsort((level, group[hit]))
    offset = np.arange(len(hit)) - (np.cumsum(hits_in_group) - hits_in_group)[group[hit]]
    top = rank[first][group[hit]]
    lowest = top + (size - hits_in_group)[group[hit]]
    return [
        ranked,
        _hits(part, row[hit][worst], lowest + offset),
        _hits(part, row[hit][best], top + offset),
    ]


def _hits(part: Part, judgement: IntArray, rank: IntArray) -> Hits:
    run = part.run
    return Hits(
        queries=run.queries,
        query=part.judged_queries,
        num_ret=np.diff(run.starts),
        judgement=judgement,
        rank=rank,
        run_id=run.last_run_id,
    )


class Duplicates(Finding):
    """Documents that a query retrieves more than once.

    'ragkpi eval' and trec_eval refuse such a run. --fix keeps the place with the highest score.
    """

    def see(self, part: Part) -> None:
        run = part.run
        rows, first = run.repeated
        self.queries += len(np.unique(run.query[rows]))
        first_line = dict(zip(rows.tolist(), run.line[first].tolist(), strict=True))
        self.note(
            run,
            rows,
            lambda row: (
                f"document {named(run.document[row])} of query {run.name_of_query(row)} again, "
                f"first at line {first_line[row]}"
            ),
        )

    def text(self) -> str:
        return (
            f"{counted(self.count, 'line')} {'repeats' if self.count == 1 else 'repeat'} a "
            f"document of the same query, in {counted(self.queries, 'query', 'queries')}"
        )


# Three findings about several rankings of a query in one file. Such a file cannot be read;
# `inspect_file` reports the failure.
class Subsets(Finding):
    """Several rankings of the queries, such as MTEB's subsets and splits, in one file.

    Every command refuses such a run, and nothing else is checked: --subset chooses one.
    """


class KeysTwice(Finding):
    """A key that comes twice in an object of JSON: two rankings of a query, or two values.

    Every command refuses such a run, and nothing else is checked.
    """


class RanksTwice(Finding):
    """Ranks without scores, or lists in their order, that a query has twice: two rankings of it.

    Every command refuses such a run, and nothing else is checked.
    """


class MaxHits(Finding):
    """Queries with more documents than --max-hits allows. --fix keeps the best ones."""

    def see(self, part: Part) -> None:
        run, most = part.run, part.asked.max_hits
        if most is None:
            return
        sizes = np.diff(run.starts)
        deep = np.flatnonzero(sizes > most)
        self.note(
            run,
            run.first_row[deep],
            lambda row: f"query {run.name_of_query(row)} has {sizes[run.query[row]]:,}",
        )

    def text(self) -> str:
        return (
            f"{counted(self.count, 'query retrieves', 'queries retrieve')} more than "
            f"{counted(self.asked.max_hits or 0, 'document')}"
        )


class Ranks(Finding):
    """Queries whose rank column disagrees with the scores, or is not whole numbers.

    Scores alone count, as for trec_eval: the ranking that is evaluated is not the one that the
    rank column shows. --fix numbers the ranks by the scores.
    """

    counts_queries = True

    def see(self, part: Part) -> None:
        run = part.run
        if run.rank is None or run.rank_numbers is None:
            return
        text, (_, valid) = run.rank, run.rank_numbers
        order = run.order_by_rank[valid[run.order_by_rank]]
        query, score = run.query[order], run.score[order]
        rising = np.flatnonzero((query[1:] == query[:-1]) & (score[1:] > score[:-1])) + 1
        wrong = np.unique(np.concatenate([np.flatnonzero(~valid), order[rising]]))
        self.queries += len(np.unique(run.query[wrong]))
        above = dict(zip(order[rising].tolist(), order[rising - 1].tolist(), strict=True))

        def describe(row: int) -> str:
            if not valid[row]:
                return f"rank {named(text[row])} is no whole number"
            other = above[row]
            return (
                f"rank {named(text[row])} of query {run.name_of_query(row)} scores "
                f"{run.score[row]:.6g}, above rank {named(text[other])} with {run.score[other]:.6g}"
            )

        self.note(run, wrong, describe)

    def text(self) -> str:
        return (
            f"ranks disagree with scores in {counted(self.queries, 'query', 'queries')} "
            f"({counted(self.count, 'line')}); scores count"
        )


class OwnQuery(Finding):
    """Documents with the id of their query: a query that retrieves itself.

    In collections where queries are documents too, BEIR's ArguAna for one, these are left out:
    --ignore-identical-ids.
    """

    _what = "the document of the same id; --ignore-identical-ids leaves it out"
    words = "query retrieves", "queries retrieve", _what

    def see(self, part: Part) -> None:
        run = part.run
        queries = Tokens.from_strings(run.queries)
        both = Tokens.joined([queries, run.document])
        group = np.concatenate([np.arange(len(queries)), run.query])
        rows = np.flatnonzero(both.first_rows(group)[len(queries) :] < len(queries))
        self.note(run, rows, lambda row: f"query {run.name_of_query(row)}")


class Ascending(Finding):
    """Scores that rise down most rankings, by rank or by line: they look like distances.

    The highest score ranks first, as for trec_eval, which turns such rankings upside down.
    Write -distance as the score.
    """

    def see(self, part: Part) -> None:
        run = part.run
        ranked = run.rank_numbers is None or run.rank_numbers[1].all()
        order = run.order_by_rank if ranked else run.ordered(run.line)
        query, score = run.query[order], run.score[order]
        inside = query[1:] == query[:-1]
        queries = len(run.queries)
        rises = np.bincount(query[1:][inside & (score[1:] > score[:-1])], minlength=queries)
        falls = np.bincount(query[1:][inside & (score[1:] < score[:-1])], minlength=queries)
        upside_down = np.flatnonzero((rises > 0) & (falls == 0))
        self.queries += int(np.count_nonzero(rises + falls))
        self.note(
            run,
            run.first_row[upside_down],
            lambda row: f"query {run.name_of_query(row)} begins with {run.score[row]:.6g}",
        )

    def found(self) -> Found | None:
        return super().found() if 2 * self.count > self.queries else None

    def text(self) -> str:
        return (
            f"scores rise down the ranking in {self.count:,} of "
            f"{counted(self.queries, 'query', 'queries')}: are they distances? The highest ranks "
            "first"
        )


class OneScore(Finding):
    """Most queries give all of their documents one score, so that ids alone decide the order.

    Often the scores were lost on the way: write them, or the ranks as scores.
    """

    words = "query gives", "queries give", "all documents one score: their ids decide the order"

    def see(self, part: Part) -> None:
        run = part.run
        sizes, tied = np.diff(run.starts), np.append(0, np.cumsum(run.tied_with_above))
        self.queries += int(np.count_nonzero(sizes > 1))
        flat = np.flatnonzero((sizes > 1) & (np.diff(tied[run.starts]) == sizes - 1))
        self.note(run, run.first_row[flat], lambda row: f"query {run.name_of_query(row)}")

    def found(self) -> Found | None:
        return super().found() if 2 * self.count > self.queries else None


class TiedDocuments(Finding):
    """Documents with the score of another one of their query; the id decides, as for trec_eval.

    Other tools break ties in another way, and print other numbers.
    """

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._documents = 0

    def see(self, part: Part) -> None:
        run = part.run
        self._documents += len(run)
        tied = run.tied_with_above
        either = tied.copy()
        either[:-1] |= tied[1:]
        self.count += int(np.count_nonzero(either))
        self.queries += len(np.unique(run.query[run.order[either]]))

    def text(self) -> str:
        share = 100 * self.count / self._documents
        return (
            f"{counted(self.count, 'document')} ({share:.1f} %) tie with another one, in "
            f"{counted(self.queries, 'query', 'queries')}"
        )


class TiesAtCutoff(Finding):
    """Ties across a cutoff of -m: which documents are inside depends on the order of ids.

    With qrels, the range that each measure could take is printed below the findings.
    """

    counts_queries = True

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._crossed: Counter[int] = Counter()

    def see(self, part: Part) -> None:
        run = part.run
        rank = np.where(run.tied_with_above, run.ranks, 0)
        self._crossed.update(
            {cutoff: int((rank == cutoff + 1).sum()) for cutoff in self.asked.cutoffs}
        )
        rows = run.order[np.isin(rank, [cutoff + 1 for cutoff in self.asked.cutoffs])]
        self.queries += len(np.unique(run.query[rows]))
        self.note(
            run,
            rows,
            lambda row: (
                f"document {named(run.document[row])} of query {run.name_of_query(row)}, "
                f"score {run.score[row]:.6g}"
            ),
        )

    def text(self) -> str:
        parts = [
            f"rank {cutoff} in {counted(count, 'query', 'queries')}"
            for cutoff, count in sorted(self._crossed.items())
            if count
        ]
        return f"ties cross {', '.join(parts)}"


class NothingRelevant(Finding):
    """No judged document has the level of -l or a higher one, so nothing can be relevant."""

    def found(self) -> Found | None:
        if self.asked.judgements is None:
            return None
        highest = int(self.asked.judgements.level.max(initial=-1))
        level = self.asked.settings.relevance_level
        text = f"-l {level} is above the highest judged level, {highest}"
        return Found(1, text) if level > highest else None


class _Queries(Finding):
    """A comparison of the queries of the run with the judged ones."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self.retrieved: set[bytes] = set()
        self.judged = [] if asked.judgements is None else asked.judgements.queries

    def see(self, part: Part) -> None:
        self.retrieved.update(part.run.queries)

    def differing(self) -> Sequence[bytes]:
        raise NotImplementedError

    def found(self) -> Found | None:
        queries = [] if self.asked.judgements is None else self.differing()
        self.count, self.examples = len(queries), [Example(None, listed(queries))]
        return super().found()


class MissingQueries(_Queries):
    """Judged queries that the run lacks: 0 in every command but trec_eval's lines of one run."""

    words = "judged query is", "judged queries are", "missing from the run"

    def differing(self) -> Sequence[bytes]:
        return [query for query in self.judged if query not in self.retrieved]


class UnknownQueries(_Queries):
    """Queries of the run that are not judged; 'ragkpi eval' ignores them."""

    words = "query of the run is", "queries of the run are", "not judged"

    def differing(self) -> Sequence[bytes]:
        return sorted(self.retrieved - set(self.judged))


class Unanswerable(_Queries):
    """Judged queries without a relevant document: recall, nDCG and success are 0 there.

    Sets for RAG hold questions without an answer on purpose; in an average they cost every run.
    """

    words = "judged query has", "judged queries have", "no relevant document"

    def differing(self) -> Sequence[bytes]:
        judgements, least = self.asked.judgements, self.asked.settings.relevance_level
        assert judgements is not None
        answered = set(judgements.query[judgements.level >= least].tolist())
        lacking = [id_ for number, id_ in enumerate(self.judged) if number not in answered]
        return lacking if answered else []  # without any it is `NothingRelevant`


class QuerySpelling(Finding):
    """Unjudged query ids that are judged ones but for case, white space or leading zeros."""

    words = "query id differs", "query ids differ", f"from a judged one {OF_QUERIES}"

    def see(self, part: Part) -> None:
        run, judgements = part.run, self.asked.judgements
        if judgements is None:
            return
        unknown = np.flatnonzero(part.judged_queries < 0)
        ids = [run.queries[number] for number in unknown.tolist()]
        meant = queries_meant(judgements.queries, ids) if ids else {}
        misspelt = unknown[[id_ in meant for id_ in ids]]

        def describe(row: int) -> str:
            query = run.queries[run.query[row]]
            return f"{ascii(query)[1:]} where the qrels have {ascii(meant[query])[1:]}"

        self.note(run, run.first_row[misspelt], describe)


class DocumentSpelling(Finding):
    """Unjudged documents that are judged for their query but for case, white space, zeros or #.

    Leading zeros do not count, nor what follows a # (the number of a passage).
    """

    words = "document id differs", "document ids differ", f"from a judged one {OF_DOCUMENTS}"

    def see(self, part: Part) -> None:
        run, judgements = part.run, self.asked.judgements
        if judgements is None:
            return
        self.note(
            run,
            np.flatnonzero(part.meant >= 0),
            lambda row: (
                f"{ascii(run.document[row])[1:]} where the qrels have "
                f"{ascii(judgements.document[int(part.meant[row])])[1:]}"
            ),
        )


class _Shares(Finding):
    """How many documents of judged queries are judged, and how many there are, by depth."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self.document = b""
        self.shares = np.zeros((len(DEPTHS), 2), dtype=np.int64)

    def see(self, part: Part) -> None:
        if self.asked.judgements is None or not len(part.run):
            return
        self.document = self.document or part.run.document[0]
        self.queries += int(np.count_nonzero(part.judged_queries >= 0))
        self.shares += part.shares


class JudgedShare(_Shares):
    """The judged share of the retrieved documents, over the judged queries of the run.

    A pool judges what the systems behind it retrieved: a low share makes a run look worse than
    it is. A query that retrieves fewer documents than the depth counts with what it has.
    """

    def found(self) -> Found | None:
        return Found(int(self.shares[0, 0]), self.text()) if self.queries else None

    def text(self) -> str:
        return ", ".join(
            f"{100 * judged / max(retrieved, 1):.1f} % of the top {depth} "
            f"({judged:,} of {retrieved:,})"
            for depth, (judged, retrieved) in zip(DEPTHS, self.shares.tolist(), strict=True)
        )


class NothingJudged(_Shares):
    """No document of any ranking is judged down to rank 100: the ids may be of another kind.

    Passages where documents are judged, URLs where keys are, another collection.
    """

    def found(self) -> Found | None:
        judged, retrieved = self.shares[-1].tolist()
        if self.asked.judgements is None or judged or not retrieved:
            return None
        ids = f"{named(self.document)}, the qrels {named(self.asked.judgements.document[0])}"
        none = f"none of {counted(retrieved, 'document')} is judged"
        return Found(retrieved, f"{none}; the run has ids such as {ids}")


CHECKS = (
    Check("columns", "error", Columns),
    Check("number", "error", NoNumber),
    Check("nul-byte", "error", NulByte),
    Check("subsets", "error", Subsets),
    Check("keys-twice", "error", KeysTwice),
    Check("ranks-twice", "error", RanksTwice),
    Check("duplicates", "error", Duplicates),
    Check("max-hits", "error", MaxHits),
    Check("extra-columns", "warning", ExtraColumns),
    Check("infinite", "warning", Infinite),
    Check("run-ids", "warning", RunIds),
    Check("own-query", "warning", OwnQuery),
    Check("ascending", "warning", Ascending),
    Check("one-score", "warning", OneScore),
    Check("ranks", "warning", Ranks),
    Check("nothing-relevant", "warning", NothingRelevant),
    Check("missing-queries", "warning", MissingQueries),
    Check("unknown-queries", "warning", UnknownQueries),
    Check("query-spelling", "warning", QuerySpelling),
    Check("document-spelling", "warning", DocumentSpelling),
    Check("nothing-judged", "warning", NothingJudged),
    Check("unanswerable", "note", Unanswerable),
    Check("ties-at-cutoff", "note", TiesAtCutoff),
    Check("ties", "note", TiedDocuments),
    Check("scattered", "note", Scattered),
    Check("judged", "note", JudgedShare),
)


def described() -> Iterator[str]:
    """Yield the catalogue as lines of text."""
    yield "Findings of 'ragkpi check': name, severity, explanation"
    for check in CHECKS:
        yield ""
        yield f"{check.name} ({check.severity})"
        for line in (inspect.getdoc(check.finding) or "").splitlines():
            yield f"  {line}".rstrip()
    yield ""
    yield "A file that cannot be read ends every command in one line, 'ragkpi: FILE:LINE: …', which"
    yield "says what is wrong and what is expected: status 2, or 4 for a document that comes twice."
