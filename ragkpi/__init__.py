"""ragkpi: trec_eval's numbers, and those that retrieval for language models needs.

Every command is a function here: `evaluate`, `compare`, `depth`, `diagnose`, `calibrate`, `holes`,
`agree`, `correct`, `check`, `convert`, `report`; `read_qrels` and `read_run` read what is used
again. Nothing is imported before it is used.
"""

from __future__ import annotations

import importlib

from ragkpi.version import __version__ as __version__

TYPE_CHECKING = False  # as type checkers know it; typing itself takes milliseconds to import
if TYPE_CHECKING:
    from ragkpi.errors import DataError as DataError
    from ragkpi.errors import GateFailedError as GateFailedError
    from ragkpi.errors import InputError as InputError
    from ragkpi.errors import NothingInCommonError as NothingInCommonError
    from ragkpi.errors import RagkpiError as RagkpiError
    from ragkpi.errors import RagkpiWarning as RagkpiWarning
    from ragkpi.errors import UsageError as UsageError
    from ragkpi.library.arguments import Estimating as Estimating
    from ragkpi.library.arguments import Evaluating as Evaluating
    from ragkpi.library.result import Result as Result
    from ragkpi.questions.agree.function import agree as agree
    from ragkpi.questions.agree.function import correct as correct
    from ragkpi.questions.calibrate.function import calibrate as calibrate
    from ragkpi.questions.check.function import check as check
    from ragkpi.questions.compare.function import compare as compare
    from ragkpi.questions.convert.function import convert as convert
    from ragkpi.questions.convert.function import read_qrels as read_qrels
    from ragkpi.questions.convert.function import read_run as read_run
    from ragkpi.questions.depth.function import depth as depth
    from ragkpi.questions.describe.function import describe_formats as describe_formats
    from ragkpi.questions.describe.function import describe_measures as describe_measures
    from ragkpi.questions.describe.function import schema as schema
    from ragkpi.questions.diagnose.function import diagnose as diagnose
    from ragkpi.questions.evaluate.function import RunResult as RunResult
    from ragkpi.questions.evaluate.function import RunResults as RunResults
    from ragkpi.questions.evaluate.function import evaluate as evaluate
    from ragkpi.questions.evaluate.record import log as log
    from ragkpi.questions.evaluate.zscores import zscores as zscores
    from ragkpi.questions.holes.function import holes as holes
    from ragkpi.questions.report.function import report as report

# Where each public name is, for when it is asked for; tests hold it against the lines above.
_MODULES = {
    "errors": "DataError GateFailedError InputError NothingInCommonError RagkpiError RagkpiWarning "
    "UsageError",
    "library.arguments": "Estimating Evaluating",
    "library.result": "Result",
    "questions.agree.function": "agree correct",
    "questions.calibrate.function": "calibrate",
    "questions.check.function": "check",
    "questions.compare.function": "compare",
    "questions.convert.function": "convert read_qrels read_run",
    "questions.depth.function": "depth",
    "questions.describe.function": "describe_formats describe_measures schema",
    "questions.diagnose.function": "diagnose",
    "questions.evaluate.zscores": "zscores",
    "questions.evaluate.function": "RunResult RunResults evaluate",
    "questions.evaluate.record": "log",
    "questions.holes.function": "holes",
    "questions.report.function": "report",
}
_MODULE = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_MODULE)


def __getattr__(name: str) -> object:
    if name not in _MODULE:
        raise AttributeError(f"module 'ragkpi' has no attribute '{name}'")
    return getattr(importlib.import_module(f"ragkpi.{_MODULE[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
