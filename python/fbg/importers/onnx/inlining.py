"""Local functions of a file: their nodes replace calls, unless there would be too many.

Twenty functions that each call the previous one twice are a million nodes. So the nodes and bytes
of inlining are counted first: each function once, after the functions that it calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import onnx
import onnx.inliner
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from fbg.errors import ModelError
from fbg.importers.onnx.budget import Budget

MOST_DEPTH = 50  # depth of functions that call each other

Key = tuple[str, str, str]


@dataclass
class _Size:
    """nodes, names, bytes: counts of the inlined body, without the attributes that a caller passes.

    names: tensors, each of which may become one of the caller. passed: how often each attribute
    of the caller is copied.
    """

    nodes: int = 0
    names: int = 0
    bytes: int = 0
    passed: Counter[str] = field(default_factory=Counter)

    def add(self, other: _Size, times: int = 1) -> None:
        self.nodes += times * other.nodes
        self.names += times * other.names
        self.bytes += times * other.bytes
        for name, count in other.passed.items():
            self.passed[name] += times * count


def inline_functions(model: onnx.ModelProto, origin: str, budget: Budget) -> onnx.ModelProto:
    """Return the model without local functions; raises ModelError.

    All errors in them are found here: functions that call themselves or are defined twice,
    and functions that would become more nodes or bytes than the budget has.
    """
    if not model.functions:
        return model
    count = _Count(model.functions, origin)
    total = count.of_nodes(model.graph.node, 0)
    if not budget.take(total.bytes, nodes=total.nodes):
        raise ModelError(
            f"{origin}: its {len(model.functions)} local functions would become {total.nodes} "
            f"nodes of {total.bytes} bytes where they are called, which is too much for its size"
        )
    try:
        return onnx.inliner.inline_local_functions(model)
    except (onnx.checker.ValidationError, DecodeError, RuntimeError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(f"{origin}: its local functions cannot be inlined: {reason}") from None


class _Count:
    """Counts what calls of the functions of a model expand to."""

    def __init__(self, functions: Iterable[onnx.FunctionProto], origin: str) -> None:
        self._functions: dict[Key, onnx.FunctionProto] = {}
        self._origin = origin
        self._sizes: dict[Key, _Size | None] = {}  # None: being counted
        for function in functions:
            key = _key(function.domain, function.name, function.overload)
            if key in self._functions:
                raise ModelError(f"{origin}: local function '{function.name}' is defined twice")
            self._functions[key] = function

    def of_nodes(self, nodes: Iterable[onnx.NodeProto], depth: int) -> _Size:
        """Return the size of nodes after inlining, including nodes in their subgraphs."""
        total = _Size()
        for node in nodes:
            key = _key(node.domain, node.op_type, node.overload)
            if key in self._functions:
                self._add_call(total, node, self._of_function(key, depth + 1), depth)
                continue
            total.add(_Size(1, len(node.input) + len(node.output), node.ByteSize()))
            for attribute in node.attribute:
                if attribute.ref_attr_name:
                    total.passed[attribute.ref_attr_name] += 1
                total.add(self._of_attribute(attribute, depth))
        return total

    def _add_call(self, total: _Size, call: onnx.NodeProto, size: _Size, depth: int) -> None:
        """Add a function, with each attribute of the call where the function refers to it."""
        longest = max((len(name) for name in (*call.input, *call.output, call.name)), default=0)
        made = size.bytes + (size.names + size.nodes) * (longest + 8)
        total.add(_Size(size.nodes, size.names, made))
        for attribute in call.attribute:
            copies = size.passed[attribute.name]
            if attribute.ref_attr_name:
                total.passed[attribute.ref_attr_name] += copies
            total.add(self._of_attribute(attribute, depth), copies)

    def _of_attribute(self, attribute: onnx.AttributeProto, depth: int) -> _Size:
        """Return the size of an attribute after inlining."""
        size = _Size(bytes=attribute.ByteSize())
        for graph in (attribute.g, *attribute.graphs):
            size.add(self.of_nodes(graph.node, depth))
        return size

    def _of_function(self, key: Key, depth: int) -> _Size:
        function = self._functions[key]
        if key in self._sizes:
            size = self._sizes[key]
            if size is None:
                raise ModelError(f"{self._origin}: local function '{function.name}' calls itself")
            return size
        if depth > MOST_DEPTH:
            raise ModelError(
                f"{self._origin}: local functions call each other more than {MOST_DEPTH} deep"
            )
        self._sizes[key] = None
        size = self.of_nodes(function.node, depth)
        for default in function.attribute_proto:  # if the call passes none
            size.add(self._of_attribute(default, depth), size.passed[default.name])
        self._sizes[key] = size
        return size


def _key(domain: str, name: str, overload: str) -> Key:
    return ("" if domain == "ai.onnx" else domain, name, overload)
