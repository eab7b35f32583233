"""`ragkpi report`: one HTML page for a team."""

from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from typing import Annotated, Any, Unpack

from typer import Argument, Option

from ragkpi.cli.output import OutputFile
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import UsageError
from ragkpi.files.query_files import Text
from ragkpi.interface import interface
from ragkpi.library.arguments import bootstrap_of, in_one_order, session_of
from ragkpi.library.options import (
    BetterScores,
    By,
    Estimating,
    Measures,
    ScoreColumns,
    ScoreTables,
    less_common,
    whole,
)
from ragkpi.library.runs import AnyQrels, ById, Path, Runs, by_path, files_of, named_runs, run_path
from ragkpi.library.score_tables import scores_in_place
from ragkpi.library.session import Evaluations, queries_of, refuse_alone
from ragkpi.library.slices import labels_of
from ragkpi.library.stored import StoredResult, is_result, scored_runs, with_results
from ragkpi.questions.compare.verdict import seeds_note
from ragkpi.questions.report.content import default_measures, evaluated_for_page, report_document
from ragkpi.questions.report.documents import TextSource
from ragkpi.questions.report.standings import only, reported_runs
from ragkpi.reports.names import Seed
from ragkpi.reports.output_files import write
from ragkpi.statistics.paired import Procedure
from ragkpi.wording import octets

try:
    import jinja2
except ImportError:  # `refuse_without_packages` reports it
    jinja2 = None

_CHART_SCRIPTS = ("bokeh.min.js", "bokeh-api.min.js")
_HEIGHT = 900  # pixels of the frame in a notebook


@dataclass(frozen=True)
class HtmlReport:
    """A report page, shown inline in notebooks.

    Attributes
    ----------
    html
        The page.
    data
        The data of the page, valid under ``schema.json#/$defs/report``.
    """

    html: str
    data: Mapping[str, Any]

    def save(self, path: str) -> None:
        """Write the page to a file, atomically."""
        write([self.html], path)

    def __repr__(self) -> str:
        runs, queries = self.data["runs"], self.data["queries"]
        return f"Report({len(runs)} runs, {len(queries)} queries, {len(self.html):,} characters)"

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{html.escape(str(self.data["title"]))}" '
            'sandbox="allow-scripts allow-popups allow-downloads" '
            f'style="width:100%;height:{_HEIGHT}px;border:0" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )


def refuse_without_packages() -> None:
    """Raise `UsageError` if the packages for pages are not installed."""
    missing = [name for name in ("jinja2", "bokeh") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the report needs {' and '.join(missing)}, not installed; pip install 'ragkpi[report]'"
        )


