"""Operators of onnxruntime's own: files need not declare the types of what they compute."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from fbg.errors import ModelError
from fbg.importers.description import TensorType
from fbg.importers.net import Net
from fbg.importers.onnx.expansion import RULES
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import make_model, plain_onnxruntime

onnxruntime = pytest.importorskip("onnxruntime")
RNG = np.random.default_rng(7)
CONSTANTS = {
    "s": np.float32(0.02),
    "z": np.uint8(120),
    "t": np.float32(0.05),
    "u": np.uint8(3),
    "w": RNG.integers(-127, 128, (4, 6)).astype(np.int8),
    "ws": np.float32(0.01),
    "wz": np.int8(0),
    "f": RNG.standard_normal((4, 6)).astype(np.float32),
    "v": RNG.standard_normal(4).astype(np.float32),
    "yes": np.array(True),
    "wide": np.float32(1 / 256),
    "none": np.uint8(0),
}
Q = ["q", "s", "z"]  # x as integers
BYTES, FLOAT = "bytes", "float"

# Inputs, attributes and what the first output holds; x is float32, and q the same as bytes.
OPS = {
    "QLinearSigmoid": ([*Q, "wide", "none"], {}, BYTES),
    "QLinearLeakyRelu": ([*Q, "t", "u"], {"alpha": 0.1}, BYTES),
    "QLinearAdd": ([*Q, *Q, "t", "u"], {}, BYTES),
    "QLinearMul": ([*Q, *Q, "t", "u"], {}, BYTES),
    "QLinearConcat": (["t", "u", *Q, *Q], {"axis": 1}, BYTES),
    "QLinearGlobalAveragePool": ([*Q, "t", "u"], {}, BYTES),
    "QLinearAveragePool": ([*Q, "t", "u"], {"kernel_shape": [2, 2]}, BYTES),
    "QLinearSoftmax": ([*Q, "wide", "none"], {"opset": 13, "axis": -1}, BYTES),
    "QLinearWhere": (["yes", *Q, *Q, "t", "u"], {}, BYTES),
    "NhwcMaxPool": (["q"], {"kernel_shape": [2, 2]}, BYTES),
    "DequantizeLinear": (Q, {}, FLOAT),
    "QuantizeLinear": (["x", "t", "u"], {}, BYTES),
    "MatMulIntegerToFloat": (["q", "w", "s", "ws", "z", "wz"], {}, FLOAT),
    "DynamicQuantizeMatMul": (["x", "w", "ws", "wz"], {}, FLOAT),
    "Gelu": (["x"], {}, FLOAT),
    "QuickGelu": (["x"], {"alpha": 1.7}, FLOAT),
    "FastGelu": (["x", "v"], {}, FLOAT),
    "BiasGelu": (["x", "v"], {}, FLOAT),
    "FusedMatMul": (["x", "f"], {"alpha": 0.5}, FLOAT),
    "Inverse": (["x"], {}, FLOAT),
}


def foreign_model(nodes, inputs, outputs, constants):
    model = make_model(nodes, inputs, outputs, constants, opset=17)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def file_of(op, inputs, attributes, holds, batch=2):
    """A model of x, the op, and a Relu of what it returns; nothing between is declared."""
    foreign = helper.make_node(op, inputs, ["o"], "foreign", domain="com.microsoft", **attributes)
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "quantize"), foreign]
    if holds == BYTES:
        nodes.append(helper.make_node("DequantizeLinear", ["o", "t", "u"], ["d"], "dequantize"))
    nodes.append(helper.make_node("Relu", ["d" if holds == BYTES else "o"], ["y"], "relu"))
    read = {name for node in nodes for name in node.input}
    constants = {name: value for name, value in CONSTANTS.items() if name in read}
    return foreign_model(nodes, {"x": (np.float32, (batch, 3, 4, 4))}, ["y"], constants)


@pytest.mark.parametrize("batch", [2, "n"])
@pytest.mark.parametrize("op", list(OPS))
def test_files_with_operators_of_onnxruntime_run_as_there(op, batch):
    model = file_of(op, *OPS[op], batch)
    x = RNG.standard_normal((2, 3, 4, 4)).astype(np.float32)
    net = Net(read_model(model, "test.onnx", None))
    expected = plain_onnxruntime(model, {"x": x})[0]
    if OPS[op][2] == BYTES:
        np.testing.assert_array_equal(net(x), expected)
    else:
        np.testing.assert_allclose(net(x), expected, rtol=1e-5, atol=1e-5)
    # What follows runs on fbg, which it does only where types and shapes are known.
    places = {name: step.backend for step in net.plan().steps for name in step.nodes}
    assert places["foreign"] == ("fbg" if op in RULES else "onnxruntime")
    assert places["relu"] == "fbg"


def test_a_type_that_the_file_declares_in_part_is_completed():
    model = file_of("QLinearSigmoid", *OPS["QLinearSigmoid"])
    open_sizes = helper.make_tensor_value_info("o", onnx.TensorProto.UINT8, ["a", "b", "c", "d"])
    model.graph.value_info.append(open_sizes)
    net = Net(read_model(model, "test.onnx", None))
    assert "uint8(2, 3, 4, 4)" in str(net.plan())


def test_an_operator_that_onnxruntime_does_not_know_is_named():
    for op, inputs in [("NoSuchOperator", ["x"]), ("QLinearSigmoid", ["x"])]:
        model = file_of(op, inputs, {}, BYTES)
        with pytest.raises(ModelError, match=f"node {op} 'foreign'"):
            Net(read_model(model, "test.onnx", None))


def test_networks_quantized_by_its_tools_run_as_there(tmp_path):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    shape = (1, 3, 8, 8)
    feeds = [{"x": RNG.standard_normal(shape).astype(np.float32)} for _ in range(4)]

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.left = iter(feeds)

        def get_next(self):
            return next(self.left, None)

    nodes = [
        helper.make_node("Conv", ["x", "a"], ["c"], "c", pads=[1] * 4),
        helper.make_node("Sigmoid", ["c"], ["g"], "g"),
        helper.make_node("Mul", ["c", "g"], ["m"], "m"),
        helper.make_node("Concat", ["m", "c"], ["k"], "k", axis=1),
        helper.make_node("Conv", ["k", "b"], ["e"], "e"),
        helper.make_node("LeakyRelu", ["e"], ["l"], "l"),
        helper.make_node("Add", ["l", "e"], ["s"], "s"),
        helper.make_node("GlobalAveragePool", ["s"], ["p"], "p"),
        helper.make_node("Flatten", ["p"], ["f"], "f"),
        helper.make_node("Gemm", ["f", "h"], ["y"], "y"),
    ]
    weights = {"a": (6, 3, 3, 3), "b": (5, 12, 1, 1), "h": (5, 7)}
    constants = {name: RNG.standard_normal(n).astype(np.float32) for name, n in weights.items()}
    model = make_model(nodes, {"x": (np.float32, shape)}, ["y"], constants, opset=17)
    onnx.save(model, tmp_path / "f.onnx")
    quantize_static(
        tmp_path / "f.onnx", tmp_path / "q.onnx", Reader(), quant_format=QuantFormat.QOperator
    )
    model = onnx.load(tmp_path / "q.onnx")
    kinds = {node.op_type for node in model.graph.node if node.domain == "com.microsoft"}
    assert len(kinds) > 3
    del model.graph.value_info[:]
    onnx.save(model, tmp_path / "q.onnx")
    net = fbg.load(tmp_path / "q.onnx")
    assert net.products.int8 == 3
    for feed in feeds:
        wanted = plain_onnxruntime(model, feed)[0]
        assert np.abs(net.run(feed)["y"] - wanted).max() <= 0.03 * np.abs(wanted).max()


def test_types_of_all_outputs_are_found():
    from fbg.importers.onnx.inference import infer

    node = helper.make_node(
        "SkipLayerNormalization", ["x", "x", "v"], ["a", "", "", "b"], domain="com.microsoft"
    )
    model = foreign_model([node], {"x": (np.float32, (2, 3, 4))}, "ab", {"v": CONSTANTS["v"]})
    network = read_model(model, "test.onnx", None)
    types = infer(network, network.inputs, {}).types
    assert types["a"] == types["b"] == TensorType(np.dtype(np.float32), (2, 3, 4))
