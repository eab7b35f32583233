"""The procedure of a comparison from arguments, which all questions that compare runs share."""

from __future__ import annotations

from ragkpi.library.arguments import Comparing, bootstrap_of, checked, one_of
from ragkpi.statistics.decisions import TESTS
from ragkpi.statistics.paired import Procedure
from ragkpi.statistics.units import Clusters


def procedure_of(how: Comparing, clusters: Clusters | None = None) -> Procedure:
    """Return the procedure of a comparison, or refuse wrong arguments."""
    test = one_of("test", how.get("test", Procedure.test), list(TESTS))
    choices = {n: v for n, v in checked(how).items() if n in ("correction", "family", "trials")}
    return Procedure(test, bootstrap=bootstrap_of(how, clusters=clusters), **choices)
