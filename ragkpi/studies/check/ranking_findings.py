"""Findings about rankings: duplicates, ranks, scores that look like distances, depth, ties."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ragkpi.formats.tokens import Tokens
from ragkpi.studies.check.finding import Asked, Finding, Found, Part
from ragkpi.wording import counted, named


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


# Three findings about several rankings of a query in one file. Reading such a file fails, and
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

    def found(self) -> Found | None:
        return Found(self.queries, self.text(), self.examples) if self.count else None

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

    def see(self, part: Part) -> None:
        run = part.run
        queries = Tokens.from_strings(run.queries)
        both = Tokens.joined([queries, run.document])
        group = np.concatenate([np.arange(len(queries)), run.query])
        rows = np.flatnonzero(both.first_rows(group)[len(queries) :] < len(queries))
        self.note(run, rows, lambda row: f"query {run.name_of_query(row)}")

    def text(self) -> str:
        return (
            f"{counted(self.count, 'query retrieves', 'queries retrieve')} the document of the "
            "same id; --ignore-identical-ids leaves it out"
        )


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

    def found(self) -> Found | None:
        return Found(self.queries, self.text(), self.examples) if self.count else None

    def text(self) -> str:
        parts = [
            f"rank {cutoff} in {counted(count, 'query', 'queries')}"
            for cutoff, count in sorted(self._crossed.items())
            if count
        ]
        return f"ties cross {', '.join(parts)}"
