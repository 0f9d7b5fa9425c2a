"""Lowers a graph whose rows are tokens to the native graph, from which plans are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch

from fbg import _fbg
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear as Layer
from fbg.graph.ops import rows as ops
from fbg.graph.ops.common import Map, Norm, RmsNorm
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


@singledispatch
def _append(op: Op, lowering: _Lowering) -> int:
    """Append an op and return its buffer."""
    raise TypeError(f"{op.kind}: {type(op).__name__} is not an op of rows")


@_append.register
def _(op: ops.Input, lowering: _Lowering) -> int:
    return lowering.append("input", op.columns)


@_append.register
def _(op: ops.Embed, lowering: _Lowering) -> int:
    return lowering.append("embedding", op.word, op.position, op.token_type)


@_append.register
def _(op: Norm, lowering: _Lowering) -> int:
    x, norm = lowering.buffers[op.x], op.norm
    if isinstance(norm, RmsNorm):
        return lowering.append("rms_norm", x, norm.weight, norm.eps)
    return lowering.append("layer_norm", x, norm.weight, norm.bias, norm.eps)


@_append.register
def _(op: ops.NormHeads, lowering: _Lowering) -> int:
    weights = op.q_norm.weight, op.k_norm.weight
    return lowering.append(
        "norm_heads", lowering.buffers[op.qkv], _shape(op.heads), *weights, op.q_norm.eps
    )


@_append.register
def _(op: Map, lowering: _Lowering) -> int:
    _, first, second, _, _ = op.steps[0]
    a, b = (lowering.buffers[op.operands[i]] for i in (first, second))
    if op.kind == "add":
        return lowering.append("add", a, b)
    if op.kind == "tanh":
        return lowering.append("tanh", a)
    raise TypeError(f"{op.kind} is not a function of rows")


@_append.register
def _(op: ops.Linear, lowering: _Lowering) -> int:
    x, layer = lowering.buffers[op.x], lowering.packed(op.layer)
    weight = layer.packed
    if op.gate is not None and weight.shape[1] // 2 % _fbg.PANEL_COLUMNS:
        # The two halves of a panel's columns would belong to different gates.
        wide = lowering.append(
            "linear", x, weight, bias=layer.bias, channel_scale=layer.channel_scale
        )
        return lowering.append("gated", wide, op.gate)
    return lowering.append(
        "linear",
        x,
        weight,
        bias=layer.bias,
        activation=op.activation,
        residual=None if op.residual is None else lowering.buffers[op.residual],
        channel_scale=layer.channel_scale,
        gate=op.gate,
        routes=None if op.routes is None else lowering.buffers[op.routes],
        expert=op.expert,
    )


@_append.register
def _(op: ops.Route, lowering: _Lowering) -> int:
    return lowering.append("route", lowering.buffers[op.logits], op.count)


@_append.register
def _(op: ops.TakeRouted, lowering: _Lowering) -> int:
    x, routes = (lowering.buffers[value] for value in (op.x, op.routes))
    return lowering.append("take_routed", x, routes, op.expert)


@_append.register
def _(op: ops.AddRouted, lowering: _Lowering) -> int:
    total, rows, routes = (lowering.buffers[value] for value in (op.sum, op.rows, op.routes))
    return lowering.append("add_routed", total, rows, routes, op.expert, op.bias)


@_append.register
def _(op: ops.Rotate, lowering: _Lowering) -> int:
    return lowering.append("rotate", lowering.buffers[op.qkv], _shape(op.heads), op.table)


@_append.register
def _(op: ops.Attention, lowering: _Lowering) -> int:
    relative = op.relative or ops.Relative()
    return lowering.append(
        "attention",
        lowering.buffers[op.qkv],
        _shape(op.heads),
        op.rounds,
        op.distance_bias,
        op.scale,
        op.softcap,
        relative.keys,
        relative.queries,
        relative.rows,
    )


@_append.register
def _(op: ops.Unfold, lowering: _Lowering) -> int:
    return lowering.append("unfold", lowering.buffers[op.x], op.width)


@_append.register
def _(op: ops.Pool, lowering: _Lowering) -> int:
    return lowering.append("pool", lowering.buffers[op.x], op.pooling, op.skipped)


@_append.register
def _(op: ops.Normalize, lowering: _Lowering) -> int:
    return lowering.append("normalize", lowering.buffers[op.x])


def _shape(heads: ops.Heads) -> tuple[int, int, int, bool, int | None]:
    return heads.heads, heads.kv_heads, heads.head_dim, heads.causal, heads.window
