"""From the arguments of public functions to sessions, settings and runs; they are checked here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Literal, get_args

from ragkpi.errors import UsageError
from ragkpi.evaluation import Run
from ragkpi.formats.file_formats import Reading, ScoreKind
from ragkpi.formats.inputs import Inputs, inputs
from ragkpi.library.session import MeasureNames, Names, Session
from ragkpi.library.vocabulary import Evaluating, HowRead
from ragkpi.ranking.grade_maps import GRADE_MAPS, GradeMap, parse_grade_map
from ragkpi.ranking.relevance import READERS
from ragkpi.ranking.settings import Doubts, Draws, Missing, PoolUnion, Settings, TieOrder, Unjudged
from ragkpi.reports.run_names import run_names
from ragkpi.wording import parse_size

if TYPE_CHECKING:
    from ragkpi.ranking.gains import GivenGains
    from ragkpi.statistics.bootstrap import Bootstrap, Method
    from ragkpi.statistics.corrections import CorrectionName
    from ragkpi.statistics.paired import Procedure
    from ragkpi.statistics.significance import TestName


def session(measures: str | Sequence[str], given: Evaluating) -> Session:
    """Begin a call; wrong arguments are refused."""
    unknown = sorted(set(given) - set(Evaluating.__annotations__))
    if unknown:
        raise TypeError(
            f"unexpected argument {unknown[0]!r}; expected {', '.join(Evaluating.__annotations__)}"
        )
    of_qrels, of_run = readings_of(given)
    pool = given.get("pool")
    return Session(
        [measures] if isinstance(measures, str) else list(measures),
        _settings(given, of_qrels),
        one_of("rel_info", given.get("rel_info", "qrels"), list(READERS)),
        None if pool is None else run_of(pool),
        of_qrels,
        of_run,
        one_of("names", given.get("names", "given"), get_args(Names)),
        one_of("measure_names", given.get("measure_names", "trec"), get_args(MeasureNames)),
    )


def _settings(given: Evaluating, of_qrels: Reading | None) -> Settings:
    only_query = given.get("only_query")
    sizes = given.get("corpus_sizes") or {}
    if sizes or only_query is not None:
        from ragkpi.formats.given_columns import octets

        only_query = None if only_query is None else octets(only_query)
        sizes = {octets(query): whole("corpus_sizes", size, 0) for query, size in sizes.items()}
    return Settings(
        relevance_level=whole("relevance_level", given.get("relevance_level", 1), 0),
        missing=one_of("missing", given.get("missing", "intersection"), get_args(Missing)),
        unjudged=one_of("unjudged", given.get("unjudged", "kept"), get_args(Unjudged)),
        max_retrieved=_maybe("max_retrieved", given.get("max_retrieved"), 0),
        corpus_size=_corpus_size(given.get("corpus_size")),
        corpus_sizes=sizes,
        ties=one_of("ties", given.get("ties", "id"), get_args(TieOrder)),
        gains=_gains(given.get("gains"), of_qrels),
        draws=one_of("draws", given.get("draws", "nominal"), get_args(Draws)),
        grade_map=_grade_map(given.get("grade_map", "umbrela")),
        pool_depth=_maybe("pool_depth", given.get("pool_depth"), 1),
        pool_union=one_of("pool_union", given.get("pool_union", "pool"), get_args(PoolUnion)),
        only_query=only_query,
        doubts=one_of("doubts", given.get("doubts", "said"), get_args(Doubts)),
    )


def in_one_order(given: Evaluating) -> Evaluating:
    """Refuse gains and ``ties="expected"``: the question is about levels and one order."""
    if given.get("gains") is not None:
        raise UsageError("gains=: this looks at levels; expected no gains")
    if given.get("ties", "id") != "id":
        raise UsageError(f"ties={given['ties']!r}: this looks at one order; expected ties='id'")
    return given


def readings_of(given: HowRead) -> tuple[Reading | None, Reading | None]:
    """Return how qrels and runs are read; None where no argument is about that."""
    if not HowRead.__annotations__.keys() & given.keys():
        return None, None
    from ragkpi.formats.file_formats import reading_for
    from ragkpi.formats.sieve import sieve_for

    of_qrels, of_run = given.get("qrels_format"), given.get("run_format")
    if isinstance(of_qrels, Reading) or isinstance(of_run, Reading):  # from a command
        return _reading_or_none(of_qrels), _reading_or_none(of_run)
    scores = one_of("scores", given.get("scores", "similarity"), get_args(ScoreKind))
    exclude = given.get("exclude")
    sieve = sieve_for(
        given.get("max_passage"),
        given.get("ignore_identical_ids", False),
        None if exclude is None else os.fspath(exclude),
    )
    map_qrels, map_run = given.get("map_qrels"), given.get("map_run")
    return (
        _reading_or_none(reading_for("qrels", of_qrels, map_qrels, sieve=sieve)),
        _reading_or_none(reading_for("run", of_run, map_run, scores, sieve, given.get("subset"))),
    )


def _reading_or_none(how: Reading | str | None) -> Reading | None:
    return how if isinstance(how, Reading) and how != Reading() else None


def run_of(run: Any) -> Run:
    """Return a run as an `Evaluator` takes it: a path, or a run in memory."""
    if isinstance(run, str | os.PathLike):
        return os.fspath(run)
    from ragkpi.ranking.runs_in_memory import RunInMemory

    return run if isinstance(run, RunInMemory) else RunInMemory(run)


def runs_of(runs: Any) -> dict[str, Run] | None:
    """Name several runs: a mapping or a list of them; None if it is one run."""
    if isinstance(runs, Mapping):
        first = next((value for value in runs.values() if _filled(value)), None)
        return {str(name): run_of(run) for name, run in runs.items()} if _is_run(first) else None
    if isinstance(runs, list | tuple) and runs and all(map(_is_run, runs)):
        paths = [os.fspath(run) if _is_path(run) else f"run{n}" for n, run in enumerate(runs, 1)]
        return dict(zip(run_names(paths), map(run_of, runs), strict=True))
    return None


def named_runs(runs: Any) -> dict[str, Run]:
    """Name one run or several."""
    several = runs_of(runs)
    return named_run(runs) if several is None else several


def named_run(run: Any) -> dict[str, Run]:
    """Name one run: after its file, or ``"run"``."""
    return {run_names([os.fspath(run)])[0] if _is_path(run) else "run": run_of(run)}


def note_files(runs: Iterable[Run]) -> Inputs:
    """Note the files of runs, so that later hashes are of the bytes that were read."""
    noted = inputs()
    for run in runs:
        if isinstance(run, str):
            noted.note_file(run)
    return noted


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def _filled(value: Any) -> bool:
    return not isinstance(value, Mapping) or any(map(_filled, value.values()))


def _is_run(value: Any) -> bool:
    """Say whether a value is a whole run, not a ranking that maps documents to scores."""
    if isinstance(value, Mapping):
        return isinstance(next(iter(value.values()), None), Mapping)
    known = ("columns", "column_names", "blocks")
    return _is_path(value) or any(hasattr(value, name) for name in known)


def whole(name: str, value: Any, least: int) -> int:
    """Return a whole number; `UsageError` for anything else, or less than `least`."""
    try:
        number = index(value)
    except TypeError:
        raise UsageError(f"{name}={value!r}: expected a whole number from {least}") from None
    if number < least:
        raise UsageError(f"{name}={value!r}: expected a number from {least}")
    return number


def one_of(name: str, value: Any, known: Sequence[str]) -> Any:
    """Return a choice; `UsageError` if it is none."""
    if not isinstance(value, str) or value not in known:
        raise UsageError(f"{name}={value!r}: expected one of {', '.join(map(repr, known))}")
    return value


def _maybe(name: str, value: Any, least: int) -> int | None:
    return None if value is None else whole(name, value, least)


def _corpus_size(given: Any) -> int | None:
    said = os.environ.get("RAGKPI_CORPUS_SIZE", "")
    if given is not None or not said:
        return _maybe("corpus_size", given, 0)
    try:
        return parse_size(said)
    except UsageError:
        raise UsageError(
            f"RAGKPI_CORPUS_SIZE={said}: expected a number of documents such as 5000 or 5k"
        ) from None


def _gains(given: Any, of_qrels: Reading | None) -> GivenGains | None:
    """Read gains; their documents are folded and left out like those of the qrels."""
    if given is None:
        return None
    from ragkpi.formats.gain_files import read_gains
    from ragkpi.formats.in_memory import qrels_columns
    from ragkpi.ranking.gains import GivenGains

    if isinstance(given, str | os.PathLike):
        columns = read_gains(os.fspath(given))
    else:
        columns = qrels_columns(given, "gains")._replace(file="gains=")
    sieve = of_qrels.sieve if of_qrels else None
    return GivenGains.of(sieve.qrels(columns) if sieve else columns)


def _grade_map(grades: str | Mapping[int, int]) -> GradeMap:
    if isinstance(grades, str):
        return parse_grade_map(grades)
    for preset in GRADE_MAPS.values():
        if preset.rubric == grades:
            return preset
    return parse_grade_map(",".join(f"{level}={grade}" for level, grade in grades.items()))


def procedure_of(
    test: TestName,
    correction: CorrectionName,
    family: Literal["metric", "all"],
    trials: int,
    resamples: int,
    seed: int,
    confidence: float,
) -> Procedure:
    """Return how runs are compared; wrong arguments are refused."""
    from ragkpi.statistics.corrections import CorrectionName
    from ragkpi.statistics.paired import Procedure
    from ragkpi.statistics.significance import TestName

    return Procedure(
        one_of("test", test, get_args(TestName)),
        one_of("correction", correction, get_args(CorrectionName)),
        one_of("family", family, ("metric", "all")),
        whole("trials", trials, 1),
        bootstrap_of(resamples, seed, confidence),
    )


def bootstrap_of(
    resamples: int, seed: int, confidence: float, method: Method | None = None
) -> Bootstrap:
    """Return how queries are drawn again; wrong arguments are refused.

    An explicit `method` resamples rates, too.
    """
    from ragkpi.statistics.bootstrap import Bootstrap, Method

    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise UsageError(f"confidence={confidence!r}: expected a share such as 0.95")
    return Bootstrap(
        whole("resamples", resamples, 1),
        whole("seed", seed, 0),
        confidence,
        one_of("method", method or "percentile", get_args(Method)),
        "resampled" if method else "wilson",
    )
