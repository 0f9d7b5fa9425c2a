"""`prepare`: products and convolutions that are validated once and then called many times.

Preparing a call does everything that does not depend on the elements of x. ``call(x, out)`` then
only checks its two arrays and allocates nothing; for a small product it takes a fraction of the
time of `gemm`. x is a NumPy array of the prepared dtype with any strides; `out` is a NumPy array of
``call.dtype`` with contiguous rows, and is returned. Without `out`, a new array is returned.
Several threads may use a prepared call at the same time, unless its pipeline ends in `RowRange`,
which writes to one array. It keeps the kernels of the ISA that was active when it was prepared. It
refers to the arrays of its stages: later calls see changes to them.

The call of a product accepts x of shape (M, K) with M at most `rows`; the residual of `Add` has
`rows` rows, of which a call uses the first M. Its attributes are ``rows``, ``shape`` (K, N),
``dtype`` and ``num_threads``. The call of a convolution accepts x of exactly the prepared shape.
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
    weights: PackedB, pipeline: Stages = None, *, rows: int, algorithm: str, **options: Any
) -> product.StrassenCall: ...
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
) -> product.PreparedCall | product.StrassenCall | PreparedConv:
    """Return a function ``call(x, out=None)`` that applies `weights` and `pipeline` to x.

    Args:
        weights: `PackedB` for a product, `PackedConv` for a convolution.
        pipeline: as in `gemm` and `conv`.
        options: for a product: ``rows``, the most rows of any x; ``packer``, the class that packs
            x: `PackAWithQuantRowOffset` (the default for int8 weights), `PackA` (the default for
            float weights and for uint8 x) or `PackAWithRowOffset`; ``x_dtype``, by default uint8
            for `PackAWithRowOffset` and for `PackA` with int8 weights, otherwise float32;
            ``num_threads``; ``algorithm="strassen"``, as in `gemm`, for x of exactly `rows` rows;
            and the options of the packer, such as ``granularity``, ``scale`` and
            ``zero_point``, or a ``row_range`` with `rows` rows. For a convolution: ``shape``, the
            shape of every x; ``x_dtype``, ``scale``, ``zero_point``, ``algorithm``, ``exact`` and
            ``num_threads`` as in `conv`.

    Raises the errors of `gemm` and `conv`.

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
