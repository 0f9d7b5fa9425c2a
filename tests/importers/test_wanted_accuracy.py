"""`accuracy=`: which nodes of a network stay in float32; feeds that calibrate."""

import math
import re

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
from fbg.importers.int8.agreement import cosine as cosine_of
from helpers.commands import invoke
from helpers.onnx_models import make_model, make_net, node

# `accuracy=`: which nodes of a network stay in float32 so that its outputs agree with float32.

RNG = np.random.default_rng(5)
WIDE = np.geomspace(0.02, 20, 16, dtype=np.float32)  # ranges of channels that no scale suits


def kernel(outputs, inputs, size=1):
    w = RNG.standard_normal((outputs, inputs, size, size)) / np.sqrt(inputs * size**2)
    return w.astype(np.float32)


# The channels of b differ in range, and c multiplies all up to one: c needs float32, as channels
# are not equalized across a pooling.
CONSTANTS = {
    "k1": kernel(16, 3, 3),
    "wide": kernel(16, 16) * WIDE[:, None, None, None],
    "narrow": kernel(16, 16) / WIDE[None, :, None, None],
    "k3": kernel(16, 16, 3),
    "k4": kernel(16, 16),
    "m": kernel(10, 16)[:, :, 0, 0].T.copy(),
    "bias": np.zeros(10, np.float32),
}
NODES = [
    node("Conv", ["x", "k1"], "a", pads=[1, 1, 1, 1]),
    node("Relu", ["a"], "ra"),
    node("Conv", ["ra", "wide"], "b"),
    node("Relu", ["b"], "rb"),
    node("MaxPool", ["rb"], "pb", kernel_shape=[1, 1]),
    node("Conv", ["pb", "narrow"], "c"),
    node("Relu", ["c"], "rc"),
    node("Conv", ["rc", "k3"], "d", pads=[1, 1, 1, 1]),
    node("Relu", ["d"], "rd"),
    node("Conv", ["rd", "k4"], "e"),
    node("Add", ["e", "rd"], "f"),
    node("GlobalAveragePool", ["f"], "g"),
    node("Flatten", ["g"], "h"),
    node("Gemm", ["h", "m", "bias"], "logits"),
]
FEEDS = [{"x": RNG.standard_normal((2, 3, 12, 12), np.float32)} for _ in range(3)]
OTHER = {"x": np.random.default_rng(6).standard_normal((2, 3, 12, 12), np.float32)}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("nets") / "net.onnx"
    onnx.save(make_model(NODES, FEEDS[0], ["logits"], CONSTANTS), path)
    return str(path)


def load(file, **more):
    return fbg.load(file, dtype="int8", calibrate=FEEDS, **more)


def agreement(net, exact, feeds=FEEDS):
    """The least of the mean cosine and of the share of equal classes."""
    pairs = [(net.run(feed)["logits"], exact.run(feed)["logits"]) for feed in feeds]
    same = [(y.argmax(-1) == w.argmax(-1)).mean() for y, w in pairs]
    return min(np.mean([cosine_of(y, w) for y, w in pairs]), np.mean(same))


@pytest.mark.filterwarnings("ignore:.*differ by")
def test_the_node_that_loses_most_stays_in_float32(file):
    exact, full = fbg.load(file), {"narrow_weights": False}
    whole, net = load(file, **full), load(file, accuracy=0.999, **full)
    assert whole.kept is None
    kept = net.kept
    assert kept.accuracy == 0.999 and kept.all_int8 == pytest.approx(agreement(whole, exact))
    assert kept.all_int8 < 0.998
    assert 0.999 <= kept.agreement == pytest.approx(agreement(net, exact))
    assert [each.name for each in kept.nodes] == ["c"]
    assert net.products.int8 == whole.products.int8 - 1
    assert agreement(net, exact, [OTHER]) > 0.99
    (only,) = kept.nodes
    assert only.op == "Conv" and only.error > 0.05 and only.seconds > 0 and 0 < kept.share < 1
    said = rf"agreement {kept.agreement:.4f}, wanted 0.999; {kept.all_int8:.4f} if all is in int8\n"
    said += r"1 node in float32, \d+\.\d% of the modelled time in float32:\n  c \(Conv\): error "
    assert re.match(said, str(kept))


