"""Constants that the integers of a quantized tensor cannot hold, and fills that are not data."""

import numpy as np
import pytest
from onnx import helper

from fbg.graph.graph import Graph
from fbg.graph.lower.tensors import TensorLowering
from fbg.graph.ops.tensors import Dequantize, TensorInput
from fbg.importers.int8.fills import Magnitudes
from fbg.importers.ops.registry import OPS
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime

HUGE = float(np.finfo(np.float32).max)
FILLS = [0.0, -0.0, -64.0, -64.5, 0.25, 63.5, 64.0, -100.0, 1e4, -1e9, -HUGE, HUGE]
FILLS += [-np.inf, np.inf]


def quantized(x, scale, point):
    """Nodes that round x to integers and stand for them, as x.d; their constants."""
    names = [f"{x}.s", f"{x}.z"]
    nodes = [
        node("QuantizeLinear", [x, *names], f"{x}.q"),
        node("DequantizeLinear", [f"{x}.q", *names], f"{x}.d"),
    ]
    return nodes, {names[0]: np.float32(scale), names[1]: point}


def both(nodes, feed, output, constants, dtype=np.float32):
    """Results of fbg, which may leave ops to onnxruntime, and of that alone."""
    net = make_net(nodes, feed, [output], constants, backends=("fbg", "onnxruntime"))
    model = make_model(nodes, feed, [output], constants)
    model.graph.output[0].type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(
        np.dtype(dtype)
    )
    return net.run(feed)[output], plain_onnxruntime(model, feed)[0]


@pytest.mark.parametrize("fill", [*FILLS, np.nan])
@pytest.mark.parametrize("point", [np.uint8(128), np.uint8(0), np.int8(127), np.int8(-128)])
def test_padding_of_quantized_tensors_has_any_fill(fill, point):
    nodes, constants = quantized("x", 0.5, point)
    nodes.append(node("Pad", ["x.d", "pads", "fill"], "y"))
    constants |= {"pads": np.array([0, 1, 0, 2]), "fill": np.float32(fill)}
    feed = {"x": np.arange(-8, 8, dtype=np.float32).reshape(2, 8) * 20}
    np.testing.assert_array_equal(*both(nodes, feed, "y", constants))


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("then", ["MaxPool", "QuantizeLinear", "Relu", "Concat"])
def test_what_follows_padding_reads_the_fill(fill, then):
    nodes, constants = quantized("x", 0.5, np.uint8(100))
    nodes.append(node("Pad", ["x.d", "pads", "fill"], "p"))
    more = {
        "MaxPool": (["p"], {"kernel_shape": [3, 3], "strides": [2, 2]}),
        "QuantizeLinear": (["p", "x.s", "x.z"], {}),
        "Relu": (["p"], {}),
        "Concat": (["p", "p"], {"axis": 1}),
    }
    inputs, attributes = more[then]
    nodes.append(node(then, inputs, "y", **attributes))
    pads = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    constants |= {"pads": pads, "fill": np.float32(fill)}
    feed = {"x": np.arange(-16, 16, dtype=np.float32).reshape(1, 2, 4, 4)}
    dtype = np.uint8 if then == "QuantizeLinear" else np.float32
    np.testing.assert_array_equal(*both(nodes, feed, "y", constants, dtype))


@pytest.mark.parametrize("fill", [0.0, 3.5, -100.0, 1e4, -HUGE])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_crops_beyond_quantized_tensors_have_any_fill(fill, mode):
    nodes, constants = quantized("x", 0.5, np.uint8(100))
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": fill}
    nodes.append(node("Resize", ["x.d", "roi", "", "sizes"], "y", mode=mode, **crop))
    constants |= {"roi": np.float32([0, 0, -1, -1, 1, 1, 2, 2]), "sizes": np.array([1, 2, 10, 10])}
    feed = {"x": np.arange(-16, 16, dtype=np.float32).reshape(1, 2, 4, 4)}
    np.testing.assert_array_equal(*both(nodes, feed, "y", constants))


def test_numbers_are_held_bit_for_bit_or_not_at_all():
    integers = Graph().add(TensorInput("x", (1,), "uint8"))
    q = Dequantize(integers, float(np.float32(0.1)), 3)
    numbers = (np.arange(256, dtype=np.float32) - 3) * np.float32(0.1)
    assert [q.integer_of(number) for number in numbers] == list(range(256))
    for number in (-0.0, np.float32(0.15), -0.4, 25.3, 1e30, 1e300, -np.inf, np.inf, np.nan):
        assert q.integer_of(number) is None
    for scale in (0.0, np.inf, np.nan):
        assert Dequantize(integers, scale, 3).integer_of(1.0) is None


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-30])
@pytest.mark.parametrize("point", [np.uint8(3), np.int8(-128)])
def test_constants_are_rounded_as_tensors_are(point, scale):
    nodes, constants = quantized("k", scale, point)
    nodes.append(node("Add", ["k.d", "x"], "y"))
    numbers = [0.0, 0.5, 1.5, -0.5, 300, -300, 2.0**31, -(2.0**31), 3e9, 1e30, *FILLS]
    constants["k"] = np.float32(numbers)
    feed = {"x": np.zeros(len(numbers), np.float32)}
    np.testing.assert_array_equal(*both(nodes, feed, "y", constants))


