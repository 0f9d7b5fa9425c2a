"""Networks with integers of other tools; constants that integers of a tensor cannot hold."""

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import fbg
from fbg.graph.graph import Graph
from fbg.graph.lower.tensors import TensorLowering
from fbg.graph.ops.tensors import Dequantize, TensorInput
from fbg.importers.int8.fills import Magnitudes
from fbg.importers.ops.registry import OPS
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime

# Networks on integers: files that are quantized already, and those that fbg quantizes.

RNG = np.random.default_rng(2)


def round_trip(x, scale, zero_point=128):
    """Nodes that quantize x and dequantize it again, and their constants."""
    names = [f"{x}.s", f"{x}.z"]
    nodes = [
        node("QuantizeLinear", [x, *names], f"{x}.q"),
        node("DequantizeLinear", [f"{x}.q", *names], f"{x}.d"),
    ]
    return nodes, {names[0]: np.float32(scale), names[1]: np.uint8(zero_point)}


def quantized_block():
    """Conv, residual and activation between quantized tensors: x -> y."""
    w = RNG.integers(-127, 128, (8, 8, 3, 3), dtype=np.int8)
    constants = {"w.q": w, "w.s": RNG.uniform(0.001, 0.01, 8).astype(np.float32)}
    constants["b"] = RNG.standard_normal(8, dtype=np.float32)
    nodes = []
    for x, scale, point in [("x", 0.02, 120), ("y", 0.1, 0)]:
        more, parameters = round_trip(x, scale, point)
        constants |= parameters
        nodes.append(more)
    middle = [
        node("DequantizeLinear", ["w.q", "w.s"], "w", axis=0),
        node("Conv", ["x.d", "w", "b"], "c", pads=[1] * 4),
        node("Add", ["c", "x.d"], "a"),
        node("Relu", ["a"], "y"),
    ]
    return [*nodes[0], *middle, *nodes[1]], constants


@pytest.mark.parametrize("isa", fbg.isa.supported())
def test_a_quantized_block_is_one_integer_convolution(isa):
    nodes, constants = quantized_block()
    x = RNG.uniform(-2, 2, (1, 8, 6, 7)).astype(np.float32)
    wanted = make_net(nodes, {"x": x}, ["y.q"], constants, backends=("onnxruntime",))
    with fbg.isa.limit(isa):
        net = make_net(nodes, {"x": x}, ["y.q"], constants, backends=("fbg",))
        y = net(x)
        convs = [step for step in net.plan().steps if step.algorithm.startswith("conv")]
    assert [step.nodes for step in convs] == [("c", "a", "y", "y.q")]
    assert "int32_u8_s8" in convs[0].algorithm
    assert y.dtype == np.uint8
    # Both round the same real numbers, which they sum in another order.
    assert np.abs(y.astype(int) - wanted(x).astype(int)).max() <= 1


def test_results_do_not_depend_on_the_instruction_set():
    nodes, constants = quantized_block()
    x = RNG.uniform(-2, 2, (2, 8, 9, 9)).astype(np.float32)
    results = []
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            results.append(make_net(nodes, {"x": x}, ["y.q"], constants)(x))
    assert all(np.array_equal(results[0], y) for y in results)


def test_pooling_and_moving_work_on_integers():
    more, constants = round_trip("x", 0.1)
    nodes = [
        *more,
        node("MaxPool", ["x.d"], "m", kernel_shape=[2, 2], strides=[2, 2]),
        node("Transpose", ["m"], "t", perm=[0, 2, 3, 1]),
        helper.make_node("Slice", ["t", "one", "two", "one"], ["s"], "s"),
        node("QuantizeLinear", ["s", "x.s", "x.z"], "y"),
    ]
    constants |= {"one": np.array([1]), "two": np.array([3])}
    x = RNG.uniform(-9, 9, (1, 4, 8, 8)).astype(np.float32)
    net = make_net(nodes, {"x": x}, ["y"], constants, backends=("fbg",))
    reference = make_net(nodes, {"x": x}, ["y"], constants, backends=("onnxruntime",))
    np.testing.assert_array_equal(net(x), reference(x))
    assert next(s.algorithm for s in net.plan().steps) == "quantize"
    assert not any("dequantize" in s.algorithm for s in net.plan().steps)


