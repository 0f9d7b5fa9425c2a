"""Lowers functions of elements: to a table of bytes, a pipeline in registers, or a program."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Array
from fbg.graph.epilogue import LEAST_SCALE
from fbg.graph.expression import fits, integers, pipeline_steps, program_steps
from fbg.graph.functions import COMPOSED
from fbg.graph.lower.layout import Order, merged_axes, natural, stretched
from fbg.graph.lower.tensors import Stored, TensorLowering, append
from fbg.graph.ops import tensors as ops
from fbg.graph.ops.common import Map, MapStep, reads_bits
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.tensors import Sizes, shape_of
from fbg.graph.passes.maps import as_map
from fbg.graph.steps import Binary, Step, residual

# Functions whose errors are relative, unlike those of the stages that are called so.
RELATIVE = {name: f"{name}_relative" for name in ("tanh", "sigmoid", "gelu_tanh")}
# Functions that programs leave to the C library, element by element.
BY_ELEMENT = {"erf", "log", "softplus", "elu"}
# Functions of COMPOSED that programs have as well.
OF_PROGRAMS = {"affine", "and", "dequantize", "elu", "hard_sigmoid", "hard_swish", "leaky", "not"}
OF_PROGRAMS |= {"negate", "or", "quantize_by", "reciprocal", "sign", "softsign", "square", "xor"}
OF_PROGRAMS |= {"threshold"}
LEAST_STEPS = 4  # of others, of which a pipeline takes less time than a program
WIDTHS = (64, 32, 16)  # columns of a tensor without any, so that tiles are tall


@append.register(Map)
@append.register(ops.Quantize)
@append.register(ops.Dequantize)
def _(op: Op, lowering: TensorLowering, value: Value) -> Stored:
    own = as_map(op)
    assert own is not None
    shape = shape_of(value)
    given = [lowering.stored(x) for x in own.operands]
    output = "uint8" if value.dtype == "bool" else value.dtype
    read = [x for x in given if x.array is None or x.size != 1]
    bytewise = {x.native_type for x in read} | {output} <= {"uint8", "int8"}
    if bytewise and [x.shape for x in read] == [shape]:
        x = read[0]
        known = [(None if g is x else g.array, g.native_type) for g in given]
        table = table_of(own.steps, known, output, lowering.features)
        buffer = lowering.native.append("look_up", lowering.buffer(x), table)
        return lowering.written(value, x.order, buffer)
    own = replace(own, steps=_of_unit_scale(own.steps, len(given)))
    whole = [x for x in given if x.shape == shape]
    varying = next((x.order for x in whole if x.array is None), None)
    order = varying or next((x.order for x in whole), natural(len(shape)))
    operands = [aligned(lowering, x, shape, order) for x in given]
    extents: list[int] = [shape[axis] for axis in order] or [1]
    strides = [stretched(x.shape, x.order, shape) for x in operands]
    extents, strides = merged_axes(extents, [[s[axis] for axis in order] or [0] for s in strides])
    native = [
        (lowering.buffer(x), _register(own, i, x.native_type), [int(s) for s in own_strides])
        for i, (x, own_strides) in enumerate(zip(operands, strides, strict=True))
    ]
    pipeline = _pipeline(own, operands, strides, lowering)
    if pipeline is None:
        buffer = _append_program(lowering.native, extents, native, own.steps, output)
        return lowering.written(value, order, buffer)
    steps, reading = pipeline
    rows = [(native[operand][0], [int(s) for s in strides[operand][:-1]]) for operand in reading]
    if len(extents) == 1:
        width = next((width for width in WIDTHS if extents[0] % width == 0), extents[0])
        extents = [extents[0] // width, width]
        rows = [(buffer, [width]) for buffer, _ in rows]
    native_steps = [step.native() for step in steps]
    floats = value.dtype != "int32"
    buffer = lowering.native.append("expression", extents, rows, native_steps, gives_floats=floats)
    return lowering.written(value, order, buffer)


def _register(op: Map, operand: int, dtype: str) -> str:
    """Return the type as which an operand is read: functions of int32 take its bits as they are."""
    reads = (step for step in op.steps if operand in step[1:3])
    return "float32" if any(reads_bits(function) for function, *_ in reads) else dtype


def _of_unit_scale(steps: tuple[MapStep, ...], count: int) -> tuple[MapStep, ...]:
    """Return steps whose result is rounded without a division, where factors alone lead to it.

    The scale of the result is taken out of that of an operand.
    """
    last = steps[-1]
    uses = Counter(register for step in steps for register in set(step[1:3]))
    waiting = [last[1]] if last[0] == "quantize" else []
    for register in waiting:
        if register < count or uses[register] != 1:
            continue
        at = register - count
        function, a, b, c0, c1 = steps[at]
        if function == "multiply" and a != b:
            waiting += [a, b]
        elif function == "dequantize":
            scale = float(np.float32(c0 / last[3]))
            if LEAST_SCALE <= scale <= 1 / LEAST_SCALE:
                changed = [*steps[:-1], ("quantize", last[1], last[2], 1.0, last[4])]
                changed[at] = (function, a, b, scale, c1)
                return tuple(changed)
    return steps


def _append_program(
    graph: Any,
    extents: Sequence[int],
    operands: Sequence[tuple[int, str, list[int]]],
    steps: Sequence[MapStep],
    output: str,
) -> int:
    """Append the program of a map, and the numbers that it reads. Return the buffer it writes."""
    if len(operands) == len(steps) == 1 and _is_identity(steps[0]):
        steps = []  # it only converts
    steps, numbers = program_steps(steps, len(operands), OF_PROGRAMS)
    for number in numbers:
        constant = graph.append("constant", np.array([number], np.float32))
        operands = [*operands, (constant, "float32", [0] * len(extents))]
    buffer: int = graph.append("elementwise", extents, operands, steps, output)
    return buffer


def _is_identity(step: MapStep) -> bool:
    """Whether a step multiplies by 1 and adds -0, which keeps the sign of a zero, too."""
    function, *_, factor, summand = step
    adds_nothing = summand == 0 and math.copysign(1, summand) < 0
    return (function, factor) == ("affine", 1) and adds_nothing


def aligned(lowering: TensorLowering, x: Stored, shape: Sizes, order: Order) -> Stored:
    """Return an operand whose axes are in the order of the result, aligned at the last."""
    missing = len(shape) - len(x.shape)
    return lowering.in_order(x, tuple(axis - missing for axis in order if axis >= missing))


def table_of(
    steps: Sequence[MapStep], given: Sequence[tuple[Array | None, str]], output: str, features: int
) -> npt.NDArray[np.uint8]:
    """Return the results of a function of one 8-bit operand and numbers for all 256 values.

    given: the operands, the numbers as arrays, with their types.
    """
    graph = _fbg.Graph()
    operands = []
    for number, dtype in given:
        values = np.arange(256, dtype=np.uint8) if number is None else number.reshape(1)
        operands.append((graph.append("constant", values), dtype, [int(values.size > 1)]))
    graph.output(_append_program(graph, [256], operands, steps, output))
    table = np.empty(256, np.uint8)
    plan = _fbg.Plan(graph, 1, 1, 1, 1, features=features)
    _fbg.run_tensors(plan, [], [table], 1)
    return table


def _pipeline(
    own: Map,
    given: Sequence[Stored],
    strides: Sequence[Sequence[int]],
    lowering: TensorLowering,
) -> tuple[list[Step], list[int]] | None:
    """Return the steps of a pipeline that computes a map, and the operand that each one reads.

    None where there is none, or where a program takes less time.
    """
    by_element = any(
        step[0] in BY_ELEMENT or (step[0] in COMPOSED and step[0] not in OF_PROGRAMS)
        for step in own.steps
    )
    few = len(own.steps) < LEAST_STEPS or _fbg.best_isa(lowering.features) == "generic"
    if few and not by_element:
        return None
    operands: dict[int, Binary] = {}
    for register, (x, own_strides) in enumerate(zip(given, strides, strict=True)):
        read = _operand(x, own_strides[-1])
        if read is None:
            return None
        read = replace(read, tensor=register)
        dequantized = integers(own.steps, register, len(given))
        if read.operand == "matrix" and dequantized is not None:
            number, (_, _, _, scale, zero_point) = dequantized
            operands[number] = replace(read, scale=scale, zero_point=int(zero_point))
        operands[register] = read
    dtype = own.dtype
    relative = [(RELATIVE.get(step[0], step[0]), *step[1:]) for step in own.steps]
    steps = pipeline_steps(relative, operands, None, dtype, len(given))
    if steps is None or not fits(steps):
        return None
    reading = [s.tensor for s in steps if isinstance(s, Binary) and s.operand == "matrix"]
    return (steps, reading) if reading else None


def _operand(x: Stored, stride: int) -> Binary | None:
    """Return how a pipeline reads an operand of that stride of columns; None if it cannot."""
    if x.array is not None and x.size == 1:
        if x.dtype != "float32":
            return None
        return Binary("add", "constant", number=float(x.array.reshape(-1)[0]))
    readable = x.native_type in ("float32", "uint8", "int8")
    return residual(x.native_type) if readable and stride == 1 else None
