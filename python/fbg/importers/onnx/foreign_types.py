"""Types of the outputs of operators of domains other than ONNX's, such as onnxruntime's.

ONNX has no schema for them. The only runtime that knows them is asked: a session of the node alone
tells the types and shapes of its outputs.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import onnx
from onnx import helper

from fbg.importers.backends.base import TypedNode
from fbg.importers.backends.onnxruntime import alone, open_session, session_model
from fbg.importers.description import Constants, Node, TensorType

_ELEMENTS = frozenset(onnx.TensorProto.DataType.keys())


def foreign_types(
    node: Node, types: Mapping[str, TensorType], constants: Constants
) -> dict[str, TensorType]:
    """Return the types of the outputs of a node, as far as onnxruntime knows them.

    types: of all inputs. Nothing is known where onnxruntime is not installed, or refuses the node,
    which then is refused by name when it is placed.
    """
    part = alone(TypedNode(node, types, constants))
    try:
        found = _asked(session_model(part, guarded=False))
    except onnx.shape_inference.InferenceError:  # for nodes in a subgraph
        return {}
    named = zip(part.outputs, found, strict=False)
    return {name: kind for name, kind in named if kind is not None}


@functools.lru_cache(maxsize=256)
def _asked(model: bytes) -> tuple[TensorType | None, ...]:
    """Return the types of the outputs of a model; nothing if it cannot run."""
    try:
        session = open_session(model, 1, optimize=False)
    except Exception:  # any type; or onnxruntime is not installed
        return ()
    return tuple(_type(value.type, value.shape) for value in session.get_outputs())


def _type(text: str, shape: list[int | str | None]) -> TensorType | None:
    """Return the type for a name such as "tensor(uint8)"; None for sequences and the like.

    An empty shape may be a scalar's or unknown.
    """
    kind, _, element = text.rstrip(")").partition("(")
    name = element.upper()
    if kind != "tensor" or name not in _ELEMENTS:
        return None
    dtype = helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(name))
    sizes = tuple(size if isinstance(size, int) else None for size in shape)
    return TensorType(dtype, sizes or None)
