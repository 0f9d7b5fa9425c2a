"""Ops from bytes to bytes: gates and tables, against NumPy, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from fbg import _fbg


def run(graph, y, inputs, shape, dtype, threads):
    graph.output(y)
    plan = _fbg.Plan(graph, 1, 1, 1, threads)
    out = np.empty(shape, dtype)
    _fbg.run_tensors(plan, inputs, [out], threads)
    return out, [name for name, *_ in plan.ops]


def gate(x, factors, constants, *, swapped, threads):
    """The result of a gate on x (matrices, rows, cols) by factors (matrices, cols)."""
    scale, point, output_scale, output_point = constants
    matrices, rows, cols = x.shape
    graph = _fbg.Graph()
    bx, bf = (
        graph.append("input", x.nbytes, "tensor"),
        graph.append("input", factors.nbytes, "tensor"),
    )
    operands = [(bx, str(x.dtype), [rows * cols, cols, 1]), (bf, "float32", [cols, 0, 1])]
    at = int(swapped)
    steps = [
        ("dequantize", at, at, scale, point),
        ("multiply", 1 - at, 2, 0.0, 0.0),
        ("quantize", 3, 3, output_scale, output_point),
    ]
    extents = [matrices, rows, cols]
    if swapped:
        operands.reverse()
    y = graph.append("elementwise", extents, operands, steps, str(x.dtype))
    return run(graph, y, [x, factors], x.shape, x.dtype, threads)


@settings(max_examples=150)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 140)),
    dtype=st.sampled_from([np.uint8, np.int8]),
    output_scale=st.sampled_from([0.01, 0.37, 1e-31, 1e31]),
    swapped=st.booleans(),
    threads=st.integers(1, 2),
    isa=st.sampled_from(fbg.isa.supported()),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_gate_rounds_as_its_steps_do(shape, dtype, output_scale, swapped, threads, isa, seed):
    rng = np.random.default_rng(seed)
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max + 1, shape, dtype=dtype)
    factors = rng.standard_normal((shape[0], shape[2])).astype(np.float32)
    special = rng.random(factors.shape) < 0.05
    factors[special] = rng.choice([np.inf, -np.inf, np.nan, 0.0, 1e30], special.sum())
    constants = (0.02, float(rng.integers(info.min, info.max)), output_scale, float(info.max - 100))
    with fbg.isa.limit(isa):
        y, names = gate(x, factors, constants, swapped=swapped, threads=threads)
    assert names == ["input", "input", "gate"]
    scale, point, divisor, output_point = (np.float32(c) for c in constants)
    with np.errstate(all="ignore"):
        real = (x.astype(np.float32) - point) * scale * factors[:, None, :]
        q = np.rint(real / divisor) + output_point
    wanted = np.where(np.isnan(q), info.min, np.clip(q, info.min, info.max)).astype(dtype)
    np.testing.assert_array_equal(y, wanted)


@settings(max_examples=100)
@given(
    n=st.integers(1, 2500),
    dtype=st.sampled_from([np.uint8, np.int8]),
    scale=st.sampled_from([0.01, 0.37, 1e-31, 1e31]),
    threads=st.integers(1, 2),
    isa=st.sampled_from(fbg.isa.supported()),
    seed=st.integers(0, 2**32 - 1),
)
def test_floats_are_quantized_as_numpy_does(n, dtype, scale, threads, isa, seed):
    rng = np.random.default_rng(seed)
    info = np.iinfo(dtype)
    x = (rng.standard_normal(n) * 100 * scale).astype(np.float32)
    halves = rng.random(n) < 0.2
    x[halves] = (rng.integers(-300, 300, halves.sum()) + 0.5) * np.float32(scale)
    special = rng.random(n) < 0.05
    x[special] = rng.choice([np.inf, -np.inf, np.nan, 0.0, 3e38], special.sum())
    point = float(rng.integers(info.min, info.max + 1))
    graph = _fbg.Graph()
    operand = (graph.append("input", x.nbytes, "tensor"), "float32", [1])
    steps = [("quantize", 0, 0, scale, point)]
    with fbg.isa.limit(isa):
        y = graph.append("elementwise", [n], [operand], steps, np.dtype(dtype).name)
        result, names = run(graph, y, [x], n, dtype, threads)
    assert names == ["input", "quantize"]
    with np.errstate(all="ignore"):
        q = np.rint(x / np.float32(scale)) + np.float32(point)
    wanted = np.where(np.isnan(q), info.min, np.clip(q, info.min, info.max)).astype(dtype)
    np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize(
    ("strides", "factors"),
    [([1, 4], [0, 1]), ([4, 1], [1, 0]), ([4, 1], [4, 1]), ([4, 1], [0, 0])],
)
def test_other_layouts_are_no_gates(strides, factors):
    x = np.arange(16, dtype=np.uint8)
    f = np.arange(16, dtype=np.float32)
    graph = _fbg.Graph()
    bx, bf = graph.append("input", x.nbytes, "tensor"), graph.append("input", f.nbytes, "tensor")
    operands = [(bx, "uint8", strides), (bf, "float32", factors)]
    if strides[-1] != 1:
        with pytest.raises(ValueError, match="last stride"):
            graph.append("elementwise", [4, 4], operands, STEPS, "uint8")
        return
    y = graph.append("elementwise", [4, 4], operands, STEPS, "uint8")
    result, names = run(graph, y, [x, f], (4, 4), np.uint8, 1)
    assert names[-1].startswith("elementwise dequantize multiply quantize")
    spread = np.lib.stride_tricks.as_strided(f, (4, 4), [4 * s for s in factors])
    np.testing.assert_array_equal(result, np.clip(np.rint(x.reshape(4, 4) * spread), 0, 255))


STEPS = [("dequantize", 0, 0, 1.0, 0.0), ("multiply", 2, 1, 0.0, 0.0), ("quantize", 3, 3, 1.0, 0.0)]


def test_a_table_maps_every_byte_at_every_length(isa):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 256, 256, dtype=np.uint8)
    for n in [*range(1, 140), 255, 256, 4096, 5000]:
        x = rng.integers(0, 256, n, dtype=np.uint8)
        x[: min(n, 256)] = rng.permutation(256)[: min(n, 256)]
        graph = _fbg.Graph()
        y = graph.append("look_up", graph.append("input", n, "tensor"), table)
        result, _ = run(graph, y, [x], n, np.uint8, 2)
        np.testing.assert_array_equal(result, table[x])
