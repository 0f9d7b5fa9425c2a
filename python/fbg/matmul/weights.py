"""Packed weights of linear layers: the types that networks run on, and the largest weight that each
can hold.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.matmul.packed_file import dtype_name

__all__ = ["WEIGHT_LIMITS", "PackedWeight", "dtype_name", "pack_weight"]

Floats = npt.NDArray[np.float32]

PackedWeight: TypeAlias = (
    _fbg.PackedBInt8 | _fbg.PackedBFloat32 | _fbg.PackedBBFloat16 | _fbg.PackedBFloat16
)

# What linear layers may be packed for, and the largest magnitude of a weight.
WEIGHT_LIMITS = {
    "float32": np.inf,
    "bfloat16": 3.3895e38,
    "float16": 65504.0,
    "int8": np.inf,
}


def pack_weight(weight: Floats, dtype: str) -> PackedWeight:
    """Pack a (K, N) matrix; int8 is symmetric with one scale per column."""
    if dtype == "int8":
        return _fbg.pack_b_quantize(weight, per_column=True, symmetric=True)
    if dtype == "bfloat16":
        return _fbg.pack_b_bfloat16(weight)
    if dtype == "float16":
        return _fbg.pack_b_float16(weight)
    return _fbg.pack_b_float32(weight)
