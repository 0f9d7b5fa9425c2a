"""Which tensors and products become integers when a network is quantized, and what they cost."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import fbg
from fbg.importers.description import TensorType
from fbg.importers.int8 import costs
from fbg.importers.int8.agreement import relative_error
from fbg.importers.int8.integer_tensors import integer_tensors
from fbg.importers.net import Net
from fbg.importers.onnx.inference import infer
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import make_model, make_net, node
from helpers.quantized_graphs import WIDEST

# Which tensors become integers when a network is quantized, and who reads these.

RNG = np.random.default_rng(0)


def weights(*shape):
    return (RNG.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)


CONSTANTS = {
    "w": weights(16, 16),
    "v": weights(16, 16),
    "k": weights(16, 16, 1, 1),
    "each": weights(16, 1, 1, 1),
    "wide": weights(16, 400),
    "deep": weights(400, 16),
    "ones": np.ones(16, np.float32),
    "zeros": np.zeros(16, np.float32),
    "sixteen": np.linspace(0.5, 2, 16, dtype=np.float32),
    "half": np.float32(0.25),
    "zero": np.float32(0),
    "three": np.float32(3),
    "six": np.float32(6),
    "sizes": np.array([1, 16, 8, 8]),
    "flat": np.array([0, 0, -1]),
}
ROWS, IMAGE = (1, 9, 16), (1, 16, 4, 4)


def norm(x, y):
    return node("LayerNormalization", [x, "ones", "zeros"], y)


def hard_swish(x, y):
    """As Paddle writes it, with a factor that is learned."""
    return [
        node("Add", [x, "three"], f"{y}.shifted"),
        node("Clip", [f"{y}.shifted", "zero", "six"], f"{y}.clipped"),
        node("Mul", [x, f"{y}.clipped"], f"{y}.product"),
        node("Div", [f"{y}.product", "six"], f"{y}.plain"),
        node("Mul", [f"{y}.plain", "half"], y),
    ]


def chosen(nodes, shape, outputs):
    feed = {"x": RNG.standard_normal(shape).astype(np.float32)}
    network = read_model(make_model(nodes, feed, outputs, CONSTANTS), "test.onnx", None)
    inferred = infer(network, {"x": TensorType(np.dtype(np.float32), shape)}, {})
    net = Net(network)
    net.prepare(feed)
    steps = [step.nodes for step in net.plan().steps]
    tensors, looked_up = integer_tensors(network, inferred, steps)
    assert {each.argument for each in looked_up} <= tensors.keys()
    return tensors


EVERYONE = None
CASES = {
    "a chain of convolutions": (
        [node("Conv", ["x", "k"], "a"), node("Relu", ["a"], "b"), node("Conv", ["b", "k"], "y")],
        IMAGE,
        {"x": {"a"}, "b": EVERYONE},
    ),
    "a residual that is read by nothing else": (
        [
            node("Conv", ["x", "k"], "a"),
            node("Conv", ["a", "k"], "b"),
            node("Relu", ["b"], "positive"),
            node("Add", ["positive", "a"], "c"),
            node("Conv", ["c", "k"], "y"),
        ],
        IMAGE,
        {"x": {"a"}, "a": EVERYONE, "c": EVERYONE},
    ),
    "a residual that a norm reads in float32": (
        [
            node("MatMul", ["x", "w"], "a"),
            node("MatMul", ["a", "v"], "b"),
            node("Add", ["b", "a"], "c"),
            norm("c", "n"),
            node("MatMul", ["n", "w"], "d"),
            node("Add", ["d", "c"], "e"),
            node("MatMul", ["e", "v"], "y"),
        ],
        ROWS,
        {"x": {"a"}, "a": EVERYONE, "n": {"d"}, "e": EVERYONE},
    ),
    "a norm, read by a product and as a residual": (
        [
            norm("x", "n"),
            node("MatMul", ["n", "w"], "a"),
            node("Relu", ["a"], "b"),
            node("MatMul", ["b", "v"], "c"),
            node("Add", ["c", "n"], "y"),
        ],
        ROWS,
        {"n": {"a"}, "b": EVERYONE},
    ),
    "an output of the network that products read as well": (
        [
            node("Conv", ["x", "k"], "z"),
            node("Conv", ["z", "k"], "b"),
            node("Relu", ["b"], "c"),
            node("Conv", ["c", "k"], "y"),
        ],
        IMAGE,
        {"x": {"z"}, "z": {"b"}, "c": EVERYONE},
    ),
    "attention": (
        [
            node("MatMul", ["x", "w"], "q"),
            node("MatMul", ["x", "v"], "k2"),
            node("Transpose", ["k2"], "t", perm=[0, 2, 1]),
            node("MatMul", ["q", "t"], "s"),
            node("Mul", ["s", "half"], "s2"),
            node("Softmax", ["s2"], "p", axis=-1),
            node("MatMul", ["p", "k2"], "o"),
            node("MatMul", ["o", "w"], "y"),
        ],
        ROWS,
        {"x": {"q", "k2"}, "o": {"y"}},
    ),
    "GELU as exporters write it": (
        [
            node("MatMul", ["x", "w"], "a"),
            node("Gelu", ["a"], "g"),
            node("MatMul", ["g", "v"], "y"),
        ],
        ROWS,
        {"x": {"a"}, "a": EVERYONE, "g": EVERYONE},
    ),
    "no table where the product takes long beside the function": (
        [
            node("MatMul", ["x", "wide"], "a"),
            node("MatMul", ["a", "deep"], "b"),
            node("Gelu", ["b"], "g"),
            node("MatMul", ["g", "v"], "y"),
        ],
        ROWS,
        {"x": {"a"}, "a": EVERYONE, "g": EVERYONE},
    ),
    "SiLU as exporters write it, which is a table": (
        [
            node("Conv", ["x", "k"], "a"),
            node("Sigmoid", ["a"], "s"),
            node("Mul", ["a", "s"], "b"),
            node("Conv", ["b", "k"], "y"),
        ],
        IMAGE,
        {"x": {"a"}, "a": EVERYONE, "b": EVERYONE},
    ),
    "a table of a sum behind a product": (
        [
            node("Conv", ["x", "k"], "a"),
            node("Relu", ["a"], "positive"),
            node("Conv", ["positive", "k"], "b"),
            node("Relu", ["b"], "upper"),
            node("Add", ["upper", "positive"], "c"),
            node("Exp", ["c"], "e"),
            node("Conv", ["e", "k"], "y"),
        ],
        IMAGE,
        {"x": {"a"}, "positive": EVERYONE, "c": EVERYONE, "e": EVERYONE},
    ),
    "no table of a function whose result is read as numbers": (
        [node("Conv", ["x", "k"], "a"), node("Tanh", ["a"], "y")],
        IMAGE,
        {"x": {"a"}},
    ),
    "no table of a function with numbers for each channel": (
        [
            node("MatMul", ["x", "w"], "a"),
            node("Sigmoid", ["a"], "s"),
            node("Mul", ["s", "sixteen"], "m"),
            node("Add", ["m", "a"], "b"),
            node("MatMul", ["b", "v"], "y"),
        ],
        ROWS,
        {"x": {"a"}, "b": EVERYONE},
    ),
    "moves take integers on": (
        [
            node("Conv", ["x", "k"], "a"),
            helper.make_node("Split", ["a"], ["l", "r"], "split", axis=2, num_outputs=2),
            node("Conv", ["l", "k"], "b"),
            node("Concat", ["b", "r"], "c", axis=2),
            node("Conv", ["c", "k"], "y"),
        ],
        IMAGE,
        {
            "x": {"a"},
            "a": EVERYONE,
            "l": EVERYONE,
            "r": EVERYONE,
            "b": EVERYONE,
            "c": EVERYONE,
        },
    ),
    "moves to who reads float32": (
        [
            node("Conv", ["x", "k"], "a"),
            node("Reshape", ["a", "flat"], "m"),
            node("Softmax", ["m"], "y", axis=-1),
            node("Conv", ["a", "k"], "z"),
        ],
        IMAGE,
        {"x": {"a"}, "a": {"z"}},
    ),
    "a function that is written as several nodes": (
        [node("Conv", ["x", "k"], "a"), *hard_swish("a", "h"), node("Conv", ["h", "k"], "y")],
        IMAGE,
        {"x": {"a"}, "h": EVERYONE},
    ),
    "a function behind ops that move": (
        [
            node("Conv", ["x", "k"], "a"),
            node("Transpose", ["a"], "p", perm=[0, 1, 3, 2]),
            *hard_swish("p", "h"),
            node("Conv", ["h", "k"], "y"),
        ],
        IMAGE,
        {"x": {"a"}, "h": EVERYONE},
    ),
    "elementwise functions of what is in float32": (
        [norm("x", "n"), node("Mul", ["n", "half"], "m"), node("Exp", ["m"], "y")],
        ROWS,
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_tensors_that_become_integers(name):
    nodes, shape, wanted = CASES[name]
    outputs = [n.output[0] for n in nodes if n.output[0] in ("y", "z")]
    assert chosen(nodes, shape, outputs) == wanted


def test_short_functions_behind_depthwise_kernels_are_tables():
    """Those kernels look results up, but compute expressions in a pass over their sums."""
    last = [node("Conv", ["h", "k"], "y")]
    plain = [node("Conv", ["x", "k"], "a"), *hard_swish("a", "h"), *last]
    depthwise = [node("Conv", ["x", "each"], "a", group=16), *hard_swish("a", "h"), *last]
    assert "a" not in chosen(plain, IMAGE, ["y"])
    assert chosen(depthwise, IMAGE, ["y"])["a"] is EVERYONE


def test_who_is_not_named_reads_the_numbers():
    nodes, shape, _ = CASES["a norm, read by a product and as a residual"]
    feed = {"x": RNG.standard_normal(shape).astype(np.float32)}
    net = make_net(nodes, feed, ["y"], CONSTANTS, calibrate=[feed])
    reads = {n.name: n.inputs for n in net.network.nodes}
    assert reads["a"][0] == "n.dequantized" and reads["y"] == ("c", "n")
    exact = make_net(nodes, feed, ["y"], CONSTANTS).run(feed)["y"]
    got = net.run(feed)["y"]
    assert np.linalg.norm(got - exact) < 0.02 * np.linalg.norm(exact)


def test_arguments_far_from_the_bend_of_a_function_leave_its_results_their_steps():
    rng = np.random.default_rng(1)
    low = np.linspace(-40, 0, 16, dtype=np.float32)
    constants = {**CONSTANTS, "low": low}
    nodes = [
        node("Conv", ["x", "k", "low"], "a"),
        *hard_swish("a", "h"),
        node("Conv", ["h", "k"], "y"),
    ]
    feed = {"x": rng.standard_normal(IMAGE).astype(np.float32)}
    exact = make_net(nodes, feed, ["y"], constants).run(feed)["y"]
    got = make_net(nodes, feed, ["y"], constants, calibrate=[feed]).run(feed)["y"]
    assert np.linalg.norm(got - exact) < 0.02 * np.linalg.norm(exact)


MOVES = {
    "Split": [helper.make_node("Split", ["a"], ["l", "r"], "m", axis=2, num_outputs=2)],
    "Gather": [node("Gather", ["a", "last"], n, axis=2) for n in "lr"],
    "Gather by an input": [node("Gather", ["a", "i"], n, axis=2) for n in "lr"],
    "Expand": [node("Expand", ["a", "twice"], n) for n in "lr"],
    "Tile": [node("Tile", ["a", "ones4"], n) for n in "lr"],
    "SpaceToDepth": [node("SpaceToDepth", ["a"], n, blocksize=2) for n in "lr"],
}


@pytest.mark.parametrize("name", MOVES)
def test_all_results_of_moves_have_the_scale_of_the_source(name):
    constants = {**CONSTANTS, "last": np.array([3, 1]), "twice": np.array([2, 1, 1, 1])}
    constants |= {"ones4": np.ones(4, np.int64), "k4": weights(16, 64, 1, 1)}
    kernel = "k4" if name == "SpaceToDepth" else "k"
    nodes = [
        node("Conv", ["x", "k"], "a"),
        *MOVES[name],
        node("Conv", ["l", kernel], "y"),
        node("Conv", ["r", kernel], "z"),
    ]
    feed = {"x": RNG.standard_normal(IMAGE).astype(np.float32)}
    if "input" in name:
        feed["i"] = np.array([2, 0])
    net = make_net(nodes, feed, ["y", "z"], constants, calibrate=[feed])
    assert str(net.products) == "int8 in 3 of 3 products"
    scales = [net.network.constants[f"{tensor}.scale"] for tensor in "alr"]
    assert scales[0] == scales[1] == scales[2]
    net.run(feed)
    quantizing = [step for step in net.plan().steps if step.algorithm == "quantize"]
    assert len(quantizing) == 1  # of x


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
def test_what_is_pooled_from_numbers_is_not_rounded_by_a_step_of_its_own(op):
    """A sum reads it: it takes numbers as well. What is pooled from integers is integers."""
    pool = node(op, ["n"], "p", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    tail = [node("Add", ["p", "a"], "s"), node("Relu", ["s"], "t"), node("Conv", ["t", "k"], "y")]
    norm_of = node("InstanceNormalization", ["a", "ones", "zeros"], "n")
    start = node("Conv", ["x", "k"], "a")
    found = chosen([start, norm_of, pool, *tail], IMAGE, ["y"])
    assert "p" not in found and found["t"] is None
    found = chosen([start, node("Relu", ["a"], "n"), pool, *tail], IMAGE, ["y"])
    assert found["p"] is None and found["n"] is None


# Convolutions of a network in int8 that stay in float32 as they are faster.

COSTS_RNG = np.random.default_rng(9)
COSTS_CONSTANTS = {
    "k1": COSTS_RNG.standard_normal((16, 3, 3, 3)).astype(np.float32),
    "k2": COSTS_RNG.standard_normal((16, 16, 3, 3)).astype(np.float32) / 12,
    "k3": COSTS_RNG.standard_normal((8, 16, 1, 1)).astype(np.float32) / 4,
    "gain": COSTS_RNG.uniform(0.5, 2, 16).astype(np.float32),
    "shift": COSTS_RNG.standard_normal(16).astype(np.float32),
}
# Only a and c read tensors that are in float32 anyway: the input, and the result of a norm.
NODES = [
    node("Conv", ["x", "k1"], "a", pads=[1, 1, 1, 1]),
    node("Relu", ["a"], "ra"),
    node("Conv", ["ra", "k2"], "b", pads=[1, 1, 1, 1]),
    node("InstanceNormalization", ["b", "gain", "shift"], "n"),
    node("Conv", ["n", "k2"], "c", pads=[1, 1, 1, 1]),
    node("Relu", ["c"], "rc"),
    node("Conv", ["rc", "k3"], "y"),
]
FEED = {"x": COSTS_RNG.standard_normal((1, 3, 20, 20), np.float32)}


def in_int8(net):
    """The names of the convolutions that read integers."""
    nodes = net.network.nodes
    return {n.name for n in nodes if n.op == "Conv" and "dequantized" in n.inputs[0]}


@pytest.fixture
def cost_of(monkeypatch):
    """Sets the cost of a convolution, a function of the dtype and the number of inputs."""

    def install(cost):
        def packed_cost(packed, pixels):
            assert pixels == (1, 20, 20, packed.in_channels)
            return cost(packed.dtype.name, packed.in_channels)

        monkeypatch.setattr(costs, "_cost", packed_cost)

    return install


@pytest.mark.parametrize("cheaper", ["int8", "float32"])
def test_the_cheaper_form_is_taken_where_both_are_at_hand(cost_of, cheaper):
    cost_of(lambda dtype, _: 0 if dtype == cheaper else 1e6)
    net = make_net(NODES, FEED, ["y"], COSTS_CONSTANTS, calibrate=[FEED])
    assert in_int8(net) == ({"a", "b", "c", "y"} if cheaper == "int8" else {"b", "y"})
    exact = make_net(NODES, FEED, ["y"], COSTS_CONSTANTS).run(FEED)["y"]
    assert relative_error(net.run(FEED)["y"], exact) < 0.03
    if cheaper == "float32":  # what it computes is integers, by the convolution itself
        steps = [set(step.nodes) for step in net.plan().steps]
        assert any({"a", "ra", "ra.quantized"} <= names for names in steps)
        rounded = {n.inputs[0] for n in net.network.nodes if n.op == "QuantizeLinear"}
        assert {"ra", "rc"} <= rounded and "x" not in rounded


def test_the_rounding_counts_and_little_does_not(cost_of):
    pixels = FEED["x"].size
    for gained, stays in ((costs.LEAST - pixels - 9, False), (costs.LEAST - pixels + 9, True)):
        cost_of(lambda dtype, inputs, g=gained: g if (dtype, inputs) == ("int8", 3) else 0)
        net = make_net(NODES, FEED, ["y"], COSTS_CONSTANTS, calibrate=[FEED])
        assert ("a" not in in_int8(net)) is stays


def test_nodes_of_a_wanted_accuracy_stay_in_float32_besides(cost_of):
    cost_of(lambda dtype, inputs: 1e6 if (dtype, inputs) == ("int8", 3) else 0)
    options = {"calibrate": [FEED], "accuracy": 0.99995}
    net = make_net(NODES, FEED, ["y"], COSTS_CONSTANTS, **options)
    assert net.kept.agreement >= 0.99995 and "a" not in in_int8(net)
    assert "a" not in [each.name for each in net.kept.nodes]
    net = make_net(NODES, FEED, ["y"], COSTS_CONSTANTS, calibrate=[FEED], higher_precision=["b"])
    assert in_int8(net) == {"c", "y"}


# Weights that DequantizeLinear makes of integers: products take these, however many scales.

SHAPES = {"Conv": (16, 3, 3, 3), "MatMul": (8, 16), "Gemm": (8, 16)}
AXES = {"Conv": 0, "MatMul": 1, "Gemm": 1}


def quantized_file(path, op, scales, signed):
    """Write QuantizeLinear, DequantizeLinear, op, QuantizeLinear, DequantizeLinear.

    Only scales in a vector name their axis, as in files of onnxruntime's tools.
    """
    rng = np.random.default_rng(3)
    shape, axis = SHAPES[op], AXES[op]
    kind = np.int8 if signed else np.uint8
    size = {"one": (), "one in a vector": (1,), "each": (shape[axis],)}[scales]
    arrays = {
        "w": rng.integers(*((-WIDEST, WIDEST + 1) if signed else (0, 256)), shape).astype(kind),
        "ws": np.full(size, 0.01, np.float32),
        "wz": np.full(size, 0 if signed else 128, kind),
        "xs": np.array(0.03, np.float32),
        "xz": np.array(128, np.uint8),
        "ys": np.array(0.05, np.float32),
        "yz": np.array(120, np.uint8),
    }
    along = {} if scales == "one" else {"axis": axis}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], **along),
        helper.make_node(op, ["xd", "wd"], ["c"], **({"pads": [1] * 4} if op == "Conv" else {})),
        helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["cq"]),
        helper.make_node("DequantizeLinear", ["cq", "ys", "yz"], ["y"]),
    ]
    given = (1, 3, 9, 7) if op == "Conv" else (5, 8)
    onnx.save(make_model(nodes, {"x": (np.float32, given)}, ["y"], arrays, opset=17), path)
    return rng.standard_normal(given).astype(np.float32)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("scales", ["one", "one in a vector", "each"])
@pytest.mark.parametrize("op", list(SHAPES))
def test_products_take_the_integers_however_many_scales_there_are(tmp_path, op, scales, signed):
    path = tmp_path / "m.onnx"
    x = quantized_file(path, op, scales, signed)
    net = fbg.load(path)
    found = net.run({"x": x})["y"]
    assert "fp32" not in str(net.plan()) and "int32" in str(net.plan())
    if scales != "one in a vector":  # which ONNX allows only with an axis, and onnxruntime refuses
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        assert np.abs(found - session.run(None, {"x": x})[0]).max() <= 0.05 * 1.001
