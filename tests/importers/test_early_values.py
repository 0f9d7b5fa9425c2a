"""Values and shapes that are known before a run are what the run gives."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.one_op import OneOp
from helpers.onnx_models import make_net, node, plain_onnxruntime

EXTREMES = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e10, -1e10, 300.0, -0.0, 0.5])
ONE, ZERO, RANGE = np.float32(1), np.uint8(3), [np.float32(-1), np.float32(2)]
CASES = {
    "QuantizeLinear": OneOp("QuantizeLinear", 17, [EXTREMES, ONE, ZERO]),
    "Cast to int32": OneOp("Cast", 13, [EXTREMES], {"to": TensorProto.INT32}),
    "Cast to uint8": OneOp("Cast", 13, [EXTREMES], {"to": TensorProto.UINT8}),
    "Cast to float16": OneOp("Cast", 13, [EXTREMES], {"to": TensorProto.FLOAT16}),
    "Clip": OneOp("Clip", 13, [EXTREMES, *RANGE]),
    "Exp": OneOp("Exp", 13, [np.linspace(-9, 9, 99, dtype=np.float32)]),
    "Gelu": OneOp("Gelu", 20, [np.linspace(-9, 9, 99, dtype=np.float32)]),
    "Softmax before 13": OneOp("Softmax", 11, [np.ones((2, 3, 4), np.float32)], {"axis": 1}),
    "Range": OneOp("Range", 11, [np.float32(0), np.float32(1), np.float32(0.1)]),
}
REFUSED = {  # by onnxruntime
    "Div by zero": OneOp("Div", 14, [np.array([5, -5, 7]), np.array([0, 2, -2])]),
    "OneHot of negative indices": OneOp(
        "OneHot", 9, [np.float32([-1, 0, 2]), np.array(3), np.float32([0, 1])]
    ),
}


@pytest.mark.parametrize("backends", [None, ("onnxruntime",)])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_constant_has_the_bits_of_a_run(case, backends):
    check_bits(case, backends)


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_constant_that_fbg_computes_has_the_bits_of_a_run(case):
    check_bits(case, None)


def check_bits(case, backends):
    case.constant = frozenset()
    (run,) = case.on_fbg(backends)
    case.constant = frozenset(range(len(case.inputs)))
    (folded,) = case.on_fbg(backends)
    assert (folded.dtype, folded.shape) == (run.dtype, run.shape)
    assert folded.tobytes() == run.tobytes()


@pytest.mark.parametrize("onesided", [None, 0, 1])
def test_stft_without_an_attribute_is_one_sided(onesided):
    x = np.random.default_rng(0).standard_normal((1, 64, 1)).astype(np.float32)
    case = OneOp("STFT", 17, [x, np.array(8), np.hanning(16).astype(np.float32)])
    case.attributes = {} if onesided is None else {"onesided": onesided}
    case.constant = frozenset((1, 2))
    np.testing.assert_allclose(case.on_fbg(), case.on_onnxruntime(), atol=1e-5)


@pytest.mark.parametrize("opset", [9, 11, 13])
@pytest.mark.parametrize("axes", [[-1], [0], [-2, 0], [1, -1]], ids=str)
def test_unsqueeze_counts_axes_from_the_end(axes, opset):
    case = OneOp("Unsqueeze", opset, [np.arange(6, dtype=np.float32).reshape(2, 3)], {"axes": axes})
    if opset >= 13:
        case.inputs, case.attributes = [*case.inputs, np.array(axes)], {}
        case.constant = frozenset((1,))
    np.testing.assert_array_equal(case.on_fbg(), case.on_onnxruntime())


@pytest.mark.parametrize("constant", [set(), {0}, {0, 2}, {0, 1, 2}], ids=str)
def test_ends_of_a_range_may_have_an_axis(constant):
    ends = [np.array([value]) for value in (1, 9, 3)]
    case = OneOp("Range", 17, ends, constant=frozenset(constant))
    assert case.on_fbg()[0].tolist() == [1, 4, 7]


def test_ends_of_a_range_may_be_sliced_from_a_shape():
    nodes = [
        node("Shape", ["x"], "sizes"),
        node("Slice", ["sizes", "zero", "one"], "rows"),
        node("Range", ["zero", "rows", "one"], "y"),
    ]
    constants = {"zero": np.array([0]), "one": np.array([1])}
    net = make_net(nodes, {"x": (np.float32, ("n", 3))}, {"y": (np.int64, None)}, constants)
    assert net.run({"x": np.zeros((4, 3), np.float32)})["y"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("alpha", [-0.5, -2.0, 0.5, None])
def test_celu_of_any_alpha(alpha):
    x = np.linspace(-3, 3, 25, dtype=np.float32)
    case = OneOp("Celu", 12, [x], {} if alpha is None else {"alpha": alpha})
    np.testing.assert_allclose(case.on_fbg(("fbg",)), case.on_onnxruntime(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("fill", [np.inf, -np.inf, np.nan])
def test_log_softmax_of_rows_that_are_not_finite(fill, opset):
    x = np.float32([[1, fill, 2, 3], [1, 2, 3, 4], [fill] * 4])
    case = OneOp("LogSoftmax", opset, [x])
    np.testing.assert_allclose(case.on_fbg(("fbg",)), case.on_onnxruntime(), rtol=1e-5)


@pytest.mark.parametrize("kinds", [True, False], ids=["typed", "untyped"])
def test_a_loop_whose_body_states_no_types(kinds):
    def value(name, element=TensorProto.FLOAT, shape=(2,), typed=kinds):
        named = onnx.ValueInfoProto(name=name)
        return onnx.helper.make_tensor_value_info(name, element, shape) if typed else named

    counted = value("i", TensorProto.INT64, (), True), value("c", TensorProto.BOOL, (), True)
    nodes = [
        node("Add", ["v", "w"], "v2"),
        node("Identity", ["c"], "c2"),
        node("Mul", ["v2", "w"], "s"),
    ]
    results = [value("c2", TensorProto.BOOL, ()), value("v2"), value("s")]
    body = onnx.helper.make_graph(nodes, "body", [*counted, value("v")], results)
    loop = onnx.helper.make_node("Loop", ["n", "t", "x"], ["y", "all"], body=body)
    constants = [("n", np.array(3)), ("t", np.array(True)), ("w", np.float32([2, 3]))]
    graph = onnx.helper.make_graph(
        [loop, node("Relu", ["y"], "z"), node("ReduceSum", ["all"], "total", keepdims=0)],
        "g",
        [onnx.helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [onnx.ValueInfoProto(name="z"), onnx.ValueInfoProto(name="total")],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants],
    )
    opsets = [onnx.helper.make_opsetid("", 13)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    x = np.float32([-20, 1])
    net = Net(read_model(model, "loop", None))
    for got, wanted in zip(
        net.run({"x": x}).values(), plain_onnxruntime(model, {"x": x}), strict=True
    ):
        np.testing.assert_array_equal(got, wanted)
