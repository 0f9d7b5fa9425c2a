"""A network for given shapes of its inputs: every op placed on a back end, prepared, and run.

infer      types of all tensors; constants are folded
describe   the network as a graph of typed ops, each op on the first back end that supports it, else
           on the cheapest one
move       runs of ops to back ends where they are cheaper, as modelled or as `fbg.tune` measured
divide     as many ops as possible of one back end become a part
prepare    each part by its back end; a refused op goes to the next back end
run        part by part, on buffers that the session owns
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fbg import _fbg
from fbg.arrays import Array
from fbg.errors import ModelError, install_line
from fbg.graph.divide import Part, divide
from fbg.graph.graph import Graph
from fbg.graph.lower.tables import fuse_tables
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Constant, Foreign, TensorInput
from fbg.graph.packed_weights import PackedWeights, Packer
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import (
    BackEnd,
    ForeignBackEnd,
    ForeignPart,
    PreparedPart,
    Step,
    TypedNode,
)
from fbg.importers.backends.native import Native, PreparedPlan
from fbg.importers.backends.reference import Reference
from fbg.importers.describe import describe
from fbg.importers.description import UNKNOWN, Network, Node, TensorType
from fbg.importers.feeds import random_array
from fbg.importers.onnx.branches import with_names
from fbg.importers.onnx.folding import Compute
from fbg.importers.onnx.inference import Inferred, infer
from fbg.importers.onnx.other_values import other_value
from fbg.importers.placement.choice import Placement, digest, known_moves
from fbg.locks import cached_property
from fbg.progress import counted
from fbg.tuning.store import Moved, moves_key
from fbg.tuning.trials import ConvTrial

AnyBackEnd = Native | ForeignBackEnd
NODE_BYTES = 1 << 10  # of a node: its types and its place
FOREIGN_BYTES = 1 << 18  # of a part of another back end
Room = tuple[tuple[int, ...], np.dtype[Any]]


@dataclass(frozen=True)
class PlacedStep:
    """A step of a plan: its nodes, how and where they are computed, and their types.

    modelled: seconds by the cost model. seconds: as measured by `Net.profile`, else None.
    operations: multiplications and additions of its products, if it has any.
    """

    nodes: tuple[str, ...]
    backend: str
    algorithm: str
    types: tuple[str, ...]
    modelled: float
    seconds: float | None = None
    operations: float = 0.0


@dataclass(frozen=True)
class _Placed:
    """A prepared part. inputs, outputs: numbers of tensors. rooms: sizes of outputs, if known.

    nodes: the nodes that it computes.
    """

    backend: BackEnd
    prepared: PreparedPart
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    rooms: tuple[Room | None, ...]
    nodes: tuple[str, ...]

    def room(self) -> list[Array | None]:
        """Return new arrays for the outputs. Another back end may leave some of them unwritten."""
        make = np.empty if isinstance(self.backend, Native) else np.zeros
        return [None if room is None else make(*room) for room in self.rooms]


def _require_room(network: Network, types: Mapping[str, TensorType]) -> None:
    """Raise ModelError for a tensor that no plan can hold.

    Planning may take long before memory runs out: some ops prepare a table of its elements.
    """
    most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name, kind in types.items():
        if kind.nbytes > most:
            raise ModelError(
                f"{network.origin}: tensor {name} is {kind}, which is larger than the memory of "
                "this machine"
            )


class Session:
    """A network prepared for one set of shapes, and of values of inputs that ops need to know.

    moves: the ops that leave fbg, by the name of the back end to which they go; of other back
    ends, what `fbg.tune` has measured holds. folds: whether constants are computed beforehand. ops:
    the nodes by name, in order.
    """

    def __init__(
        self,
        network: Network,
        inputs: Mapping[str, TensorType],
        bound: Mapping[str, Array],
        backends: Sequence[AnyBackEnd],
        placement: Mapping[str, str],
        num_threads: int,
        features: int,
        moves: Mapping[str, Moved] | None = None,
        folds: bool = True,
    ) -> None:
        self._anew = partial(
            Session, network, inputs, bound, backends, placement, num_threads, features
        )
        self._network, self._inputs, self._bound = network, inputs, bound
        self._backends = {backend.name: backend for backend in backends}
        self._threads, self._features, self._kept = num_threads, features, tuple(placement)
        self._compute = computing(backends, features) if folds else None
        inferred = infer(network, inputs, bound, self._kept, self._compute)
        _require_room(network, inferred.types)
        self._types = inferred.types
        self.ops = _ops(inferred)
        known = known_moves(self.ops, backends, num_threads, features) | dict(moves or {})
        names = tuple(self.ops)
        measured = {
            at: [names[i] for i in moved.nodes if i < len(names)] for at, moved in known.items()
        }
        self._placement = Placement(backends, placement, measured)
        try:
            with np.errstate(all="ignore"):  # that constants overflow shows in results
                self._keep_whole(inferred)
                self._prepare(inferred)
        except ModelError as error:
            raise ModelError(f"{network.origin}: {error}") from error
        # The constants are not kept: back ends have those that they need.
        self.ops = {name: TypedNode(op.node, op.types) for name, op in self.ops.items()}
        if folds:
            self._warn()

    # Preparing ---------------------------------------------------------------------------------

    def _keep_whole(self, inferred: Inferred) -> None:
        """Place all nodes on onnxruntime if the network makes values that are no tensors."""
        found = other_value(inferred.nodes, inferred.types)
        if found is None:
            return
        node, kind = found
        backend = self._backends.get("onnxruntime")
        if backend is None:
            raise ModelError(
                f"node {node.title} makes {kind}, and a network that makes one runs on "
                "onnxruntime as a whole, which is not among its back ends: "
                f"{install_line('onnxruntime')}"
            )
        self._placement.require(self.ops, backend)

    def _prepare(self, inferred: Inferred) -> None:
        while True:
            packer = self._packer(inferred)
            numbers: dict[Value, int] = {}
            try:
                graph = self._described(inferred, self.ops, packer)
                if self._placement.move(graph, self.ops):
                    continue
                graph = fuse_tables(graph, self._features)
                self._parts = [self._placed(part, packer, numbers) for part in divide(graph)]
                break
            except Unsupported as refused:
                self._placement.refuse(refused)
        outputs = [_number(numbers, value) for value in graph.outputs]
        ops = [(number, value.op) for value, number in numbers.items()]
        self._known = {number: op.array for number, op in ops if isinstance(op, Constant)}
        self._brought = {number: op.tensor for number, op in ops if isinstance(op, TensorInput)}
        # By name, and whether it is a copy: others have the array, too.
        taken = [*self._known, *self._brought, *outputs]
        copied = [number in taken[: i - len(outputs)] for i, number in enumerate(outputs)]
        self._outputs = list(zip(self._network.outputs, outputs, copied, strict=True))

    def _packer(self, inferred: Inferred) -> Packer:
        native = self._backends.get("fbg")
        rounds = isinstance(native, Native) and native.rounds
        weights = native.weights if isinstance(native, Native) else PackedWeights()
        read = {name for node in inferred.nodes for name in node.reads}
        sizes = (inferred.types[name].nbytes for name in read if name in inferred.constants)
        return Packer(weights, sum(sizes), rounds)

    def _described(self, inferred: Inferred, ops: Mapping[str, TypedNode], packer: Packer) -> Graph:
        brought = [name for name in self._inputs if name not in inferred.constants]
        outputs = self._network.outputs
        return describe(ops.values(), brought, outputs, inferred, self._placement, packer)

    def _placed(self, part: Part, packer: Packer, numbers: dict[Value, int]) -> _Placed:
        backend = self._backends[part.backend]
        prepared: PreparedPart
        if isinstance(backend, Native):
            prepared = backend.prepare(part, packer, self._threads, self._features)
            inputs = [value for value in part.inputs if not isinstance(value.op, Constant)]
        else:
            foreign, inputs = self._foreign(part)
            prepared = backend.prepare(foreign)
        given = tuple(_number(numbers, value) for value in inputs)
        results = tuple(_number(numbers, value) for value in part.outputs)
        rooms = tuple(map(_room, part.outputs))
        return _Placed(backend, prepared, given, results, rooms, _nodes(part))

    def _foreign(self, part: Part) -> tuple[ForeignPart, list[Value]]:
        """Return a part of another back end, whose tensors have names, and its inputs."""
        inside = {v: v.op.output for v in part.values if isinstance(v.op, Foreign)}
        read = {
            name: x
            for v in part.values
            for name, x in zip(self.ops[v.nodes[0]].node.reads, v.op.inputs, strict=True)
        }
        # What fbg passes on unchanged has the name of an op between two ops of the part.
        own = {name: inside[x] for name, x in read.items() if x in inside}
        nodes = (self.ops[name].node for name in _nodes(part))
        ops = tuple(replace(self.ops[n.name], node=with_names(n, own)) for n in nodes)
        inputs = {name: x for name, x in read.items() if name not in own}
        names = [name for name in inputs if name not in ops[0].constants]
        outputs = tuple(v.op.output for v in part.outputs if isinstance(v.op, Foreign))
        versions = self._network.versions
        foreign = ForeignPart(ops, tuple(names), outputs, versions, self._threads, self._features)
        return foreign, [inputs[name] for name in names]

    def described(self) -> Graph:
        """Return the ops of a run by back end, made anew."""
        inferred = infer(self._network, self._inputs, self._bound, self._kept, self._compute)
        return self._described(inferred, _ops(inferred), self._packer(inferred))

    def _warn(self) -> None:
        names = [n for part in self._parts if part.backend.name == "reference" for n in part.nodes]
        slow = [self.ops[name] for name in names if name not in self._kept]
        if slow:
            cost = sum(50 * (op.bytes / 10e9 + op.operations / 100e9) for op in slow)
            titles = ", ".join(op.node.title for op in slow[:5])
            more = f" and {len(slow) - 5} more" if len(slow) > 5 else ""
            warnings.warn(
                f"{self._network.origin}: {titles}{more} run on onnx.reference, which is slow "
                f"(about {1e3 * cost:.1f} ms a run); install onnxruntime for a faster fallback",
                UserWarning,
                stacklevel=4,
            )

    # Running -----------------------------------------------------------------------------------

    def _started(self, feeds: Mapping[str, Array]) -> dict[int, Array]:
        """Return the tensors that are known at the start of a run, by number."""
        return {**self._known, **{number: feeds[name] for number, name in self._brought.items()}}

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Return all outputs. The feeds have been checked."""
        values = self._started(feeds)
        for part in self._parts:
            given = [values[number] for number in part.inputs]
            values.update(zip(part.outputs, part.prepared.run(given, part.room()), strict=True))
        return {
            name: values[number].copy() if copied else values[number]
            for name, number, copied in self._outputs
        }

    @cached_property
    def as_call(self) -> _fbg.TensorCall | None:
        """Return one call that does what `run` does, checks its arrays and returns None for those
        that are not ready to be read; None if there is more to do than to run one plan.
        """
        if len(self._parts) != 1 or self._known:
            return None
        (part,) = self._parts
        names = {number: name for name, number, copied in self._outputs if not copied}
        rooms = dict(zip(part.outputs, part.rooms, strict=True))
        if (
            not isinstance(part.prepared, PreparedPlan)
            or sorted(part.inputs) != sorted(self._brought)
            or set(self._brought.values()) != set(self._inputs)  # others are to be checked, too
            or len(names) != len(self._outputs)
            or sorted(names) != sorted(rooms)
        ):
            return None
        kinds = (
            (self._brought[number], self._types[self._brought[number]]) for number in part.inputs
        )
        inputs = [(name, kind.dtype, kind.fixed or ()) for name, kind in kinds]
        outputs = [(names[n], room[1], room[0]) for n, room in rooms.items() if room is not None]
        return part.prepared.as_call(inputs, outputs, (name for name, *_ in self._outputs))

    def profile(
        self, feeds: Mapping[str, Array], rounds: int
    ) -> tuple[list[PlacedStep], list[list[float]]]:
        """Return the steps of a run with medians of measured times, and the times of all rounds."""
        samples: list[list[list[float]]] = [[] for _ in self._parts]
        for _ in counted("profiling", range(rounds)):
            values = self._started(feeds)
            for part, own in zip(self._parts, samples, strict=True):
                given = [values[number] for number in part.inputs]
                start = time.perf_counter()
                results, seconds = part.prepared.timed(given, part.room())
                own.append(seconds or [time.perf_counter() - start])
                values.update(zip(part.outputs, results, strict=True))
        found = []
        for part, own in zip(self._parts, samples, strict=True):
            steps = part.prepared.steps()
            medians = [float(median) for median in np.median(own, axis=0)]
            if len(medians) != len(steps):  # the part is timed as a whole
                names = tuple(name for step in steps for name in step.nodes)
                steps = [Step(names, steps[0].algorithm)]
            for step, seconds_of_step in zip(steps, medians, strict=True):
                timed = replace(step, seconds=seconds_of_step)
                found.append(self._placed_step(timed, part.backend))
        by_round = zip(*samples, strict=True) if samples else [()] * rounds
        return found, [[second for part in each for second in part] for each in by_round]

    def steps(self) -> list[PlacedStep]:
        """Return the steps of a run in order; those of branches follow the step of their If."""
        found = []
        for part in self._parts:
            found += [self._placed_step(step, part.backend) for step in part.prepared.steps()]
            found += [step for plan in getattr(part.prepared, "plans", ()) for step in plan.steps()]
        return found

    def _placed_step(self, step: Step, backend: BackEnd) -> PlacedStep:
        own = [self.ops[name] for name in step.nodes if name in self.ops]
        types = tuple(
            str(op.types[name]) for op in own for name in op.node.outputs if name in op.types
        )
        modelled = sum(backend.cost(op) for op in own)
        operations = sum(op.operations for op in own)
        how = backend.name, step.algorithm, types
        return PlacedStep(step.nodes, *how, modelled, step.seconds, operations)

    @property
    def trials(self) -> list[ConvTrial]:
        """The trials that time each convolution of native parts."""
        return [trial for part in self._parts for trial in getattr(part.prepared, "trials", ())]

    @property
    def backends(self) -> tuple[AnyBackEnd, ...]:
        """The back ends in the order in which they were listed."""
        return tuple(self._backends.values())

    def with_moved(self, backend: str, moved: Moved) -> Session:
        """Return the network prepared with these nodes on a back end, and no others of fbg's."""
        return self._anew({backend: moved})

    def moves_key(self, backend: str) -> str:
        """Return the name of the measurement of what moves to a back end."""
        return moves_key(digest(self.ops), backend, self._threads, self._features)

    def random_feeds(self) -> dict[str, Array]:
        """Return random inputs, and the values of those that are bound."""
        rng = np.random.default_rng(0)
        kinds = self._inputs.items()
        return {name: random_array(kind, rng) for name, kind in kinds} | dict(self._bound)

    @property
    def tensor_bytes(self) -> int:
        """Bytes of all inputs and of all tensors that ops write, where their shapes are known."""
        written = (name for op in self.ops.values() for name in op.node.outputs)
        names = {*self._network.inputs, *written}
        return sum(self._types[name].nbytes for name in names if name in self._types)

    @property
    def kept_bytes(self) -> int:
        """About how many bytes the session takes besides weights, which all sessions share."""
        parts = sum(getattr(part.prepared, "kept_bytes", FOREIGN_BYTES) for part in self._parts)
        return parts + NODE_BYTES * len(self.ops)

    @property
    def nbytes(self) -> int:
        """Bytes of the arenas of native parts."""
        return sum(getattr(part.prepared, "arena_bytes", 0) for part in self._parts)


