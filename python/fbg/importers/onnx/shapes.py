"""Shapes of the outputs of ops for which ONNX's own inference is not asked.

ONNX rounds sizes differently from onnxruntime and PyTorch, counts windows that both omit, and
takes unknown steps for 1. The formulas are also used to build the ops, and hold
for all back ends that run the op.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from fbg.arrays import Array
from fbg.graph.ops.windows import Geometry
from fbg.importers.description import Node, TensorType
from fbg.importers.ops.ranges import slices, taken_by
from fbg.importers.ops.resized_axes import parameters, resized_axes
from fbg.importers.ops.windows import conv_windows, pool_windows, transposed_windows

Shape = tuple[int | str | None, ...]
Types = Mapping[str, TensorType]
Constants = Mapping[str, Array]


def _shape(node: Node, index: int, types: Types) -> Shape | None:
    kind = types.get(node.inputs[index]) if index < len(node.inputs) else None
    return None if kind is None else kind.shape


def _spatial(
    node: Node, shape: Shape, channels: int | str | None, geometry: Callable[..., Geometry]
) -> Shape:
    """Return a shape (N, C, *spatial) whose spatial axes are those of a geometry."""
    sizes = tuple(size for size in shape[2:] if isinstance(size, int))
    if len(sizes) < len(shape) - 2:
        return (shape[0], channels, *[None] * (len(shape) - 2))
    return (shape[0], channels, *geometry(node, sizes).output)


def _pool(node: Node, types: Types, constants: Constants) -> Shape | None:
    shape = _shape(node, 0, types)
    if shape is None or len(shape) < 2:
        return None
    return _spatial(node, shape, shape[1], pool_windows)


def _conv(node: Node, types: Types, constants: Constants) -> Shape | None:
    return _of_kernel(node, types, 3 if node.op == "QLinearConv" else 1, conv_windows)


def _conv_transpose(node: Node, types: Types, constants: Constants) -> Shape | None:
    return _of_kernel(node, types, 1, transposed_windows)


def _of_kernel(
    node: Node, types: Types, index: int, geometry: Callable[..., Geometry]
) -> Shape | None:
    shape, kernel = _shape(node, 0, types), _shape(node, index, types)
    if shape is None or kernel is None or len(shape) < 2 or len(kernel) != len(shape):
        return None
    sizes = tuple(size for size in kernel[2:] if isinstance(size, int))
    if len(sizes) < len(kernel) - 2:
        return None
    channels = kernel[0]
    if geometry is transposed_windows:
        groups = node.attributes.get("group", 1)
        channels = kernel[1] * groups if isinstance(kernel[1], int) else None
    return _spatial(node, shape, channels, lambda node, spatial: geometry(node, spatial, sizes))


def _resize(node: Node, types: Types, constants: Constants) -> Shape | None:
    shape = types[node.inputs[0]].fixed if node.inputs[0] in types else None
    names = [
        node.inputs[index] if index is not None and index < len(node.inputs) else ""
        for index in parameters(node)
    ]
    if shape is None or any(name and name not in constants for name in names[1:]):
        return None
    roi, scales, sizes = (constants.get(name) for name in names)
    return tuple(axis.output for axis in resized_axes(node, shape, roi, scales, sizes))


def _slice(node: Node, types: Types, constants: Constants) -> Shape | None:
    shape = _shape(node, 0, types)
    names = node.inputs[1:]
    if shape is None:
        return None
    if any(name and name not in constants for name in names):
        return (None,) * len(shape)
    given = [constants[name].reshape(-1).tolist() if name else None for name in names]
    taken = slices(node, len(shape), given)
    return tuple(
        size if i not in taken else len(taken[i](size)) if isinstance(size, int) else None
        for i, size in enumerate(shape)
    )


def _axes(node: Node, constants: Constants) -> list[int] | None:
    """Return the axes of a node, which are an input or an attribute; None: not given or unknown."""
    if len(node.inputs) < 2 or not node.inputs[1]:
        return node.attributes.get("axes")
    known = constants.get(node.inputs[1])
    return None if known is None else known.reshape(-1).tolist()


def _unsqueeze(node: Node, types: Types, constants: Constants) -> Shape | None:
    shape, axes = _shape(node, 0, types), _axes(node, constants)
    if shape is None or axes is None:
        return None
    rank = len(shape) + len(axes)
    added = {axis % rank for axis in axes if -rank <= axis < rank}
    if len(added) < len(axes):
        raise ValueError(f"axes {axes} of a tensor of rank {rank}")
    sizes = iter(shape)
    return tuple(1 if i in added else next(sizes) for i in range(rank))


def _squeeze(node: Node, types: Types, constants: Constants) -> Shape | None:
    shape, axes = _shape(node, 0, types), _axes(node, constants)
    if axes is None and len(node.inputs) > 1 and node.inputs[1]:
        return None
    if shape is None or (not axes and not all(isinstance(size, int) for size in shape)):
        return None
    dropped = {axis % len(shape) for axis in axes or ()}
    if not axes:  # without any, all are of size 1
        dropped = {i for i, size in enumerate(shape) if size == 1}
    return tuple(size for i, size in enumerate(shape) if i not in dropped)


def _compress(node: Node, types: Types, constants: Constants) -> Shape | None:
    shape, condition = _shape(node, 0, types), constants.get(node.inputs[1])
    fixed = types[node.inputs[0]].fixed if node.inputs[0] in types else None
    if shape is None or fixed is None or condition is None:
        return None
    axis = node.attributes.get("axis")
    if axis is None:
        return (len(taken_by(condition, math.prod(fixed))),)
    axis %= len(fixed)
    return (*fixed[:axis], len(taken_by(condition, fixed[axis])), *fixed[axis + 1 :])


SHAPED: Mapping[str, Callable[[Node, Types, Constants], Shape | None]] = {
    "AveragePool": _pool,
    "Compress": _compress,
    "Conv": _conv,
    "ConvInteger": _conv,
    "ConvTranspose": _conv_transpose,
    "LpPool": _pool,
    "MaxPool": _pool,
    "QLinearConv": _conv,
    "Resize": _resize,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Upsample": _resize,
}


def output_shape(node: Node, types: Types, constants: Constants) -> Shape | None:
    """Return the shape of all outputs of a node, or None if ONNX's inference decides.

    Raises ValueError if attributes and shapes do not fit.
    """
    known = SHAPED.get(node.op) if node.domain == "" else None
    return None if known is None else known(node, types, constants)
