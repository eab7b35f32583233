"""One call of a public function: its measures and settings, evaluations, notes and signature."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import quote

from ragkpi.errors import RagkpiError, UsageError
from ragkpi.evaluation import Evaluation, Evaluator, RunOrPath, refuse_unjudged_runs
from ragkpi.files.formats import Reading
from ragkpi.files.opening import inputs, new_sha256
from ragkpi.interface import interface, option
from ragkpi.measures.measure import Metric, Scores
from ragkpi.measures.registry import (
    default_requests,
    find_metrics,
    find_metrics_as_given,
    refuse_unserved,
)
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.notes import concerning, missing_notes
from ragkpi.ranking.reading import Hits
from ragkpi.ranking.relevance import Qrels, Relevance
from ragkpi.reports.names import run_names
from ragkpi.version import __version__
from ragkpi.wording import counted, joined

SHORT_HASH = 8


@dataclass(frozen=True)
class Signature:
    """Named fields, ``ragkpi:0.1.0|qrels:sha256:…|N:8841823|l:1|missing:zero|…``."""

    fields: Mapping[str, str]
    defaults: Mapping[str, str]

    def long(self) -> str:
        return "|".join(f"{name}:{text}" for name, text in self.fields.items())

    def short(self) -> str:
        """Leave out fields with default values and cut hashes to eight digits."""
        chosen = {n: text for n, text in self.fields.items() if self.defaults.get(n) != text}
        return "|".join(f"{name}:{cut(text)}" for name, text in chosen.items())

    def options(self) -> list[str]:
        """Return the settings that are not the default ones as the user writes them."""
        return [
            option(_ARGUMENTS[name], text)
            for name, text in self.fields.items()
            if name in _ARGUMENTS and self.defaults.get(name) != text and "seen" not in text
        ]


# Fields that the queries say already, or that change no value over all queries.
_IMPLIED = ("missing", "query", "by")
_NEEDED = {"N": "corpus_size", "draws": "corpus_size", "grades": "grade_map"}
_ARGUMENTS = {
    "N": "corpus_size",
    "l": "relevance_level",
    "unjudged": "unjudged",
    "M": "max_retrieved",
    "ties": "ties",
    "draws": "draws",
    "grades": "grade_map",
    "pool_depth": "pool_depth",
}


def ids_sha256(queries: Iterable[bytes]) -> str:
    """Return a hash of query ids in byte order."""
    digest = new_sha256()
    digest.update(b"\n".join(queries))
    return str(digest.hexdigest())


def ground_of(stored: Mapping[str, Any]) -> dict[str, str]:
    """Return what the values of a run in JSON rest on; empty if it does not say it.

    Beside the fields of its signature these are the queries. Versions that agree in major and
    minor compute the same: a release that changes a number raises the second.
    """
    fields = dict(part.partition(":")[::2] for part in str(stored.get("signature", "")).split("|"))
    if not ("qrels" in fields and isinstance(stored.get("queries_sha256"), str)):
        return {}
    queries = f"{stored.get('queries')}, sha256:{stored['queries_sha256']}"
    versions = fields.pop("ragkpi", ""), str(stored.get("ragkpi", __version__))
    own = __version__.split(".")[:2]
    version = next((one for one in versions if one.split(".")[:2] != own), __version__)
    chosen = {name: text for name, text in fields.items() if name not in _IMPLIED}
    return {"version": version, "queries": queries, **chosen}


def differences(
    there: Mapping[str, str], here: Mapping[str, str], metrics: Iterable[Metric]
) -> dict[str, tuple[str, str]]:
    """Return the fields in which two grounds differ, as far as these metrics depend on them.

    A file that has no hash is never the same.
    """
    needs = {need for metric in metrics for need in metric.measure.needs}
    unneeded = {name for name, need in _NEEDED.items() if need not in needs}
    return {
        name: (cut(there.get(name, "none")), cut(here.get(name, "none")))
        for name in dict.fromkeys([*there, *here])
        if (there.get(name) != here.get(name) or here[name] == "given") and name not in unneeded
    }


def signature_of(
    settings: Settings,
    metrics: Sequence[Metric],
    files: Mapping[str, str | None],
    seen: int | None = None,
    sieve: str = "",
) -> Signature:
    """Collect the files and settings that the values of an evaluation depend on.

    The corpus size, the pool and the grade map appear only if a metric needs them. `files` has the
    SHA-256 of each file but the run by role (``"qrels"``, ``"pool"``); None if not computed.
    `seen` is the number of documents seen, if that is N, and `sieve` what was left out or folded.
    """
    needs: set[str] = {need for metric in metrics for need in metric.measure.needs}
    hashes = {role: f"sha256:{digest}" if digest else "given" for role, digest in files.items()}
    size = {"N": _corpus_size(settings, seen)} if "corpus_size" in needs else {}
    pool = "pool" in files
    choices = _choices(settings, needs, pool)
    left_out = {"sieve": sieve} if sieve else {}
    fields = {"ragkpi": __version__, **hashes, **size, **choices, **left_out}
    return Signature(fields, _choices(Settings(), needs, pool))


def _choices(settings: Settings, needs: set[str], pool: bool) -> dict[str, str]:
    choices = {
        "l": str(settings.relevance_level),
        "missing": settings.missing,
        "unjudged": settings.unjudged,
        "M": "all" if settings.max_retrieved is None else str(settings.max_retrieved),
        "ties": settings.ties,
        "query": "all" if settings.only_query is None else quote(settings.only_query),
    }
    if settings.gains is not None:
        choices["gains"] = f"sha256:{settings.gains.sha256}"
    if "corpus_size" in needs:
        choices["draws"] = settings.draws
    if "grade_map" in needs:
        choices["grades"] = settings.grade_map.name
    if pool:
        depth = settings.pool_depth
        choices["pool_depth"] = "all" if depth is None else str(depth)
        choices["pool_union"] = settings.pool_union
    return choices


def _corpus_size(settings: Settings, seen: int | None) -> str:
    size = "seen" if settings.corpus_size is None else str(settings.corpus_size)
    if not settings.corpus_sizes:
        return size if size != "seen" or seen is None else f"{seen} seen"
    lines = sorted(b"%b %d\n" % item for item in settings.corpus_sizes.items())
    digest = new_sha256()
    digest.update(b"".join(lines))
    return f"{size},per query sha256:{digest.hexdigest()}"


def cut(text: str) -> str:
    """Cut a hash to eight digits."""
    head, hashed, digest = text.partition("sha256:")
    return f"{head}{digest[:SHORT_HASH]}" if hashed else text


Names = Literal["given", "file", "runid"]
MeasureNames = Literal["trec", "given"]
Hashes = Mapping[str, "tuple[str, str | None]"]
"""The path and SHA-256 of each file by role (``"qrels"``, ``"pool"``); None if not known."""


class Notes:
    """The notes and warnings of a call, in order."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def tell(self, evaluations: Mapping[str, Evaluation]) -> None:
        """Issue the notes and warnings of runs; a line names its runs unless it concerns all."""
        for text in concerning({name: run.notes for name, run in evaluations.items()}):
            self.note(text)
        for text in concerning({name: run.warnings for name, run in evaluations.items()}):
            self.warn(text)

    def note(self, text: str) -> None:
        """Note an omission or an assumption, once."""
        if text not in self.told:
            self.told.append(text)
            interface().note(text)

    def warn(self, text: str) -> None:
        """Warn of a possible misreading."""
        self.told.append(text)
        interface().warn(text)


