"""`ragkpi eval`: the public function `evaluate`, its results, and its command."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack, get_args, overload

from typer import Argument, Option

from ragkpi.cli.output import EvalOutput, Signed, tell_gates
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import exit_with, expect_files, tell
from ragkpi.errors import UsageError
from ragkpi.evaluation import RunOrPath
from ragkpi.files.inputs import Inputs, inputs
from ragkpi.interface import interface, spell
from ragkpi.library.arguments import bootstrap_of, session_of
from ragkpi.library.evaluation_report import EvaluationReport, query_values, report_on
from ragkpi.library.ground import Hashes, Provenance
from ragkpi.library.options import (
    By,
    Ci,
    CiMethod,
    Estimating,
    Gating,
    Measures,
    PerQuery,
    less_common,
    of_trec_eval,
    one_of,
    whole,
)
from ragkpi.library.result import Result
from ragkpi.library.runs import (
    AnyQrels,
    Frame,
    Queries,
    Run,
    Runs,
    Seeds,
    by_path,
    by_system,
    named_run,
    runs_of,
)
from ragkpi.library.session import Evaluations, OnProblem
from ragkpi.measures.measure import Scores
from ragkpi.ranking.notes import missing_notes
from ragkpi.reports.names import system_of
from ragkpi.reports.output_files import output_file
from ragkpi.reports.renderers import REPORT_FORMATS
from ragkpi.reports.trec_lines import NAME_WIDTH, Lines, trec_lines
from ragkpi.wording import decoded

if TYPE_CHECKING:  # few evaluations have intervals, gates or slices
    from ragkpi.questions.evaluate.gates import Gates
    from ragkpi.statistics.bootstrap import Interval
    from ragkpi.statistics.gates import Verdict


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationResult(Result):
    """The values of runs.

    Attributes
    ----------
    problems
        The errors of runs missing from the report, and the missed gates; empty unless the call had
        ``problems="kept"``.
    """

    report: EvaluationReport

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """The verdict of each gate on each run: both values, the difference, and the outcome."""
        return self.report.gates

    def plot(self, size: Literal["screen", "column", "page"] = "screen") -> Any:
        """Draw runs with their intervals as a matplotlib figure."""
        from ragkpi.questions.evaluate.charts import evaluation_charts

        return Result(self.report, partial(evaluation_charts, self.report)).plot(size)

    def log(
        self,
        path: str,
        meta: Mapping[str, str] | None = None,
        per_query: Literal["hidden", "shown"] = "hidden",
    ) -> None:
        """Append a line of JSON per run to a file, as ``ragkpi eval --log``.

        Parameters
        ----------
        path
            The path of the log, which `ragkpi.log` shows.
        meta
            Notes about the runs: ``{"index": "2026-11-01"}``.
        per_query
            Whether to log the values of every query, which a baseline needs.

        Raises
        ------
        UsageError
            If the file cannot be written.
        InputError
            If a run's file has changed since it was evaluated.
        """
        from ragkpi.questions.evaluate.log import append, record

        report = self.report
        for of_run in report.provenance.values():
            of_run.noted.refuse_replacing(path, spell("log"))
        append(path, [record(report, run, meta or {}, per_query) for run in report.runs])


class RunResult(EvaluationResult):
    """The values of one run."""

    @property
    def scores(self) -> Scores:
        """The sufficient statistics of every query, the input of `ragkpi.statistics`."""
        return next(iter(self.report.runs.values()))

    @property
    def run_id(self) -> str:
        """The id of the run, which ``ragkpi eval`` prints as ``runid``."""
        return str(decoded(self.scores.run_id))

    @cached_property
    def mean(self) -> dict[str, float]:
        """The values over all queries by printed name; NaN for NA.

        ``ragkpi eval`` prints them for ``all``: a mean for most measures, a sum for counts, the
        logarithm of a ratio of means for bor.
        """
        columns = self.scores.printed("summary")
        return {of.name: of.summary for of in columns if not isinstance(of.summary, bytes)}

    @cached_property
    def per_query(self) -> dict[str, dict[str, Any]]:
        """The values of every query, by query and printed name."""
        names = [column.name for column in self.scores.printed("query")]
        each = query_values(self.scores, names, self.scores.queries)
        return {
            decoded(query): dict(zip(names, values or (), strict=True)) for query, values in each
        }

    def trec_lines(
        self,
        signature: Literal["none", "short", "long"] = "none",
        *,
        digits: int | None = None,
        per_query: Literal["hidden", "shown"] = "hidden",
        summary: Literal["hidden", "shown"] = "shown",
    ) -> Iterator[bytes]:
        """Yield the lines of ``ragkpi eval``, which are trec_eval's.

        Parameters
        ----------
        signature
            The form of the signature, which adds a line.
        digits
            The number of decimals; None for trec_eval's.
        per_query, summary
            Whether to include the lines of queries, and those over all queries.
        """
        yield from trec_lines(self.scores, per_query, summary, digits, self.intervals)
        if self.signature is not None and signature != "none":
            text = self.signature.long() if signature == "long" else self.signature.short()
            yield f"{'signature':<{NAME_WIDTH}}\tall\t{text}\n".encode()

    @property
    def intervals(self) -> Mapping[str, Interval]:
        """The confidence intervals of a call with ``ci=True``, by printed name."""
        return next(iter(self.report.intervals.values()), {})

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row per query: ``query``, then the values by printed name."""
        return [{"query": query, **values} for query, values in self.per_query.items()]

    def to_pandas(self) -> Any:
        """Return the values of every query as a pandas DataFrame: a row per query, its index."""
        return super().to_pandas().set_index("query")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.mean.items())
        return f"{type(self).__name__}({len(self.scores.queries)} queries: {values})"


