"""Models of a single operator, and what onnxruntime computes for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model

Array = npt.NDArray[Any]
Shape = Sequence[int | str | None] | None


@dataclass
class OneOp:
    """A node with its inputs, some of which are known beforehand.

    inputs: None where an optional one is absent. constant: numbers of those that the file holds.
    declared: what the file says of its outputs; nothing by default.
    """

    op: str
    version: int
    inputs: list[Array | None]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    constant: frozenset[int] = frozenset()
    outputs: int = 1
    declared: list[tuple[np.dtype[Any], Shape]] | None = None
    domain: str = ""

    @property
    def feeds(self):
        return {f"x{i}": x for i, x in self._given() if i not in self.constant}

    def _given(self):
        return [(i, x) for i, x in enumerate(self.inputs) if x is not None]

    def model(self):
        names = [f"x{i}" if x is not None else "" for i, x in enumerate(self.inputs)]
        outputs = [f"y{i}" for i in range(self.outputs)]
        untyped = [onnx.ValueInfoProto(name=name) for name in outputs]
        kinds = zip(outputs, self.declared, strict=True) if self.declared else ()
        graph = helper.make_graph(
            [helper.make_node(self.op, names, outputs, domain=self.domain, **self.attributes)],
            "one",
            [_value(name, x.dtype, x.shape) for name, x in self.feeds.items()],
            [_value(name, *kind) for name, kind in kinds] or untyped,
            [numpy_helper.from_array(x, f"x{i}") for i, x in self._given() if i in self.constant],
        )
        opsets = [helper.make_opsetid(self.domain, self.version)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def on_fbg(self, backends=None):
        net = Net(read_model(self.model(), "one op", None), backends=backends, num_threads=1)
        return list(net.run(self.feeds).values())

    def on_onnxruntime(self):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = self.model()
        for value in model.graph.output:  # whatever it says otherwise is believed to some extent
            value.ClearField("type")
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return list(session.run(None, self.feeds))

    def __str__(self):
        kinds = [
            "absent"
            if x is None
            else f"{x.dtype}{list(x.shape)}{'=' * (i in self.constant)}"
            + (f"{x.ravel().tolist()}" if i in self.constant and x.size < 9 else "")
            for i, x in enumerate(self.inputs)
        ]
        return f"{self.op}-{self.version}({', '.join(kinds)}) {dict(self.attributes)}"


def _value(name, dtype, shape):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)