def _ops(inferred: Inferred) -> dict[str, TypedNode]:
    return {n.name: TypedNode(n, inferred.types, inferred.constants) for n in inferred.nodes}


def computing(backends: Sequence[AnyBackEnd], features: int) -> Compute:
    """Return what computes constants: a plan of the node alone, on the back ends of a network."""

    def compute(node: Node, values: Mapping[str, Array]) -> dict[str, Array] | None:
        op = TypedNode(node, {})
        needed = {name for backend in backends for name in backend.needs(op)}
        types = {name: TensorType(value.dtype, value.shape) for name, value in values.items()}
        network = Network(
            "a constant",
            types,
            dict.fromkeys(filter(None, node.outputs), UNKNOWN),
            {},
            [node],
            {node.domain: node.version, **node.versions},
        )
        bound = {name: value for name, value in values.items() if name in needed}
        try:
            alone = Session(network, types, bound, backends, {}, 1, features, folds=False)
            return alone.run(values)
        except Exception:  # whatever a back end raises, a run of the network raises it again
            return None

    return compute


def computing_without_runtimes() -> Compute:
    """Return what computes constants, such as weights, for passes over a description."""
    return computing([Native(), Reference()], _fbg.active_features())


def _number(numbers: dict[Value, int], value: Value) -> int:
    return numbers.setdefault(value, len(numbers))


def _nodes(part: Part) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for value in part.values for name in value.nodes))


def _room(value: Value) -> Room | None:
    """Return the shape and the type of a tensor that a session can own, else None."""
    shape = tuple(size for size in value.shape if isinstance(size, int))
    if len(shape) < len(value.shape):
        return None
    dtype = np.dtype(value.dtype)
    return None if dtype.kind in "OSU" else (shape, dtype)