@dataclass(frozen=True)
class Session:
    """One call of a public function: its measures, settings, evaluator and notes.

    Attributes
    ----------
    requests
        Names of measures; empty if the user named none.
    qrels_format, run_format
        The formats of files; None recognises each file's format.
    names, measure_names
        The source of the names of runs and measures in a result.
    missing_said
        Whether the user said how to treat missing queries.
    """

    requests: Sequence[str]
    settings: Settings
    rel_info: str = "qrels"
    pool: RunOrPath | None = None
    qrels_format: Reading | None = None
    run_format: Reading | None = None
    names: Names = "given"
    measure_names: MeasureNames = "trec"
    missing_said: bool = False
    notes: Notes = field(default_factory=Notes)

    def metrics(self, default: Sequence[str] | None = None) -> list[Metric]:
        """Resolve the requests, else `default`, else the measures for the relevance format."""
        requests = self.requests or default or default_requests(self.rel_info)
        return list(_resolved(tuple(requests), self.measure_names))

    def evaluator(self, qrels: Any, metrics: Sequence[Metric]) -> Evaluator:
        """Refuse `metrics` that the relevance format does not serve; then read qrels and pool."""
        refuse_unserved(metrics, self.rel_info, self.settings)
        given = qrels_of(qrels, self.rel_info, self.qrels_format)
        return Evaluator(
            given, self.settings, self.rel_info, self.pool, self.qrels_format, self.run_format
        )

    def with_grades(self, evaluator: Evaluator, metrics: Sequence[Metric]) -> list[Metric]:
        """Leave out metrics that nobody asked for and that the grade map cannot serve; say so."""
        graded = dict.fromkeys(m.measure.name for m in metrics if m.is_graded)
        if not graded or not evaluator.lacking_grade:
            return list(metrics)
        self.notes.note(f"without {joined(list(graded))}: {evaluator.lacking_grade}")
        return [metric for metric in metrics if not metric.is_graded]

    @property
    def fills_missing(self) -> bool:
        """Whether missing queries count as empty rankings though the user did not say so."""
        return not self.missing_said and self.settings.missing == "zero"

    def following_trec_eval(self, read: Sequence[Hits | RagkpiError]) -> Session:
        """Settle ``missing="trec_eval"`` by what was read: only one TREC file follows its rule."""
        if self.settings.missing != "trec_eval":
            return self
        (run,) = read if len(read) == 1 else (None,)
        follows = isinstance(run, Hits) and run.format == "trec"
        follows |= self.settings.only_query is not None  # without that query there is no value
        settings = replace(self.settings, missing="intersection" if follows else "zero")
        return replace(self, settings=settings, missing_said=False)

    def evaluate_every(
        self, evaluator: Evaluator, runs: Mapping[str, RunOrPath], metrics: Sequence[Metric]
    ) -> list[Evaluation]:
        """Read and evaluate runs; one bad run ends the call."""
        read = evaluator.read(runs.values(), evaluator.needs(metrics))
        return self.every(evaluator, runs, evaluator.score(read, metrics))

    def checked(
        self,
        evaluator: Evaluator,
        names: Iterable[str],
        outcomes: Sequence[Evaluation | RagkpiError],
    ) -> list[Evaluation | RagkpiError]:
        """Issue the runs' notes; refuse a run without queries where missing queries are filled."""
        if self.fills_missing:
            outcomes = refuse_unjudged_runs(outcomes, evaluator.relevance.judgements.file)
        good = good_ones(names, outcomes)
        if self.fills_missing:
            for text in self.what_is_missing(good):
                self.notes.note(text)
        self.notes.tell(good)
        return list(outcomes)

    def every(
        self,
        evaluator: Evaluator,
        names: Iterable[str],
        outcomes: Sequence[Evaluation | RagkpiError],
    ) -> list[Evaluation]:
        """Return all outcomes and issue their notes; one bad run ends the call."""
        return all_good(names, self.checked(evaluator, names, outcomes))

    def what_is_missing(self, evaluations: Mapping[str, Evaluation]) -> list[str]:
        """Say which runs lack queries that count as empty rankings; no line if none does."""
        runs = list(evaluations.values())
        if self.settings.missing != "zero" or not any(run.coverage.missing for run in runs):
            return []
        names = self.called(list(evaluations), [run.scores for run in runs])
        return missing_notes(names, [run.coverage for run in runs])

    def called(self, runs: Sequence[str], scored: Sequence[Scores]) -> Sequence[str]:
        """Give the runs distinct names."""
        if self.names == "given":
            return runs
        ids = [scores.run_id.decode("utf-8", "surrogateescape") for scores in scored]
        return run_names(runs, ids if self.names == "runid" else ())

    def files(self, **inputs_by_role: Any) -> Hashes:
        """Hash the input files and the pool."""
        return {
            role: (os.fspath(path), inputs().sha256(os.fspath(path)))
            for role, path in {**inputs_by_role, "pool": self.pool}.items()
            if isinstance(path, str | os.PathLike)
        }

    def signature(
        self,
        metrics: Sequence[Metric],
        files: Hashes,
        judgements: Judgements | None = None,
        seen: int | None = None,
    ) -> Signature:
        """Return the signature of an evaluation: files and settings behind the numbers.

        Qrels that are no file, or of which a map says what to read, are hashed as `judgements`.
        """
        digests = {role: digest for role, (_, digest) in files.items()}
        mapped = self.qrels_format is not None and self.qrels_format.shape is not None
        if judgements is not None and (mapped or not digests.get("qrels")):
            digests = {**digests, "qrels": judgements.sha256}
        if self.pool is not None:
            digests.setdefault("pool", None)
        sieve = self.run_format.sieve if self.run_format else None
        return signature_of(self.settings, metrics, digests, seen, sieve.said if sieve else "")

    def signed(self, metrics: Sequence[Metric], **inputs_by_role: Any) -> Signature | None:
        """Hash the files and return the signature, if the user wants it."""
        return self.signature(metrics, self.files(**inputs_by_role)) if inputs().hashed else None

    def small_print(self, qrels: Any, metrics: Sequence[Metric], judged: Judged) -> list[str]:
        """Return the small print of a picture: queries, N where it matters, the signature."""
        texts = [counted(len(judged.queries), "query", "queries")]
        needed = any("corpus_size" in metric.measure.needs for metric in metrics)
        sizes = judged.corpus_size if needed else None
        if sizes is not None and len(sizes):
            least, most = int(sizes.min()), int(sizes.max())
            size = f"N = {least:,}" if least == most else f"N = {least:,} to {most:,}"
            known = self.settings.corpus_size is not None or self.settings.corpus_sizes
            texts.append(size if known else f"{size} (documents seen)")
        signature = self.signature(metrics, self.files(qrels=qrels))
        return ["; ".join([*texts, signature.short()])]


