"""Packed weights of linear layers: the types that networks run on, and the largest weight that each
can hold.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from fbg import _fbg
from fbg.matmul.packed_file import dtype_name

__all__ = ["WEIGHT_LIMITS", "PackedWeight", "dtype_name"]

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
