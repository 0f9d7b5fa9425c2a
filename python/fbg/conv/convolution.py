"""The call that convolves: arguments checked, a prepared convolution found or made, run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

import numpy as np

from fbg import _fbg
from fbg.arrays import (
    Array,
    as_array,
    bfloat16,
    has_dense_rows,
    is_bfloat16,
    no_array,
    require_choice,
    require_dtype,
    require_flag,
    require_integer,
    require_scale,
    shown,
)
from fbg.conv.packed_conv import PackedConv
from fbg.matmul.pipeline import GELU, Bias, Dequantize, Pipeline, ReLU, Sigmoid, Stage, Tanh
from fbg.tuning.store import conv_key, store

Stages = Pipeline | Stage | Iterable[Stage] | None
Activation = Literal["relu", "gelu", "sigmoid", "tanh"]

MAX_PREPARED = 16  # convolutions of different shapes that are kept ready for one set of weights

# Where x.ndim needs axes of size 1, so that images of any rank become three-dimensional.
_LEADING_AXES = {3: (1, 1), 4: (1,)}

# Made once, because making them would take a third of the time of the smallest calls.
_DEQUANTIZE = Dequantize()
_ACTIVATIONS: dict[str, Stage] = {
    "relu": ReLU(),
    "gelu": GELU(),
    "sigmoid": Sigmoid(),
    "tanh": Tanh(),
}


class Quantization:
    """How x is quantized: its own scale and zero point, or those found for each image.

    source: "native" (uint8 and float32), "int8", "quantize" (float32 with int8 weights), or
        "bfloat16". The core also knows "round": float32, rounded for weights of bfloat16.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        wc: PackedConv,
        scale: object,
        zero_point: object,
        function: str = "conv",
    ) -> None:
        self.scale, self.zero_point = 1.0, 0
        self.has_scale = scale is not None
        integer = wc._is_integer
        if not integer or dtype == np.float32:
            point = require_integer(zero_point, f"{function}: zero_point", -128, 255)
            if scale is not None or point != 0:
                raise TypeError(
                    f"{function}: scale and zero_point require a quantized x, got {dtype}"
                )
            self.source = "quantize" if integer else "native"
            if dtype.name == "bfloat16":
                self.source = "bfloat16"
            return
        self.source = "int8" if dtype == np.int8 else "native"
        if scale is not None:
            self.scale = require_scale(scale, f"{function}: scale")
        limits = np.iinfo(dtype)
        self.zero_point = require_integer(
            zero_point, f"{function}: zero_point", int(limits.min), int(limits.max)
        )

    @property
    def is_real(self) -> bool:
        """Whether sums can be turned into real numbers."""
        return self.has_scale or self.source == "quantize"


def conv(
    x: object,
    wc: PackedConv,
    pipeline: Stages = None,
    *,
    scale: float | None = None,
    zero_point: int = 0,
    bias: object = None,
    activation: Activation | None = None,
    algorithm: str | None = None,
    exact: bool = False,
    out: Array | None = None,
    num_threads: int | None = None,
    flush_subnormals: bool = False,
) -> Array:
    """Return ``pipeline(conv(x, w))``, channels last: (N, *output, O).

    Args:
        x: (N, *spatial, I). float32 with float weights, or ``ml_dtypes.bfloat16`` with bfloat16
            weights, which are then multiplied by the bfloat16 dot product and summed in float32;
            uint8 or int8 with int8 weights, or float32, which is quantized per image as it is read.
        wc: the weights and the geometry of the convolution.
        pipeline: stages applied to each tile while it is in registers. Without one, floats give
            float32, and quantized x gives raw int32 sums of products, which are not corrected for
            zero points; pixels outside the image count as `zero_point`.
        scale, zero_point: parameters of quantized x: ``real = scale * (x - zero_point)``.
        bias: float32 (O,), added after dequantization. `bias` and `activation` replace a pipeline.
        activation: ``"relu"``, ``"gelu"``, ``"sigmoid"`` or ``"tanh"``.
        algorithm: the name of one of ``wc.algorithms(x.shape)``, or ``"direct"`` for the cheapest
            of those that compute plain sums; None chooses the one with the lowest modelled cost.
        exact: leave out algorithms whose rounding differs from that of a plain sum.
        out: the array to write to, with the type and shape of the result. Its pixels may be any
            equal distance apart.
        num_threads: 1 or more; default `get_num_threads()`, or 1 for a small convolution.
        flush_subnormals: as in `gemm`.

    An image's result does not depend on the others of its batch, nor on the number of threads.

    Raises:
        TypeError: operands, stages or `out` whose types do not go together.
        ValueError: shapes that do not match, an algorithm that does not apply.

    >>> import numpy as np
    >>> import fbg
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    >>> w = fbg.PackedConv(np.ones((1, 1, 3, 3), np.float32), dtype="float32")
    >>> fbg.conv(x, w)[0, :, :, 0]
    array([[45., 54.],
           [81., 90.]], dtype=float32)
    """
    if not isinstance(wc, PackedConv):
        raise TypeError(f"conv: wc must be a PackedConv, got {type(wc).__name__}")
    array = dense_channels(checked(x, wc, "conv: x"))
    quant = Quantization(array.dtype, wc, scale, zero_point)
    stages = pipeline_of(pipeline, bias, activation, quant, wc, "conv")
    prepared = find_prepared(wc, array.shape, stages, quant, algorithm, exact, num_threads, "conv")
    return run_prepared(prepared, array, wc, stages, quant, out, flush_subnormals, "conv")


def checked(x: object, wc: PackedConv, name: str) -> Array:
    array = as_array(x, name)
    require_dtype(array, name, *wc.x_dtypes)
    wc.check_shape(array.shape, f"{name} must have shape")
    return array


