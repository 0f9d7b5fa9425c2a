"""Two products with a softmax between them become one op; anything else stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from fbg.graph.ops.products import MatMul
from fbg.graph.ops.windows import Softmax
from fbg.graph.passes.attention import fuse_attention
from helpers.tensor_graphs import Tensors


def attention(tensors, *, axis=3, steps=""):
    """Add attention; steps: "m" multiplies by 0.5, "d" divides by 4, "b" adds a bias."""
    q, k, v = (tensors.input(1, 2, *shape) for shape in ((5, 8), (8, 7), (7, 8)))
    scores = tensors.add(MatMul(q, k))
    for step in steps:
        if step == "b":
            scores = tensors.map("add", tensors.constant(np.ones((1, 1, 1, 7))), scores)
        elif step == "m":
            scores = tensors.map("multiply", tensors.constant(0.5), scores)
        else:
            scores = tensors.map("divide", scores, tensors.constant([4]))
    weights = tensors.add(Softmax(scores, axis))
    return scores, tensors.add(MatMul(weights, v))


def kinds(tensors):
    return [line.partition("(")[0] for line in tensors.lines(fuse_attention(tensors.graph))]


@pytest.mark.parametrize(
    ("steps", "given"),
    [
        ("", ""),
        ("m", ", scale=0.5"),
        ("md", ", scale=0.125"),
        ("b", ", bias=float32[1, 1, 1, 7]"),
        ("db", ", bias=float32[1, 1, 1, 7], scale=0.25"),
    ],
)
def test_factors_and_a_bias_join(steps, given):
    tensors = Tensors()
    tensors.graph.output(attention(tensors, steps=steps)[1])
    lines = tensors.lines(fuse_attention(tensors.graph))
    assert lines[0].startswith(f"attend(%0, k=%1, v=%2{given})")
    assert len(lines) == 2 and lines[0].count("n") >= 3 + len(steps)


@pytest.mark.parametrize("options", [{"axis": 2}, {"steps": "bm"}, {"steps": "bb"}])
def test_other_forms_stay(options):
    tensors = Tensors()
    tensors.graph.output(attention(tensors, **options)[1])
    assert kinds(tensors)[0] == "matmul" and kinds(tensors)[-2] == "matmul"


def test_scores_that_others_read_stay():
    tensors = Tensors()
    scores, result = attention(tensors, steps="m")
    tensors.graph.output(scores)
    tensors.graph.output(result)
    assert kinds(tensors) == ["matmul", "multiply", "softmax", "matmul", "return %4, %6"]


def test_factors_of_queries_and_keys_join_the_scale():
    tensors = Tensors()
    q, k, v = (tensors.input(2, *shape) for shape in ((5, 8), (8, 7), (7, 8)))
    q = tensors.map("multiply", q, tensors.constant(0.5))
    k = tensors.map("divide", k, tensors.constant(8))
    weights = tensors.add(Softmax(tensors.add(MatMul(q, k)), 2))
    tensors.graph.output(tensors.add(MatMul(weights, v)))
    lines = tensors.lines(fuse_attention(tensors.graph))
    assert lines[0].startswith("attend(%0, k=%1, v=%2, scale=0.0625)")


def test_a_negative_scale_is_computed_step_by_step():
    tensors = Tensors()
    q, k, v = (tensors.input(2, *shape) for shape in ((5, 8), (8, 7), (7, 8)))
    scores = tensors.map("multiply", tensors.add(MatMul(q, k)), tensors.constant(-1))
    tensors.graph.output(tensors.add(MatMul(tensors.add(Softmax(scores, 2)), v)))
    assert kinds(tensors) == ["matmul", "multiply", "softmax", "matmul", "return %6"]
