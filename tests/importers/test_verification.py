"""Networks that calibration has quantized are compared with float32 on the first feed."""

import re

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from helpers.onnx_models import make_model, make_net, node

RNG = np.random.default_rng(0)
FEED = {"x": RNG.standard_normal((2, 4, 16, 16), np.float32)}
WEIGHTS = {
    "w1": RNG.standard_normal((8, 4, 3, 3), np.float32) / 6,
    "w2": RNG.standard_normal((8, 8, 3, 3), np.float32) / 8,
    "w3": RNG.standard_normal((4, 8, 1, 1), np.float32) / 3,
    "pads": np.array([0, 0, 3, 3, 0, 0, 3, 3]),
    "zero": np.float32(0),
    "one": np.array([3]),
}


def int8_error(nodes, output, **more):
    """The error of int8, as the ratio of the lengths of vectors, and the network."""
    exact = make_net(nodes, FEED, [output], WEIGHTS | more).run(FEED)[output]
    net = make_net(nodes, FEED, [output], WEIGHTS | more, calibrate=[FEED])
    return np.linalg.norm(net.run(FEED)[output] - exact) / np.linalg.norm(exact), net


def rounded(net):
    """The tensors that are quantized."""
    return {n.inputs[0] for n in net.network.nodes if n.op == "QuantizeLinear"}


@pytest.mark.parametrize("fill", [-1e3, -1e4, -1e9, -1e30])
@pytest.mark.parametrize("mixing", ["Conv", "AveragePool"])
@pytest.mark.parametrize("function", ["Tanh", "Sigmoid", "HardSwish", "LeakyRelu"])
def test_what_mixes_data_with_a_fill_does_not_lose_the_data(function, mixing, fill):
    kernel = {"pads": [1, 1, 1, 1]} if mixing == "Conv" else {"kernel_shape": [3, 3]}
    nodes = [
        node("Conv", ["x", "w1"], "a"),
        node("Tanh", ["a"], "b"),
        node("Pad", ["b", "pads", "fill"], "c"),
        node(mixing, ["c", "w2"][: 2 if mixing == "Conv" else 1], "d", **kernel),
        node(function, ["d"], "e"),
        node("Sigmoid", ["e"], "f"),
        node("Conv", ["f", "w3"], "y"),
    ]
    constants = WEIGHTS | {"fill": np.float32(fill)}
    exact = make_net(nodes, FEED, ["y"], constants).run(FEED)["y"]
    net = make_net(nodes, FEED, ["y"], constants, calibrate=[FEED], narrow_weights=False)
    inside = np.s_[:, :, 5:-5, 5:-5]  # which no fill has reached
    wanted, got = exact[inside], net.run(FEED)["y"][inside]
    spread = wanted - wanted.mean(axis=(0, 2, 3), keepdims=True)
    assert np.linalg.norm(got - wanted) < 0.1 * np.linalg.norm(spread)
    assert "x" in rounded(net)


def test_a_network_that_is_close_is_quantized_wholly():
    nodes = [
        node("Conv", ["x", "w1"], "a"),
        node("Relu", ["a"], "b"),
        node("Conv", ["b", "w2"], "y"),
    ]
    error, net = int8_error(nodes, "y")
    assert error < 0.02
    assert net.int8_error == pytest.approx(error)
    assert rounded(net) == {"x", "b"}
    assert make_net(nodes, FEED, ["y"], WEIGHTS).int8_error is None


def coarse(*ending):
    """A network with a tensor of which few values are large; the others decide the result."""
    return [
        node("Mul", ["x", "scales"], "a"),
        node("Conv", ["a", "w1"], "b"),
        node("Tanh", ["b"], "c"),
        node("Conv", ["c", "w2"], "y"),
        *ending,
    ]


# Half as many are twice as large, which leaves no gap.
SCALES = (0.1 / RNG.uniform(1e-4, 1, (1, 4, 16, 16))).astype(np.float32)


def test_the_coarsest_tensors_stay_in_float32():
    error, net = int8_error(coarse(), "y", scales=SCALES)
    assert error < 0.15
    assert net.int8_error == pytest.approx(error)
    assert rounded(net) == {"b", "c"}


def test_errors_that_add_up_leave_all_in_integers():
    """Of many tensors, none is the cause of the error: a few in float32 change little."""
    rng = np.random.default_rng(5)
    nodes, last = [], "x"
    for i in range(24):
        nodes += [node("Conv", [last, f"k{i}"], f"a{i}"), node("Tanh", [f"a{i}"], f"b{i}")]
        last = f"b{i}"
    nodes.append(node("Conv", [last, "k0"], "y"))
    weights = {f"k{i}": rng.normal(0, 1.5, (4, 4, 1, 1)).astype(np.float32) for i in range(24)}
    error, net = int8_error(nodes, "y", **weights)
    assert error > 0.15 and len(rounded(net)) == 49


@pytest.mark.parametrize(
    "ending",
    [
        [node("Greater", ["y", "zero"], "p"), node("Where", ["p", "y", "zero"], "z")],
        [
            helper.make_node("TopK", ["y", "one"], ["values", "places"], "top", axis=1),
            node("Cast", ["places"], "z", to=1),
        ],
    ],
)
def test_outputs_that_jump_do_not_count(ending):
    _, net = int8_error(coarse(*ending), "z", scales=SCALES)
    assert rounded(net) >= {"a", "c"}
    assert net.int8_error is None


def test_an_error_that_remains_is_told(tmp_path):
    nodes, outputs = [], [f"y{i}" for i in range(8)]
    for i, y in enumerate(outputs):  # each the small difference of two large results
        nodes += [
            node("Mul", ["x", f"s{i}"], f"a{i}"),
            node("Conv", [f"a{i}", "w1"], f"b{i}"),
            node("Conv", [f"a{i}", "w4"], f"c{i}"),
            node("Relu", [f"b{i}"], f"positive_b{i}"),
            node("Relu", [f"c{i}"], f"positive_c{i}"),
            node("Sub", [f"positive_b{i}", f"positive_c{i}"], y),
        ]
    more = {f"s{i}": np.float32(i + 1) for i in range(8)}
    more["w4"] = WEIGHTS["w1"] + RNG.standard_normal(WEIGHTS["w1"].shape, np.float32) / 2000
    path = tmp_path / "net.onnx"
    onnx.save(make_model(nodes, FEED, outputs, WEIGHTS | more), str(path))
    said = "differ by .* % from those in float32: fbg compare .* --sensitivity proposes which nodes"
    with pytest.warns(UserWarning, match=said) as warned:
        net = fbg.load(path, dtype="int8", calibrate=[FEED])
    assert [warning.filename for warning in warned] == [__file__]
    exact, got = fbg.load(path).run(FEED), net.run(FEED)
    errors = [np.linalg.norm(got[y] - exact[y]) / np.linalg.norm(exact[y]) for y in outputs]
    assert net.int8_error == pytest.approx(max(errors))
    percent = float(re.search(r"by (\S+) %", str(warned[0].message))[1])
    assert percent == pytest.approx(100 * max(errors), rel=0.06)
