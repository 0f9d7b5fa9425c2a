"""Networks from files as users hold them: feeds, shapes, placement, plans."""

import threading

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import fbg
from fbg.importers.backends import native, onnxruntime
from helpers.onnx_models import make_net

RNG = np.random.default_rng(1)
X = RNG.standard_normal((1, 3, 9, 8), dtype=np.float32)
W = RNG.standard_normal((16, 3, 3, 3), dtype=np.float32)
B = RNG.standard_normal(16, dtype=np.float32)


def conv_relu(**options):
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1] * 4),
        helper.make_node("Relu", ["c"], ["y"], "relu"),
    ]
    inputs = options.pop("inputs", {"x": X})
    return make_net(nodes, inputs, ["y"], {"w": W, "b": B}, **options)


def expected(x):
    wc = fbg.PackedConv(W, padding=1, dtype="float32")
    y = fbg.conv(np.ascontiguousarray(x.transpose(0, 2, 3, 1)), wc, bias=B, activation="relu")
    return y.transpose(0, 3, 1, 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_convolution_and_activation_are_one_step(isa, threads):
    net = conv_relu(backends=("fbg",), num_threads=threads)
    np.testing.assert_array_equal(net(X), expected(X))
    steps = net.plan().steps
    assert [step.nodes for step in steps if "conv" in step.algorithm] == [("conv", "relu")]
    assert all(step.backend == "fbg" for step in steps)


def test_a_new_shape_makes_a_new_plan():
    net = conv_relu(inputs={"x": (np.float32, ("n", 3, "h", "w"))})
    with pytest.raises(ValueError, match="shapes of the inputs are not known"):
        net.plan()
    for shape in [(1, 3, 5, 6), (2, 3, 4, 4), (1, 3, 5, 6)]:
        x = RNG.standard_normal(shape, dtype=np.float32)
        np.testing.assert_array_equal(net.run({"x": x})["y"], expected(x))


def test_shapes_given_to_load_are_planned_at_once():
    net = conv_relu(inputs={"x": (np.float32, ("n", 3, None, None))}, shapes={"x": (1, 3, 7, 7)})
    assert net.inputs["x"].fixed == (1, 3, 7, 7)
    assert net.plan().arena_bytes > 0


@pytest.mark.parametrize("name", ["encode", "classify", "forward"])
def test_what_only_models_have_says_what_a_network_takes(name):
    net = conv_relu()
    assert not hasattr(net, name)
    with pytest.raises(AttributeError, match=f"no attribute '{name}': a network takes .* arrays"):
        getattr(net, name)


@pytest.mark.parametrize(
    ("feeds", "error", "message"),
    [
        ({}, ValueError, "input 'x' is missing"),
        ({"x": X, "z": X}, ValueError, "no input 'z'"),
        ({"x": X[0]}, ValueError, r"must be float32\(1, 3, 9, 8\), got shape \(3, 9, 8\)"),
        ({"x": X[..., :7]}, ValueError, "got shape"),
        ({"x": X.astype(np.float64)}, TypeError, "must be float32, got float64"),
        ({"x": [1.0]}, TypeError, "must be an array"),
        ([X], TypeError, "mapping by name"),
    ],
)
def test_feeds_that_do_not_fit(feeds, error, message):
    with pytest.raises(error, match=message):
        conv_relu().run(feeds)


def test_feeds_may_have_any_strides():
    x = np.ascontiguousarray(X.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(conv_relu()(x), expected(X))


@pytest.mark.parametrize("where", ["fbg", "onnxruntime", "reference"])
@pytest.mark.filterwarnings("error")
def test_a_node_can_be_placed_elsewhere(where):
    net = conv_relu(placement={"conv": where})
    np.testing.assert_allclose(net(X), expected(X), 1e-4, 1e-4)  # by Winograd's algorithm or not
    places = {name: step.backend for step in net.plan().steps for name in step.nodes}
    assert places["conv"] == where
    assert places["relu"] == "fbg"


@pytest.mark.parametrize("where", ["conv", "norm", "act"])
def test_other_nodes_are_folded_where_one_is_placed_elsewhere(where):
    rng = np.random.default_rng(4)
    constants = {"w": rng.standard_normal((4, 4, 1, 1)).astype(np.float32)}
    constants |= {name: rng.uniform(0.5, 1.5, 4).astype(np.float32) for name in "sbmv"}
    nodes = []
    for i, (x, y) in enumerate([("x", "p"), ("p", "y")]):
        norm = [f"c{i}", *"sbmv"]
        nodes.append(helper.make_node("Conv", [x, "w"], [f"c{i}"], f"conv{i}"))
        nodes.append(helper.make_node("BatchNormalization", norm, [f"n{i}"], f"norm{i}"))
        nodes.append(helper.make_node("Relu", [f"n{i}"], [y], f"act{i}"))
    inputs = {"x": (np.float32, (1, 4, 5, 5))}
    net = make_net(nodes, inputs, ["y"], constants, placement={f"{where}0": "onnxruntime"})
    steps = net.plan().steps
    assert [s.nodes for s in steps if s.backend == "onnxruntime"] == [(f"{where}0",)]
    computed = {name for step in steps for name in step.nodes}
    assert "norm1" not in computed
    assert ("norm0" in computed) == (where != "act")
    x = rng.standard_normal((1, 4, 5, 5), dtype=np.float32)
    np.testing.assert_allclose(net(x), make_net(nodes, inputs, ["y"], constants)(x), 1e-5, 1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"placement": {"nowhere": "fbg"}}, "no node 'nowhere'"),
        ({"placement": {"conv": "moon"}}, "'moon'"),
        ({"backends": ("moon",)}, "'moon'"),
        ({"backends": ()}, "sequence of names"),
        ({"shapes": {"z": (1,)}}, "no input 'z'"),
        ({"shapes": {"x": (1, 3, -1, 8)}}, "negative"),
        ({"shapes": {"x": (1, 4, 9, 8)}}, "must be float32"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        conv_relu(**options)


def test_an_unsupported_op_is_an_error_at_load_where_only_fbg_may_run():
    nodes = [helper.make_node("Det", ["x"], ["y"], "volume")]
    with pytest.raises(fbg.ModelError, match=r"Det 'volume' with inputs float32\(4, 3, 3\)"):
        make_net(nodes, {"x": (np.float32, (4, 3, 3))}, ["y"], backends=("fbg",))


def test_consecutive_foreign_ops_are_one_part():
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], "a"),
        helper.make_node("ReverseSequence", ["a", "lengths"], ["b"], "b"),
        helper.make_node("Det", ["b"], ["c"], "c"),
        helper.make_node("Neg", ["c"], ["y"], "d"),
    ]
    x = RNG.standard_normal((4, 3, 3), dtype=np.float32)
    places = {"b": "onnxruntime"}
    net = make_net(nodes, {"x": x}, ["y"], {"lengths": np.array([4, 4, 4])}, placement=places)
    wanted = -np.linalg.det(np.maximum(x, 0)[::-1])
    np.testing.assert_allclose(net(x), wanted, 1e-5)
    assert [(s.backend, s.nodes) for s in net.plan().steps] == [
        ("fbg", ("a",)),
        ("onnxruntime", ("b", "c")),
        ("fbg", ("d",)),
    ]


