"""The reading kernel: compiled if possible, else plain Python.

`ragkpi/plain_kernel.py` documents each function; ``RAGKPI_READER=plain`` selects it.
"""

from __future__ import annotations

import os
from typing import Literal

__all__ = [
    "Documents",
    "Ids",
    "RefusedError",
    "Run",
    "columns",
    "count_ids",
    "first_rows",
    "numbers",
]

READER: Literal["compiled", "plain"]
"""The kernel in use."""

try:
    if os.environ.get("RAGKPI_READER") == "plain":
        raise ImportError
    from ragkpi._kernel import (
        Documents,
        Ids,
        RefusedError,
        Run,
        columns,
        count_ids,
        first_rows,
        numbers,
    )

    READER = "compiled"
except ImportError:
    from ragkpi.plain_kernel import (  # type: ignore[assignment]
        Documents,
        Ids,
        RefusedError,
        Run,
        columns,
        count_ids,
        first_rows,
        numbers,
    )

    READER = "plain"
