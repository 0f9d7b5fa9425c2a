"""Graphs are divided into parts of one back end each, as few as possible."""

from __future__ import annotations

from fbg.graph.divide import divide
from fbg.graph.ops.tensors import Foreign
from helpers.tensor_graphs import Tensors


def foreign(tensors, node, *read, output="y"):
    op = Foreign(read, output, "Atan", "onnxruntime", (2,), "float32")
    return tensors.graph.add(op, (node,))


def divided(tensors, *outputs):
    """Back end and counts of values, inputs and outputs of each part."""
    for value in outputs:
        tensors.graph.output(value)
    parts = divide(tensors.graph)
    return [(p.backend, len(p.values), len(p.inputs), len(p.outputs)) for p in parts]


def test_what_does_not_wait_is_computed_before_the_back_end_changes():
    tensors = Tensors()
    x = tensors.input(2)
    a = tensors.map("exp", x)
    b = foreign(tensors, "b", a)
    c = tensors.map("sin", b)
    d = tensors.map("cos", tensors.map("tanh", x))
    e = tensors.map("add", c, d)
    # x and a constant are read by the first part; a and d leave it.
    assert divided(tensors, e) == [("fbg", 3, 1, 2), ("onnxruntime", 1, 1, 1), ("fbg", 2, 2, 1)]


def test_parts_of_another_back_end_wait_for_each_other():
    tensors = Tensors()
    x = tensors.input(2)
    first, second = foreign(tensors, "a", x), foreign(tensors, "b", x)
    y = foreign(tensors, "c", first, second)
    assert divided(tensors, y) == [("onnxruntime", 3, 1, 1)]


def test_outputs_of_a_node_are_computed_together():
    tensors = Tensors()
    x = tensors.input(2)
    values, indices = (foreign(tensors, "top", x, output=name) for name in "vi")
    y = tensors.map("exp", tensors.map("sin", values))
    z = foreign(tensors, "z", y, indices)
    assert divided(tensors, z) == [
        ("onnxruntime", 2, 1, 2),
        ("fbg", 2, 1, 1),
        ("onnxruntime", 1, 2, 1),
    ]


def test_constants_belong_to_who_reads_them():
    tensors = Tensors()
    one = tensors.constant(1)
    x = tensors.map("add", tensors.input(2), one)
    y = foreign(tensors, "f", x, one)
    assert divided(tensors, y, one) == [("fbg", 1, 2, 1), ("onnxruntime", 1, 2, 1)]


def test_a_network_of_nothing_has_no_parts():
    tensors = Tensors()
    assert divided(tensors, tensors.input(2), tensors.constant(1)) == []
