"""Shared code of the back ends that take ONNX models: makes a model of a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.importers.backends.base import ForeignPart, PreparedPart, Step, TypedNode
from fbg.importers.backends.guards import GUARD
from fbg.importers.description import TensorType
from fbg.importers.onnx.folding import node_proto
from fbg.importers.onnx.opsets import same_versions

MOST_REPEATED = 2**16  # most bytes of an initializer that repeats one element
_NEWEST_IR = 10  # IR version that every runtime of recent years reads


def part_model(part: ForeignPart) -> onnx.ModelProto:
    """Return a part as a model: its constants as initializers, its border as inputs and outputs."""
    model = onnx.ModelProto(ir_version=_NEWEST_IR)
    model.opset_import.extend(helper.make_opsetid(*item) for item in _oldest_versions(part).items())
    graph = model.graph
    graph.name = "part"
    graph.input.extend(_value(name, part.ops) for name in part.inputs)
    graph.output.extend(_value(name, part.ops) for name in part.outputs)
    constants = dict.fromkeys(name for op in part.ops for name in op.node.reads)
    for name in constants:
        known = part.ops[0].constants
        if name in known and name not in part.inputs:
            _add_constant(graph, name, known[name])
    graph.node.extend(node_proto(op.node) for op in part.ops)
    return model


def _add_constant(graph: onnx.GraphProto, name: str, values: Array) -> None:
    """Add an initializer; if it repeats an element, each run expands it, as in the file."""
    if values.nbytes <= MOST_REPEATED or any(values.strides):
        dense = np.asarray(values, order="C")
        graph.initializer.append(numpy_helper.from_array(dense, name))
        return
    shape = np.array(values.shape, np.int64)
    one = values[(0,) * values.ndim]
    for part, value in ((f"{name}/shape", shape), (f"{name}/element", np.asarray(one))):
        graph.initializer.append(numpy_helper.from_array(value, part))
    graph.node.append(helper.make_node("Expand", [f"{name}/element", f"{name}/shape"], [name]))


def prepared_in_runs(
    part: ForeignPart, prepare: Callable[[ForeignPart], PreparedPart]
) -> PreparedPart:
    """Return a part prepared by a function that makes one model of its ops.

    There are several models where no operator sets mean the same for all ops: those of a local
    function may be from another one than the file's.
    """
    runs = _consistent_runs(part.ops)
    return prepare(part) if len(runs) == 1 else _PreparedRuns(part, runs, prepare)


class _PreparedRuns:
    """Runs of ops of a part, one after the other."""

    def __init__(
        self,
        part: ForeignPart,
        runs: Sequence[tuple[TypedNode, ...]],
        prepare: Callable[[ForeignPart], PreparedPart],
    ) -> None:
        self._part, self._runs = part, list[tuple[ForeignPart, PreparedPart]]()
        for i, ops in enumerate(runs):
            later = {name for run in runs[i + 1 :] for op in run for name in op.node.reads}
            made = {name: None for op in ops for name in op.node.outputs if name}
            read = dict.fromkeys(name for op in ops for name in op.node.reads if name not in made)
            brought = [n for n in read if n in part.inputs or n not in ops[0].constants]
            kept = [name for name in made if name in later or name in part.outputs]
            run = replace(part, ops=ops, inputs=tuple(brought), outputs=tuple(kept))
            self._runs.append((run, prepare(run)))

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array | None]) -> list[Array]:
        values = dict(zip(self._part.inputs, inputs, strict=True))
        for part, prepared in self._runs:
            given = [values[name] for name in part.inputs]
            found = prepared.run(given, [None] * len(part.outputs))
            values.update(zip(part.outputs, found, strict=True))
        named = zip(self._part.outputs, outputs, strict=True)
        return [written(self._part, name, values[name], out) for name, out in named]

    def timed(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None]
    ) -> tuple[list[Array], list[float]]:
        return self.run(inputs, outputs), []

    def steps(self) -> list[Step]:
        return [step for _, prepared in self._runs for step in prepared.steps()]


def _consistent_runs(ops: Sequence[TypedNode]) -> list[tuple[TypedNode, ...]]:
    """Return ops in runs for each of which there are operator sets in which all mean the same."""
    runs: list[list[TypedNode]] = [[]]
    common: dict[str, range] = {}
    for op in ops:
        own = _same_versions(op)
        both = {domain: _overlap(common.get(domain, same), same) for domain, same in own.items()}
        if not all(both.values()):
            runs.append([])
            common, both = {}, own
        common.update(both)
        runs[-1].append(op)
    return [tuple(run) for run in runs]


def _overlap(a: range, b: range) -> range:
    return range(max(a.start, b.start), min(a.stop, b.stop))


def _same_versions(op: TypedNode) -> dict[str, range]:
    """Return the operator sets in which an op means the same, by domain.

    Nodes of subgraphs are not looked at one by one.
    """
    node = op.node
    inside = {domain: range(version, version + 1) for domain, version in node.versions.items()}
    return {node.domain: same_versions(node.op, node.domain, node.version), **inside}


def _oldest_versions(part: ForeignPart) -> dict[str, int]:
    """Return the oldest operator sets in which all ops mean the same: runtimes may be older."""
    versions: dict[str, int] = {}
    for op in part.ops:
        for domain, same in _same_versions(op).items():
            versions[domain] = max(same.start, versions.get(domain, 1))
    return versions


def _value(name: str, ops: tuple[TypedNode, ...]) -> onnx.ValueInfoProto:
    kind = next((op.types[name] for op in ops if name in op.types), None)
    if kind is None:
        return helper.make_value_info(name, onnx.TypeProto())
    element = helper.np_dtype_to_tensor_dtype(kind.dtype)
    return helper.make_tensor_value_info(name, element, kind.shape)


class WrongType(ModelError):
    """A tensor has another type in a run than a file declares, where inference does not know it."""


def written(part: ForeignPart, name: str, value: Any, out: Array | None) -> Array:
    """Return a tensor that a part has computed: copied to `out` if given, else unchanged.

    An output of a network may also be a sequence or a map, as onnxruntime returns it.

    Raises WrongType if its type is not the one for which all other parts were prepared.
    """
    if out is None and isinstance(value, (list, dict)):
        return value  # type: ignore[return-value]
    found = np.asarray(value)
    if out is None:
        return found
    if (found.dtype, found.shape) != (out.dtype, out.shape):
        title = next(op.node.title for op in part.ops if name in op.node.outputs)
        raise WrongType(
            f"node {title}: tensor '{name}' must be {TensorType(out.dtype, out.shape)} by the file "
            f"or by inference, got {TensorType(found.dtype, found.shape)}"
        )
    np.copyto(out, found)
    return out


def failure(part: ForeignPart, backend: str, error: Exception) -> ModelError:
    """Return the exception to raise for one that another runtime raised while it ran a part."""
    titles = ", ".join(op.node.title for op in part.ops[:3])
    more = f" and {len(part.ops) - 3} more" if len(part.ops) > 3 else ""
    reason = " ".join(str(error).split()) or type(error).__name__
    reason = GUARD if GUARD in reason else reason
    return ModelError(f"node {titles}{more} failed on {backend}: {reason}")


def modelled_seconds(op: TypedNode) -> float:
    """Return the time of an op at 100 G operations and 10 GB a second."""
    return op.operations / 100e9 + op.bytes / 10e9 + 1e-6
