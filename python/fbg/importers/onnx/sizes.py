"""Sizes of tensors as ONNX files spell them: numbers, names, and several ways to say unknown."""

from __future__ import annotations

import onnx

# Exporters write these, or a negative number, for sizes that a run decides, or leave them empty.
# They name no size, so two of them may differ.
UNKNOWN_NAMES = {"", "?", "-1", "None"}


def shape_of(proto: onnx.TensorShapeProto) -> tuple[int | str | None, ...]:
    """Return the sizes of a shape; None where a size is unknown and has no name."""
    return tuple(_size(dim) for dim in proto.dim)


def _size(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if dim.HasField("dim_value"):
        return None if dim.dim_value < 0 else dim.dim_value
    return None if dim.dim_param in UNKNOWN_NAMES else dim.dim_param
