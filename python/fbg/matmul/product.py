"""Matrix products: the general ``gemm``, the float-in, float-out ``linear``, and ``prepare``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.again import again
from fbg.arrays import (
    Array,
    as_array,
    bfloat16,
    require_choice,
    require_dtype,
    require_dtype_name,
    require_flag,
    require_integer,
    shown,
)
from fbg.matmul.packed_b import PackedB
from fbg.matmul.packers import PACKERS, PackA, PackAWithQuantRowOffset, PackAWithRowOffset
from fbg.matmul.pipeline import Pipeline, Stage

PreparedCall = _fbg.PreparedCall
Stages = Pipeline | Stage | Iterable[Stage] | None

_X_DTYPES = ("float32", "bfloat16", "uint8", "int8")


def _threads(num_threads: int | None, name: str) -> int:
    if num_threads is None:
        return 0
    if type(num_threads) is int and 0 < num_threads <= _fbg.MAX_THREADS:
        return num_threads  # without a text for small products to wait for
    return require_integer(num_threads, f"{name}: num_threads", 1, _fbg.MAX_THREADS)


def gemm(
    a: PackA,
    packed_b: PackedB,
    pipeline: Stages = None,
    out: npt.NDArray[Any] | None = None,
    num_threads: int | None = None,
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
        flush_subnormals: take floats nearer to 0 than 2⁻¹²⁶ for zeros, as networks do, in operands
            and results of each step. Otherwise they are kept, whatever the mode of the thread,
            which may take a hundred times as long.

    Returns `out`. The result is bit-for-bit the same for every number of threads, and none of its
    rows depends on the other rows.

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
    if not isinstance(a, PackA):
        raise TypeError(f"gemm: a must be a packer such as PackA, got {type(a).__name__}")
    stages = Pipeline.of(pipeline, "gemm")
    return a._multiply(packed_b, stages, out, num_threads, flush_subnormals)


def linear(
    x: object,
    packed_b: PackedB,
    bias: object = None,
    activation: Literal["relu", "gelu"] | None = None,
    num_threads: int | None = None,
    flush_subnormals: bool = False,
    dtype: Literal["bfloat16"] | None = None,
) -> npt.NDArray[np.float32]:
    """Return ``activation(x @ w + bias)``: a linear layer with float32 inputs and outputs.

    Args:
        x: (..., K) float32. For int8 and int4 weights, each row is quantized while it is packed.
        packed_b: the weights w, (K, N), of any dtype.
        bias: (N,) float32, or None.
        activation: ``"relu"``, ``"gelu"`` or None.
        num_threads, flush_subnormals: as in `gemm`.
        dtype: ``"bfloat16"`` rounds `x` to bfloat16, so that bfloat16 weights are multiplied by the
            bfloat16 dot-product instruction, up to twice as fast. None multiplies them in float32,
            which loses nothing of `x`.

    Returns (..., N) float32.

    Raises TypeError for a wrong dtype, ValueError for shapes that do not match, an unknown
    activation or a number of threads out of range.

    >>> import numpy as np
    >>> import fbg
    >>> w = fbg.PackedB(np.eye(2, dtype=np.float32), dtype="float32")
    >>> fbg.linear(np.array([1.5, -1.0], np.float32), w, activation="relu")
    array([1.5, 0. ], dtype=float32)
    """
    if not isinstance(packed_b, PackedB):
        raise TypeError(f"linear: packed_b must be a PackedB, got {type(packed_b).__name__}")
    if activation is not None:  # which would take a tenth of a small product to check
        require_choice(activation, "linear: activation", "relu", "gelu", None)
    # The native function checks the layout of an array too, and small products wait for each check.
    array = x if isinstance(x, np.ndarray) else as_array(x, "linear: x")
    vector = None if bias is None else as_array(bias, "linear: bias")
    threads = 0 if num_threads is None else _threads(num_threads, "linear")
    if flush_subnormals is not False:
        flush_subnormals = require_flag(flush_subnormals, "linear: flush_subnormals")
    rounds = dtype is not None and _rounds(dtype, packed_b)
    options = (vector, activation or "", threads, flush_subnormals, rounds)
    try:
        if array.ndim == 2:  # the native function checks types and shapes
            return packed_b._native.linear(array, *options)
        rows = array.reshape(math.prod(array.shape[:-1]), array.shape[-1] if array.ndim else 1)
        y = packed_b._native.linear(rows, *options)
    except (TypeError, ValueError) as error:
        if not array.flags.aligned:
            copy = array.copy()
            return linear(copy, packed_b, bias, activation, num_threads, flush_subnormals, dtype)
        raise _refused_by_linear(error, array, vector, packed_b) from None
    return y.reshape(*array.shape[:-1], y.shape[1])


def _rounds(dtype: object, packed_b: PackedB) -> bool:
    """Whether `linear` rounds x to this dtype, which is not None; raises errors."""
    require_choice(dtype, "linear: dtype", "bfloat16", None)
    if packed_b.dtype != bfloat16():
        raise TypeError(
            f"linear: dtype='bfloat16' requires bfloat16 weights, got weights of {packed_b.dtype}"
        )
    return True


def _refused_by_linear(
    error: Exception, x: Array, bias: Array | None, packed_b: PackedB
) -> Exception:
    """Return the message for operands that `linear` refuses: their error, or `error`."""
    require_dtype(x, "linear: x", "float32")
    k = packed_b.shape[0]
    if x.ndim == 0 or x.shape[-1] != k:
        return ValueError(f"linear: x must have shape (..., {k}), got {x.shape}")
    if bias is not None:
        require_dtype(bias, "linear: bias", "float32")
    if packed_b.dtype == np.int8 and packed_b.scale is None:
        return TypeError("linear: packed_b must have a scale: pass PackedB(w, scale=…)")
    return error


def prepare_product(
    packed_b: PackedB,
    pipeline: Stages,
    *,
    rows: int,
    packer: Callable[..., PackA] | None = None,
    x_dtype: npt.DTypeLike | None = None,
    num_threads: int | None = None,
    flush_subnormals: bool = False,
    **options: Any,
) -> PreparedCall:
    """Return the call that `fbg.prepare` makes of a product."""
    pipeline = Pipeline.of(pipeline, "prepare")
    rows = require_integer(rows, "prepare: rows", 1, 2**31 - 1)
    threads = _threads(num_threads, "prepare")
    flushes = require_flag(flush_subnormals, "prepare: flush_subnormals")
    packer, dtype = _packer_for(packed_b, packer, x_dtype)
    k, n = packed_b.shape
    # Packers check their options; this one, which takes no memory, represents those of calls.
    sample = _packed_by(packer, np.broadcast_to(np.zeros(1, dtype), (rows, k)), options)
    return _fbg.prepare(
        sample._native,
        packed_b._native,
        pipeline._native,
        rows,
        threads,
        flushes,
        sample.dtype,
        bfloat16() if pipeline._gives_bfloat16 else None,
        f"rows={rows}, K={k}, N={n}, {type(sample).__name__}, {pipeline}",
        again(
            prepare_product,
            packed_b,
            pipeline,
            rows=rows,
            packer=type(sample),
            x_dtype=sample.dtype,
            num_threads=num_threads,
            flush_subnormals=flushes,
            **sample._options,
        ),
    )


def _packer_for(
    packed_b: PackedB, packer: Callable[..., PackA] | None, x_dtype: npt.DTypeLike | None
) -> tuple[Callable[..., PackA], np.dtype[Any]]:
    """Return the packer and the dtype of x: those given, or the defaults for the weights."""
    integer = packed_b.dtype == np.int8 or packed_b.group is not None
    name = None
    if x_dtype is not None:
        name = require_dtype_name(x_dtype, "prepare: x_dtype", *_X_DTYPES)
    if packer is None:
        packer = PackA if not integer or name == "uint8" else PackAWithQuantRowOffset
    chosen: object = packer
    if not callable(chosen):
        known = ", ".join(each.__name__ for each in PACKERS)
        raise TypeError(
            f"prepare: packer must be a class such as {known}, or a function that makes one of an "
            f"x, got {shown(packer)}"
        )
    if name is None:
        quantized = packer is PackAWithRowOffset or (packer is PackA and integer)
        name = "uint8" if quantized else "float32"
    return packer, bfloat16() if name == "bfloat16" else np.dtype(name)


def _packed_by(packer: Callable[..., PackA], x: Array, options: dict[str, Any]) -> PackA:
    """Return the operand that the packer makes of x; raises TypeError unless it is a PackA."""
    name = getattr(packer, "__name__", type(packer).__name__)
    if packer in PACKERS:
        return packer(x, **options)
    try:
        sample: object = packer(x, **options)
    except (TypeError, ValueError) as error:
        raise type(error)(f"prepare: packer {name} refused an x of zeros: {error}") from error
    if not isinstance(sample, PackA):
        raise TypeError(f"prepare: packer must make a PackA, got {type(sample).__name__}")
    return sample
