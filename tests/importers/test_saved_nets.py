"""Saved networks, other files of networks: of onnxruntime, in packages; the bytes of plans."""

from __future__ import annotations

import functools
import itertools
import json
import os
from pathlib import Path

import numpy as np
import onnx
import onnx.backend.test
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

import fbg
import fbg.onnx_backend
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers import tiny_bert
from helpers.fresh_python import run_python
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime
from helpers.safetensors_files import change_header, read_header
from helpers.small_cnns import FAMILIES

# Saved networks: the same bits when they are loaded, and no harm from damaged files.

WEIGHTS = "fbg.safetensors"
RNG = np.random.default_rng(3)


def images(family, count=2):
    _, shape = FAMILIES[family]()
    rng = np.random.default_rng(1)
    return rng.standard_normal((count, *shape[1:])).astype(np.float32)


def load_family(family, kind, **options):
    x = images(family)
    calibrate = [x[:1], x[1:]] if kind == "int8" else None
    model, _ = FAMILIES[family]()
    return Net(read_model(model, family, None), calibrate=calibrate, **options)


def steps(net):
    return [(step.backend, step.algorithm, step.nodes, step.types) for step in net.plan().steps]


@pytest.mark.parametrize("kind", ["float32", "int8"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_saved_network_returns_the_same_bits(tmp_path, family, kind):
    net = load_family(family, kind)
    net.save(tmp_path / "saved")
    assert os.listdir(tmp_path) == ["saved"]
    assert os.listdir(tmp_path / "saved") == [WEIGHTS]
    loaded = fbg.load(tmp_path / "saved", backends=("fbg",))
    assert loaded.dtype == kind
    assert loaded.inputs == net.inputs
    for count in (1, 2):
        x = images(family, count)
        np.testing.assert_array_equal(loaded(x), net(x))
        assert steps(loaded) == steps(net)
    assert str(loaded.graph) == str(net.graph)


def test_only_what_runs_is_saved(tmp_path):
    net = load_family("resnet18", "int8")
    net.save(tmp_path / "saved")
    entries = read_header(tmp_path / "saved" / WEIGHTS)
    kinds = {name: entry["dtype"] for name, entry in entries.items() if name != "__metadata__"}
    floats = [entries[name]["shape"] for name, kind in kinds.items() if kind == "F32"]
    weights = [shape for shape in floats if len(shape) > 1]
    # Those of products of integers are integers; the floats that they come from are not kept.
    assert len(weights) == net.products.all - net.products.int8
    assert "I8" in kinds.values()


def test_nodes_keep_versions_texts_and_subgraphs(tmp_path):
    # Quantization adds operators of version 13 to a file of version 11.
    w = RNG.standard_normal((4, 3, 3, 3)).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], "conv")]
    x = RNG.standard_normal((1, 3, 6, 6)).astype(np.float32)
    net = make_net(nodes, {"x": x}, ["y"], {"w": w}, opset=11, calibrate=[x])
    net.save(tmp_path / "old")
    np.testing.assert_array_equal(fbg.load(tmp_path / "old")(x), net(x))

    branches = [
        helper.make_graph(
            [helper.make_node(op, ["x", "c"], ["z"], op)],
            op,
            [],
            [helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, None)],
        )
        for op in ("Add", "Sub")
    ]
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], "sum", keepdims=0),
        helper.make_node("Greater", ["s", "zero"], ["positive"], "greater"),
        helper.make_node(
            "If", ["positive"], ["y"], "if", then_branch=branches[0], else_branch=branches[1]
        ),
        helper.make_node("Identity", ["words"], ["t"], "words"),
    ]
    constants = {"c": np.full((1, 1, 6, 1), 2, np.float32), "zero": np.array(0, np.float32)}
    constants["words"] = np.array(["some", "words"], object)
    net = make_net(nodes, {"x": x}, ["y", "t"], constants)
    net.save(tmp_path / "more")
    loaded = fbg.load(tmp_path / "more")
    for feed in (np.abs(x), -np.abs(x)):
        results, expected = loaded.run({"x": feed}), net.run({"x": feed})
        np.testing.assert_array_equal(results["y"], expected["y"])
        assert results["t"].tolist() == ["some", "words"]


