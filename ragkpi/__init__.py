"""ragkpi: trec_eval's numbers, and the ones that retrieval for language models needs.

Every command is a function here: `evaluate`, `compare`, `depth`, `diagnose`, `calibrate`, `holes`,
`agree`, `correct`, `check`, `convert`, `report`; `read_qrels` and `read_run` read what is used
again. Nothing is imported before it is used.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as type checkers know it; typing itself takes milliseconds to import
if TYPE_CHECKING:
    from ragkpi.errors import (
        DataError,
        GateFailedError,
        InputError,
        NothingInCommonError,
        RagkpiError,
        RagkpiWarning,
        UsageError,
    )
    from ragkpi.library import (
        Evaluating,
        Result,
        RunResult,
        RunResults,
        agree,
        calibrate,
        check,
        compare,
        convert,
        correct,
        depth,
        diagnose,
        evaluate,
        holes,
        read_qrels,
        read_run,
        report,
    )

__version__ = "0.1.0"

_ERRORS = (
    "DataError",
    "GateFailedError",
    "InputError",
    "NothingInCommonError",
    "RagkpiError",
    "RagkpiWarning",
    "UsageError",
)
__all__ = [
    "DataError",
    "Evaluating",
    "GateFailedError",
    "InputError",
    "NothingInCommonError",
    "RagkpiError",
    "RagkpiWarning",
    "Result",
    "RunResult",
    "RunResults",
    "UsageError",
    "agree",
    "calibrate",
    "check",
    "compare",
    "convert",
    "correct",
    "depth",
    "diagnose",
    "evaluate",
    "holes",
    "read_qrels",
    "read_run",
    "report",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'ragkpi' has no attribute '{name}'")
    room = "errors" if name in _ERRORS else "library"
    return getattr(importlib.import_module(f"ragkpi.{room}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
