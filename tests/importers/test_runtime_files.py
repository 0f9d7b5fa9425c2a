"""Files that onnxruntime writes or takes run as there, even if the format forbids them."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import fbg
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import plain_onnxruntime

X = np.random.default_rng(0).standard_normal((2, 6, 8)).astype(np.float32)
CONSTANTS = {
    "ones": np.ones(8, np.float32),
    "zeros": np.zeros(8, np.float32),
    "two": np.float32([1, 2]),
    "w": 2 * X,
}


def model(nodes, opsets, outputs=("y",), inputs=("x",), **more):
    """A model whose outputs have no type. opsets: pairs of a domain and a version."""
    read = {name for node in nodes for name in node.input} | set(outputs)
    constants = [numpy_helper.from_array(x, n) for n, x in CONSTANTS.items() if n in read]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, X.shape) for name in inputs],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        constants,
        **more,
    )
    ids = [helper.make_opsetid(*pair) for pair in opsets]
    return helper.make_model(graph, opset_imports=ids, ir_version=8)


def node(op, inputs=("x",), output="y", **attributes):
    return helper.make_node(op, list(inputs), [output], **attributes)


def sparse(*places):
    values = numpy_helper.from_array(np.float32([3, 4]), "s")
    indices = numpy_helper.from_array(np.array(places, np.int64), "at")
    return helper.make_sparse_tensor(values, indices, X.shape)


MICROSOFT = {"domain": "com.microsoft"}
NORM = ("x", "ones", "zeros")
GROUPS = {"inputs": ("x", "two", "two"), "num_groups": 2}
FILES = {
    "LayerNormalization of 11": model([node("LayerNormalization", NORM)], [("", 11)]),
    "LayerNormalization of 14": model([node("LayerNormalization", NORM, axis=-1)], [("", 14)]),
    "SimplifiedLayerNormalization": model(
        [node("SimplifiedLayerNormalization", ("x", "ones"))], [("", 17)]
    ),
    "GroupNormalization of 18": model([node("GroupNormalization", **GROUPS)], [("", 18)]),
    "GroupNormalization of 20": model([node("GroupNormalization", **GROUPS)], [("", 20)]),
    "an operator that newer sets have": model([node("ThresholdedRelu", alpha=0.5)], [("", 7)]),
    "Affine": model([node("Affine", alpha=2.0, beta=1.0)], [("", 7)]),
    "ScaledTanh": model([node("ScaledTanh", alpha=0.5, beta=1.0)], [("", 7)]),
    "ParametricSoftplus": model([node("ParametricSoftplus", alpha=0.5, beta=1.0)], [("", 7)]),
    "a domain that is not imported": model([node("Gelu", **MICROSOFT)], [("", 17)]),
    "only another domain": model([node("Relu")], [("com.microsoft", 1)]),
    "set of ai.onnx": model([node("Relu")], [("ai.onnx", 17)]),
    "node of ai.onnx": model([node("Relu", domain="ai.onnx")], [("", 17)]),
    "ai.onnx beside the empty domain": model(
        [node("Softmax", output="t", domain="ai.onnx"), node("Softmax", ("t",))],
        [("", 11), ("ai.onnx", 17)],
    ),
    "an output that is read": model(
        [node("Relu", output="t"), node("Neg", ("t",))], [("", 17)], "ty"
    ),
    "an output that is a constant": model([node("Relu")], [("", 17)], "yw"),
    "sparse initializer": model(
        [node("Add", ("x", "s"))], [("", 17)], sparse_initializer=[sparse(3, 90)]
    ),
    "sparse initializer by axes": model(
        [node("Add", ("x", "s"))], [("", 17)], sparse_initializer=[sparse([0, 1, 2], [1, 5, 7])]
    ),
    "sparse Constant": model(
        [
            helper.make_node("Constant", [], ["c"], sparse_value=sparse(3, 90)),
            node("Add", ("x", "c")),
        ],
        [("", 17)],
    ),
}


@pytest.mark.parametrize("backends", [None, ("onnxruntime",)])
@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_what_onnxruntime_takes_runs_as_there(file, backends):
    net = Net(read_model(file, "file", None), backends=backends)
    for got, wanted in zip(
        net.run({"x": X}).values(), plain_onnxruntime(file, {"x": X}), strict=True
    ):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def test_an_operator_that_nobody_has_is_named():
    with pytest.raises(fbg.ModelError, match="Nonsense"):
        Net(read_model(model([node("Nonsense")], [("", 17)]), "file", None)).run({"x": X})
    with pytest.raises(fbg.ModelError, match=r"com.example.*names no version"):
        read_model(model([node("Relu", domain="com.example")], [("", 17)]), "file", None)


@pytest.mark.parametrize(
    ("places", "dims", "reason"),
    [
        ((3, 96), X.shape, "beyond its shape"),
        ((-1, 3), X.shape, "beyond its shape"),
        (([0, 1], [0, 2]), X.shape, "one int64 index"),
        ((3, 4), (1,) * 1000, "at most 64 axes"),
        ((3, 4), (2**20, 2**20), "too large"),
    ],
)
def test_sparse_tensors_that_do_not_fit_are_refused(places, dims, reason):
    wrong = sparse(*places)
    wrong.dims[:] = dims
    file = model([node("Add", ("x", "s"))], [("", 17)], sparse_initializer=[wrong])
    with pytest.raises(fbg.ModelError, match=reason):
        read_model(file, "file", None)


def test_an_initializer_that_is_also_an_input_is_a_default():
    file = model([node("Mul", ("x", "w"))], [("", 17)], inputs=("x", "w"))
    net = Net(read_model(file, "file", None))
    assert list(net.inputs) == ["x"]
    np.testing.assert_array_equal(net.run({"x": X})["y"], 2 * X * X)
    for _ in range(2):
        np.testing.assert_array_equal(net.run({"x": X, "w": 3 * X})["y"], 3 * X * X)
    np.testing.assert_array_equal(net.run({"x": X})["y"], 2 * X * X)
    file.ir_version = 3  # which has no defaults
    with pytest.raises(ValueError, match="no input 'w'"):
        Net(read_model(file, "file", None)).run({"x": X, "w": X})


@pytest.mark.parametrize("texts", [np.array(["a", "bcd"]), np.array(["a", "bcd"], object)])
def test_texts_are_taken_as_numpy_makes_them(texts):
    value = helper.make_tensor_value_info("x", TensorProto.STRING, [2])
    graph = helper.make_graph([node("Identity")], "g", [value], [onnx.ValueInfoProto(name="y")])
    net = Net(read_model(helper.make_model(graph, ir_version=8), "file", None))
    assert net.run({"x": texts})["y"].tolist() == ["a", "bcd"]


def test_shapes_that_a_file_declares_and_a_run_does_not_have_are_no_error():
    file = model(
        [node("NonZero", output="n"), node("Cast", ("n",), to=TensorProto.FLOAT)], [("", 17)]
    )
    file.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 5]))
    net = Net(read_model(file, "file", None))
    for x in (X, np.where(X < 0, 0, X), X):
        np.testing.assert_array_equal(net.run({"x": x})["y"], np.array(np.nonzero(x)))


@pytest.mark.parametrize("is_typed", [True, False])
def test_outputs_may_be_sequences_and_maps_as_of_classifiers_of_sklearn(tmp_path, is_typed):
    zipmap = node("ZipMap", ("p",), domain="ai.onnx.ml", classlabels_int64s=[3, 5])
    scores = [node("Slice", ("x", "at", "to"), "s"), node("Softmax", ("s",), "p")]
    ends = [("at", np.array([0, 0])), ("to", np.array([3, 2]))]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 2])
    values = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    kind = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.INT64, values))
    results = [helper.make_value_info("y", kind), onnx.ValueInfoProto(name="p")]
    if not is_typed:
        results[0].ClearField("type")
    constants = [numpy_helper.from_array(x, name) for name, x in ends]
    graph = helper.make_graph([*scores, zipmap], "g", [given], results, constants)
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    x = np.float32([[0, 0], [1, 1], [5, 5], [7, 8]])
    net = Net(read_model(file, "file", None))
    assert str(net.outputs["p"]) == "float32(3, 2)"
    net.save(tmp_path / "saved")
    for each in (net, fbg.load(str(tmp_path / "saved"))):
        assert each.run({"x": x})["y"] == [{3: 0.5, 5: 0.5}] * 3
        assert each.run({"x": x})["p"].shape == (3, 2)
