"""Lowers a graph whose rows are tokens to the native graph, from which plans are made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from fbg import _fbg
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear as Layer
from fbg.graph.ops import rows as ops
from fbg.graph.ops.common import Map, Norm
from fbg.graph.ops.op import Op, Value


@dataclass(frozen=True)
class Lowered:
    """native: the graph. values: for each of its ops, the value that the op computes."""

    native: _fbg.Graph
    values: Sequence[Value]


def lower_rows(
    graph: Graph,
    outputs: Sequence[Value] | None = None,
    packed: Callable[[Layer], Layer] = lambda layer: layer,
) -> Lowered:
    """Lower what the outputs need.

    outputs: the outputs of the native graph; None: all outputs of the graph.
    packed: returns a layer with the packed weight that the graph is to run with.
    """
    outputs = graph.outputs if outputs is None else outputs
    lowering = _Lowering(packed)
    values: list[Value] = []  # a native op writes one buffer, and some values take several ops
    for value in graph.needed(outputs):
        buffer = lowering.buffers[value] = _append(value.op, lowering)
        values += [value] * (buffer + 1 - len(values))
    for value in outputs:
        lowering.native.output(lowering.buffers[value])
    return Lowered(lowering.native, values)


class _Lowering:
    """A native graph under construction, and the buffers that hold values."""

    def __init__(self, packed: Callable[[Layer], Layer]) -> None:
        self.native = _fbg.Graph()
        self.append = self.native.append
        self.buffers: dict[Value, int] = {}
        self.packed = packed

    def field(self, value: Any) -> Any:
        """Return a field of an op as native ops have it."""
        if isinstance(value, Value):
            return self.buffers[value]
        if dataclasses.is_dataclass(value):
            return [getattr(value, each.name) for each in dataclasses.fields(value)]
        return value


@singledispatch
def _append(op: Op, lowering: _Lowering) -> int:
    """Append an op and return its buffer."""
    raise TypeError(f"{op.kind}: {type(op).__name__} is not an op of rows")


@_append.register(ops.AddRouted)
@_append.register(ops.Attention)
@_append.register(ops.Embed)
@_append.register(ops.Input)
@_append.register(ops.Pool)
@_append.register(ops.Rotate)
@_append.register(ops.Route)
@_append.register(ops.TakeRouted)
@_append.register(ops.Unfold)
def _(op: Op, lowering: _Lowering) -> int:
    """Those that have the fields of the native op of that kind."""
    fields = (getattr(op, each.name) for each in dataclasses.fields(op))
    return lowering.append(op.kind, *map(lowering.field, fields))


@_append.register
def _(op: Norm, lowering: _Lowering) -> int:
    norm = op.norm
    return lowering.append(
        "norm", lowering.buffers[op.x], op.kind, norm.weight, getattr(norm, "bias", None), norm.eps
    )


@_append.register
def _(op: ops.NormHeads, lowering: _Lowering) -> int:
    heads = op.heads
    q, k = np.tile(op.q_norm.weight, heads.heads), np.tile(op.k_norm.weight, heads.kv_heads)
    gamma, qkv = np.concatenate([q, k]), lowering.buffers[op.qkv]
    return lowering.append("norm", qkv, "rms_norm", gamma, None, op.q_norm.eps, heads.head_dim)


@_append.register
def _(op: ops.Normalize, lowering: _Lowering) -> int:
    return lowering.append("norm", lowering.buffers[op.x], op.kind)


@_append.register
def _(op: Map, lowering: _Lowering) -> int:
    operands = [(lowering.buffers[value], "float32", [1]) for value in op.operands]
    return lowering.append("elementwise", [op.operands[0].columns], operands, op.steps)


@_append.register
def _(op: ops.Linear, lowering: _Lowering) -> int:
    layer = lowering.packed(op.layer)
    weight = layer.packed
    # The two halves of a panel's columns would belong to different gates.
    width = weight.shape[1] // 2
    apart = op.gate is not None and width % _fbg.PANEL_COLUMNS != 0
    y = lowering.append(
        "linear",
        lowering.buffers[op.x],
        weight,
        layer.bias,
        op.activation,
        lowering.field(op.residual),
        layer.channel_scale,
        None if apart else op.gate,
        lowering.field(op.routes),
        op.expert,
    )
    if not apart:
        return y
    halves = [(y, "float32", [1]), (y, "float32", [1], width)]
    steps = [(op.gate, 0, 0, 0.0, 0.0), ("multiply", 2, 1, 0.0, 0.0)]
    return lowering.append("elementwise", [width], halves, steps)