def small(**options):
    w = np.random.default_rng(4).standard_normal((8, 3, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
        helper.make_node("Relu", ["c"], ["y"], "relu"),
    ]
    inputs = {"x": (np.float32, (1, 3, "h", "w"))}
    return make_net(nodes, inputs, ["y"], {"w": w}, **options)


X = RNG.standard_normal((1, 3, 6, 7)).astype(np.float32)


def test_saved_networks_replace_only_what_they_may(tmp_path):
    net = small()
    net.save(tmp_path / "saved")
    with pytest.raises(FileExistsError, match="overwrite"):
        net.save(tmp_path / "saved")
    loaded = fbg.load(tmp_path / "saved")
    loaded.save(tmp_path / "saved", overwrite=True)  # what it is mapped from
    np.testing.assert_array_equal(loaded(X), net(X))
    np.testing.assert_array_equal(fbg.load(tmp_path / "saved")(X), net(X))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="not a saved model"):
        net.save(tmp_path / "mine", overwrite=True)
    with pytest.raises(TypeError, match="save: directory"):
        net.save(3)


def test_arguments_that_do_not_go_with_saved_networks(tmp_path):
    small().save(tmp_path / "saved")
    for options, message in [
        ({"calibrate": [X]}, "calibrate must be left out"),
        ({"higher_precision": ["c1"]}, "higher_precision must be left out"),
        ({"higher_precision": ["c1"], "dtype": "int8"}, "higher_precision must be left out"),
        ({"equalize": True}, "equalize must be left out"),
        ({"dtype": "int8"}, "dtype must be 'float32'"),
        ({"smooth": False}, "smooth"),
        ({"shapes": {"z": (1,)}}, "no input 'z'"),
    ]:
        with pytest.raises(ValueError, match=message):
            fbg.load(tmp_path / "saved", **options)
    assert fbg.load(tmp_path / "saved", shapes={"x": X.shape}).inputs["x"].fixed == X.shape


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda h: h["__metadata__"].update(format="fbg.Model"), "not a model that fbg saved"),
        (lambda h: h["__metadata__"].update(version="99"), "newer"),
        (lambda h: h["__metadata__"].update(dtype="float8"), "its dtype is 'float8'"),
        (lambda h: h["__metadata__"].update(versions='{"n": 1e30}'), "version of node 'n' is 1e"),
        (lambda h: h["__metadata__"].update(versions=f'{{"n": {10**30}}}'), "version of node 'n'"),
        (lambda h: h["__metadata__"].update(checksums="{}"), "the checksum does not match"),
        (lambda h: h.pop("network"), "truncated or damaged"),
        (lambda h: h.pop("constants.w"), "tensor constants.w: missing"),
        (lambda h: h["constants.w"].update(shape=[8, 27, 2]), "tensor constants.w: damaged"),
        (lambda h: h["constants.w"].update(dtype="Q4"), "tensor constants.w: damaged"),
        (lambda h: h.update(more=h["constants.w"]), "tensor more: not part of this model"),
    ],
)
def test_changed_headers_are_refused(tmp_path, change, reason):
    small().save(tmp_path / "saved")
    change_header(tmp_path / "saved" / WEIGHTS, change)
    with pytest.raises(fbg.ModelError, match=reason) as caught:
        fbg.load(tmp_path / "saved")
    assert WEIGHTS in str(caught.value)


