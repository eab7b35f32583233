"""`ragkpi compare`: the public function `compare`, its result, and its command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Annotated, Any, Literal, Unpack, get_args

from typer import Argument, Option

from ragkpi.cli.output import PlotOutput, Signed, tell_gates
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import exit_with, expect_files, tell
from ragkpi.errors import UsageError
from ragkpi.files.inputs import inputs
from ragkpi.interface import interface, spell
from ragkpi.library.arguments import bootstrap_of, session_of
from ragkpi.library.doubts import judging_of, verdicts_against
from ragkpi.library.options import (
    BetterScores,
    By,
    Comparing,
    Flags,
    Measures,
    ScoreColumns,
    ScoreTables,
    Testing,
    checked,
    less_common,
    one_of,
)
from ragkpi.library.result import Result
from ragkpi.library.runs import (
    AnyQrels,
    Runs,
    by_path,
    files_of,
    named_runs,
    run_path,
    with_baseline,
)
from ragkpi.library.score_tables import ScoreTable, scores_in_place
from ragkpi.library.session import OnProblem, Session, queries_of, refuse_alone
from ragkpi.library.slices import slices_of, with_slices
from ragkpi.library.stored import Scored, is_result, scored_runs, with_results
from ragkpi.questions.compare.answer import (
    REPORTED,
    ComparedReport,
    compared_report,
    paper_table,
)
from ragkpi.questions.compare.charts import charts_of
from ragkpi.questions.compare.verdict import (
    doubts_of,
    evidence_notes,
    seeds_note,
)
from ragkpi.reports.names import system_of
from ragkpi.statistics.all_pairs import AllPairs, compare_all
from ragkpi.statistics.gates import (
    BaselineGate,
    Verdict,
    failures_of,
    margin_of,
    refuse_failures,
)
from ragkpi.statistics.paired import Comparison, Procedure, compare_each, decided_together
from ragkpi.statistics.paired import compare as compare_paired


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(Result):
    """The comparison of runs with a baseline, or of all pairs of runs.

    Attributes
    ----------
    problems
        The errors of runs that the report lacks, and missed gates; empty unless the call had
        ``problems="kept"``.
    names
        Each run's name in the report, by its name in the call.
    """

    report: ComparedReport
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """The verdict of each gate on each run."""
        return self.report.runs.gates

    def paper(self, against: str | Sequence[str] = ()) -> Result:
        """Make a table for a paper: runs and measures, with marks for significant differences.

        ``paper().to_text("latex")`` is what ``ragkpi compare --paper --format latex`` prints.

        Parameters
        ----------
        against
            The runs to test the others against, each with its own mark; by default the baseline.
        """
        compared = self.report.compared
        names, others = compared.names, [against] if isinstance(against, str) else list(against)
        baselines = [
            one_of("against", self.names.get(name, name), names) for name in others or names[:1]
        ]
        places = [names.index(name) for name in dict.fromkeys(baselines)]
        each = compare_each(names, compared.runs, compared.procedure, places)
        table = paper_table(names, each, self.signature)
        return Result(table, None, self.notes, self.signature)


def compare(
    qrels: AnyQrels | None = None,
    runs: Runs | None = None,
    measures: Measures = (),
    *,
    scores: ScoreTables = None,
    better: BetterScores = None,
    map_scores: ScoreColumns = None,
    baseline: str | None = None,
    pairs: Annotated[
        Literal["baseline", "all"],
        Flags(
            all=Option(
                "--all-pairs",
                help="Compare every pair of runs: p-values and a compact letter display (runs "
                "that share a letter do not differ significantly). Uses a joint "
                "step-down test.",
            )
        ),
    ] = "baseline",
    by: By = None,
    fail_if: Annotated[
        Literal["worse", "noninferior"] | None,
        less_common(
            help="Exit with status 3 if any value is significantly worse than the baseline's "
            "(worse), or unless every value is shown to be non-inferior (noninferior), "
            "as eval --fail-under-baseline decides; with 5 if that depends on "
            "unjudged documents or ties.",
        ),
    ] = None,
    margin: Annotated[
        float | str | None,
        less_common(metavar="AMOUNT", help="Tolerated loss of --fail-if, such as 0.01 or 2%."),
    ] = None,
    problems: OnProblem = "raised",
    **how: Unpack[Comparing],
) -> ComparisonResult:
    """Compare runs with a baseline, query by query.

    The first measure decides: a sentence says which runs are better by it. Below it, a row per
    measure and run has the mean, the difference from the baseline with an interval, the numbers of
    queries on which the run is better, equal and worse, the effect size, and the p-value. Values
    are over all judged queries, as with -c, or with --common over the queries that all runs have.
    Without -m: map, ndcg_cut.10, recip_rank and recall.100, or the default of -R. --by adds the
    same for each group of queries, with all claims corrected together. --plot draws the differences
    with their intervals, and the differences of single queries. --scores compares numbers of any
    kind (faithfulness, exact match, latency, cost): --by and --cluster can name its columns of
    texts, and a column 'seed' separates the seeds of a system.

    Parameters
    ----------
    qrels, measures
        As for `evaluate`; the default measures are the most reported ones.
    runs
        Two or more: a mapping by name, or a list; also paths of results saved by ``eval -q`` or
        ``log``, with `qrels` None if all are. Values are over all judged queries, or with
        ``missing="common"`` over the queries that all runs have. A list of runs in a mapping is one
        system of several seeds.
    scores, better, map_scores
        Instead of qrels and runs: a path, several, a data frame, rows, or
        ``{system: {query: {measure: number}}}`` (see `library.score_tables`); `measures` are its
        columns. `better` is ``"lower"``, or ``{measure: "lower"}``; `map_scores` names columns:
        ``{"query": "frage", "system": "modell"}``.
    baseline
        The name of the run to compare with; None is the first.
    fail_if, margin
        As `gate_by` and `margin` of `evaluate` against a baseline: all measures decide, corrected
        together for each run. A miss is a `GateFailedError`, a claim that depends on unjudged
        documents or ties a `GateDoubtedError`.
    problems
        As for `evaluate`. Without its baseline, nothing is compared.
    how
        See `Comparing`: ``test``, ``correction``, ``family``, ``seed``, … A corrected p-value below
        1 - ``confidence`` decides.

    Examples
    --------
    >>> import ragkpi
    >>> runs = ["fixtures/runs/bm25.run", "fixtures/runs/fusion.run"]
    >>> result = ragkpi.compare("fixtures/qrels.txt", runs, "ndcg_cut.10", missing="zero")
    >>> [round(row["p"], 4) for row in result.rows if row["run"] == "fusion"]
    [0.0088]
    """
    one_of("pairs", pairs, ("baseline", "all"))
    one_of("problems", problems, get_args(OnProblem))
    table = scores_in_place((qrels, runs), scores, measures, better, how, map_scores)
    if table is not None:
        measures, (by, how) = (), table.columns(by, how)
    session = session_of(qrels, measures, how, Comparing, by)
    bootstrap = bootstrap_of(how, clusters=session.clusters)
    procedure = Procedure(bootstrap=bootstrap, **checked(how, Testing))
    _refuse_idle(pairs, procedure, baseline, fail_if, margin)
    gate = None
    if fail_if is not None:
        decided_by = one_of("fail_if", fail_if, ("worse", "noninferior"))
        gate = BaselineGate(margin_of(margin), decided_by, replace(procedure, family="all"))
    scored = _scored(session, table, runs, baseline, "noted" if gate is None else "refused")
    names, every = list(scored.names.values()), list(scored.scores.values())
    if problems == "raised" or len(every) < 2 or (pairs == "baseline" and scored.lacks_first):
        interface().refuse(scored.problems)
    queries = queries_of(every)
    if session.clusters is not None:
        refuse_alone(queries, session.clusters)
    judging = judging_of(scored.evaluated) if scored.evaluated else None
    parts = slices_of(session.labels, queries)
    groups = [every, *([part.of(run) for run in every] for part in parts)]
    compared: Sequence[Comparison | AllPairs]
    if pairs == "all":
        compared = [compare_all(names, group, procedure, len(groups)) for group in groups]
    else:
        compared = decided_together([compare_paired(names, group, procedure) for group in groups])
    judgings = [judging, *(judging and judging.of(part) for part in parts)]
    whole, *of_slices = (
        compared_report(one, scored.signature, doubts_of(one, of_group))
        for one, of_group in zip(compared, judgings, strict=True)
    )
    verdicts: list[Verdict] = []
    if gate is not None:
        first = next(iter(scored.names))
        by_run = verdicts_against(first, scored.names, scored.scores, gate, scored.evaluated)
        verdicts = list(chain.from_iterable(by_run.values()))
    missed = failures_of(verdicts)
    if problems == "raised":
        refuse_failures(missed)
    metrics = compared[0].metrics
    whole = replace(
        whole,
        notes=tuple(evidence_notes(every, metrics[0], session.clusters)),
        runs=replace(whole.runs, gates=verdicts),
    )
    by_slice = dict(zip(parts, of_slices, strict=True))
    return ComparisonResult(
        with_slices(whole, session.labels, queries, lambda part: by_slice[part]),
        partial(charts_of, compared[0], scored.signature or session.signature(metrics)),
        (*session.notes, *whole.notes),
        scored.signature,
        [*scored.problems, *missed],
        names=scored.names,
    )


def _refuse_idle(
    pairs: Literal["baseline", "all"],
    procedure: Procedure,
    baseline: str | None,
    fail_if: str | None,
    margin: float | str | None,
) -> None:
    """Raise `UsageError` for arguments that have no effect beside the others."""
    if fail_if is None and margin is not None:
        instead = f"no gate; give {spell('fail_if')} with it"
        raise UsageError(f"{spell('margin')} {margin}: {instead}")
    if pairs == "baseline":
        return
    if fail_if is not None:
        raise UsageError(f"{spell('fail_if', fail_if)}: it needs a baseline; expected one")
    if baseline is not None:
        raise UsageError(f"{spell('all_pairs')}: there is no baseline ({baseline}); leave it out")
    for name in ("test", "correction"):
        if getattr(procedure, name) != getattr(Procedure(), name):
            raise UsageError(
                f"{spell('all_pairs')} with {spell(name)}: all pairs have a test of their own, "
                "step-down, which needs no correction; leave it out"
            )


def _scored(
    session: Session,
    table: ScoreTable | None,
    runs: Runs | None,
    baseline: str | None,
    lacking: Literal["noted", "refused"],
) -> Scored:
    """Get the scores to compare, the baseline's first, from a table, runs or saved results."""
    if table is None and runs is None:
        raise UsageError("no runs; expected qrels and runs, or scores")
    named: Mapping[str, Any] = named_runs(runs, "taken") if table is None else table.scores
    systems = list(dict.fromkeys(map(system_of, named)))
    if len(systems) < 2:
        one = "run" if table is None else "system"
        raise UsageError(f"one {one} is given; expected a baseline and others")
    if baseline is not None:
        first = one_of("baseline", baseline, systems)
        named = {**{name: of for name, of in named.items() if system_of(name) == first}, **named}
    if table is not None:
        return table.scored(session, list(named))
    if looks := seeds_note(named):
        session.note(looks)
    default = REPORTED if session.rel_info == "qrels" else None
    return scored_runs(session, with_results(named), default, lacking)


