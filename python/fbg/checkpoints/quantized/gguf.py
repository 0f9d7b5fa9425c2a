"""The blocks of GGUF files: each row of a weight is a sequence of blocks of 32 or 256 codes.

A block has the layout of its struct in ggml's ggml-common.h, little-endian. d, m: float16 that
codes are multiplied by, and that is added or subtracted; blocks of 256 ("K") have smaller factors
for each 16 or 32 codes, as integers.

Q4_0 becomes int4 codes with a scale for each group of 32; all others become float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.checkpoints.gguf.header import SIZES
from fbg.checkpoints.quantized.tensor import (
    FP4,
    Bytes,
    Codes,
    Module,
    QuantizedTensor,
    Scales,
)
from fbg.checkpoints.settings import Settings

PARTS, IRRELEVANT = ("weight",), ""

# What the codes of IQ4_NL and IQ4_XS stand for.
NONLINEAR = np.array(
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32
)


def read(settings: Settings) -> Callable[[Module], QuantizedTensor]:
    """Return the reader of a weight."""
    return _weight


def _weight(module: Module) -> QuantizedTensor:
    main = module.matrix("weight", tuple(DECODERS))
    rows, columns = main.shape
    kind = SIZES[main.dtype]
    blocks = columns // kind.count
    stored = replace(main, dtype="uint8", shape=(rows, blocks * kind.size))

    def octets() -> Bytes:
        return stored.view().reshape(-1, kind.size)

    def scales() -> Scales:
        if main.dtype != "Q4_0":
            return Scales(np.ones((rows, 1), np.float32), None, columns)
        scale = _halves(octets(), 0).reshape(rows, blocks)
        if not np.isfinite(scale).all():
            raise main.error("holds NaN or infinite values")
        return Scales(scale, None, kind.count)

    def codes() -> Codes:
        with np.errstate(over="ignore", invalid="ignore"):  # its reader reports what overflows
            return DECODERS[main.dtype](octets()).reshape(main.shape)

    return replace(
        module.weight(main, (rows, columns), 4 if main.dtype == "Q4_0" else 0, codes, scales),
        parts=(stored,),
    )


def _halves(blocks: Bytes, at: int) -> Floats:
    """Return (blocks, 1): the float16 at a byte of each block."""
    return blocks[:, at : at + 2].copy().view("<f2").astype(np.float32)


def _fields(octets: Bytes, bits: int, width: int) -> Bytes:
    """Return the codes of each run of `width` bytes: first the lowest bits of all, and so on."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    runs = octets.reshape(len(octets), -1, 1, width)
    return ((runs >> shifts) & np.uint8((1 << bits) - 1)).reshape(len(octets), -1)


def _single_bits(octets: Bytes) -> Bytes:
    """Return 32 bits of each block, the lowest first."""
    return np.unpackbits(octets, axis=1, bitorder="little")


def _int4(blocks: Bytes) -> Codes:
    return (_fields(blocks[:, 2:], 4, 16) - np.uint8(8)).view(np.int8)


def _q8_0(blocks: Bytes) -> Floats:
    return _halves(blocks, 0) * blocks[:, 2:].view(np.int8).astype(np.float32)


def _groups_of_32(begin: int, *, fifth: bool, added: bool) -> Callable[[Bytes], Floats]:
    """Return the reader of codes of 4 bits, or of 5, of which the highest come first.

    begin: of the codes. added: whether m is added; else codes have a sign.
    """

    def values(blocks: Bytes) -> Floats:
        codes = _fields(blocks[:, begin:], 4, 16).astype(np.int8)
        if fifth:
            codes |= (_single_bits(blocks[:, begin - 4 : begin]) << np.uint8(4)).view(np.int8)
        if added:
            return _halves(blocks, 0) * codes + _halves(blocks, 2)
        return _halves(blocks, 0) * (codes - np.int8(16)).astype(np.float32)

    return values


def _table(values: Floats, scale: Callable[[Bytes], Floats], begin: int) -> Callable[..., Floats]:
    return lambda blocks: scale(blocks) * values[_fields(blocks[:, begin:], 4, 16)]


def _power(blocks: Bytes) -> Floats:
    """Return the power of two of a block of MXFP4."""
    result: Floats = np.ldexp(np.float32(1), blocks[:, :1].astype(np.int32) - 127)
    return result


