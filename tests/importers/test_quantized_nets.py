"""Networks on integers: files that are quantized already, and those that fbg quantizes."""

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import fbg
from helpers.onnx_models import make_model, make_net, node

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
