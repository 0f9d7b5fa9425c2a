"""`gemm`, and `prepare`: products and convolutions that are validated once, then called many times.

`gemm` chooses between the ordinary product and the algorithms that products share with
convolutions.

Preparing a call does everything that does not depend on the elements of x. ``call(x, out)`` then
only checks its two arrays and allocates nothing; for a small product it takes a fraction of the
time of `gemm`. x is a NumPy array of the prepared dtype with any strides; `out` is a NumPy array of
``call.dtype`` with contiguous rows, and is returned. Without `out`, a new array is returned.
Several threads may use a prepared call at the same time, unless its pipeline ends in `RowRange`,
which writes to one array. It keeps the kernels of the ISA that was active when it was prepared. It
refers to the arrays of its stages: later calls see changes to them. A pickle or a copy of it is
prepared anew where it is loaded, for the ISA that is active there; a deep copy has its own arrays.

The call of a product accepts x of shape (M, K) with M at most `rows`; the residual of `Add` has
`rows` rows, of which a call uses the first M. Its attributes are ``rows``, ``shape`` (K, N),
``dtype`` and ``num_threads``. The call of a convolution accepts x of exactly the prepared shape,
and so does that of a product with ``algorithm="strassen"``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

import numpy.typing as npt

from fbg.conv.packed_conv import PackedConv
from fbg.conv.prepared_conv import PreparedConv
from fbg.conv.strassen import StrassenCall
from fbg.matmul import product
from fbg.matmul.packed_b import PackedB
from fbg.matmul.packers import PackA
from fbg.matmul.pipeline import Pipeline, Stage

Stages = Pipeline | Stage | Iterable[Stage] | None


def gemm(
    a: PackA,
    packed_b: PackedB,
    pipeline: Stages = None,
    out: npt.NDArray[Any] | None = None,
    num_threads: int | None = None,
    algorithm: str | None = None,
    flush_subnormals: bool = False,
) -> npt.NDArray[Any]:
    """Return ``pipeline(a @ packed_b)``, an (M, N) array.

    Args:
        a: the left operand, (M, K): `PackA`, `PackAWithRowOffset` or `PackAWithQuantRowOffset`.
        packed_b: the right operand, (K, N).
        pipeline: the stages that are applied to each tile of the result while it is in registers.
            Without stages, the result is float32, or for int8 weights the int32 sums of products of
            the quantized values.
        out: the array to write to, (M, N) of the type that the pipeline returns. Its rows must be
            contiguous and may be any distance apart. It may be the residual of `Add`, but must not
            overlap the array of `a`. Default: a new array.
        num_threads: within [1, 1024]; default `get_num_threads()`, or 1 for a small product.
        algorithm: None for the ordinary product. ``"strassen1"`` and ``"strassen2"`` multiply
            float32 matrices with one or two levels of Strassen's algorithm, ``"strassen"`` with
            the number of levels with the lowest modelled cost. K must be a multiple of 2 (for two
            levels of 4), and N of 32 (64). The first such product packs the weights once more.
        flush_subnormals: take floats nearer to 0 than 2⁻¹²⁶ for zeros, as networks do, in operands
            and results of each step. Otherwise they are kept, whatever the mode of the thread,
            which may take a hundred times as long.

    Returns `out`. The result is bit-for-bit the same for every number of threads. Without
    `algorithm`, none of its rows depends on the other rows.

    Raises:
        TypeError: if the types of operands, stages and `out` do not match.
        ValueError: if shapes do not match, or if K of int8 weights exceeds 65793 (33025 with a
            pipeline), beyond which int32 sums could overflow.

    >>> import numpy as np
    >>> import fbg
    >>> x = np.array([[1.0, -2.0], [0.5, 0.25]], np.float32)
    >>> w = fbg.PackedB(np.eye(2, dtype=np.float32))
    >>> y = fbg.gemm(fbg.PackAWithQuantRowOffset(x), w, fbg.Dequantize() >> fbg.ReLU())
    >>> np.round(y, 2)
    array([[1.  , 0.  ],
           [0.5 , 0.25]], dtype=float32)
    """
    if algorithm is None or not isinstance(packed_b, PackedB):
        return product.multiply(a, packed_b, pipeline, out, num_threads, flush_subnormals)
    stages = Pipeline.of(pipeline, "gemm")
    call = StrassenCall.of_packed(a, packed_b, stages, algorithm, num_threads, flush_subnormals)
    return call(a._array, out)


@overload
def prepare(
    weights: PackedB, pipeline: Stages = None, *, rows: int, algorithm: str, **options: Any
) -> StrassenCall: ...
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
) -> product.PreparedCall | StrassenCall | PreparedConv:
    """Return a function ``call(x, out=None)`` that applies `weights` and `pipeline` to x.

    Args:
        weights: `PackedB` for a product, `PackedConv` for a convolution.
        pipeline: as in `gemm` and `conv`.
        options: for a product: ``rows``, the most rows of any x; ``packer``, the class that packs
            x: `PackAWithQuantRowOffset` (the default for int8 weights), `PackA` (the default for
            float weights and for uint8 x) or `PackAWithRowOffset`; ``x_dtype``, by default uint8
            for `PackAWithRowOffset` and for `PackA` with int8 weights, otherwise float32;
            ``num_threads`` and ``flush_subnormals``, as in `gemm`; ``algorithm="strassen"``, as
            there, for x of exactly `rows` rows; and the options of the packer, such as
            ``granularity``, ``scale`` and ``zero_point``, or a ``row_range`` with `rows` rows. For
            a convolution: ``shape``, the shape of every x; ``x_dtype``, ``scale``, ``zero_point``,
            ``algorithm``, ``exact``, ``num_threads`` and ``flush_subnormals`` as in `conv`.

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
    if not isinstance(weights, PackedB):
        raise TypeError(
            f"prepare: weights must be a PackedB or a PackedConv, got {type(weights).__name__}"
        )
    algorithm = options.pop("algorithm", None)
    if algorithm is None:
        return product.prepare(weights, pipeline, **options)
    stages = Pipeline.of(pipeline, "prepare")
    return StrassenCall.of_options(weights, stages, algorithm, **options)