def test_a_directory_of_an_encoder_is_no_saved_network(tmp_path):
    tiny_bert.write_checkpoint(tmp_path / "bert")
    fbg.load(tmp_path / "bert").save(tmp_path / "saved")
    os.remove(tmp_path / "saved" / "config.json")
    with pytest.raises(fbg.ModelError, match=r"config\.json: no such file"):
        fbg.load(tmp_path / "saved")


def test_plans_of_all_shapes_and_thread_counts_share_their_weights():
    net = small()
    before = fbg.get_num_threads()
    try:
        # Each algorithm packs weights when it is first chosen, so that sizes are those afterwards.
        for sizes in (set(), set()):
            for threads, size in itertools.product((1, 2), (5, 6, 9)):
                fbg.set_num_threads(threads)
                net(RNG.standard_normal((1, 3, size, size)).astype(np.float32))
                sizes.add(net.plan().weight_bytes)
    finally:
        fbg.set_num_threads(before)
    (backend,) = [backend for backend in net._backends if backend.name == "fbg"]
    assert len(net._sessions.plans) == 6
    assert len(backend.weights) == 1
    assert len(sizes) == 1


def test_weights_are_shared_only_if_they_are_equal():
    w = RNG.standard_normal((2, 8, 8, 1, 1)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", name], [name + "y"], name, strides=strides)
        for name, strides in [("a", [1, 1]), ("b", [1, 1]), ("c", [1, 1]), ("d", [2, 2])]
    ]
    constants = {"a": w[0], "b": w[0].copy(), "c": w[1], "d": w[0]}
    x = RNG.standard_normal((1, 8, 4, 4)).astype(np.float32)
    net = make_net(nodes, {"x": x}, ["ay", "by", "cy", "dy"], constants, backends=("fbg",))
    results = net.run({"x": x})
    np.testing.assert_array_equal(results["ay"], results["by"])
    np.testing.assert_allclose(
        results["cy"], np.einsum("oc,nchw->nohw", w[1, :, :, 0, 0], x), 1e-4, 1e-4
    )
    np.testing.assert_array_equal(results["dy"], results["ay"][:, :, ::2, ::2])
    assert len(net._backends[0].weights) == 3


def test_models_with_external_data_are_saved_whole(tmp_path):
    w = RNG.standard_normal((8, 3, 3, 3)).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], "conv")]
    model = make_model(nodes, {"x": X}, ["y"], {"w": w})
    path = tmp_path / "m.onnx"
    onnx.save(model, str(path), save_as_external_data=True, location="data", size_threshold=0)
    net = fbg.load(path)
    net.save(tmp_path / "saved")
    expected = net(X)
    del net
    Path(tmp_path / "data").unlink()
    np.testing.assert_array_equal(fbg.load(tmp_path / "saved")(X), expected)


# Files that onnxruntime writes or takes run as there, even if the format forbids them.

ROWS = np.random.default_rng(0).standard_normal((2, 6, 8)).astype(np.float32)
CONSTANTS = {
    "ones": np.ones(8, np.float32),
    "zeros": np.zeros(8, np.float32),
    "two": np.float32([1, 2]),
    "w": 2 * ROWS,
}


def model(nodes, opsets, outputs=("y",), inputs=("x",), **more):
    """A model whose outputs have no type. opsets: pairs of a domain and a version."""
    read = {name for node in nodes for name in node.input} | set(outputs)
    constants = [numpy_helper.from_array(x, n) for n, x in CONSTANTS.items() if n in read]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ROWS.shape) for name in inputs],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        constants,
        **more,
    )
    ids = [helper.make_opsetid(*pair) for pair in opsets]
    return helper.make_model(graph, opset_imports=ids, ir_version=8)


def file_node(op, inputs=("x",), output="y", **attributes):
    return helper.make_node(op, list(inputs), [output], **attributes)


def sparse(*places):
    values = numpy_helper.from_array(np.float32([3, 4]), "s")
    indices = numpy_helper.from_array(np.array(places, np.int64), "at")
    return helper.make_sparse_tensor(values, indices, ROWS.shape)


