"""Codes of less than 8 bits in larger integers, and floats of 4 and 8 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.quantized.module import refusal

Bytes = npt.NDArray[np.uint8]

FP8 = ("float8_e4m3fn", "float8_e5m2")
# Values of the codes of e2m1, of which the highest bit is the sign (OCP Microscaling, 5.3.3).
_HALF = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
FP4 = np.array([*_HALF, *(-value for value in _HALF)], np.float32)


def unpack(words: npt.NDArray[Any], bits: int, count: int) -> Bytes:
    """Return (rows, count) codes of 2, 3, 4 or 8 bits of the rows of int32 words, or of bytes: the
    lowest bits come first.
    """
    octets = np.ascontiguousarray(words).view(np.uint8)
    if bits == 8:
        return octets[:, :count]
    if bits < 4:
        each = np.unpackbits(octets, axis=1, count=count * bits, bitorder="little")
        return np.packbits(
            each.reshape(len(octets), count, bits), axis=2, bitorder="little"
        ).reshape(len(octets), count)
    pairs = octets.astype("<u2")  # a code in each byte
    pairs |= pairs << 4
    pairs &= 0x0F0F
    return pairs.view(np.uint8)[:, :count]


def centred(codes: Bytes, bits: int) -> npt.NDArray[np.int8]:
    """Return codes less half of their range, which fit in int8."""
    half = np.uint8(1 << bits - 1)
    return (codes ^ half if bits == 8 else codes - half).view(np.int8)


def read_fp8(tensor: StoredTensor) -> Floats:
    """Return floats of 8 bits; raises ModelError for those that are no numbers."""
    values = tensor.view().astype(np.float32)
    if not np.isfinite(values).all():
        raise refusal(tensor, "holds NaN or infinite values")
    return values
