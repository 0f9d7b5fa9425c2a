"""Convolution as a product: the packer that gathers patches while the product runs."""

from __future__ import annotations

import math

from fbg.arrays import Array
from fbg.conv.convolution import (
    Quantization,
    checked,
    dense_channels,
    find_prepared,
    rows_of,
    run_prepared,
)
from fbg.conv.packed_conv import PackedConv
from fbg.matmul.packers import PackA
from fbg.matmul.pipeline import Pipeline


class PackAWithIm2Col(PackA):
    """The patches of x as rows of a product: ``fbg.gemm(PackAWithIm2Col(x, wc), wc, pipeline)``.

    Args:
        x: (N, *spatial, I), as in `conv`. It is referred to, not copied.
        wc: the convolution, whose geometry says what a patch is; it is also the right operand.
        scale, zero_point: for quantized x, as in `conv`.

    The product is the convolution as rows: (N * output pixels, O), the same numbers as those of
    ``conv(x, wc, pipeline, algorithm="im2col")``. Patches are gathered a block at a time, while the
    product runs; a matrix of all of them never exists.

    >>> import numpy as np
    >>> import fbg
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    >>> w = fbg.PackedConv(np.ones((1, 1, 3, 3), np.float32), dtype="float32")
    >>> fbg.gemm(fbg.PackAWithIm2Col(x, w), w)
    array([[45.],
           [54.],
           [81.],
           [90.]], dtype=float32)
    """

    def __init__(
        self, x: object, wc: PackedConv, *, scale: float | None = None, zero_point: int = 0
    ) -> None:
        if not isinstance(wc, PackedConv):
            raise TypeError(f"PackAWithIm2Col: wc must be a PackedConv, got {type(wc).__name__}")
        self._array = dense_channels(checked(x, wc, "PackAWithIm2Col: x"))
        self._wc = wc
        self._options = {"wc": wc, "scale": scale, "zero_point": zero_point}
        self._quant = Quantization(self._array.dtype, wc, scale, zero_point, "PackAWithIm2Col")

    @property
    def shape(self) -> tuple[int, int]:
        """(M, K): output pixels of all images, and products for an output element."""
        pixels = math.prod(self._wc.output_shape(self._array.shape)[:-1])
        depth = math.prod(self._wc.shape[2:]) * self._wc.in_channels // self._wc._groups
        return pixels, depth

    def _multiply(
        self,
        right: object,
        pipeline: Pipeline,
        out: Array | None,
        num_threads: int | None,
        flush_subnormals: bool,
    ) -> Array:
        wc = right
        if not isinstance(wc, PackedConv) or not self._wc.is_like(wc):
            raise TypeError(
                "gemm: packed_b must be the PackedConv that the PackAWithIm2Col was made for, "
                f"{self._wc!r}, or a copy, got {wc!r}"
            )
        shape = wc.output_shape(self._array.shape)
        rows = (math.prod(shape[:-1]), shape[-1])
        prepared = find_prepared(
            wc, self._array.shape, pipeline, self._quant, "im2col", False, num_threads, "gemm"
        )
        out_pixels = None
        if out is not None:
            rows_of(out, rows, pipeline, "gemm: out")
            out_pixels = out.reshape(shape)
        y = run_prepared(
            prepared, self._array, wc, pipeline, self._quant, out_pixels, flush_subnormals, "gemm"
        )
        return y.reshape(rows) if out is None else out
