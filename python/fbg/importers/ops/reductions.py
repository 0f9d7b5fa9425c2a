"""Global pooling, reductions, and what else is computed along axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fbg.graph.ops.elements import Accumulate, Convert
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import shape_of
from fbg.graph.ops.windows import Geometry, LogSoftmax, Reduce, Softmax
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder, require_table
from fbg.importers.ops.pooling import norms_of_windows, pooled
from fbg.importers.ops.registry import NUMBERS, op


@op("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def build_global_pool(builder: Builder, node: TypedNode) -> None:
    """The mean, the maximum or the p-norm of all pixels."""
    x = builder.input(node, 0)
    batch, channels, *spatial = shape_of(x)
    size = math.prod(spatial)
    flat = builder.reshaped(x, (batch, channels, size))
    g = Geometry((size,), (1,), (1,), (0,), (0,), (1,))
    shape = (batch, channels, 1)
    if node.node.op == "GlobalLpPool":
        result = norms_of_windows(builder, node, flat, shape, g)
    else:
        function = "mean" if node.node.op == "GlobalAveragePool" else "max"
        result = pooled(builder, flat, function, shape, g)
    builder.set_output(node, builder.reshaped(result, node.output_shape()))


def reduced_to_ones(builder: Builder, x: Value, function: str, axes: Sequence[int]) -> Value:
    """Return a reduction whose axes stay, with size 1."""
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(shape_of(x)))
    return builder.reshaped(builder.add(Reduce(x, function, tuple(sorted(axes)))), shape)


_REDUCTIONS: dict[str, tuple[str | None, str, str | None]] = {
    # function of elements, function of the window, function of results
    "ReduceMean": (None, "mean", None),
    "ReduceSum": (None, "sum", None),
    "ReduceMax": (None, "max", None),
    "ReduceMin": (None, "min", None),
    "ReduceProd": (None, "product", None),
    "ReduceSumSquare": ("square", "sum", None),
    "ReduceL1": ("absolute", "sum", None),
    "ReduceL2": ("square", "sum", "square_root"),
    "ReduceLogSum": (None, "sum", "log"),
    "ReduceLogSumExp": (None, "log_sum_exp", None),
}
_OF_ANY_TYPE = ("ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin")


@op(*_REDUCTIONS.keys() - {*_OF_ANY_TYPE}, constants=(1,))
@op("ReduceSum", "ReduceProd", types=NUMBERS, constants=(1,))
@op("ReduceMax", "ReduceMin", types=(*NUMBERS, "bool"), constants=(1,))
def build_reduction(builder: Builder, node: TypedNode) -> None:
    """A reduction over some axes."""
    x = builder.input(node, 0)
    before, function, after = _REDUCTIONS[node.node.op]
    rank = len(x.shape)
    given = builder.constant_input(node, 1)
    axes = node.attribute("axes") if given is None else [int(a) for a in given.reshape(-1)]
    nothing = not axes and node.attribute("noop_with_empty_axes", 0)
    reduced = () if nothing else sorted({a % rank for a in axes}) if axes else tuple(range(rank))
    if before is not None:
        x = builder.apply(before, x)
    if function == "log_sum_exp":
        result = _log_sum_exp(builder, x, reduced)
    else:
        result = reduced_to_ones(builder, x, function, reduced) if reduced else x
    if after is not None:
        result = builder.apply(after, result)
    builder.set_output(node, builder.reshaped(result, node.output_shape()))


def _log_sum_exp(builder: Builder, x: Value, axes: Sequence[int]) -> Value:
    """Return log(sum(exp(x))), whose axes stay; the maximum is taken out, which must be finite."""
    if not axes:
        return x
    largest = float(np.finfo(np.float32).max)
    most = reduced_to_ones(builder, x, "max", axes)
    most = builder.apply("clip", most, c0=-largest, c1=largest)
    powers = builder.apply("exp", builder.apply("subtract", x, most))
    total = reduced_to_ones(builder, powers, "sum", axes)
    return builder.apply("add", builder.apply("log", total), most)


@op("ArgMax", "ArgMin", types=NUMBERS)
def build_position(builder: Builder, node: TypedNode) -> None:
    """The position of the first or the last extreme element along an axis."""
    x = builder.input(node, 0)
    which = "last" if node.attribute("select_last_index", 0) else "first"
    extreme = "max" if node.node.op == "ArgMax" else "min"
    axis = node.attribute("axis", 0) % len(x.shape)
    result = reduced_to_ones(builder, x, f"{which}_{extreme}", [axis])
    builder.set_output(node, builder.reshaped(result, node.output_shape()))


@op("CumSum", "CumProd", types=NUMBERS, constants=(1,))
def build_accumulation(builder: Builder, node: TypedNode) -> None:
    """Sums or products of all elements up to each one."""
    x, axis = builder.input(node, 0), builder.constant_input(node, 1)
    assert axis is not None
    multiplies = node.node.op == "CumProd"
    exclusive, reverse = (bool(node.attribute(name, 0)) for name in ("exclusive", "reverse"))
    along = int(axis.reshape(-1)[0]) % len(x.shape)
    builder.set_output(node, builder.add(Accumulate(x, along, multiplies, exclusive, reverse)))


@op("Softmax", "LogSoftmax")
def build_softmax(builder: Builder, node: TypedNode) -> None:
    """Along one axis; before version 13 along all from the axis on."""
    x = builder.input(node, 0)
    rank = len(x.shape)
    old = node.node.version < 13
    axis = node.attribute("axis", 1 if old else -1) % rank
    made = Softmax if node.node.op == "Softmax" else LogSoftmax
    builder.set_output(node, builder.add(made(x, axis, old and axis < rank - 1)))


@op("Hardmax", since=13)
def build_hardmax(builder: Builder, node: TypedNode) -> None:
    """1 for the first greatest element along an axis, 0 for all others."""
    x = builder.input(node, 0)
    axis = node.attribute("axis", -1) % len(x.shape)
    require_table(node, shape_of(x)[axis])
    best = builder.add(Convert(reduced_to_ones(builder, x, "first_max", [axis]), "int32"))
    places = np.arange(shape_of(x)[axis], dtype=np.int32)
    places = places.reshape(-1, *[1] * (len(x.shape) - 1 - axis))
    builder.set_output(node, builder.apply("equal_int32", best, builder.constant(places)))


@op("DynamicQuantizeLinear")
def build_dynamic_quantize(builder: Builder, node: TypedNode) -> None:
    """Build uint8 with a scale and a zero point for the whole tensor, computed in each run."""
    for index, value in enumerate(dynamically_quantized(builder, builder.input(node, 0))):
        builder.set_output(node, value, index)


def dynamically_quantized(builder: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Return x in uint8, its scale and its zero point."""
    axes = tuple(range(len(x.shape)))
    least, most = (builder.add(Reduce(x, function, axes)) for function in ("min", "max"))
    low = builder.apply("clip", least, c0=-np.inf, c1=0.0)
    high = builder.apply("clip", most, c0=0.0, c1=np.inf)
    span = builder.apply("subtract", high, low)
    zero, largest = (builder.constant(np.array(v, np.float32)) for v in (0, 255))
    is_nothing = builder.apply("equal", span, zero)  # then the scale is 1
    scale = builder.apply("add", builder.apply("divide", span, largest), is_nothing)
    steps = builder.apply("negate", builder.apply("divide", low, scale))
    point = builder.apply("clip", builder.apply("round", steps), c0=0.0, c1=255.0)
    rounded = builder.apply("quantize_by", x, scale)
    q = builder.apply("add", rounded, point, dtype=np.uint8)
    return q, scale, builder.apply("affine", point, c0=1.0, dtype=np.uint8)
