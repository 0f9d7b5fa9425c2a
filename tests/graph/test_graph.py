"""Graphs of typed ops: how they print, what they refuse, and how they are rewritten and lowered."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import fbg
from fbg import _fbg
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.lower.rows import lower_rows
from fbg.graph.ops import rows as ops
from fbg.graph.ops.common import LayerNorm, Map, Norm, RmsNorm
from fbg.graph.ops.op import Op
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.minilm import minilm_directory
from helpers.small_cnns import whole_mobilenet_v2

HEADS = ops.Heads(2, 2, 4)


def layer(name, inputs, outputs):
    weight = _fbg.pack_b_convert(np.ones((inputs, outputs), np.float32), "float32")
    return Linear(name, weight, np.ones(outputs, np.float32))


def started():
    graph = Graph()
    return graph, graph.add(ops.Embed(np.ones((10, 8), np.float32)))


def test_a_graph_prints_like_a_program():
    graph = Graph()
    with graph.scope("embeddings"):
        x = graph.add(ops.Embed(np.ones((10, 8), np.float32), np.ones((6, 8), np.float32)))
    with graph.scope("layers.0"):
        qkv = graph.add(ops.Linear(x, layer("layers.0.qkv", 8, 24)))
        heads = dataclasses.replace(HEADS, window=3)
        context = graph.add(ops.Attention(qkv, heads, rounds=True))
        y = graph.add(ops.Linear(context, layer("layers.0.output", 8, 8), "gelu", residual=x))
    graph.output(y)
    graph.output(graph.add(ops.Pool(y, "mean", skipped=1)))
    assert str(graph).splitlines() == [
        "embeddings:",
        "  %0: float32[tokens, 8] = embed(word [10, 8], position [6, 8])",
        "layers.0:",
        "  %1: float32[tokens, 24] = linear(%0, qkv float32 [8, 24], bias)",
        "  %2: float32[tokens, 8] = attention(%1, heads=2, head_dim=4, window=3, rounds)",
        "  %3: float32[tokens, 8] = linear(%2, output float32 [8, 8], bias, activation=gelu, "
        "residual=%0)",
        "%4: float32[sequences, 8] = pool(%3, pooling=mean, skipped=1)",
        "return %3, %4",
    ]


def test_names_are_unique_and_begin_with_the_scope():
    graph, x = started()
    with graph.scope("layers"), graph.scope("1"):
        first, second = graph.add(Map.of("tanh", (x,))), graph.add(Map.of("tanh", (x,)))
    assert [x.name, first.name, second.name] == ["embed", "layers.1.tanh", "layers.1.tanh_2"]


WRONG = {
    "layer_norm: x must have 4 columns, got 8": lambda x: Norm(
        x, LayerNorm(np.ones(4, np.float32), None, 1e-5)
    ),
    "linear: x must have 4 columns, got 8": lambda x: ops.Linear(x, layer("l", 4, 4)),
    "linear: activation must be none, gelu, gelu_tanh, relu or silu, got swish": lambda x: (
        ops.Linear(x, layer("l", 8, 8), "swish")
    ),
    "linear: gate must be gelu, gelu_tanh, silu or relu, got tanh": lambda x: ops.Linear(
        x, layer("l", 8, 8), gate="tanh"
    ),
    r"linear: residual must have shape \['tokens', 4\], got \['tokens', 8\]": lambda x: ops.Linear(
        x, layer("l", 8, 4), residual=x
    ),
    "linear: gate must have neither an activation nor a residual, got silu": lambda x: ops.Linear(
        x, layer("l", 8, 16), gate="silu", residual=x
    ),
    "norm_heads: qkv must have 24 columns, got 8": lambda x: ops.NormHeads(
        x, HEADS, RmsNorm(np.ones(4, np.float32), 1e-5), RmsNorm(np.ones(4, np.float32), 1)
    ),
    "attention: qkv must have 24 columns, got 8": lambda x: ops.Attention(x, HEADS),
    "rotate: qkv must have 24 columns, got 8": lambda x: ops.Rotate(
        x, HEADS, np.ones((4, 4), np.float32)
    ),
    "unfold: width must be positive, got 0": lambda x: ops.Unfold(x, 0),
    "input: columns must be positive, got 0": lambda x: ops.Input(0),
    "embed: position must be a table of 8 columns": lambda x: ops.Embed(
        np.ones((2, 8), np.float32), np.ones((2, 4), np.float32)
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_an_op_that_does_not_fit_is_refused_when_it_is_added(message):
    graph, x = started()
    with pytest.raises(ValueError, match=message):
        graph.add(WRONG[message](x))
    assert graph.values == [x]


def test_sequences_are_not_taken_for_tokens():
    graph, x = started()
    pooled = graph.add(ops.Pool(x, "mean"))
    with pytest.raises(ValueError, match="pool: x must have a row for each of the tokens"):
        graph.add(ops.Pool(pooled, "mean"))
    with pytest.raises(ValueError, match=r"add: operands must have one shape, \['tokens', 8\]"):
        graph.add(Map.of("add", (x, pooled)))


def test_heads_have_one_eps():
    graph, x = started()
    qkv = graph.add(ops.Linear(x, layer("qkv", 8, 24)))
    norms = (RmsNorm(np.ones(4, np.float32), eps) for eps in (1e-5, 1e-6))
    with pytest.raises(ValueError, match="norm_heads: k_norm must have eps 1e-05, got 1e-06"):
        graph.add(ops.NormHeads(qkv, HEADS, *norms))


def test_values_of_another_graph_are_refused():
    _, stranger = started()
    graph, _ = started()
    with pytest.raises(ValueError, match="tanh: embed is not a value of this graph"):
        graph.add(Map.of("tanh", (stranger,)))
    with pytest.raises(ValueError, match="output: embed is not a value of this graph"):
        graph.output(stranger)


def test_only_what_the_outputs_need_is_lowered():
    graph, x = started()
    kept = graph.add(Map.of("tanh", (x,)))
    graph.add(ops.Normalize(x))
    assert list(lower_rows(graph, [kept]).values) == [x, kept]


def test_an_op_of_two_native_ops_is_named_by_both():
    graph, x = started()
    gated = graph.add(ops.Linear(x, layer("l", 8, 12), gate="silu"))
    graph.output(gated)
    assert list(lower_rows(graph).values) == [x, gated, gated]


def test_rewriting_changes_ops_and_keeps_names_and_outputs():
    graph, x = started()
    graph.output(graph.add(ops.Linear(x, layer("l", 8, 8), "gelu")))

    def bare(op):
        return dataclasses.replace(op, activation="none") if isinstance(op, ops.Linear) else op

    new = graph.rewritten(bare)
    assert [value.name for value in new.values] == [value.name for value in graph.values]
    assert "activation=gelu" in str(graph)
    assert str(new) == str(graph).replace(", activation=gelu", "")


def test_an_op_without_a_lowering_is_refused():
    graph, x = started()

    class Other(Op):
        kind = "other"

        def infer(self):
            return x.shape

    with pytest.raises(TypeError, match="other: Other is not an op of rows"):
        lower_rows(graph, [graph.add(Other())])


def test_the_page_shows_the_program_of_minilm():
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text()
    shown = page.partition("```text\nembeddings:")[2].partition("\n```")[0]
    first, last = f"embeddings:{shown}".split("\n…\n")
    program = str(fbg.load(minilm_directory(), dtype="int8").graph)
    assert program.startswith(f"{first}\nlayers.1.attention:") and program.endswith(f"\n{last}")


def test_the_page_shows_the_program_of_mobilenet():
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text()
    shown = page.partition("```text\n%0: float32[1, 3, 224, 224]")[2].partition("\n```")[0]
    first, last = f"%0: float32[1, 3, 224, 224]{shown}".split("\n…\n")
    model, shape = whole_mobilenet_v2()
    net = Net(read_model(model, "mobilenet_v2.onnx", None), shapes={"x": shape}, backends=("fbg",))
    program = str(net.graph)
    assert program.startswith(f"{first}\n") and program.endswith(f"\n{last}")
