"""Small ONNX models for tests: made from nodes, with types that follow from arrays."""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper

from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model


def node(op, inputs, output, **attributes):
    """A node of one output, which it is named after."""
    return helper.make_node(op, inputs, [output], **{"name": output, **attributes})


def make_model(nodes, inputs, outputs, constants=None, opset=21, **more):
    """A model. inputs: arrays or (dtype, shape) by name; outputs: the same, or names."""
    results = outputs if isinstance(outputs, dict) else dict.fromkeys(outputs, (np.float32, None))
    graph = helper.make_graph(
        nodes,
        "test",
        [value_info(name, like) for name, like in inputs.items()],
        [value_info(name, like) for name, like in results.items()],
        [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10, **more
    )


def value_info(name, like):
    """The type and shape of a value, as an array has them or as (dtype, shape)."""
    dtype, shape = (like.dtype, like.shape) if isinstance(like, np.ndarray) else like
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, element, shape)


def make_net(nodes, inputs, outputs, constants=None, **options):
    """A `Net` of such a model."""
    opset = options.pop("opset", 21)
    model = make_model(nodes, inputs, outputs, constants, opset)
    return Net(read_model(model, "test.onnx", None), **options)


def plain_onnxruntime(model, feed):
    """Results of onnxruntime, which computes node by node: its optimizations are off."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feed)
