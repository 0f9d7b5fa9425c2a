"""fbg as a back end of the package onnx: ONNX's own test runner drives it.

import onnx.backend.test
from fbg.arrays import Array
import fbg.onnx_backend

onnx.backend.test.BackendTest(fbg.onnx_backend, __name__)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep

from fbg.arrays import Array
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model

__all__ = ["FbgBackend", "FbgRep", "prepare", "run_model", "run_node", "supports_device"]


class FbgRep(BackendRep):  # type: ignore[misc]
    """A prepared model."""

    def __init__(self, net: Net) -> None:
        self.net = net

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], **kwargs: Any) -> tuple[Array, ...]:
        """Return the outputs for inputs in the order of the model, or by name."""
        del kwargs
        if not isinstance(inputs, Mapping):
            if len(inputs) != len(self.net.inputs):
                raise ValueError(
                    f"run: the model takes {len(self.net.inputs)} inputs, got {len(inputs)}"
                )
            inputs = dict(zip(self.net.inputs, inputs, strict=True))
        return tuple(self.net.run(inputs).values())


class FbgBackend(Backend):  # type: ignore[misc]
    """The functions of this module as the class that the package onnx wants."""

    @classmethod
    def prepare(
        cls,
        model: onnx.ModelProto,
        device: str = "CPU",
        backends: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> FbgRep:
        """Prepare a model. backends: as in `fbg.load`; ("fbg",) means: on fbg or not at all."""
        del kwargs
        if not cls.supports_device(device):
            raise ValueError(f"prepare: device must be CPU, got {device!r}")
        return FbgRep(Net(read_model(model, "model", None), backends=backends))

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Sequence[Any],
        device: str = "CPU",
        outputs_info: Any = None,
        backends: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> tuple[Array, ...]:
        """Run a single node on arrays. opset_version: default the newest that onnx knows."""
        del outputs_info
        version = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
        names = [name for name in node.input if name]
        arrays = [np.asarray(value) for value in inputs]
        graph = helper.make_graph(
            [node],
            "node",
            [
                helper.make_tensor_value_info(
                    name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
                )
                for name, array in zip(names, arrays, strict=True)
            ],
            [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in node.output],
        )
        opsets = [helper.make_opsetid(node.domain, version)]
        return cls.prepare(helper.make_model(graph, opset_imports=opsets), device, backends).run(
            arrays
        )

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether the device is the CPU."""
        return device.split(":")[0] == "CPU"


prepare = FbgBackend.prepare
run_node = FbgBackend.run_node
run_model = FbgBackend.run_model
supports_device = FbgBackend.supports_device
