"""ONNX Runtime as a back end: one inner session for each part, made when the part is prepared.

Its inputs and outputs are bound to the buffers of the session by address: nothing is copied.

One team owns the CPUs at a time. Each inner session has threads of its own, and a network may have
many, so none of them spins for work; fbg's threads are put to rest before they begin. Parts that
take little time have no threads: they run on the calling one. Parts that compute the same share a
session, as a network may have thousands of small parts.

A Loop may run for any time: Ctrl-C ends it.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

import numpy as np
import onnx

from fbg import _fbg
from fbg.arrays import Array
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import ForeignPart, PreparedPart, Step, TypedNode
from fbg.importers.backends.foreign import (
    failure,
    modelled_seconds,
    part_model,
    prepared_in_runs,
    written,
)
from fbg.importers.backends.guards import GUARD, OLDEST, guard
from fbg.importers.onnx.check import GRAPHS
from fbg.locks import Lock

MOST_TRIED = 2**12  # most elements of a constant that stays one in a trial: it may be a shape
LONGEST_START = 5.0  # seconds until a thread that was interrupted while it started has begun
LOOK_UP = 0.2  # seconds after which a waiting thread looks whether it was interrupted
SHORT = 100e-6  # modelled seconds of a part for which other threads would hardly wake in time


def _threads(part: ForeignPart) -> int:
    """Return how many threads a part is worth."""
    seconds = sum(modelled_seconds(op) for op in part.ops)
    return part.num_threads if seconds > SHORT else 1


def alone(op: TypedNode) -> ForeignPart:
    """Return an op as a part in which all constants except short ones are inputs."""
    inputs = tuple(
        name
        for name in dict.fromkeys(op.node.reads)
        if name not in op.constants or math.prod(op.types[name].fixed or ()) > MOST_TRIED
    )
    outputs = tuple(filter(None, op.node.outputs))
    versions = {"": 21, op.node.domain: op.node.version}
    return ForeignPart((op,), inputs, outputs, versions, 1)


def session_model(part: ForeignPart, guarded: bool = True) -> bytes:
    """Return a part as a model in which all names are numbers: many parts differ in nothing else.

    Inputs come first, then outputs. Names stay as they are where subgraphs may refer to them.
    guarded: whether nodes that must not read empty tensors fail for them.
    Raises InferenceError of ONNX if nodes of a subgraph do not fit each other: onnxruntime trusts
    that they do, and an Einsum whose operands do not would end the process. Nodes outside of
    subgraphs have been checked when their types were inferred.
    """
    model = part_model(part)
    if subgraphs := list(_subgraphs(model.graph.node)):
        for subgraph in subgraphs:  # onnxruntime ignores what contradicts its own inference
            del subgraph.value_info[:]
            dense = (v for v in subgraph.output if v.type.HasField("tensor_type"))
            for value in dense:
                value.type.tensor_type.ClearField("shape")
        onnx.shape_inference.infer_shapes(model, strict_mode=True)
    if guarded and all(each.version >= OLDEST for each in model.opset_import if each.domain == ""):
        guard(model.graph, part.ops[0].types)
    if any(op.node.captures for op in part.ops):
        return bytes(model.SerializeToString())
    graph = model.graph
    numbers = {name: str(i) for i, name in enumerate(dict.fromkeys((*part.inputs, *part.outputs)))}
    numbers[""] = ""
    for i, node in enumerate(graph.node):
        node.name = f"{GUARD} {i}" if node.name.startswith(GUARD) else str(i)
        for names in (node.input, node.output):
            names[:] = [numbers.setdefault(name, str(len(numbers))) for name in names]
    for value in (*graph.input, *graph.output, *graph.initializer):
        value.name = numbers[value.name]
    return bytes(model.SerializeToString())


def _subgraphs(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.GraphProto]:
    """Yield the subgraphs of nodes at any depth."""
    for node in nodes:
        for attribute in node.attribute:
            if attribute.type in GRAPHS:
                for graph in (attribute.g, *attribute.graphs):
                    yield graph
                    yield from _subgraphs(graph.node)


def open_session(model: bytes, threads: int, optimize: bool = True) -> Any:
    """Return an inner session. It folds no constants.

    Constants that are worth it have been folded already; folding the others would take too long
    while a file is loaded.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if not optimize:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(
        model,
        options,
        providers=["CPUExecutionProvider"],
        disabled_optimizers=["ConstantFolding"],
    )


class _Sessions:
    """Inner sessions by content, kept as long as a part has them; and which can be made."""

    def __init__(self) -> None:
        self._made: weakref.WeakValueDictionary[tuple[bytes, int], Any]
        self._made = weakref.WeakValueDictionary()
        self._possible: dict[bytes, bool] = {}
        self._lock = Lock()

    def get(self, part: ForeignPart) -> Any:
        """Return the session of a part; raises whatever onnxruntime does."""
        model, threads = session_model(part), _threads(part)
        key = hashlib.sha256(model).digest(), threads
        with self._lock:
            found = self._made.get(key)
        if found is None:
            made = open_session(model, threads)
            with self._lock:
                found = self._made.setdefault(key, made)
        return found

    def is_possible(self, part: ForeignPart) -> bool:
        """Whether there can be a session of a part."""
        try:
            model = session_model(part)
        except onnx.shape_inference.InferenceError:
            return False
        key = hashlib.sha256(model).digest()
        if key not in self._possible:
            try:
                open_session(model, 1, optimize=False)
                self._possible[key] = True
            except Exception:  # onnxruntime has an exception type for each kind of failure
                self._possible[key] = False
        return self._possible[key]