MICROSOFT = {"domain": "com.microsoft"}
NORM = ("x", "ones", "zeros")
GROUPS = {"inputs": ("x", "two", "two"), "num_groups": 2}
FILES = {
    "LayerNormalization of 11": model([file_node("LayerNormalization", NORM)], [("", 11)]),
    "LayerNormalization of 14": model([file_node("LayerNormalization", NORM, axis=-1)], [("", 14)]),
    "SimplifiedLayerNormalization": model(
        [file_node("SimplifiedLayerNormalization", ("x", "ones"))], [("", 17)]
    ),
    "GroupNormalization of 18": model([file_node("GroupNormalization", **GROUPS)], [("", 18)]),
    "GroupNormalization of 20": model([file_node("GroupNormalization", **GROUPS)], [("", 20)]),
    "an operator that newer sets have": model([file_node("ThresholdedRelu", alpha=0.5)], [("", 7)]),
    "Affine": model([file_node("Affine", alpha=2.0, beta=1.0)], [("", 7)]),
    "ScaledTanh": model([file_node("ScaledTanh", alpha=0.5, beta=1.0)], [("", 7)]),
    "ParametricSoftplus": model([file_node("ParametricSoftplus", alpha=0.5, beta=1.0)], [("", 7)]),
    "a domain that is not imported": model([file_node("Gelu", **MICROSOFT)], [("", 17)]),
    "only another domain": model([file_node("Relu")], [("com.microsoft", 1)]),
    "set of ai.onnx": model([file_node("Relu")], [("ai.onnx", 17)]),
    "node of ai.onnx": model([file_node("Relu", domain="ai.onnx")], [("", 17)]),
    "ai.onnx beside the empty domain": model(
        [file_node("Softmax", output="t", domain="ai.onnx"), file_node("Softmax", ("t",))],
        [("", 11), ("ai.onnx", 17)],
    ),
    "an output that is read": model(
        [file_node("Relu", output="t"), file_node("Neg", ("t",))], [("", 17)], "ty"
    ),
    "an output that is a constant": model([file_node("Relu")], [("", 17)], "yw"),
    "sparse initializer": model(
        [file_node("Add", ("x", "s"))], [("", 17)], sparse_initializer=[sparse(3, 90)]
    ),
    "sparse initializer by axes": model(
        [file_node("Add", ("x", "s"))],
        [("", 17)],
        sparse_initializer=[sparse([0, 1, 2], [1, 5, 7])],
    ),
    "sparse Constant": model(
        [
            helper.make_node("Constant", [], ["c"], sparse_value=sparse(3, 90)),
            file_node("Add", ("x", "c")),
        ],
        [("", 17)],
    ),
}


@pytest.mark.parametrize("backends", [None, ("onnxruntime",)])
@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_what_onnxruntime_takes_runs_as_there(file, backends):
    net = Net(read_model(file, "file", None), backends=backends)
    for got, wanted in zip(
        net.run({"x": ROWS}).values(), plain_onnxruntime(file, {"x": ROWS}), strict=True
    ):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def test_an_operator_that_nobody_has_is_named():
    with pytest.raises(fbg.ModelError, match="Nonsense"):
        Net(read_model(model([file_node("Nonsense")], [("", 17)]), "file", None)).run({"x": ROWS})
    with pytest.raises(fbg.ModelError, match=r"com.example.*names no version"):
        read_model(model([file_node("Relu", domain="com.example")], [("", 17)]), "file", None)


