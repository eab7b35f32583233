"""The procedure of a comparison from arguments, which all questions that compare runs share."""

from __future__ import annotations

from typing import get_args

from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.library.arguments import Resampling, bootstrap_of, one_of, whole
from ragkpi.statistics.decisions import TESTS, CorrectionName, Family, Scope, TestName
from ragkpi.statistics.paired import Procedure
from ragkpi.statistics.units import Clusters


def procedure_of(
    test: TestName,
    correction: CorrectionName,
    family: Family,
    trials: int,
    how: Resampling,
    scope: Scope = "a baseline",
    clusters: Clusters | None = None,
) -> Procedure:
    """Return the procedure of a comparison, or refuse wrong arguments."""
    one_of("test", test, list(TESTS))
    if TESTS[test].scope == "all pairs" != scope:
        others = ", ".join(name for name in TESTS if TESTS[name].scope != "all pairs")
        raise UsageError(
            f"{option('test', test)}: a test of all pairs of runs at once; expected {others}, or "
            f"{option('all_pairs')} of compare"
        )
    return Procedure(
        test,
        one_of("correction", correction, get_args(CorrectionName)),
        one_of("family", family, get_args(Family)),
        whole("trials", trials, 1),
        bootstrap_of(how, clusters=clusters),
    )