@pytest.mark.parametrize("error", [ZeroDivisionError, OverflowError, KeyError, ValueError])
def test_an_op_that_cannot_be_built_runs_elsewhere(error, monkeypatch):
    def fail(builder, op):
        raise error

    monkeypatch.setitem(OPS, ("", "Abs"), OPS["", "Abs"].__class__(fail, ("float32",), (), 1))
    feed = {"x": np.float32([[-1, 2]])}
    net = make_net([node("Abs", ["x"], "y")], feed, ["y"])
    np.testing.assert_array_equal(net.run(feed)["y"], [[1, 2]])
    assert [step.backend for step in net.plan().steps] == ["onnxruntime"]


@pytest.mark.parametrize("where", ["lower", "buffer"])
def test_what_fails_only_when_it_is_lowered_runs_elsewhere(where, monkeypatch):
    def fail(*_):
        raise OverflowError("too large")

    monkeypatch.setattr(TensorLowering, where, fail)
    feed = {"x": np.float32([[-1, 2]])}
    nodes = [node("Abs", ["x"], "a"), node("Neg", ["a"], "y")]
    net = make_net(nodes, feed, ["y"])
    np.testing.assert_array_equal(net.run(feed)["y"], [[-1, -2]])
    assert {step.backend for step in net.plan().steps} == {"onnxruntime"}


@pytest.mark.parametrize("scale", [0.0, 1e-45, np.inf])
def test_a_scale_of_means_that_divides_nothing_is_no_error(scale):
    nodes, constants = quantized("x", 0.5, np.uint8(100))
    nodes.append(node("AveragePool", ["x.d"], "m", kernel_shape=[2, 2]))
    nodes.append(node("QuantizeLinear", ["m", "s", "x.z"], "y"))
    constants["s"] = np.float32(scale)
    feed = {"x": np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)}
    np.testing.assert_array_equal(*both(nodes, feed, "y", constants, np.uint8))


@pytest.mark.parametrize(("op", "factor"), [("Div", 0.0), ("Mul", HUGE), ("Mul", np.inf)])
def test_factors_that_overflow_weights_are_not_folded_into_them(op, factor):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((4, 3, 3, 3), np.float32) * 3
    nodes = [node("Conv", ["x", "w"], "c"), node(op, ["c", "f"], "y")]
    constants = {"w": w, "f": np.full((1, 4, 1, 1), factor, np.float32)}
    feed = {"x": rng.standard_normal((1, 3, 6, 6), np.float32) / 8}
    fbg, other = both(nodes, feed, "y", constants)
    np.testing.assert_allclose(fbg, other, rtol=1e-4)


def test_factors_that_overflow_scales_are_applied_once():
    nodes, constants = quantized("x", 2.0**-9, np.uint8(3))
    nodes += [
        node("DequantizeLinear", ["w", "ws"], "wd", axis=0),
        node("Conv", ["x.d", "wd"], "c"),
        node("Mul", ["c", "f"], "y"),
    ]
    constants |= {"w": np.ones((2, 1, 1, 1), np.int8), "ws": np.float32([2, 2])}
    constants["f"] = np.full((1, 2, 1, 1), HUGE, np.float32)
    feed = {"x": np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4) * 2.0**-9}
    np.testing.assert_array_equal(*both(nodes, feed, "y", constants))


# Calibration -----------------------------------------------------------------------------------


def calibrated_error(nodes, outputs, feed, constants):
    """The largest error of int8 results, relative to the largest result; the int8 network."""
    exact = make_net(nodes, feed, outputs, constants, backends=("fbg", "onnxruntime"))
    net = make_net(
        nodes, feed, outputs, constants, backends=("fbg", "onnxruntime"), calibrate=[feed]
    )
    wanted, y = exact.run(feed)[outputs[0]], net.run(feed)[outputs[0]]
    return np.abs(y - wanted).max() / np.abs(wanted).max(), net


def padded_network(following, fill):
    rng = np.random.default_rng(0)
    inner = {
        "MaxPool": [node("MaxPool", ["c"], "d", kernel_shape=[3, 3], strides=[2, 2])],
        "Relu": [node("Relu", ["c"], "d")],
        "Sigmoid": [node("Sigmoid", ["c"], "d")],
        "Max": [node("Max", ["c", "zero"], "d")],
        "AveragePool": [
            node("Clip", ["c", "zero", "six"], "e"),
            node("AveragePool", ["e"], "d", kernel_shape=[2, 2]),
        ],
    }
    nodes = [
        node("Conv", ["x", "w"], "a"),
        node("Relu", ["a"], "b"),
        node("Pad", ["b", "p", "v"], "c"),
        *inner[following],
        node("Conv", ["d", "w2"], "y"),
    ]
    constants = {
        "w": rng.standard_normal((8, 3, 3, 3), np.float32),
        "w2": rng.standard_normal((4, 8, 1, 1), np.float32),
        "p": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
        "v": np.float32(fill),
        "zero": np.float32(0),
        "six": np.float32(6),
    }
    return nodes, constants, {"x": rng.standard_normal((1, 3, 18, 18), np.float32)}


