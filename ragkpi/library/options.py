"""Options, each declared once: the arguments that public functions share, for Python and the shell.

A group is a ``TypedDict`` whose keys are arguments of Python functions and options of commands. An
annotation has Python's type, the shell's type if it differs, and typer's ``Option`` with names,
help and bounds. `Flags` are one flag per value of an argument. Options without a panel are the
common ones, which ``-h`` shows.

>>> ragkpi.evaluate(qrels, run, relevance_level=2)  # doctest: +SKIP
$ ragkpi eval -l 2 QRELS RUN
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from operator import index
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
)

from typer import Option
from typer.models import ParameterInfo

from ragkpi.errors import UsageError
from ragkpi.files.column_names import ScoreKind
from ragkpi.files.formats import Match, registry
from ragkpi.interface import spell
from ragkpi.library.runs import AnyQrels, ById, Labels, Path, Run, Seeds, run_path
from ragkpi.library.session import MeasureNames, Names
from ragkpi.measures.registry import NICKNAMES, all_measures
from ragkpi.ranking.judged import (
    GRADE_MAPS,
    Doubts,
    Draws,
    Missing,
    PoolUnion,
    TieOrder,
    Unjudged,
)
from ragkpi.statistics.decisions import TESTS, CorrectionName, DecidedBy, Family, Method, TestName
from ragkpi.wording import parse_size

# Options by panel of a help page; common ones have none.
less_common = partial(Option, rich_help_panel="More options")
_reading = partial(Option, rich_help_panel="Reading files")
_chance = partial(Option, rich_help_panel="Chance")
_first_stage = partial(Option, rich_help_panel="First stage")
_evaluation = partial(Option, rich_help_panel="Evaluation")
_intervals = partial(Option, rich_help_panel="Intervals")
_comparison = partial(Option, rich_help_panel="Comparison")
_gates = partial(Option, rich_help_panel="Gates")
of_trec_eval = partial(Option, rich_help_panel="Of trec_eval, for its scripts")


class Flags(dict[str, Any]):
    """Options of a command line that give an argument a value: ``{"zero": Option("-c", …)}``."""


def _completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function that completes names, after the last comma."""

    def complete(incomplete: str) -> list[str]:
        before, comma, start = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(start)]

    return complete


complete_measure = _completing(lambda: [*all_measures(), *NICKNAMES])
complete_format = _completing(
    lambda: {**registry().FILE_FORMATS["run"], **registry().FILE_FORMATS["qrels"]}
)


def corpus_size_of(value: str | int) -> int:
    """Read a number of documents; `UsageError` for anything else."""
    return parse_size(value) if isinstance(value, str) else whole("corpus_size", value, 0)


def share_of(value: str | float) -> float:
    """Read a share between 0 and 1; `UsageError` for anything else."""
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = -1.0
    if isinstance(value, bool) or not 0 < share < 1:
        raise UsageError(f"{spell('confidence')} {value}: expected a share such as 0.95")
    return share


def query_of_debug_level(text: str) -> str | None:
    """Read the only query from trec_eval's ``-D 0.QID``; `UsageError` for other debug levels."""
    level, dot, query = text.partition(".")
    if level != "0" or (dot and not query):
        raise UsageError(f"-D {text}: no debug output is offered; give -D 0.QID for one query")
    return query or None


Measures = Annotated[
    str | Sequence[str],
    list[str],
    Option(
        "-m",
        "--measure",
        metavar="NAME[.PARAMS]",
        help="Measure or nickname, such as map, P.5,10 or ndcg_cut.10. Repeat the option or "
        "separate with commas.",
        autocompletion=complete_measure,
    ),
]
"""The measures of an evaluation, as for ``-m``; by default those of the function."""

ScoreTables = Annotated[
    Any,
    list[str],
    Option(
        metavar="FILE",
        help="Take scores that other tools computed, without qrels and runs: a row per "
        "query and system, or a column per system, or trec_eval -q. Repeatable; NAME=FILE "
        "names the system of a table.",
    ),
]
"""Tables of scores of any kind, in the place of qrels and runs; see `library.score_tables`."""

