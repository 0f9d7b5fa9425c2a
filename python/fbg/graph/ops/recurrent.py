"""The op of recurrent layers: RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fbg.arrays import Array
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, TensorOp, shape_of
from fbg.graph.packed_weights import Weights

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STATES = {"RNN": 1, "GRU": 1, "LSTM": 2}

# A function of elements, and its two constants.
Function = tuple[str, float, float]


@dataclass(frozen=True)
class RecurrentWeights:
    """Weights (directions * gates * hidden, hidden, 1): float32, bfloat16, or int8 with scales and
    zero points, () or one for each row.
    """

    w: Weights
    scale: Array | None = None
    zero_point: Array | None = None

    def packed_options(self, directions: int) -> dict[str, Any]:
        """Return the arguments of `PackedConv` besides the weights."""
        if self.scale is None:
            return {"dtype": self.w.dtype.name, "groups": directions}
        return {"scale": self.scale, "zero_point": self.zero_point, "groups": directions}


@dataclass(frozen=True, eq=False)
class Recurrent(TensorOp):
    """A recurrent layer after the products of its inputs, which are computed for all steps at once.

    x: (steps, batch, directions * gates * hidden), gates in the order of ONNX. weights: one matrix,
    or two of a GRU that applies the reset gate before the product: of the gates z and r, and of h.
    functions: for each direction, of gates and of states, as ONNX lists them. reversed: whether the
    only direction is from the last step to the first. lengths: int32 (batch,), steps of each
    sequence. hidden_state, cell_state: (directions, batch, hidden), before the first step. bias:
    (directions * hidden,), what the reset gate of a GRU multiplies beside the product. peepholes:
    (directions * 3 * hidden,). clip: a bound of gates before their functions;
    0: none.
    couples_forget: whether the forget gate is 1 - the input gate.

    The result has the outputs of all steps, and then the last states, each as another step:
    (steps + states, directions, batch, hidden).
    """

    x: Value
    cell: str
    directions: int
    hidden: int
    weights: tuple[RecurrentWeights, ...]
    functions: tuple[Function, ...]
    reversed: bool = False
    lengths: Value | None = None
    hidden_state: Value | None = None
    cell_state: Value | None = None
    bias: Array | None = None
    peepholes: Array | None = None
    clip: float = 0.0
    couples_forget: bool = False

    @property
    def kind(self) -> str:
        return self.cell.lower()

    def infer(self) -> Sizes:
        steps, batch, columns = shape_of(self.x)
        row = self.directions * GATES[self.cell] * self.hidden
        if columns != row:
            raise self.error("x", f"have {row} columns", columns)
        state = (self.directions, batch, self.hidden)
        for name, value, shape in (
            ("lengths", self.lengths, (batch,)),
            ("hidden_state", self.hidden_state, state),
            ("cell_state", self.cell_state, state),
        ):
            if value is not None and shape_of(value) != shape:
                raise self.error(name, f"have shape {list(shape)}", list(value.shape))
        return self.checked((steps + STATES[self.cell], *state))

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        w = self.weights[0].w
        shown = [numbers[self.x], f"{w.dtype}[{self.directions}, {self.hidden}, {self.hidden}]"]
        if self.directions == 2 or self.reversed:
            shown.append("bidirectional" if self.directions == 2 else "reversed")
        for name in ("lengths", "hidden_state", "cell_state"):
            if (value := getattr(self, name)) is not None:
                shown.append(f"{name}={numbers[value]}")
        each = len(self.functions) // self.directions
        names = [name for name, *_ in self.functions]
        halves = [", ".join(names[i : i + each]) for i in range(0, len(names), each)]
        return [*shown, f"functions=[{'; '.join(dict.fromkeys(halves))}]"]
