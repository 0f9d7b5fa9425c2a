"""The ops of a graph, each a frozen dataclass: what it reads, its parameters, and its result.

An op that a network adds is checked at once: `infer` returns the shape of its result, or raises
ValueError and names the field that does not fit. Dimensions are numbers or names, such as "tokens",
which become numbers when a plan is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.graph.linear import Linear as Layer
from fbg.graph.ops.common import RmsNorm
from fbg.graph.ops.op import Op, Shape, Value, described
from fbg.matmul.vocabulary import Table, columns_of

Integers = npt.NDArray[np.int32]

TOKENS, SEQUENCES = "tokens", "sequences"  # rows of a value

ACTIVATIONS = ("none", "gelu", "gelu_tanh", "relu", "silu")
GATES = ("gelu", "gelu_tanh", "silu", "relu")


@dataclass(frozen=True, eq=False)
class Input(Op):
    """Rows that the caller computes: hidden states between two parts of a network."""

    columns: int
    kind = "input"
    is_brought = True

    def infer(self) -> Shape:
        if self.columns < 1:
            raise self.error("columns", "be positive", self.columns)
        return TOKENS, self.columns


@dataclass(frozen=True, eq=False)
class Embed(Op):
    """The rows of tokens, plus the rows of their positions and their types."""

    word: Table  # (V, E)
    position: Floats | None = None
    token_type: Floats | None = None
    kind = "embed"

    def infer(self) -> Shape:
        columns = columns_of(self.word)
        for name in ("word", "position", "token_type"):
            table = getattr(self, name)
            if table is not None and (table.ndim != 2 or columns_of(table) != columns):
                raise self.error(name, f"be a table of {columns} columns", table.shape)
        return TOKENS, columns

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        word = f"word {[len(self.word), columns_of(self.word)]}"
        return [word, *super().describe(numbers)[1:]]


@dataclass(frozen=True)
class Heads:
    """The heads of attention; a row of queries, keys and values has them side by side.

    kv_heads: the number of heads of keys and values; heads / kv_heads heads of queries share one.
    causal: whether a token sees only itself and earlier tokens. window: how far it sees.
    """

    heads: int
    kv_heads: int
    head_dim: int
    causal: bool = False
    window: int | None = None

    @property
    def columns(self) -> int:
        """The columns of queries, keys and values together."""
        return (self.heads + 2 * self.kv_heads) * self.head_dim


@dataclass(frozen=True, eq=False)
class NormHeads(Op):
    """An RMS norm of the query and of the key of each head."""

    qkv: Value
    heads: Heads
    q_norm: RmsNorm
    k_norm: RmsNorm
    kind = "norm_heads"

    def infer(self) -> Shape:
        _require_heads(self, self.qkv, self.heads)
        if self.q_norm.eps != self.k_norm.eps:
            raise self.error("k_norm", f"have eps {self.q_norm.eps}", self.k_norm.eps)
        return self.qkv.shape


@dataclass(frozen=True, eq=False)
class Linear(Op):
    """activation(x @ weight + bias) + residual, a linear layer.

    gate: the function of a gated layer: gate(a) * b, where a row of the product is a, b end to end.
        Such a layer has neither an activation nor a residual.
    layer: the weight and bias; the weight need not be packed before the graph is lowered.
    routes, expert: as of `TakeRouted`, of which it reads as many rows as come to the expert.
    """

    x: Value
    layer: Layer
    activation: str = "none"
    gate: str | None = None
    residual: Value | None = None
    routes: Value | None = None
    expert: int = 0
    kind = "linear"

    @property
    def label(self) -> str:
        return self.layer.name.rpartition(".")[2]

    def infer(self) -> Shape:
        inputs, outputs = self.layer.weight.shape
        self.require_columns("x", self.x, inputs)
        if self.activation not in ACTIVATIONS:
            raise self.error("activation", f"be {_either(ACTIVATIONS)}", self.activation)
        if self.gate is not None:
            if self.gate not in GATES:
                raise self.error("gate", f"be {_either(GATES)}", self.gate)
            if self.activation != "none" or self.residual is not None:
                raise self.error("gate", "have neither an activation nor a residual", self.gate)
            outputs //= 2
        shape = (self.x.shape[0], outputs)
        if self.residual is not None and self.residual.shape != shape:
            raise self.error("residual", f"have shape {list(shape)}", list(self.residual.shape))
        return shape


@dataclass(frozen=True, eq=False)
class Route(Op):
    """The softmax of each row, with 0 for all columns but the `count` largest: the weights of the
    experts that the row goes to.
    """

    logits: Value
    count: int
    kind = "route"

    def infer(self) -> Shape:
        if not 1 <= self.count <= self.logits.columns:
            raise self.error("count", f"be from 1 to {self.logits.columns}", self.count)
        return self.logits.shape


@dataclass(frozen=True, eq=False)
class TakeRouted(Op):
    """The rows that go to an expert, one after the other; what follows them means nothing.

    routes: the weights, (rows, experts). expert: its column.
    """

    x: Value
    routes: Value
    expert: int
    kind = "take_routed"

    def infer(self) -> Shape:
        return self.x.shape


@dataclass(frozen=True, eq=False)
class AddRouted(Op):
    """A sum plus, in each row that goes to an expert, its weight times the next of `rows`; and plus
    the bias.
    """

    sum: Value
    rows: Value
    routes: Value
    expert: int
    bias: Floats | None = None
    kind = "add_routed"

    def infer(self) -> Shape:
        self.require_columns("rows", self.rows, self.sum.columns)
        return self.sum.shape


@dataclass(frozen=True, eq=False)
class Rotate(Op):
    """Queries and keys turned by the places of their tokens; the table has cosines and sines."""

    qkv: Value
    heads: Heads
    table: Floats
    kind = "rotate"

    def infer(self) -> Shape:
        _require_heads(self, self.qkv, self.heads)
        return self.qkv.shape


@dataclass(frozen=True)
class Relative:
    """Keys and queries of distances (`fbg.networks.distances`): tables and the rows of each."""

    keys: Floats | None = None
    queries: Floats | None = None
    rows: Integers | None = None


@dataclass(frozen=True, eq=False)
class Attention(Op):
    """softmax(q @ k^T * scale + bias) @ v, each sequence by itself.

    distance_bias: (heads, 2 L - 1), added to the scores before they are multiplied by the scale.
    rounds: whether products may round to bfloat16.
    """

    qkv: Value
    heads: Heads
    rounds: bool = False
    distance_bias: Floats | None = None
    scale: float | None = None
    softcap: float | None = None
    relative: Relative | None = None
    kind = "attention"

    def infer(self) -> Shape:
        _require_heads(self, self.qkv, self.heads)
        return TOKENS, self.heads.heads * self.heads.head_dim


@dataclass(frozen=True, eq=False)
class Unfold(Op):
    """The row of each token beside the rows of its neighbours, with zeros beyond the sequence."""

    x: Value
    width: int
    kind = "unfold"

    def infer(self) -> Shape:
        self.require_rows("x", self.x, TOKENS)
        if self.width < 1:
            raise self.error("width", "be positive", self.width)
        return TOKENS, self.width * self.x.columns


@dataclass(frozen=True, eq=False)
class Pool(Op):
    """One row for each sequence. skipped: the number of leading tokens that do not count."""

    x: Value
    pooling: str
    skipped: int = 0
    kind = "pool"

    def infer(self) -> Shape:
        self.require_rows("x", self.x, TOKENS)
        return SEQUENCES, self.x.columns


@dataclass(frozen=True, eq=False)
class Normalize(Op):
    """Rows scaled to length 1."""

    x: Value
    kind = "normalize"

    def infer(self) -> Shape:
        return self.x.shape


def _require_heads(op: Op, qkv: Value, heads: Heads) -> None:
    op.require_rows("qkv", qkv, TOKENS)
    op.require_columns("qkv", qkv, heads.columns)


def _either(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


@described.register
def _(value: Layer, name: str) -> list[str]:
    shown = f"{value.name.rpartition('.')[2]} {value.dtype} {list(value.weight.shape)}"
    return [shown, "bias"] if value.bias is not None else [shown]


@described.register
def _(value: Heads, name: str) -> list[str]:
    fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if value.kv_heads == value.heads:
        del fields["kv_heads"]
    return [part for field, own in fields.items() for part in described(own, field)]


@described.register
def _(value: Relative, name: str) -> list[str]:
    return [name]
