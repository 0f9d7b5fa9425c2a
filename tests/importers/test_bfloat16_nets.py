"""Networks in bfloat16: what is rounded, how products run, files; and files of 16-bit floats."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

import fbg
import fbg.graph.lower.products as lowered
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.commands import succeed
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime
from helpers.ways import rounding

HALF = ml_dtypes.bfloat16
UNIT = 2.0**-8  # what rounding to bfloat16 changes, relatively


def half(x):
    return x.astype(HALF).astype(np.float32)


def layers(rng, channels=48):
    """Two convolutions with ReLU between them, and a product."""
    constants = {
        "w": rng.standard_normal((channels, 3, 1, 1)).astype(np.float32),
        "b": rng.standard_normal(channels).astype(np.float32),
        "v": rng.standard_normal((32, channels, 1, 1)).astype(np.float32),
        "m": rng.standard_normal((5, 7)).astype(np.float32),
    }
    nodes = [
        node("Conv", ["x", "w", "b"], "c"),
        node("Relu", ["c"], "r"),
        node("Conv", ["r", "v"], "d"),
        node("MatMul", ["d", "m"], "y"),
    ]
    return nodes, constants, rng.standard_normal((2, 3, 4, 5)).astype(np.float32)


def by_numpy(constants, x, change):
    """The same network. change: of what products read besides their weights."""
    w, v, m = (half(constants[name]) for name in "wvm")
    c = np.einsum("nihw,oi->nohw", change(x), w[:, :, 0, 0]) + constants["b"].reshape(-1, 1, 1)
    d = np.einsum("nihw,oi->nohw", change(np.maximum(c, 0)), v[:, :, 0, 0])
    return change(d) @ m


def test_weights_are_rounded_half_to_even(isa):
    nodes, constants, x = layers(np.random.default_rng(0))
    net = make_net(nodes, {"x": x}, ["y"], constants, dtype="bfloat16")
    assert net.dtype == "bfloat16"
    assert "bfloat16[48, 3, 1, 1]" in str(net.graph)
    if isa in lowered.ROUNDING_ISAS:
        pytest.skip("on this CPU products of float32 by bfloat16 may round x as well")
    exact = by_numpy(constants, x, lambda values: values)
    np.testing.assert_allclose(net(x), exact, rtol=1e-4, atol=1e-4)


def test_where_the_cpu_multiplies_bfloat16_x_is_rounded_too(isa, monkeypatch):
    monkeypatch.setattr(lowered, "_ways", rounding)
    nodes, constants, x = layers(np.random.default_rng(1))
    net = make_net(nodes, {"x": x}, ["y"], constants, dtype="bfloat16", num_threads=2)
    np.testing.assert_allclose(net(x), by_numpy(constants, x, half), rtol=1e-3, atol=2e-2)
    held = [step.algorithm for step in net.plan().steps if "-> bfloat16" in step.algorithm]
    assert len(held) >= 1, [step.algorithm for step in net.plan().steps]
    one = make_net(nodes, {"x": x}, ["y"], constants, dtype="bfloat16", num_threads=1)
    np.testing.assert_array_equal(one(x), net(x))


def test_one_product_is_within_the_error_of_its_operands(isa):
    rng = np.random.default_rng(3)
    for rows, depth, columns in [(1, 3, 5), (7, 100, 33), (64, 512, 96)]:
        x = rng.standard_normal((rows, depth)).astype(np.float32)
        w = rng.standard_normal((depth, columns)).astype(np.float32)
        net = make_net(
            [node("MatMul", ["x", "w"], "y")], {"x": x}, ["y"], {"w": w}, dtype="bfloat16"
        )
        error = np.abs(net(x) - x.astype(np.float64) @ w)
        assert (error <= (UNIT + 1e-4) * (np.abs(x) @ np.abs(w))).all()


@pytest.mark.parametrize(("tokens", "keys", "depth"), [(5, 7, 6), (33, 49, 32), (70, 131, 64)])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_rounds_its_operands(isa, tokens, keys, depth, masked):
    rng = np.random.default_rng(9)
    feed = {
        "q": rng.standard_normal((2, 3, tokens, depth)).astype(np.float32),
        "k": rng.standard_normal((2, 3, depth, keys)).astype(np.float32),
        "v": rng.standard_normal((2, 3, keys, 20)).astype(np.float32),
    }
    mask = np.where(rng.random((tokens, keys)) < 0.3, np.float32(-1e9), np.float32(0))
    mask[:, 0] = 0
    nodes = [
        node("MatMul", ["q", "k"], "s"),
        node("Mul", ["s", "f"], "t"),
        *([node("Add", ["t", "m"], "u")] if masked else []),
        node("Softmax", ["u" if masked else "t"], "p", axis=-1),
        node("MatMul", ["p", "v"], "y"),
    ]
    constants = {"f": np.float32(depth**-0.5)} | ({"m": mask} if masked else {})
    nets = {
        (dtype, threads): make_net(nodes, feed, ["y"], constants, dtype=dtype, num_threads=threads)
        for dtype in ("float32", "bfloat16")
        for threads in (1, 2)
    }
    results = {key: net.run(feed)["y"] for key, net in nets.items()}
    assert "attention" in [step.algorithm for step in nets["bfloat16", 1].plan().steps]
    exact, y = results["float32", 1], results["bfloat16", 1]
    np.testing.assert_allclose(y, exact, atol=8 * UNIT * np.abs(feed["v"]).max())
    np.testing.assert_array_equal(results["bfloat16", 2], y)
    rounds = isa in ("avx512_bf16", "avx512_fp16", "avx512_amx") and keys >= 64
    assert np.array_equal(y, exact) == (not rounds)


@pytest.mark.parametrize(("op", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_recurrent_layers_widen_their_rounded_weights(isa, op, gates):
    rng = np.random.default_rng(10)
    steps, batch, size, hidden = 5, 2, 8, 40
    x = rng.standard_normal((steps, batch, size)).astype(np.float32)
    shapes = {"w": (2, gates * hidden, size), "r": (2, gates * hidden, hidden)}
    weights = {name: half(rng.standard_normal(shape) / 6) for name, shape in shapes.items()}
    nodes = [node(op, ["x", "w", "r"], "y", hidden_size=hidden, direction="bidirectional")]
    nets = {
        dtype: make_net(nodes, {"x": x}, ["y"], weights, dtype=dtype, num_threads=1)
        for dtype in ("float32", "bfloat16")
    }
    exact, y = (net.run({"x": x})["y"] for net in nets.values())
    np.testing.assert_allclose(y, exact, atol=16 * UNIT if isa in lowered.ROUNDING_ISAS else 1e-5)
    assert nets["bfloat16"].plan().weight_bytes <= 0.76 * nets["float32"].plan().weight_bytes


def test_tensors_between_steps_are_bfloat16_where_the_cpu_multiplies_it(isa):
    rng = np.random.default_rng(11)
    x = rng.standard_normal((1, 16, 12, 12)).astype(np.float32)
    constants = {
        name: (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        for name, shape in {
            "a": (32, 16, 1, 1),
            "d": (32, 1, 3, 3),
            "b": (32, 32, 1, 1),
            "c": (24, 64, 1, 1),
        }.items()
    }
    nodes = [
        node("Conv", ["x", "a"], "p"),
        node("Conv", ["p", "d"], "q", group=32, pads=[1, 1, 1, 1]),
        node("Sigmoid", ["q"], "s"),
        node("Mul", ["q", "s"], "t"),
        node("GlobalAveragePool", ["t"], "g"),
        node("Mul", ["t", "g"], "u"),
        node("Conv", ["u", "b"], "v"),
        node("Add", ["v", "p"], "r"),
        node("MaxPool", ["r"], "m", kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]),
        node("Concat", ["m", "r"], "k", axis=1),
        node("Conv", ["k", "c"], "y"),
    ]
    nets = {
        (dtype, threads): make_net(
            nodes, {"x": x}, ["y"], constants, dtype=dtype, num_threads=threads
        )
        for dtype in ("float32", "bfloat16")
        for threads in (1, 2)
    }
    exact, y = nets["float32", 1](x), nets["bfloat16", 1](x)
    assert np.abs(y - exact).max() <= 6 * UNIT * np.abs(exact).max()
    np.testing.assert_array_equal(nets["bfloat16", 2](x), y)
    steps = [step.algorithm for step in nets["bfloat16", 1].plan().steps]
    held = [step for step in steps if "-> bfloat16" in step]
    assert (len(held) >= 2) == (isa in lowered.ROUNDING_ISAS), steps


def test_integers_are_not_rounded(isa):
    rng = np.random.default_rng(12)
    x = rng.standard_normal((4, 64)).astype(np.float32)
    i = np.arange(1000, 1004, dtype=np.int32)
    w = {"w": rng.standard_normal((64, 64)).astype(np.float32), "one": np.int32(1)}
    nodes = [
        node("Add", ["i", "one"], "j"),
        node("Mul", ["j", "i"], "k"),
        node("Concat", ["j", "k"], "l", axis=0),
        node("Add", ["l", "one"], "o"),
        node("MatMul", ["x", "w"], "y"),
    ]
    outputs = {"y": (np.float32, None), "o": (np.int32, None)}
    net = make_net(nodes, {"x": x, "i": i}, outputs, w, dtype="bfloat16")
    expected = np.concatenate([i + 1, (i + 1) * i]) + 1
    np.testing.assert_array_equal(net.run({"x": x, "i": i})["o"], expected)


def test_weights_take_half_the_memory_where_nothing_is_gained_by_floats(isa):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((1, 512)).astype(np.float32)
    w = {"w": rng.standard_normal((512, 256)).astype(np.float32)}
    sizes = {}
    for dtype in ("float32", "bfloat16"):
        net = make_net([node("MatMul", ["x", "w"], "y")], {"x": x}, ["y"], w, dtype=dtype)
        net(x)
        sizes[dtype] = net.plan().weight_bytes
    assert sizes["bfloat16"] <= 0.76 * sizes["float32"], sizes


def test_saved_networks_keep_the_dtype_and_the_bits(tmp_path):
    nodes, constants, x = layers(np.random.default_rng(5))
    save(make_model(nodes, {"x": x}, ["y"], constants), tmp_path / "net.onnx")
    net = fbg.load(tmp_path / "net.onnx", dtype="bfloat16")
    net.save(tmp_path / "saved")
    for dtype in (None, "bfloat16"):
        again = fbg.load(tmp_path / "saved", dtype=dtype)
        assert again.dtype == "bfloat16"
        np.testing.assert_array_equal(again(x), net(x))
    with pytest.raises(ValueError, match="dtype must be 'bfloat16', the dtype of the saved"):
        fbg.load(tmp_path / "saved", dtype="float32")
    for more in ({"calibrate": [x]}, {"higher_precision": ["c"]}, {"equalize": True}):
        with pytest.raises(ValueError, match="requires dtype='int8', got dtype='bfloat16'"):
            fbg.load(tmp_path / "net.onnx", dtype="bfloat16", **more)
    with pytest.raises(ValueError, match="must be 'float32', 'bfloat16', 'int8' or None"):
        fbg.load(tmp_path / "net.onnx", dtype="float16")


def test_commands_take_networks_in_bfloat16(tmp_path):
    nodes, constants, x = layers(np.random.default_rng(8))
    save(make_model(nodes, {"x": x}, ["y"], constants), tmp_path / "net.onnx")
    given = (tmp_path / "net.onnx", "--dtype", "bfloat16")
    for command in ("bench", "profile"):
        succeed(command, *given, "--rounds", "1")
    told = succeed("quantize", tmp_path / "net.onnx", tmp_path / "out", *given[1:]).output
    assert "bfloat16, int8 in 0 of 3 products" in told
    net = fbg.load(tmp_path / "out")
    assert net.dtype == "bfloat16"
    assert "bfloat16 in the others" in repr(net)


# Files of 16-bit floats --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float16, HALF])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_files_of_16_bits_run_in_float32_on_fbg(isa, kind, dtype):
    nodes, constants, x = layers(np.random.default_rng(6))
    stored = {name: value.astype(kind) for name, value in constants.items()}
    x = x.astype(kind)
    model = make_model(nodes, {"x": x}, {"y": (kind, None)}, stored)
    net = Net(read_model(model, "half", None), dtype=dtype)
    assert net.inputs["x"].dtype == x.dtype
    y = net(x)
    assert y.dtype == x.dtype
    assert {step.backend for step in net.plan().steps} == {"fbg"}
    wide = {name: value.astype(np.float32) for name, value in stored.items()}
    exact = make_net(nodes, {"x": x.astype(np.float32)}, ["y"], wide)(x.astype(np.float32))
    if dtype == "float32":
        np.testing.assert_array_equal(y, exact.astype(kind))
    largest = np.abs(exact).max()
    np.testing.assert_allclose(y.astype(np.float32), exact, atol=0.05 * largest)
    assert all(tensor.data_type != TensorProto.FLOAT for tensor in model.graph.initializer)


def test_casts_constants_and_branches_of_16_bits_are_widened():
    rng = np.random.default_rng(7)
    x = rng.standard_normal((2, 4)).astype(np.float32)
    two = np.array(2, np.float16)

    def branch(name, op):
        inner = helper.make_node(op, ["h", "two"], [f"{name}_y"])
        kind = helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT16, [2, 4])
        constant = numpy_helper.from_array(two, "two")
        return helper.make_graph([inner], name, [], [kind], [constant])

    branches = {"then_branch": branch("t", "Mul"), "else_branch": branch("f", "Add")}
    nodes = [
        node("Cast", ["x"], "h", to=TensorProto.FLOAT16),
        node("Constant", [], "k", value=numpy_helper.from_array(two)),
        node("ReduceSum", ["h"], "s", keepdims=0),
        node("Greater", ["s", "k"], "positive"),
        node("If", ["positive"], "b", **branches),
        node("Exp", ["b"], "e"),
        node("Cast", ["e"], "y", to=TensorProto.FLOAT),
    ]
    outputs = {"y": (np.float32, None), "e": (np.float16, None)}
    model = make_model(nodes, {"x": x}, outputs)
    net = Net(read_model(model, "half", None))
    for feed in (x + 2, x - 2):
        expected = plain_onnxruntime(model, {"x": feed})
        got = net.run({"x": feed})
        for y, wanted in zip(got.values(), expected, strict=True):
            assert y.dtype == wanted.dtype
            np.testing.assert_allclose(
                y.astype(np.float32), wanted.astype(np.float32), rtol=0.02, atol=1e-4
            )


def test_files_that_only_move_16_bits_keep_them(isa):
    x = np.arange(6, dtype=np.float16).reshape(2, 3)
    outputs = {"y": (np.float16, None)}
    net = make_net([node("Transpose", ["x"], "y", perm=[1, 0])], {"x": x}, outputs)
    np.testing.assert_array_equal(net(x), x.T)
    assert len(net.network.nodes) == 1
