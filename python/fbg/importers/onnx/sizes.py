"""Sizes of tensors as ONNX files spell them: numbers, names, and several ways to say unknown."""

from __future__ import annotations

import onnx

# What exporters write where a run decides, beside an empty dimension: names of no size at all, so
# that two of them say nothing about each other.
UNKNOWN_VALUE = -1
UNKNOWN_NAMES = {"", "?", "-1", "None"}


def shape_of(proto: onnx.TensorShapeProto) -> tuple[int | str | None, ...]:
    """Return the sizes of a shape; None where a size is unknown and has no name."""
    return tuple(_size(dim) for dim in proto.dim)


def _size(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if dim.HasField("dim_value"):
        return None if dim.dim_value == UNKNOWN_VALUE else dim.dim_value
    return None if dim.dim_param in UNKNOWN_NAMES else dim.dim_param
