"""Operators of onnxruntime's own: what fbg computes of them, types files leave out, threads."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
from fbg import _fbg
from fbg.errors import ModelError
from fbg.importers.description import TensorType
from fbg.importers.net import Net
from fbg.importers.onnx.expansion import QUANTIZED, RULES
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import make_model, make_net, plain_onnxruntime

# Operators of onnxruntime's own are computed by fbg, as onnxruntime computes them.

pytest.importorskip("onnxruntime")
RNG = np.random.default_rng(3)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def octets(*shape, dtype=np.uint8):
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max + 1, shape).astype(dtype)


def check(op, names, feeds, constants, outputs=1, wanted=None, version=17, kinds=None, **more):
    """Compare a node with onnxruntime, and require that fbg computes all of it."""
    results = [f"y{i}" if i in (wanted or range(outputs)) else "" for i in range(outputs)]
    node = helper.make_node(op, names, results, "foreign", domain="com.microsoft", **more)
    types = {name: (np.float32, None) for name in results if name}
    types |= {name: (kind, None) for name, kind in (kinds or {}).items()}
    known = {name: value for name, value in constants.items() if name in names}
    model = make_model([node], feeds, types, known, opset=version)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    net = Net(read_model(model, "test.onnx", None))
    expected = plain_onnxruntime(model, feeds)
    got = net.run(feeds)
    for (name, y), theirs in zip(got.items(), expected, strict=True):
        assert y.dtype == theirs.dtype
        if theirs.dtype.kind in "iu":
            np.testing.assert_array_equal(y, theirs, name)
        else:
            np.testing.assert_allclose(y, theirs, rtol=2e-5, atol=2e-5)
    assert {step.backend for step in net.plan().steps} <= {"fbg"}


# The scales are no simple fractions of each other: where a result lies in the middle between two
# integers, onnxruntime rounds a sum that it has rounded before.
@settings(deadline=None, max_examples=80, derandomize=True)
@given(
    op=st.sampled_from(sorted(QUANTIZED)),
    dtype=st.sampled_from([np.uint8, np.int8]),
    points=st.lists(st.integers(-20, 20), min_size=3, max_size=3),
    scales=st.lists(st.integers(3, 90), min_size=3, max_size=3),
    batch=st.integers(1, 2),
)
def test_operators_between_integers_agree_to_the_bit(op, dtype, points, scales, batch):
    middle = 128 if dtype == np.uint8 else 0
    constants = {f"s{i}": np.float32(scale / (1000 + 7.3 * i)) for i, scale in enumerate(scales)}
    constants |= {f"z{i}": dtype(middle + point) for i, point in enumerate(points)}
    feeds = {"a": octets(batch, 4, 6, 7, dtype=dtype)}
    own, other, result = ([f"s{i}", f"z{i}"] for i in range(3))
    more = {
        "QLinearConcat": {"axis": 1},
        "QLinearLeakyRelu": {"alpha": 0.2},
    }.get(op, {})
    names = ["a", *own, *result]
    if op in ("QLinearAdd", "QLinearMul", "QLinearConcat", "QLinearWhere"):
        feeds["b"] = octets(batch, 4, 6, 7, dtype=dtype)
        names = ["a", *own, "b", *other]
        names = [*result, *names] if op == "QLinearConcat" else [*names, *result]
    if op == "QLinearWhere":
        feeds["c"] = octets(batch, 4, 6, 7) > 100
        names = ["c", *names]
    check(op, names, feeds, constants, kinds={"y0": dtype}, **more)


@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize("turned", [0, 1])
@pytest.mark.parametrize("rounded", [False, True])
def test_products_of_integers(channels, turned, rounded):
    w = octets(9, 16, dtype=np.int8) if turned else octets(16, 9, dtype=np.int8)
    shape = (9,) if channels else ()
    constants = {
        "s": np.float32(0.02),
        "z": np.uint8(120),
        "w": w,
        "ws": RNG.uniform(0.005, 0.02, shape).astype(np.float32),
        "wz": np.zeros(shape, np.int8),
        "bias": RNG.integers(-4000, 4000, 9).astype(np.int32),
        "t": np.float32(0.4),
        "u": np.uint8(110),
    }
    names = ["a", "s", "z", "w", "ws", "wz", "bias", *(["t", "u"] if rounded else [])]
    feeds, kinds = {"a": octets(5, 16)}, {"y0": np.uint8 if rounded else np.float32}
    check("QGemm", names, feeds, constants, kinds=kinds, transB=turned)


@pytest.mark.parametrize("channels", [False, True])
def test_products_of_integers_that_give_numbers(channels):
    shape = (9,) if channels else ()
    constants = {
        "s": np.float32(0.02),
        "z": np.uint8(120),
        "w": octets(16, 9, dtype=np.int8),
        "ws": RNG.uniform(0.005, 0.02, shape).astype(np.float32),
        "wz": np.zeros(shape, np.int8),
        "bias": normal(9),
    }
    names = ["a", "w", "s", "ws", "z", "wz", "bias"]
    check("MatMulIntegerToFloat", names, {"a": octets(2, 5, 16)}, constants)
    names = ["x", "w", "ws", "wz", "bias"]
    check("DynamicQuantizeMatMul", names, {"x": normal(2, 5, 16)}, constants)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *((name, []) for name in ("", "Relu", "Tanh", "Sigmoid")),
        *(("LeakyRelu", [0.2]), ("HardSigmoid", [0.3, 0.4]), ("Clip", [-0.5, 0.5])),
    ],
)
def test_products_with_an_activation(name, parameters):
    constants = {"w": normal(6, 4, 3, 3), "b": normal(6), "m": normal(8, 6)}
    feeds = {"x": normal(2, 4, 7, 7), "z": normal(2, 6, 7, 7)}
    more = {"activation_params": parameters} if parameters else {}
    activation = {"activation": name} if name else {}
    names = ["x", "w", "b", "z"]
    check("FusedConv", names, feeds, constants, pads=[1] * 4, **activation, **more)
    if name not in ("", "Clip"):
        named = zip(("alpha", "beta"), parameters, strict=False)
        more = {f"activation_{key}": value for key, value in named}
        check("FusedGemm", ["a", "m", "b"], {"a": normal(5, 8)}, constants, activation=name, **more)


@pytest.mark.parametrize("turned", [{}, {"transA": 1}, {"transB": 1}, {"transA": 1, "transB": 1}])
def test_products_of_turned_matrices(turned):
    a = normal(2, 3, 8, 5) if "transA" in turned else normal(2, 3, 5, 8)
    b = normal(2, 3, 6, 8) if "transB" in turned else normal(2, 3, 8, 6)
    check("FusedMatMul", ["a", "b"], {"a": a, "b": b}, {}, alpha=0.3, **turned)


def test_functions_of_elements():
    x, constants = {"x": 3 * normal(2, 5, 8)}, {"b": normal(8)}
    check("Gelu", ["x"], x, constants)
    check("BiasGelu", ["x", "b"], x, constants)
    check("FastGelu", ["x"], x, constants)
    check("FastGelu", ["x", "b"], x, constants)
    check("QuickGelu", ["x"], x, constants, alpha=1.5)


@pytest.mark.parametrize("opset", [17, 18, 21])
def test_norms_of_sums(opset):
    feeds = {"x": normal(2, 5, 8), "s": normal(2, 5, 8)}
    constants = {"g": normal(8), "b": normal(8), "c": normal(8)}
    for names in (["x", "s", "g"], ["x", "s", "g", "b"], ["x", "s", "g", "b", "c"]):
        check("SkipLayerNormalization", names, feeds, constants, epsilon=1e-5, version=opset)
    more = {"outputs": 4, "wanted": (0, 3), "version": opset}
    check("SkipLayerNormalization", ["x", "s", "g", "b"], feeds, constants, **more)
    names = ["x", "s", "g", "c"]
    check("SkipSimplifiedLayerNormalization", names, feeds, constants, epsilon=1e-5, **more)


@pytest.mark.parametrize("mask", ["", "tokens", "lengths"])
def test_attention(mask):
    batch, tokens, width = 2, 5, 12
    constants = {"w": normal(width, 3 * width) / 4, "b": normal(3 * width)}
    feeds = {"x": normal(batch, tokens, width)}
    lengths = np.array([3, 5], np.int32)
    if mask:
        of_tokens = (np.arange(tokens) < lengths[:, None]).astype(np.int32)
        feeds["m"] = of_tokens if mask == "tokens" else lengths
    check("Attention", ["x", "w", "b", *feeds.keys() - {"x"}], feeds, constants, num_heads=3)
    if not mask:
        parts = {name: normal(batch, tokens, width) for name in "qkv"}
        check("MultiHeadAttention", [*"qkv"], parts, {}, num_heads=3)
        check("MultiHeadAttention", [*"qkv"], parts, {}, num_heads=3, scale=0.2)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("segments", [False, True])
def test_embeddings(masked, segments):
    feeds = {"i": RNG.integers(0, 20, (2, 5)).astype(np.int32)}
    constants = {"w": normal(20, 8), "p": normal(6, 8), "g": normal(8), "b": normal(8)}
    names = ["i", "", "w", "p", "", "g", "b", ""]
    if segments:
        feeds["t"] = RNG.integers(0, 2, (2, 5)).astype(np.int32)
        constants["s"] = normal(2, 8)
        names[1], names[4] = "t", "s"
    if masked:
        feeds["m"] = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
        names[7] = "m"
    check("EmbedLayerNormalization", names, feeds, constants, outputs=3, kinds={"y1": np.int32})


def test_what_is_not_understood_stays():
    x = normal(2, 5, 12)
    constants = {"w": normal(12, 36) / 4, "b": normal(36)}
    node = helper.make_node(
        "Attention",
        ["x", "w", "b"],
        ["y"],
        "a",
        domain="com.microsoft",
        num_heads=3,
        unidirectional=1,
    )
    model = make_model([node], {"x": (np.float32, x.shape)}, ["y"], constants, opset=17)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    net = Net(read_model(model, "test.onnx", None))
    np.testing.assert_array_equal(net(x), plain_onnxruntime(model, {"x": x})[0])
    assert {step.backend for step in net.plan().steps} == {"onnxruntime"}


def test_every_rule_has_a_test():
    own = {"Attention", "BiasGelu", "DynamicQuantizeMatMul", "EmbedLayerNormalization", "FastGelu"}
    own |= {"FusedConv", "FusedGemm", "FusedMatMul", "Gelu", "MatMulIntegerToFloat", "QGemm"}
    own |= {"MultiHeadAttention", "QuickGelu", "SkipLayerNormalization"}
    own |= {"SkipSimplifiedLayerNormalization"}
    assert own | QUANTIZED.keys() == RULES.keys()


# Operators of onnxruntime's own: files need not declare the types of what they compute.

onnxruntime = pytest.importorskip("onnxruntime")
OTHER_RNG = np.random.default_rng(7)
CONSTANTS = {
    "s": np.float32(0.02),
    "z": np.uint8(120),
    "t": np.float32(0.05),
    "u": np.uint8(3),
    "w": OTHER_RNG.integers(-127, 128, (4, 6)).astype(np.int8),
    "ws": np.float32(0.01),
    "wz": np.int8(0),
    "f": OTHER_RNG.standard_normal((4, 6)).astype(np.float32),
    "v": OTHER_RNG.standard_normal(4).astype(np.float32),
    "yes": np.array(True),
    "wide": np.float32(1 / 256),
    "none": np.uint8(0),
}
Q = ["q", "s", "z"]  # x as integers
BYTES, FLOAT = "bytes", "float"

# Inputs, attributes and what the first output holds; x is float32, and q the same as bytes.
OPS = {
    "QLinearSigmoid": ([*Q, "wide", "none"], {}, BYTES),
    "QLinearLeakyRelu": ([*Q, "t", "u"], {"alpha": 0.1}, BYTES),
    "QLinearAdd": ([*Q, *Q, "t", "u"], {}, BYTES),
    "QLinearMul": ([*Q, *Q, "t", "u"], {}, BYTES),
    "QLinearConcat": (["t", "u", *Q, *Q], {"axis": 1}, BYTES),
    "QLinearGlobalAveragePool": ([*Q, "t", "u"], {}, BYTES),
    "QLinearAveragePool": ([*Q, "t", "u"], {"kernel_shape": [2, 2]}, BYTES),
    "QLinearSoftmax": ([*Q, "wide", "none"], {"opset": 13, "axis": -1}, BYTES),
    "QLinearWhere": (["yes", *Q, *Q, "t", "u"], {}, BYTES),
    "NhwcMaxPool": (["q"], {"kernel_shape": [2, 2]}, BYTES),
    "DequantizeLinear": (Q, {}, FLOAT),
    "QuantizeLinear": (["x", "t", "u"], {}, BYTES),
    "MatMulIntegerToFloat": (["q", "w", "s", "ws", "z", "wz"], {}, FLOAT),
    "DynamicQuantizeMatMul": (["x", "w", "ws", "wz"], {}, FLOAT),
    "Gelu": (["x"], {}, FLOAT),
    "QuickGelu": (["x"], {"alpha": 1.7}, FLOAT),
    "FastGelu": (["x", "v"], {}, FLOAT),
    "BiasGelu": (["x", "v"], {}, FLOAT),
    "FusedMatMul": (["x", "f"], {"alpha": 0.5}, FLOAT),
    "Inverse": (["x"], {}, FLOAT),
}


def foreign_model(nodes, inputs, outputs, constants):
    model = make_model(nodes, inputs, outputs, constants, opset=17)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def file_of(op, inputs, attributes, holds, batch=2):
    """A model of x, the op, and a Relu of what it returns; nothing between is declared."""
    foreign = helper.make_node(op, inputs, ["o"], "foreign", domain="com.microsoft", **attributes)
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "quantize"), foreign]
    if holds == BYTES:
        nodes.append(helper.make_node("DequantizeLinear", ["o", "t", "u"], ["d"], "dequantize"))
    nodes.append(helper.make_node("Relu", ["d" if holds == BYTES else "o"], ["y"], "relu"))
    read = {name for node in nodes for name in node.input}
    constants = {name: value for name, value in CONSTANTS.items() if name in read}
    return foreign_model(nodes, {"x": (np.float32, (batch, 3, 4, 4))}, ["y"], constants)


@pytest.mark.parametrize("batch", [2, "n"])
@pytest.mark.parametrize("op", list(OPS))
def test_files_with_operators_of_onnxruntime_run_as_there(op, batch):
    model = file_of(op, *OPS[op], batch)
    x = OTHER_RNG.standard_normal((2, 3, 4, 4)).astype(np.float32)
    net = Net(read_model(model, "test.onnx", None))
    expected = plain_onnxruntime(model, {"x": x})[0]
    if OPS[op][2] == BYTES:
        np.testing.assert_array_equal(net(x), expected)
    else:
        np.testing.assert_allclose(net(x), expected, rtol=1e-5, atol=1e-5)
    # What follows runs on fbg, which it does only where types and shapes are known.
    places = {name: step.backend for step in net.plan().steps for name in step.nodes}
    assert places["foreign"] == ("fbg" if op in RULES else "onnxruntime")
    assert places["relu"] == "fbg"


def test_a_type_that_the_file_declares_in_part_is_completed():
    model = file_of("QLinearSigmoid", *OPS["QLinearSigmoid"])
    open_sizes = helper.make_tensor_value_info("o", onnx.TensorProto.UINT8, ["a", "b", "c", "d"])
    model.graph.value_info.append(open_sizes)
    net = Net(read_model(model, "test.onnx", None))
    assert "uint8(2, 3, 4, 4)" in str(net.plan())


def test_an_operator_that_onnxruntime_does_not_know_is_named():
    for op, inputs in [("NoSuchOperator", ["x"]), ("QLinearSigmoid", ["x"])]:
        model = file_of(op, inputs, {}, BYTES)
        with pytest.raises(ModelError, match=f"node {op} 'foreign'"):
            Net(read_model(model, "test.onnx", None))


def test_networks_quantized_by_its_tools_run_as_there(tmp_path):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    shape = (1, 3, 8, 8)
    feeds = [{"x": OTHER_RNG.standard_normal(shape).astype(np.float32)} for _ in range(4)]

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.left = iter(feeds)

        def get_next(self):
            return next(self.left, None)

    nodes = [
        helper.make_node("Conv", ["x", "a"], ["c"], "c", pads=[1] * 4),
        helper.make_node("Sigmoid", ["c"], ["g"], "g"),
        helper.make_node("Mul", ["c", "g"], ["m"], "m"),
        helper.make_node("Concat", ["m", "c"], ["k"], "k", axis=1),
        helper.make_node("Conv", ["k", "b"], ["e"], "e"),
        helper.make_node("LeakyRelu", ["e"], ["l"], "l"),
        helper.make_node("Add", ["l", "e"], ["s"], "s"),
        helper.make_node("GlobalAveragePool", ["s"], ["p"], "p"),
        helper.make_node("Flatten", ["p"], ["f"], "f"),
        helper.make_node("Gemm", ["f", "h"], ["y"], "y"),
    ]
    weights = {"a": (6, 3, 3, 3), "b": (5, 12, 1, 1), "h": (5, 7)}
    constants = {
        name: OTHER_RNG.standard_normal(n).astype(np.float32) for name, n in weights.items()
    }
    model = make_model(nodes, {"x": (np.float32, shape)}, ["y"], constants, opset=17)
    onnx.save(model, tmp_path / "f.onnx")
    quantize_static(
        tmp_path / "f.onnx", tmp_path / "q.onnx", Reader(), quant_format=QuantFormat.QOperator
    )
    model = onnx.load(tmp_path / "q.onnx")
    kinds = {node.op_type for node in model.graph.node if node.domain == "com.microsoft"}
    assert len(kinds) > 3
    del model.graph.value_info[:]
    onnx.save(model, tmp_path / "q.onnx")
    net = fbg.load(tmp_path / "q.onnx")
    assert net.products.int8 == 3
    for feed in feeds:
        wanted = plain_onnxruntime(model, feed)[0]
        assert np.abs(net.run(feed)["y"] - wanted).max() <= 0.03 * np.abs(wanted).max()


def test_types_of_all_outputs_are_found():
    from fbg.importers.onnx.inference import infer

    node = helper.make_node(
        "SkipLayerNormalization", ["x", "x", "v"], ["a", "", "", "b"], domain="com.microsoft"
    )
    model = foreign_model([node], {"x": (np.float32, (2, 3, 4))}, "ab", {"v": CONSTANTS["v"]})
    network = read_model(model, "test.onnx", None)
    types = infer(network, network.inputs, {}).types
    assert types["a"] == types["b"] == TensorType(np.dtype(np.float32), (2, 3, 4))


# Steps on onnxruntime: one team of threads owns the CPUs at a time. No test depends on time.

LONG, SHORT = 2**19, 2**8  # elements of a step that is and is not worth more than one thread


def alternating(size, count, num_threads):
    """A network whose steps are on fbg and on onnxruntime in turn."""
    nodes, name = [], "x"
    for i in range(count):
        nodes.append(helper.make_node("Relu", [name], [f"r{i}"], f"r{i}"))
        nodes.append(helper.make_node("Atan", [f"r{i}"], [f"a{i}"], f"a{i}"))
        name = f"a{i}"
    feed = {"x": np.linspace(-2, 2, size, dtype=np.float32)}
    foreign = {f"a{i}": "onnxruntime" for i in range(count)}
    net = make_net(nodes, feed, [name], num_threads=num_threads, placement=foreign)
    return net, feed, nodes


def sessions(net):
    """The inner sessions of a network."""
    (session,) = net._sessions.plans
    parts = [placed.prepared for placed in session._parts if placed.backend.name == "onnxruntime"]
    return [part._session.get_session_options() for part in parts]


@pytest.mark.parametrize(("size", "threads"), [(LONG, 2), (LONG, 1), (SHORT, 2)])
def test_sessions_do_not_spin_and_short_ones_have_no_threads(size, threads):
    net, _, _ = alternating(size, 2, threads)
    options = sessions(net)
    assert len(options) == 2
    for own in options:
        assert own.intra_op_num_threads == (threads if size == LONG else 1)
        assert own.inter_op_num_threads == 1
        assert own.get_session_config_entry("session.intra_op.allow_spinning") == "0"


@pytest.mark.parametrize(("size", "rests"), [(LONG, 3), (SHORT, 0)])
def test_the_team_of_fbg_rests_before_threads_of_a_session_begin(size, rests, monkeypatch):
    net, feed, nodes = alternating(size, 3, 2)
    calls = []
    monkeypatch.setattr(_fbg, "rest_team", lambda: calls.append(1))
    net.run(feed)
    assert len(calls) == rests
    assert len(net.plan().steps) == len(nodes)
