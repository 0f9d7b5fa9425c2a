"""What follows a product with constant weights joins its output pipeline."""

from __future__ import annotations

import numpy as np
import pytest

from fbg.graph.ops.moves import Concat
from fbg.graph.ops.products import Product
from fbg.graph.ops.tensors import Dequantize, Quantize
from fbg.graph.passes.epilogue import fuse_epilogues
from helpers.tensor_graphs import Tensors


def started():
    tensors = Tensors()
    return tensors, tensors.conv(tensors.input(1, 3, 2, 4), 5)


def fused(tensors, *outputs):
    for value in outputs:
        tensors.graph.output(value)
    graph = fuse_epilogues(tensors.graph, tensors.packer)
    return graph, tensors.lines(graph)


def test_activations_and_rounding_become_stages_in_their_order():
    tensors, y = started()
    y = tensors.map("clip", tensors.map("tanh", y), c0=-0.5, c1=0.5)
    _, lines = fused(tensors, tensors.add(Quantize(y, 0.1, 3, "int8")))
    steps = "tanh, clip(-0.5, 0.5), requantize"
    assert lines == [f"conv(%0, float32[5, 3, 1, 1], {steps})  # n1, n2, n3, n4", "return %1"]


def test_what_others_read_is_not_joined():
    tensors, y = started()
    _, lines = fused(tensors, tensors.map("relu", y), y)
    assert lines == ["conv(%0, float32[5, 3, 1, 1])  # n1", "relu(%1)  # n2", "return %2, %1"]


@pytest.mark.parametrize("function", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize("constant", [np.arange(1, 6).reshape(5, 1, 1), 2.0])
def test_constants_of_channels_are_folded(function, constant):
    tensors, y = started()
    graph, lines = fused(tensors, tensors.map(function, y, tensors.constant(constant)))
    bias = ", bias" if function in ("add", "subtract") else ""
    assert lines == [f"conv(%0, float32[5, 3, 1, 1]{bias})  # n1, n3", "return %1"]
    product = graph.outputs[0].op
    assert isinstance(product, Product)
    per_channel = np.broadcast_to(np.reshape(constant, -1), 5).astype(np.float32)
    signs = {"add": per_channel, "subtract": -per_channel}
    if function in signs:
        assert product.bias is not None and np.array_equal(product.bias, signs[function])
    else:
        factor = per_channel if function == "multiply" else 1 / per_channel
        assert np.array_equal(product.w.make()[:, 0, 0, 0], factor.astype(np.float32))


@pytest.mark.parametrize(
    ("function", "constant"),
    [
        ("add", np.ones((2, 4))),  # of pixels
        ("multiply", np.inf),
        ("divide", 0.0),
        ("power", 2.0),
    ],
)
def test_other_constants_are_not_folded(function, constant):
    tensors, y = started()
    _, lines = fused(tensors, tensors.map(function, y, tensors.constant(constant)))
    assert len(lines) == 3 and lines[1].startswith(f"{function}(%1")


def test_a_tensor_of_the_same_shape_is_added_once():
    tensors, y = started()
    others = [tensors.input(1, 5, 2, 4) for _ in range(2)]
    for other in others:
        y = tensors.map("add", other, y)
    _, lines = fused(tensors, y)
    assert lines[0].endswith("add(%1))  # n1, n4") and lines[1].startswith("add(%2, %3)")


def test_integers_are_added_as_they_are():
    tensors, y = started()
    q = tensors.input(1, 5, 2, 4, dtype="uint8")
    _, lines = fused(tensors, tensors.map("add", y, tensors.add(Dequantize(q, 0.5, 3))))
    assert "conv(%0, float32[5, 3, 1, 1], add(%1))  # n1, n4" in lines


def test_a_product_is_not_added_to_itself():
    tensors, y = started()
    _, lines = fused(tensors, tensors.map("add", y, y))
    assert lines[1] == "add(%1, %1)  # n2"


def test_results_are_written_side_by_side():
    tensors = Tensors()
    x = tensors.input(1, 3, 2, 4)
    parts = tensors.conv(x, 5), tensors.map("relu", tensors.conv(x, 3))
    _, lines = fused(tensors, tensors.add(Concat(parts, 1)))
    assert lines == [
        "conv(%0, float32[5, 3, 1, 1], channels=0:5)  # n1",
        "conv(%0, float32[3, 3, 1, 1], relu, channels=5:8, before=%1)  # n2, n3, n4",
        "return %2",
    ]


@pytest.mark.parametrize("why", ["axis", "read", "twice"])
def test_results_are_joined_by_copies_where_they_must(why):
    tensors = Tensors()
    x = tensors.input(1, 3, 2, 4)
    first = tensors.conv(x, 5)
    second = first if why == "twice" else tensors.conv(x, 5)
    joined = tensors.add(Concat((first, second), 2 if why == "axis" else 1))
    _, lines = fused(tensors, joined, *([first] if why == "read" else []))
    assert lines[-2].startswith("concat([")