@command(
    compare,
    without=("resamples",),  # intervals are Student's
    examples=(
        "ragkpi compare qrels.txt runs/bm25.run runs/fusion.run",
        "ragkpi compare --paper --format latex qrels.txt runs/bm25.run runs/dense.run",
        "ragkpi compare -q -m map qrels.txt runs/bm25.run runs/dense.run",
    ),
)
def shell(
    output: PlotOutput,
    files: Annotated[
        list[str],
        Argument(
            metavar="[QRELS] BASELINE RUN...",
            help="Files; - is standard input. Runs may be results saved by 'ragkpi eval -q -o "
            "FILE.json' with the same qrels and settings; if all are, omit QRELS. NAME=RUN,RUN,RUN "
            "is one system with several seeds.",
        ),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
    baseline: Annotated[
        str | None,
        Option(
            metavar="RUN",
            help="Baseline, by name or file. Default: the first run.",
        ),
    ] = None,
    paper: Annotated[
        bool,
        Option(
            "--paper",
            help="Print a publication-ready table of runs and measures with significance "
            "marks (--format latex or markdown).",
        ),
    ] = False,
    per_query: Annotated[
        bool,
        less_common(
            "-q",
            "--per-query",
            help="Show the queries won and lost, the largest difference first.",
        ),
    ] = False,
    against: Annotated[
        list[str],
        less_common(
            metavar="RUN",
            parser=run_path,
            help="With --paper: mark differences from this run instead. Repeatable.",
        ),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
    signature: Signed = "none",
    **arguments: Any,
) -> None:
    """Write the comparison."""
    qrels, runs, first = None, None, baseline
    if "scores" in arguments:
        arguments["scores"] = [*arguments["scores"], *files]
    else:
        path = run_path(files[0]) if files else ""
        results = bool(path) and is_result((files_of(path) or [path])[0])
        some = "two or more results" if results else "three or more"
        expected = f"{some}: ragkpi compare [options] {'' if results else 'QRELS '}BASELINE RUN..."
        least = 3 - results - (baseline is not None)
        paths = expect_files(least, files, expected, arguments.get("by"), arguments.get("gains"))
        qrels, words = (None, paths) if results else (paths[0], paths[1:])
        words = words if baseline is None else with_baseline(words, baseline)
        runs = by_path(words)
        first = None if baseline is None else next(iter(runs))
    tables = {"--all-pairs": "pairs" in arguments, "--paper": paper, "-q": per_query}
    if paper:
        tables |= {"--fail-if": "fail_if" in arguments, "--by": "by" in arguments}
    names = [option for option, is_chosen in tables.items() if is_chosen]
    if len(names) > 1:
        raise UsageError(f"{' with '.join(names)}: each is a table of its own; expected one")
    if against and not paper:
        raise UsageError(f"--against {against[0]}: only --paper marks runs; give it with it")
    inputs().hashed = output.is_signed(signature)
    result = compare(qrels, runs, baseline=first, problems="kept", **arguments)
    if paper:
        output.write(result.paper(against).report, signature=signature)
    else:
        queries = "shown" if per_query else "hidden"
        output.write(result.report, signature=signature, per_query=queries)
    output.draw(result.charts)
    if output.written in ("csv", "tsv", "jsonl"):  # rows have no room for sentences
        for note in result.report.notes:
            tell(f"note: {note}")
    if not output.is_read:
        tell_gates(result.verdicts)
    exit_with(result.problems)
