"""Types of arrays, by element type."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

IntArray: TypeAlias = "npt.NDArray[np.int64]"
FloatArray: TypeAlias = "npt.NDArray[np.float64]"
BoolArray: TypeAlias = "npt.NDArray[np.bool_]"

# Relative tolerance: doubles this close would be equal without rounding.
ROUNDING = 1e-12
