"""Ops that read tensors without elements: computed by their definition, or refused by name.

The kind `onnx_empty` of the differential tests draws such cases of all operators.
"""

import numpy as np
import pytest
from onnx import TensorProto, helper

import fbg
from helpers.one_op import OneOp
from helpers.onnx_models import make_net, node
from helpers.poison import unwritten

HIDDEN, BATCH = 4, 2
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
BACKENDS = [None, ("fbg",), ("onnxruntime",), ("onnxruntime", "fbg")]


def floats(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def recurrent(op, state, constant):
    weights = [floats(1, GATES[op] * HIDDEN, columns) for columns in (3, HIDDEN)]
    states = [state, state] if op == "LSTM" else [state]
    inputs = [floats(0, BATCH, 3), *weights, None, None, *states]
    held = frozenset({1, 2}) if constant else frozenset()
    return OneOp(op, 14, inputs, {"hidden_size": HIDDEN}, held, 3 if op == "LSTM" else 2)


@pytest.mark.parametrize("backends", BACKENDS)
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("op", GATES)
def test_without_steps_the_last_states_are_the_first_ones(op, constant, backends):
    for state in (None, floats(1, BATCH, HIDDEN)):
        case = recurrent(op, state, constant)
        y, *states = unwritten(lambda case=case: case.on_fbg(backends), str(case))
        assert y.shape == (0, 1, BATCH, HIDDEN)
        for got in states:
            np.testing.assert_array_equal(got, np.zeros_like(got) if state is None else state)


def test_lengths_of_no_steps_are_0():
    case = recurrent("GRU", None, True)
    case.inputs[4] = np.array([0, 1], np.int32)
    with pytest.raises(fbg.ModelError, match=r"node GRU.*sequence_lens must be 0"):
        case.on_fbg()


ZEROS = {
    "ConvInteger": [np.zeros((1, 0, 4, 4), np.uint8), np.zeros((3, 0, 2, 2), np.uint8)],
    "MatMulInteger": [np.zeros((2, 0), np.uint8), np.zeros((0, 3), np.int8)],
    "MatMul": [floats(0), floats(2, 0, 1)],
    "ReduceSum": [floats(3, 0)],
}


@pytest.mark.parametrize("backends", BACKENDS)
@pytest.mark.parametrize("op", ZEROS)
def test_empty_sums_are_0(op, backends):
    case = OneOp(op, 14, ZEROS[op])
    case.declared = [(np.dtype(np.int32 if "Integer" in op else np.float32), None)]
    [y] = unwritten(lambda: case.on_fbg(backends), op)
    assert y.size and not y.any()


REFUSED = {
    "RoiAlign": [floats(1, 2, 0, 5), np.float32([[0, 0, 1, 1]]), np.zeros(1, np.int64)],
    "GridSample": [floats(1, 2, 0, 5), floats(1, 3, 3, 2)],
    "BiasGelu": [floats(0), floats(3)],
    "NonMaxSuppression": [floats(1, 1, 0), floats(1, 2, 1), np.ones(1, np.int64)],
}


@pytest.mark.parametrize("backends", BACKENDS)
@pytest.mark.parametrize("op", REFUSED)
def test_what_has_no_definition_is_refused_by_name(op, backends):
    domain, version = ("com.microsoft", 1) if op == "BiasGelu" else ("", 16)
    case = OneOp(op, version, REFUSED[op], domain=domain)
    case.declared = [(np.dtype(np.float32), (1,) if domain else None)]
    with pytest.raises(fbg.ModelError, match=f"node {op} .*input 'x0' has no elements"):
        case.on_fbg(backends)


def test_a_placement_does_not_send_such_an_op_elsewhere():
    feeds = {"a": floats(2, 0), "b": floats(0, 3), "c": floats(2, 3)}
    nodes = [node("Gemm", ["a", "b", "c"], "y", beta=2.0)]
    net = make_net(nodes, feeds, ["y"], placement={"y": "onnxruntime"})
    np.testing.assert_array_equal(net.run(feeds)["y"], 2 * feeds["c"])
    assert [step.backend for step in net.plan().steps] == ["empty"]


def picked(op):
    """A layer over the steps of x that a run picks, and its weights."""
    w, r = (floats(1, GATES[op] * HIDDEN, columns) for columns in (3, HIDDEN))
    layer = helper.make_node(op, ["k", "w", "r"], ["y", "h"], "layer", hidden_size=HIDDEN)
    return [node("Compress", ["x", "c"], "k", axis=0), layer], {"w": w, "r": r}


@pytest.mark.parametrize("op", GATES)
def test_what_turns_out_to_be_empty_in_a_run_is_refused_by_name(op):
    nodes, constants = picked(op)
    feeds = {"x": floats(5, BATCH, 3), "c": np.array([1, 0, 1, 0, 1], bool)}
    net = make_net(nodes, feeds, ["h"], constants, opset=14)
    short = make_net(nodes[1:], {"k": feeds["x"][::2]}, ["h"], constants, opset=14)
    np.testing.assert_allclose(net.run(feeds)["h"], short(feeds["x"][::2]), 1e-5, 1e-6)
    with pytest.raises(fbg.ModelError, match=f"{op} 'layer' failed .*an input has no elements"):
        net.run({**feeds, "c": np.zeros(5, bool)})


def test_bodies_of_loops_are_guarded_as_well():
    nodes, constants = picked("GRU")
    body = helper.make_graph(
        [*nodes, node("Identity", ["go"], "goes")],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("h0", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("goes", TensorProto.BOOL, []),
            helper.make_tensor_value_info("h", TensorProto.FLOAT, None),
        ],
    )
    loop = helper.make_node("Loop", ["count", "", "first"], ["last"], "loop", body=body)
    feeds = {"x": floats(5, BATCH, 3), "c": np.ones(5, bool), "first": floats(1, BATCH, HIDDEN)}
    constants["count"] = np.int64(2).reshape(())
    net = make_net([loop], feeds, ["last"], constants, opset=14)
    assert np.isfinite(net.run(feeds)["last"]).all()
    with pytest.raises(fbg.ModelError, match=r"Loop 'loop' failed .*an input has no elements"):
        net.run({**feeds, "c": np.zeros(5, bool)})


def test_states_before_the_first_token_are_joined_on_fbg():
    kinds = {"past": (np.float32, (1, 2, "n", 4)), "x": (np.float32, (1, 2, "m", 4))}
    net = make_net([helper.make_node("Concat", ["past", "x"], ["y"], axis=2)], kinds, ["y"])
    x = floats(1, 2, 3, 4)
    for past in (np.zeros((1, 2, 0, 4), np.float32), floats(1, 2, 5, 4)):
        y = net.run({"past": past, "x": x})["y"]
        np.testing.assert_array_equal(y, np.concatenate([past, x], 2))
        assert [step.backend for step in net.plan().steps] == ["fbg"]


def test_keys_of_no_tokens_are_as_good_as_none():
    q, none = floats(2, 3, 8), np.zeros((2, 2, 0, 4), np.float32)
    results = [
        OneOp(
            "MultiHeadAttention",
            1,
            [q, q, q, None, None, None, *past],
            {"num_heads": 2},
            outputs=3,
            domain="com.microsoft",
        ).on_fbg()
        for past in ([none, none], [])
    ]
    for mine, wanted in zip(*results, strict=True):
        np.testing.assert_array_equal(mine, wanted)


def test_what_picks_from_nothing_is_refused_by_name():
    feeds = {"x": floats(0, 3), "c": np.array([False])}
    net = make_net([node("Compress", ["x", "c"], "y", axis=0)], feeds, ["y"], opset=14)
    assert net.run(feeds)["y"].shape == (0, 3)
    with pytest.raises(fbg.ModelError, match="node Compress 'y'"):
        net.run({**feeds, "c": np.array([True])})
