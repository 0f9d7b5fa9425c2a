"""Saved networks: the same bits when they are loaded, and no harm from damaged files."""

import itertools
import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers import tiny_bert
from helpers.onnx_models import make_model, make_net
from helpers.safetensors_files import change_header, read_header
from helpers.small_cnns import FAMILIES

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
