"""`prepare`: one name for calls that are validated once, of products and of convolutions.

A prepared call does once what does not depend on the elements of x: ``call(x, out)`` checks its two
arrays, allocates nothing, and for a small product takes a fraction of the time of `gemm`. It takes
NumPy arrays: x of the dtype that was prepared, with any strides, and `out` of ``call.dtype`` with
contiguous rows, and returns `out`; without `out`, a new array, which may serve as `out` from then
on. Several threads may call it at once (one at a time where the pipeline ends in `RowRange`, whose
array they share). It keeps the kernels of the ISA that was active when it was made. Arrays of
stages are bound: changes made in place are seen by later calls.

A call of a product takes x (M, K) with M at most `rows`; the residual of `Add` has `rows` rows, of
which a call uses the first. It has ``rows``, ``shape`` (K, N), ``dtype`` and ``num_threads``. A
call of a convolution takes x of exactly the prepared shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

from fbg.conv.convolution import PreparedConv
from fbg.conv.packed_conv import PackedConv
from fbg.matmul import product
from fbg.matmul.packed_b import PackedB
from fbg.matmul.pipeline import Pipeline, Stage

__all__ = ["prepare"]

Stages = Pipeline | Stage | Iterable[Stage] | None


@overload
def prepare(
    weights: PackedB, pipeline: Stages = None, *, rows: int, **options: Any
) -> product.PreparedCall: ...
@overload
def prepare(
    weights: PackedConv, pipeline: Stages = None, *, shape: tuple[int, ...], **options: Any
) -> PreparedConv: ...
def prepare(
    weights: PackedB | PackedConv, pipeline: Stages = None, **options: Any
) -> product.PreparedCall | PreparedConv:
    """Return ``call``: ``call(x, out)`` computes with `weights` and `pipeline`, validated once.

    Args:
        weights: `PackedB`, of a product, or `PackedConv`, of a convolution.
        pipeline: as in `gemm` and `conv`.
        options: of a product: ``rows``, the most rows that an x will have; ``packer``, how x is
            read: `PackAWithQuantRowOffset` (default with int8 weights), `PackA` (default with float
            weights and with a uint8 x) or `PackAWithRowOffset`; ``x_dtype`` (default uint8 for
            `PackAWithRowOffset` and for `PackA` with int8 weights, otherwise float32);
            ``num_threads``; and those of the packer, such as ``granularity``, ``scale`` and
            ``zero_point``, or a ``row_range`` of `rows` rows. Of a convolution: ``shape``, that of
            every x; ``x_dtype``, ``scale``, ``zero_point``, ``algorithm``, ``exact`` and
            ``num_threads``, as in `conv`.

    Raises TypeError and ValueError as `gemm` and `conv` do.

    >>> import numpy as np
    >>> import fbg
    >>> w = fbg.PackedB(np.eye(2, dtype=np.float32))
    >>> call = fbg.prepare(w, fbg.Dequantize() >> fbg.ReLU(), rows=4)
    >>> call(np.array([[2.0, -1.0]], np.float32))
    array([[2., 0.]], dtype=float32)
    """
    if isinstance(weights, PackedConv):
        return PreparedConv(weights, pipeline, **options)
    return product.prepare(weights, pipeline, **options)
