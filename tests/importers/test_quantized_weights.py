"""Weights that DequantizeLinear makes of integers: products take these, however many scales."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import fbg
from helpers.onnx_models import make_model
from helpers.quantized_graphs import WIDEST

SHAPES = {"Conv": (16, 3, 3, 3), "MatMul": (8, 16), "Gemm": (8, 16)}
AXES = {"Conv": 0, "MatMul": 1, "Gemm": 1}


def quantized_file(path, op, scales, signed):
    """Write QuantizeLinear, DequantizeLinear, op, QuantizeLinear, DequantizeLinear.

    Only scales in a vector name their axis, as in files of onnxruntime's tools.
    """
    rng = np.random.default_rng(3)
    shape, axis = SHAPES[op], AXES[op]
    kind = np.int8 if signed else np.uint8
    size = {"one": (), "one in a vector": (1,), "each": (shape[axis],)}[scales]
    arrays = {
        "w": rng.integers(*((-WIDEST, WIDEST + 1) if signed else (0, 256)), shape).astype(kind),
        "ws": np.full(size, 0.01, np.float32),
        "wz": np.full(size, 0 if signed else 128, kind),
        "xs": np.array(0.03, np.float32),
        "xz": np.array(128, np.uint8),
        "ys": np.array(0.05, np.float32),
        "yz": np.array(120, np.uint8),
    }
    along = {} if scales == "one" else {"axis": axis}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], **along),
        helper.make_node(op, ["xd", "wd"], ["c"], **({"pads": [1] * 4} if op == "Conv" else {})),
        helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["cq"]),
        helper.make_node("DequantizeLinear", ["cq", "ys", "yz"], ["y"]),
    ]
    given = (1, 3, 9, 7) if op == "Conv" else (5, 8)
    onnx.save(make_model(nodes, {"x": (np.float32, given)}, ["y"], arrays, opset=17), path)
    return rng.standard_normal(given).astype(np.float32)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("scales", ["one", "one in a vector", "each"])
@pytest.mark.parametrize("op", list(SHAPES))
def test_products_take_the_integers_however_many_scales_there_are(tmp_path, op, scales, signed):
    path = tmp_path / "m.onnx"
    x = quantized_file(path, op, scales, signed)
    net = fbg.load(path)
    found = net.run({"x": x})["y"]
    assert "fp32" not in str(net.plan()) and "int32" in str(net.plan())
    if scales != "one in a vector":  # which ONNX allows only with an axis, and onnxruntime refuses
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        assert np.abs(found - session.run(None, {"x": x})[0]).max() <= 0.05 * 1.001
