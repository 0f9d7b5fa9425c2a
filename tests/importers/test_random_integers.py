"""Integer operators of random geometry: the bits that their definitions give."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
from helpers.onnx_models import make_net


def integers(rng, shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape, dtype=dtype)


@st.composite
def convolutions(draw):
    """x, w, attributes and a generator; x is uint8 or int8, and so is w."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    axes = draw(st.integers(1, 3))
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    inputs = draw(st.integers(1, 5))
    outputs = groups * draw(st.integers(1, 5))
    kernel = [draw(st.integers(1, 3)) for _ in range(axes)]
    spatial = [k + draw(st.integers(0, 6)) for k in kernel]
    x = integers(rng, (draw(st.integers(1, 2)), groups * inputs, *spatial), draw(DTYPES))
    w = integers(rng, (outputs, inputs, *kernel), draw(DTYPES))
    attributes = {
        "group": groups,
        "pads": [draw(st.integers(0, 2)) for _ in range(2 * axes)],
        "strides": [draw(st.integers(1, 2)) for _ in range(axes)],
    }
    return x, w, attributes, rng


def sums(x, w, group, pads, strides):
    """The convolution of integers by its definition, in int64."""
    axes = w.ndim - 2
    widths = [(0, 0), (0, 0), *((pads[i], pads[axes + i]) for i in range(axes))]
    padded = np.pad(x.astype(np.int64), widths)
    output = [
        (size - k) // stride + 1
        for size, k, stride in zip(padded.shape[2:], w.shape[2:], strides, strict=True)
    ]
    result = np.zeros((len(x), len(w), *output), np.int64)
    inputs, outputs = w.shape[1], len(w) // group
    for g, tap in itertools.product(range(group), np.ndindex(*w.shape[2:])):
        window = tuple(
            slice(at, at + (size - 1) * stride + 1, stride)
            for at, size, stride in zip(tap, output, strides, strict=True)
        )
        pixels = padded[(slice(None), slice(g * inputs, (g + 1) * inputs), *window)]
        part = w[(slice(g * outputs, (g + 1) * outputs), slice(None), *tap)].astype(np.int64)
        result[:, g * outputs : (g + 1) * outputs] += np.einsum("ni...,oi->no...", pixels, part)
    return result


DTYPES = st.sampled_from([np.uint8, np.int8])
EXAMPLES = settings(max_examples=60, deadline=None)


def both(op, feeds, constants, **attributes):
    """The results of fbg and of the reference."""
    nodes = [helper.make_node(op, [*feeds, *constants], ["y"], "node", **attributes)]
    nets = [
        make_net(nodes, feeds, ["y"], constants, backends=backends, placement=placement)
        for backends, placement in [(("fbg",), None), (("reference",), {"node": "reference"})]
    ]
    return [net.run(feeds)["y"] for net in nets]


@EXAMPLES
@given(convolutions(), st.sampled_from(fbg.isa.supported()))
def test_conv_integer(case, isa):
    x, w, attributes, rng = case
    points = {"xz": integers(rng, (), x.dtype), "wz": integers(rng, (), w.dtype)}
    nodes = [helper.make_node("ConvInteger", ["x", "w", *points], ["y"], "node", **attributes)]
    with fbg.isa.limit(isa):
        net = make_net(nodes, {"x": x}, ["y"], {"w": w, **points}, backends=("fbg",))
        y = net.run({"x": x})["y"]
    assert y.dtype == np.int32
    shifted = [v.astype(int) - z for v, z in zip((x, w), points.values(), strict=True)]
    np.testing.assert_array_equal(y, sums(*shifted, **attributes))


@EXAMPLES
@given(convolutions(), st.booleans(), st.sampled_from(fbg.isa.supported()))
def test_qlinear_conv(case, biased, isa):
    x, w, attributes, rng = case
    outputs = len(w)
    constants = {
        "xs": np.float32(0.03),
        "xz": integers(rng, (), x.dtype),
        "w": w,
        "ws": rng.uniform(0.001, 0.1, outputs).astype(np.float32),
        "wz": np.zeros(outputs, w.dtype),
        "ys": np.float32(rng.uniform(0.1, 2)),
        "yz": integers(rng, (), x.dtype),
    }
    if biased:
        constants["b"] = rng.integers(-5000, 5000, outputs, dtype=np.int32)
    nodes = [helper.make_node("QLinearConv", ["x", *constants], ["y"], "node", **attributes)]
    with fbg.isa.limit(isa):
        y = make_net(nodes, {"x": x}, ["y"], constants, backends=("fbg",)).run({"x": x})["y"]
    total = sums(x.astype(int) - constants["xz"], w, **attributes)
    column = (-1, *[1] * (x.ndim - 2))
    if biased:
        total = total + constants["b"].reshape(column)
    # The product of the scales first, then divided: as the specification's reference does.
    factor = (constants["xs"] * constants["ws"]) / constants["ys"]
    real = total.astype(np.float32) * factor.reshape(column)
    info = np.iinfo(x.dtype)
    wanted = np.clip(np.rint(real) + constants["yz"].astype(np.float32), info.min, info.max)
    np.testing.assert_array_equal(y, wanted)


@EXAMPLES
@given(st.data(), st.sampled_from(fbg.isa.supported()))
def test_matmul_integer(data, isa):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    m, k, n = (data.draw(st.integers(1, 70)) for _ in range(3))
    a = integers(rng, (m, k), data.draw(DTYPES))
    b = integers(rng, (k, n), data.draw(DTYPES))
    points = {"az": integers(rng, (), a.dtype), "bz": integers(rng, (), b.dtype)}
    with fbg.isa.limit(isa):
        y, wanted = both("MatMulInteger", {"a": a}, {"b": b, **points})
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("isa", fbg.isa.supported())
def test_quantize_linear_rounds_half_to_even(isa, dtype):
    x = np.arange(-700, 700, dtype=np.float32) / 4
    constants = {"s": np.float32(0.5), "z": dtype(3)}
    with fbg.isa.limit(isa):
        y, wanted = both("QuantizeLinear", {"x": x}, constants)
    np.testing.assert_array_equal(y, wanted)
