"""Weights as integers: each rounded to the nearest, or all rounded so that their errors cancel on
data (gptq.py, int4_rounding.py).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Floats
from fbg.graph.passes.gptq import DAMPING, damped_gram, descend, round_to_gram
from fbg.graph.passes.int4_rounding import of_rows, round_int4
from fbg.matmul.narrow import narrow_scales, outputs_as_rows
from fbg.matmul.weights import INT4_DTYPES, PackedWeight

Bytes = npt.NDArray[np.int8]


def round_to_nearest(weight: Floats, axis: int, narrow: bool = False) -> tuple[Bytes, Floats]:
    """Return int8 values in [-127, 127] and the scale of each index along `axis`.

    narrow: whether scales are so large that the integers are narrow (fbg/matmul/narrow.py).

    >>> round_to_nearest(np.array([[127, 2], [-63.4, 1]], np.float32), 1)[0].tolist()
    [[127, 127], [-63, 64]]
    """
    axis %= weight.ndim
    scale = _scales(weight, axis, narrow)
    shape = [-1 if i == axis else 1 for i in range(weight.ndim)]
    return np.clip(np.rint(weight / scale.reshape(shape)), -127, 127).astype(np.int8), scale


def _scales(weight: Floats, axis: int, narrow: bool = False) -> Floats:
    others = tuple(i for i in range(weight.ndim) if i != axis)
    if narrow:
        scale: Floats = narrow_scales(outputs_as_rows(weight, axis))
    else:
        scale = np.abs(weight).max(axis=others) / np.float32(127)
    scale[~(scale >= np.finfo(np.float32).tiny)] = 1
    return scale


@dataclass(frozen=True)
class RoundedWeight:
    """Integers q, (K, N), that stand for ``q * scale + offset``.

    scale, offset: float32 (N,) and None of int8; of int4 float16 (ceil(K / group), N), and None if
        the weights are symmetric. group: rows that share a scale; None for all.
    """

    q: Bytes
    scale: npt.NDArray[Any]
    offset: npt.NDArray[Any] | None = None
    group: int | None = None

    def dequantize(self) -> Floats:
        """Return the weights that the integers stand for."""
        if self.group is None:
            values: Floats = self.q * self.scale
            return values
        k = len(self.q)
        values = self.q * of_rows(self.scale.astype(np.float32), self.group, k)
        if self.offset is not None:
            values += of_rows(self.offset.astype(np.float32), self.group, k)
        return values

    def pack(self) -> PackedWeight:
        """Return the integers packed."""
        if self.group is None:
            return _fbg.pack_b_int8(self.q, self.scale, None, per_column=True)
        offset = None if self.offset is None else self.offset.view(np.uint16)
        return _fbg.pack_b_int4(self.q, self.scale.view(np.uint16), offset, self.group)


def round_by_gram(weight: Floats, gram: Floats, dtype: str) -> RoundedWeight | None:
    """Round a matrix (K, N) so that errors cancel on data with a Gram matrix (K, K).

    dtype: "int8": GPTQ with the scales of `round_to_nearest`, then descent; or one of int4. Returns
    None where the Gram matrix has overflowed, or its values are too far apart.
    """
    with contextlib.suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
        if dtype != "int8":
            group, symmetric = INT4_DTYPES[dtype]
            return RoundedWeight(*round_int4(weight, gram, group, symmetric=symmetric), group)
        scale = _scales(weight, 1)
        q = round_to_gram(weight, scale, gram, damping=DAMPING).astype(np.float32)
        descend(weight, q, np.broadcast_to(scale, weight.shape), damped_gram(gram), -127, 127)
        return RoundedWeight(q.astype(np.int8), scale)
    return None
