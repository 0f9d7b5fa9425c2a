"""Epilogues of integer convolutions whose results are quantized: no division, exact to a step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

import fbg
from fbg.graph.epilogue import Epilogue, Sums
from fbg.graph.steps import Activation, Quantization, residual
from helpers.onnx_models import make_model, make_net, node

ACTIVATIONS = {
    "none": [],
    "relu": [node("Relu", ["f0"], "f1")],
    "tanh": [node("Tanh", ["f0"], "f1")],
    "relu6": [node("Clip", ["f0", "zero", "six"], "f1")],
    "clip": [node("Clip", ["f0", "low", "high"], "f1")],
    "tanh and relu": [node("Tanh", ["f0"], "t"), node("Relu", ["t"], "f1")],
}


def network(rng, activation, scale, zero_point, dtype, *, biased, added, channels=20, x_scale=0.02):
    """x quantized, convolved with integer weights, and quantized again."""
    constants = {
        "x.s": np.float32(0.02),
        "x.s2": np.float32(x_scale),
        "x.z": np.uint8(120),
        "w.q": rng.integers(-127, 128, (channels, 8, 3, 3), dtype=np.int8),
        "w.s": rng.uniform(0.001, 0.01, channels).astype(np.float32),
        "b": rng.standard_normal(channels, dtype=np.float32),
        "r.s": np.float32(0.05),
        "r.z": np.uint8(3),
        "y.s": np.float32(scale),
        "y.z": np.dtype(dtype).type(zero_point),
        **{"zero": np.float32(0), "six": np.float32(6)},
        **{"low": np.float32(-0.7), "high": np.float32(0.9)},
    }
    nodes = [
        node("QuantizeLinear", ["x", "x.s", "x.z"], "x.q"),
        node("DequantizeLinear", ["x.q", "x.s2", "x.z"], "x.d"),
        node("DequantizeLinear", ["w.q", "w.s"], "w", axis=0),
        node("Conv", ["x.d", "w", *(["b"] if biased else [])], "c", pads=[1] * 4),
        node("DequantizeLinear", ["r", "r.s", "r.z"], "r.d"),
        node("Add", ["c", "r.d"], "f0") if added else node("Identity", ["c"], "f0"),
        *ACTIVATIONS[activation],
        node("QuantizeLinear", ["f1" if ACTIVATIONS[activation] else "f0", "y.s", "y.z"], "y"),
    ]
    feeds = {"x": rng.uniform(-2, 2, (2, 8, 5, 6)).astype(np.float32)}
    if added:
        feeds["r"] = rng.integers(0, 256, (2, channels, 5, 6), dtype=np.uint8)
    else:
        nodes = [n for n in nodes if n.name != "r.d"]
    return nodes, constants, feeds


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    activation=st.sampled_from(sorted(ACTIVATIONS)),
    scale=st.sampled_from([0.003, 0.0235, 0.03, 1.0, 4.0]),
    zero_point=st.sampled_from([0, 7, 100]),
    dtype=st.sampled_from([np.uint8, np.int8]),
    biased=st.booleans(),
    added=st.booleans(),
    channels=st.sampled_from([20, 64]),
)
def test_results_are_those_of_the_operators_to_a_step(
    seed, activation, scale, zero_point, dtype, biased, added, channels
):
    rng = np.random.default_rng(seed)
    nodes, constants, feeds = network(
        rng, activation, scale, zero_point, dtype, biased=biased, added=added, channels=channels
    )
    wanted = ReferenceEvaluator(make_model(nodes, feeds, ["y"], constants)).run(["y"], feeds)[0]
    results = []
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            net = make_net(nodes, feeds, ["y"], constants, backends=("fbg",))
            results.append(net.run(feeds)["y"])
    assert all(np.array_equal(results[0], y) for y in results)
    assert np.abs(results[0].astype(int) - wanted.astype(int)).max() <= 1
    assert (results[0] != wanted).mean() < 0.01


@pytest.mark.parametrize("x_scale", [-50.0, 50.0])
@pytest.mark.parametrize("added", [False, True])
def test_results_beyond_int32_saturate_on_the_right_side(x_scale, added):
    rng = np.random.default_rng(2)
    nodes, constants, feeds = network(
        rng, "none", 1e-6, 0, np.uint8, biased=True, added=added, channels=64, x_scale=x_scale
    )
    model = make_model(nodes[:-1], feeds, ["f0"], constants)
    exact = ReferenceEvaluator(model).run(["f0"], feeds)[0].astype(np.float64)
    assert np.abs(exact).max() / 1e-6 > 2**32
    wanted = np.clip(np.rint(exact / 1e-6), 0, 255).astype(np.uint8)
    assert 0.1 < (wanted == 255).mean() < 0.9
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            net = make_net(nodes, feeds, ["y"], constants, backends=("fbg",))
            np.testing.assert_array_equal(net.run(feeds)["y"], wanted)


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
@pytest.mark.parametrize("added", [False, True])
def test_nothing_is_divided_by_the_scale_of_the_result(activation, added):
    rng = np.random.default_rng(1)
    nodes, constants, feeds = network(rng, activation, 0.03, 0, np.uint8, biased=True, added=added)
    net = make_net(nodes, feeds, ["y"], constants, backends=("fbg",))
    (kernel,) = [step.algorithm for step in net.plan().steps if step.algorithm.startswith("conv")]
    assert "_unit" in kernel if "Dequantize" in kernel else "Requantize" in kernel


SUMS = Sums(0.01, np.full(4, 0.5, np.float32), 10**6)
QUANTIZED = Quantization(0.25, 0, "uint8")


def count(bias, *steps):
    return len(Epilogue.of_integers(SUMS, bias, steps).stages)


def test_bounds_that_saturation_applies_are_left_out():
    bias = np.ones(4, np.float32)
    relu, wide, narrow = (Activation("clip", *b) for b in ((0, np.inf), (-1, 64), (0, 6)))
    assert count(bias, QUANTIZED) == count(bias, relu, QUANTIZED) == count(bias, wide, QUANTIZED)
    assert count(bias, narrow, QUANTIZED) > count(bias, QUANTIZED)
    signed = Quantization(0.25, 0, "int8")
    assert count(bias, relu, signed) > count(bias, signed)


def test_a_bias_is_rounded_only_where_the_sums_are_fine_enough():
    fine = Epilogue.of_integers(SUMS, np.full(4, 2.0, np.float32), [QUANTIZED])
    assert fine.x_scale == SUMS.x_scale
    coarse = Epilogue.of_integers(
        Sums(1.0, SUMS.w_scale, SUMS.most), np.full(4, 2.0, np.float32), [QUANTIZED]
    )
    assert coarse.x_scale == 1.0 / QUANTIZED.scale
    large = Epilogue.of_integers(SUMS, np.full(4, 1e9, np.float32), [QUANTIZED])
    assert large.x_scale == SUMS.x_scale / QUANTIZED.scale


def test_a_float_residual_is_added_before_the_scale_of_the_result_is_divided_out():
    added = Epilogue.of_integers(SUMS, None, [residual(), QUANTIZED])
    assert added.x_scale == SUMS.x_scale
    assert len(added.stages) == 4
    divided = Epilogue.of_integers(SUMS, None, [residual("uint8", 0.1, 3), QUANTIZED])
    assert divided.x_scale == SUMS.x_scale / QUANTIZED.scale


def test_a_rounded_bias_never_overflows_the_sums():
    k, unit = 30000, 1e-7
    constants = {
        "x.s": np.float32(1e-4),
        "x.z": np.uint8(0),
        "w.q": np.full((k, 32), 255, np.uint8),
        "w.s": np.float32(1e-3),
        "w.z": np.uint8(0),
        "b": np.full(32, unit * (2**29 - 100), np.float32),
        "y.s": np.float32(unit * 2**31 / 180),
        "y.z": np.uint8(0),
    }
    nodes = [
        node("QuantizeLinear", ["x", "x.s", "x.z"], "x.q"),
        node("DequantizeLinear", ["x.q", "x.s", "x.z"], "x.d"),
        node("DequantizeLinear", ["w.q", "w.s", "w.z"], "w"),
        node("MatMul", ["x.d", "w"], "m"),
        node("Add", ["m", "b"], "a"),
        node("QuantizeLinear", ["a", "y.s", "y.z"], "y"),
    ]
    feeds = {"x": np.full((3, k), 0.0255, np.float32)}
    wanted = ReferenceEvaluator(make_model(nodes, feeds, ["y"], constants)).run(["y"], feeds)[0]
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            net = make_net(nodes, feeds, ["y"], constants, backends=("fbg",))
            assert np.abs(net.run(feeds)["y"].astype(int) - wanted.astype(int)).max() <= 1


@pytest.mark.parametrize("bounds", [(0, 3.4028235e38), (-3.4028235e38, 5), (-np.inf, np.inf)])
def test_bounds_near_the_greatest_float_need_no_care(bounds):
    rng = np.random.default_rng(3)
    nodes, constants, feeds = network(rng, "clip", 0.003, 7, np.uint8, biased=True, added=True)
    constants |= {"low": np.float32(bounds[0]), "high": np.float32(bounds[1])}
    wanted = ReferenceEvaluator(make_model(nodes, feeds, ["y"], constants)).run(["y"], feeds)[0]
    got = make_net(nodes, feeds, ["y"], constants, backends=("fbg",)).run(feeds)["y"]
    assert np.abs(got.astype(int) - wanted.astype(int)).max() <= 1


def test_bounds_that_fbg_refuses_are_left_to_another_back_end():
    rng = np.random.default_rng(4)
    nodes, constants, feeds = network(rng, "clip", 0.03, 7, np.uint8, biased=True, added=False)
    constants |= {"low": np.float32(1), "high": np.float32(0.5)}
    net = make_net(nodes, feeds, ["y"], constants)
    assert "f1" in {
        name for step in net.plan().steps if step.backend != "fbg" for name in step.nodes
    }
    assert np.unique(net.run(feeds)["y"]).size == 1
