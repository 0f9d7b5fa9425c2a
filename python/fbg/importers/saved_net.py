"""Saved networks: a directory with one file, in the container format of all saved models.

    network        the nodes as a model in the format of ONNX, as bytes
    constants.*    the tensors that the nodes read, mapped when they are loaded

A network is saved as it runs: with folded constants, and with the integers and scales that
calibration has chosen. (fbg/saved_file.py describes the container and its checks.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import helper, numpy_helper

from fbg import _fbg, saved_file
from fbg.errors import ModelError
from fbg.importers.description import DTYPES, UNKNOWN, Network, TensorType
from fbg.importers.int8.kept import Kept
from fbg.importers.onnx.counting import require_few_fields
from fbg.importers.onnx.folding import node_proto
from fbg.importers.onnx.read import read_model
from fbg.saved_file import WEIGHTS, SavedFile, replace_directory

NETWORK, CONSTANTS = "network", "constants."
_IR_VERSION = 10


def write_saved(
    target: Path, network: Network, dtype: str, kept: Kept | None, overwrite: bool
) -> None:
    """Write the directory of a network, completely or not at all. dtype, kept: as of `Net`."""
    read = {name for node in network.nodes for name in node.reads}
    stored: dict[str, npt.NDArray[Any]] = {}
    inside = []
    for name, value in network.constants.items():
        if name not in read and name not in network.outputs:
            continue
        if value.dtype in saved_file.NAMES:
            stored[CONSTANTS + name] = value
        else:  # strings, and types that only protobuf has
            inside.append(numpy_helper.from_array(value, name))
    graph = helper.make_graph(
        [node_proto(node) for node in network.nodes],
        "network",
        _values(network.inputs),
        _values(network.outputs),
        inside,
        value_info=_values(network.declared),
    )
    opsets = [helper.make_opsetid(*item) for item in network.versions.items()]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
    stored[NETWORK] = np.frombuffer(model.SerializeToString(), np.uint8)
    others = {
        node.name: node.version
        for node in network.nodes
        if node.version != network.versions.get(node.domain)
    }
    metadata = {"fbg": _fbg.__version__, "dtype": dtype, "versions": json.dumps(others)}
    if kept is not None:
        metadata["kept"] = json.dumps(kept.as_json())
    with replace_directory(target, overwrite) as directory:
        saved_file.write(directory / WEIGHTS, stored, metadata, saved_file.NET)


def read_saved(directory: Path) -> tuple[Network, str, Kept | None]:
    """Return the network of a directory, its dtype, and the nodes that stay in float32 for a wanted
    accuracy, if one was.

    Raises ModelError naming the file, and the tensor or node that is wrong.
    """
    with SavedFile(directory / WEIGHTS, saved_file.NET) as file:
        dtype = file.metadata("dtype")
        if dtype not in DTYPES:
            raise ModelError(f"{file.path}: damaged: its dtype is {dtype!r}")
        model, stored_model = onnx.ModelProto(), file.array(NETWORK).tobytes()
        require_few_fields(stored_model, f"{file.path}: tensor {NETWORK}")
        try:
            model.ParseFromString(stored_model)
        except DecodeError as error:
            raise ModelError(f"{file.path}: tensor {NETWORK}: {error}") from None
        constants = {
            name.removeprefix(CONSTANTS): file.array(name)
            for name in file.names()
            if name.startswith(CONSTANTS)
        }
        versions = file.metadata_object("versions")
        for name, version in versions.items():
            if type(version) is not int or not 0 < version < 1 << 31:
                raise ModelError(f"{file.path}: damaged: the version of node '{name}' is {version}")
        stored = file.metadata_object("kept")
        try:
            kept = Kept.of_json(stored) if stored else None
        except ValueError as error:
            raise ModelError(f"{file.path}: damaged: {error}") from None
        file.require_all_read()
        return read_model(model, str(file.path), None, constants, versions), dtype, kept


def _values(types: Mapping[str, TensorType]) -> list[onnx.ValueInfoProto]:
    return [
        onnx.ValueInfoProto(name=name)
        if kind is UNKNOWN
        else helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(kind.dtype), kind.shape
        )
        for name, kind in types.items()
    ]