class OnnxRuntime:
    """onnxruntime as a back end. Raises ImportError where it is not installed."""

    name = "onnxruntime"

    def __init__(self) -> None:
        import onnxruntime

        self._version = onnxruntime.__version__
        self._sessions = _Sessions()

    def needs(self, op: TypedNode) -> tuple[str, ...]:
        """Return nothing: it needs no values beforehand."""
        return ()

    def supports(self, op: TypedNode) -> bool:
        """Whether a session for the op alone can be made."""
        return self._sessions.is_possible(alone(op))

    def cost(self, op: TypedNode) -> float:
        """Return one and a half times the model: its sessions do not fuse with what is around."""
        return 1.5 * modelled_seconds(op)

    def prepare(self, part: ForeignPart) -> PreparedPart:
        """Return an inner session for the part, or several for ops of different operator sets."""
        return prepared_in_runs(part, lambda run: _PreparedSession(run, self._sessions))


class _PreparedSession:
    def __init__(self, part: ForeignPart, sessions: _Sessions) -> None:
        self._part = part
        self._has_threads = _threads(part) > 1
        nodes = [op.node.source for op in part.ops if op.node.versions]
        inside = (node for graph in _subgraphs(nodes) for node in graph.node)
        self._loops = any(node.op_type == "Loop" for node in (*nodes, *inside))
        try:
            self._session = sessions.get(part)
            self._inputs = [value.name for value in self._session.get_inputs()]
            self._outputs = [value.name for value in self._session.get_outputs()]
        except Exception as error:
            reason = f"onnxruntime: {str(error).splitlines()[0]}"
            raise Unsupported(part.ops[0].node.name, reason) from error

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array | None]) -> list[Array]:
        if self._has_threads:
            _fbg.rest_team()
        given = [np.asarray(array, order="C") for array in inputs]
        if any(not _bindable(array) for array in (*given, *outputs)):
            return self._unbound(given, outputs)
        binding = self._session.io_binding()
        for name, array in zip(self._inputs, given, strict=True):
            binding.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        bound: list[Array] = []
        for name, out in zip(self._outputs, outputs, strict=True):
            if out is not None:
                binding.bind_output(name, "cpu", 0, out.dtype, out.shape, out.ctypes.data)
                bound.append(out)
        try:
            self._called(lambda options: self._session.run_with_iobinding(binding, options))
        except Exception:  # any type; errors that are not about an output are raised again
            return self._unbound(given, outputs)
        return bound

    def _unbound(self, given: Sequence[Array], outputs: Sequence[Array | None]) -> list[Array]:
        """Return copies of outputs of any type and shape."""
        feeds = dict(zip(self._inputs, given, strict=True))
        try:
            results = self._called(lambda options: self._session.run(self._outputs, feeds, options))
        except Exception as error:  # onnxruntime has an exception type for each kind of failure
            raise failure(self._part, "onnxruntime", error) from error
        named = zip(self._part.outputs, results, outputs, strict=True)
        return [written(self._part, *item) for item in named]

    def _called(self, call: Callable[[Any], Any]) -> Any:
        """Return the result of a call with options of a run; Ctrl-C ends the run of a Loop.

        Python interrupts nothing but its own main thread, so this one waits for another. It looks
        up now and then: a signal that the system delivers to another thread does not wake it.
        """
        if not self._loops or threading.current_thread() is not threading.main_thread():
            return call(None)
        import onnxruntime

        options, result = onnxruntime.RunOptions(), Future[Any]()

        def run() -> None:
            try:
                result.set_result(call(options))
            except Exception as error:
                result.set_exception(error)

        thread = threading.Thread(target=run, daemon=True)
        try:
            thread.start()  # which may be interrupted while it waits for the thread
            while not result.done():
                with contextlib.suppress(FutureTimeout):
                    result.exception(LOOK_UP)
            return result.result()
        except KeyboardInterrupt:
            options.terminate = True
            with contextlib.suppress(FutureTimeout):
                result.exception(LONGEST_START if thread.ident is None else None)
            raise

    def timed(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None]
    ) -> tuple[list[Array], list[float]]:
        return self.run(inputs, outputs), []

    def steps(self) -> list[Step]:
        names = tuple(op.node.name for op in self._part.ops)
        return [Step(names, "session")]


def _bindable(array: Array | None) -> bool:
    """Whether an array can be bound by address: it has a NumPy type and is not empty."""
    return array is not None and array.dtype.kind in "fiub" and array.size > 0
