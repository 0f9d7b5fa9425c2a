"""Geometry that convolutions and pooling share: padding, strides, and sizes of outputs.

The formulas are those of onnxruntime, and of PyTorch where it exports such a node. ONNX's own
inference of shapes and its reference differ from both in some cases, so neither is asked.
"""

from __future__ import annotations

from fbg.graph.ops.tensors import Sizes
from fbg.graph.ops.windows import Geometry
from fbg.importers.description import Node


def _numbers(node: Node, name: str, count: int, default: int) -> list[int]:
    """Return an attribute with a number for each axis, or for both ends of each axis."""
    values = list(node.attributes.get(name) or [default] * count)
    if len(values) != count:
        raise ValueError(f"attribute {name} must hold {count} numbers, got {values}")
    if default == 1 and min(values, default=1) < 1:
        raise ValueError(f"attribute {name} must be at least 1, got {values}")
    return values


def _auto_pad(node: Node) -> str:
    mode = node.attributes.get("auto_pad") or "NOTSET"
    if mode not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise ValueError(f"attribute auto_pad is '{mode}'")
    return str(mode)


def _windows(node: Node, spatial: Sizes, kernel: Sizes, *, pools: bool) -> Geometry:
    axes = len(spatial)
    if len(kernel) != axes or min(kernel, default=1) < 1:
        raise ValueError(f"a kernel of {axes} axes is required, got {list(kernel)}")
    stride = _numbers(node, "strides", axes, 1)
    dilation = _numbers(node, "dilations", axes, 1)
    pads = _numbers(node, "pads", 2 * axes, 0)
    mode = _auto_pad(node)
    ceil = pools and bool(node.attributes.get("ceil_mode", 0))
    before, after, output = [], [], []
    for axis, (size, k, s, d) in enumerate(zip(spatial, kernel, stride, dilation, strict=True)):
        extent = (k - 1) * d + 1
        head, tail = pads[axis], pads[axes + axis]
        if mode == "VALID":
            head = tail = 0
        elif mode != "NOTSET":
            head, tail = _same(size, k if pools else extent, s, mode)
        room = size + head + tail - extent
        upwards = ceil or (pools and room < 0)
        count = (-(-room // s) if upwards else room // s) + 1
        if ceil and (count - 1) * s >= size + head:
            count -= 1  # a window begins within the image, or in the padding before it
        if count < (0 if pools else 1):
            raise ValueError(f"windows of {extent} elements do not fit axis {2 + axis}, of {size}")
        if mode.startswith("SAME") and not pools:
            tail = max(tail, 0)  # no window reaches the part that is cut
        before.append(head)
        after.append(tail)
        output.append(count)
    sides = (tuple(before), tuple(after), tuple(output))
    return Geometry(tuple(kernel), tuple(stride), tuple(dilation), *sides)


def _same(size: int, extent: int, stride: int, mode: str) -> tuple[int, int]:
    """Return the padding that gives an output of ceil(size / stride) elements.

    Where the stride is longer than the window, it is negative: the image is cut.
    """
    total = (-(-size // stride) - 1) * stride + extent - size
    head = int((total if mode == "SAME_UPPER" else total + 1) / 2)
    return head, total - head


def conv_windows(node: Node, spatial: Sizes, kernel: Sizes) -> Geometry:
    """Return the geometry of a convolution of an image with these spatial axes."""
    return _windows(node, spatial, kernel, pools=False)


def pool_windows(node: Node, spatial: Sizes) -> Geometry:
    """Return the geometry of pooling an image with these spatial axes.

    With `ceil_mode`, a last window may reach beyond the padding. A single window may always do so.
    Padding by `auto_pad` does not heed dilations.
    """
    return _windows(node, spatial, tuple(node.attributes["kernel_shape"]), pools=True)


def transposed_windows(node: Node, spatial: Sizes, kernel: Sizes) -> Geometry:
    """Return the geometry of a transposed convolution, whose output is the larger image.

    full = (size - 1) stride + (kernel - 1) dilation + 1 + output_padding elements are computed, of
    which the padding is cut off. An `output_shape`, or size * stride for which `auto_pad` asks,
    decides the padding where full is larger; a larger output ends with elements of the bias.
    """
    axes = len(spatial)
    stride = _numbers(node, "strides", axes, 1)
    dilation = _numbers(node, "dilations", axes, 1)
    pads = _numbers(node, "pads", 2 * axes, 0)
    added = _numbers(node, "output_padding", axes, 0)
    wanted = list(node.attributes.get("output_shape") or [])[-axes:]
    mode = _auto_pad(node)
    before, after, output, extra = [], [], [], []
    for axis, (size, k, s, d) in enumerate(zip(spatial, kernel, stride, dilation, strict=True)):
        reached = (size - 1) * s + (k - 1) * d + 1
        full = reached + added[axis]
        head, tail = pads[axis], pads[axes + axis]
        if wanted or mode.startswith("SAME"):
            total = max(full - (wanted[axis] if wanted else size * s), 0)
            head = total // 2 if mode == "SAME_UPPER" else total - total // 2
            tail = total - head
        count = wanted[axis] if wanted else full - head - tail
        if count < 1:
            raise ValueError(f"axis {2 + axis} of the output would have {count} elements")
        before.append(head)
        after.append(tail)
        output.append(count)
        extra.append(count + head + tail - reached)
    sides = (tuple(before), tuple(after), tuple(output), tuple(extra))
    return Geometry(tuple(kernel), tuple(stride), tuple(dilation), *sides)
