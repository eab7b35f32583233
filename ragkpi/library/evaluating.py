"""`evaluate`: the values of runs; and `zscores`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from ragkpi.errors import GateFailedError
from ragkpi.interface import interface
from ragkpi.library.arguments import (
    bootstrap_of,
    named_run,
    named_runs,
    note_files,
    one_of,
    runs_of,
    session,
    whole,
)
from ragkpi.library.run_results import RunResult, RunResults, ZScores
from ragkpi.library.session import Session, good_ones, problems_of
from ragkpi.library.slicing import labels_of, queries_of, slices_of, with_slices
from ragkpi.library.vocabulary import Evaluating
from ragkpi.measures.scores import Scores
from ragkpi.progress import steps
from ragkpi.studies.evaluate.evaluation_report import EvaluatedRun, EvaluationReport

if TYPE_CHECKING:
    from ragkpi.library.gating import GateLimits, Gates
    from ragkpi.reports.signature import Signature
    from ragkpi.statistics.bootstrap import Bootstrap, Method
    from ragkpi.statistics.gates import DecidedBy, Verdict
    from ragkpi.statistics.query_slices import QuerySlice
    from ragkpi.studies.evaluate.stored_result import StoredResult
    from ragkpi.studies.evaluate.worst_queries import WorstQueries

Problems = Literal["raised", "kept"]


def evaluate(
    qrels: Any,
    run: Any,
    measures: str | Sequence[str] = (),
    *,
    ci: bool = False,
    ci_method: Method | None = None,
    resamples: int = 5000,
    seed: int = 7,
    confidence: float = 0.95,
    zscores: str | os.PathLike[str] | None = None,
    fail_under: GateLimits = (),
    fail_under_baseline: Any = None,
    margin: float | str | None = None,
    gate_by: DecidedBy | None = None,
    gate_confidence: float | None = None,
    worst: int | None = None,
    sort: str | None = None,
    by: Any = None,
    problems: Problems = "raised",
    **how: Unpack[Evaluating],
) -> RunResult | RunResults:
    """Evaluate a run, or several, with the numbers that ``ragkpi eval`` prints.

    Parameters
    ----------
    qrels, run
        A path; ``{query: {document: number}}``; an iterable of rows, (query, document, number) or
        those of a TREC file; or a data frame of pandas, polars or pyarrow, whose columns are found
        by their names (``query_id``, ``qid``, ``docno``, ``relevance``, ``score``, …). The number
        is a level or a score. Ids are str, bytes or int. Qrels may be those of `read_qrels`, and
        `run` several runs: a mapping by their names, or a list. Several are evaluated over all
        judged queries unless `missing` says otherwise.
    measures
        As for ``-m``; the official ones if none is named.
    ci, ci_method, resamples, seed, confidence
        Whether the result has confidence intervals, and how they are computed: `RunResult.ci`.
    zscores
        A file of `ragkpi.zscores`: all values become z-scores.
    fail_under
        The worst that values may be: ``{"ndcg_cut_10": 0.35}``. A run that a limit or a baseline
        is set for is evaluated over all judged queries, too.
    fail_under_baseline
        A run, or a result that was stored, that runs may not be worse than by more than `margin`:
        an amount such as ``0.01``, or a share such as ``"2%"``.
    gate_by, gate_confidence
        What fails a run against the baseline: its ``"value"``; that it is shown to be ``"worse"``;
        or that it is not shown to be ``"noninferior"``; and how sure that has to be.
    worst, sort
        How many queries the report has if it shows them, and by which measure they are ordered,
        the worst first; None is all of them, and the first measure.
    by
        Labels of queries, a path or ``{kind: {query: label}}``: the result also has the values of
        each slice, the queries of one label, and limits may name one (``"lang=de:ndcg_cut_10"``).
    problems
        What becomes of runs that cannot be evaluated, and of limits that are missed: ``"raised"``,
        or ``"kept"`` in the result's ``problems``, beside the values of the other runs.
    how
        See `Evaluating`: ``corpus_size``, ``missing``, ``relevance_level``, ``pool``, …

    Returns
    -------
    RunResult or RunResults
        What may mislead its reader is warned of with `RagkpiWarning`.

    Raises
    ------
    RagkpiError
        With a text of one line: `UsageError`, `InputError`, `DataError`, `NothingInCommonError`
        or `GateFailedError`.

    Examples
    --------
    >>> import ragkpi
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.9}, "q2": {"d3": 1.5, "d9": 0.1}}
    >>> result = ragkpi.evaluate(qrels, run, ["recip_rank", "P.1", "bor.1"], corpus_size=1000)
    >>> result.mean
    {'recip_rank': 0.75, 'P_1': 0.5, 'bor_1': 8.965784284662087}
    >>> result.per_query["q1"]
    {'recip_rank': 0.5, 'P_1': 0.0, 'bor_1': -inf}
    >>> result.ci(seed=1)["recip_rank"]
    Interval(low=0.5, high=1.0)
    >>> print(ragkpi.evaluate(qrels, {"mine": run, "better": qrels}, "P.1"))
    run          P_1
    ────────────────
    mine      0.5000
    better   1.0000*
    over 2 queries
    * best of its column
    >>> ragkpi.evaluate(qrels, run, "P.1", fail_under={"P_1": 0.8})
    Traceback (most recent call last):
    ragkpi.errors.GateFailedError: run: P_1 is 0.5, under 0.8 by 0.3
    """
    asked = session(measures, how)
    metrics = asked.metrics()
    labels = labels_of(by)
    bootstrap = bootstrap_of(resamples, seed, confidence, ci_method) if ci else None
    gates = _gates(fail_under, fail_under_baseline, margin, gate_by, gate_confidence)
    one_of("problems", problems, get_args(Problems))
    several = runs_of(run)
    runs = named_run(run) if several is None else several
    read = {**runs, **gates.runs(runs)} if gates else runs
    noted = note_files(read.values())
    if several is not None or (gates and gates.over_all_queries):
        asked = asked.side_by_side()
        outcomes = asked.aligned(read, asked.evaluate(qrels, read, metrics))
    else:
        outcomes = asked.evaluate(qrels, read, metrics)
    bad = problems_of(read, outcomes)
    scored = {name: run.scores for name, run in good_ones(read, outcomes).items()}
    evaluated = [name for name in runs if name in scored]
    if problems == "raised" or not evaluated:
        interface().refuse(bad)
    if zscores is not None:
        scored = _standardized(os.fspath(zscores), scored)
    shown = asked.called(evaluated, [scored[name] for name in evaluated])
    of_runs = {name: scored[given] for name, given in zip(shown, evaluated, strict=True)}
    queries = [] if labels is None else queries_of(of_runs.values())
    verdicts: Sequence[Verdict] = ()
    if gates:
        baselines = {name: scores for name, scores in scored.items() if name not in runs}
        verdicts = gates.verdicts(of_runs, baselines, slices_of(labels, queries))
        if gates.stored is not None and gates.stored.qrels:
            _note_other_qrels(asked, gates.stored, qrels)
        missed = gates.missed(verdicts)
        if missed and problems == "raised":
            raise GateFailedError("; ".join(map(str, missed)))
        bad += missed
    files = asked.files(qrels=qrels, zscores=zscores, by=by) if noted.hashed else {}
    signature = asked.signature(metrics, files) if noted.hashed else None

    def reported(some: Mapping[str, Scores]) -> EvaluationReport:
        rows = _rows(some, bootstrap, signature)
        return EvaluationReport(rows, bootstrap, _order(list(some.values()), sort, worst))

    def of_slice(part: QuerySlice) -> EvaluationReport:
        return reported({name: part.of(scores) for name, scores in of_runs.items()})

    kind = RunResult if several is None else RunResults
    return kind(
        with_slices(reported(of_runs), labels, queries, of_slice),
        notes=tuple(asked.notes.told),
        signature=signature,
        files=files,
        paths=[path if isinstance(path := runs[name], str) else None for name in evaluated],
        verdicts=verdicts,
        problems=bad,
        inputs=noted,
    )


def zscores(
    qrels: Any, runs: Any, measures: str | Sequence[str] = (), **how: Unpack[Evaluating]
) -> ZScores:
    """Compute means and deviations over runs, per query and measure, as ``ragkpi zscores``.

    Parameters
    ----------
    qrels, runs, measures, how
        As `evaluate` takes them. A run counts for the queries that it has, or with
        ``missing="zero"`` for all.

    Returns
    -------
    ZScores
        ``.save(path)`` writes the file that ``evaluate(…, zscores=path)`` reads.

    Examples
    --------
    >>> import ragkpi
    >>> qrels = {"q1": {"d1": 1, "d2": 0}}
    >>> runs = [{"q1": {"d1": 0.5, "d2": 0.9}}, {"q1": {"d1": 1.5}}]
    >>> ragkpi.zscores(qrels, runs, "recip_rank").rows
    [{'query': 'q1', 'measure': 'recip_rank', 'mean': 0.75, 'deviation': 0.3535...}]
    """
    from ragkpi.reports.answer import Answer
    from ragkpi.reports.layout import Cell, Column, Table
    from ragkpi.statistics.zscores import zscore_lines

    asked = session(measures, how)
    metrics = asked.metrics()
    named = named_runs(runs)
    results = asked.evaluate_every(asked.evaluator(qrels, metrics), named, metrics)
    lines = list(zscore_lines([result.scores for result in results]))
    numbers = Column("mean", "decimal"), Column("deviation", "decimal")
    rows = []
    for line in lines:
        query, measure, mean, deviation = line.split()
        rows.append([Cell(query), Cell(measure), Cell(float(mean)), Cell(float(deviation))])
    sentence = f"Means and deviations are over {len(named)} runs."
    table = Table([Column("query"), Column("measure"), *numbers], rows)
    answer = Answer("zscores", table, [sentence], {})
    return ZScores(answer, None, tuple(asked.notes.told), asked.signed(metrics, qrels=qrels), lines)


def _gates(
    fail_under: GateLimits,
    baseline: Any,
    margin: float | str | None,
    gate_by: DecidedBy | None,
    gate_confidence: float | None,
) -> Gates | None:
    """Return the gates that runs have to pass; None, and nothing imported, without any."""
    given = (baseline, margin, gate_by, gate_confidence)
    if not fail_under and given.count(None) == len(given):
        return None
    from ragkpi.library.gating import gates_of

    return gates_of(fail_under, *given)


def _note_other_qrels(asked: Session, stored: StoredResult, qrels: Any) -> None:
    _, digest = asked.files(qrels=qrels).get("qrels", ("", None))
    if digest not in (None, stored.qrels):
        asked.notes.note(f"{stored.name} was evaluated with other qrels (by their SHA-256)")


def _standardized(path: str, scored: Mapping[str, Scores]) -> dict[str, Scores]:
    from ragkpi.formats.query_files import read_zscores
    from ragkpi.statistics.zscores import standardize

    norms = read_zscores(path)
    return {name: standardize(scores, norms) for name, scores in scored.items()}


def _rows(
    scored: Mapping[str, Scores], bootstrap: Bootstrap | None, signature: Signature | None
) -> list[EvaluatedRun]:
    """Return a row per run, with intervals if there is a bootstrap."""
    if bootstrap is None:
        return [EvaluatedRun(name, scores, {}, signature) for name, scores in scored.items()]
    from ragkpi.statistics.bootstrap import intervals

    return [
        EvaluatedRun(name, scores, intervals(scores, bootstrap), signature)
        for name, scores in steps(scored.items(), "intervals", len(scored))
    ]


def _order(scored: Sequence[Scores], sort: str | None, worst: int | None) -> WorstQueries | None:
    """Return the queries that a report shows, the worst first; None for all in byte order."""
    if worst is None and sort is None:
        return None
    from ragkpi.studies.evaluate.worst_queries import worst_queries

    return worst_queries(scored, sort, None if worst is None else whole("worst", worst, 1))