BetterScores = Annotated[
    str | Mapping[str, str] | None,
    str,
    Option(
        metavar="lower|NAME=lower,...",
        help="With --scores: measures for which lower is better. Default: the known ones.",
    ),
]

ScoreColumns = Annotated[
    str | Mapping[str, str] | None,
    str,
    less_common(
        metavar="MAP",
        help="Columns of --scores: 'query=frage, system=modell', also seed, measure, value.",
    ),
]

By = Annotated[
    Labels | None,
    Option(
        "--by",
        metavar="FILE",
        help="Also report results per group of queries. FILE has a line per query: its id and "
        "one or more labels, tab-separated, CSV or JSON Lines; a header may name the "
        "labels.",
    ),
]
"""Labels of queries, a path or ``{kind: {query: label}}``: the same answer for each group."""

PerQuery = Annotated[
    bool,
    Option("-q", "--per-query", help="Also show a row per query."),
]


Level = Annotated[
    int,
    Option(
        "-l",
        "--level",
        metavar="LEVEL",
        min=0,
        show_default=False,
        help="Lowest relevant level. Default: 1.",
    ),
]
"""The lowest relevant level."""


def _format_of(file: str) -> Any:
    help_ = f"Format of {file}; 'ragkpi formats' lists them. Default: detected."
    return _reading(metavar="FORMAT", help=help_, autocompletion=complete_format)


class HowRead(TypedDict, total=False):
    """How to read files, frames and rows; formats and maps also apply to frames and rows."""

    qrels_format: Annotated[str | None, _format_of("QRELS")]
    run_format: Annotated[str | None, _format_of("RUN")]
    map_qrels: Annotated[
        str | Mapping[str, str] | None,
        _reading(
            metavar="MAP",
            help="Keys or columns of QRELS: query=qid, list=gold, doc=id, level=grade.",
        ),
    ]
    map_run: Annotated[
        str | Mapping[str, str] | None,
        _reading(
            metavar="MAP",
            help="Keys or columns of RUN: 'records=$.results, query=id, list=hits.hits, "
            "doc=_id, score=_score'. See 'ragkpi formats map'.",
        ),
    ]
    levels: Annotated[
        str | Mapping[str, int] | None,
        _reading(
            metavar="WORD=LEVEL,...",
            help="Levels of words and letters in QRELS: 'E=3,S=2,C=1,I=0'; '=0' is for empty ones.",
        ),
    ]
    score_order: Annotated[
        ScoreKind,
        _reading(
            help="Higher scores first (similarity), or lower ones (distance: Chroma, pgvector)."
        ),
    ]
    max_passage: Annotated[
        str | None,
        _reading(
            metavar="SEPARATOR|/REGEX/|@FILE",
            help="Fold chunks into documents: the id before '#', the group of "
            "/^(.*)_[0-9]+$/, or a file with lines of chunk and document. Keeps the best "
            "score and the highest level.",
        ),
    ]
    match: Annotated[
        Match,
        _reading(help="Match documents by id, or by text if there are no ids (ragas, DeepEval)."),
    ]
    query_ids: Annotated[
        Path | None,
        _reading(
            "--queries",
            metavar="FILE",
            help="Ids and texts of queries (tab-separated, CSV or JSON Lines), if a file "
            "names queries by text or position.",
        ),
    ]
    ignore_identical_ids: Annotated[
        bool,
        _reading("--ignore-identical-ids", help="Drop documents whose id is that of the query."),
    ]
    exclude: Annotated[
        Path | None,
        _reading(
            metavar="FILE",
            help="Drop documents before ranking: lines of query and document, or BRIGHT's "
            "examples (excluded_ids).",
        ),
    ]


_STRICT = _evaluation(
    "--strict",
    help="Treat warnings as errors: missing queries, mismatched ids, ascending scores, no "
    "judged documents.",
)


