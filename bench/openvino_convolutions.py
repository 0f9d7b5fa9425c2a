"""OpenVINO models of one convolution of images whose channels come last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from openvino import Model, Type
from openvino import opset13 as ops

if TYPE_CHECKING:
    from conv_peers import Problem

Array = npt.NDArray[Any]


def _convolution(x: Any, w: Any, p: Problem) -> Any:
    layer, axes = p.layer, len(p.layer.size)
    geometry = ([layer.stride] * axes, list(layer.pads), list(layer.pads), [layer.dilation] * axes)
    if layer.groups == 1:
        return ops.convolution(x, w, *geometry)
    return ops.group_convolution(x, w, *geometry)


def _orders(p: Problem) -> tuple[list[int], list[int]]:
    axes = len(p.layer.size)
    return [0, axes + 1, *range(1, axes + 1)], [0, *range(2, axes + 2), 1]


def fp32(p: Problem) -> Model:
    """Convolution with bias."""
    first, last = _orders(p)
    x = ops.parameter(list(p.x.shape), Type.f32, "x")
    w = p.w if p.layer.groups == 1 else _by_group(p.w, p.layer.groups)
    y = _convolution(ops.transpose(x, first), ops.constant(w), p)
    y = ops.add(y, ops.constant(p.bias.reshape(1, -1, *[1] * len(p.layer.size))))
    return Model([ops.transpose(y, last)], [x])


def int8(p: Problem) -> Model:
    """uint8 to uint8, as quantized networks are written: FakeQuantize around a float convolution.

    Without the one before it, OpenVINO computes the convolution in bfloat16.
    """
    assert p.w_scale is not None
    first, last = _orders(p)
    axes = len(p.layer.size)
    x = ops.parameter(list(p.x.shape), Type.u8, "x")
    real = ops.multiply(ops.convert(ops.transpose(x, first), "f32"), np.float32(p.x_scale))
    real = _fake_quantize(real, p.x_scale, p.x_scale)
    scale = p.w_scale.reshape(-1, *[1] * (axes + 1)).astype(np.float32)
    w = p.w
    if p.layer.groups > 1:
        w, scale = _by_group(w, p.layer.groups), _by_group(scale, p.layer.groups)
    y = _convolution(
        real, ops.multiply(ops.convert(ops.constant(w), "f32"), ops.constant(scale)), p
    )
    bias = (p.bias * p.x_scale * p.w_scale).astype(np.float32).reshape(1, -1, *[1] * axes)
    y = _fake_quantize(ops.add(y, ops.constant(bias)), p.y_scale, 1.0)
    return Model([ops.transpose(ops.convert(y, "u8"), last)], [x])


def _fake_quantize(x: Any, scale: float, scale_out: float) -> Any:
    zero = np.float32(0)
    return ops.fake_quantize(
        x, zero, np.float32(255 * scale), zero, np.float32(255 * scale_out), 256
    )


def _by_group(values: Array, groups: int) -> Array:
    return values.reshape(groups, len(values) // groups, *values.shape[1:])
