"""The left operands of products: activations, which each product packs while it runs."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.again import Again, again
from fbg.arrays import (
    Array,
    as_array,
    bfloat16,
    is_bfloat16,
    require_choice,
    require_dtype,
    require_flag,
    require_integer,
    require_matrix,
    require_scale,
)
from fbg.matmul.packed_b import PackedB
from fbg.matmul.pipeline import Pipeline


class PackA:
    """The left operand of ``gemm`` without quantization.

    Args:
        x: (M, K), any strides: uint8 for int8 weights, float32 for float weights, or
            ``ml_dtypes.bfloat16`` for bfloat16 weights. The operand keeps a reference and makes no
            copy: ``gemm`` packs the elements while it runs, and reads contiguous rows in place.
            Only an array whose elements are not aligned is copied.
        dtype: ``"bfloat16"`` rounds a float32 `x` to bfloat16 while it is packed, so that bfloat16
            weights are multiplied by the bfloat16 dot-product instruction; None does not convert.

    Attributes:
        rounds: whether `x` is rounded in this way.

    Raises TypeError for another dtype, and ValueError if `x` is not 2-D.

    >>> import numpy as np
    >>> import fbg
    >>> a = fbg.PackA(np.array([[1, 2], [3, 4]], np.uint8))
    >>> fbg.gemm(a, fbg.PackedB(np.array([[1, 0], [-1, 5]], np.int8)))
    array([[-1, 10],
           [-1, 20]], dtype=int32)
    """

    rounds = False
    _options: dict[str, Any]  # keywords for the class to make such an operand of another x

    def __init__(self, x: object, *, dtype: Literal["bfloat16"] | None = None) -> None:
        if dtype is not None:
            require_choice(dtype, "PackA: dtype", "bfloat16", None)
        self._refer(x, *(("float32", "bfloat16") if dtype else ("uint8", "float32", "bfloat16")))
        self._options = {"dtype": dtype}
        self.rounds = dtype is not None and not is_bfloat16(self._array)
        array = self._array.view(np.uint16) if is_bfloat16(self._array) else self._array
        self._native = _fbg.AOperand.plain(array, self.rounds)

    def _refer(self, x: object, *dtypes: str) -> None:
        """Check and keep the source."""
        name = f"{type(self).__name__}: x"
        self._array = as_array(x, name)
        try:
            require_dtype(self._array, name, *dtypes)
        except TypeError as error:
            raise TypeError(f"{error}{_other_packer(self._array)}") from None
        require_matrix(self._array, name, "(M, K)")

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of x, (M, K)."""
        m, k = self._array.shape
        return m, k

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of x."""
        return self._array.dtype

    def _multiply(
        self,
        right: object,
        pipeline: Pipeline,
        out: Array | None,
        num_threads: int | None,
        flush_subnormals: bool,
    ) -> Array:
        """Run `gemm` with this operand."""
        if not isinstance(right, PackedB):
            raise TypeError(f"gemm: packed_b must be a PackedB, got {type(right).__name__}")
        threads = 0
        if num_threads is not None:
            threads = require_integer(num_threads, "gemm: num_threads", 1, _fbg.MAX_THREADS)
        flushes = require_flag(flush_subnormals, "gemm: flush_subnormals")
        written = out
        if pipeline._gives_bfloat16 and isinstance(out, np.ndarray):
            require_dtype(out, "gemm: out", "bfloat16")
            written = out.view(np.uint16)  # pass the bits: the core has no NumPy bfloat16
        result = right._native.gemm(self._native, pipeline._native, written, threads, flushes)
        if out is not None:
            return out
        return result.view(bfloat16()) if pipeline._gives_bfloat16 else result

    def __reduce__(self) -> Again:
        return again(type(self), self._array, **self._options)

    def __repr__(self) -> str:
        m, k = self.shape
        return f"{type(self).__name__}(M={m}, K={k}, {self.dtype})"


class PackAWithRowOffset(PackA):
    """A left operand that is already quantized: ``real = scale * (x - zero_point)``.

    Args:
        x: (M, K) uint8, or int8, to which 128 is added while it is packed as uint8.
        scale: a float, finite and positive, or None where no stage reads it: ``CorrectZeroPoints``
            gives integers, and takes only zero points.
        zero_point: an int within the range of the dtype of x.

    Row offsets (the sums of rows, which weights with zero points require) are computed during
    packing. Raises TypeError or ValueError for arguments of another type or out of range.

    >>> import numpy as np
    >>> PackAWithRowOffset(np.zeros((2, 3), np.uint8), scale=0.5, zero_point=128)
    PackAWithRowOffset(M=2, K=3, uint8)
    """

    def __init__(
        self,
        x: object,
        *,
        scale: float | None = None,
        zero_point: int = 0,
    ) -> None:
        self._refer(x, "uint8", "int8")
        value = None if scale is None else require_scale(scale, "PackAWithRowOffset: scale")
        limits = np.iinfo(self.dtype)
        point = require_integer(
            zero_point, "PackAWithRowOffset: zero_point", int(limits.min), int(limits.max)
        )
        self._options = {"scale": value, "zero_point": point}
        self._native = _fbg.AOperand.with_offset(self._array, value, point)


class PackAWithQuantRowOffset(PackA):
    """A float32 left operand, which is quantized to uint8 while it is packed.

    Args:
        x: (M, K) float32, any strides.
        granularity: ``"row"`` chooses a scale and a zero point for each row, so that the result for
            a row does not depend on other rows; ``"tensor"`` chooses one of each for all of x.
        row_range: (M, 2) float32, C-contiguous and aligned to 8 bytes: the minimum and the maximum
            of each row of x, as written by the `RowRange` stage of the product that computed x. The
            result is the same, but the rows are not searched again. The operand keeps a reference
            and makes no copy. Only with ``granularity="row"``.
        channel_scale: (K,) float32, copied. ``x * channel_scale`` is quantized instead of x; the
            factors cancel with weights ``w / channel_scale[:, None]``. Factors that make the
            columns of x about equally large make quantization more accurate (SmoothQuant,
            arXiv:2211.10438). Cannot be combined with `row_range`.

    The parameters are those of ONNX DynamicQuantizeLinear: ``scale = (max(x, 0) - min(x, 0)) /
    255``, ``zero_point = rint(-min / scale)`` and ``q = saturate(rint(x * (1 / scale)) +
    zero_point)``. After Dequantize, a row with a NaN or an infinity is all NaN; other rows are not
    affected. Raises TypeError or ValueError for arguments of another type or shape.

    >>> import numpy as np
    >>> PackAWithQuantRowOffset(np.ones((4, 8), np.float32))
    PackAWithQuantRowOffset(M=4, K=8, float32)
    """

    def __init__(
        self,
        x: object,
        *,
        granularity: Literal["row", "tensor"] = "row",
        row_range: npt.NDArray[np.float32] | None = None,
        channel_scale: object = None,
    ) -> None:
        require_choice(granularity, "PackAWithQuantRowOffset: granularity", "row", "tensor")
        self._refer(x, "float32")
        if row_range is None:
            factors = None if channel_scale is None else self._factors(channel_scale)
            self._options = {"granularity": granularity, "channel_scale": factors}
            self._native = _fbg.AOperand.quantized(
                self._array, granularity == "row", channel_scale=factors
            )
            return
        if channel_scale is not None:
            raise TypeError(
                "PackAWithQuantRowOffset: row_range cannot be combined with channel_scale"
            )
        if granularity != "row":
            raise TypeError("PackAWithQuantRowOffset: row_range requires granularity='row'")
        name = "PackAWithQuantRowOffset: row_range"
        extents = as_array(row_range, name, refers=True)
        require_dtype(extents, name, "float32")
        if extents.shape != (self.shape[0], 2):
            wanted = (self.shape[0], 2)
            raise ValueError(f"{name} must have shape {wanted}, got {extents.shape}")
        self._options = {"row_range": extents}
        self._native = _fbg.AOperand.quantized(self._array, row_range=extents)

    def _factors(self, channel_scale: object) -> npt.NDArray[np.float32]:
        name = "PackAWithQuantRowOffset: channel_scale"
        factors = as_array(channel_scale, name)
        require_dtype(factors, name, "float32")
        if factors.shape != (self.shape[1],):
            raise ValueError(f"{name} must have shape {(self.shape[1],)}, got {factors.shape}")
        return factors.copy()


def _other_packer(x: Array) -> str:
    """Return which packer takes what another one refuses."""
    if x.dtype in (np.int8, np.uint8):
        return "; PackAWithRowOffset(x, scale=…) takes quantized operands"
    if x.dtype == np.float32:
        return "; PackAWithQuantRowOffset(x) quantizes float32 while it packs"
    return ""


PACKERS = (PackA, PackAWithRowOffset, PackAWithQuantRowOffset)