@pytest.mark.parametrize(("channels", "kernel"), [(3, 2), (40, 3), (75, 3), (70, 17)])
def test_means_of_windows_are_rounded_where_they_are_computed(channels, kernel):
    first, constants = round_trip("x", 0.02, 120)
    last, more = round_trip("y", 0.013, 101)
    pooling = node("AveragePool", ["x.d"], "y", kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)
    x = RNG.uniform(-2.5, 2.5, (1, channels, 18, 19)).astype(np.float32)
    nodes, constants = [*first, pooling, *last], constants | more
    model = make_model(nodes, {"x": x}, ["y.d"], constants)
    (wanted,) = ReferenceEvaluator(model).run(["y.d"], {"x": x})
    results = []
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            net = make_net(nodes, {"x": x}, ["y.d"], constants, backends=("fbg",))
            results.append(net(x))
    assert ("y", "y.q") in [step.nodes for step in net.plan().steps]
    assert all(np.array_equal(results[0], y) for y in results)
    assert np.abs(results[0] - wanted).max() <= 0.0131  # both round the same real numbers


def average_pool(x, s_in, scale, zero_point, **attributes):
    """AveragePool between quantized tensors: fused, and with its float result as an output, too."""
    first, constants = round_trip("x", s_in, 5)
    last, more = round_trip("y", scale, zero_point)
    nodes = [*first, node("AveragePool", ["x.d"], "y", **attributes), *last]
    fused = make_net(nodes, {"x": x}, ["y.q"], constants | more, backends=("fbg",))
    apart = make_net(nodes, {"x": x}, ["y.q", "y"], constants | more, backends=("fbg",))
    return fused.run({"x": x})["y.q"], apart.run({"x": x})["y.q"]


@pytest.mark.parametrize(
    "attributes",
    [
        {"kernel_shape": [1, 1], "pads": [1] * 4},
        {"kernel_shape": [1, 1], "strides": [2, 2], "pads": [0, 0, 1, 1], "ceil_mode": 1},
        {"kernel_shape": [2, 2], "pads": [1] * 4},
    ],
)
def test_means_of_nothing_are_the_zero_point(attributes):
    x = np.full((1, 4, 4, 4), 100, np.float32)
    np.testing.assert_array_equal(*average_pool(x, 1.0, 1.0, 9, **attributes))


@pytest.mark.parametrize("scale", [1e-12, 1e-8, 4e-8])
def test_means_saturate_however_small_the_scale(scale):
    x = np.full((1, 4, 4, 4), 100, np.float32)
    fused, apart = average_pool(x, 1.0, scale, 100, kernel_shape=[2, 2])
    np.testing.assert_array_equal(fused, apart)
    assert (fused == 255).all()


def test_windows_whose_sums_exceed_32_bits_are_summed_as_floats():
    first, constants = round_trip("x", 1.0, 0)
    nodes = [*first, node("GlobalAveragePool", ["x.d"], "y")]
    x = np.full((1, 1, 3000, 3000), 255, np.float32)
    net = make_net(nodes, {"x": x}, ["y"], constants, backends=("fbg",))
    assert abs(net.run({"x": x})["y"].item() - 255) < 2.55  # of 9 million float32 terms


def test_functions_of_one_quantized_tensor_are_a_table():
    first, constants = round_trip("x", 0.05)
    nodes = [*first, node("Sigmoid", ["x.d"], "g"), node("Mul", ["x.d", "g"], "y")]
    last, more = round_trip("y", 0.03, 20)
    net = make_net([*nodes, last[0]], {"x": (np.float32, (300,))}, ["y.q"], constants | more)
    x = RNG.uniform(-8, 8, 300).astype(np.float32)
    q = np.clip(np.rint(x / np.float32(0.05)) + 128, 0, 255)
    real = (q - 128) * 0.05
    wanted = np.clip(np.rint(real / (1 + np.exp(-real)) / 0.03) + 20, 0, 255)
    assert np.abs(net(x).astype(int) - wanted).max() <= 1
    assert "look_up" in [step.algorithm for step in net.plan().steps]


