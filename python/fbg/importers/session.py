"""A network for given shapes of its inputs: every op placed on a back end, prepared, and run.

infer     types of all tensors; what can be computed beforehand is
place     each op on the first back end, or else the cheapest one, that supports it
divide    runs of consecutive ops of one back end become a part
prepare   each part by its back end; an op that is refused then goes to the next one
run       part by part, on buffers that the session owns
"""

from __future__ import annotations

import heapq
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.errors import ModelError
from fbg.graph.graph import Graph
from fbg.graph.op import Value
from fbg.graph.refusal import Unsupported
from fbg.graph.tensor_ops import Constant, TensorInput
from fbg.importers.backends.base import BackEnd, Op, Part, PreparedPart, Step
from fbg.importers.description import Constants, Network, TensorType
from fbg.importers.onnx.inference import infer
from fbg.progress import counted
from fbg.tuning.trials import ConvTrial

__all__ = ["PlacedStep", "Session"]

Array = npt.NDArray[Any]
MANY_REFUSED = 16  # ops, after which those of the same kinds are tried one by one


@dataclass(frozen=True)
class PlacedStep:
    """A step of a plan: the nodes that it computes, where and how, and their types.

    modelled: seconds by the cost model. seconds: measured by `Net.profile`, else None.
    """

    nodes: tuple[str, ...]
    backend: str
    algorithm: str
    types: tuple[str, ...]
    modelled: float
    seconds: float | None = None


@dataclass(frozen=True)
class _Placed:
    part: Part
    backend: BackEnd
    prepared: PreparedPart


def _require_room(network: Network, types: Mapping[str, TensorType]) -> None:
    """Raise ModelError for a tensor that no plan can hold.

    To plan it may take long before memory runs short: some ops prepare a table of its elements.
    """
    most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name, kind in types.items():
        if kind.nbytes > most:
            raise ModelError(
                f"{network.origin}: tensor {name} is {kind}, which is larger than the memory of "
                "this machine"
            )