def report_page(data: Mapping[str, Any]) -> HtmlReport:
    """Make a page from a report's data.

    The page's content security policy allows scripts only by hash, so the browser loads nothing and
    runs no other script, whatever ids and texts contain.
    """
    refuse_without_packages()
    folder = files("ragkpi.questions.report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    template = environment.from_string((folder / "page.html.jinja").read_text("utf-8"))
    bokeh = files("bokeh") / "server" / "static" / "js"
    charts = [(bokeh / name).read_text("utf-8") for name in _CHART_SCRIPTS]
    # A JavaScript string can contain "</script"; the backslash has no meaning there.
    scripts = [script.replace("</script", "<\\/script") for script in charts]
    scripts.append((folder / "page.js").read_text("utf-8"))
    hashes = [hashlib.sha256(script.encode("utf-8")).digest() for script in scripts]
    page = template.render(
        data=data,
        style=(folder / "page.css").read_text("utf-8"),
        scripts=scripts,
        hashes=" ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in hashes),
    )
    page = page.encode("utf-8", "backslashreplace").decode("utf-8")  # lone surrogates
    return HtmlReport(page, data)


def report(
    qrels: AnyQrels | None = None,
    runs: Runs | None = None,
    measures: Measures = (),
    *,
    scores: ScoreTables = None,
    better: BetterScores = None,
    map_scores: ScoreColumns = None,
    queries: Annotated[
        Path | ById[str] | None,
        Option(
            metavar="FILE",
            help="Texts of the queries: lines ID<TAB>TEXT, CSV, JSON Lines or Parquet.",
        ),
    ] = None,
    corpus: Annotated[
        Path | ById[str] | None,
        Option(
            metavar="FILE",
            help="Texts of the documents, in the same formats; such as BEIR's corpus.jsonl.",
        ),
    ] = None,
    by: By = None,
    detail_queries: Annotated[
        int,
        less_common(
            metavar="N",
            min=0,
            help="Show the documents of the N queries on which the runs differ most.",
        ),
    ] = 200,
    **how: Unpack[Estimating],
) -> HtmlReport:
    """Write one HTML page that compares runs: which is better, on which queries and documents.

    The page names the best run as 'compare --all-pairs' does, gives advice, and shows each run with
    its interval; then a comparison of two runs, values per query and run, depth, the diagnosis of
    --pool, the effect of unjudged documents, and the rankings of each query side by side. It needs
    no network and no other file: open it from disk, mail it, keep it with a build. -o - writes it
    to standard output. It contains its data as JSON, which 'ragkpi schema' describes. Texts in JSON
    Lines runs are shown without --queries and --corpus. Without -m: ndcg_cut, P and recall at 10,
    recip_rank; with --pool also ra_nwg and pct_proc at 10, with -N bor at 10.
    The page of --scores has runs, intervals, comparisons and queries, and no documents.

    Parameters
    ----------
    qrels, runs, measures, how
        As for `evaluate`; `runs` also as results saved by ``eval -q``, with `qrels` None if all
        are: then the page has no documents, and no section that needs them.
    scores, better, map_scores
        Instead of qrels and runs, as for `compare`.
    queries, corpus
        A path, or texts by id.
    by
        A path, or ``{"language": {"q1": "de", …}, …}``.

    Returns
    -------
    HtmlReport
        ``.save("report.html")`` writes the page; ``.data`` is its data, valid under
        ``schema.json#/$defs/report``.

    Examples
    --------
    >>> import ragkpi
    >>> runs = ["fixtures/runs/bm25.run", "fixtures/runs/fusion.run"]
    >>> ragkpi.report("fixtures/qrels.txt", runs, "P.10", corpus_size=5000).data["runs"]
    ['bm25', 'fusion']
    """
    refuse_without_packages()
    table = scores_in_place((qrels, runs), scores, measures, better, how, map_scores)
    if table is not None:
        measures, (by, how) = (), table.columns(by, how)
    elif runs is None:
        raise UsageError("no runs; expected qrels and runs, or scores")
    session = session_of(qrels, measures, in_one_order(how), Estimating)
    procedure = Procedure(bootstrap=bootstrap_of(how, clusters=session.clusters))
    most = whole("detail_queries", detail_queries, 0)
    named = named_runs(runs, "taken") if runs is not None else {}
    if looks := seeds_note(named):
        session.note(looks)
    opened = with_results(named)
    unread = {name: run for name, run in opened.items() if not isinstance(run, StoredResult)}
    have_seeds = any(isinstance(name, Seed) for name in named)
    evaluated: Evaluations | None = None
    of_systems: Evaluations | None = None
    if table is None and len(unread) == len(opened) and not have_seeds:
        evaluated, metrics = evaluated_for_page(session, unread)
        names, of_runs = evaluated.names, [only(one, metrics) for one in evaluated.scores]
        signature = session.signature(metrics)
    else:
        if table is not None:
            scored = table.scored(session)
        else:
            scored = scored_runs(session, opened, default_measures(session))
        interface().refuse(scored.problems)
        of_systems = scored.evaluated if len(unread) == len(opened) else None
        names, of_runs = list(scored.names.values()), list(scored.scores.values())
        metrics = of_runs[0].metrics
        signature = scored.signature or session.signature(metrics)
        if session.clusters is not None:
            refuse_alone(queries_of(of_runs), session.clusters)
    document = report_document(
        session,
        evaluated,
        of_systems,
        [path for path in unread.values() if isinstance(path, str) and path != "-"],
        reported_runs(names, of_runs, evaluated),
        metrics,
        procedure,
        signature,
        (_texts(queries), _texts(corpus)),
        labels_of(by) or {},
        most,
    )
    return report_page(document)


def _texts(texts: str | os.PathLike[str] | Mapping[Any, str] | None) -> TextSource:
    if texts is None:
        return None
    if isinstance(texts, str | os.PathLike):
        return os.fspath(texts)
    return {octets(id_): Text((text, len(text))) for id_, text in texts.items()}


# The page has texts of queries under --queries.
@command(
    report,
    without=("query_ids", "ties", "gains", "rel_info"),
    examples=(
        "ragkpi report -o report.html qrels.txt runs/bm25.run runs/dense.run",
        "ragkpi report -o page.html --pool first_stage.run qrels.txt reranked.run",
        "ragkpi report -m ndcg_cut.10 -o few.html qrels.txt reranked.run",
    ),
)
def shell(
    files: Annotated[
        list[str],
        Argument(
            metavar="[QRELS] RUN...",
            help="Qrels and runs. Runs may be results saved by 'ragkpi eval -q -o FILE.json'; "
            "if all are, omit QRELS. Their page has no documents.",
        ),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
    output: OutputFile = None,
    **arguments: Any,
) -> None:
    """Write the page."""
    qrels, runs = None, None
    if "scores" in arguments:
        arguments["scores"] = [*arguments["scores"], *files]
    else:
        first = run_path(files[0]) if files else ""
        results = bool(first) and is_result((files_of(first) or [first])[0])
        expected = "qrels and runs: ragkpi report QRELS RUN... -o FILE"
        paths = expect_files(2 - results, files, expected, arguments.get("by"))
        qrels, runs = (None, paths) if results else (paths[0], paths[1:])
    if output is None:
        raise UsageError("the report is not written to a terminal; name a file: -o report.html")
    suffix = os.path.splitext(output)[1].lower()
    if suffix not in ("", ".html", ".htm"):
        raise UsageError(f"-o {output}: the report is HTML; expected the suffix .html")
    page = report(qrels, None if runs is None else by_path(runs), **arguments)
    write([page.html], output)
