"""The call that convolves: arguments checked, a prepared convolution found or made, run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.again import Again, again
from fbg.arrays import (
    as_array,
    bfloat16,
    has_dense_rows,
    require_dtype,
    require_integer,
    require_scale,
)
from fbg.conv.packed_conv import PackedConv
from fbg.conv.tuned import Trial, choices, key_of
from fbg.matmul.pipeline import GELU, Bias, Dequantize, Pipeline, ReLU, Sigmoid, Stage, Tanh

__all__ = ["PreparedConv", "conv"]

Array = npt.NDArray[Any]
Stages = Pipeline | Stage | Iterable[Stage] | None
Activation = Literal["relu", "gelu", "sigmoid", "tanh"]

# Axes of size 1 that make images of any number of axes three-dimensional, by x.ndim.
_LEADING_AXES = {3: (1, 1), 4: (1,)}

_ACTIVATIONS: dict[str, Callable[[], Stage]] = {
    "relu": ReLU,
    "gelu": GELU,
    "sigmoid": Sigmoid,
    "tanh": Tanh,
}


class Quantization:
    """How x is quantized: its own scale and zero point, or those found for each image.

    source: as the core names it: "native" (uint8 and floats), "int8", or "quantize" (float32 with
        int8 weights).
    """

    def __init__(
        self, dtype: np.dtype[Any], wc: PackedConv, scale: object, zero_point: object
    ) -> None:
        self.scale, self.zero_point = 1.0, 0
        self.has_scale = scale is not None
        integer = wc.dtype == np.int8
        if not integer or dtype == np.float32:
            if scale is not None or zero_point != 0:
                raise TypeError(f"conv: scale and zero_point require a quantized x, got {dtype}")
            self.source = "quantize" if integer else "native"
            return
        self.source = "int8" if dtype == np.int8 else "native"
        if scale is not None:
            self.scale = require_scale(scale, "conv: scale")
        limits = np.iinfo(dtype)
        self.zero_point = require_integer(
            zero_point, "conv: zero_point", int(limits.min), int(limits.max)
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
) -> Array:
    """Return ``pipeline(conv(x, w))``, channels last: (N, *output, O).

    Args:
        x: (N, *spatial, I). float32 with float weights; uint8 or int8 with int8 weights, or
            float32, which is quantized per image as it is read.
        wc: the weights and the geometry of the convolution.
        pipeline: stages applied to each tile while it is in registers. Without one, float32 x gives
            float32, and quantized x gives raw int32 sums of products, which are not corrected for
            zero points; pixels outside the image count as `zero_point`.
        scale, zero_point: parameters of quantized x: ``real = scale * (x - zero_point)``.
        bias: float32 (O,), added after dequantization. `bias` and `activation` replace a pipeline.
        activation: ``"relu"``, ``"gelu"``, ``"sigmoid"`` or ``"tanh"``.
        algorithm: the name of one of ``wc.algorithms(x.shape)``, or ``"direct"`` for the cheapest
            of those that compute plain sums; None chooses the one of least modelled cost.
        exact: leave out algorithms whose rounding differs from that of a plain sum.
        out: the array to write to, with the type and shape of the result. Its pixels may be any
            equal distance apart.
        num_threads: 1 or more; default `get_num_threads()`, or 1 for a small convolution.

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
    array = _dense_channels(_checked(x, wc, "conv: x"))
    quant = Quantization(array.dtype, wc, scale, zero_point)
    stages = _pipeline(pipeline, bias, activation, quant, wc)
    prepared = find_prepared(
        wc, array.shape, stages, quant, algorithm or "", exact, num_threads, "conv"
    )
    return run_prepared(prepared, array, wc, stages, quant, out)


def _checked(x: object, wc: PackedConv, name: str) -> Array:
    array = as_array(x, name)
    wanted = ("uint8", "int8", "float32") if wc.dtype == np.int8 else ("float32",)
    require_dtype(array, name, *wanted)
    wc.check_shape(array.shape, name)
    return array


def _dense_channels(array: Array) -> Array:
    """Return x as kernels read it: copied if need be."""
    return array if has_dense_rows(array) else np.array(array, order="C")


