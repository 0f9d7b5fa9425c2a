"""Lowers products: packs their weights, and finds stacks of matrices where they are stored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fbg import _fbg
from fbg.conv.packed_conv import PackedConv
from fbg.graph.lower.conv_trial import trial_of
from fbg.graph.lower.layout import channels_last, natural, with_last
from fbg.graph.lower.tensors import Stored, TensorLowering, append
from fbg.graph.ops.op import Value
from fbg.graph.ops.products import Attend, Conv, Linear, MatMul, Product
from fbg.graph.ops.tensors import Sizes, shape_of
from fbg.tuning.store import store
from fbg.tuning.trials import ConvTrial

# Where kernels multiply bfloat16 by bfloat16; elsewhere they would widen both.
ROUNDING_ISAS = ("avx512_bf16", "avx512_fp16", "avx512_amx", "neon_bf16")
ROUNDING_COST = 0.5  # of an element of x that is rounded, in the unit of modelled costs

Matrices = tuple[int, list[int], int, int]  # buffer, strides along the stack, of rows, of columns


@append.register(Conv)
@append.register(Linear)
def _(op: Product, lowering: TensorLowering, value: Value) -> Stored:
    ways = _ways(op, lowering)
    way = min(ways, key=lambda way: way.cost(op, lowering)) if len(ways) > 1 else ways[0]
    packed = way.packed
    if not packed.algorithms(op.pixels, zero_points=op.w_zero_point is not None):
        raise ValueError("no algorithm of convolution applies")
    lowering.packer.kept.append(packed)
    order_of = natural if isinstance(op, Linear) else channels_last
    order = order_of(len(value.shape))
    given = [lowering.in_order(lowering.stored(op.x), order_of(len(op.x.shape)))]
    if op.residual is not None:
        given.append(lowering.in_order(lowering.stored(op.residual), order))
    buffers = [lowering.buffer(stored) for stored in given]
    fields, trial = _convolution(op, way, given, lowering)
    if not op.algorithm:
        lowering.trials.append(trial)
    computed = {
        name: None if of is None else lowering.buffer(lowering.stored(of))
        for name, of in (
            ("computed_scale", op.computed_scale),
            ("computed_zero_point", op.computed_zero_point),
        )
    }
    place: dict[str, Any] = {}
    if op.part is not None:
        before = None if op.before is None else lowering.stored(op.before).buffer
        place = {"channels": op.part.channels, "first": op.part.first, "before": before}
    buffer = lowering.native.append(
        "convolve",
        buffers[0],
        residual=buffers[1] if len(buffers) > 1 else None,
        algorithm=op.algorithm,
        measured=store.algorithm(trial.key),
        **fields,
        **computed,
        **place,
    )
    return lowering.written(value, order, buffer)


@dataclass(frozen=True)
class Way:
    """A way to multiply by the weights of a product.

    source: how kernels take x (`fbg.conv.convolution.Quantization`).
    """

    packed: PackedConv
    source: str = "native"

    def cost(self, op: Product, lowering: TensorLowering) -> float:
        """Return the modelled cost of the cheapest algorithm."""
        native = self.packed._native
        if self.source == "round":
            native = _fbg.conv_bfloat16(native)  # not kept, as it may not be chosen
        batch, spatial = _image(op)
        found = native.algorithms(batch, spatial, [], self.source, False, False, lowering.features)
        rounding = ROUNDING_COST * math.prod(op.pixels) if self.source == "round" else 0.0
        return min((cost for _, cost, _ in found), default=math.inf) + rounding


def _ways(op: Product, lowering: TensorLowering) -> list[Way]:
    """Return the ways to multiply, of which the first one of least cost is taken.

    Those of bfloat16: rounding x, too, where the CPU multiplies bfloat16 by itself; weights that
    are widened as they are loaded; and weights that are widened beforehand, for the algorithms that
    have no other (Winograd, Strassen). With an algorithm that the op names, only the CPU decides:
    results do not depend on the number of rows.
    """
    options, get = op.packed_options(), lowering.packer.get
    packed = get(op.w, options)
    if options.get("dtype") != "bfloat16":
        return [Way(packed)]
    rounding = [Way(packed, "round")] * (_fbg.best_isa(lowering.features) in ROUNDING_ISAS)
    if op.algorithm:
        return rounding or [Way(packed)]
    return [*rounding, Way(packed), Way(get(op.w, {**options, "dtype": "float32"}))]


def _image(op: Product) -> tuple[int, tuple[int, ...]]:
    """Return the batch and the three extents of x."""
    batch, *spatial, _ = op.pixels
    return batch, (*[1] * (3 - len(spatial)), *spatial)


def _convolution(
    op: Product, way: Way, given: Sequence[Stored], lowering: TensorLowering
) -> tuple[dict[str, Any], ConvTrial]:
    """Return the fields of a product in a native graph, and a function that times it alone."""
    epilogue = op.epilogue(lowering.packer)
    batch, spatial = _image(op)
    packed = way.packed
    fields = {
        "weights": packed._native_for(way.source),
        "batch": batch,
        "spatial": spatial,
        "stages": epilogue.stages,
        "source": "int8" if given[0].dtype == "int8" else way.source,
        "has_scale": op.is_integer,
        "scale": epilogue.x_scale,
        "zero_point": op.x_zero_point,
    }
    return fields, trial_of(fields, packed, [x.nbytes for x in given], lowering.features)


@append.register
def _(op: MatMul, lowering: TensorLowering, value: Value) -> Stored:
    shape = shape_of(value)
    stack, order = shape[:-2], natural(len(shape))
    a = _matrices(lowering, op.a, stack, (-1,))
    b = _matrices(lowering, op.b, stack, (-1, -2))
    result = Stored(shape, value.dtype, order)
    c = (0, result.strides[:-2], result.strides[-2], 1)
    sizes = (shape[-2], shape_of(op.a)[-1], shape[-1])
    buffer = lowering.native.append("multiply", list(stack), sizes, a, b, c)
    return lowering.written(value, order, buffer)


@append.register
def _(op: Attend, lowering: TensorLowering, value: Value) -> Stored:
    shape = shape_of(value)
    stack = shape[:-2]
    (m, k), n = shape_of(op.q)[-2:], shape_of(op.k)[-1]
    keys = _matrices(lowering, op.k, stack, (-2,))
    bias = None if op.bias is None else _matrices(lowering, op.bias, stack, (-1,), m)
    # The result has heads side by side in a row, where Q has them.
    q_order = lowering.stored(op.q).order
    order = q_order if len(op.q.shape) == len(shape) else natural(len(shape))
    order = with_last(order, len(shape) - 1)
    result = Stored(shape, value.dtype, order)
    buffer = lowering.native.append(
        "attend",
        list(stack),
        (m, n, k, shape[-1]),
        _matrices(lowering, op.q, stack, (-1,)),
        (*keys[:2], keys[3], keys[2]),
        _matrices(lowering, op.v, stack, (-1,)),
        (0, result.strides[:-2], result.strides[-2], 1),
        bias,
        op.scale,
        op.rounds,
    )
    return lowering.written(value, order, buffer)


def _matrices(
    lowering: TensorLowering,
    value: Value,
    stack: Sizes,
    unit: tuple[int, ...],
    rows: int | None = None,
) -> Matrices:
    """Return the matrices of a tensor (…, M, N), broadcast to a stack of them.

    unit: the axes of which one must have a stride of 1. rows: the size to which M = 1 is broadcast.
    """
    x = lowering.stored(value)
    if len(x.shape) < 2:
        shape = (1,) * (2 - len(x.shape)) + x.shape
        x = Stored(shape, x.dtype, (0, 1), lowering.buffer(x))
    rank = len(x.shape)
    places = [axis % rank for axis in unit]
    strides = x.strides
    if not any(strides[axis] == 1 or x.shape[axis] == 1 for axis in places):
        x = lowering.in_order(x, with_last(x.order, places[0]))
        strides = x.strides
    for axis in places:
        if x.shape[axis] == 1 and not any(strides[other] == 1 for other in places):
            strides[axis] = 1
    along = [0 if size == 1 else s for size, s in zip(x.shape, strides, strict=True)]
    missing = len(stack) - (rank - 2)
    row = 0 if rows is not None and x.shape[-2] == 1 else strides[-2]
    return lowering.buffer(x), [0] * missing + along[:-2], row, strides[-1]
