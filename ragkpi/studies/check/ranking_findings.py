"""Findings about rankings: duplicates, ranks, scores that look like distances, depth, ties."""

from __future__ import annotations

import numpy as np

from ragkpi.formats.identity import equal_tokens
from ragkpi.formats.tokens import Tokens
from ragkpi.studies.check.finding import Found, Subject, first_examples
from ragkpi.wording import counted, named


def duplicates(subject: Subject) -> Found | None:
    """Documents that a query retrieves more than once.

    'ragkpi eval' and trec_eval refuse such a run. --fix keeps the place with the highest score.
    """
    run = subject.run
    rows, first = run.repeated
    if not len(rows):
        return None
    first_line = dict(zip(rows.tolist(), run.line[first].tolist(), strict=True))

    def describe(row: int) -> str:
        return (
            f"document {named(run.document[row])} of query {named(run.queries[run.query[row]])} "
            f"again, first at line {first_line[row]}"
        )

    queries = len(np.unique(run.query[rows]))
    text = (
        f"{counted(len(rows), 'line')} {'repeats' if len(rows) == 1 else 'repeat'} a document "
        f"of the same query, in {counted(queries, 'query', 'queries')}"
    )
    return Found(len(rows), text, first_examples(run, rows, describe))


def max_hits(subject: Subject) -> Found | None:
    """Queries with more documents than --max-hits allows. --fix keeps the best ones."""
    run = subject.run
    if subject.max_hits is None:
        return None
    sizes = np.diff(run.starts)
    deep = np.flatnonzero(sizes > subject.max_hits)
    if not len(deep):
        return None
    size_of = dict(zip(run.first_row[deep].tolist(), sizes[deep].tolist(), strict=True))
    text = (
        f"{counted(len(deep), 'query retrieves', 'queries retrieve')} more than "
        f"{counted(subject.max_hits, 'document')}"
    )
    return Found(
        len(deep),
        text,
        first_examples(
            run,
            run.first_row[deep],
            lambda row: f"query {named(run.queries[run.query[row]])} has {size_of[row]:,}",
        ),
    )


def ranks(subject: Subject) -> Found | None:
    """Queries whose rank column disagrees with the scores, or is not whole numbers.

    Scores alone count, as for trec_eval: the ranking that is evaluated is not the one that the
    rank column shows. --fix numbers the ranks by the scores.
    """
    run = subject.run
    rank = run.rank_numbers
    if rank is None:
        return None
    numbers, valid = rank
    order = np.lexsort((run.line, numbers, run.query))
    order = order[valid[order]]
    query, score = run.query[order], run.score[order]
    rising = np.flatnonzero((query[1:] == query[:-1]) & (score[1:] > score[:-1])) + 1
    wrong = np.union1d(np.flatnonzero(~valid), order[rising])
    if not len(wrong):
        return None
    above = dict(zip(order[rising].tolist(), order[rising - 1].tolist(), strict=True))

    def describe(row: int) -> str:
        rank_text = run.rank[row] if run.rank is not None else b""
        if not valid[row]:
            return f"rank {named(rank_text)} is no whole number"
        other = above[row]
        upper = run.rank[other] if run.rank is not None else b""
        return (
            f"rank {named(rank_text)} of query {named(run.queries[run.query[row]])} scores "
            f"{run.score[row]:.6g}, above rank {named(upper)} with {run.score[other]:.6g}"
        )

    queries = len(np.unique(run.query[wrong]))
    text = (
        f"ranks disagree with scores in {counted(queries, 'query', 'queries')} "
        f"({counted(len(wrong), 'line')}); scores count"
    )
    return Found(queries, text, first_examples(run, wrong, describe))


def own_query(subject: Subject) -> Found | None:
    """Documents with the id of their query: a query that retrieves itself.

    In collections where queries are documents too, BEIR's ArguAna for one, these are left out:
    --ignore-identical-ids.
    """
    run = subject.run
    queries = Tokens.from_strings(run.queries)
    rows = np.flatnonzero(equal_tokens(queries, run.query, run.document, np.arange(len(run.query))))
    if not len(rows):
        return None
    text = (
        f"{counted(len(rows), 'query retrieves', 'queries retrieve')} the document of the same id; "
        "--ignore-identical-ids leaves it out"
    )
    return Found(
        len(rows),
        text,
        first_examples(run, rows, lambda row: f"query {named(run.queries[run.query[row]])}"),
    )


def ascending(subject: Subject) -> Found | None:
    """Scores that rise down most rankings, by rank or by line: they look like distances.

    The highest score ranks first, as for trec_eval, which turns such rankings upside down.
    Write -distance as the score.
    """
    run = subject.run
    rank_column = run.rank_numbers
    keys = (
        (run.line,)
        if rank_column is None or not rank_column[1].all()
        else (run.line, rank_column[0])
    )
    order = np.lexsort((*keys, run.query))
    query, score = run.query[order], run.score[order]
    inside = query[1:] == query[:-1]
    rises = np.bincount(query[1:][inside & (score[1:] > score[:-1])], minlength=len(run.queries))
    falls = np.bincount(query[1:][inside & (score[1:] < score[:-1])], minlength=len(run.queries))
    upside_down = np.flatnonzero((rises > 0) & (falls == 0))
    ranked = int(np.count_nonzero(rises + falls))
    if not ranked or 2 * len(upside_down) <= ranked:
        return None
    text = (
        f"scores rise down the ranking in {len(upside_down):,} of "
        f"{counted(ranked, 'query', 'queries')}: are they distances? The highest ranks first"
    )
    return Found(
        len(upside_down),
        text,
        first_examples(
            run,
            run.first_row[upside_down],
            lambda row: (
                f"query {named(run.queries[run.query[row]])} begins with {run.score[row]:.6g}"
            ),
        ),
    )


def ties(subject: Subject) -> Found | None:
    """Documents with the score of another one of their query; the id decides, as for trec_eval.

    Other tools break ties in another way, and print other numbers.
    """
    run = subject.run
    tied = run.tied_with_above
    either = tied.copy()
    either[:-1] |= tied[1:]
    count = int(np.count_nonzero(either))
    if not count:
        return None
    queries = len(np.unique(run.query[run.order[either]]))
    share = 100 * count / len(run)
    text = (
        f"{counted(count, 'document')} ({share:.1f} %) tie with another one, in "
        f"{counted(queries, 'query', 'queries')}"
    )
    return Found(count, text)


def ties_at_cutoff(subject: Subject) -> Found | None:
    """Ties across a cutoff of -m: which documents are inside depends on the order of ids.

    With qrels, the range that each measure could take is printed below the findings.
    """
    run = subject.run
    tied, rank = run.tied_with_above, run.ranks
    parts, crossing = [], []
    for cutoff in subject.cutoffs:
        places = np.flatnonzero(tied & (rank == cutoff + 1))
        if len(places):
            crossing.append(run.order[places])
            parts.append(f"rank {cutoff} in {counted(len(places), 'query', 'queries')}")
    if not parts:
        return None
    rows = np.unique(np.concatenate(crossing))

    def describe(row: int) -> str:
        return (
            f"document {named(run.document[row])} of query {named(run.queries[run.query[row]])}, "
            f"score {run.score[row]:.6g}"
        )

    count = len(np.unique(run.query[rows]))
    return Found(count, f"ties cross {', '.join(parts)}", first_examples(run, rows, describe))
