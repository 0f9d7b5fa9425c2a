"""Matrix products: the general ``gemm``, the float-in, float-out ``linear``, and ``prepare``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.again import again
from fbg.arrays import as_array, bfloat16, require_dtype, require_integer
from fbg.errors import require_known
from fbg.matmul.advice import advising, transposed
from fbg.matmul.packed_b import PackedB
from fbg.matmul.packers import PACKERS, PackA, PackAWithQuantRowOffset, PackAWithRowOffset
from fbg.matmul.pipeline import Pipeline, Stage

__all__ = ["PreparedCall", "linear", "multiply", "prepare"]

PreparedCall = _fbg.PreparedCall

_ACTIVATIONS = (None, "relu", "gelu")


def _threads(num_threads: int | None, name: str) -> int:
    if num_threads is None:
        return 0
    return require_integer(num_threads, f"{name}: num_threads", 1, _fbg.MAX_THREADS)


def multiply(
    a: PackA,
    packed_b: PackedB,
    pipeline: Pipeline | Stage | Iterable[Stage] | None = None,
    out: npt.NDArray[Any] | None = None,
    num_threads: int | None = None,
) -> npt.NDArray[Any]:
    """Return ``pipeline(a @ packed_b)``: `fbg.gemm`, which documents it, without `algorithm`."""
    if not isinstance(a, PackA):
        raise TypeError(f"gemm: a must be a packer such as PackA, got {type(a).__name__}")
    return a._multiply(packed_b, Pipeline.of(pipeline, "gemm"), out, num_threads)


def linear(
    x: object,
    packed_b: PackedB,
    bias: object = None,
    activation: Literal["relu", "gelu"] | None = None,
    num_threads: int | None = None,
) -> npt.NDArray[np.float32]:
    """Return ``activation(x @ w + bias)``: a linear layer with float32 inputs and outputs.

    Args:
        x: (..., K) float32. For int8 and int4 weights, each row is quantized while it is packed.
        packed_b: the weights w, (K, N), of any dtype.
        bias: (N,) float32, or None.
        activation: ``"relu"``, ``"gelu"`` or None.
        num_threads: as in `gemm`.

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
    if activation not in _ACTIVATIONS:
        raise ValueError(f"linear: activation must be one of {_ACTIVATIONS}, got {activation!r}")
    array = as_array(x, "linear: x")
    vector = None if bias is None else as_array(bias, "linear: bias")
    threads = _threads(num_threads, "linear")
    native = packed_b._native  # which checks types and shapes
    if array.ndim == 2:
        try:
            return native.linear(array, vector, activation or "", threads)
        except ValueError as error:
            hint = transposed(array.shape[1], packed_b)
            raise ValueError(f"{error}; {hint}" if hint else str(error)) from None
    require_dtype(array, "linear: x", "float32")
    k, n = packed_b.shape
    if array.ndim == 0 or array.shape[-1] != k:
        hint = transposed(array.shape[-1], packed_b) if array.ndim else ""
        said = f"linear: x must have shape (..., {k}), got {array.shape}"
        raise ValueError(f"{said}; {hint}" if hint else said)
    rows = array.reshape(math.prod(array.shape[:-1]), k)
    y = native.linear(rows, vector, activation or "", threads)
    return y.reshape(*array.shape[:-1], n)


def prepare(
    packed_b: PackedB,
    pipeline: Pipeline | Stage | Iterable[Stage] | None = None,
    *,
    rows: int,
    packer: Callable[..., PackA] | None = None,
    x_dtype: npt.DTypeLike | None = None,
    num_threads: int | None = None,
    **options: Any,
) -> PreparedCall:
    """Return ``call``: ``call(x, out)`` is ``gemm(packer(x), packed_b, pipeline, out)``.

    This is `fbg.prepare` for products, which documents the arguments and the call.

    >>> import numpy as np
    >>> import fbg
    >>> w = fbg.PackedB(np.eye(2, dtype=np.float32))
    >>> call = fbg.prepare(w, fbg.Dequantize() >> fbg.ReLU(), rows=4)
    >>> call
    PreparedCall(rows=4, K=2, N=2, PackAWithQuantRowOffset, Dequantize() >> ReLU(), num_threads=1)
    >>> out = np.empty((1, 2), call.dtype)
    >>> call(np.array([[2.0, -1.0]], np.float32), out)
    array([[2., 0.]], dtype=float32)
    """
    if not isinstance(packed_b, PackedB):
        raise TypeError(f"prepare: packed_b must be a PackedB, got {type(packed_b).__name__}")
    pipeline = Pipeline.of(pipeline, "prepare")
    rows = require_integer(rows, "prepare: rows", 1, 2**31 - 1)
    packer, dtype = _packer_for(packed_b, packer, x_dtype)
    if packer in PACKERS:
        require_known("prepare", options, prepare, packer)
    k, n = packed_b.shape
    # Packers check their options; this one, which takes no memory, stands for those of the calls.
    x = np.broadcast_to(np.zeros(1, dtype), (rows, k))
    sample: object = packer(x, **options)
    if not isinstance(sample, PackA):
        raise TypeError(f"prepare: packer must make a PackA, got {type(sample).__name__}")
    with advising(sample, packed_b, pipeline):
        return _fbg.prepare(
            sample._native,
            packed_b._native,
            pipeline._native,
            rows,
            _threads(num_threads, "prepare"),
            sample.dtype,
            bfloat16() if pipeline._gives_bfloat16 else None,
            f"rows={rows}, K={k}, N={n}, {type(sample).__name__}, {pipeline}",
            again(
                prepare,
                packed_b,
                pipeline,
                rows=rows,
                packer=type(sample),
                x_dtype=sample.dtype,
                num_threads=num_threads,
                **sample._options,
            ),
        )


def _packer_for(
    packed_b: PackedB, packer: Callable[..., PackA] | None, x_dtype: npt.DTypeLike | None
) -> tuple[Callable[..., PackA], npt.DTypeLike]:
    """Return the packer and the dtype of x: those given, or the defaults for the weights."""
    integer = packed_b.dtype == np.int8 or packed_b.group is not None
    if isinstance(x_dtype, str) and x_dtype == "bfloat16":
        x_dtype = bfloat16()
    if packer is None:
        as_it_is = not integer or (x_dtype is not None and np.dtype(x_dtype) == np.uint8)
        packer = PackA if as_it_is else PackAWithQuantRowOffset
    if x_dtype is None:
        quantized = packer is PackAWithRowOffset or (packer is PackA and integer)
        x_dtype = np.uint8 if quantized else np.float32
    return packer, x_dtype