def dense_channels(array: Array) -> Array:
    """Return x as kernels read it: copied if necessary."""
    return array if has_dense_rows(array) else np.array(array, order="C")


def pipeline_of(
    pipeline: Stages,
    bias: object,
    activation: str | None,
    quant: Quantization,
    wc: PackedConv,
    function: str,
) -> Pipeline:
    require_choice(activation, f"{function}: activation", *_ACTIVATIONS, None)
    if pipeline is not None:
        if bias is not None or activation is not None:
            raise TypeError(f"{function}: bias and activation cannot be combined with a pipeline")
        return Pipeline.of(pipeline, function)
    gives_sums = quant.source != "quantize" and bias is None and activation is None
    dequantizes = wc._is_integer and not gives_sums
    if bias is None:
        return _pipeline(dequantizes, activation)
    stages: list[Stage] = [_DEQUANTIZE] if dequantizes else []
    stages.append(Bias(_bias(bias, wc, f"{function}: bias")))
    if activation is not None:
        stages.append(_ACTIVATIONS[activation])
    return Pipeline(stages)


@cache
def _pipeline(dequantizes: bool, activation: str | None) -> Pipeline:
    """Return the pipeline of a call without a bias."""
    stages: list[Stage] = [_DEQUANTIZE] if dequantizes else []
    return Pipeline(stages if activation is None else [*stages, _ACTIVATIONS[activation]])


def _bias(bias: object, wc: PackedConv, name: str) -> Array:
    array = as_array(bias, name)
    require_dtype(array, name, "float32")
    if array.shape != (wc.out_channels,):
        raise ValueError(f"{name} must have shape ({wc.out_channels},), got {array.shape}")
    return array


def find_prepared(
    wc: PackedConv,
    shape: tuple[int, ...],
    pipeline: Pipeline,
    quant: Quantization,
    algorithm: str | None,
    exact: bool,
    num_threads: int | None,
    name: str,
) -> Any:
    """Return the native convolution for a shape that has been checked, from those that the weights
    keep."""
    threads = 0
    if num_threads is not None:
        threads = require_integer(num_threads, f"{name}: num_threads", 1, _fbg.MAX_THREADS)
    if algorithm is not None and not isinstance(algorithm, str):
        raise TypeError(f"{name}: algorithm must be a name or None, got {shown(algorithm)}")
    require_flag(exact, f"{name}: exact")
    kinds = tuple(stage._native.key for stage in pipeline.stages)
    # Read once: another thread may change the limit meanwhile.
    features = _fbg.active_features()
    key = (
        shape,
        kinds,
        quant.source,
        quant.is_real,
        algorithm or "",
        exact,
        threads or _fbg.num_threads(),
        features,
    )

    def prepare() -> Any:
        stages = pipeline._native
        batch, spatial = wc.check_shape(shape, f"{name}: x must have shape")
        native = wc._native_for(quant.source)
        known = conv_key(native, wc.geometry, spatial, stages, quant.source, features)
        return native.prepare(
            batch,
            spatial,
            stages,
            quant.source,
            quant.is_real,
            algorithm or "",
            store.algorithm(known),
            exact,
            threads,
            features,
        )

    try:
        return wc._prepared.get(key, prepare, MAX_PREPARED)
    except ValueError as error:
        if "larger than that of the padded input" not in str(error):
            raise
        raise ValueError(f"{error}{wc.layout_hint(wc.in_channels)}") from None


def run_prepared(
    prepared: Any,
    x: Array,
    wc: PackedConv,
    pipeline: Pipeline,
    quant: Quantization,
    out: Array | None,
    flush_subnormals: bool,
    name: str,
) -> Array:
    """Run it on x and return the result, (N, *output, O)."""
    axes = wc.spatial_axes
    batch, output = prepared.output
    shape = (batch, *output[3 - axes :], wc.out_channels)
    flushes = require_flag(flush_subnormals, f"{name}: flush_subnormals")
    return run_shaped(prepared, x, shape, pipeline, quant, out, flushes, name)


def run_shaped(
    prepared: Any,
    x: Array,
    shape: tuple[int, ...],
    pipeline: Pipeline,
    quant: Quantization,
    out: Array | None,
    flushes: bool,
    name: str,
) -> Array:
    """Run it on x, whose channels are dense, for a result of the given shape."""
    x = x.view(np.uint16) if is_bfloat16(x) else x  # pass the bits: the core has no such type
    full = x if x.ndim == 5 else x.reshape(x.shape[0], *_LEADING_AXES[x.ndim], *x.shape[1:])
    rows = None if out is None else rows_of(out, shape, pipeline, f"{name}: out")
    y: Array = prepared.run(full, pipeline._native, quant.scale, quant.zero_point, rows, flushes)
    if out is not None:
        return out
    if pipeline._gives_bfloat16:
        y = y.view(bfloat16())
    return y.reshape(shape)


def rows_of(out: object, shape: tuple[int, ...], pipeline: Pipeline, name: str) -> Array:
    """Return `out` as a matrix of pixels by channels that shares its memory."""
    if not isinstance(out, np.ndarray):
        raise no_array(out, name)
    if out.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {out.shape}")
    if pipeline._gives_bfloat16:
        require_dtype(out, name, "bfloat16")
        out = out.view(np.uint16)
    rows = out.reshape(math.prod(shape[:-1]), shape[-1])
    if not out.flags.c_contiguous and rows.size and not np.shares_memory(rows, out):
        raise ValueError(
            f"{name} must have contiguous channels and equally spaced pixels, "
            f"got strides {out.strides}"
        )
    return rows