def test_the_last_resort_warns_of_its_cost():
    nodes = [helper.make_node("Det", ["x"], ["y"], "volume")]
    x = RNG.standard_normal((4, 3, 3), dtype=np.float32)
    with pytest.warns(UserWarning, match=r"Det 'volume'.*onnx\.reference"):
        net = make_net(nodes, {"x": x}, ["y"], backends=("fbg", "reference"))
    np.testing.assert_allclose(net(x), np.linalg.det(x), 1e-5)


def test_weights_and_shapes_may_be_inputs():
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4),
        helper.make_node("Reshape", ["c", "s"], ["y"]),
    ]
    shape = np.array([0, -1], np.int64)
    net = make_net(nodes, {"x": X, "w": W, "s": shape}, ["y"], backends=("fbg",))
    for w in (W, -W):
        y = net.run({"x": X, "w": w, "s": shape})["y"]
        wc = fbg.PackedConv(w, padding=1, dtype="float32")
        wanted = fbg.conv(np.ascontiguousarray(X.transpose(0, 2, 3, 1)), wc)
        np.testing.assert_array_equal(y, wanted.transpose(0, 3, 1, 2).reshape(1, -1))


def test_outputs_may_be_inputs_and_constants_and_the_same_twice():
    nodes = [
        helper.make_node("Identity", ["x"], ["a"]),
        helper.make_node("Identity", ["a"], ["b"]),
        helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(B)),
    ]
    results = make_net(nodes, {"x": X}, ["a", "b", "k", "x"]).run({"x": X})
    for name in "abx":
        np.testing.assert_array_equal(results[name], X)
        assert not np.shares_memory(results[name], X)
    np.testing.assert_array_equal(results["k"], B)