def _pipeline(
    pipeline: Stages,
    bias: object,
    activation: str | None,
    quant: Quantization,
    wc: PackedConv,
) -> Pipeline:
    if activation is not None and activation not in _ACTIVATIONS:
        names = ", ".join(map(repr, _ACTIVATIONS))
        raise ValueError(f"conv: activation must be one of {names} or None, got {activation!r}")
    if pipeline is not None:
        if bias is not None or activation is not None:
            raise TypeError("conv: bias and activation cannot be combined with a pipeline")
        return Pipeline.of(pipeline, "conv")
    stages: list[Stage] = []
    quantized = wc.dtype == np.int8
    if quantized and (quant.source == "quantize" or bias is not None or activation is not None):
        stages.append(Dequantize())
    if bias is not None:
        stages.append(Bias(bias))
    if activation is not None:
        stages.append(_ACTIVATIONS[activation]())
    return Pipeline(stages)


def find_prepared(
    wc: PackedConv,
    shape: tuple[int, ...],
    pipeline: Pipeline,
    quant: Quantization,
    algorithm: str,
    exact: bool,
    num_threads: int | None,
    name: str,
) -> Any:
    """Return the native convolution for a shape, from those that the weights keep."""
    batch, spatial = wc.check_shape(shape, f"{name}: x")
    threads = 0
    if num_threads is not None:
        threads = require_integer(num_threads, f"{name}: num_threads", 1, _fbg.MAX_THREADS)
    kinds = tuple(stage._native.key for stage in pipeline.stages)
    # Read once: another thread may change the limit meanwhile.
    features = _fbg.active_features()
    key = (
        (batch, *spatial),
        kinds,
        quant.source,
        quant.is_real,
        algorithm,
        exact,
        threads or _fbg.num_threads(),
        features,
        choices.generation,
    )

    def prepare() -> Any:
        stages = pipeline._native
        known = key_of(wc._native, wc.geometry, spatial, stages, quant.source, features)
        return wc._native.prepare(
            batch,
            spatial,
            stages,
            quant.source,
            quant.is_real,
            algorithm,
            choices.algorithm(known),
            exact,
            threads,
            features,
        )

    return wc.prepared(key, prepare)


def run_prepared(
    prepared: Any,
    x: Array,
    wc: PackedConv,
    pipeline: Pipeline,
    quant: Quantization,
    out: Array | None,
) -> Array:
    """Run it on x and return the result, (N, *output, O)."""
    axes = wc.spatial_axes
    batch, output = prepared.output
    shape = (batch, *output[3 - axes :], wc.out_channels)
    return _run(prepared, x, shape, pipeline, quant, out)


def _run(
    prepared: Any,
    x: Array,
    shape: tuple[int, ...],
    pipeline: Pipeline,
    quant: Quantization,
    out: Array | None,
) -> Array:
    """Run it on x, whose channels are dense, for a result of the given shape."""
    full = x if x.ndim == 5 else x.reshape(x.shape[0], *_LEADING_AXES[x.ndim], *x.shape[1:])
    rows = None if out is None else _rows_of(out, shape, pipeline)
    y: Array = prepared.run(full, pipeline._native, quant.scale, quant.zero_point, rows)
    if out is not None:
        return out
    if pipeline._gives_bfloat16:
        y = y.view(bfloat16())
    return y.reshape(shape)


