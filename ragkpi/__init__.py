"""ragkpi: trec_eval's numbers, and the ones that retrieval for language models needs.

`evaluate` is what ``ragkpi eval`` does, for Python. Nothing is imported before it is used.
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
    from ragkpi.library import Result, evaluate

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "GateFailedError",
    "InputError",
    "NothingInCommonError",
    "RagkpiError",
    "RagkpiWarning",
    "Result",
    "UsageError",
    "evaluate",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'ragkpi' has no attribute '{name}'")
    room = "library" if name in ("Result", "evaluate") else "errors"
    return getattr(importlib.import_module(f"ragkpi.{room}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