def test_empty_tensors_run_elsewhere():
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    x = np.zeros((0, 3), np.float32)
    assert make_net(nodes, {"x": x}, ["y"])(x).shape == (0, 3)


@pytest.mark.races
def test_threads_share_a_net():
    net = conv_relu(inputs={"x": (np.float32, (1, 3, "h", 8))})
    results = {}

    def work(i):
        x = np.full((1, 3, 4 + i % 3, 8), i, np.float32)
        results[i] = all(np.array_equal(net(x), expected(x)) for _ in range(20))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[i] for i in range(6))


def test_options_of_encoders_do_not_go_with_files(tmp_path):
    for options in [{"smooth": False}, {"higher_precision": ["a"]}, {"dtype": "float16"}]:
        with pytest.raises(ValueError, match="load:"):
            fbg.load(tmp_path / "m.onnx", **options)
    with pytest.raises(TypeError, match=r"backends: .* end in \.onnx"):
        fbg.load(tmp_path, backends=("fbg",))


def test_zeros_of_a_pad_win_over_negative_values_in_a_pool_that_follows():
    x = np.full((1, 1, 1, 1), -0.7, np.float32)
    nodes = [
        helper.make_node("Pad", ["x", "pads"], ["padded"], "pad"),
        helper.make_node("MaxPool", ["padded"], ["y"], "pool", kernel_shape=[2, 2], strides=[2, 1]),
    ]
    pads = np.array([0, 0, 1, 0, 0, 0, 0, 1], np.int64)
    net = make_net(nodes, {"x": x}, ["y"], {"pads": pads}, backends=("fbg",))
    np.testing.assert_array_equal(net.run({"x": x})["y"], np.zeros((1, 1, 1, 1), np.float32))


def chain(op, count, **options):
    names = ["x", *(f"t{i}" for i in range(count))]
    nodes = [helper.make_node(op, [names[i]], [names[i + 1]]) for i in range(count)]
    return make_net(nodes, {"x": X}, [names[-1]], {}, **options)


def test_fbg_is_asked_once_for_each_node_whatever_other_back_ends_there_are(monkeypatch):
    asked = []
    supports = native.Native.supports
    monkeypatch.setattr(
        native.Native, "supports", lambda self, op: asked.append(op) or supports(self, op)
    )
    chain("Relu", 50)
    assert len(asked) == 50


def test_onnxruntime_is_tried_once_for_nodes_that_are_alike(monkeypatch):
    pytest.importorskip("onnxruntime")
    made = []
    session = onnxruntime.open_session
    monkeypatch.setattr(
        onnxruntime, "open_session", lambda *of, **how: made.append(of) or session(*of, **how)
    )
    net = chain("Acos", 50, placement={f"Acos_{i}": "onnxruntime" for i in range(50)})
    assert len(net.plan().steps) == 1
    assert len(made) == 2  # whether there can be one, and the one of all nodes


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_threads": 0}, ValueError, "num_threads"),
        ({"num_threads": 2.5}, TypeError, "num_threads"),
        ({"shapes": (1, 3)}, TypeError, r"shapes must be a mapping such as \{'x': \(1, …\)\}"),
        ({"shapes": {"x": ("n", 3)}}, TypeError, "sizes of 'x' must be integers"),
        ({"shapes": {"x": None}}, TypeError, "sizes of 'x' must be integers"),
    ],
)
def test_options_of_a_network_are_checked_when_it_is_loaded(tmp_path, options, error, message):
    relu = helper.make_node("Relu", ["x"], ["y"])
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in "xy"]
    model = helper.make_model(helper.make_graph([relu], "g", values[:1], values[1:]), ir_version=9)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(error, match=message):
        fbg.load(tmp_path / "m.onnx", **options)