class Evaluating(HowRead, total=False):
    """How to evaluate runs; every function that evaluates takes these by name.

    Attributes
    ----------
    missing
        The treatment of judged queries missing from a run: ``"zero"``, the default, evaluates
        empty rankings (``-c``), ``"intersection"`` leaves them out, ``"common"`` leaves them out
        of all runs (``--common``), and ``"error"`` refuses the run (``--strict``). In `evaluate`,
        ``"trec_eval"`` leaves them out if there is one run, a TREC file.
    unjudged
        ``"removed"`` closes the ranks over unjudged documents (``-J``), ``"kept"`` does not.
    pool_union
        Whether each run's top K belongs to the pool: ``"union"``, or only ``"pool"``.
    only_query
        The only query to evaluate (``-D 0.QID``).
    doubts
        Whether a doubt about all values of a run is a warning (``"said"``) or an error
        (``"refused"``, ``--strict``).
    names, measure_names
        The names of runs and measures in a result: as ``"given"``; for runs from the ``"file"`` or
        the ``"runid"``; for measures as ``"trec"`` prints them.
    corpus_size, corpus_sizes, gains, pool, grade_map
        Also from the environment variable ``RAGKPI_CORPUS_SIZE``; sizes by query, gains in any form
        of qrels, a pool in any form of a run, and levels with grades, also in memory. Qrels with
        fractional levels are gains themselves.
    """

    relevance_level: Level
    missing: Annotated[
        Missing,
        Flags(
            zero=Option(
                "-c",
                "--complete",
                help="Score judged queries missing from the run as 0 (always on, except in "
                "trec_eval's lines).",
            ),
            common=_evaluation("--common", help="Use only the queries that all runs have."),
            error=_STRICT,
        ),
    ]
    doubts: Annotated[Doubts, Flags(refused=_STRICT)]
    corpus_size: Annotated[
        int | None,
        Option(
            "-N",
            "--corpus-size",
            metavar="N",
            parser=corpus_size_of,
            help="Corpus size (documents, passages or tools), such as 5000, 5k or 113.5M, for "
            "measures that compare with a random draw. Default: RAGKPI_CORPUS_SIZE.",
        ),
    ]
    pool: Annotated[
        Run | None,
        Option(
            metavar="RUN",
            parser=run_path,
            help="The first stage's candidates, from which the run was selected.",
        ),
    ]
    corpus_sizes: Annotated[
        ById[int] | Path | None,
        _chance(metavar="FILE", help="Corpus size per query: lines QUERY SIZE."),
    ]
    draws: Annotated[
        Draws,
        _chance(help="Size of the random draw: K, or the number retrieved."),
    ]
    pool_depth: Annotated[
        int | None,
        _first_stage(metavar="DEPTH", min=1, help="Use only the top DEPTH documents of the pool."),
    ]
    pool_union: Annotated[
        PoolUnion,
        Flags(union=_first_stage("--pool-union", help="Add the run's top K to the pool.")),
    ]
    measure_names: Annotated[
        MeasureNames,
        _evaluation(help="Name measures as trec_eval does (ndcg_cut_10), or as -m does (nDCG@10)."),
    ]
    names: Annotated[
        Names,
        Literal["file", "runid"],
        _evaluation(help="Name runs by file or by run id."),
    ]
    max_retrieved: Annotated[
        int | None,
        _evaluation(
            "-M",
            "--max-retrieved",
            metavar="DEPTH",
            min=0,
            help="Use only the top DEPTH documents per query.",
        ),
    ]
    ties: Annotated[
        TieOrder,
        _evaluation(
            help="Order of equal scores: by document id as in trec_eval, or the expected "
            "value over all orders."
        ),
    ]
    gains: Annotated[
        AnyQrels | None,
        _evaluation(
            metavar="FILE",
            help="Real-valued gains for DCG measures, G and rbp, replacing the levels: lines "
            "of query, document and number, or any format of qrels.",
        ),
    ]
    unjudged: Annotated[
        Unjudged,
        Flags(
            removed=_evaluation(
                "-J", "--judged-only", help="Drop unjudged documents from the rankings."
            )
        ),
    ]
    grade_map: Annotated[
        str | Mapping[int, int],
        _evaluation(
            metavar="MAP",
            help="Grades 1-5 of the judged levels: umbrela, umbrela-strict, rag25, rubric, "
            "binary, or 0=1,1=3,2=4,3=5. Default: umbrela.",
            autocompletion=_completing(lambda: GRADE_MAPS),
        ),
    ]
    only_query: Annotated[
        str | bytes | None,
        of_trec_eval(
            "-D",
            "--Debug_level",
            metavar="0.QID",
            parser=query_of_debug_level,
            help="Evaluate only query QID.",
        ),
    ]
    rel_info: Annotated[
        Literal["qrels", "qrels_jg", "prefs", "qrels_prefs"],
        of_trec_eval(
            "-R",
            "--rel-info",
            help="Format of QRELS: qrels, qrels_jg (several assessors), prefs or qrels_prefs "
            "(preferences). Each has its own measures.",
        ),
    ]


