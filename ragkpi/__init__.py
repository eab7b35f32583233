"""ragkpi: trec_eval's numbers, and the ones that retrieval for language models needs.

Every command is a function here: `evaluate`, `compare`, `depth`, `diagnose`, `calibrate`, `holes`,
`agree`, `correct`, `check`, `convert`, `report`; `read_qrels` and `read_run` read what is used
again. Nothing is imported before it is used.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as type checkers know it; typing itself takes milliseconds to import
if TYPE_CHECKING:
    from ragkpi.errors import DataError as DataError
    from ragkpi.errors import GateFailedError as GateFailedError
    from ragkpi.errors import InputError as InputError
    from ragkpi.errors import NothingInCommonError as NothingInCommonError
    from ragkpi.errors import RagkpiError as RagkpiError
    from ragkpi.errors import RagkpiWarning as RagkpiWarning
    from ragkpi.errors import UsageError as UsageError
    from ragkpi.library.agreeing import agree as agree
    from ragkpi.library.agreeing import correct as correct
    from ragkpi.library.calibrate import calibrate as calibrate
    from ragkpi.library.checking import check as check
    from ragkpi.library.comparing import compare as compare
    from ragkpi.library.converting import convert as convert
    from ragkpi.library.depth import depth as depth
    from ragkpi.library.describing import describe_formats as describe_formats
    from ragkpi.library.describing import describe_measures as describe_measures
    from ragkpi.library.describing import log as log
    from ragkpi.library.describing import schema as schema
    from ragkpi.library.diagnose import diagnose as diagnose
    from ragkpi.library.evaluating import evaluate as evaluate
    from ragkpi.library.evaluating import zscores as zscores
    from ragkpi.library.files import read_qrels as read_qrels
    from ragkpi.library.files import read_run as read_run
    from ragkpi.library.holes import holes as holes
    from ragkpi.library.reporting import report as report
    from ragkpi.library.result import Result as Result
    from ragkpi.library.run_results import RunResult as RunResult
    from ragkpi.library.run_results import RunResults as RunResults
    from ragkpi.library.vocabulary import Evaluating as Evaluating

__version__ = "0.1.0"

# Where each public name is, for when it is asked for; tests hold it against the lines above.
_MODULES = {
    "errors": "DataError GateFailedError InputError NothingInCommonError RagkpiError RagkpiWarning "
    "UsageError",
    "library.agreeing": "agree correct",
    "library.vocabulary": "Evaluating",
    "library.checking": "check",
    "library.comparing": "compare",
    "library.evaluating": "evaluate zscores",
    "library.converting": "convert",
    "library.describing": "describe_formats describe_measures log schema",
    "library.files": "read_qrels read_run",
    "library.calibrate": "calibrate",
    "library.depth": "depth",
    "library.diagnose": "diagnose",
    "library.holes": "holes",
    "library.reporting": "report",
    "library.result": "Result",
    "library.run_results": "RunResult RunResults",
}
_MODULE = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_MODULE)


def __getattr__(name: str) -> object:
    if name not in _MODULE:
        raise AttributeError(f"module 'ragkpi' has no attribute '{name}'")
    return getattr(importlib.import_module(f"ragkpi.{_MODULE[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
