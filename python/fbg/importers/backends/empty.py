"""Ops that read a tensor without elements: computed here by their definition, or refused by name.

Other runtimes are not made for them. onnxruntime ends the process for a GRU of no steps, and hands
back memory that nothing has written for an LSTM of none or a product of integers over an empty
axis. So no other back end sees such an op. What has no elements itself is known beforehand
(inference.py); what is left makes something of nothing, such as a sum, or a last state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.graph.refusal import REFUSALS, refusing
from fbg.importers.backends.base import ForeignPart, Step, TypedNode
from fbg.importers.backends.foreign import modelled_seconds, written
from fbg.importers.description import TensorType

Inputs = Sequence[Array | None]  # of a node, None where one is absent
Definition = Callable[[TypedNode, Inputs], Sequence[Array]]

_DEFINITIONS: dict[tuple[str, str], Definition] = {}


def _defines(*names: str, domain: str = "") -> Callable[[Definition], Definition]:
    """Register a function that returns the outputs of operators, or the first ones of them."""

    def register(function: Definition) -> Definition:
        _DEFINITIONS.update({(domain, name): function for name in names})
        return function

    return register


class Empty:
    """See the module."""

    name = "empty"

    def needs(self, op: TypedNode) -> tuple[str, ...]:
        """Return nothing: it needs no values beforehand."""
        return ()

    def supports(self, op: TypedNode) -> bool:
        """Whether the op reads a tensor without elements, and has a definition for that."""
        return bool(op.empty_inputs) and (op.node.domain, op.node.op) in _DEFINITIONS

    def cost(self, op: TypedNode) -> float:
        """Return the time to pass tensors: no other op may move here."""
        return modelled_seconds(op) if op.empty_inputs else math.inf

    def prepare(self, part: ForeignPart) -> _PreparedDefinitions:
        """Return the definitions of a part; raises Unsupported where a shape has none."""
        return _PreparedDefinitions(part)


class _PreparedDefinitions:
    def __init__(self, part: ForeignPart) -> None:
        self._part = part
        read = {name for op in part.ops for name in op.node.reads}
        self._known = {name: x for name, x in part.ops[0].constants.items() if name in read}
        for op in part.ops:  # what a definition refuses depends on shapes and constants alone
            with refusing(op.node.name):
                shapes = {name: op.types[name].fixed for name in op.node.reads}
                if any(shape is None for shape in shapes.values()):
                    raise ValueError(f"{_reason(op)}, and other sizes vary")
                blank = {name: _blank(op.types[name].dtype, s or ()) for name, s in shapes.items()}
                self._compute(op, {**blank, **self._known})

    def _compute(self, op: TypedNode, values: Mapping[str, Array]) -> dict[str, Array]:
        inputs = [values[name] if name else None for name in op.node.inputs]
        found = _DEFINITIONS[op.node.domain, op.node.op](op, inputs)
        named = dict(zip(op.node.outputs, found, strict=False))
        for name in filter(None, op.node.outputs):
            wanted = op.types.get(name)
            if wanted is not None and wanted.fixed is not None and 0 in wanted.fixed:
                named[name] = np.empty(wanted.fixed, wanted.dtype)
            elif name not in named:
                raise ValueError(f"{_reason(op)}, and output '{name}' is not defined for that")
            elif wanted is not None and not wanted.takes(named[name].shape):
                got = TensorType(named[name].dtype, named[name].shape)
                raise ValueError(f"{_reason(op)}, and output '{name}' is {got}, wanted {wanted}")
        return named

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array | None]) -> list[Array]:
        values = {**self._known, **dict(zip(self._part.inputs, inputs, strict=True))}
        for op in self._part.ops:
            try:
                values.update(self._compute(op, values))
            except REFUSALS as error:
                raise ModelError(f"node {op.node.title}: {error}") from error
        named = zip(self._part.outputs, outputs, strict=True)
        return [written(self._part, name, values[name], out) for name, out in named]

    def timed(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None]
    ) -> tuple[list[Array], list[float]]:
        return self.run(inputs, outputs), []

    def steps(self) -> list[Step]:
        return [Step((op.node.name,), "by definition") for op in self._part.ops]


def _blank(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return an array that stands for one of a run."""
    return np.broadcast_to(np.ones((), dtype) if dtype.kind == "f" else np.zeros((), dtype), shape)


def _reason(op: TypedNode) -> str:
    return f"input '{op.empty_inputs[0]}' has no elements"


def _filled(op: TypedNode, value: object) -> list[Array]:
    """Return an output that has one value everywhere."""
    kind = op.types[op.node.outputs[0]]
    return [np.full(op.output_shape(), value, kind.dtype)]


# Sums and reductions ------------------------------------------------------------------------------


