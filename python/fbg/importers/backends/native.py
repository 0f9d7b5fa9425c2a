"""fbg itself as a back end: consecutive ops become one native plan, with a single entry.

An op that cannot be built is refused, and another back end computes it. `_refusing` decides which
exceptions mean that; what is deferred until an output needs it is refused with the output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.errors import ModelError
from fbg.importers.backends.base import Op, Part, Step, Unsupported
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
from fbg.importers.ops.builder import Builder, natural
from fbg.importers.ops.packed_weights import PackedWeights, Packer
from fbg.importers.ops.registry import OPS

__all__ = ["Native"]

Array = npt.NDArray[Any]

# What the functions that build ops raise for shapes and constants that they do not understand. All
# other exceptions, such as AssertionError and AttributeError, are mistakes in these functions.
_REFUSALS = (Unsupported, ArithmeticError, LookupError, TypeError, ValueError)


@contextmanager
def _refusing(op: str) -> Iterator[None]:
    """Raise Unsupported for the op if building it fails."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"node '{op}': {error}") from error
    except _REFUSALS as error:
        raise Unsupported(op, str(error) or type(error).__name__) from error


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

    def prepare(self, part: Part) -> _PreparedPlan:
        """Build the graph of a part and plan it."""
        return _PreparedPlan(part, self.weights)


class _PreparedPlan:
    """trials: how to time each of the convolutions."""

    def __init__(self, part: Part, weights: PackedWeights) -> None:
        uses = Counter(name for op in part.ops for name in op.node.reads)
        uses.update(part.outputs)
        constants = part.ops[0].constants
        types = part.ops[0].types
        packer = Packer(weights, sum(types[name].nbytes for name in uses if name in constants))
        builder = Builder(constants, uses, part.features, packer=packer)
        builder.node = part.ops[0].node.name
        for name in part.inputs:
            builder.add_input(name, types[name].fixed or (), types[name].dtype)
        for op in part.ops:
            builder.node = op.node.name
            with _refusing(op.node.name):
                OPS[op.node.domain, op.node.op].build(builder, op)
        self._threads = part.num_threads
        self._inputs = part.inputs
        writers = {name: op.node.name for op in part.ops for name in op.node.outputs}
        outputs: list[int] = []
        for name in part.outputs:
            builder.node = f"output {name}"
            with _refusing(writers[name]):
                outputs.append(self._output(builder, name, outputs))
        self._plan = _fbg.Plan(builder.graph, 1, 1, 1, part.num_threads, features=part.features)
        # The builder is not kept: it holds what has been made of constants on the way.
        self._owners, self._indices, self.trials = builder.owners, builder.indices, builder.trials
        self._weights = packer.kept

    def _output(self, builder: Builder, name: str, taken: list[int]) -> int:
        """Return a buffer of the graph that is an output and nothing else."""
        value = builder.value(name)
        ordered = builder.in_order(value, natural(len(value.shape)))
        buffer = builder.buffer(ordered)
        if buffer in taken or buffer in builder.given:
            size = ordered.size
            item = ordered.dtype.itemsize
            axes: list[tuple[int, int, int, list[int]]] = [(size, 1, 1, [])]
            buffer = _fbg.tensor_arrange(builder.graph, [buffer], size, item, [(0, 0, 0, axes)])
            builder.append(buffer)
        builder.graph.output(buffer)
        return buffer

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