def test_a_function_that_reads_a_quantized_tensor_twice_is_a_table():
    """Hard-swish as exporters write it, with a learned scale and shift."""
    first, constants = round_trip("x", 0.05)
    again = node("DequantizeLinear", ["x.q", "x.s", "x.z"], "x.again")
    constants |= {
        name: np.float32(value)
        for name, value in zip(["c0", "c3", "c6", "m", "b"], [0, 3, 6, 1.3, -0.2], strict=True)
    }
    nodes = [
        *first,
        again,
        node("Add", ["x.d", "c3"], "s"),
        node("Clip", ["s", "c0", "c6"], "t"),
        node("Mul", ["x.again", "t"], "p"),
        node("Div", ["p", "c6"], "h"),
        node("Mul", ["h", "m"], "hm"),
        node("Add", ["hm", "b"], "y"),
    ]
    last, more = round_trip("y", 0.03, 20)
    net = make_net([*nodes, last[0]], {"x": (np.float32, (2, 300))}, ["y.q"], constants | more)
    x = RNG.uniform(-8, 8, (2, 300)).astype(np.float32)
    real = (np.clip(np.rint(x / np.float32(0.05)) + 128, 0, 255) - 128) * 0.05
    y = real * np.clip(real + 3, 0, 6) / 6 * 1.3 - 0.2
    assert np.abs(net(x).astype(int) - np.clip(np.rint(y / 0.03) + 20, 0, 255)).max() <= 1
    assert [step.algorithm for step in net.plan().steps] == ["quantize", "look_up"]


def small_cnn():
    def weights(*shape):
        return (RNG.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    constants = {
        "w1": weights(16, 3, 3, 3),
        "w2": weights(16, 1, 3, 3),
        "w3": weights(24, 16, 1, 1),
    }
    constants |= {"w4": weights(10, 40).T.copy(), "b4": weights(10)}
    constants |= {f"n{i}": RNG.uniform(0.5, 1.5, 16).astype(np.float32) for i in range(4)}
    nodes = [
        node("Conv", ["x", "w1"], "c1", strides=[2, 2], pads=[1] * 4),
        node("BatchNormalization", ["c1", "n0", "n1", "n2", "n3"], "b1"),
        node("Clip", ["b1", "zero", "six"], "r1"),
        node("Conv", ["r1", "w2"], "c2", pads=[1] * 4, group=16),
        node("Sigmoid", ["c2"], "g2"),
        node("Mul", ["c2", "g2"], "s2"),
        node("Identity", ["s2"], "i2"),
        node("Add", ["i2", "r1"], "a2"),
        node("Conv", ["a2", "w3"], "c3"),
        node("Relu", ["c3"], "r3"),
        node("Concat", ["r3", "a2"], "k", axis=1),
        node("GlobalAveragePool", ["k"], "p"),
        node("Flatten", ["p"], "f"),
        node("Gemm", ["f", "w4", "b4"], "y"),
    ]
    constants |= {"zero": np.float32(0), "six": np.float32(6)}
    return nodes, constants


def images(count):
    return [RNG.standard_normal((1, 3, 20, 20), dtype=np.float32) for _ in range(count)]


def test_static_quantization_stays_close_and_multiplies_integers():
    nodes, constants = small_cnn()
    inputs = {"x": (np.float32, (1, 3, 20, 20))}
    exact = make_net(nodes, inputs, ["y"], constants, backends=("fbg",))
    net = make_net(nodes, inputs, ["y"], constants, backends=("fbg",), calibrate=images(4))
    x = images(1)[0]
    a, b = exact(x), net(x)
    assert (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b) > 0.99
    kinds = [s.algorithm for s in net.plan().steps if s.algorithm.startswith("conv")]
    assert len(kinds) == 4
    assert all("int32_u8_s8" in kind for kind in kinds)


def test_calibration_is_checked(tmp_path):
    nodes, constants = small_cnn()
    inputs = {"x": (np.float32, (1, 3, 20, 20))}
    bad = images(1)[0]
    bad[0, 0, 0, 0] = np.nan
    for feeds, message in [([], "at least one feed"), ([bad], "tensor 'x'")]:
        with pytest.raises(ValueError, match=f"calibrate.*{message}"):
            make_net(nodes, inputs, ["y"], constants, calibrate=feeds)
    with pytest.raises(ValueError, match="no input 'z'"):
        make_net(nodes, inputs, ["y"], constants, calibrate=[{"z": bad}])
    path = tmp_path / "m.onnx"
    path.write_bytes(make_model(nodes, inputs, ["y"], constants).SerializeToString())
    with pytest.raises(ValueError, match="requires calibrate"):
        fbg.load(path, dtype="int8")
    assert fbg.load(path, dtype="int8", calibrate=images(1))(images(1)[0]).shape == (1, 10)


def test_outputs_that_nothing_reads_are_not_calibrated():
    w = RNG.standard_normal((4, 3), dtype=np.float32)
    nodes = [
        helper.make_node("Split", ["x"], ["a", "b"], "split", axis=1, num_outputs=2),
        node("MatMul", ["a", "w"], "y"),
    ]
    x = RNG.standard_normal((4, 8), dtype=np.float32)
    net = make_net(nodes, {"x": x}, ["y"], {"w": w}, calibrate=[x])
    np.testing.assert_allclose(net(x), x[:, :4] @ w, atol=0.1)


def test_scales_of_a_file_that_is_quantized_already_are_not_rounded():
    w = RNG.integers(-127, 128, (16, 8), dtype=np.int8)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], "quantize"),
        node("MatMulInteger", ["q", "w", "z"], "sums"),
        node("Cast", ["sums"], "floats", to=1),
        node("Mul", ["s", "ws"], "scale"),
        node("Mul", ["floats", "scale"], "y"),
    ]
    constants = {"w": w, "ws": np.float32(0.01)}
    x = RNG.standard_normal((4, 16), dtype=np.float32)
    net = make_net(nodes, {"x": x}, ["y"], constants, calibrate=[x])
    rounded = {n.inputs[0] for n in net.network.nodes if n.op == "QuantizeLinear"}
    assert rounded.isdisjoint({"s", "scale"})
    small = x / 100
    exact = make_net(nodes, {"x": x}, ["y"], constants)
    np.testing.assert_allclose(net(small), exact(small), atol=0.01)