@_defines("Einsum", "MatMul", "MatMulInteger", "ReduceL1", "ReduceL2", "ReduceSum")
@_defines("ConvInteger", "ReduceSumSquare", "TfIdfVectorizer")
@_defines("FusedMatMul", domain="com.microsoft")
def _sum(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """Nothing is added up."""
    return _filled(op, 0)


@_defines("ReduceProd", "Det")
def _product(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    return _filled(op, 1)


@_defines("ReduceMean", "ReduceLogSum", "ReduceLogSumExp")
def _no_number(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """A mean of nothing is no number, and the logarithm of 0 is minus infinity."""
    if op.types[op.node.outputs[0]].dtype.kind in "biu":
        raise ValueError(f"{_reason(op)}, and integers have no value for that")
    return _filled(op, np.nan if op.node.op == "ReduceMean" else -np.inf)


@_defines("ReduceMax", "ReduceMin")
def _extreme(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """No value of the type is less than a maximum, or greater than a minimum."""
    dtype, greatest = op.types[op.node.outputs[0]].dtype, op.node.op == "ReduceMax"
    if dtype.kind == "b":
        return _filled(op, not greatest)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return _filled(op, limits.min if greatest else limits.max)
    return _filled(op, -np.inf if greatest else np.inf)


# Products -----------------------------------------------------------------------------------------


@_defines("Gemm")
def _gemm(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """beta * C."""
    [result] = _filled(op, 0)
    if len(inputs) > 2 and inputs[2] is not None:
        result += (inputs[2] * np.float32(op.attribute("beta", 1.0))).astype(result.dtype)
    return [result]


@_defines("Conv", "ConvTranspose")
def _convolution(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """The bias of each channel."""
    [result] = _filled(op, 0)
    if len(inputs) > 2 and inputs[2] is not None:
        result += inputs[2].reshape(-1, *[1] * (result.ndim - 2))
    return [result]


@_defines("QLinearMatMul", "QLinearConv")
def _quantized(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """The zero point of the result, or the bias of each channel as its integer."""
    scale, point = inputs[6], inputs[7]
    if scale is None or point is None or scale.size != 1 or point.size != 1:
        raise ValueError(f"{_reason(op)}, and the result has several scales")
    dtype, [result] = point.dtype, _filled(op, point.item())
    if op.node.op == "QLinearConv" and len(inputs) > 8 and inputs[8] is not None:
        own, weight = inputs[1], inputs[4]
        if own is None or weight is None:
            raise ValueError(f"{_reason(op)}, and a scale is absent")
        factor = (own.item() * weight.reshape(-1).astype(np.float64)) / scale.item()
        limits = np.iinfo(dtype)
        bias = np.clip(np.rint(inputs[8] * factor) + point.item(), limits.min, limits.max)
        result[:] = bias.astype(dtype).reshape(-1, *[1] * (result.ndim - 2))
    return [result]


@_defines("DynamicQuantizeLinear")
def _dynamic(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """No integers, with the scale 1 and the zero point 0 of a tensor of zeros."""
    return [np.empty(op.shape(), np.uint8), np.array(1, np.float32), np.array(0, np.uint8)]


@_defines("GRU", "LSTM", "RNN")
def _recurrent(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """Without steps, the last states are the first ones, or zeros."""
    if op.shape()[1 if op.attribute("layout", 0) else 0] != 0:
        raise ValueError(f"{_reason(op)}, and there are steps")
    given = [*inputs, *[None] * 8]
    if given[4] is not None and given[4].any():
        raise ValueError("sequence_lens must be 0, as there are no steps")
    none = np.empty(0, np.float32)
    found = [none]
    for output, state in enumerate(given[5:7], start=1):
        if output >= len(op.node.outputs) or not op.node.outputs[output]:
            found.append(none)
        elif state is None:
            dtype = op.types[op.node.outputs[output]].dtype
            found.append(np.zeros(op.output_shape(output), dtype))
        else:
            found.append(state.copy())
    return found


@_defines("Scan")
def _scan(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """Without steps, the last states are the first ones."""
    scanned = int(op.attribute("num_scan_inputs"))
    axes = op.attribute("scan_input_axes") or [0] * scanned
    for x, axis in zip(inputs[-scanned:], axes, strict=True):
        if op.node.version < 9 or x is None or x.shape[axis] != 0:
            raise ValueError(f"{_reason(op)}, and there are steps")
    return [x.copy() for x in inputs[:-scanned] if x is not None]


# Moves --------------------------------------------------------------------------------------------


@_defines("Concat")
def _concat(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    return [np.concatenate([x for x in inputs if x is not None], op.attribute("axis", 1))]


@_defines("Pad")
def _pad(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """The value of the padding."""
    if op.attribute("mode", "constant") != "constant":
        raise ValueError(f"{_reason(op)}, and mode {op.attribute('mode')} repeats elements")
    given = inputs[2] if len(inputs) > 2 else None
    return _filled(op, op.attribute("value", 0.0) if given is None else given.item())


@_defines("CenterCropPad")
def _zeros(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    return _filled(op, 0)


@_defines("Scatter", "ScatterElements", "ScatterND")
def _unchanged(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    """Nothing is put into the tensor."""
    data = inputs[0]
    if data is None or len(op.empty_inputs) < 2:
        raise ValueError(f"{_reason(op)}, and other inputs have some")
    return [data.copy()]


@_defines("Compress")
def _compress(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    condition, data = inputs[1], inputs[0]
    if condition is None or data is None:
        raise ValueError("the condition is absent")
    return [np.compress(condition, data, op.attribute("axis"))]


@_defines("NonMaxSuppression")
def _no_boxes(op: TypedNode, inputs: Inputs) -> Sequence[Array]:
    boxes = inputs[0]
    if boxes is None or boxes.shape[-1:] != (4,) or not {*op.node.inputs[:2]} & {*op.empty_inputs}:
        raise ValueError(_reason(op))
    return [np.zeros((0, 3), np.int64)]
