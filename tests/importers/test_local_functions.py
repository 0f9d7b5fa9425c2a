"""Local functions of ONNX files keep their meaning: default attributes, their operator sets."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import fbg

X = np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32)
BACK_ENDS = pytest.mark.parametrize("backends", [None, ("onnxruntime",)])


def function(name, nodes, opset=17, **more):
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("my", 1)]
    return helper.make_function("my", name, ["a"], ["b"], nodes, opsets, **more)


def call(name, read="x", written="y", **attributes):
    return helper.make_node(name, [read], [written], domain="my", **attributes)


def passing(node, own, name):
    """The node with an attribute that is one of the function around it."""
    kind = onnx.AttributeProto.FLOAT
    node.attribute.append(onnx.AttributeProto(name=own, ref_attr_name=name, type=kind))
    return node


def saved(path, nodes, functions, opset=17):
    ends = (helper.make_tensor_value_info(n, TensorProto.FLOAT, X.shape) for n in "xy")
    graph = helper.make_graph(nodes, "g", *([end] for end in ends))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("my", 1)]
    model = helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=10)
    onnx.save(model, path)
    return str(path)


def leaky(slope):
    return np.where(X < 0, X * np.float32(slope), X)


def softmax(x, axes):
    powers = np.exp(x - x.max(axes, keepdims=True))
    return powers / powers.sum(axes, keepdims=True)


INNER = function(
    "inner",
    [passing(helper.make_node("LeakyRelu", ["a"], ["b"]), "alpha", "slope")],
    attribute_protos=[helper.make_attribute("slope", 0.75)],
)
OUTER = function(
    "outer",
    [passing(call("inner", "a", "b"), "slope", "own")],
    attribute_protos=[helper.make_attribute("own", 0.5)],
)
WITHOUT_DEFAULT = function(
    "bare", [passing(helper.make_node("LeakyRelu", ["a"], ["b"]), "alpha", "s")], attributes=["s"]
)


@BACK_ENDS
@pytest.mark.parametrize(
    ("node", "slope"),
    [
        (call("inner"), 0.75),
        (call("inner", slope=0.25), 0.25),
        (call("outer"), 0.5),
        (call("outer", own=0.125), 0.125),
        (call("bare"), 0.01),
        (call("bare", s=0.25), 0.25),
    ],
    ids=["default", "given", "default passed on", "given passed on", "no default", "required"],
)
def test_an_attribute_that_a_call_leaves_out_has_its_default(tmp_path, node, slope, backends):
    path = saved(tmp_path / "m.onnx", [node], [INNER, OUTER, WITHOUT_DEFAULT])
    net = fbg.load(path, backends=backends)
    np.testing.assert_allclose(net.run({"x": X})["y"], leaky(slope), rtol=1e-6)


OLD = function(
    "old",
    [
        helper.make_node("Unsqueeze", ["a"], ["t"], axes=[0]),
        helper.make_node("Squeeze", ["t"], ["s"], axes=[0]),
        helper.make_node("Softmax", ["s"], ["b"], axis=1),
    ],
    opset=11,
)


@BACK_ENDS
@pytest.mark.parametrize("opset", [11, 12, 17, 21])
def test_nodes_of_a_function_are_from_its_operator_set(tmp_path, opset, backends):
    nodes = [call("old", "x", "t"), helper.make_node("Softmax", ["t"], ["y"], axis=-1)]
    net = fbg.load(saved(tmp_path / "m.onnx", nodes, [OLD], opset), backends=backends)
    wanted = softmax(softmax(X, (1, 2)), (2,))
    np.testing.assert_allclose(net.run({"x": X})["y"], wanted, rtol=1e-5)
    net.save(tmp_path / "saved")
    again = fbg.load(str(tmp_path / "saved"), backends=backends)
    np.testing.assert_array_equal(again.run({"x": X})["y"], net.run({"x": X})["y"])


def test_a_function_may_be_from_a_newer_operator_set(tmp_path):
    new = function("new", [helper.make_node("Gelu", ["a"], ["b"])], opset=20)
    net = fbg.load(saved(tmp_path / "m.onnx", [call("new")], [new]))
    from_file = fbg.load(
        saved(tmp_path / "n.onnx", [helper.make_node("Gelu", ["x"], ["y"])], [], 20)
    )
    np.testing.assert_array_equal(net.run({"x": X})["y"], from_file.run({"x": X})["y"])


def chosen(inside):
    """An If that calls a function in the branch that is taken."""
    condition = onnx.numpy_helper.from_array(np.array(True))
    branches = {
        name: helper.make_graph([node], "g", [], [onnx.ValueInfoProto(name=node.output[0])])
        for name, node in (
            ("then_branch", call(inside, "x", "r")),
            ("else_branch", helper.make_node("Neg", ["x"], ["s"])),
        )
    }
    constant = helper.make_node("Constant", [], ["c"], value=condition)
    return [constant, helper.make_node("If", ["c"], ["y"], **branches)]


def test_a_branch_may_call_a_function_of_another_set_unless_that_means_another_thing(tmp_path):
    old = function("relu", [helper.make_node("Relu", ["a"], ["b"])], opset=13)
    net = fbg.load(saved(tmp_path / "m.onnx", chosen("relu"), [old]))
    np.testing.assert_array_equal(net.run({"x": X})["y"], np.maximum(X, 0))
    other = function("softmax", [helper.make_node("Softmax", ["a"], ["b"], axis=1)], opset=11)
    with pytest.raises(fbg.ModelError, match=r"Softmax.*another thing"):
        fbg.load(saved(tmp_path / "n.onnx", chosen("softmax"), [other]))


def test_functions_share_names_with_the_file_and_with_each_other(tmp_path):
    twice = function(
        "twice",
        [helper.make_node("Add", ["a", "a"], ["x"]), helper.make_node("Neg", ["x"], ["b"])],
    )
    nodes = [call("twice", "x", "b"), call("twice", "b", "a"), call("twice", "a", "y")]
    net = fbg.load(saved(tmp_path / "m.onnx", nodes, [twice]))
    np.testing.assert_array_equal(net.run({"x": X})["y"], -8 * X)


def test_an_output_may_be_an_input_and_be_left_out(tmp_path):
    both = helper.make_function(
        "my",
        "both",
        ["a", "low"],
        ["b", "a", "n"],
        [helper.make_node("Clip", ["a", "low"], ["b"]), helper.make_node("Neg", ["a"], ["n"])],
        [helper.make_opsetid("", 17)],
    )
    nodes = [
        helper.make_node("both", ["x"], ["p", "q"], domain="my"),
        helper.make_node("Add", ["p", "q"], ["y"]),
    ]
    net = fbg.load(saved(tmp_path / "m.onnx", nodes, [both]))
    np.testing.assert_array_equal(net.run({"x": X})["y"], 2 * X)


def test_a_call_with_more_inputs_than_the_function_is_refused(tmp_path):
    node = helper.make_node("inner", ["x", "x"], ["y"], domain="my")
    with pytest.raises(fbg.ModelError, match="2 inputs and 1 outputs; the local function has 1"):
        fbg.load(saved(tmp_path / "m.onnx", [node], [INNER]))
