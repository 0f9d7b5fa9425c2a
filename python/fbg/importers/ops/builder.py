"""Builder: appends ops to a native graph, and keeps the tensors between them.

Ops ask for their inputs by number, in the order of axes that they want, and set their outputs.
Whatever has to be copied or computed for that is appended when it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.importers.backends.base import Op, Unsupported
from fbg.importers.description import Constants
from fbg.importers.ops.packed_weights import PackedWeights, Packer
from fbg.importers.ops.value import (
    OpenConv,
    Order,
    Program,
    ProgramStep,
    Quantized,
    Value,
    strides_of,
)
from fbg.tuning.trials import ConvTrial

__all__ = ["AxisMap", "Builder", "channels_last", "natural", "require_table"]

Array = npt.NDArray[Any]
MOST_REGISTERS = 32  # of an elementwise program
MOST_ELEMENTS = 2**48  # of a tensor: its bytes are counted in 64 bits
MOST_IN_TABLE = 2**22  # positions along an axis, which are Python's integers while a plan is made


def natural(rank: int) -> Order:
    """Return the order in which the last axis is the innermost."""
    return tuple(range(rank))


def channels_last(rank: int) -> Order:
    """Return the order (0, 2, 3, …, 1)."""
    return (0, *range(2, rank), 1) if rank > 2 else natural(rank)


@dataclass(frozen=True)
class AxisMap:
    """Where the elements along one axis of a result come from.

    They are elements ``start + i * step`` of axis `source` of the input, or, with a table, the
    elements that it names (-1: none, the result holds the fill value); without `source`, all are
    the same.
    """

    extent: int
    source: int | None = None
    start: int = 0
    step: int = 1
    table: tuple[int, ...] = ()


def require_table(node: Op, extent: int) -> None:
    """Raise Unsupported for an axis that is too long for a table of its elements."""
    if extent > MOST_IN_TABLE:
        raise Unsupported(node.node.name, f"an axis of {extent} elements is too long for a table")


@dataclass
class Builder:
    """The graph of one part, while it is built. values: tensors by name. uses: readers by name.

    features: of the CPU that kernels use.
    owners: the nodes that each op of the graph belongs to, by buffer. given: buffers that no op
    writes. indices: inputs that index rows of a table, and how many of those there are. trials: how
    to time each convolution. packer: packs their weights.
    """

    constants: Constants
    uses: Mapping[str, int]
    features: int
    graph: Any = field(default_factory=_fbg.Graph)
    values: dict[str, Value] = field(default_factory=dict)
    owners: dict[int, list[str]] = field(default_factory=dict)
    given: set[int] = field(default_factory=set)
    indices: dict[str, int] = field(default_factory=dict)
    trials: list[ConvTrial] = field(default_factory=list)
    packer: Packer = field(default_factory=lambda: Packer(PackedWeights(), 0))
    node: str = ""
    named: set[int] = field(default_factory=set)  # identities of what `values` holds

    # Tensors by name ---------------------------------------------------------------------------

    def add_input(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Declare a tensor that every run brings."""
        buffer = _fbg.tensor_input(self.graph, self._count(shape) * dtype.itemsize)
        self.given.add(buffer)
        value = Value(
            shape,
            dtype,
            natural(len(shape)),
            buffer=buffer,
            origin=name,
            uses=self.uses.get(name, 1),
        )
        self._name(name, value)

    def _name(self, name: str, value: Value) -> None:
        self.values[name] = value
        self.named.add(id(value))

    def _count(self, shape: tuple[int, ...]) -> int:
        """Return the number of elements."""
        count = math.prod(shape)
        if count > MOST_ELEMENTS:
            raise Unsupported(self.node, f"a tensor of shape {shape} has too many elements")
        return count

    def value(self, name: str) -> Value:
        """Return a tensor: computed before, brought by a run, or constant."""
        found = self.values.get(name)
        if found is None:
            uses, weights = self.uses.get(name, 1), self.constants.weights.get(name)
            if weights is not None:
                rank, dtype = len(weights.shape), np.dtype(np.float32)
                found = Value(weights.shape, dtype, natural(rank), weights=weights, uses=uses)
            elif name in self.constants:
                found = self.from_constant(self.constants[name], uses)
            else:
                raise Unsupported(self.node, f"tensor '{name}' is not known")
            self._name(name, found)
        return found

    def input(self, op: Op, index: int) -> Value:
        """Return an input of an op."""
        return self.value(op.node.inputs[index])

    def constant_input(self, op: Op, index: int) -> Array | None:
        """Return the value of an input that must be known, or None where it is absent."""
        if not op.has_input(index):
            return None
        constant = self.input(op, index).constant
        if constant is None:
            raise Unsupported(op.node.name, f"'{op.node.inputs[index]}' is not constant")
        return constant

    def set_output(self, op: Op, value: Value, index: int = 0) -> None:
        """Name a tensor: it is an output of an op."""
        name = op.node.outputs[index]
        shape = op.output_shape(index)
        if value.shape != shape:
            raise Unsupported(op.node.name, f"shape {value.shape} where {shape} was inferred")
        if name in self.values:
            raise Unsupported(op.node.name, f"'{name}' is written twice")
        if id(value) in self.named:
            value = self.alias(value, value.shape, value.order)
        value.uses = self.uses.get(name, 0)
        for pending in (value.conv, value.program, value.deferred):
            if pending is not None and value.buffer is None:
                pending.nodes.append(op.node.name)
        self._name(name, value)

    def from_constant(self, array: Array, uses: int = 1) -> Value:
        """Return a tensor that is known."""
        return Value(array.shape, array.dtype, natural(array.ndim), array=array, uses=uses)

    def made_of(self, constant: Array, step: Hashable, make: Callable[[], Array]) -> Value:
        """Return the tensor that `step` makes of a constant, once for all nodes that need it."""
        return self.packer.once(step, (constant,), lambda: self.from_constant(make()))

    def alias(self, value: Value, shape: tuple[int, ...], order: Order) -> Value:
        """Return the same elements as a tensor of another shape or order of axes."""
        if value.quantized is not None:
            q = value.quantized
            integers = self.alias(q.integers, shape, order)
            return Value(
                shape,
                value.dtype,
                order,
                quantized=Quantized(integers, q.scale, q.zero_point),
            )
        return Value(shape, value.dtype, order, buffer=self.buffer(value), origin=value.origin)

    # Tensors in memory -------------------------------------------------------------------------

    def append(self, buffer: int, nodes: Sequence[str] = ()) -> int:
        """Note which nodes an op of the graph computes, and return its buffer."""
        self.owners[buffer] = list(nodes) or [self.node]
        return buffer

    def buffer(self, value: Value) -> int:
        """Return the buffer of a tensor, in the order that it has: computed now if need be."""
        if value.buffer is not None:
            return value.buffer
        if (array := value.constant) is not None:
            dense = np.ascontiguousarray(array.transpose(value.order) if value.order else array)
            value.buffer = _fbg.tensor_constant(self.graph, dense)
            self.given.add(value.buffer)
        elif value.conv is not None:
            value.buffer = self._finish(value.conv)
        elif value.deferred is not None:
            value.buffer = value.deferred.compute(self, value)
        elif value.quantized is not None:
            q = value.quantized
            step = ("dequantize", 0, 0, q.scale, float(q.zero_point))
            value.buffer = self.run_program(Program([q.integers], [step]), value, value.native_type)
        else:
            assert value.program is not None
            value.buffer = self.run_program(value.program, value, value.native_type)
        return value.buffer

    def _finish(self, conv: OpenConv, **place: Any) -> int:
        """Append a convolution whose epilogue is complete. place: see `OpenConv.finish`."""
        residual = None if conv.residual is None else self.buffer(conv.residual)
        x = self.buffer(conv.x)
        buffer, trial = conv.finish(self.graph, x, residual, self.packer, self.features, **place)
        if not conv.algorithm:
            self.trials.append(trial)
        return self.append(buffer, conv.nodes)

    def joined(self, values: Sequence[Value], shape: tuple[int, ...], axis: int) -> Value | None:
        """Let convolutions write their results side by side; None where that is not possible.

        All must be open, nobody else may read them, and `axis` must be that of the channels.
        """
        order = values[0].order
        convs = [value.conv for value in values if value.buffer is None and value.uses <= 1]
        open_convs = [conv for conv in convs if conv is not None]
        alike = all(v.order == order and v.dtype == values[0].dtype for v in values)
        if len(open_convs) < max(len(values), 2) or not alike or not order or order[-1] != axis:
            return None
        buffer, first = None, 0
        for conv in open_convs:
            buffer = self._finish(conv, channels=shape[axis], first=first, before=buffer)
            first += conv.out_channels
        assert buffer is not None
        self.owners[buffer].append(self.node)
        return Value(shape, values[0].dtype, order, buffer=buffer)

    def in_order(self, value: Value, order: Order) -> Value:
        """Return the tensor with its axes in that order."""
        if value.lies_in(order):
            if value.order != order and value.conv is None:
                return Value(value.shape, value.dtype, order, buffer=self.buffer(value))
            return value
        found = value.reordered.get(order)
        if found is None:
            if value.is_constant:
                found = replace(value, order=order, buffer=None, reordered={})
            elif value.quantized is not None:
                q = value.quantized
                integers = self.in_order(q.integers, order)
                found = Value(
                    value.shape,
                    value.dtype,
                    order,
                    quantized=Quantized(integers, q.scale, q.zero_point),
                )
            else:
                axes = [AxisMap(extent, axis) for axis, extent in enumerate(value.shape)]
                found = self.arrange([(value, [0] * len(axes), axes)], value.shape, order)
            value.reordered[order] = found
        return found

    def arrange(
        self,
        parts: Sequence[tuple[Value, Sequence[int], Sequence[AxisMap]]],
        shape: tuple[int, ...],
        order: Order,
        fill: float | None = None,
    ) -> Value:
        """Return a tensor whose elements come from others.

        parts: a tensor, the element of the result at which it begins, and where the elements along
        each axis come from. fill: the value of elements that no part writes.
        """
        dtype = parts[0][0].dtype
        to_strides = strides_of(shape, order)
        buffers: list[int] = []
        native = []
        for value, begin, axes in parts:
            from_strides = strides_of(value.shape, value.order)
            start, items = 0, []
            for axis, to_stride in zip(axes, to_strides, strict=True):
                stride = 0 if axis.source is None else from_strides[axis.source]
                start += axis.start * stride
                table = [i * stride if i >= 0 else -1 for i in axis.table]
                items.append((axis.extent, to_stride, axis.step * stride, table))
            to = sum(b * s for b, s in zip(begin, to_strides, strict=True))
            native.append((len(buffers), to, start, items))
            buffers.append(self.buffer(value))
        size = self._count(shape)
        pattern = b"" if fill is None else self._pattern(fill, dtype)
        buffer = _fbg.tensor_arrange(self.graph, buffers, size, dtype.itemsize, native, pattern)
        return Value(shape, dtype, order, buffer=self.append(buffer))

    def _pattern(self, number: float, dtype: np.dtype[Any]) -> bytes:
        """Return the bytes of an element; integers must be able to hold the number."""
        with np.errstate(all="ignore"):
            element = np.array(number).astype(dtype)
        if dtype.kind in "iub" and element != number:
            raise Unsupported(self.node, f"{number} in a tensor of {dtype}")
        return element.tobytes()

    # Elementwise programs ----------------------------------------------------------------------

    def apply(
        self,
        function: str,
        operands: Sequence[Value],
        c0: float = 0.0,
        c1: float = 0.0,
        dtype: npt.DTypeLike = np.float32,
    ) -> Value:
        """Return function(operands), broadcast as NumPy does: deferred, to be extended."""
        shape = np.broadcast_shapes(*(value.shape for value in operands))
        program = Program([], [])
        registers = [self._join(program, value, shape) for value in operands]
        a, b = registers[0], registers[-1]
        program.steps.append((function, a, b, float(c0), float(c1)))
        order = next(
            (v.order for v in operands if v.shape == shape and not v.is_constant), None
        ) or next((v.order for v in operands if v.shape == shape), natural(len(shape)))
        result = Value(tuple(shape), np.dtype(dtype), order, program=_flattened(program))
        if len(program.operands) + len(program.steps) >= MOST_REGISTERS - 4:
            self.buffer(result)
        return result

    def _join(self, program: Program, value: Value, shape: tuple[int, ...]) -> int:
        """Make a tensor a register of a program: a negative number for a step, see _flattened."""
        inner = None
        floats = value.dtype == np.float32 or value.dtype == np.bool_  # not saturated when stored
        if value.buffer is None and value.shape == tuple(shape) and value.uses <= 1 and floats:
            inner = value.program
        if value.buffer is None and value.quantized is not None:
            q = value.quantized
            inner = Program([q.integers], [("dequantize", 0, 0, q.scale, float(q.zero_point))])
        if inner is None:
            if any(pending is not None for pending in (value.program, value.conv, value.deferred)):
                self.buffer(value)
            return _operand(program, value)
        operands = [_operand(program, operand) for operand in inner.operands]
        program.nodes += inner.nodes
        first = len(program.steps)

        def moved(register: int) -> int:
            if register < len(operands):
                return operands[register]
            return -1 - (first + register - len(operands))

        for function, a, b, c0, c1 in inner.steps:
            program.steps.append((function, moved(a), moved(b), c0, c1))
        return -len(program.steps)

    def run_program(self, program: Program, value: Value, output: str) -> int:
        """Append a program whose result has the shape and order of `value`."""
        order = value.order
        shape = value.shape
        operands = []
        for operand in program.operands:
            ordered = self._aligned(operand, shape, order)
            operands.append((ordered, _stretched(ordered, shape)))
        extents = [shape[axis] for axis in order] or [1]
        strides = [[s[axis] for axis in order] or [0] for _, s in operands]
        extents, strides = _merged(extents, strides)
        native = [
            (self.buffer(operand), operand.native_type, [int(s) for s in own])
            for (operand, _), own in zip(operands, strides, strict=True)
        ]
        if len(native) == 1 and {native[0][1], output} <= {"uint8", "int8"}:
            table = _table(program, native[0][1], output, self.features)
            buffer = _fbg.tensor_look_up(self.graph, native[0][0], table)
        else:
            buffer = _fbg.tensor_elementwise(self.graph, extents, native, program.steps, output)
        return self.append(buffer, program.nodes)

    def _aligned(self, value: Value, shape: tuple[int, ...], order: Order) -> Value:
        """Return an operand whose axes are in the order of the result, aligned at the last."""
        missing = len(shape) - len(value.shape)
        wanted = tuple(axis - missing for axis in order if axis >= missing)
        if value.quantized is not None or value.program is not None or value.conv is not None:
            self.buffer(value)
        return self.in_order(value, wanted)


