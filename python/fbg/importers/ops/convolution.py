"""What may join the epilogue of a convolution that is still open.

The ops after a convolution join it as long as nobody else reads what lies between: constants are
folded into float weights; activations, a residual and the quantization of the result become stages
of the output pipeline. A product with constant weights is a convolution with a kernel of size 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.importers.ops.builder import Builder
from fbg.importers.ops.epilogue import ACTIVATIONS, Activation, Quantization, Residual
from fbg.importers.ops.packed_weights import Packer, Weights
from fbg.importers.ops.value import OpenConv, Value

__all__ = ["extend_conv", "fold_into_conv", "join_residual", "requantize_conv"]

Array = npt.NDArray[Any]


def _is_open(value: Value) -> bool:
    """Whether something may still join the epilogue of what computes a tensor."""
    conv = value.conv
    return (
        conv is not None
        and value.buffer is None
        and value.uses <= 1
        and value.dtype == np.float32
        and len(conv.stages) + 4 < _fbg.MAX_STAGES
    )


def _continued(value: Value, dtype: npt.DTypeLike = np.float32) -> Value:
    return Value(value.shape, np.dtype(dtype), value.order, conv=value.conv)


def extend_conv(value: Value, function: str, c0: float, c1: float) -> Value | None:
    """Make an activation a stage of a convolution; None where that is not possible."""
    if not _is_open(value) or function not in ACTIVATIONS:
        return None
    assert value.conv is not None
    value.conv.stages.append(Activation(function, c0, c1))
    return _continued(value)


def fold_into_conv(packer: Packer, value: Value, function: str, constant: Array) -> Value | None:
    """Fold a factor or summand for each channel into weights and bias, or None.

    constant: broadcast against the result of the convolution.
    """
    conv = value.conv
    if not _is_open(value) or conv is None or conv.stages or conv.result != "float32":
        return None
    axis = value.order[-1]
    padded = constant.reshape((1,) * (len(value.shape) - constant.ndim) + constant.shape)
    if any(size != 1 for i, size in enumerate(padded.shape) if i != axis):
        return None
    per_channel = np.broadcast_to(padded.reshape(-1), (conv.out_channels,))
    bias = conv.bias if conv.bias is not None else np.zeros(conv.out_channels, np.float32)
    if bias.dtype != np.float32:
        return None
    if function == "add":
        conv.bias = bias + per_channel
    elif function == "subtract":
        conv.bias = bias - per_channel
    elif function in ("multiply", "divide"):
        with np.errstate(all="ignore"):
            factors = per_channel if function == "multiply" else 1 / per_channel
            scaled = (bias * factors).astype(np.float32)
            factors = factors.astype(np.float32)
        if not np.isfinite(scaled).all() or not _scale_weights(packer, conv, factors):
            return None
        if conv.bias is not None:
            conv.bias = scaled
    else:
        return None
    return _continued(value)


def _scale_weights(packer: Packer, conv: OpenConv, factors: Array) -> bool:
    """Multiply the weights of each output channel, or their scales; False if that cannot be."""
    if not packer.has_room(conv.w):  # weights that many convolutions share
        return False
    with np.errstate(all="ignore"):
        if conv.is_integer:
            if conv.w_scale is None:
                return False
            scale = np.broadcast_to(conv.w_scale, factors.shape) * factors
            if not (np.isfinite(scale).all() and (scale > 0).all()):
                return False
            conv.w_scale = scale
        else:
            largest = packer.once(("largest", conv.w), (), lambda: _largest(conv))
            if not np.isfinite(largest * factors).all():
                return False
            conv.w = _scaled(conv, factors)
    conv.packed = None
    return True


def _largest(conv: OpenConv) -> Array:
    """Return the largest absolute value of the float32 weights of each output channel."""
    w = conv.w.make()
    if conv.options.get("transposed"):
        groups = int(conv.options.get("groups", 1))
        w = w.reshape(groups, -1, *w.shape[1:]).swapaxes(1, 2).reshape(conv.out_channels, -1)
    axes = tuple(range(1, w.ndim))
    largest: Array = np.maximum(w.max(axes), -w.min(axes))
    return largest


def _scaled(conv: OpenConv, factors: Array) -> Weights:
    """Return the float32 weights times the factor of each output channel."""
    transposed, groups = conv.options.get("transposed"), int(conv.options.get("groups", 1))

    def scaled(w: Array) -> Array:
        with np.errstate(all="ignore"):
            if not transposed:
                plain: Array = w * factors.reshape(-1, *[1] * (w.ndim - 1))
                return plain
            by_group = w.reshape(groups, -1, *w.shape[1:])
            shape = (groups, 1, w.shape[1], *[1] * (w.ndim - 2))
            return (by_group * factors.reshape(shape)).reshape(w.shape)

    return conv.w.then(("scaled", transposed, groups, factors.tobytes()), scaled)


def join_residual(builder: Builder, value: Value, other: Value) -> Value | None:
    """Add a tensor of the same shape in the epilogue of a convolution; None if not possible."""
    conv = value.conv
    if not _is_open(value) or conv is None or conv.residual is not None:
        return None
    if other is value or other.shape != value.shape or other.is_constant:
        return None
    if other.quantized is not None and other.buffer is None:
        q = other.quantized
        conv.residual = builder.in_order(q.integers, value.order)
        kind, scale, zero_point = q.integers.native_type, q.scale, q.zero_point
    else:
        builder.buffer(other)
        conv.residual = builder.in_order(other, value.order)
        kind, scale, zero_point = "float32", 1.0, 0
    builder.buffer(conv.residual)
    conv.stages.append(Residual(kind, scale, zero_point))
    return _continued(value)


def requantize_conv(value: Value, scale: float, zero_point: int, dtype: str) -> Value | None:
    """Make the result of a convolution integers; None where that is not possible."""
    if not _is_open(value):
        return None
    assert value.conv is not None
    value.conv.stages.append(Quantization(scale, zero_point, dtype))
    return _continued(value, dtype)
