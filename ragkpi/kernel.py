"""The reading kernel: compiled, or the same in plain Python where it is not.

`ragkpi/plain_kernel.py` says what each function does. ``RAGKPI_READER=plain`` takes the plain one.
"""

from __future__ import annotations

import os
from typing import Literal

__all__ = [
    "Documents",
    "RefusedError",
    "Run",
    "changes",
    "columns",
    "first_rows",
    "hashes",
    "numbers",
    "text_rows",
]

READER: Literal["compiled", "plain"]
"""Which of the two reads."""

try:
    if os.environ.get("RAGKPI_READER") == "plain":
        raise ImportError
    from ragkpi._kernel import (
        Documents,
        RefusedError,
        Run,
        changes,
        columns,
        first_rows,
        hashes,
        numbers,
        text_rows,
    )

    READER = "compiled"
except ImportError:
    from ragkpi.plain_kernel import (  # type: ignore[assignment]
        Documents,
        RefusedError,
        Run,
        changes,
        columns,
        first_rows,
        hashes,
        numbers,
        text_rows,
    )

    READER = "plain"
