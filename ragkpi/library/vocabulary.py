"""Arguments that all functions share: how runs are read, and how they are evaluated."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypedDict

from ragkpi.formats.file_formats import Reading, ScoreKind
from ragkpi.library.session import MeasureNames, Names
from ragkpi.ranking.settings import Doubts, Draws, Missing, PoolUnion, TieOrder, Unjudged


class HowRead(TypedDict, total=False):
    """How files, frames and rows are read.

    Attributes
    ----------
    qrels_format, run_format
        Formats or shapes of files, as ``ragkpi formats`` lists them; None recognises each.
    map_qrels, map_run
        Which keys or columns hold what, ``"query=question, doc=chunk.id, score=distance"`` or a
        mapping of the same, as ``ragkpi formats map`` explains; for paths, frames and rows.
    subset
        Which ranking is read of a path to a dump that holds several of its queries: ``"en"``, or
        ``"en/test"`` (MTEB's subset and split).
    scores
        ``"distance"`` if smaller scores are better.
    max_passage
        Folds chunks into documents: ``"#"``, ``"/REGEX/"`` or ``"@FILE"``.
    ignore_identical_ids, exclude
        Whether documents with the id of their query are left out, and the path of a list of those
        that are.
    """

    qrels_format: str | Reading | None
    run_format: str | Reading | None
    map_qrels: str | Mapping[str, str] | None
    map_run: str | Mapping[str, str] | None
    subset: str | None
    scores: ScoreKind
    max_passage: str | None
    ignore_identical_ids: bool
    exclude: str | os.PathLike[str] | None


class Evaluating(HowRead, total=False):
    """How runs are evaluated; every function that evaluates takes these by name.

    Attributes
    ----------
    corpus_size, corpus_sizes
        How many documents could have been retrieved (``-N``), and the same for single queries;
        without, the environment variable ``RAGKPI_CORPUS_SIZE``.
    relevance_level
        Lowest judged level that is relevant (``-l``).
    missing
        Judged queries that a run lacks: ``"intersection"`` leaves them out, ``"zero"`` evaluates
        empty rankings (``-c``), ``"error"`` refuses the run (``--strict``).
    unjudged
        ``"removed"`` closes the ranks over unjudged documents (``-J``), ``"kept"`` does not.
    max_retrieved
        Only this many top documents of each query (``-M``).
    ties
        ``"expected"`` takes the expected value over all orders of equal scores, in `evaluate` and
        `compare`; ``"id"`` ranks them by their ids, as trec_eval does.
    gains
        What judged documents are worth to the dcg family, G and rbp instead of their levels, in
        `evaluate` and `compare`: as qrels are given, with real numbers. Qrels with fractional
        levels are gains themselves.
    draws
        Whether chance draws K documents, ``"nominal"``, or as many as were retrieved, ``"ret"``.
    grade_map
        From levels to the grades 1 to 5: a preset's name, or levels and grades.
    pool
        The first stage that the runs were selected from, as a run is given.
    pool_depth, pool_union
        Only so many documents of the pool; whether each run's top K belong to it (``"union"``).
    rel_info
        The format of the file of qrels, as ``-R`` names it.
    only_query
        The only query that is evaluated (``-D 0.QID``).
    doubts
        Whether what makes all values of a run doubtful is ``"said"`` or ``"refused"``, as by
        ``--strict``.
    names
        What runs are called in a result: as they were ``"given"``, after their ``"file"``, or by
        their ``"runid"``.
    measure_names
        What measures are called: ``"trec"``, as trec_eval prints them, or as ``"given"``.

    How files are read is `HowRead`: ``run_format``, ``map_run``, ``scores``, ``max_passage``, …
    """

    corpus_size: int | None
    corpus_sizes: Mapping[Any, int] | None
    relevance_level: int
    missing: Missing
    unjudged: Unjudged
    max_retrieved: int | None
    ties: TieOrder
    gains: Any
    draws: Draws
    grade_map: str | Mapping[int, int]
    pool: Any
    pool_depth: int | None
    pool_union: PoolUnion
    rel_info: str
    only_query: str | bytes | None
    doubts: Doubts
    names: Names
    measure_names: MeasureNames
