"""Tables with a row for each token of a vocabulary, as models hold them: one array, of floats or of
fused rows of 8 bits (``fbg.quantization.rowwise`` draws them).

    float32 (V, E)
    uint8 (V, E + 8)     each row: values, a float32 scale and a float32 bias
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Floats
from fbg.matmul.weights import QUANTIZED
from fbg.quantization.rowwise import FORMATS

Table = npt.NDArray[Any]
BESIDE = 8  # bytes of a scale and a bias


def columns_of(table: Table) -> int:
    """Return E."""
    columns: int = table.shape[-1]
    return columns - BESIDE if table.dtype == np.uint8 else columns


def converted(table: Floats, dtype: str, num_threads: int) -> Table:
    """Return the table of a model of a dtype: rows of 8 bits for integers. One with numbers that
    are not finite, or too large for a scale, stays float32.
    """
    made = _fbg.quantize_rows(table, FORMATS[8], False, num_threads) if dtype in QUANTIZED else 0
    return table if isinstance(made, int) else made