def test_channels_are_equalized_where_that_suffices():
    nodes = [n for n in NODES if n.op_type != "MaxPool"]
    nodes[4] = node("Conv", ["rb", "narrow"], "c")
    net = make_net(nodes, FEEDS[0], ["logits"], CONSTANTS, calibrate=FEEDS, accuracy=0.999)
    assert net.kept.equalized and net.kept.nodes == ()
    assert net.kept.agreement >= 0.999 and net.products.int8 == 6
    assert "wanted 0.999, channels equalized: no node stays" in str(net.kept)


def test_nothing_stays_in_float32_where_nothing_has_to(file):
    net = load(file, accuracy=0.9)
    assert net.kept.nodes == () and net.kept.share == 0
    assert net.kept.agreement == net.kept.all_int8 > 0.9
    assert str(net.kept).endswith("no node stays in float32")
    want = load(file).run(OTHER)["logits"]
    assert net.run(OTHER)["logits"].tobytes() == want.tobytes()


def test_nodes_that_were_named_stay_in_float32_besides(file):
    net = load(file, accuracy=0.999, higher_precision=["d"])
    assert net.kept.agreement >= 0.999
    assert "d" not in [each.name for each in net.kept.nodes]
    assert net.products.int8 <= 4


def test_a_sum_may_stay_in_float32_while_products_read_its_integers():
    """The residual is so large that its steps take what the products add to it."""
    nodes = [
        node("Conv", ["x", "k1"], "a", pads=[1, 1, 1, 1]),
        node("Mul", ["a", "hundred"], "big"),
        node("Conv", ["big", "small"], "b"),
        node("Relu", ["b"], "positive"),
        node("Add", ["positive", "big"], "s"),
        node("Sub", ["s", "big"], "t"),
        node("Conv", ["t", "k4"], "y"),
    ]
    constants = CONSTANTS | {"hundred": np.float32(100), "small": kernel(16, 16) / 50}
    net = make_net(nodes, FEEDS[0], ["y"], constants, calibrate=FEEDS, accuracy=0.98)
    ops = {each.op for each in net.kept.nodes}
    assert "Conv" not in ops and ops & {"Add", "Sub"}
    assert net.products.int8 == net.products.all == 3


def test_outputs_that_follow_from_integers_are_compared():
    rng = np.random.default_rng(8)
    constants = {"t": rng.standard_normal((50, 16), np.float32), "w": kernel(16, 16)[:, :, 0, 0]}
    nodes = [
        node("Gather", ["t", "ids"], "e"),
        node("MatMul", ["e", "w"], "a"),
        node("Tanh", ["a"], "b"),
        node("MatMul", ["b", "w"], "y"),
    ]
    feeds = [{"ids": rng.integers(0, 50, (2, 7))} for _ in range(3)]
    net = make_net(nodes, feeds[0], ["y"], constants, calibrate=feeds, accuracy=0.99)
    assert 0.99 < net.kept.agreement < 1
    assert 0 < net.int8_error < 0.05


def test_equal_integers_count_where_the_network_ends_with_them():
    nodes = [*NODES, node("ArgMax", ["logits"], "class", axis=1, keepdims=0)]
    net = make_net(nodes, FEEDS[0], ["class"], CONSTANTS, calibrate=FEEDS, accuracy=1.0)
    exact = make_net(nodes, FEEDS[0], ["class"], CONSTANTS)
    for feed in FEEDS:
        assert (net.run(feed)["class"] == exact.run(feed)["class"]).all()
    assert net.kept.agreement == 1


def test_the_saved_network_tells_the_same(file, tmp_path):
    net = load(file, accuracy=0.999)
    net.save(tmp_path / "saved")
    loaded = fbg.load(tmp_path / "saved")
    assert loaded.kept == net.kept
    assert loaded.run(OTHER)["logits"].tobytes() == net.run(OTHER)["logits"].tobytes()
    load(file).save(tmp_path / "plain")
    assert fbg.load(tmp_path / "plain").kept is None


def test_the_command_tells_which_nodes_stay(file, tmp_path):
    np.savez(tmp_path / "x.npz", x=np.stack([feed["x"] for feed in FEEDS]))
    wanted = ("--calibrate", tmp_path / "x.npz", "--accuracy", "0.999")
    result = invoke("quantize", file, tmp_path / "out", *wanted)
    assert result.exit_code == 0, result.output
    assert str(fbg.load(tmp_path / "out").kept) in result.stderr
    result = invoke("quantize", file, tmp_path / "new", "--dtype", "float32", "--accuracy", "1")
    assert result.exit_code != 0 and "accuracy" in result.stderr