def _spread(codes: npt.NDArray[Any], factors: npt.NDArray[Any]) -> Floats:
    """Return the factors of groups times their codes, (blocks, groups, codes of a group)."""
    count = factors.shape[1]
    product: Floats = factors[:, :, None] * codes.reshape(len(codes), count, -1).astype(np.float32)
    return product


def _q2_k(blocks: Bytes) -> Floats:
    factors, codes = blocks[:, :16], _fields(blocks[:, 16:80], 2, 32)
    scale = _halves(blocks, 80) * (factors & 15).astype(np.float32)
    return _spread(codes, scale) - (_halves(blocks, 82) * (factors >> 4))[:, :, None]


def _q3_k(blocks: Bytes) -> Floats:
    low, high = blocks[:, 96:104], blocks[:, 104:108]
    factors = _fields(low, 4, 8) | (_fields(high, 2, 4) << np.uint8(4))
    scale = _halves(blocks, 108) * (factors.view(np.int8) - np.int8(32)).astype(np.float32)
    upper = _fields(blocks[:, :32], 1, 32) ^ np.uint8(1)
    codes = _fields(blocks[:, 32:96], 2, 32).view(np.int8) - (upper << np.uint8(2)).view(np.int8)
    return _spread(codes, scale)


def _six_bits(octets: Bytes) -> tuple[Bytes, Bytes]:
    """Return eight factors and eight offsets of 6 bits, which 12 bytes of a block hold."""
    first, second, third = octets[:, :4], octets[:, 4:8], octets[:, 8:]
    upper = [(part >> np.uint8(2)) & np.uint8(48) for part in (first, second)]
    factors = [first & 63, (third & 15) | upper[0]]
    offsets = [second & 63, (third >> np.uint8(4)) | upper[1]]
    return np.concatenate(factors, axis=1), np.concatenate(offsets, axis=1)


def _offset_k(fifth: bool) -> Callable[[Bytes], Floats]:
    """Return the reader of Q4_K, or of Q5_K."""

    def values(blocks: Bytes) -> Floats:
        factors, offsets = _six_bits(blocks[:, 4:16])
        codes = _fields(blocks[:, 48 if fifth else 16 :], 4, 32)
        if fifth:
            codes |= _fields(blocks[:, 16:48], 1, 32) << np.uint8(4)
        return (
            _spread(codes, _halves(blocks, 0) * factors)
            - ((_halves(blocks, 2) * offsets)[:, :, None])
        )

    return values


def _q6_k(blocks: Bytes) -> Floats:
    codes = _fields(blocks[:, :128], 4, 64) | (_fields(blocks[:, 128:192], 2, 32) << np.uint8(4))
    factors = blocks[:, 192:208].view(np.int8).astype(np.float32)
    return _spread(codes.view(np.int8) - np.int8(32), _halves(blocks, 208) * factors)


def _iq4_xs(blocks: Bytes) -> Floats:
    low = _fields(blocks[:, 4:8], 4, 1)
    high = ((blocks[:, 2:4].copy().view("<u2") >> np.arange(0, 16, 2)) & 3).astype(np.uint8)
    factors = (low | (high << np.uint8(4))).view(np.int8) - np.int8(32)
    codes = NONLINEAR[_fields(blocks[:, 8:], 4, 16)]
    return _spread(codes, _halves(blocks, 0) * factors.astype(np.float32))


DECODERS: dict[str, Callable[[Bytes], Codes]] = {
    "Q4_0": _int4,
    "Q4_1": _groups_of_32(4, fifth=False, added=True),
    "Q5_0": _groups_of_32(6, fifth=True, added=False),
    "Q5_1": _groups_of_32(8, fifth=True, added=True),
    "Q8_0": _q8_0,
    "Q2_K": _q2_k,
    "Q3_K": _q3_k,
    "Q4_K": _offset_k(fifth=False),
    "Q5_K": _offset_k(fifth=True),
    "Q6_K": _q6_k,
    "IQ4_NL": _table(NONLINEAR, lambda blocks: _halves(blocks, 0), 2),
    "IQ4_XS": _iq4_xs,
    "MXFP4": _table(FP4 + np.float32(0), _power, 1),  # without -0
}