def _operand(program: Program, value: Value) -> int:
    for i, known in enumerate(program.operands):
        if known is value:
            return i
    program.operands.append(value)
    return len(program.operands) - 1


def _table(program: Program, given: str, output: str, features: int) -> npt.NDArray[np.uint8]:
    """Return the results of a program of one 8-bit operand for all 256 values, as bytes."""
    graph = _fbg.Graph()
    x = _fbg.tensor_constant(graph, np.arange(256, dtype=np.uint8))
    graph.output(_fbg.tensor_elementwise(graph, [256], [(x, given, [1])], program.steps, output))
    table = np.empty(256, np.uint8)
    plan = _fbg.Plan(graph, 1, 1, 1, 1, features=features)
    _fbg.run_tensors(plan, [], [table], 1)
    return table


def _flattened(program: Program) -> Program:
    """Return a program whose registers of steps, which are negative, follow the operands."""
    count = len(program.operands)

    def register(number: int) -> int:
        return number if number >= 0 else count - 1 - number

    steps: list[ProgramStep] = [
        (function, register(a), register(b), c0, c1) for function, a, b, c0, c1 in program.steps
    ]
    program.steps = steps
    return program


def _stretched(value: Value, shape: tuple[int, ...]) -> list[int]:
    """Return the strides of an operand along the axes of a result that it is broadcast to."""
    own = strides_of(value.shape, value.order)
    missing = len(shape) - len(value.shape)
    return [0] * missing + [
        0 if size == 1 else stride for size, stride in zip(value.shape, own, strict=True)
    ]


def _merged(extents: list[int], strides: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """Merge axes that are one run for all operands; axes of size 1 vanish.

    >>> _merged([1, 4, 5, 6], [[120, 30, 6, 1], [0, 0, 0, 1]])
    ([20, 6], [[6, 1], [0, 1]])
    """
    kept = [axis for axis, extent in enumerate(extents) if extent != 1] or [len(extents) - 1]
    sizes, own = [extents[kept[0]]], [[s[kept[0]]] for s in strides]
    for axis in kept[1:]:
        extent = extents[axis]
        if all(s[-1] == full[axis] * extent for s, full in zip(own, strides, strict=True)):
            sizes[-1] *= extent
            for s, full in zip(own, strides, strict=True):
                s[-1] = full[axis]
        else:
            sizes.append(extent)
            for s, full in zip(own, strides, strict=True):
                s.append(full[axis])
    return sizes, own
