"""Networks in the ONNX format: node tests and small networks with changed attributes, inputs, types
and constants, loaded and run.

Whatever `onnx.reference` makes of a constant at load time is its own; what is checked here is that
fbg names what is wrong (ModelError, ValueError or TypeError) and neither crashes nor hangs.
"""

from __future__ import annotations

import functools
import warnings
from random import Random

import numpy as np
import onnx
from onnx import numpy_helper

import fbg
from fuzz.files import file_in
from fuzz.mutations import change_bytes
from fuzz.target import target

INTS = (0, 1, -1, 2, 3, 7, -2, 64, 65536, 100000, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62)
INTS += (-(2**63), 2**63 - 1)
FLOATS = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e-45, 1e38, 1e-30)
STRINGS = (b"", b"\xff\xfe", b"SAME_UPPER", b"VALID", b"NOTSET", b"linear", b"cubic", b"x" * 1000)
TYPES = (0, 1, 2, 3, 6, 7, 9, 10, 11, 16, 99)
SIZES = (0, 1, 2, 3, 5, -1, 2**40, 2**62)
LARGEST_SEED = 4000  # bytes
MOST_ELEMENTS = 100_000  # of a shape that integers may ask for: a larger one takes its time


@functools.cache
def _seeds():
    """The node tests that fbg runs without another back end."""
    from onnx.backend.test.loader import load_model_tests

    seeds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the casts by which the tests are made
        cases = load_model_tests(kind="node")
    for case in cases:
        if case.model is None:
            continue
        data = case.model.SerializeToString()
        if len(data) > LARGEST_SEED:
            continue
        path = file_in("onnx", "seed.onnx")
        path.write_bytes(data)
        try:
            fbg.load(path, backends=("fbg",))
        except (fbg.ModelError, ValueError, TypeError):
            continue
        seeds.append(data)
    return seeds


@functools.cache
def _operators():
    return sorted({onnx.load_from_string(s).graph.node[0].op_type for s in _seeds()})


def _change_attribute(a, rng):
    if a.type == a.INTS and a.ints:
        kind = rng.randrange(4)
        if kind == 0:
            a.ints.append(rng.choice(INTS))
        elif kind == 1:
            a.ints.pop()
        else:
            a.ints[rng.randrange(len(a.ints))] = rng.choice(INTS)
    elif a.type == a.INT:
        a.i = rng.choice(INTS)
    elif a.type == a.FLOAT:
        a.f = rng.choice(FLOATS)
    elif a.type == a.STRING:
        a.s = rng.choice(STRINGS)
    elif a.type == a.FLOATS and a.floats:
        a.floats[0] = rng.choice(FLOATS)


def _change_node(model, rng):
    graph = model.graph
    node = rng.choice(graph.node)
    kind = rng.randrange(6)
    if kind <= 1 and node.attribute:
        _change_attribute(rng.choice(node.attribute), rng)
    elif kind == 2 and node.attribute:
        node.attribute.pop(rng.randrange(len(node.attribute)))
    elif kind == 3 and node.input:
        names = [i.name for i in graph.input] + [o for n in graph.node for o in n.output]
        node.input[rng.randrange(len(node.input))] = rng.choice([*names, "", "nowhere"])
    elif kind == 4 and node.input:
        if rng.random() < 0.5:
            node.input.pop()
        else:
            node.input.append(rng.choice([*(i.name for i in graph.input), ""]))
    elif kind == 5:
        node.op_type = rng.choice(_operators())


def _change_types(model, rng):
    graph, kind = model.graph, rng.randrange(5)
    if kind <= 1:
        value = rng.choice(list(graph.input) or list(graph.output))
        tensor = value.type.tensor_type
        if kind == 0:
            tensor.elem_type = rng.choice(TYPES)
        elif tensor.shape.dim:
            dim = rng.choice(tensor.shape.dim)
            if rng.random() < 0.3:
                dim.dim_param = rng.choice(("n", "", "a b"))
            else:
                dim.dim_value = rng.choice(SIZES)
    elif kind == 2 and graph.initializer:
        tensor = rng.choice(graph.initializer)
        which = rng.randrange(3)
        if which == 0 and tensor.dims:
            tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(SIZES)
        elif which == 1:
            tensor.raw_data = tensor.raw_data[: len(tensor.raw_data) // 2]
        else:
            tensor.data_type = rng.choice(TYPES)
    elif kind == 3 and len(graph.input) > 1:
        chosen = rng.choice(graph.input)
        values = _feed(chosen, rng)
        if values is not None:
            graph.initializer.append(numpy_helper.from_array(values, chosen.name))
    elif kind == 4 and model.opset_import:
        model.opset_import[0].version = rng.choice((0, 1, 6, 7, 9, 11, 13, 17, 99, 2**40, -1))


def _mutate(data, rng):
    if rng.random() < 0.1:
        return change_bytes(data, rng)
    try:
        model = onnx.load_from_string(data)
        for _ in range(rng.choice((1, 1, 2, 3))):
            (_change_node if rng.random() < 0.6 else _change_types)(model, rng)
        return model.SerializeToString()
    except Exception:  # what protobuf cannot decode, or cannot hold
        return change_bytes(data, rng)


def _feed(value, rng):
    """Return a small value for an input; None for types that NumPy does not have."""
    tensor = value.type.tensor_type
    try:
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except (KeyError, TypeError):
        return None
    shape = [
        min(max(d.dim_value, 0), 6) if d.dim_value else rng.randrange(4) for d in tensor.shape.dim
    ]
    generator = np.random.default_rng(rng.randrange(2**32))
    if dtype.kind == "f":
        return (generator.standard_normal(shape) * 3).astype(dtype)
    if dtype.kind in "iub":
        values = generator.integers(0, rng.choice((2, 5, 100)), shape)
        while values.prod(dtype=np.float64) > MOST_ELEMENTS:  # if it is a shape
            values //= 2
        return values.astype(dtype)
    return None


def _run(data):
    path = file_in("onnx", "m.onnx")
    path.write_bytes(data)
    net = fbg.load(path, backends=("fbg",))
    rng = Random(len(data))
    feeds = {i.name: _feed(i, rng) for i in onnx.load_from_string(data).graph.input}
    net.run({name: value for name, value in feeds.items() if name in net.inputs})


KIND = target(
    "onnx", _seeds, _mutate, _run, (fbg.ModelError, ValueError, TypeError, MemoryError), 60
)
