"""Rows of 2-, 4- or 8-bit values, each with a scale and a bias: ``real = scale * q + bias``.

The format in which FBGEMM and PyTorch keep embedding tables. A fused row of N values:

    byte      0     1         P-1   P            P+s          P+2s
            ┌─────┬─────┬───┬─────┬────────────┬────────────┐
            │ values, 8/b a byte  │ scale      │ bias       │   P = ceil(N b / 8)
            └─────┴─────┴───┴─────┴────────────┴────────────┘   s = 2 or 4, little-endian

    4 bits  ┌─── bits 7-4 ───┬─── bits 3-0 ───┐   2 bits  7-6 │ 5-4 │ 3-2 │ 1-0
            │   value 2i+1   │   value 2i     │           4i+3 │ 4i+2│ 4i+1│ 4i
            └────────────────┴────────────────┘   what is left of the last byte is 0
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg import _fbg, arrays
from fbg.arrays import (
    Array,
    Floats,
    as_array,
    require_choice,
    require_dtype,
    require_dtype_name,
    require_integer,
    require_matrix,
)
from fbg.quantization.affine import require_finite, require_floats

FORMATS = {8: 3, 4: 4, 2: 5}  # of bits: RowFormat of include/fbg/kernels/embedding_rows.h
MOST_COLUMNS = 1 << 24  # of native rows


def _require_format(bits: object, scale_dtype: npt.DTypeLike, name: str) -> tuple[int, str]:
    number = require_integer(bits, f"{name}: bits", 2, 8)
    if number not in (2, 4, 8):
        raise ValueError(f"{name}: bits must be 2, 4 or 8, got {bits}")
    dtype = require_dtype_name(scale_dtype, f"{name}: scale_dtype", "float32", "float16")
    return number, dtype


@dataclass(frozen=True, eq=False)
class RowwiseMatrix:
    """An (M, N) matrix quantized row by row; ``quantize_rowwise`` and ``from_fused`` make one.

    Attributes:
        data: uint8 (M, ceil(N bits / 8)), packed as drawn in this module.
        scale, bias: float32 or float16 (M,); ``real = scale * q + bias``.
        columns: N.
        bits: 2, 4 or 8.
    """

    data: npt.NDArray[np.uint8]
    scale: npt.NDArray[Any]
    bias: npt.NDArray[Any]
    columns: int
    bits: int
    # Fused, if rows were made like this.
    _rows: npt.NDArray[np.uint8] | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_rows": None}  # data, scale and bias have all of it

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        return len(self.data), self.columns

    @property
    def nbytes(self) -> int:
        """Bytes of values, scales and biases."""
        return self.data.nbytes + self.scale.nbytes + self.bias.nbytes

    def unpack(self) -> npt.NDArray[np.uint8]:
        """Return the values, uint8 (M, N), each in [0, 2^bits)."""
        shifts = np.arange(0, 8, self.bits, dtype=np.uint8)
        fields = (self.data[:, :, None] >> shifts) & np.uint8(2**self.bits - 1)
        return fields.reshape(len(fields), self.data.shape[1] * len(shifts))[:, : self.columns]

    def dequantize(self) -> Floats:
        """Return float32 (M, N): ``scale * q + bias``, rounded once, saturating at ±float32 max."""
        result = np.empty(self.shape, np.float32)
        every, half = np.arange(len(result)), self.scale.dtype == np.float16
        for at in range(0, self.columns if len(result) else 0, MOST_COLUMNS):
            out = result[:, at : at + MOST_COLUMNS]
            rows = self._part(at, out.shape[1])
            bags_of_one = (0, -1, 0, every, None, None, out, False)  # EmbeddingBag._part
            part = (rows, FORMATS[self.bits], half, out.shape[1], *bags_of_one)
            _fbg.look_up([part], False, _fbg.num_threads())
        scale, bias = (np.abs(v.astype(np.float64)) for v in (self.scale, self.bias))
        most = np.finfo(np.float32).max
        if (scale * 2**self.bits + bias > most).any():
            np.clip(result, -most, most, out=result)
        return result

    def _part(self, begin: int, columns: int) -> npt.NDArray[np.uint8]:
        """Return fused rows of some columns."""
        if columns == self.columns:
            return self.fused()
        data = self.data[:, begin * self.bits // 8 : -(-(begin + columns) * self.bits // 8)]
        return RowwiseMatrix(data, self.scale, self.bias, columns, self.bits).fused()

    def fused(self) -> npt.NDArray[np.uint8]:
        """Return uint8 (M, P + 2 s): values, scale and bias of a row side by side, as drawn.

        If the rows were made like this, the result shares their memory.
        """
        if self._rows is not None:
            return self._rows
        little = self.scale.dtype.newbyteorder("<")
        ends = np.stack([self.scale, self.bias], axis=1).astype(little).view(np.uint8)
        return np.concatenate([self.data, ends], axis=1)

    @staticmethod
    def from_fused(
        fused: object, columns: int, bits: int = 8, scale_dtype: npt.DTypeLike = np.float32
    ) -> RowwiseMatrix:
        """Return the matrix that `fused` holds, as ``fused()`` or FBGEMM wrote it; copies.

        Args:
            fused: uint8 (M, P + 2 s).
            columns: N.
            bits, scale_dtype: as it was written.

        Raises TypeError for other dtypes, ValueError for a shape that does not go with them or a
        scale or bias that is not finite.

        >>> row = np.array([[0x21, 0x03, 0x00, 0x38, 0x00, 0xBC]], np.uint8)  # 1 2 3, 0.5, -1
        >>> RowwiseMatrix.from_fused(row, 3, 4, np.float16).dequantize()
        array([[-0.5,  0. ,  0.5]], dtype=float32)
        """
        name = "RowwiseMatrix.from_fused"
        number, dtype = _require_format(bits, scale_dtype, name)
        n = require_integer(columns, f"{name}: columns", 0, 2**62)
        array = as_array(fused, f"{name}: fused")
        require_dtype(array, f"{name}: fused", "uint8")
        little = np.dtype(dtype).newbyteorder("<")
        packed = -(-n * number // 8)
        require_matrix(array, f"{name}: fused", f"(M, {packed + 2 * little.itemsize})")
        if array.shape[1] != packed + 2 * little.itemsize:
            raise ValueError(
                f"{name}: fused must have {packed + 2 * little.itemsize} bytes per row for {n} "
                f"columns of {number} bits and {dtype}, got {array.shape[1]}"
            )
        rows = np.array(array, order="C")
        ends = rows[:, packed:].view(little)
        arrays.require_finite(ends, f"{name}: scale and bias of each row")
        return _matrix_of(rows, n, number, little)


def _matrix_of(rows: npt.NDArray[np.uint8], n: int, bits: int, dtype: Any) -> RowwiseMatrix:
    """Return the matrix of fused rows: their values as a view, and what follows them copied."""
    packed = -(-n * bits // 8)
    ends = rows[:, packed:].view(dtype).T.copy()
    ends.flags.writeable = False  # the rows would not follow
    result = RowwiseMatrix(rows[:, :packed], ends[0], ends[1], n, bits)
    object.__setattr__(result, "_rows", rows)
    return result


def _round_towards(x: npt.NDArray[Any], dtype: str, direction: float) -> npt.NDArray[Any]:
    """Round float64 to `dtype`, never past `x` against `direction` (±inf)."""
    with np.errstate(over="ignore", under="ignore"):
        near = x.astype(dtype)
        wrong = near > x if direction < 0 else near < x
        return np.where(wrong, np.nextafter(near, near.dtype.type(direction)), near)


def fused_rows_of(x: Floats, kind: int, scale_dtype: str, name: str) -> npt.NDArray[np.uint8]:
    """Return finite float32 `x`, which has columns, as fused rows: integers by FBGEMM's definition.

    kind: RowFormat of C++.
    """
    values = x if arrays.has_dense_rows(x) else np.ascontiguousarray(x)
    half = scale_dtype == "float16"
    made = _fbg.quantize_rows(values, kind, half, _fbg.num_threads())
    if not isinstance(made, int):
        return made
    arrays.require_finite(values[made], f"{name}, row {made},")
    lo, hi = values[made].min(), values[made].max()
    what = "scale and bias" if kind in FORMATS.values() else "scale"
    raise ValueError(_no_parameters(name, scale_dtype, made, lo, hi, what))


def _no_parameters(
    name: str, dtype: str, row: int, lo: Any, hi: Any, what: str = "scale and bias"
) -> str:
    return f"{name} must fit a {dtype} {what}, got row {row} within [{lo:g}, {hi:g}]"


def quantize_rowwise(
    x: object,
    bits: int = 8,
    scale_dtype: npt.DTypeLike = np.float32,
    method: Literal["covering", "fbgemm"] = "covering",
) -> RowwiseMatrix:
    """Quantize each row of a matrix over its own range.

        bias = min, rounded down to scale_dtype
        scale = (max - bias) / (2^bits - 1), rounded up to scale_dtype; 1 where that is 0
        q = saturate(rint((x - bias) / scale)), half to even

    The rounding directions keep the whole row within the range, so that no value is further than
    half a scale from the result of ``dequantize`` (before that is rounded to float32).

    Args:
        x: float32, float16 or bfloat16 (M, N).
        bits: 8, 4 or 2.
        scale_dtype: float32 or float16, of scale and bias. FBGEMM and PyTorch use float32 for 8
            bits, and float16 for 4 and 2.
        method: "covering", as above, or "fbgemm": with the bits of FBGEMM and of
            ``torch.ops.quantized.embedding_bag_byte_prepack`` and its like, which round scale and
            bias to nearest and multiply by the reciprocal of the scale. Ends of a row may then be
            outside of the range.

    Raises TypeError for other dtypes, ValueError unless 2-D and finite, or where a scale or bias is
    too large for its dtype.

    Source: FBGEMM, FloatOrHalfToFusedNBitRowwiseQuantizedSBHalf.

    >>> rows = quantize_rowwise(np.array([[0, 1, 2, 15], [-3, -3, -3, -3]], np.float32), bits=4)
    >>> rows.data
    array([[ 16, 242],
           [  0,   0]], dtype=uint8)
    >>> rows.scale, rows.bias
    (array([1., 1.], dtype=float32), array([ 0., -3.], dtype=float32))
    """
    number, dtype = _require_format(bits, scale_dtype, "quantize_rowwise")
    require_choice(method, "quantize_rowwise: method", "covering", "fbgemm")
    values = require_floats(x, "quantize_rowwise: x")
    require_matrix(values, "quantize_rowwise: x", "(M, N)")
    if method == "fbgemm" and values.shape[1]:
        fused = fused_rows_of(values, FORMATS[number], dtype, "quantize_rowwise: x")
        return _matrix_of(fused, values.shape[1], number, np.dtype(dtype))
    return _quantize_covering(require_finite(values, "quantize_rowwise: x"), number, dtype)


def _quantize_covering(values: Array, number: int, dtype: str) -> RowwiseMatrix:
    m, n = values.shape
    top = 2**number - 1
    wide = values.astype(np.float64)
    lo, hi = (wide.min(axis=1), wide.max(axis=1)) if n else (np.zeros(m), np.zeros(m))
    bias = _round_towards(lo, dtype, -np.inf)
    finite = np.isfinite(bias)
    scale = _round_towards((hi - np.where(finite, bias, lo)) / top, dtype, np.inf)
    bad = np.flatnonzero(~(finite & np.isfinite(scale)))
    if bad.size:
        row = int(bad[0])
        raise ValueError(_no_parameters("quantize_rowwise: x", dtype, row, lo[row], hi[row]))
    scale = np.where(scale > 0, scale, np.ones((), dtype))
    step, start = (v.astype(np.float64)[:, None] for v in (scale, bias))
    q = np.clip(np.rint((wide - start) / step), 0, top).astype(np.uint8)
    per_byte = 8 // number
    padded = np.zeros((m, -(-n // per_byte) * per_byte), np.uint8)
    padded[:, :n] = q
    shifts = np.arange(0, 8, number, dtype=np.uint8)
    fields = padded.reshape(m, padded.shape[1] // per_byte, per_byte) << shifts
    data = np.bitwise_or.reduce(fields, axis=2)
    return RowwiseMatrix(data, scale, bias, n, number)