@pytest.mark.parametrize("fill", [-1.0, -100.0, -1e4, -1e9, -HUGE, -np.inf])
@pytest.mark.parametrize("following", ["MaxPool", "Relu", "Sigmoid", "Max", "AveragePool"])
def test_a_fill_does_not_take_the_range_of_the_data(following, fill):
    nodes, constants, feed = padded_network(following, fill)
    error, _ = calibrated_error(nodes, ["y"], feed, constants)
    assert error < 0.1


@pytest.mark.parametrize("fill", [-100.0, -1e4, -np.inf])
def test_maxima_of_padded_data_are_taken_of_integers(fill):
    nodes, constants, feed = padded_network("MaxPool", fill)
    error, net = calibrated_error(nodes, ["y"], feed, constants)
    assert error < 0.02
    (pool,) = [step for step in net.plan().steps if "d" in step.nodes]
    assert "quantize" not in pool.algorithm
    constants["v"] = np.float32(0)
    _, implicit = calibrated_error(nodes, ["y"], feed, constants)
    np.testing.assert_array_equal(net.run(feed)["y"], implicit.run(feed)["y"])  # as after a ReLU


@pytest.mark.parametrize("attributes", [{"pads": [2, 2, 2, 2]}, {"ceil_mode": 1}])
def test_maxima_of_nothing_but_a_fill_keep_it(attributes):
    nodes, constants, feed = padded_network("MaxPool", -50.0)
    window = {"kernel_shape": [3, 3], "strides": [3, 3], **attributes}
    nodes[3] = node("MaxPool", ["c"], "d", **window)
    constants["p"] = np.array([0, 0, 3, 3, 0, 0, 3, 3])
    error, _ = calibrated_error(nodes, ["y"], feed, constants)
    assert error < 0.2


@pytest.mark.parametrize("mask", [-1e4, -1e9, -HUGE, -np.inf])
@pytest.mark.parametrize("shared", [False, True])
def test_masks_before_softmax_leave_the_scores_alone(mask, shared):
    rng = np.random.default_rng(1)
    w = [rng.standard_normal((16, 16), np.float32) / 4 for _ in range(4)]
    constants = {f"w{i}": value for i, value in enumerate(w)}
    constants |= {"none": np.float32(0), "mask": np.float32(mask)}
    nodes = [
        node("MatMul", ["x", "w0"], "q"),
        node("MatMul", ["x", "w1"], "k"),
        node("MatMul", ["x", "w2"], "v"),
        node("Transpose", ["k"], "kt", perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], "s"),
        node("Where", ["keep", "bias", "mask"], "m"),  # positions and a mask in one tensor
        node("Add", ["s", "m"], "a"),
        *([node("Mul", ["m", "half"], "n"), node("Add", ["a", "n"], "b")] if shared else []),
        node("Softmax", ["b" if shared else "a"], "p", axis=-1),
        node("MatMul", ["p", "v"], "o"),
        node("MatMul", ["o", "w3"], "y"),
    ]
    constants["half"] = np.float32(0.5)
    feed = {
        "x": rng.standard_normal((1, 12, 16), np.float32),
        "keep": np.arange(12) < 9,
        "bias": rng.standard_normal((1, 12, 12), np.float32) * 2,
    }
    error, _ = calibrated_error(nodes, ["y"], feed, constants)
    assert error < 0.1


def test_calibration_takes_an_infinite_mask_but_no_nan():
    nodes = [node("Add", ["x", "m"], "a"), node("Add", ["a", "m"], "b"), node("Exp", ["b"], "y")]
    feed = {"x": np.float32([[1, 2, 3, 4]]), "m": np.float32([[0, -np.inf, 0, 0]])}
    error, _ = calibrated_error(nodes, ["y"], feed, {})
    assert error < 0.02
    feed["m"][0, 1] = np.nan
    with pytest.raises(ValueError, match=r"calibrate\[0\]: tensor 'm'"):
        make_net(nodes, feed, ["y"], calibrate=[feed])


@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
def test_a_background_far_below_the_data_is_no_data(share):
    rng = np.random.default_rng(0)
    values = np.maximum(rng.standard_normal(20_000), 0) + 2e-5
    values[rng.random(values.size) < share] = 1.2e-4  # what a convolution has made of white
    magnitudes = Magnitudes()
    magnitudes.update(values.astype(np.float32))
    assert not magnitudes.have_fills


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_fills_that_were_mixed_with_data_stand_out(share):
    rng = np.random.default_rng(0)
    values = rng.standard_normal(20_000)
    mixed = rng.random(values.size) < share
    values[mixed] += 1e4 * rng.standard_normal(mixed.sum())
    magnitudes = Magnitudes()
    magnitudes.update(values.astype(np.float32))
    assert magnitudes.have_fills