Confidence = Annotated[
    float,
    _intervals(
        metavar="SHARE",
        parser=share_of,
        help="Confidence level of intervals. Default: 0.95.",
    ),
]


class Resampling(TypedDict, total=False):
    """How to resample queries for intervals; `cluster` can also be ``{query: cluster}``."""

    resamples: Annotated[
        int,
        _intervals(
            metavar="N",
            min=1,
            max=1_000_000,
            help="Bootstrap samples. Default: 5000.",
        ),
    ]
    seed: Annotated[
        int,
        _intervals(
            metavar="N",
            min=0,
            help="Random seed. Default: 7.",
        ),
    ]
    confidence: Confidence
    cluster: Annotated[
        ById[str] | Path | None,
        _intervals(
            metavar="FILE",
            help="Clusters of dependent queries, such as turns of a conversation: lines of a "
            "query and its cluster, or with --by a column of its FILE. Tests and intervals "
            "resample whole clusters.",
        ),
    ]


Ci = Annotated[bool, Option("--ci", help="Add confidence intervals over queries.")]
CiMethod = Annotated[
    Method | None,
    _intervals(
        help="score: analytical intervals where they exist (means from 0 to 1, rates, "
        "geometric means), else bootstrap. percentile: bootstrap for all. Default: "
        "score."
    ),
]


class Estimating(Evaluating, Resampling, total=False):
    """How to evaluate runs and how to resample their queries: `Evaluating` and `Resampling`."""


Correction = Annotated[
    CorrectionName,
    _comparison(help="Correction for multiple comparisons. Default: holm."),
]


class Testing(TypedDict, total=False):
    """How to test differences between runs."""

    test: Annotated[
        TestName,
        Literal[*TESTS],
        Option(
            metavar="TEST",
            help="Test for p-values: "
            f"{'; '.join(f'{n} ({t.help})' for n, t in TESTS.items())}. Default: t.",
        ),
    ]
    correction: Correction
    family: Annotated[
        Family,
        _comparison(
            help="Measures that decide: the first of -m (the others are exploratory), or all, "
            "with p corrected for runs and measures. Default: first."
        ),
    ]
    trials: Annotated[
        int,
        _comparison(
            metavar="N",
            min=1,
            max=10_000_000,
            help="Random permutations per p-value. Default: 10000.",
        ),
    ]


class Comparing(Estimating, Testing, total=False):
    """How to compare runs: `Estimating`, and the tests."""