@pytest.mark.parametrize(
    ("places", "dims", "reason"),
    [
        ((3, 96), ROWS.shape, "beyond its shape"),
        ((-1, 3), ROWS.shape, "beyond its shape"),
        (([0, 1], [0, 2]), ROWS.shape, "one int64 index"),
        ((3, 4), (1,) * 1000, "at most 64 axes"),
        ((3, 4), (2**20, 2**20), "too large"),
    ],
)
def test_sparse_tensors_that_do_not_fit_are_refused(places, dims, reason):
    wrong = sparse(*places)
    wrong.dims[:] = dims
    file = model([file_node("Add", ("x", "s"))], [("", 17)], sparse_initializer=[wrong])
    with pytest.raises(fbg.ModelError, match=reason):
        read_model(file, "file", None)


def test_an_initializer_that_is_also_an_input_is_a_default():
    file = model([file_node("Mul", ("x", "w"))], [("", 17)], inputs=("x", "w"))
    net = Net(read_model(file, "file", None))
    assert list(net.inputs) == ["x"]
    np.testing.assert_array_equal(net.run({"x": ROWS})["y"], 2 * ROWS * ROWS)
    for _ in range(2):
        np.testing.assert_array_equal(net.run({"x": ROWS, "w": 3 * ROWS})["y"], 3 * ROWS * ROWS)
    np.testing.assert_array_equal(net.run({"x": ROWS})["y"], 2 * ROWS * ROWS)
    file.ir_version = 3  # which has no defaults
    with pytest.raises(ValueError, match="no input 'w'"):
        Net(read_model(file, "file", None)).run({"x": ROWS, "w": ROWS})


@pytest.mark.parametrize("texts", [np.array(["a", "bcd"]), np.array(["a", "bcd"], object)])
def test_texts_are_taken_as_numpy_makes_them(texts):
    value = helper.make_tensor_value_info("x", TensorProto.STRING, [2])
    graph = helper.make_graph(
        [file_node("Identity")], "g", [value], [onnx.ValueInfoProto(name="y")]
    )
    net = Net(read_model(helper.make_model(graph, ir_version=8), "file", None))
    assert net.run({"x": texts})["y"].tolist() == ["a", "bcd"]


def test_shapes_that_a_file_declares_and_a_run_does_not_have_are_no_error():
    file = model(
        [file_node("NonZero", output="n"), file_node("Cast", ("n",), to=TensorProto.FLOAT)],
        [("", 17)],
    )
    file.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 5]))
    net = Net(read_model(file, "file", None))
    for x in (ROWS, np.where(ROWS < 0, 0, ROWS), ROWS):
        np.testing.assert_array_equal(net.run({"x": x})["y"], np.array(np.nonzero(x)))


@pytest.mark.parametrize("is_typed", [True, False])
def test_outputs_may_be_sequences_and_maps_as_of_classifiers_of_sklearn(tmp_path, is_typed):
    zipmap = file_node("ZipMap", ("p",), domain="ai.onnx.ml", classlabels_int64s=[3, 5])
    scores = [file_node("Slice", ("x", "at", "to"), "s"), file_node("Softmax", ("s",), "p")]
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


# The models that the package onnx carries with their results: exports of torch, and whole CNNs.
# Those CNNs have constants for weights, so that all of their classes have the same probability:
# they show that a network of that structure is read and run, in integers too, and no more.

LIGHT = Path(onnx.backend.test.__file__).parent / "data" / "light"
ROUNDING = ("avx512_bf16", "avx512_fp16", "avx512_amx")
CNNS = sorted(path.stem for path in LIGHT.glob("*.onnx"))
# Training.
NOT_ON_FBG = ("test_gradient_of_add", "test_gradient_of_add_and_mul")


def read(path):
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    if tensor.data_type == onnx.TensorProto.UNDEFINED:
        return None
    return numpy_helper.to_array(tensor)


@functools.cache
def cases_of(kind):
    return [
        (case, onnx.load(f"{case.model_dir}/model.onnx")) for case in load_model_tests(kind=kind)
    ]


