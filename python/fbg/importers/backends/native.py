"""fbg itself as a back end: a part of a graph becomes one native plan, with a single entry.

An op that cannot be lowered is refused, and another back end computes it: `refusing` decides
for which exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import fbg.graph.lower.elements
import fbg.graph.lower.maps
import fbg.graph.lower.products
import fbg.graph.lower.recurrent
import fbg.graph.lower.windows  # noqa: F401  each registers its ops
from fbg import _fbg
from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.graph.divide import Part
from fbg.graph.lower.layout import natural
from fbg.graph.lower.products import ROUNDING_ISAS
from fbg.graph.lower.tensors import TensorLowering
from fbg.graph.ops.elements import Convert, Gather
from fbg.graph.ops.moves import Reshape, Transpose, input_behind
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Constant
from fbg.graph.packed_weights import PackedWeights, Packer
from fbg.graph.refusal import Unsupported, refusing
from fbg.importers.backends.base import Step, TypedNode
from fbg.importers.backends.foreign import modelled_seconds
from fbg.importers.ops import (  # noqa: F401  each registers its ops
    conv_ops,
    einsum,
    elementwise,
    indexing,
    movement,
    norms,
    pooling,
    products,
    quantized,
    recurrent,
    reductions,
    resize,
    sampling,
)
from fbg.importers.ops.registry import OPS

# Bytes of what an op of a plan keeps besides its arena, by how the memory of a process grows: most
# are tables of its kernels, for tiles of every height and width. Attention has several of them.
TABLE_BYTES, OP_BYTES = 64 << 10, 4 << 10
BYTES_OF = {"attention": 160 << 10}


Kind = tuple[str, np.dtype[Any], tuple[int, ...]]  # of a tensor with a name


class Native:
    """The kernels of this package. weights: shared by all plans of a network.

    rounds: whether products of floats round to bfloat16.
    """

    name = "fbg"

    def __init__(self, rounds: bool = False) -> None:
        self.weights = PackedWeights()
        self.rounds = rounds

    def needs(self, op: TypedNode) -> tuple[str, ...]:
        """Return the inputs that must be constant, such as weights and shapes."""
        entry = OPS.get((op.node.domain, op.node.op))
        if entry is None:
            return ()
        return tuple(op.node.inputs[i] for i in entry.constants if op.has_input(i))

    def supports(self, op: TypedNode) -> bool:
        """Whether the op is in the table, with types and shapes that are known."""
        entry = OPS.get((op.node.domain, op.node.op))
        if entry is None or op.node.version < entry.since or not op.node.inputs:
            return False
        if op.empty_inputs and op.node.op != "Concat":
            return False
        return (
            str(op.input_type(0).dtype) in entry.types
            and op.is_fixed
            and all(name in op.constants for name in self.needs(op))
        )

    def cost(self, op: TypedNode) -> float:
        """Return the time that the cost model predicts."""
        return modelled_seconds(op)

    def prepare(self, part: Part, packer: Packer, num_threads: int, features: int) -> PreparedPlan:
        """Lower a part and plan it. features: CPU features for kernels."""
        return PreparedPlan(part, packer, num_threads, features)


class PreparedPlan:
    """A part as a native plan. trials: functions that time its convolutions."""

    def __init__(self, part: Part, packer: Packer, num_threads: int, features: int) -> None:
        lowering = TensorLowering(packer, features)
        if packer.rounds and _fbg.best_isa(features) in ROUNDING_ISAS:
            lowering.native.allow_bfloat16()
        inputs = [value for value in part.inputs if not isinstance(value.op, Constant)]
        for value in inputs:
            with refusing(part.values[0].owner):
                lowering.bring(value)
        _lower(lowering, part.values)
        outputs: list[int] = []
        for value in part.outputs:
            with refusing(value.owner):
                outputs.append(_output(lowering, value, outputs))
        self._threads = num_threads
        self._plan = _fbg.Plan(lowering.native, 1, 1, 1, num_threads, features=features)
        # The values are not kept: they hold intermediate results made of constants.
        self._owners, self.trials = lowering.owners, lowering.trials
        self._limits = lowering.limits
        self._indices = _indexed(part, inputs)
        self._weights = packer.kept

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array | None]) -> list[Array]:
        given = [np.asarray(array, order="C") for array in inputs]
        results = [array for array in outputs if array is not None]
        self._check(_fbg.run_tensors(self._plan, given, results, self._threads), given)
        return results

    def as_call(
        self, inputs: Sequence[Kind], outputs: Sequence[Kind], names: Iterable[str]
    ) -> _fbg.TensorCall | None:
        """Return a call that takes and returns arrays by name, these in the order of the names;
        None where the values of inputs must be looked at first.
        """
        if self._indices:
            return None
        named = dict.fromkeys(names)
        return _fbg.TensorCall(self._plan, inputs, outputs, named, self._threads)

    def timed(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None]
    ) -> tuple[list[Array], list[float]]:
        seconds = np.zeros(len(self._plan.ops))
        results = [array for array in outputs if array is not None]
        given = [np.asarray(array, order="C") for array in inputs]
        failed = _fbg.run_tensors(self._plan, given, results, self._threads, seconds)
        self._check(failed, given)
        owned = [float(seconds[i]) for i in range(len(seconds)) if i in self._owners]
        return results, owned

    def _check(self, failed: int, given: Sequence[Array]) -> None:
        """Raise ValueError for inputs that are not indices of their tables, as an op has met, and
        ModelError for indices that ops computed.
        """
        if failed < 0:
            return
        for place, (name, rows) in self._indices.items():
            lowest, highest = int(given[place].min()), int(given[place].max())
            if lowest < -rows or highest >= rows:
                wrong = lowest if lowest < -rows else highest
                raise ValueError(f"run: '{name}' must be indices of {rows} rows, got {wrong}")
        raise ModelError(f"{self._limits[failed]}; one of this run is not")

    def steps(self) -> list[Step]:
        found = []
        for buffer, (name, kernel, *_) in enumerate(self._plan.ops):
            nodes = self._owners.get(buffer)
            if nodes is not None:
                found.append(Step(tuple(nodes), f"{name}: {kernel}" if kernel else name))
        return found

    @property
    def kept_bytes(self) -> int:
        """About how many bytes the plan takes: its arena, and what its ops keep."""
        ops = ((name.partition(" ")[0], kernel) for name, kernel, *_ in self._plan.ops)
        own = (BYTES_OF.get(name, TABLE_BYTES if kernel else OP_BYTES) for name, kernel in ops)
        return self.arena_bytes + sum(own)

    @property
    def arena_bytes(self) -> int:
        """The number of bytes of one arena."""
        return int(self._plan.arena_bytes)


def _lower(lowering: TensorLowering, values: Sequence[Value]) -> None:
    """Lower values; raises a single Unsupported for all ops that cannot be lowered."""
    refused: dict[str, Unsupported] = {}
    for value in values:
        if lowering.can_lower(value):
            try:
                with refusing(value.owner):
                    lowering.lower(value)
            except Unsupported as error:
                refused.setdefault(error.op, error)
    if refused:
        first, *others = refused.values()
        raise Unsupported(first.op, first.reason, *others)


def _output(lowering: TensorLowering, value: Value, taken: Sequence[int]) -> int:
    """Return a buffer of the native graph that is used only as an output."""
    lowering.nodes = value.nodes
    stored = lowering.in_order(lowering.stored(value), natural(len(value.shape)))
    buffer = lowering.buffer(stored)
    if buffer in taken or buffer in lowering.given:
        buffer = lowering.copied(stored)
    lowering.native.output(buffer)
    return buffer


def _indexed(part: Part, inputs: Sequence[Value]) -> dict[int, tuple[str, int]]:
    """Return the inputs that index rows of a table: their names, and how many rows there are."""
    found: dict[int, tuple[str, int]] = {}
    for value in part.values:
        if isinstance(value.op, Gather):
            indices, limits = value.op.indices, value.op.places.axes
            if len(limits) != 1 or input_behind(indices) is None:
                continue
            rows = limits[0][0]
            while indices not in inputs and isinstance(indices.op, (Reshape, Transpose, Convert)):
                indices = indices.op.x
            place, name = inputs.index(indices), input_behind(indices) or indices.name
            found[place] = name, min(rows, found.get(place, (name, rows))[1])
    return found
