"""Networks with values that are no tensors: sequences and optional values."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from fbg.errors import ModelError
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 6)).astype(np.float32)
W = RNG.standard_normal((6, 6)).astype(np.float32)
CONSTANTS = {"w": W, "one": np.array(1), "two": np.array([2, 2])}
PRODUCT = node("MatMul", ["x", "w"], "p")
END = node("Relu", ["e"], "y")


def branch(name, nodes):
    """A subgraph that returns the sequence of this name."""
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    return helper.make_graph(nodes, name, [], [helper.make_value_info(name, kind)])


NETWORKS = {
    "constructed": [
        node("SequenceConstruct", ["p", "x"], "s"),
        node("SequenceAt", ["s", "one"], "e"),
    ],
    "grown from nothing": [
        node("SequenceEmpty", [], "none"),
        node("SequenceInsert", ["none", "p"], "s"),
        node("SequenceInsert", ["s", "x"], "t"),
        node("SequenceErase", ["t", "one"], "u"),
        node("ConcatFromSequence", ["u"], "e", axis=0),
    ],
    "split": [
        node("SplitToSequence", ["p", "two"], "s", axis=0),
        node("ConcatFromSequence", ["s"], "e", axis=1),
    ],
    "counted": [
        node("SplitToSequence", ["p"], "s", axis=0),
        node("SequenceLength", ["s"], "n"),
        node("Cast", ["n"], "e", to=TensorProto.FLOAT),
    ],
    "passed on": [
        node("SequenceConstruct", ["p", "x"], "s"),
        node("Identity", ["s"], "t"),
        node("SequenceAt", ["t", "one"], "e"),
    ],
    "optional": [
        node("Optional", ["p"], "o"),
        node("OptionalHasElement", ["o"], "has"),
        node("OptionalGetElement", ["o"], "g"),
        node("Where", ["has", "g", "x"], "e"),
    ],
    "from a branch": [
        node("ReduceSum", ["x"], "sum", keepdims=0),
        node("Cast", ["sum"], "is", to=TensorProto.BOOL),
        node(
            "If",
            ["is"],
            "s",
            then_branch=branch("a", [node("SequenceConstruct", ["p"], "a")]),
            else_branch=branch("b", [node("SequenceConstruct", ["x"], "b")]),
        ),
        node("ConcatFromSequence", ["s"], "e", axis=0),
    ],
}


def network_of(name):
    return read_model(
        make_model([PRODUCT, *NETWORKS[name], END], {"x": X}, ["y"], CONSTANTS), "test.onnx", None
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_they_run_on_onnxruntime_as_a_whole(name):
    nodes = [PRODUCT, *NETWORKS[name], END]
    (wanted,) = plain_onnxruntime(make_model(nodes, {"x": X}, ["y"], CONSTANTS), {"x": X})
    net = make_net(nodes, {"x": X}, ["y"], CONSTANTS)
    np.testing.assert_allclose(net(X), wanted, rtol=1e-5, atol=1e-5)
    assert [step.backend for step in net.plan().steps] == ["onnxruntime"]


def test_calibration_leaves_them_there():
    nodes = [PRODUCT, *NETWORKS["constructed"], END]
    net = make_net(nodes, {"x": X}, ["y"], CONSTANTS, calibrate=[X])
    assert {step.backend for step in net.plan().steps} == {"onnxruntime"}
    np.testing.assert_allclose(net(X), np.maximum(X, 0), atol=0.05)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("constructed", "node SequenceConstruct 's' makes a sequence"),
        ("grown from nothing", "node SequenceEmpty 'none' makes a sequence"),
        ("split", "node SplitToSequence 's' makes a sequence"),
        ("optional", "node Optional 'o' makes an optional value"),
        ("from a branch", "node If 's' makes a sequence"),
    ],
)
def test_without_onnxruntime_the_node_is_named(name, message):
    with pytest.raises(ModelError, match=f"test.onnx: {message}.* onnxruntime"):
        Net(network_of(name), backends=("fbg", "reference"))


def test_no_node_of_them_can_be_placed_elsewhere():
    with pytest.raises(ModelError, match="placement: node 'y' can only run on onnxruntime"):
        Net(network_of("constructed"), placement={"y": "fbg"})


def test_what_onnxruntime_refuses_is_named():
    more = [
        node("Cast", ["w"], "bytes", to=TensorProto.UINT8),
        node("Reshape", ["bytes", "all"], "flat"),
        node("ImageDecoder", ["flat"], "z"),
    ]
    nodes = [PRODUCT, *NETWORKS["constructed"], END, *more]
    outputs = {"y": (np.float32, None), "z": (np.uint8, None)}
    with pytest.raises(ModelError, match="none of the back ends onnxruntime: onnxruntime: "):
        make_net(nodes, {"x": X}, outputs, {**CONSTANTS, "all": np.array([-1])})


def test_what_fails_on_onnxruntime_is_named():
    nodes = [PRODUCT, *NETWORKS["split"], END]
    nodes[2] = node("ConcatFromSequence", ["s"], "e", axis=9)
    net = make_net(nodes, {"x": X}, ["y"], CONSTANTS)
    with pytest.raises(ModelError, match=r"node MatMul 'p', .* failed on onnxruntime"):
        net(X)