def check(case, model, backends):
    rep = fbg.onnx_backend.prepare(model, "CPU", backends)
    for data in sorted(Path(case.model_dir).glob("test_data_set_*")):
        inputs = [read(path) for path in sorted(data.glob("input_*.pb"))]
        outputs = [read(path) for path in sorted(data.glob("output_*.pb"))]
        results = list(rep.run(inputs))
        if outputs[0].dtype == object:
            np.testing.assert_array_equal(results[0], outputs[0])
        else:
            Runner.assert_similar_outputs(outputs, results, case.rtol, case.atol)


# Before the seventh set of operators, an attribute said where a smaller operand lies in a greater
# one. onnxruntime has no such operators: they run on onnx.reference.
OLD = (
    "test_operator_add_broadcast",
    "test_operator_add_size1_broadcast",
    "test_operator_add_size1_right_broadcast",
    "test_operator_add_size1_singleton_broadcast",
)


@pytest.mark.parametrize(("kind", "count"), [("pytorch-converted", 82), ("pytorch-operator", 31)])
def test_exports_of_torch_run_on_fbg_itself(kind, count):
    cases = [(case, model) for case, model in cases_of(kind) if case.name not in OLD]
    assert len(cases) >= count
    for case, model in cases:
        check(case, model, ("fbg",))


@pytest.mark.filterwarnings("ignore:.*onnx.reference:UserWarning")
def test_exports_of_torch_with_the_oldest_operators_run():
    cases = [(case, model) for case, model in cases_of("pytorch-operator") if case.name in OLD]
    assert len(cases) == len(OLD)
    for case, model in cases:
        check(case, model, None)


# onnxruntime needs a locale for the operators of texts, which this machine may not have.
@pytest.mark.filterwarnings("ignore:.*onnx.reference:UserWarning")
def test_simple_models_run_but_for_training():
    for case, model in cases_of("simple"):
        if case.name not in NOT_ON_FBG:
            check(case, model, None)


@pytest.mark.parametrize("name", NOT_ON_FBG)
def test_training_is_refused_by_name(name):
    (model,) = (model for case, model in cases_of("simple") if case.name == name)
    with pytest.raises(fbg.ModelError, match="node Gradient 'my_gradient'"):
        fbg.onnx_backend.prepare(model, "CPU")


def run_cnn(name, dtype):
    path = LIGHT / f"{name}.onnx"
    graph = onnx.load(path).graph
    weights = {tensor.name for tensor in graph.initializer}
    (x,) = (x for x in graph.input if x.name not in weights)
    shape = [axis.dim_value for axis in x.type.tensor_type.shape.dim]
    values = np.arange(np.prod(shape)) / np.prod(shape)
    feed = {x.name: values.astype(np.float32).reshape(shape)}
    net = fbg.load(path, dtype=dtype, calibrate=[feed] if dtype == "int8" else None)
    (y,) = net.run(feed).values()
    # Images are rounded to bfloat16. Weights are constants here, so that errors do not cancel.
    rounds = dtype == "bfloat16" and fbg.isa.active() in ROUNDING
    np.testing.assert_allclose(
        y, read(LIGHT / f"{name}_output_0.pb"), rtol=2**-9 if rounds else 1e-3
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", CNNS)
def test_whole_cnns_give_the_results_that_they_came_with(name, dtype):
    run_cnn(name, dtype)


# Others take up to half a minute to calibrate.
@pytest.mark.parametrize("name", ["bvlc_alexnet", "inception_v1", "shufflenet", "squeezenet"])
def test_whole_cnns_give_those_results_in_int8(name):
    run_cnn(f"light_{name}", "int8")


def test_outputs_that_nobody_reads_are_not_computed():
    """Exporters of older operators name masks and statistics, whose types no inference finds."""
    rng = np.random.default_rng(0)
    constants = {name: rng.random(3, np.float32) + 1 for name in ("scale", "bias", "mean", "var")}
    nodes = [
        helper.make_node("BatchNormalization", ["x", *constants], ["n", "m", "v", "sm", "sv"]),
        helper.make_node("Dropout", ["n"], ["d", "mask"]),
        helper.make_node("MaxPool", ["d"], ["y", "indices"], kernel_shape=[2, 2]),
    ]
    x = rng.random((1, 3, 4, 4), np.float32)
    net = make_net(nodes, {"x": x}, ["y"], constants, opset=8, backends=("fbg",))
    (y,) = net.run({"x": x}).values()
    scale, bias, mean, var = (array.reshape(3, 1, 1) for array in constants.values())
    wanted = (x - mean) / np.sqrt(var + 1e-5) * scale + bias
    wanted = np.lib.stride_tricks.sliding_window_view(wanted, (2, 2), axis=(2, 3)).max((-2, -1))
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)