class Session:
    """Prepared for one set of shapes, and of values of the inputs that ops need to know."""

    def __init__(
        self,
        network: Network,
        inputs: Mapping[str, TensorType],
        bound: Mapping[str, Array],
        backends: Sequence[BackEnd],
        placement: Mapping[str, str],
        num_threads: int,
        features: int,
    ) -> None:
        inferred = infer(network, inputs, bound)
        _require_room(network, inferred.types)
        self._network, self._inputs, self._bound = network, inputs, bound
        self._backends = backends
        self._types = inferred.types
        self._constants = inferred.constants
        self._threads = num_threads
        self._features = features
        self._placement = placement
        self._ops = [Op(node, inferred.types, inferred.constants) for node in inferred.nodes]
        self._refused: dict[tuple[str, str], str] = {}
        self._parts = self._prepare()
        self._forget(inferred.constants)
        self._warn()

    def _forget(self, constants: Constants) -> None:
        """Leave only what a run returns of the constants: back ends have what they need of them."""
        for name in list(constants):
            if name not in self._network.outputs:
                del constants[name]

    # Placing -----------------------------------------------------------------------------------

    def _prepare(self) -> list[_Placed]:
        kept: dict[tuple[str, ...], _Placed] = {}
        chosen = [self._choose(op) for op in self._ops]
        many = MANY_REFUSED
        while True:
            parts = self._divide(chosen)
            try:
                placed = []
                for backend, part in parts:
                    key = (backend.name, *(op.node.name for op in part.ops), "", *part.outputs)
                    if key not in kept:
                        kept[key] = _Placed(part, backend, backend.prepare(part))
                    placed.append(kept[key])
                return placed
            except ModelError as error:
                raise ModelError(f"{self._network.origin}: {error}") from error
            except Unsupported as refused:
                places = [i for i, op in enumerate(self._ops) if op.node.name == refused.op]
                if not places:
                    raise ModelError(f"{self._network.origin}: {refused.reason}") from refused
                self._refuse(places[0], refused.reason, chosen)
                if len(self._refused) >= many:
                    self._refuse_alone(chosen)
                    many = 2 * len(self._refused)

    def _refuse(self, at: int, reason: str, chosen: list[BackEnd]) -> None:
        """Place an op on the next back end."""
        self._refused[self._ops[at].node.name, chosen[at].name] = reason
        chosen[at] = self._choose(self._ops[at])

    def _refuse_alone(self, chosen: list[BackEnd]) -> None:
        """Place all ops elsewhere that are refused by themselves, without a new plan for each."""
        first = self._backends[0]
        refused = (op for op in self._ops if (op.node.name, first.name) in self._refused)
        kinds = {op.node.op for op in refused}
        _, readers = self._order()
        for i, op in enumerate(self._ops):
            if op.node.op in kinds and chosen[i] is first:
                try:
                    first.prepare(self._part([i], readers))
                except Unsupported as refused:
                    self._refuse(i, refused.reason, chosen)

    def _choose(self, op: Op) -> BackEnd:
        """Return the first back end if it computes an op, or else the cheapest one that does."""
        wanted = self._placement.get(op.node.name)
        able: list[BackEnd] = []
        for backend in self._backends:
            possible = (op.node.name, backend.name) not in self._refused
            if possible and wanted in (None, backend.name) and backend.supports(op):
                able.append(backend)
                if backend is self._backends[0]:  # asking the others, which is slow, is spared
                    break
        if not able:
            names = [wanted] if wanted else [backend.name for backend in self._backends]
            reasons = [r for (node, _), r in self._refused.items() if node == op.node.name]
            types = ", ".join(str(op.types.get(name, "unknown")) for name in op.node.inputs if name)
            why = f": {'; '.join(reasons)}" if reasons else ""
            raise ModelError(
                f"{self._network.origin}: node {op.node.title} with inputs {types} runs on none of "
                f"the back ends {', '.join(names)}{why}"
            )
        return min(able, key=lambda backend: backend.cost(op))

    def _divide(self, chosen: list[BackEnd]) -> list[tuple[BackEnd, Part]]:
        """Group ops into parts: as many as possible of one back end before the next one."""
        missing, readers = self._order()
        ready: dict[str, list[int]] = {backend.name: [] for backend in chosen}  # heaps
        for i, needed in enumerate(missing):
            if not needed:
                heapq.heappush(ready[chosen[i].name], i)
        groups: list[list[int]] = []
        while any(ready.values()):
            heap = min(filter(None, ready.values()))  # the first op that is left is ready
            group = []
            while heap:
                i = heapq.heappop(heap)
                group.append(i)
                for name in self._ops[i].node.outputs:
                    for reader in readers.get(name, ()):
                        missing[reader].discard(name)
                        if not missing[reader]:
                            heapq.heappush(ready[chosen[reader].name], reader)
            groups.append(group)
        return [(chosen[group[0]], self._part(group, readers)) for group in groups]

    def _order(self) -> tuple[list[set[str]], dict[str, list[int]]]:
        """Return the tensors that each op waits for, and the ops that wait for each tensor."""
        known = {*self._constants, *self._network.inputs}
        missing = [{name for name in op.node.reads if name not in known} for op in self._ops]
        readers: dict[str, list[int]] = {}
        for i, names in enumerate(missing):
            for name in names:
                readers.setdefault(name, []).append(i)
        return missing, readers

    def _part(self, group: list[int], readers: Mapping[str, list[int]]) -> Part:
        ops, members = [self._ops[i] for i in group], set(group)
        inside = {name for op in ops for name in op.node.outputs if name}
        others = {name for name in inside if not members.issuperset(readers.get(name, ()))}
        read = dict.fromkeys(name for op in ops for name in op.node.reads)
        return Part(
            tuple(ops),
            tuple(name for name in read if name not in inside and name not in self._constants),
            tuple(
                name
                for name in dict.fromkeys(n for op in ops for n in op.node.outputs if n)
                if name in others or name in self._network.outputs
            ),
            self._network.versions,
            self._threads,
            self._features,
        )

    def _warn(self) -> None:
        slow = [
            op
            for placed in self._parts
            if placed.backend.name == "reference"
            for op in placed.part.ops
            if op.node.name not in self._placement
        ]
        if slow:
            cost = sum(50 * (op.bytes / 10e9 + op.operations / 100e9) for op in slow)
            names = ", ".join(op.node.title for op in slow[:5])
            more = f" and {len(slow) - 5} more" if len(slow) > 5 else ""
            warnings.warn(
                f"{self._network.origin}: {names}{more} run on onnx.reference, which is slow "
                f"(about {1e3 * cost:.1f} ms a run); install onnxruntime for a faster fallback",
                UserWarning,
                stacklevel=4,
            )

    @property
    def graph(self) -> Graph:
        """The ops that a run computes, back end by back end, made anew."""
        inferred = infer(self._network, self._inputs, self._bound)
        ops = {node.name: Op(node, inferred.types, inferred.constants) for node in inferred.nodes}
        graph, values = Graph(), dict[str, Value]()
        for name, kind in self._inputs.items():
            values[name] = graph.add(TensorInput(name, kind.fixed or (), str(kind.dtype)))
        for placed in self._parts:
            part = replace(placed.part, ops=tuple(ops[op.node.name] for op in placed.part.ops))
            own = placed.backend.graph(part)
            given = (values[name] for name in part.inputs)
            brought = (value for value in own.values if value.op.is_brought)
            new = dict(zip(brought, given, strict=True))
            for value in own.live():
                if value not in new:
                    new[value] = graph.append(value.with_op(value.op.reading(new)))
            values.update(zip(part.outputs, (new[value] for value in own.outputs), strict=True))
        for name in self._network.outputs:
            if name not in values:
                values[name] = graph.add(Constant(inferred.constants[name]))
            graph.output(values[name])
        return graph

    # Running -----------------------------------------------------------------------------------

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Return all outputs. The feeds have been checked."""
        values = dict(feeds)
        for placed in self._parts:
            given = [values[name] for name in placed.part.inputs]
            room = [self._room(name) for name in placed.part.outputs]
            results = placed.prepared.run(given, room)
            values.update(zip(placed.part.outputs, results, strict=True))
        outputs = {}
        for name in self._network.outputs:
            found = values.get(name)
            value = self._constants[name].copy() if found is None else found
            outputs[name] = value.copy() if name in feeds else value
        return outputs

    def profile(
        self, feeds: Mapping[str, Array], rounds: int
    ) -> tuple[list[PlacedStep], list[list[float]]]:
        """Return what a run does, with the medians of measured times; and those of each round."""
        samples: list[list[list[float]]] = [[] for _ in self._parts]
        for _ in counted("profiling", range(rounds)):
            values = dict(feeds)
            for placed, own in zip(self._parts, samples, strict=True):
                given = [values[name] for name in placed.part.inputs]
                room = [self._room(name) for name in placed.part.outputs]
                start = time.perf_counter()
                results, seconds = placed.prepared.timed(given, room)
                own.append(seconds or [time.perf_counter() - start])
                values.update(zip(placed.part.outputs, results, strict=True))
        found = []
        for placed, own in zip(self._parts, samples, strict=True):
            ops = {op.node.name: op for op in placed.part.ops}
            steps = placed.prepared.steps()
            medians = [float(median) for median in np.median(own, axis=0)]
            if len(medians) != len(steps):  # a part that is timed as a whole
                names = tuple(name for step in steps for name in step.nodes)
                steps = [Step(names, steps[0].algorithm)]
            for step, seconds_of_step in zip(steps, medians, strict=True):
                timed = replace(step, seconds=seconds_of_step)
                found.append(self._placed_step(timed, placed.backend, ops))
        by_round = zip(*samples, strict=True) if samples else [()] * rounds
        return found, [[second for part in each for second in part] for each in by_round]

    def _room(self, name: str) -> Array | None:
        kind = self._types.get(name)
        fixed = None if kind is None else kind.fixed
        if kind is None or fixed is None or kind.dtype.kind in "OSU":
            return None
        return np.empty(fixed, kind.dtype)

    def steps(self) -> list[PlacedStep]:
        """Return what a run does, in order."""
        found = []
        for placed in self._parts:
            ops = {op.node.name: op for op in placed.part.ops}
            for step in placed.prepared.steps():
                found.append(self._placed_step(step, placed.backend, ops))
        return found

    def _placed_step(self, step: Step, backend: BackEnd, ops: Mapping[str, Op]) -> PlacedStep:
        own = [ops[name] for name in step.nodes if name in ops]
        types = tuple(
            str(op.types[name]) for op in own for name in op.node.outputs if name in op.types
        )
        modelled = sum(backend.cost(op) for op in own)
        return PlacedStep(step.nodes, backend.name, step.algorithm, types, modelled, step.seconds)

    @property
    def trials(self) -> list[ConvTrial]:
        """How to time each convolution of native parts."""
        return [trial for placed in self._parts for trial in getattr(placed.prepared, "trials", ())]

    @property
    def tensor_bytes(self) -> int:
        """Bytes of all inputs and of all tensors that ops write, where their shapes are known."""
        names = {*self._network.inputs, *(name for op in self._ops for name in op.node.outputs)}
        return sum(self._types[name].nbytes for name in names if name in self._types)

    @property
    def nbytes(self) -> int:
        """Bytes of the arenas of native parts."""
        return sum(getattr(placed.prepared, "arena_bytes", 0) for placed in self._parts)
