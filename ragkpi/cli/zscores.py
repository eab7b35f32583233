"""`ragkpi zscores`: the file of means and deviations that `ragkpi eval -Z` reads."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ragkpi.cli import options
from ragkpi.errors import UsageError


def command(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="QRELS RUN RUN...", help="Qrels and runs.", show_default=False),
    ] = None,
    measure: options.Measures = [],  # noqa: B006 - typer copies defaults
    complete: options.Complete = False,
    strict: options.Strict = False,
    level: options.Level = 1,
    max_retrieved: options.MaxRetrieved = None,
    judged_only: options.JudgedOnly = False,
    corpus_size: options.CorpusSize = None,
    relevance_format: options.RelevanceFormat = "qrels",
) -> None:
    """Write a line "query measure mean deviation" per query and measure, over several runs.

    'ragkpi eval -Z FILE' (and trec_eval -Z) then says how many deviations a run is above the mean
    of these. The deviation is that of a sample (divisor: runs - 1). A run counts for the queries
    that it has; with -c a missing one counts as an empty ranking. What has no value per query
    (num_q, gm_map, texts) is left out.
    """
    if files is None or len(files) < 3:
        raise UsageError(f"{len(files or [])} files; expected qrels and at least two runs")
    from ragkpi.evaluation import Evaluator, coverage_note
    from ragkpi.measures.registry import find_values
    from ragkpi.measures.relevance_formats import default_requests
    from ragkpi.ranking.settings import Settings
    from ragkpi.statistics.zscores import zscore_lines

    values = find_values(measure or default_requests(relevance_format))
    settings = Settings(
        relevance_level=level,
        missing=options.missing_policy(complete, strict),
        unjudged="removed" if judged_only else "kept",
        max_retrieved=max_retrieved,
        corpus_size=corpus_size,
    )
    evaluator = Evaluator(files[0], values, settings, relevance_format)
    runs = []
    for run in files[1:]:
        evaluation = evaluator.evaluate(run)
        note = coverage_note(evaluation.coverage, settings)
        if note:
            print(f"{note} ({run})", file=sys.stderr)
        runs.append(evaluation.scores)
    sys.stdout.buffer.writelines(list(zscore_lines(runs)))
