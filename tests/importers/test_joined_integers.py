"""Channels are joined as integers, though each tensor has its own scale: the same bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from helpers.onnx_models import make_net, node

SCALES = st.sampled_from([1e-3, 0.02, 0.37, 5.0])
PARTS = st.tuples(st.integers(1, 20), SCALES, st.integers(0, 255))  # channels, scale, zero point


@given(
    parts=st.lists(
        st.tuples(st.integers(1, 20), SCALES, st.integers(0, 255)), min_size=2, max_size=4
    ),
    spatial=st.sampled_from([(7,), (3, 5), (2, 3, 4)]),
    read_twice=st.booleans(),
    isa=st.sampled_from(fbg.isa.supported()),
)
def test_numbers_are_those_of_each_scale(parts, spatial, read_twice, isa):
    rng = np.random.default_rng(0)
    constants, nodes, feeds, wanted = {}, [], {}, []
    for n, (channels, scale, zero_point) in enumerate(parts):
        q = rng.integers(0, 256, (2, channels, *spatial), dtype=np.uint8)
        feeds[f"q{n}"], constants[f"s{n}"] = q, np.float32(scale)
        constants[f"z{n}"] = np.uint8(zero_point)
        nodes.append(node("DequantizeLinear", [f"q{n}", f"s{n}", f"z{n}"], f"x{n}"))
        wanted.append((q.astype(np.float32) - np.float32(zero_point)) * np.float32(scale))
    nodes.append(node("Concat", [f"x{n}" for n in range(len(parts))], "j", axis=1))
    nodes.append(node("Relu", ["j"], "y"))
    outputs = ["y", "j"] if read_twice else ["y"]
    with fbg.isa.limit(isa):
        got = make_net(nodes, feeds, outputs, constants, backends=("fbg",)).run(feeds)
    joined = np.concatenate(wanted, 1)
    np.testing.assert_array_equal(got["y"], np.maximum(joined, 0))
    if read_twice:
        np.testing.assert_array_equal(got["j"], joined)


@pytest.mark.parametrize("alike", [False, True])
def test_bytes_are_joined_in_one_step_and_read_by_another(alike):
    feeds = {name: np.zeros((1, 64, 8, 8), np.uint8) for name in ("p", "q")}
    constants = {"s": np.float32(0.5), "t": np.float32(0.5 if alike else 0.25), "z": np.uint8(9)}
    nodes = [
        node("DequantizeLinear", ["p", "s", "z"], "a"),
        node("DequantizeLinear", ["q", "t", "z"], "b"),
        node("Concat", ["a", "b"], "j", axis=1),
        node("Relu", ["j"], "y"),
    ]
    net = make_net(nodes, feeds, ["y"], constants, backends=("fbg",))
    net.run(feeds)
    assert len(net.plan().steps) == 2


@given(
    parts=st.lists(PARTS, min_size=1, max_size=3),
    operations=st.lists(st.sampled_from(["Mul", "Add", "Sub"]), min_size=1, max_size=5),
    read_twice=st.booleans(),
)
def test_constants_behind_integers_are_one_factor_and_one_addend(parts, operations, read_twice):
    """Of float64 numbers that are rounded once, so that results are as close as those in turn."""
    rng = np.random.default_rng(1)
    constants, nodes, feeds, wanted, most = {}, [], {}, [], []
    for n, (channels, scale, zero_point) in enumerate(parts):
        q = rng.integers(0, 256, (1, channels, 4, 5), dtype=np.uint8)
        feeds[f"q{n}"], constants[f"s{n}"] = q, np.float32(scale)
        constants[f"z{n}"] = np.uint8(zero_point)
        nodes.append(node("DequantizeLinear", [f"q{n}", f"s{n}", f"z{n}"], f"x{n}"))
        wanted.append((q.astype(np.float64) - zero_point) * np.float64(np.float32(scale)))
        most.append(np.full((channels, 1, 1), 255 * np.float64(np.float32(scale))))
    nodes.append(node("Concat", [f"x{n}" for n in range(len(parts))], "y0", axis=1))
    exact, bound = np.concatenate(wanted, 1), np.concatenate(most)
    for n, operation in enumerate(operations):
        c = rng.uniform(0.5, 2, bound.shape).astype(np.float32)
        constants[f"c{n}"] = c
        nodes.append(node(operation, [f"y{n}", f"c{n}"], f"y{n + 1}"))
        exact = {"Mul": exact * c, "Add": exact + c, "Sub": exact - c}[operation]
        bound = bound * c if operation == "Mul" else bound + c
    last = f"y{len(operations)}"
    outputs = [last, "y1"] if read_twice and len(operations) > 1 else [last]
    got = make_net(nodes, feeds, outputs, constants, backends=("fbg",)).run(feeds)[last]
    assert (np.abs(got - exact) <= bound * 8 * np.finfo(np.float32).eps).all()
