"""Weights of a convolution, packed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.again import Again, again
from fbg.arrays import (
    Array,
    as_array,
    bfloat16,
    require_choice,
    require_dtype,
    require_dtype_name,
    require_finite,
    require_flag,
    require_points,
    require_scales,
)
from fbg.conv.geometry import Extents, Padding, as_geometry, canonical_weights, sizes_of
from fbg.conv.layouts import image_hint, weight_hint
from fbg.matmul.arguments import check_quantizing
from fbg.tuning.plan_cache import PlanCache

_FLOATS = ("float32", "float16", "bfloat16")
ROUNDED = ("bfloat16", "round")  # sources of an x that kernels read as bfloat16


class Algorithm(NamedTuple):
    """An algorithm that applies to a convolution.

    cost: modelled, in processor cycles of one thread; only ratios of costs are meaningful.
    """

    name: str
    cost: float


class PackedConv:
    """The weights of a convolution in the layouts that kernels read. Made once.

    Args:
        w: (O, I / groups, *kernel), as torch and ONNX store it, with one to three kernel axes; of a
            transposed convolution (I, O / groups, *kernel). float32, float16 or
            ``ml_dtypes.bfloat16`` to quantize or keep, or int8 that is already quantized; any
            strides.
        stride, dilation: an integer, or one for each spatial axis.
        padding: an integer, one for each spatial axis, or a pair (before, after) for each. Pixels
            outside the input count as zero; in quantized data, that is the zero point. ``"same"``
            makes the output as large as the input, for stride 1, with the odd pixel at the end, as
            torch and ONNX's SAME_UPPER do; ``"valid"`` is 0.
        groups: into how many independent groups input and output channels are divided.
        transposed: the adjoint of a convolution, as in torch.nn.ConvTranspose.
        output_padding: added to the end of the output of a transposed convolution.
        dtype: how the weights are kept: ``"int8"`` (default for floats), ``"float32"``,
            ``"float16"`` or ``"bfloat16"``. 16-bit weights are multiplied in float32, except
            bfloat16 ones by an x of bfloat16.
        granularity: one scale per output ``"column"`` (channel), per ``"group"``, or one for the
            ``"tensor"``.
        scale, zero_point: with an int8 `w`: () or (O,); ``real = scale * (w - zero_point)``.
        accum: how int8 products are summed: ``"int32"`` (default) or ``"int16"``, as in `PackedB`.

    Raises:
        TypeError: a dtype other than those.
        ValueError: a rank, kernel, stride, dilation, padding or number of groups that no
            convolution can have; scales that are not finite and positive.

    >>> import numpy as np
    >>> w = PackedConv(np.ones((8, 3, 3, 3), np.float32), padding=1, dtype="float32")
    >>> w
    PackedConv(3x3 3->8 pad 1, float32)
    >>> w.output_shape((1, 5, 7, 3))
    (1, 5, 7, 8)
    """

    def __init__(
        self,
        w: object,
        stride: Extents = 1,
        padding: Padding = 0,
        dilation: Extents = 1,
        groups: int = 1,
        transposed: bool = False,
        output_padding: Extents = 0,
        *,
        dtype: Literal["int8", "float32", "bfloat16", "float16"] | None = None,
        granularity: Literal["column", "group", "tensor"] = "column",
        scale: object = None,
        zero_point: object = None,
        accum: Literal["int32", "int16"] | None = None,
    ) -> None:
        array = as_array(w, "PackedConv: w")
        require_dtype(array, "PackedConv: w", "float32", "float16", "bfloat16", "int8")
        require_choice(granularity, "PackedConv: granularity", "column", "group", "tensor")
        require_choice(dtype, "PackedConv: dtype", "int8", *_FLOATS, None)
        require_choice(accum, "PackedConv: accum", "int32", "int16", None)
        if accum and dtype in _FLOATS:
            raise ValueError(f"PackedConv: accum={accum!r} requires int8 weights, got {dtype}")
        unread = {"granularity": granularity != "column"}
        check_quantizing("PackedConv", array, dtype, unread)
        self._geometry = as_geometry(
            array.shape,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            transposed=transposed,
            output_padding=output_padding,
        )
        self._shape = array.shape
        self._groups = groups
        self._transposed = transposed
        self._native = self._pack(array, dtype, granularity, scale, zero_point)
        if accum == "int16":
            self._native = _fbg.conv_int16(self._native)
        self._by_bfloat16: _fbg.ConvWeights | None = None
        self._is_integer = self._native.dtype == "int8"
        self._prepared: PlanCache[Any] = PlanCache()

    def _pack(
        self, array: Array, dtype: str | None, granularity: str, scale: object, zero_point: object
    ) -> _fbg.ConvWeights:
        if array.dtype == np.int8:
            if dtype in _FLOATS:
                raise TypeError(f"PackedConv: w must be floating for dtype={dtype!r}, got int8")
            outputs = self._shape[1] * self._groups if self._transposed else self._shape[0]
            weights = canonical_weights(array, self._groups, self._transposed)
            scales, points = _given_quant(scale, zero_point, outputs)
            return _fbg.conv_int8(weights, self._geometry, scales, points)
        if scale is not None or zero_point is not None:
            raise TypeError(
                f"PackedConv: scale and zero_point require an int8 w, got {array.dtype}"
            )
        floats = array.astype(np.float32, copy=False)
        if dtype in (None, "int8"):
            require_finite(floats, "PackedConv: w")
        weights = canonical_weights(floats, self._groups, self._transposed)
        return _fbg.conv_convert(weights, self._geometry, dtype or "int8", granularity, True)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of `w`."""
        return self._shape

    @property
    def spatial_axes(self) -> int:
        """1, 2 or 3."""
        return len(self._shape) - 2

    @property
    def in_channels(self) -> int:
        """Channels of x."""
        return int(self._shape[0] if self._transposed else self._shape[1] * self._groups)

    @property
    def out_channels(self) -> int:
        """Channels of the result."""
        return int(self._shape[1] * self._groups if self._transposed else self._shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the packed weights."""
        name = self._native.dtype
        return bfloat16() if name == "bfloat16" else np.dtype(name)

    @property
    def x_dtypes(self) -> tuple[str, ...]:
        """The types that x may have, by name."""
        if self._is_integer:
            return ("uint8", "int8", "float32")
        return ("float32", "bfloat16") if self._native.dtype == "bfloat16" else ("float32",)

    @property
    def geometry(self) -> str:
        """Kernel, channels, stride, dilation, groups and padding, as text."""
        return str(self._geometry)

    @property
    def scale(self) -> npt.NDArray[np.float32] | None:
        """float32 (O,), or None without quantization parameters."""
        return self._native.scale

    @property
    def zero_point(self) -> npt.NDArray[np.int32] | None:
        """int32 (O,), or None where all are 0."""
        return self._native.zero_point

    @property
    def nbytes(self) -> int:
        """Bytes of memory held, including all layouts that algorithms have requested so far."""
        others = 0 if self._by_bfloat16 is None else self._by_bfloat16.nbytes
        return self._native.nbytes + others

    def _native_for(self, source: str) -> _fbg.ConvWeights:
        """Return the weights that multiply x as it arrives: see `Quantization`."""
        if source not in ROUNDED:
            return self._native
        if self._by_bfloat16 is None:  # threads may make them twice: they are equal
            self._by_bfloat16 = _fbg.conv_bfloat16(self._native)
        return self._by_bfloat16

    def unpack(self) -> Array:
        """Return the packed weights, int8 or floats, in the layout that `w` had."""
        flat = self._native.unpack()
        if self._native.dtype == "bfloat16":
            flat = flat.view(bfloat16())
        flat = flat.transpose(0, 2, 1)  # (O, I / groups, taps)
        if self._transposed:
            inputs, outputs = self._shape[0] // self._groups, self._shape[1]
            by_group = flat.reshape(self._groups, outputs, inputs, -1)
            flat = by_group.transpose(0, 2, 1, 3).reshape(self._shape[0], outputs, -1)
        return np.ascontiguousarray(flat).reshape(self._shape)

    def output_shape(self, x_shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the result for an x of shape (N, *spatial, I)."""
        shape = sizes_of(x_shape, "output_shape: x_shape")
        batch, spatial = self.check_shape(shape, "output_shape: x_shape must be")
        output = self._geometry.output_shape(batch, spatial)
        return (batch, *output[3 - self.spatial_axes :], self.out_channels)

    def check_shape(self, shape: tuple[int, ...], subject: str) -> tuple[int, list[int]]:
        """Return batch and (depth, height, width) of an x; raises ValueError for another shape.

        subject: how the message begins, such as "conv: x must have shape".
        """
        axes, channels = self.spatial_axes, self.in_channels
        if len(shape) == axes + 2 and shape[-1] == channels:
            return shape[0], [1] * (3 - axes) + list(shape[1:-1])
        letters = ("W", "H, W", "D, H, W")[axes - 1]
        wanted, hint = f"(N, {letters}, {channels})", image_hint(shape, axes, channels)
        if len(shape) != axes + 2:
            raise ValueError(f"{subject} {wanted}, channels last, got {shape}{hint}")
        hint = hint or self.layout_hint(shape[-1])
        raise ValueError(f"{subject} {wanted}, but its last axis has {shape[-1]} channels{hint}")

    def layout_hint(self, channels: int) -> str:
        """Return in which other layout of `w` it would take x of so many channels, or ""."""
        return weight_hint(self._shape, self._groups, self._transposed, channels)

    def algorithms(
        self,
        x_shape: Sequence[int],
        *,
        exact: bool = False,
        zero_points: bool = False,
        x_dtype: npt.DTypeLike | None = None,
    ) -> list[Algorithm]:
        """Return the algorithms that apply to an x of that shape, cheapest first.

        exact: leave out algorithms whose rounding differs from that of a plain sum. x_dtype: that
        of x; only bfloat16 matters.
        """
        shape = sizes_of(x_shape, "algorithms: x_shape")
        batch, spatial = self.check_shape(shape, "algorithms: x_shape must be")
        require_flag(exact, "algorithms: exact")
        require_flag(zero_points, "algorithms: zero_points")
        source = "native"
        if x_dtype is not None:
            name = require_dtype_name(x_dtype, "algorithms: x_dtype", *self.x_dtypes)
            source = name if name in ROUNDED else source
        features = _fbg.active_features()
        found = self._native_for(source).algorithms(
            batch, spatial, [], source, zero_points, exact, features
        )
        return [Algorithm(name, cost) for name, cost, _ in found]

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments that make the geometry of weights of this shape."""
        g, first = self._geometry, 3 - self.spatial_axes
        return {
            "stride": g.stride[first:],
            "padding": list(zip(g.pad_before[first:], g.pad_after[first:], strict=True)),
            "dilation": g.dilation[first:],
            "groups": self._groups,
            "transposed": self._transposed,
            "output_padding": g.output_padding[first:],
        }

    def is_like(self, other: PackedConv) -> bool:
        """Whether both take the same patches of the same x."""
        mine, others = self._native, other._native
        kinds = (mine.dtype, mine.sums_int16) == (others.dtype, others.sums_int16)
        return kinds and self.shape == other.shape and self._arguments() == other._arguments()

    def __reduce__(self) -> Again:
        return again(
            PackedConv,
            self.unpack(),
            **self._arguments(),
            dtype=self.dtype.name,
            scale=self.scale,
            zero_point=self.zero_point,
            accum="int16" if self._native.sums_int16 else None,
        )

    def __copy__(self) -> PackedConv:
        copied = PackedConv.__new__(PackedConv)
        # Weights never change: both may share them, and the convolutions kept for them.
        copied.__dict__.update(self.__dict__)
        return copied

    def __deepcopy__(self, memo: dict[int, object]) -> PackedConv:
        return self.__copy__()

    def __repr__(self) -> str:
        kind = "int16 sums, int8" if self._native.sums_int16 else str(self.dtype)
        return f"PackedConv({self._geometry}, {kind})"


def _given_quant(
    scale: object, zero_point: object, outputs: int
) -> tuple[list[float] | None, list[int]]:
    """Return scales and zero points of int8 weights in the form of the core."""
    if scale is None:
        if zero_point is not None:
            raise TypeError("PackedConv: zero_point needs a scale")
        return None, [0]
    scales = require_scales(scale, "PackedConv: scale")
    if scales.shape not in ((), (outputs,)):
        raise ValueError(
            f"PackedConv: scale must have shape () or ({outputs},), got {scales.shape}"
        )
    points = require_points(
        0 if zero_point is None else zero_point, "PackedConv: zero_point", -128, 127
    )
    if points.shape not in ((), (outputs,)):
        raise ValueError(
            f"PackedConv: zero_point must have shape () or ({outputs},), got {points.shape}"
        )
    return [float(s) for s in np.ravel(scales)], [int(z) for z in np.ravel(points)]