class Gating(TypedDict, total=False):
    """The gates that runs must pass.

    Attributes
    ----------
    fail_under
        The limits of values: ``{"ndcg_cut_10": 0.35}``.
    fail_under_baseline
        A run, or a path of a run or of a saved result.
    gate_by
        None is ``"worse"``.
    """

    fail_under: Annotated[
        Mapping[str, float] | Iterable[tuple[str, float] | str],
        list[str],
        Option(
            metavar="NAME=LIMIT",
            help="Exit with status 3 if a value is worse than a limit: ndcg_cut_10=0.35; "
            "repeatable.",
        ),
    ]
    fail_under_baseline: Annotated[
        Run | Seeds | None,
        list[str],
        _gates(
            metavar="RUN",
            parser=run_path,
            help="Exit with status 3 if any value is significantly worse than that of RUN, or "
            "of a result saved with -q (JSON, JSON Lines or --log) on the same queries, "
            "qrels and settings.",
        ),
    ]
    margin: Annotated[
        float | str | None,
        _gates(
            metavar="AMOUNT",
            help="Tolerated loss against the baseline, such as 0.01 or 2%.",
        ),
    ]
    gate_by: Annotated[
        DecidedBy | None,
        _gates(
            help="A run fails if it is significantly worse by more than the margin (worse), "
            "if it is not shown to be non-inferior (noninferior), or by its value alone "
            "(value), which fails half of all equal runs. Default: worse."
        ),
    ]


class Declared(NamedTuple):
    """The declaration of an argument in its annotation."""

    kind: Any  # the type in Python, without None
    optional: bool  # whether it can be None
    shell: Any  # the type in a shell, without None
    option: Any  # typer's Option, `Flags`, or None for a Python-only argument


def declared(annotation: Any) -> Declared:
    """Parse an annotation; in a shell, other types than numbers, flags and choices are texts."""
    kind, *facts = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    option = next((one for one in facts if isinstance(one, Flags | ParameterInfo)), None)
    kinds = [one for one in get_args(kind) if one is not NoneType]
    optional = NoneType in get_args(kind)
    kind = kinds[0] if optional and len(kinds) == 1 else kind
    usual = kind if kind in (bool, int, float, list[str]) or get_origin(kind) is Literal else str
    return Declared(
        kind, optional, next((one for one in facts if one is not option), usual), option
    )


def names_of(option: Any, argument: str) -> list[str]:
    """Return the names of an option on a command line."""
    names = [option.default, *(option.param_decls or ())]
    return [name for name in names if isinstance(name, str)] or [f"--{argument.replace('_', '-')}"]


@cache
def arguments_of(group: type) -> Mapping[str, Declared]:
    """Return the arguments of a group by name."""
    hints = get_type_hints(group, include_extras=True)
    return {name: declared(annotation) for name, annotation in hints.items()}


def refuse_unknown(arguments: Mapping[str, Any], group: type) -> None:
    """Refuse arguments that a group does not have, as Python does."""
    unknown = sorted(arguments.keys() - arguments_of(group).keys())
    if unknown:
        expected = ", ".join(arguments_of(group))
        raise TypeError(f"unexpected argument {unknown[0]!r}; expected {expected}")


def checked(arguments: Mapping[str, Any], group: type = Comparing) -> dict[str, Any]:
    """Check the arguments of a group against their declarations.

    Optional arguments that are None are left out; `UsageError` for a wrong one.
    """
    values: dict[str, Any] = {}
    declarations = arguments_of(group)
    for name, value in arguments.items():
        if name not in declarations:
            continue
        kind, optional, shell, option = declarations[name]
        if value is None and optional:
            continue
        choices = shell if kind is str else kind
        if get_origin(choices) is Literal:
            value = one_of(name, value, get_args(choices))
        elif kind in (int, float, str) and option.parser is not None:
            value = option.parser(value)
        elif kind is int:
            value = whole(name, value, option.min, option.max)
        values[name] = value
    return values


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number; `UsageError` for other values, and out of bounds."""
    number = index(value) if hasattr(value, "__index__") else None
    if number is None or number < least or (most is not None and number > most):
        bounds = f"from {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{name}={value!r}: expected a whole number {bounds}")
    return number


def one_of(name: str, value: Any, choices: Sequence[str]) -> Any:
    """Return one of the `choices`; `UsageError` for any other value."""
    if not isinstance(value, str) or value not in choices:
        raise UsageError(f"{name}={value!r}: expected one of {', '.join(map(repr, choices))}")
    return value
