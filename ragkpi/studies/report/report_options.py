"""What a page is asked to show, and what is settled where nobody says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkpi.formats.texts import Text
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass, field
from ragkpi.reports.signature import Signature
from ragkpi.statistics.paired import Procedure
from ragkpi.studies.report.report_runs import CUTOFF


def default_measures(settings: Settings, pool: object) -> list[str]:
    """Name the measures of a page for which nobody asked for others, the first one first."""
    measures = ["ndcg_cut.10", "P.10", "recall.10", "recip_rank"]
    if pool is not None:
        measures += [f"ra_nwg.{CUTOFF}", f"pct_proc.{CUTOFF}"]
    if settings.corpus_size is not None or settings.corpus_sizes:
        measures.append(f"bor.{CUTOFF}")
    return measures


@dataclass(frozen=True)
class ReportOptions:
    """What a page is made of besides an evaluation.

    Attributes
    ----------
    title, main
        Of the page; and the measure that it begins with, as for ``-m`` (None: the first).
    procedure
        How intervals and p-values are computed.
    query_texts, document_texts
        Files of texts, or texts by id; None for none.
    labels
        For each way to slice the queries, by its name, the label of each query.
    detail_queries, detail_depth
        Of how many queries documents are shown, and how many of each run.
    signature
        What the numbers depend on.
    compared
        Which runs lack queries that count as empty rankings, in a line or none.
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
