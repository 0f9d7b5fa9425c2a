"""Convolutions whose results are joined write them side by side: the bits of separate results."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
from helpers.onnx_models import make_net


def pool(name, result):
    """A node that reads a tensor as integers, where it is quantized, and returns its elements."""
    return helper.make_node("MaxPool", [name], [result], result, kernel_shape=[1, 1])


def network(rng, draw_groups, batch, spatial, outputs, *, quantized):
    """Several convolutions of x, joined: nodes, constants, x, what is joined, and the result."""
    inputs = 8
    x = rng.standard_normal((batch, inputs, *spatial)).astype(np.float32)
    nodes, constants, names = [], {}, []
    for i, count in enumerate(outputs):
        k = (1, 3, 5)[i % 3]
        groups = draw_groups[i]
        w = rng.standard_normal((count, inputs // groups, k, k)).astype(np.float32)
        constants[f"w{i}"] = w
        pads = {"pads": [k // 2] * 4, "group": groups}
        nodes.append(helper.make_node("Conv", ["x", f"w{i}"], [f"c{i}"], f"c{i}", **pads))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"], f"r{i}"))
        names.append(f"r{i}")
    nodes.append(helper.make_node("Concat", names, ["joined"], "join", axis=1))
    last = "joined"
    if quantized:
        nodes.append(pool("joined", "y"))
        last = "y"
    return nodes, constants, x, names, last


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    batch=st.integers(1, 2),
    spatial=st.sampled_from([(1, 1), (5, 4), (12, 13)]),
    outputs=st.lists(st.sampled_from([8, 16, 24, 40]), min_size=2, max_size=4),
    groups=st.lists(st.sampled_from([1, 2, 8]), min_size=4, max_size=4),
    isa=st.sampled_from(fbg.isa.supported()),
    threads=st.integers(1, 2),
    quantized=st.booleans(),
)
@example(
    seed=0,
    batch=1,
    spatial=(1, 1),
    outputs=[8, 24],
    groups=[1, 2, 1, 1],
    isa="generic",
    threads=1,
    quantized=True,
)
def test_joined_results_have_the_bits_of_separate_ones(
    seed, batch, spatial, outputs, groups, isa, threads, quantized
):
    rng = np.random.default_rng(seed)
    nodes, constants, x, names, last = network(
        rng, groups, batch, spatial, outputs, quantized=quantized
    )
    options = {"backends": ("fbg",), "num_threads": threads}
    if quantized:
        options["calibrate"] = [x]
    with fbg.isa.limit(isa):
        net = make_net(nodes, {"x": x}, [last], constants, **options)
        y = net.run({"x": x})[last]
        others = [pool(name, f"{name}.again") for name in names] if quantized else []
        outputs = [last, *(node.output[0] for node in others)] if quantized else names
        apart = make_net([*nodes, *others], {"x": x}, outputs, constants, **options)
        results = apart.run({"x": x})
        steps = net.plan().steps
    if quantized:
        np.testing.assert_array_equal(y, results[last])
    else:
        np.testing.assert_array_equal(y, np.concatenate([results[name] for name in names], axis=1))
    assert sum("conv" in step.algorithm for step in steps) == len(names)
    assert any("join" in step.nodes and "conv" in step.algorithm for step in steps)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_others_read_is_not_joined_in_place(threads):
    rng = np.random.default_rng(5)
    nodes, constants, x, names, _ = network(rng, [1, 1], 1, (6, 6), [8, 8], quantized=False)
    nodes.append(helper.make_node("Neg", [names[0]], ["z"], "neg"))
    net = make_net(nodes, {"x": x}, ["joined", "z"], constants, num_threads=threads)
    results = net.run({"x": x})
    np.testing.assert_array_equal(results["z"], -results["joined"][:, :8])
    assert "arrange" in [step.algorithm for step in net.plan().steps if "join" in step.nodes]
