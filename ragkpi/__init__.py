"""ragkpi: evaluate retrieval for search and RAG with trec_eval's measures, tests and diagnostics.

Every command is a function here: `evaluate`, `compare`, `depth`, `diagnose`, `calibrate`, `holes`,
`agree`, `correct`, `check`, `convert`, `report`; `read_qrels` and `read_run` read files for
several calls. Functions are imported on first use.
"""

from __future__ import annotations

import importlib

from ragkpi.version import __version__ as __version__

TYPE_CHECKING = False  # type checkers read this name as true
if TYPE_CHECKING:
    from ragkpi.errors import DataError as DataError
    from ragkpi.errors import GateDoubtedError as GateDoubtedError
    from ragkpi.errors import GateFailedError as GateFailedError
    from ragkpi.errors import InputError as InputError
    from ragkpi.errors import NothingInCommonError as NothingInCommonError
    from ragkpi.errors import RagkpiError as RagkpiError
    from ragkpi.errors import RagkpiWarning as RagkpiWarning
    from ragkpi.errors import UsageError as UsageError
    from ragkpi.library.options import Comparing as Comparing
    from ragkpi.library.options import Estimating as Estimating
    from ragkpi.library.options import Evaluating as Evaluating
    from ragkpi.library.result import Result as Result
    from ragkpi.questions.agree.command import agree as agree
    from ragkpi.questions.calibrate.command import calibrate as calibrate
    from ragkpi.questions.check.command import check as check
    from ragkpi.questions.compare.command import compare as compare
    from ragkpi.questions.convert.command import convert as convert
    from ragkpi.questions.convert.command import read_qrels as read_qrels
    from ragkpi.questions.convert.command import read_run as read_run
    from ragkpi.questions.correct.command import correct as correct
    from ragkpi.questions.demo.command import demo as demo
    from ragkpi.questions.depth.command import depth as depth
    from ragkpi.questions.describe.formats import describe_formats as describe_formats
    from ragkpi.questions.describe.measures import describe_measures as describe_measures
    from ragkpi.questions.describe.schema import schema as schema
    from ragkpi.questions.diagnose.command import diagnose as diagnose
    from ragkpi.questions.evaluate.command import RunResult as RunResult
    from ragkpi.questions.evaluate.command import RunResults as RunResults
    from ragkpi.questions.evaluate.command import evaluate as evaluate
    from ragkpi.questions.evaluate.log import log as log
    from ragkpi.questions.evaluate.zscores import zscores as zscores
    from ragkpi.questions.holes.command import holes as holes
    from ragkpi.questions.inspect.command import inspect as inspect
    from ragkpi.questions.power.command import power as power
    from ragkpi.questions.report.command import report as report
    from ragkpi.questions.verify.command import verify as verify

_QUESTIONS = (
    *("agree", "calibrate", "check", "compare", "convert", "correct", "demo", "depth", "diagnose"),
    *("holes", "inspect", "power", "report", "verify"),
)
_ERRORS = (
    *("DataError", "GateDoubtedError", "GateFailedError", "InputError", "NothingInCommonError"),
    *("RagkpiError", "RagkpiWarning", "UsageError"),
)
_MODULES = {
    **{name: f"ragkpi.questions.{name}.command" for name in _QUESTIONS},
    **dict.fromkeys(_ERRORS, "ragkpi.errors"),
    **dict.fromkeys(("Comparing", "Estimating", "Evaluating"), "ragkpi.library.options"),
    "Result": "ragkpi.library.result",
    **dict.fromkeys(("read_qrels", "read_run"), "ragkpi.questions.convert.command"),
    "describe_formats": "ragkpi.questions.describe.formats",
    "describe_measures": "ragkpi.questions.describe.measures",
    "schema": "ragkpi.questions.describe.schema",
    **dict.fromkeys(("RunResult", "RunResults", "evaluate"), "ragkpi.questions.evaluate.command"),
    "log": "ragkpi.questions.evaluate.log",
    "zscores": "ragkpi.questions.evaluate.zscores",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'ragkpi' has no attribute '{name}'")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
