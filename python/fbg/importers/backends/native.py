"""fbg itself as a back end: consecutive ops become one native plan, with a single entry.

What they are in ops of tensors is said by the functions in `fbg.importers.ops`; passes make fewer
ops of these, which are lowered. An op that fails on the way is refused, and another back end
computes it: `refusing` decides which exceptions mean that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.graph import lower_products  # noqa: F401  which registers its ops
from fbg.graph.graph import Graph
from fbg.graph.layout import natural
from fbg.graph.lower_tensors import TensorLowering
from fbg.graph.move_ops import Gather, input_behind
from fbg.graph.op import Value
from fbg.graph.packed_weights import PackedWeights, Packer
from fbg.graph.passes.fuse import fuse
from fbg.graph.refusal import refusing
from fbg.graph.tensor_ops import shape_of
from fbg.importers.backends.base import Op, Part, Step
from fbg.importers.backends.foreign import modelled_seconds
from fbg.importers.ops import (  # noqa: F401  each registers its ops
    conv_ops,
    elementwise,
    movement,
    pooling,
    products,
    quantized,
    reductions,
    resize,
)
from fbg.importers.ops.builder import Builder
from fbg.importers.ops.registry import OPS

Array = npt.NDArray[Any]


class Native:
    """The kernels of this package. weights: what all plans of a network have in common."""

    name = "fbg"

    def __init__(self) -> None:
        self.weights = PackedWeights()

    def needs(self, op: Op) -> tuple[str, ...]:
        """Return the inputs that must be constant, such as weights and shapes."""
        entry = OPS.get((op.node.domain, op.node.op))
        if entry is None:
            return ()
        return tuple(op.node.inputs[i] for i in entry.constants if op.has_input(i))

    def supports(self, op: Op) -> bool:
        """Whether the op is in the table, with types and shapes that are known."""
        entry = OPS.get((op.node.domain, op.node.op))
        if entry is None or op.node.version < entry.since or not op.node.inputs:
            return False
        return (
            str(op.input_type(0).dtype) in entry.types
            and op.is_fixed
            and all(name in op.constants for name in self.needs(op))
        )

    def cost(self, op: Op) -> float:
        """Return what the model says."""
        return modelled_seconds(op)

    def graph(self, part: Part) -> Graph:
        """Return the ops that a plan of the part is made from."""
        return _part_graph(part, _packer(part, self.weights))

    def prepare(self, part: Part) -> _PreparedPlan:
        """Build the graph of a part and plan it."""
        return _PreparedPlan(part, self.weights)


def _part_graph(part: Part, packer: Packer) -> Graph:
    """Return the ops of a part, fused; its outputs are those of the part, in their order."""
    types = part.ops[0].types
    builder = Builder(part.ops[0].constants, packer)
    for name in part.inputs:
        builder.add_input(name, types[name].fixed or (), types[name].dtype)
    for op in part.ops:
        builder.node = op.node.name
        with refusing(op.node.name):
            OPS[op.node.domain, op.node.op].build(builder, op)
    for name in part.outputs:
        builder.graph.output(builder.value(name))
    return fuse(builder.graph, packer)


def _packer(part: Part, weights: PackedWeights) -> Packer:
    types, constants = part.ops[0].types, part.ops[0].constants
    names = {name for op in part.ops for name in op.node.reads if name in constants}
    return Packer(weights, sum(types[name].nbytes for name in names))


class _PreparedPlan:
    """trials: how to time each of the convolutions."""

    def __init__(self, part: Part, weights: PackedWeights) -> None:
        packer = _packer(part, weights)
        graph = _part_graph(part, packer)
        lowering = TensorLowering(packer, part.features)
        for value in graph.late():
            with refusing(value.owner if value.nodes else part.ops[0].node.name):
                lowering.lower(value)
        self._threads = part.num_threads
        self._inputs = part.inputs
        outputs: list[int] = []
        for value in graph.outputs:
            with refusing(value.owner):
                outputs.append(_output(lowering, value, outputs))
        self._plan = _fbg.Plan(lowering.native, 1, 1, 1, part.num_threads, features=part.features)
        # The graph is not kept: it holds what has been made of constants on the way.
        self._owners, self.trials = lowering.owners, lowering.trials
        self._indices = _indexed(graph)
        self._weights = packer.kept

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array | None]) -> list[Array]:
        given = self._given(inputs)
        results = [array for array in outputs if array is not None]
        _fbg.run_tensors(self._plan, given, results, self._threads)
        return results

    def timed(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None]
    ) -> tuple[list[Array], list[float]]:
        seconds = np.zeros(len(self._plan.ops))
        results = [array for array in outputs if array is not None]
        _fbg.run_tensors(self._plan, self._given(inputs), results, self._threads, seconds)
        owned = [float(seconds[i]) for i in range(len(seconds)) if i in self._owners]
        return results, owned

    def _given(self, inputs: Sequence[Array]) -> list[Array]:
        """Return dense inputs; indices among them are checked."""
        given = [np.asarray(array, order="C") for array in inputs]
        for name, rows in self._indices.items():
            place = self._inputs.index(name)
            given[place] = indices = given[place].copy()  # nobody changes what has been checked
            lowest, highest = int(indices.min()), int(indices.max())
            if lowest < -rows or highest >= rows:
                wrong = lowest if lowest < -rows else highest
                raise ValueError(f"run: '{name}' must be indices of {rows} rows, got {wrong}")
        return given

    def steps(self) -> list[Step]:
        found = []
        for buffer, (name, kernel, *_) in enumerate(self._plan.ops):
            nodes = self._owners.get(buffer)
            if nodes is not None:
                found.append(Step(tuple(nodes), f"{name}: {kernel}" if kernel else name))
        return found

    @property
    def arena_bytes(self) -> int:
        """Bytes of one arena."""
        return int(self._plan.arena_bytes)


def _output(lowering: TensorLowering, value: Value, taken: Sequence[int]) -> int:
    """Return a buffer of the native graph that is an output and nothing else."""
    lowering.nodes = value.nodes
    stored = lowering.in_order(lowering.stored(value), natural(len(value.shape)))
    buffer = lowering.buffer(stored)
    if buffer in taken or buffer in lowering.given:
        buffer = lowering.copied(stored)
    lowering.native.output(buffer)
    return buffer


def _indexed(graph: Graph) -> dict[str, int]:
    """Return the inputs that index rows of a table, and how many of those there are."""
    found: dict[str, int] = {}
    for value in graph.values:
        op = value.op
        if isinstance(op, Gather) and (name := input_behind(op.indices)) is not None:
            rows = shape_of(op.x)[op.axis]
            found[name] = min(rows, found.get(name, rows))
    return found
