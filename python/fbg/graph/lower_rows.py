"""Lowers a graph whose rows are tokens to the native graph, from which plans are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatchmethod

from fbg import _fbg
from fbg.compression.linear import Linear as Layer
from fbg.graph import ops
from fbg.graph.graph import Graph
from fbg.graph.ops import Op, Value

__all__ = ["Lowered", "lower_rows"]


@dataclass(frozen=True)
class Lowered:
    """native: the graph. values: of each of its ops, the value that it is computed for."""

    native: _fbg.Graph
    values: Sequence[Value]


def lower_rows(
    graph: Graph,
    outputs: Sequence[Value] | None = None,
    packed: Callable[[Layer], Layer] = lambda layer: layer,
) -> Lowered:
    """Lower what the outputs need.

    outputs: of the native graph; None: those of the graph.
    packed: returns a layer with the packed weight that the graph is to run with.
    """
    outputs = graph.outputs if outputs is None else outputs
    lowering = _Lowering(packed)
    values: list[Value] = []  # a native op has one buffer, and some values take several
    for value in graph.needed(outputs):
        buffer = lowering.buffers[value] = lowering.append(value.op)
        values += [value] * (buffer + 1 - len(values))
    for value in outputs:
        lowering.native.output(lowering.buffers[value])
    return Lowered(lowering.native, values)


class _Lowering:
    """A native graph that is being built. `append` has a method for each op."""

    def __init__(self, packed: Callable[[Layer], Layer]) -> None:
        self.native = _fbg.Graph()
        self.buffers: dict[Value, int] = {}
        self._packed = packed

    @singledispatchmethod
    def append(self, op: Op) -> int:
        """Append an op and return its buffer."""
        raise TypeError(f"{op.kind}: {type(op).__name__} is not an op of rows")

    @append.register
    def _(self, op: ops.Input) -> int:
        return self.native.input(op.columns)

    @append.register
    def _(self, op: ops.Embed) -> int:
        return self.native.embedding(op.word, op.position, op.token_type)

    @append.register
    def _(self, op: ops.Norm) -> int:
        x, norm = self.buffers[op.x], op.norm
        if isinstance(norm, ops.RmsNorm):
            return self.native.rms_norm(x, norm.weight, norm.eps)
        return self.native.layer_norm(x, norm.weight, norm.bias, norm.eps)

    @append.register
    def _(self, op: ops.NormHeads) -> int:
        weights = op.q_norm.weight, op.k_norm.weight
        return self.native.norm_heads(
            self.buffers[op.qkv], _shape(op.heads), *weights, op.q_norm.eps
        )

    @append.register
    def _(self, op: ops.Add) -> int:
        return self.native.add(self.buffers[op.a], self.buffers[op.b])

    @append.register
    def _(self, op: ops.Linear) -> int:
        x, layer = self.buffers[op.x], self._packed(op.layer)
        weight = layer.packed
        if op.gate is not None and weight.shape[1] // 2 % _fbg.PANEL_COLUMNS:
            # The two halves of a panel's columns would belong to different gates.
            wide = self.native.linear(x, weight, bias=layer.bias, channel_scale=layer.channel_scale)
            return self.native.gated(wide, op.gate)
        return self.native.linear(
            x,
            weight,
            bias=layer.bias,
            activation=op.activation,
            residual=None if op.residual is None else self.buffers[op.residual],
            channel_scale=layer.channel_scale,
            gate=op.gate,
        )

    @append.register
    def _(self, op: ops.Rotate) -> int:
        return self.native.rotate(self.buffers[op.qkv], _shape(op.heads), op.table)

    @append.register
    def _(self, op: ops.Attention) -> int:
        relative = op.relative or ops.Relative()
        return self.native.attention(
            self.buffers[op.qkv],
            _shape(op.heads),
            op.rounds,
            op.distance_bias,
            op.scale,
            op.softcap,
            relative.keys,
            relative.queries,
            relative.rows,
        )

    @append.register
    def _(self, op: ops.Unfold) -> int:
        return self.native.unfold(self.buffers[op.x], op.width)

    @append.register
    def _(self, op: ops.Pool) -> int:
        return self.native.pool(self.buffers[op.x], op.pooling, op.skipped)

    @append.register
    def _(self, op: ops.Tanh) -> int:
        return self.native.tanh(self.buffers[op.x])

    @append.register
    def _(self, op: ops.Normalize) -> int:
        return self.native.normalize(self.buffers[op.x])


def _shape(heads: ops.Heads) -> _fbg.AttentionShape:
    return _fbg.AttentionShape(
        heads.heads, heads.kv_heads, heads.head_dim, heads.causal, heads.window
    )