def _rows_of(out: object, shape: tuple[int, ...], pipeline: Pipeline) -> Array:
    """Return `out` as a matrix of pixels by channels that shares its memory."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"conv: out must be a NumPy array, got {type(out).__name__}")
    if out.shape != shape:
        raise ValueError(f"conv: out must have shape {shape}, got {out.shape}")
    if pipeline._gives_bfloat16:
        require_dtype(out, "conv: out", "bfloat16")
        out = out.view(np.uint16)
    rows = out.reshape(math.prod(shape[:-1]), shape[-1])
    if not out.flags.c_contiguous and rows.size and not np.shares_memory(rows, out):
        raise ValueError(
            "conv: out must have contiguous channels and equally spaced pixels, "
            f"got strides {out.strides}"
        )
    return rows


class PreparedConv:
    """A convolution of one shape, validated once: ``call(x, out=None)``. Made by `fbg.prepare`.

    >>> import numpy as np
    >>> import fbg
    >>> w = fbg.PackedConv(np.ones((4, 2, 1, 1), np.float32), dtype="float32")
    >>> call = fbg.prepare(w, fbg.ReLU(), shape=(1, 3, 3, 2))
    >>> call
    PreparedConv((1, 3, 3, 2) -> (1, 3, 3, 4), pointwise, ReLU())
    >>> call(np.ones((1, 3, 3, 2), np.float32))[0, 0, 0]
    array([2., 2., 2., 2.], dtype=float32)
    """

    def __init__(
        self,
        wc: PackedConv,
        pipeline: Stages,
        *,
        shape: tuple[int, ...],
        x_dtype: npt.DTypeLike | None = None,
        scale: float | None = None,
        zero_point: int = 0,
        algorithm: str | None = None,
        exact: bool = False,
        num_threads: int | None = None,
    ) -> None:
        wc.check_shape(tuple(shape), "prepare: shape")
        self._wc = wc
        self._shape = tuple(shape)
        default = np.uint8 if wc.dtype == np.int8 and scale is not None else np.float32
        self._x_dtype: np.dtype[Any] = np.dtype(default if x_dtype is None else x_dtype)
        self._quant = Quantization(self._x_dtype, wc, scale, zero_point)
        self._pipeline = _pipeline(pipeline, None, None, self._quant, wc)
        self._prepared = find_prepared(
            wc,
            self._shape,
            self._pipeline,
            self._quant,
            algorithm or "",
            exact,
            num_threads,
            "prepare",
        )
        self._output_shape = wc.output_shape(self._shape)
        self._call: Any = None  # what calls in a loop have in common, from the first one on
        self._options = {"algorithm": algorithm, "exact": exact, "num_threads": num_threads}

    def trial(self) -> Trial:
        """Return what `fbg.tune` times: an x of the prepared shape, with random pixels."""
        wc, quant, stages = self._wc, self._quant, self._pipeline._native
        batch, spatial = wc.check_shape(self._shape, "tune: shape")
        shape = (batch, *spatial, wc.in_channels)
        features = _fbg.active_features()
        rng = np.random.default_rng(0)
        if self._x_dtype == np.float32:
            x: Array = rng.standard_normal(shape, np.float32)
        else:
            limits = np.iinfo(self._x_dtype)
            x = rng.integers(limits.min, limits.max + 1, shape, self._x_dtype)

        def prepare(algorithm: str) -> Callable[[], object]:
            exact, threads = False, 1
            ready = wc._native.prepare(
                batch,
                spatial,
                stages,
                quant.source,
                quant.is_real,
                algorithm,
                "",
                exact,
                threads,
                features,
            )
            y = ready.run(x, stages, quant.scale, quant.zero_point, None)
            return lambda: ready.run(x, stages, quant.scale, quant.zero_point, y)

        return Trial(
            key_of(wc._native, wc.geometry, spatial, stages, quant.source, features),
            wc._native.algorithms(
                batch, spatial, stages, quant.source, quant.is_real, False, features
            ),
            prepare,
        )

    @property
    def algorithm(self) -> str:
        """Name of the algorithm that was chosen."""
        name: str = self._prepared.algorithm
        return name

    @property
    def kernel(self) -> str:
        """Name of the microkernel that does most of the work."""
        name: str = self._prepared.kernel
        return name

    @property
    def num_threads(self) -> int:
        """Threads of a call."""
        threads: int = self._prepared.num_threads
        return threads

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the result."""
        return bfloat16() if self._pipeline._gives_bfloat16 else np.dtype(self._prepared.dtype)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """(N, *output, O)."""
        return self._output_shape

    def __call__(self, x: Array, out: Array | None = None) -> Array:
        """Return the result for an x of the shape and dtype that were prepared."""
        if self._call is not None and self._call.run(x, out):
            return cast(Array, out)
        if not isinstance(x, np.ndarray) or x.shape != self._shape or x.dtype != self._x_dtype:
            got = f"{x.dtype}{x.shape}" if isinstance(x, np.ndarray) else type(x).__name__
            raise ValueError(f"call: x must be {self._x_dtype}{self._shape}, got {got}")
        stages, quant = self._pipeline, self._quant
        y = _run(self._prepared, _dense_channels(x), self._output_shape, stages, quant, out)
        # The native call takes bfloat16 for the uint16 of its bits, and so cannot tell them apart.
        if self._call is None and not self._pipeline._gives_bfloat16:
            self._call = self._prepared.bind(
                stages._native, quant.scale, quant.zero_point, self._shape, self._output_shape
            )
        return y

    def __reduce__(self) -> Again:
        quant = self._quant
        return again(
            PreparedConv,
            self._wc,
            self._pipeline,
            shape=self._shape,
            x_dtype=self._x_dtype,
            scale=quant.scale if quant.has_scale else None,
            zero_point=quant.zero_point,
            **self._options,
        )

    def __repr__(self) -> str:
        stages = f", {self._pipeline}" if self._pipeline.stages else ""
        return f"PreparedConv({self._shape} -> {self.output_shape}, {self.algorithm}{stages})"