@pytest.mark.parametrize("value", [0, -0.5, 1.0001, math.nan, math.inf])
def test_an_accuracy_out_of_range_is_refused(file, value):
    with pytest.raises(ValueError, match=r"load: accuracy must be in \(0, 1\], got"):
        load(file, accuracy=value)


@pytest.mark.parametrize("value", ["0.9", [0.9], object()])
def test_an_accuracy_that_is_no_number_is_refused(file, value):
    with pytest.raises(TypeError, match="load: accuracy must be a number"):
        load(file, accuracy=value)


def test_accuracy_requires_int8(file):
    with pytest.raises(ValueError, match="load: accuracy of an ONNX file requires dtype='int8'"):
        fbg.load(file, accuracy=0.9)


def test_what_int8_cannot_reach_is_an_error(file):
    with pytest.raises(ValueError, match=r"load: accuracy=1 cannot be reached in int8: the agree"):
        load(file, accuracy=1)


def test_outputs_that_cannot_be_compared_are_an_error():
    nodes = [
        node("Conv", ["x", "k1"], "a"),
        node("Relu", ["a"], "r"),
        node("NonZero", ["r"], "y"),
    ]
    with pytest.raises(ValueError, match="load: accuracy: no output of the network can be compar"):
        make_net(nodes, FEEDS[0], ["y"], CONSTANTS, calibrate=FEEDS, accuracy=0.9)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), spread=st.floats(0, 4), accuracy=st.floats(0.9, 0.9999))
def test_what_is_told_holds(seed, spread, accuracy):
    rng = np.random.default_rng(seed)
    scales = np.exp(spread * rng.standard_normal(16)).astype(np.float32)[:, None, None, None]
    constants = CONSTANTS | {"k1": CONSTANTS["k1"] * scales, "k4": CONSTANTS["k4"] * scales}
    exact = make_net(NODES, FEEDS[0], ["logits"], constants)
    try:
        net = make_net(NODES, FEEDS[0], ["logits"], constants, calibrate=FEEDS, accuracy=accuracy)
    except ValueError as error:
        assert "cannot be reached in int8" in str(error)
        return
    assert net.products.int8 > 0
    assert net.kept.agreement >= accuracy
    assert net.kept.agreement == pytest.approx(agreement(net, exact), abs=1e-6)


# What calibration takes: one item for each run, and a hint where an array has another meaning.

IMAGES = np.random.default_rng(1).standard_normal((4, 3, 6, 7)).astype(np.float32)


def write(path, batch, inputs=1):
    """Write a convolution of images, which are added up if there are several inputs."""
    weights = np.random.default_rng(0).standard_normal((8, 3, 3, 3)).astype(np.float32)
    names = [f"x{n}" for n in range(inputs)]
    nodes = [helper.make_node("Sum", names, ["s"]), helper.make_node("Conv", ["s", "w"], ["y"])]
    given = dict.fromkeys(names, (np.float32, (batch, 3, 6, 7)))
    onnx.save(make_model(nodes, given, ["y"], {"w": weights}, opset=17), path)
    return path


@pytest.mark.parametrize("batch", [1, "n"])
def test_an_array_of_images_is_told_that_its_first_axis_counts_runs(batch, tmp_path):
    path = write(tmp_path / "net.onnx", batch)
    with pytest.raises(ValueError, match=r"counts runs") as caught:
        fbg.load(path, dtype="int8", calibrate=IMAGES)
    message = str(caught.value)
    assert message.startswith(f"calibrate[0]: input 'x0' must be float32({batch}, 3, 6, 7)")
    assert f"must have shape (runs, {batch}, 3, 6, 7), got (4, 3, 6, 7)" in message
    assert message.endswith("pass calibrate[:, None]")
    wanted = fbg.load(path, dtype="int8", calibrate=[image[None] for image in IMAGES])
    loaded = fbg.load(path, dtype="int8", calibrate=IMAGES[:, None])
    assert np.array_equal(loaded(IMAGES[:1]), wanted(IMAGES[:1]))