def test_batch_norm_and_identities_vanish():
    nodes, constants = small_cnn()
    inputs = {"x": (np.float32, (1, 3, 20, 20))}
    net = make_net(nodes, inputs, ["y"], constants, backends=("fbg",))
    computed = {name for step in net.plan().steps for name in step.nodes}
    assert not computed & {"b1", "i2"}
    wanted = make_net(nodes, inputs, ["y"], constants, backends=("onnxruntime",))
    x = images(1)[0]
    np.testing.assert_allclose(net(x), wanted(x), 1e-4, 1e-4)


def test_what_is_joined_and_quantized_again_is_joined_as_integers():
    nodes, constants = [], {}
    for name, scale, point in [("a", 0.02, 120), ("b", 0.05, 7)]:
        more, parameters = round_trip(name, scale, point)
        nodes += more
        constants |= parameters
    nodes.append(node("Concat", ["a.d", "b.d"], "y", axis=1))
    more, parameters = round_trip("y", 0.04, 100)
    nodes += more
    constants |= parameters
    feeds = {
        name: RNG.uniform(-4, 4, (1, n, 5, 5)).astype(np.float32)
        for name, n in [("a", 3), ("b", 6)]
    }
    wanted = make_net(nodes, feeds, ["y.q"], constants, backends=("onnxruntime",))
    net = make_net(nodes, feeds, ["y.q"], constants, backends=("fbg",))
    np.testing.assert_array_equal(net.run(feeds)["y.q"], wanted.run(feeds)["y.q"])
    algorithms = [step.algorithm for step in net.plan().steps]
    assert sorted(algorithms) == ["arrange", *["look_up"] * 2, *["quantize"] * 2]


# Constants that the integers of a quantized tensor cannot hold, and fills that are not data.

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
