"""The options of a page, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkpi.formats.texts import Text
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass, field
from ragkpi.reports.signature import Signature
from ragkpi.statistics.paired import Procedure
from ragkpi.studies.report.report_runs import CUTOFF


def default_measures(settings: Settings, pool: object) -> list[str]:
    """Name the default measures of a page."""
    measures = ["ndcg_cut.10", "P.10", "recall.10", "recip_rank"]
    if pool is not None:
        measures += [f"ra_nwg.{CUTOFF}", f"pct_proc.{CUTOFF}"]
    if settings.corpus_size is not None or settings.corpus_sizes:
        measures.append(f"bor.{CUTOFF}")
    return measures


@dataclass(frozen=True)
class ReportOptions:
    """The contents of a page besides an evaluation.

    Attributes
    ----------
    title
        The title of the page.
    main
        The measure that the page begins with, as for ``-m``; None for the first.
    procedure
        How intervals and p-values are computed.
    query_texts, document_texts
        Files of texts, or texts by id; None for none.
    labels
        By the name of each kind of slices, the label of each query.
    detail_queries, detail_depth
        How many queries have their documents shown, and how many documents of each run.
    signature
        The files and settings that the numbers depend on.
    compared
        Notes on runs whose missing queries count as empty rankings.
    """

    title: str = "ragkpi report"
    main: str | None = None
    procedure: Procedure = field(default_factory=Procedure)
    query_texts: str | Mapping[bytes, Text] | None = None
    document_texts: str | Mapping[bytes, Text] | None = None
    labels: Mapping[str, Mapping[bytes, str]] = field(default_factory=dict)
    detail_queries: int = 200
    detail_depth: int = 100
    signature: Signature | None = None
    compared: Sequence[str] = ()
