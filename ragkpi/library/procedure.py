"""The procedure of a comparison from arguments, which all questions that compare runs share."""

from __future__ import annotations

from ragkpi.library.arguments import Comparing, bootstrap_of, checked
from ragkpi.statistics.paired import Procedure
from ragkpi.statistics.units import Clusters


def procedure_of(how: Comparing, clusters: Clusters | None = None) -> Procedure:
    """Return the procedure of a comparison, or refuse wrong arguments."""
    values = checked(how, ("test", "trials", "correction", "family"))
    return Procedure(bootstrap=bootstrap_of(how, clusters=clusters), **values)
