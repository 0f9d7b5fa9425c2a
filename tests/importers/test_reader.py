"""What files say: inputs and outputs, arguments of load, local functions, sizes left open."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, external_data_helper, helper

import fbg
from fbg.importers.int8.arguments import ArgumentObserver
from fbg.importers.int8.float_nodes import in_float
from fbg.importers.int8.observe import calibrate_network
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from fbg.quantization import HistogramObserver
from helpers.onnx_models import make_model, make_net, node

# Files that are damaged, incomplete or hostile: an error that names what is wrong.

X = np.zeros((2, 3), np.float32)
W = np.arange(6, dtype=np.float32).reshape(3, 2)


def product(**more):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], "product")]
    return make_model(nodes, {"x": X}, ["y"], {"w": W}, **more)


def load(tmp_path, model):
    path = tmp_path / "m.onnx"
    path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    return fbg.load(path, backends=("fbg",))


def refused(tmp_path, model, *parts):
    with pytest.raises(fbg.ModelError) as error:
        load(tmp_path, model)
    for part in ("m.onnx", *parts):
        assert part in str(error.value)


def test_a_good_file_runs(tmp_path):
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(load(tmp_path, product())(x), x @ W)


@pytest.mark.parametrize("turned", [False, True])
def test_nodes_keep_the_order_of_the_file_as_far_as_they_can(turned):
    pairs = [("x", "a"), ("a", "b"), ("x", "c"), ("c", "d")]
    nodes = [helper.make_node("Exp", [x], [y], y) for x, y in pairs]
    nodes.append(helper.make_node("Add", ["b", "d"], ["e"], "e"))
    model = make_model(nodes[::-1] if turned else nodes, {"x": X}, ["e"], {})
    read = read_model(model, "m.onnx", None).nodes
    assert "".join(node.name for node in read) == ("cdabe" if turned else "abcde")


def test_missing_file(tmp_path):
    with pytest.raises(fbg.ModelError, match=r"nowhere\.onnx: cannot be read"):
        fbg.load(tmp_path / "nowhere.onnx")


@pytest.mark.parametrize("data", [b"", b"hello, world", b"\x08\x0a\x12\xff\xff"])
def test_not_a_model(tmp_path, data):
    refused(tmp_path, data, "not an ONNX")


def test_truncated_at_every_length_never_crashes(tmp_path):
    data = product().SerializeToString()
    for length in range(len(data)):
        with pytest.raises((fbg.ModelError, ValueError)):
            load(tmp_path, data[:length])


@pytest.mark.parametrize("opset", [1, 5, 999])
def test_operator_set_out_of_range(tmp_path, opset):
    refused(tmp_path, product(opset=opset), f"operator set {opset}")


def test_unknown_domain_and_operator(tmp_path):
    model = product()
    model.graph.node[0].domain = "com.example"
    refused(tmp_path, model, "com.example", "'product'")
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    refused(tmp_path, model, "'product'", "none of the back ends fbg")
    other = product()
    other.graph.node[0].op_type = "Nonsense"
    refused(tmp_path, other, "Nonsense 'product'")


def test_undefined_tensor_double_writer_and_cycle(tmp_path):
    model = product()
    model.graph.node[0].input[0] = "z"
    refused(tmp_path, model, "'product'", "'z'")
    model = product()
    model.graph.node.append(model.graph.node[0])
    refused(tmp_path, model, "'y'", "again")
    model = product()
    model.graph.node[0].input[0] = "b"
    model.graph.node.append(helper.make_node("Relu", ["y"], ["b"], "back"))
    refused(tmp_path, model, "depends on its own output")


def test_missing_output(tmp_path):
    model = product()
    model.graph.output[0].name = "z"
    refused(tmp_path, model, "'z'")


def test_shapes_that_disagree(tmp_path):
    model = product()
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 4
    refused(tmp_path, model, "'product'", "x: float32(2, 4)")


@pytest.mark.parametrize(
    ("node", "parts"),
    [
        (helper.make_node("LayerNormalization", ["x", "x"], ["y"], axis=2**63 - 1), ["axis"]),
        (helper.make_node("Split", ["x"], ["y", "z"], num_outputs=1), ["num_outputs is 1"]),
        (helper.make_node("Identity", [], ["y"]), ["input size 0"]),
        (helper.make_node("Relu", [""], ["y"]), ["input 0"]),
        (helper.make_node("DequantizeLinear", ["x", ""], ["y"]), ["input 1"]),
        (helper.make_node("Relu", ["x"], ["y"], alpha=1.0), ["alpha"]),
        (helper.make_node("Pad", ["x", "x"], ["y"], mode=b"\xff\xfe"), ["mode", "UTF-8"]),
        (helper.make_node("Gemm", ["x", "x"], ["y"], **{"transA": "yes"}), ["transA"]),
    ],
    ids=lambda value: value.op_type if isinstance(value, onnx.NodeProto) else "",
)
def test_nodes_that_do_not_fit_their_schema(tmp_path, node, parts):
    # ONNX's own type inference, which is native code, crashes with the first two.
    refused(tmp_path, make_model([node], {"x": X}, ["y"], opset=18), node.op_type, *parts)


def test_shapes_whose_elements_cannot_be_counted(tmp_path):
    model = make_model([helper.make_node("Relu", ["x"], ["y"], "relu")], {"x": X}, ["y"])
    for dim in model.graph.input[0].type.tensor_type.shape.dim:
        dim.dim_value = 2**33 + 1
    refused(tmp_path, model, "8589934593")


@pytest.mark.parametrize("dims", [[2**40, 2**40], [3, 3], [-1, 2], [2**62]])
def test_initializer_with_other_dims_than_data(tmp_path, dims):
    model = product()
    del model.graph.initializer[0].dims[:]
    model.graph.initializer[0].dims.extend(dims)
    refused(tmp_path, model, "'w'")


def test_initializer_of_unknown_type(tmp_path):
    model = product()
    model.graph.initializer[0].data_type = 999
    refused(tmp_path, model, "'w'", "999")


def external(location="w.bin", **entries):
    model = product()
    tensor = model.graph.initializer[0]
    external_data_helper.set_external_data(tensor, location, **entries)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    return model


def test_external_data_is_read_beside_the_file(tmp_path):
    (tmp_path / "w.bin").write_bytes(b"....." + W.tobytes())
    net = load(tmp_path, external(offset=5, length=24))
    np.testing.assert_array_equal(net(np.ones((2, 3), np.float32)), np.ones((2, 3)) @ W)


@pytest.mark.parametrize(
    "entries", [{"offset": 8}, {"length": 23}, {"offset": -4}, {"offset": 2**62}]
)
def test_external_data_that_is_too_short(tmp_path, entries):
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    refused(tmp_path, external(**entries), "'w'")


def test_external_data_outside_of_the_directory(tmp_path):
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    inside = tmp_path / "inside"
    inside.mkdir()
    refused(inside, external("../w.bin"), "'w'", "outside")
    refused(inside, external(str(tmp_path / "w.bin")), "'w'", "outside")
    (inside / "w.bin").symlink_to(tmp_path / "w.bin")
    refused(inside, external("w.bin"), "'w'")


def test_control_flow_runs_elsewhere_or_is_refused(tmp_path):
    branches = [
        helper.make_graph(
            [helper.make_node(op, ["x"], ["r"], op, domain=domain)], "b", [], [_float_value("r")]
        )
        for op, domain in (("Relu", ""), ("Trilu", "com.microsoft"))
    ]
    nodes = [
        helper.make_node(
            "If", ["c"], ["y"], "choice", then_branch=branches[0], else_branch=branches[1]
        )
    ]
    model = make_model(nodes, {"x": X, "c": (np.bool_, ())}, ["y"])
    refused(tmp_path, model, "If 'choice'", "Trilu 'Trilu'")
    net = fbg.load(tmp_path / "m.onnx", backends=("fbg", "onnxruntime"))
    x = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)
    np.testing.assert_array_equal(net.run({"x": x, "c": np.array(True)})["y"], np.maximum(x, 0))
    np.testing.assert_array_equal(net.run({"x": x, "c": np.array(False)})["y"], np.triu(x))


def _float_value(name):
    return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (2, 3))


# Functions behind products that are tables of bytes: the range of their argument, and results.

RNG = np.random.default_rng(3)
PICTURE = (2, 8, 6, 6)
CONSTANTS = {
    "k": RNG.standard_normal((8, 8, 3, 3)).astype(np.float32) / 8,
    "v": RNG.standard_normal((4, 8, 1, 1)).astype(np.float32) / 3,
    "low": np.linspace(-12, 1, 8, dtype=np.float32),
    "half": np.float32(0.5),
    "one": np.float32(1),
    "root": np.float32(np.sqrt(2)),
    "three": np.float32(3),
    "cubic": np.float32(0.044715),
    "factor": np.float32(np.sqrt(2 / np.pi)),
}


def silu(x):
    return x / (1 + np.exp(-x))


def error(scale, point, x):
    real = (np.clip(np.rint(x / scale) + point, 0, 255) - point) * scale
    return np.mean((silu(real) - silu(x)) ** 2)


@pytest.mark.parametrize("shift", [-20, -5, 0, 3])
def test_a_range_of_the_argument_changes_the_results_least(shift):
    x = (RNG.standard_normal(20000) * 4 + shift).astype(np.float32)
    own, other = ArgumentObserver(silu), HistogramObserver("mse")
    for observer in (own, other):
        observer.update(x)
    errors = [error(*observer.qparams(), x.astype(np.float64)) for observer in (own, other)]
    assert errors[0] <= errors[1] * 1.02
    if shift == -20:  # most of what there is becomes 0
        assert errors[0] < errors[1] / 4


def test_a_function_without_finite_results_takes_the_range_of_the_values():
    x = RNG.standard_normal(1000).astype(np.float32)
    own, other = ArgumentObserver(np.log), HistogramObserver("mse", candidates=48)
    for observer in (own, other):
        observer.update(x)
    assert own.qparams() == other.qparams()


FUNCTIONS = {
    "SiLU": [node("Sigmoid", ["a"], "s"), node("Mul", ["a", "s"], "b")],
    "GELU": [
        node("Div", ["a", "root"], "d"),
        node("Erf", ["d"], "e"),
        node("Add", ["e", "one"], "f"),
        node("Mul", ["a", "f"], "g"),
        node("Mul", ["g", "half"], "b"),
    ],
    "GELU by tanh": [
        node("Pow", ["a", "three"], "p"),
        node("Mul", ["p", "cubic"], "q"),
        node("Add", ["a", "q"], "r"),
        node("Mul", ["r", "factor"], "s"),
        node("Tanh", ["s"], "t"),
        node("Add", ["t", "one"], "u"),
        node("Mul", ["a", "u"], "h"),
        node("Mul", ["h", "half"], "b"),
    ],
    **{
        name: [node(name, ["a"], "b")]
        for name in ("Elu", "Erf", "Exp", "Gelu", "Mish", "Selu", "Sigmoid", "Softplus", "Tanh")
    },
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_behind_a_product_are_tables(name):
    nodes = [
        node("Conv", ["x", "k", "low"], "a", pads=[1, 1, 1, 1]),
        *FUNCTIONS[name],
        node("Conv", ["b", "v"], "y"),
    ]
    feed = {"x": RNG.standard_normal(PICTURE).astype(np.float32)}
    exact = make_net(nodes, feed, ["y"], CONSTANTS).run(feed)["y"]
    net = make_net(nodes, feed, ["y"], CONSTANTS, calibrate=[feed])
    got = net.run(feed)["y"]
    assert np.linalg.norm(got - exact) < 0.03 * np.linalg.norm(exact)
    rounded = {n.inputs[0] for n in net.network.nodes if n.op == "QuantizeLinear"}
    assert rounded == {"x", "a", "b"}


@pytest.mark.parametrize("kept", ["s", "b"])
def test_a_node_that_stays_in_float32_takes_its_function_along(kept):
    nodes = [node("Conv", ["x", "k"], "a"), *FUNCTIONS["SiLU"], node("Conv", ["b", "v"], "y")]
    feed = {"x": RNG.standard_normal(PICTURE).astype(np.float32)}
    network = read_model(make_model(nodes, feed, ["y"], CONSTANTS), "test.onnx", None)
    found = calibrate_network(network, [feed], Net)
    assert found.parameters.keys() == {"x", "a", "b"}
    assert in_float(network, found, [kept]).parameters.keys() == {"x", "b"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_whose_result_is_joined_with_others_are_tables(name):
    own = {"a", *(n.output[0] for n in FUNCTIONS[name])}
    second = [
        node(n.op_type, [f"{x}2" if x in own else x for x in n.input], f"{n.output[0]}2")
        for n in FUNCTIONS[name]
    ]
    nodes = [
        node("Conv", ["x", "k"], "a"),
        *FUNCTIONS[name],
        node("Conv", ["x", "k"], "a2"),
        *second,
        node("Concat", ["b", "b2"], "c", axis=1),
        node("Conv", ["c", "joined"], "y"),
    ]
    feed = {"x": RNG.standard_normal(PICTURE).astype(np.float32)}
    constants = {**CONSTANTS, "joined": np.concatenate([CONSTANTS["v"]] * 2, 1)}
    net = make_net(nodes, feed, ["y"], constants, calibrate=[feed])
    rounded = {n.inputs[0] for n in net.network.nodes if n.op == "QuantizeLinear"}
    assert {"x", "a", "a2"} <= rounded


# Local functions of ONNX files keep their meaning: default attributes, their operator sets.

FLOATS = np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32)
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
    ends = (helper.make_tensor_value_info(n, TensorProto.FLOAT, FLOATS.shape) for n in "xy")
    graph = helper.make_graph(nodes, "g", *([end] for end in ends))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("my", 1)]
    model = helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=10)
    onnx.save(model, path)
    return str(path)


def leaky(slope):
    return np.where(FLOATS < 0, FLOATS * np.float32(slope), FLOATS)


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
    np.testing.assert_allclose(net.run({"x": FLOATS})["y"], leaky(slope), rtol=1e-6)


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
    wanted = softmax(softmax(FLOATS, (1, 2)), (2,))
    np.testing.assert_allclose(net.run({"x": FLOATS})["y"], wanted, rtol=1e-5)
    net.save(tmp_path / "saved")
    again = fbg.load(str(tmp_path / "saved"), backends=backends)
    np.testing.assert_array_equal(again.run({"x": FLOATS})["y"], net.run({"x": FLOATS})["y"])


def test_a_function_may_be_from_a_newer_operator_set(tmp_path):
    new = function("new", [helper.make_node("Gelu", ["a"], ["b"])], opset=20)
    net = fbg.load(saved(tmp_path / "m.onnx", [call("new")], [new]))
    from_file = fbg.load(
        saved(tmp_path / "n.onnx", [helper.make_node("Gelu", ["x"], ["y"])], [], 20)
    )
    np.testing.assert_array_equal(net.run({"x": FLOATS})["y"], from_file.run({"x": FLOATS})["y"])


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
    np.testing.assert_array_equal(net.run({"x": FLOATS})["y"], np.maximum(FLOATS, 0))
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
    np.testing.assert_array_equal(net.run({"x": FLOATS})["y"], -8 * FLOATS)


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
    np.testing.assert_array_equal(net.run({"x": FLOATS})["y"], 2 * FLOATS)


def test_a_call_with_more_inputs_than_the_function_is_refused(tmp_path):
    node = helper.make_node("inner", ["x", "x"], ["y"], domain="my")
    with pytest.raises(fbg.ModelError, match="2 inputs and 1 outputs; the local function has 1"):
        fbg.load(saved(tmp_path / "m.onnx", [node], [INNER]))


# Sizes that files leave open, in every spelling that exporters have for them.

SPELLINGS = {
    "minus_one": {"dim_value": -1},
    "negative": {"dim_value": -(2**40)},
    "question_mark": {"dim_param": "?"},
    "text_of_minus_one": {"dim_param": "-1"},
    "none": {"dim_param": "None"},
    "empty_name": {"dim_param": ""},
    "nothing": {},
    "name": {"dim_param": "batch"},
}
IMAGE = np.random.default_rng(0).standard_normal((2, 3, 5, 5)).astype(np.float32)
KERNEL = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)


def spell(value, axis, spelling):
    dim = value.type.tensor_type.shape.dim[axis]
    dim.Clear()
    for field, text in spelling.items():
        setattr(dim, field, text)


@pytest.fixture(params=SPELLINGS)
def path(request, tmp_path):
    """A file whose input, output and tensor in between leave their first size open."""
    spelling = SPELLINGS[request.param]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
        helper.make_node("Relu", ["c"], ["y"], "relu"),
    ]
    model = make_model(nodes, {"x": (np.float32, IMAGE.shape)}, ["y"], {"w": KERNEL})
    inside = helper.make_tensor_value_info("c", onnx.TensorProto.FLOAT, (2, 4, 3, 3))
    result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (2, 4, 3, 3))
    model.graph.output[0].CopyFrom(result)
    model.graph.value_info.append(inside)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        for axis in (0, 2):
            spell(value, axis, spelling)
    onnx.save(model, str(tmp_path / "net.onnx"))
    return tmp_path / "net.onnx"


def test_the_first_run_binds_them(path):
    net = fbg.load(path)
    assert not isinstance(net.inputs["x"].shape[0], int)
    assert net(IMAGE).shape == (2, 4, 3, 3)
    assert net(IMAGE[:1, :, :4]).shape == (1, 4, 2, 3)
    np.testing.assert_array_equal(net(IMAGE)[:1], net(IMAGE[:1]))
    with pytest.raises(ValueError, match="input 'x' must be"):
        net(IMAGE[:, :2])


def test_shapes_bind_them_at_once(path):
    net = fbg.load(path, shapes={"x": IMAGE.shape})
    assert net.inputs["x"].shape == IMAGE.shape
    assert net.plan().steps
    np.testing.assert_array_equal(net(IMAGE), fbg.load(path)(IMAGE))


def test_they_survive_saving_and_calibration(path, tmp_path):
    net = fbg.load(path, dtype="int8", calibrate=[IMAGE])
    net.save(tmp_path / "saved")
    saved = fbg.load(tmp_path / "saved")
    assert saved.inputs == net.inputs
    np.testing.assert_array_equal(saved(IMAGE), net(IMAGE))


def test_a_size_of_zero_is_known(tmp_path):
    model = make_model([node("Relu", ["x"], "y")], {"x": (np.float32, (0, 3))}, ["y"])
    onnx.save(model, str(tmp_path / "net.onnx"))
    net = fbg.load(tmp_path / "net.onnx")
    assert net(np.ones((0, 3), np.float32)).shape == (0, 3)
    with pytest.raises(ValueError, match=r"input 'x' must be float32\(0, 3\), got shape \(2, 3\)"):
        net(np.ones((2, 3), np.float32))


def two_inputs(first, second, **options):
    """A network that joins two inputs of two columns, whose numbers of rows have these names."""
    inputs = {"x": (np.float32, (first, 2)), "z": (np.float32, (second, 2))}
    return make_net([node("Concat", ["x", "z"], "y", axis=0)], inputs, ["y"], **options)


def rows(x, z):
    return {"x": np.ones((x, 2), np.float32), "z": np.zeros((z, 2), np.float32)}


@pytest.mark.parametrize("names", [("n", "m"), ("n", None), (None, None), ("?", "?"), ("n", 3)])
def test_inputs_of_different_names_have_any_sizes(names):
    net = two_inputs(*names)
    for count in (2, 3, 5):
        assert net.run(rows(count, 3))["y"].shape == (count + 3, 2)


def test_inputs_of_one_name_have_one_size():
    net = two_inputs("n", "n")
    assert net.run(rows(2, 2))["y"].shape == (4, 2)
    assert net.run(rows(3, 3))["y"].shape == (6, 2)
    message = r"input 'z' must be float32\(n, 2\), where n is 2 already, got shape \(3, 2\)"
    for call in (net.run, net.prepare, net.profile):
        with pytest.raises(ValueError, match=message):
            call(rows(2, 3))
    with pytest.raises(ValueError, match=r"shapes: " + message):
        two_inputs("n", "n", shapes={"x": (2, 2), "z": (3, 2)})
    with pytest.raises(ValueError, match=r"calibrate\[1\]: " + message):
        two_inputs("n", "n", calibrate=[rows(2, 2), rows(2, 3)])


def test_axes_of_one_input_have_any_sizes():
    net = make_net([node("Relu", ["x"], "y")], {"x": (np.float32, ("n", "n"))}, ["y"])
    assert net(np.ones((2, 2), np.float32)).shape == (2, 2)
    assert net(np.ones((2, 3), np.float32)).shape == (2, 3)


def test_shapes_of_an_input_bind_others_of_the_same_name():
    net = two_inputs("n", "n", shapes={"x": (2, 2)})
    assert net.inputs["z"].shape == (2, 2)
    assert net.plan().steps
    assert two_inputs("n", "m", shapes={"x": (2, 2)}).inputs["z"].shape == ("m", 2)
