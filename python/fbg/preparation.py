"""`prepare`: one name for calls that are validated once, of products and of convolutions."""

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
        options: of a product ``rows`` (the most that an x will have), ``packer``, ``x_dtype``,
            ``num_threads`` and those of the packer (`fbg.matmul.product.prepare`); of a convolution
            ``shape`` (of every x), ``x_dtype``, ``scale``, ``zero_point``, ``algorithm``, ``exact``
            and ``num_threads``, as in `conv`.

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
