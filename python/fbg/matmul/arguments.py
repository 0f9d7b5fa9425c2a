"""Checks that arguments of weights fit together, before anything is packed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import require_choice, require_integer


def check_quantizing(
    function: str, w: npt.NDArray[Any], dtype: str | None, given: Mapping[str, bool]
) -> None:
    """Raise ValueError for an option of quantization where no weights are quantized.

    given: whether each option differs from its default.
    """
    integers = w.dtype == np.int8
    if not integers and dtype in (None, "int8", "int4"):
        return
    for name, other in given.items():
        if other:
            got = "an int8 w" if integers else f"dtype={dtype!r}"
            raise ValueError(
                f"{function}: {name} goes with floating weights that are quantized, got {got}"
            )


def check_accum(accum: object, outlier_bits: object, dtype: str | None) -> None:
    """Check in which type products with weights of that dtype are summed."""
    floating = dtype not in (None, "int8")
    kind = "int4" if dtype == "int4" else "float" if floating else "int8"
    allowed = ("float32", None) if floating else ("int32", "int16", None)
    if dtype == "float16":
        kind, allowed = dtype, ("float32", "float16", None)
    require_choice(accum, f"PackedB: accum of {kind} weights", *allowed)
    if outlier_bits is None:
        return
    if accum != "int16":
        raise ValueError(f"PackedB: outlier_bits requires accum='int16', got accum={accum!r}")
    require_integer(outlier_bits, "PackedB: outlier_bits", 1, 8)