class RunResults(EvaluationResult, Mapping[str, RunResult]):
    """The values of several runs: a mapping from their names to the `RunResult` of each."""

    @cached_property
    def runs(self) -> dict[str, RunResult]:
        """The result of each run by its name."""
        alone = replace(self.report, worst=None, gates=(), slices=None)
        return {
            name: RunResult(replace(alone, runs={name: scores}), signature=self.signature)
            for name, scores in alone.runs.items()
        }

    @property
    def mean(self) -> dict[str, dict[str, float]]:
        """The values over all queries, by run and printed name."""
        return {name: run.mean for name, run in self.runs.items()}

    def __getitem__(self, name: str) -> RunResult:
        return self.runs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.report.runs)})"


class EvaluationArguments(Estimating, Gating, total=False):
    """The arguments that `evaluate` takes by name: `Estimating`, `Gating`, and its own.

    Attributes
    ----------
    ci, ci_method
        Whether to compute confidence intervals over queries. ``"score"`` (None) is the score
        interval of a mean between 0 and 1, mid-p of a rate and Student's of the logarithms of a
        geometric mean; the rest is resampled. ``"percentile"`` resamples all.
    by
        Labels of queries, a path or ``{kind: {query: label}}``.
    problems
        Whether errors of runs and missed gates are ``"raised"``, or ``"kept"`` in the result's
        ``problems``, with the values of the other runs.
    """

    worst: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            help="Show a table of the N worst queries, by the first of -m.",
        ),
    ]
    by: By
    ci: Ci
    ci_method: CiMethod
    zscores: Annotated[
        str | os.PathLike[str] | None,
        of_trec_eval(
            "-Z",
            "--zscores",
            metavar="FILE",
            help="Print z-scores, from a file of means and deviations ('ragkpi zscores' "
            "writes it).",
        ),
    ]
    problems: OnProblem


@overload
def evaluate(
    qrels: AnyQrels, run: Run, measures: Measures = (), **how: Unpack[EvaluationArguments]
) -> RunResult: ...


@overload
def evaluate(
    qrels: AnyQrels,
    run: Mapping[str, Run | Seeds] | list[str] | Sequence[os.PathLike[str] | Queries | Frame],
    measures: Measures = (),
    **how: Unpack[EvaluationArguments],
) -> RunResults: ...