# Plans of a network count for about the memory that they take, so that the bound on it holds.

TESTS = Path(__file__).parents[1]
PROGRAM = """
import gc, json, resource
import numpy as np
import fbg
from helpers.onnx_models import make_net, node

fbg.set_num_threads(1)
rng, width, heads, kind = np.random.default_rng(0), 48, 6, "KIND"
nodes, constants, x = [], {}, "x"
constants["heads"] = np.array([0, 0, heads, width // heads])
constants["joined"] = np.array([0, 0, width])


def add(op, inputs, **attributes):
    nodes.append(node(op, inputs, f"t{len(nodes)}", **attributes))
    return nodes[-1].output[0]


def linear(x, activation=None):
    name = f"w{len(nodes)}"
    constants[name] = rng.standard_normal((width, width)).astype(np.float32) / 7
    y = add("MatMul", [x, name])
    return add(activation, [y]) if activation else y


for _ in range(12):
    if kind == "attention":
        orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        shaped = [add("Reshape", [linear(x), "heads"]) for _ in orders]
        q, k, v = (add("Transpose", [p], perm=o) for p, o in zip(shaped, orders))
        y = add("MatMul", [add("Softmax", [add("MatMul", [q, k])], axis=-1), v])
        y = add("Reshape", [add("Transpose", [y], perm=[0, 2, 1, 3]), "joined"])
        x = add("Add", [linear(y), x])
    else:
        x = add("Softmax", [linear(linear(x, "Tanh"), "Tanh")], axis=-1)
net = make_net(nodes, {"x": (np.float32, (1, "n", width))}, [x], constants)


def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def run(lengths):
    for n in lengths:
        net.run({"x": np.zeros((1, n, width), np.float32)})


run(range(1, 15))
before = resident()
run(range(15, 55))
plans = net._sessions.plans[-40:]
print(json.dumps([resident() - before, sum(plan.kept_bytes for plan in plans)]))
"""


@pytest.mark.parametrize("kind", ["attention", "products"])
def test_plans_count_for_what_they_take(kind):
    ran = run_python(PROGRAM.replace("KIND", kind), PYTHONPATH=str(TESTS))
    assert ran.returncode == 0, ran.stderr
    taken, counted = json.loads(ran.stdout)
    assert taken / 1.6 < counted < 1.6 * taken, np.array([taken, counted]) / 40


def test_plans_beyond_the_bound_are_given_up(monkeypatch):
    bound = 400_000
    monkeypatch.setattr("fbg.importers.net.MAX_PLAN_BYTES", bound)
    weights = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    net = make_net(
        [node("MatMul", ["x", "w"], "y")], {"x": (np.float32, ("n", 16))}, ["y"], {"w": weights}
    )
    plans = net._sessions
    kept = []
    for n in range(1, 40):
        net.run({"x": np.ones((n, 16), np.float32)})
        kept.append(len(plans.plans))
        assert sum(plan.kept_bytes for plan in plans.plans) <= bound
    assert 1 < max(kept) < 39
    (first,) = net.run({"x": np.ones((1, 16), np.float32)}).values()
    np.testing.assert_allclose(first[0], weights.sum(0), rtol=1e-5)
