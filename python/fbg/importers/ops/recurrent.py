"""RNN, GRU and LSTM: the product of x for all steps, and a recurrent layer after it.

Layouts differ in the order of axes only, which lowering chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fbg.arrays import Array
from fbg.graph.ops.moves import AxisMap, Move
from fbg.graph.ops.op import Value
from fbg.graph.ops.products import Linear
from fbg.graph.ops.recurrent import GATES, STATES, Function, Recurrent, RecurrentWeights
from fbg.graph.ops.tensors import Constant, Sizes, shape_of
from fbg.graph.packed_weights import Weights
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder, weights_of
from fbg.importers.ops.quantized import integer_weights
from fbg.importers.ops.reductions import dynamically_quantized
from fbg.importers.ops.registry import BYTES, op

# The functions that fbg has of those that ONNX names: what it calls them, and the defaults of alpha
# and beta, as far as they have these.
_FUNCTIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "relu": ("relu", ()),
    "tanh": ("tanh", ()),
    "sigmoid": ("sigmoid", ()),
    "softsign": ("softsign", ()),
    "softplus": ("softplus", ()),
    "affine": ("affine", (1.0, 0.0)),
    "leakyrelu": ("leaky", (0.01,)),
    "thresholdedrelu": ("threshold", (1.0,)),
    "hardsigmoid": ("hard_sigmoid", (0.2, 0.5)),
    "elu": ("elu", (1.0,)),
}
_DEFAULTS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
_DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}


@dataclass(frozen=True)
class Layer:
    """The sizes of a layer, and whether the batch is the first axis of its tensors."""

    cell: str
    direction: str
    hidden: int
    batch_first: bool

    @property
    def directions(self) -> int:
        """How many there are."""
        return _DIRECTIONS[self.direction]

    @property
    def rows(self) -> int:
        """All gates of all directions."""
        return self.directions * GATES[self.cell] * self.hidden

    @classmethod
    def of(cls, node: TypedNode, cell: str, hidden: int) -> Layer:
        """Return the layer of a node, whose weights have that hidden size."""
        direction = node.attribute("direction", "forward")
        if direction not in _DIRECTIONS:
            raise Unsupported(node.node.name, f"direction {direction!r}")
        if node.attribute("hidden_size", hidden) != hidden:
            raise Unsupported(node.node.name, f"weights for hidden_size {hidden}")
        return cls(cell, direction, hidden, bool(node.attribute("layout", 0)))


@op("RNN", "GRU", "LSTM", constants=(1, 2, 3, 7), since=7)
def build_recurrent(builder: Builder, node: TypedNode) -> None:
    """float32, with constant weights."""
    w, r = (_matrix(builder, node, index) for index in (1, 2))
    layer = Layer.of(node, node.node.op, r.shape[-1])
    gates = GATES[layer.cell] * layer.hidden
    x = builder.input(node, 0)
    columns = shape_of(x)[-1]
    for matrix, shape in (w, (gates, columns)), (r, (gates, layer.hidden)):
        if len(x.shape) != 3 or matrix.shape != (layer.directions, *shape):
            raise Unsupported(node.node.name, f"weights of shape {matrix.shape} for {x.shape}")
    bias, own_bias = biases(builder, node, layer)
    w = w.then("rows", lambda all_: all_.reshape(-1, columns, 1), (layer.rows, columns, 1))
    product = Linear(x, w, (*shape_of(x)[:-1], layer.rows), bias=bias, algorithm="pointwise")
    weights = tuple(map(RecurrentWeights, _recurrent_weights(r, layer, node)))
    add_layer(builder, node, layer, builder.add(product), weights, own_bias)


def _matrix(builder: Builder, node: TypedNode, index: int) -> Weights:
    found = weights_of(builder.input(node, index))
    if found is None or len(found.shape) != 3 or found.dtype != np.float32:
        raise Unsupported(node.node.name, "weights must be constant and have three axes")
    return found


def _recurrent_weights(r: Weights, layer: Layer, node: TypedNode) -> list[Weights]:
    """Return the matrices of the products of a step, with rows of all directions."""
    hidden, gates = layer.hidden, GATES[layer.cell]
    parts = [(0, gates)]
    if layer.cell == "GRU" and not node.attribute("linear_before_reset", 0):
        parts = [(0, 2), (2, 3)]

    def part(first: int, last: int) -> Weights:
        def rows(matrix: Array) -> Array:
            stack = matrix.reshape(layer.directions, gates, hidden, hidden)
            return stack[:, first:last].reshape(-1, hidden, 1)

        count = (last - first) * layer.directions * hidden
        return r.then(("gates", first, last), rows, (count, hidden, 1))

    return [part(*gate) for gate in parts]


def biases(builder: Builder, node: TypedNode, layer: Layer) -> tuple[Array | None, Array | None]:
    """Return the bias of the inputs, and what the reset gate of a GRU multiplies."""
    given = builder.constant_input(node, 3)
    if given is None:
        return None, None
    gates, directions = GATES[layer.cell], layer.directions
    if given.shape != (directions, 2 * gates * layer.hidden):
        raise Unsupported(node.node.name, f"a bias of shape {given.shape}")
    parts = given.astype(np.float32).reshape(directions, 2, gates, layer.hidden)
    bias = parts[:, 0] + parts[:, 1]
    if layer.cell != "GRU" or not node.attribute("linear_before_reset", 0):
        return bias.reshape(-1), None
    bias[:, 2] = parts[:, 0, 2]
    return bias.reshape(-1), np.ascontiguousarray(parts[:, 1, 2]).reshape(-1)


def add_layer(
    builder: Builder,
    node: TypedNode,
    layer: Layer,
    product: Value,
    weights: tuple[RecurrentWeights, ...],
    bias: Array | None = None,
) -> None:
    """Add a layer after the product of its inputs, and name its outputs."""
    clip = node.attribute("clip", 0.0)
    if clip < 0:
        raise Unsupported(node.node.name, f"clip {clip}")
    peepholes = builder.constant_input(node, 7) if layer.cell == "LSTM" else None
    if peepholes is not None:
        if peepholes.shape != (layer.directions, 3 * layer.hidden):
            raise Unsupported(node.node.name, f"peepholes of shape {peepholes.shape}")
        peepholes = np.ascontiguousarray(peepholes, np.float32).reshape(-1)
    first = (1, 0, 2) if layer.batch_first else (0, 1, 2)
    recurrent = Recurrent(
        _transposed(builder, product, first),
        layer.cell,
        layer.directions,
        layer.hidden,
        weights,
        _functions(node, layer),
        reversed=layer.direction == "reverse",
        lengths=_lengths(builder, node),
        hidden_state=_state(builder, node, 5, first),
        cell_state=_state(builder, node, 6, first) if layer.cell == "LSTM" else None,
        bias=bias,
        peepholes=peepholes,
        clip=clip,
        couples_forget=bool(node.attribute("input_forget", 0)),
    )
    _name_outputs(builder, node, layer, builder.add(recurrent))


def _transposed(builder: Builder, x: Value, perm: Sizes) -> Value:
    return x if perm == tuple(range(len(perm))) else builder.transposed(x, perm)


def _lengths(builder: Builder, node: TypedNode) -> Value | None:
    """Return the steps of each sequence, or None where they are those of x."""
    if not node.has_input(4):
        return None
    lengths = builder.input(node, 4)
    if lengths.dtype != "int32":
        raise Unsupported(node.node.name, f"sequence_lens of {lengths.dtype}")
    if isinstance(lengths.op, Constant):
        steps = node.shape(0)[1 if node.attribute("layout", 0) else 0]
        values = lengths.op.array
        if values.size and not 0 <= values.min() <= values.max() <= steps:
            raise Unsupported(node.node.name, f"sequence_lens must be between 0 and {steps}")
        if (values == steps).all():
            return None
    return lengths


def _state(builder: Builder, node: TypedNode, index: int, perm: Sizes) -> Value | None:
    if not node.has_input(index):
        return None
    state = builder.input(node, index)
    if len(state.shape) != 3 or state.dtype != "float32":
        raise Unsupported(node.node.name, f"a first state of shape {state.shape}")
    return _transposed(builder, state, perm)


def _text(name: str | bytes) -> str:
    return name if isinstance(name, str) else name.decode(errors="replace")


def _functions(node: TypedNode, layer: Layer) -> tuple[Function, ...]:
    """Return the functions of all directions, whose parameters are listed one after the other."""
    count = layer.directions * len(_DEFAULTS[layer.cell])
    given = node.attribute("activations")
    names = [*map(_text, given)] if given else _DEFAULTS[layer.cell] * layer.directions
    if len(names) != count:
        raise Unsupported(node.node.name, f"activations must be {count}, got {len(names)}")
    alphas, betas = (iter(node.attribute(f"activation_{name}") or ()) for name in ("alpha", "beta"))
    found = []
    for name in names:
        if name.lower() not in _FUNCTIONS:
            raise Unsupported(node.node.name, f"activation {name!r}")
        function, defaults = _FUNCTIONS[name.lower()]
        pairs = zip((alphas, betas), defaults, strict=False)
        c0, c1 = (*(float(next(x, default)) for x, default in pairs), 0.0, 0.0)[:2]
        found.append((function, c0, c1))
    return tuple(found)


def _name_outputs(builder: Builder, node: TypedNode, layer: Layer, result: Value) -> None:
    """Name the outputs of all steps, and the last states."""
    steps, *state = shape_of(result)
    steps -= STATES[layer.cell]
    sequence = (2, 0, 1, 3) if layer.batch_first else (0, 1, 2, 3)
    wanted: Sequence[tuple[int, int, Sizes]] = [
        (0, steps, sequence),
        *((steps + i, 1, (1, 0, 2)) for i in range(STATES[layer.cell])),
    ]
    for index, (start, count, perm) in enumerate(wanted):
        if index >= len(node.node.outputs) or not node.node.outputs[index]:
            continue
        axes = (AxisMap(count, 0, start=start), *(AxisMap(n, a + 1) for a, n in enumerate(state)))
        part = builder.add(Move(result, axes))
        if index > 0:
            part = builder.reshaped(part, tuple(state))
            perm = perm if layer.batch_first else (0, 1, 2)
        builder.set_output(node, _transposed(builder, part, perm), index)


@op("DynamicQuantizeLSTM", domain="com.microsoft", constants=(1, 2, 3, 7, 8, 9, 10, 11))
def build_quantized_lstm(builder: Builder, node: TypedNode) -> None:
    """An LSTM with 8-bit weights: x is quantized as a whole, and the states in each step.

    Weights (directions, rows, gates) have scales and zero points for each direction or gate.
    """
    x, hidden = builder.input(node, 0), node.shape(2)[1]
    layer = Layer.of(node, "LSTM", hidden)
    w, r = (
        _quantized_matrix(builder, node, layer, *place)
        for place in ((1, 8, shape_of(x)[-1]), (2, 10, hidden))
    )
    q, scale, zero_point = dynamically_quantized(builder, x)
    product = Linear(
        q,
        w.w,
        (*shape_of(x)[:-1], layer.rows),
        w_scale=w.scale,
        w_zero_point=w.zero_point,
        computed_scale=scale,
        computed_zero_point=zero_point,
        bias=biases(builder, node, layer)[0],
    )
    add_layer(builder, node, layer, builder.add(product), (r,))


def _quantized_matrix(
    builder: Builder, node: TypedNode, layer: Layer, index: int, scale_index: int, depth: int
) -> RecurrentWeights:
    w, scale, zero_point = (
        builder.constant_input(node, i) for i in (index, scale_index, scale_index + 1)
    )
    directions, columns = layer.directions, 4 * layer.hidden
    if w is None or w.shape != (directions, depth, columns) or str(w.dtype) not in BYTES:
        raise Unsupported(node.node.name, "weights must be constant integers of 8 bits")
    if scale is None or scale.dtype != np.float32:
        raise Unsupported(node.node.name, "scales must be constant")

    def rows(parameter: Array) -> Array:
        if parameter.size not in (directions, directions * columns):
            raise Unsupported(node.node.name, f"parameters of shape {parameter.shape}")
        spread = np.broadcast_to(parameter.reshape(directions, -1), (directions, columns))
        return np.ascontiguousarray(spread).reshape(-1)

    points = np.zeros(directions, w.dtype) if zero_point is None else zero_point
    found = integer_weights(builder, w, rows(scale), rows(points))
    shape = (layer.rows, depth, 1)
    integers = found.integers.then(
        "rows", lambda stack: stack.transpose(0, 2, 1).reshape(shape), shape
    )
    return RecurrentWeights(integers, found.scale, found.zero_point)