def evaluate(
    qrels: AnyQrels,
    run: Runs,
    measures: Measures = (),
    **how: Unpack[EvaluationArguments],
) -> RunResult | RunResults:
    """Evaluate runs against qrels.

    One run prints trec_eval's lines: name, query or all, value, over the queries of a TREC run, or
    with -c over all judged queries. Every other output is over all judged queries: several runs,
    other formats, saved results, logs and gates. Several runs print a table: a row per run, a
    column per measure. So does --by, with rows for all queries and for each group of queries. --ci
    adds the bounds to each line in two columns, and --signature adds a line.

    Options and files can be in any order; short options can be joined (-qcm map) and long ones
    abbreviated. NAME=RUN names a run, and NAME=RUN,RUN is a system of several seeds. Without
    -m: official, or the default of -R.

    Parameters
    ----------
    qrels, run
        A path; ``{query: {document: number}}``; ``{query: [document, …]}``, best first, also with
        documents as a retriever returns them; an iterable of rows, (query, document, number) or
        those of a TREC file; or a data frame of pandas, polars or pyarrow, with columns recognised
        by name (``query_id``, ``qid``, ``docno``, ``relevance``, ``score``, …). The number
        is a level or a score. Ids are str, bytes or int. Qrels can be those of `read_qrels`, and
        `run` several runs: a mapping by name, in which a list is a system of several seeds, or a
        list. All are evaluated over all judged queries unless `missing` says otherwise.
    measures
        As for ``-m``. By default the official ones, or those for preferences.
    how
        See `EvaluationArguments`: ``ci``, ``worst``, ``by``, …; `Gating`: ``fail_under``, …; and
        `Estimating`: ``corpus_size``, ``missing``, ``relevance_level``, ``pool``, ``seed``, …

    Returns
    -------
    RunResult or RunResults
        Possible misreadings cause a `RagkpiWarning`.

    Raises
    ------
    RagkpiError
        With a one-line text: `UsageError`, `InputError`, `DataError`, `NothingInCommonError`,
        `GateFailedError` or `GateDoubtedError`.

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
    >>> ragkpi.evaluate(qrels, run, "recip_rank", ci=True, ci_method="percentile").intervals
    {'recip_rank': Interval(low=0.5, high=1.0)}
    >>> print(ragkpi.evaluate(qrels, {"mine": run, "better": qrels}, "P.1"))
    run          P_1
    ────────────────
    mine      0.5000
    better   1.0000*
    over 2 queries
    * best of its column
    >>> ragkpi.evaluate(qrels, run, "P.1", fail_under={"P_1": 0.8})
    Traceback (most recent call last):
    ragkpi.errors.GateFailedError: run: P_1 is 0.5, below 0.8 by 0.3
    """
    session = session_of(qrels, measures, how, EvaluationArguments, how.get("by"))
    metrics = session.metrics()
    method = how.get("ci_method")
    bootstrap = bootstrap_of(how, method, session.clusters) if how.get("ci") else None
    problems = one_of("problems", how.get("problems", "raised"), get_args(OnProblem))
    worst, zscores = how.get("worst"), how.get("zscores")
    most = None if worst is None else whole("worst", worst, 1)
    several = runs_of(run)
    runs = named_run(run) if several is None else several
    gates: Gates | None = None
    read, depth = runs, 0
    if any(how.get(name) is not None for name in Gating.__annotations__):
        from ragkpi.questions.evaluate.gates import gates_of

        gates = gates_of(runs, how)
        metrics = gates.metrics_of(session, metrics)
        read = {**runs, **gates.runs}
        depth = gates.depth(metrics, session.settings)
    noted = inputs()  # the state before reading, so that a later hash covers the same bytes
    for path in (*read.values(), how.get("fail_under_baseline")):
        if isinstance(path, str | os.PathLike) and os.path.isfile(path):
            noted.note(os.fspath(path), os.stat(path))
    evaluated = session.evaluate(read, metrics, depth, "kept").over_common_queries()
    if problems == "raised" or not any(name in runs for name in evaluated):
        interface().refuse(evaluated.problems)
    scores = by_system(_scores(evaluated, zscores))
    systems = set(map(system_of, runs))
    names = session.names_of({name: of for name, of in scores.items() if name in systems})
    signature = session.signed(metrics, {"zscores": zscores})
    verdicts = gates.verdicts(names, scores, evaluated) if gates else []
    missed = gates.failures(verdicts, problems) if gates else []
    files = session.files({"zscores": zscores}) if noted.hashed else {}
    report = report_on(
        {name: scores[key] for key, name in names.items()},
        signature,
        bootstrap,
        most,
        session.labels,
        verdicts,
        {
            name: _provenance(evaluated, key, runs.get(key), files, noted)
            for key, name in names.items()
        },
    )
    result = RunResult if several is None else RunResults
    return result(report, None, tuple(session.notes), signature, [*evaluated.problems, *missed])


def _scores(evaluated: Evaluations, zscores: str | os.PathLike[str] | None) -> Mapping[str, Scores]:
    """Return the scores of runs by their names in the call, or their z-scores."""
    scores = {name: run.scores for name, run in evaluated.items()}
    if zscores is not None:
        from ragkpi.files.query_files import read_zscores
        from ragkpi.questions.evaluate.zscores import standardize

        norms = read_zscores(os.fspath(zscores))
        scores = {name: standardize(of_run, norms) for name, of_run in scores.items()}
    return scores


def _provenance(
    evaluated: Evaluations, key: str, run: RunOrPath | None, files: Hashes, noted: Inputs
) -> Provenance:
    """Return the provenance of the values of a run or a system; `key` is its name in the call."""
    path, reading = run if isinstance(run, str) else None, evaluated.session.reading
    if key not in evaluated:  # a system
        return Provenance(files, path, noted)
    one = evaluated[key]
    lacking = evaluated.session.settings.missing == "zero" and one.coverage.missing
    missing = missing_notes(["the run"], [one.coverage]) if lacking else []
    return Provenance(files, path, noted, reading, [*missing, *one.notes, *one.warnings])