def qrels_of(qrels: Any, rel_info: str = "qrels", how: Reading | None = None) -> str | Relevance:
    """Convert qrels to the form that an `Evaluator` takes: a path, or judgements in memory."""
    if isinstance(qrels, str | os.PathLike):
        return os.fspath(qrels)
    if hasattr(qrels, "judgements") and hasattr(qrels, "judge"):  # already read
        read: Relevance = qrels
        return read
    if rel_info != "qrels":
        raise UsageError(f"rel_info={rel_info!r}: only a path can hold that")
    from ragkpi.files.in_memory import mapped_rows, qrels_columns

    if how is not None and how.shape is not None:
        qrels = mapped_rows(qrels, how.shape)
    columns = qrels_columns(qrels, "gains")
    if how is not None and how.sieve:
        columns = how.sieve.qrels(columns)
    return Qrels(group_judgements(columns))


@lru_cache(maxsize=256)
def _resolved(requests: tuple[str, ...], names: MeasureNames) -> tuple[Metric, ...]:
    """Resolve requests, cached: a loop of small calls would spend most of its time here."""
    return tuple((find_metrics if names == "trec" else find_metrics_as_given)(requests))


def all_good(
    names: Iterable[str], outcomes: Sequence[Evaluation | RagkpiError]
) -> list[Evaluation]:
    """Return all outcomes; one bad run ends the call."""
    interface().refuse(problems_of(names, outcomes))
    return [outcome for outcome in outcomes if isinstance(outcome, Evaluation)]


def problems_of(
    names: Iterable[str], outcomes: Sequence[Evaluation | RagkpiError]
) -> list[RagkpiError]:
    """Return the errors of runs; with several runs, each error names its run."""
    return [
        _about(name, outcome) if len(outcomes) > 1 else outcome
        for name, outcome in zip(names, outcomes, strict=True)
        if isinstance(outcome, RagkpiError)
    ]


def _about(run: str, problem: RagkpiError) -> RagkpiError:
    if run in str(problem):
        return problem
    named = RagkpiError(f"{run}: {problem}")
    named.exit_status = problem.exit_status
    return named


def good_ones(
    names: Iterable[str], outcomes: Sequence[Evaluation | RagkpiError]
) -> dict[str, Evaluation]:
    """Return the runs that were evaluated without an error, by name."""
    return {
        name: outcome
        for name, outcome in zip(names, outcomes, strict=True)
        if isinstance(outcome, Evaluation)
    }