def test_a_list_names_the_item_that_does_not_fit(tmp_path):
    path = write(tmp_path / "net.onnx", 1)
    given = [IMAGES[:1], IMAGES[0]]
    with pytest.raises(ValueError, match=r"calibrate\[1\].*got shape \(3, 6, 7\).*counts runs"):
        fbg.load(path, dtype="int8", calibrate=given)


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"y": IMAGES[:1]}, ValueError, "there is no input 'y'; inputs are x0"),
        ({}, ValueError, "input 'x0' is missing"),
        (IMAGES[:1].astype(np.float64), TypeError, "input 'x0' must be float32, got float64"),
        ({"x0": IMAGES[0]}, ValueError, r"input 'x0' must be .*, got shape \(3, 6, 7\)"),
        ([[1.0]], TypeError, "input 'x0' must be an array, got list"),
        (IMAGES[:1] * np.float32(np.nan), ValueError, "tensor 's': .*got nan"),
    ],
)
def test_mistakes_name_the_run(wrong, error, said, tmp_path):
    path = write(tmp_path / "net.onnx", 1)
    with pytest.raises(error, match=rf"^calibrate\[1\]: {said}"):
        fbg.load(path, dtype="int8", calibrate=[IMAGES[:1], wrong])


@pytest.mark.parametrize("given", [{"x0": IMAGES}, "images.npz", b"x", 5])
def test_what_holds_no_runs_is_refused(given, tmp_path):
    path = write(tmp_path / "net.onnx", 1)
    with pytest.raises(
        TypeError, match="calibrate must hold the inputs of one run after the other"
    ):
        fbg.load(path, dtype="int8", calibrate=given)


def test_several_inputs_are_given_by_name(tmp_path):
    path = write(tmp_path / "net.onnx", 1, inputs=2)
    with pytest.raises(TypeError, match="mappings by name: the network has several inputs"):
        fbg.load(path, dtype="int8", calibrate=IMAGES[:, None])


EMPTY = IMAGES[:0]


@pytest.mark.parametrize("options", [{}, {"equalize": True}, {"accuracy": 0.9}])
@pytest.mark.parametrize("feeds", [[EMPTY, IMAGES], [EMPTY, EMPTY, IMAGES], [IMAGES, EMPTY]])
def test_a_feed_without_elements_shows_nothing(feeds, options, tmp_path):
    """A batch of no images, such as the rest of a data set, changes no scale."""
    path = write(tmp_path / "net.onnx", "n")
    net = fbg.load(path, dtype="int8", calibrate=feeds, **options)
    wanted = fbg.load(path, dtype="int8", calibrate=[IMAGES], **options)
    assert str(net.products) == "int8 in 1 of 1 product"
    assert np.array_equal(net(IMAGES), wanted(IMAGES))


def test_feeds_that_are_all_empty_are_refused(tmp_path):
    path = write(tmp_path / "net.onnx", "n")
    with pytest.raises(ValueError, match=r"^calibrate: must hold a feed whose outputs have el"):
        fbg.load(path, dtype="int8", calibrate=[EMPTY, EMPTY])


def test_the_number_of_a_feed_counts_those_without_elements(tmp_path):
    path = write(tmp_path / "net.onnx", "n")
    feeds = [EMPTY, IMAGES, IMAGES * np.float32(np.nan)]
    with pytest.raises(ValueError, match=r"^calibrate\[2\]: tensor"):
        fbg.load(path, dtype="int8", calibrate=feeds)


def test_a_tensor_that_is_always_empty_stays_in_float32(tmp_path):
    """Such as the cache of a decoder before its first token."""
    nodes = [
        helper.make_node("Concat", ["past", "x"], ["all"], axis=0),
        helper.make_node("MatMul", ["all", "w"], ["y"]),
        helper.make_node("MatMul", ["past", "w"], ["z"]),
    ]
    w = np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)
    given = {"past": (np.float32, ("p", 8)), "x": (np.float32, ("n", 8))}
    onnx.save(make_model(nodes, given, ["y", "z"], {"w": w}, opset=17), tmp_path / "net.onnx")
    x = np.random.default_rng(1).standard_normal((5, 8)).astype(np.float32)
    feed = {"past": x[:0], "x": x}
    net = fbg.load(tmp_path / "net.onnx", dtype="int8", calibrate=[feed])
    y = net.run(feed)
    assert y["z"].shape == (0, 4)
    np.testing.assert_allclose(y["y"], x @ w, atol=0.1)
    np.testing.assert_allclose(net.run({"past": x, "x": x})["z"], x @ w, atol=0.1)