@command(
    evaluate,
    examples=(
        "ragkpi eval qrels.txt reranked.run",
        "ragkpi eval -m map,bor.10 -N 5k qrels.txt runs/bm25.run runs/dense.run",
        "ragkpi eval -m ndcg_cut.10 --worst 5 qrels.txt reranked.run",
    ),
)
def shell(
    files: Annotated[
        list[str], Argument(metavar="QRELS RUN...", help="Files; - is standard input.")
    ],
    output: EvalOutput,
    log: Annotated[
        str | None,
        less_common(
            metavar="FILE",
            help="Append a JSON line per run to FILE: file hashes, signature, time, values, "
            "and with -q the values per query. 'ragkpi log FILE' shows it.",
        ),
    ] = None,
    meta: Annotated[
        list[str],
        less_common(
            metavar="KEY=VALUE",
            help="Add a field to the log entry, such as index=2026-11-01. Repeatable.",
        ),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
    per_query: PerQuery = False,
    no_summary: Annotated[
        bool, less_common("-n", "--no-summary", help="Omit the summary lines.")
    ] = False,
    signature: Signed = "none",
    results_format: Annotated[  # noqa: ARG001 - it has one value
        Literal["trec_results"],
        of_trec_eval("-T", "--Results_format", help="Format of RUN: trec_results alone."),
    ] = "trec_results",
    **arguments: Any,
) -> None:
    """Write an evaluation."""
    _refuse_idle(arguments)
    notes = _notes(meta, log)
    baseline, *more = arguments.pop("fail_under_baseline", []) or [None]
    if more:
        raise UsageError(
            f"--fail-under-baseline {' and '.join([baseline, *more])}: expected one; call "
            "'ragkpi eval' for each"
        )
    if baseline is not None:
        arguments["fail_under_baseline"] = baseline
    others = (baseline, *(arguments.get(name) for name in ("by", "cluster", "gains")))
    expected = "two or more: ragkpi eval [options] QRELS RUN..."
    qrels, *words = expect_files(2, files, expected, *others)
    runs = by_path(words)
    several = len(runs) > 1 or any(isinstance(run, list) for run in runs.values())
    in_table = several or not arguments.keys().isdisjoint(("by", "worst"))
    as_lines = output.choice == "trec" or (output.choice is None and not in_table)
    if as_lines and in_table:
        raise UsageError(
            "--format trec: its lines do not say which of several runs or groups they are of, nor "
            f"which queries are worst; expected {', '.join(REPORT_FORMATS)}"
        )
    kept = log is not None or baseline is not None
    inputs().hashed = kept or output.is_signed(signature)
    if as_lines and not kept and "fail_under" not in arguments:
        arguments = {"missing": "trec_eval", **arguments}
    result = evaluate(qrels, runs if several else next(iter(runs)), problems="kept", **arguments)
    if log is not None:
        inputs().refuse_replacing(log, "--log")
    queries: Lines = "shown" if per_query or "worst" in arguments else "hidden"
    summary: Lines = "hidden" if no_summary else "shown"
    if as_lines:
        assert isinstance(result, RunResult)
        with output_file(output.path) as file:
            file.writelines(
                result.trec_lines(
                    signature, digits=output.digits, per_query=queries, summary=summary
                )
            )
        for note in result.report.interval_notes():
            tell(f"note: {note}")
    else:
        output.write(
            result.report, signature=signature, per_query=queries, summary=summary, files="shown"
        )
    if log is not None:
        result.log(log, notes, per_query="shown" if per_query else "hidden")
    if as_lines or not output.is_read:
        tell_gates(result.verdicts)
    exit_with(result.problems)


def _notes(meta: Sequence[str], log: str | None) -> dict[str, str]:
    """Return the pairs of ``--meta``; `UsageError` for other words, and without a log."""
    notes: dict[str, str] = {}
    for text in meta:
        key, equals, value = text.partition("=")
        if log is None:
            raise UsageError(f"--meta {text}: nothing is logged; give --log FILE with it")
        if not (key and equals) or notes.setdefault(key, value) is not value:
            expected = "expected KEY=VALUE, such as index=2026-11-01, once for each key"
            raise UsageError(f"--meta {text}: {expected}")
    return notes


# Options without effect unless there is another one.
_EFFECTIVE = {
    **dict.fromkeys(("ci_method", "resamples", "seed", "confidence"), ("ci",)),
    "cluster": ("ci", "fail_under_baseline"),
}


def _refuse_idle(arguments: Mapping[str, Any]) -> None:
    """Raise `UsageError` for an option without effect without another one."""
    for name, others in _EFFECTIVE.items():
        if name in arguments and arguments.keys().isdisjoint(others):
            needed = " or ".join(spell(other) for other in others)
            option = f"{spell(name)} {arguments[name]}"
            raise UsageError(f"{option}: nothing depends on it; give {needed} with it")
