"""The procedure of a comparison from arguments, which all questions that compare runs share."""

from __future__ import annotations

from typing import get_args

from ragkpi.library.arguments import Resampling, bootstrap_of, one_of, whole
from ragkpi.statistics.decisions import TESTS, CorrectionName, Family, TestName
from ragkpi.statistics.paired import Procedure
from ragkpi.statistics.units import Clusters


def procedure_of(
    test: TestName,
    correction: CorrectionName,
    family: Family,
    trials: int,
    how: Resampling,
    clusters: Clusters | None = None,
) -> Procedure:
    """Return the procedure of a comparison, or refuse wrong arguments."""
    return Procedure(
        one_of("test", test, list(TESTS)),
        one_of("correction", correction, get_args(CorrectionName)),
        one_of("family", family, get_args(Family)),
        whole("trials", trials, 1),
        bootstrap_of(how, clusters=clusters),
    )
