"""Files that are damaged, incomplete or hostile: an error that names what is wrong."""

import numpy as np
import onnx
import pytest
from onnx import external_data_helper, helper

import fbg
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import make_model

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
