"""What the native graphs and plans check before they compute: no caller gets them out of bounds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fbg import _fbg
from helpers.row_plans import append_gated, append_step

WIDTH, LENGTH = 24, 10


def shape(
    q_heads: int, kv_heads: int, head_dim: int, causal: bool = False, window: int | None = None
) -> tuple[int, int, int, bool, int | None]:
    return q_heads, kv_heads, head_dim, causal, window


HEADS = shape(2, 2, 4)
NEAR = shape(2, 2, 4, window=3)
ONES = np.ones(4, np.float32)


def packed(rows: int) -> _fbg.PackedB:
    return _fbg.pack_b_convert(floats(rows, 2), "float32")


def quantized() -> _fbg.PackedB:
    return _fbg.pack_b_quantize(floats(WIDTH, 2), True, True)


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def indices(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def local_graph() -> _fbg.Graph:
    graph = _fbg.Graph()
    turned = graph.append(
        "rotate", graph.append("embed", floats(9, WIDTH)), HEADS, floats(LENGTH, 4)
    )
    graph.output(graph.append("attention", turned, NEAR))
    return graph


def run(graph: _fbg.Graph, positions: np.ndarray) -> np.ndarray:
    out = np.empty((4, WIDTH // 3), np.float32)
    ids, zeros, offsets = indices(1, 2, 3, 4), indices(0, 0, 0, 0), indices(0, 3, 4)
    plan = _fbg.Plan(graph, tokens=8, sequences=8, length=8, threads=1)
    plan.run(ids, zeros, zeros, positions, offsets, [out], 1)
    return out


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([0, 1, LENGTH, 0], r"sequence_positions must be in \[0, 10\)"),
        ([-1, 1, 2, 0], r"sequence_positions must be in \[0, 10\)"),
        ([0, 2, 2, 0], "sequence_positions must ascend in sequence 0"),
        ([0, 2, 1, 5], "sequence_positions must ascend in sequence 0"),
        ([0, 1, 2], r"sequence_positions must have shape \(4,\)"),
    ],
)
def test_positions_that_no_table_has_are_refused(positions: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=f"run: {message}"):
        run(local_graph(), indices(*positions))


def test_only_distances_count_and_only_near_keys() -> None:
    plain = _fbg.Graph()
    plain.output(plain.append("attention", plain.append("embed", floats(9, WIDTH)), NEAR))
    near = run(plain, indices(0, 1, 2, 0))
    np.testing.assert_array_equal(run(plain, indices(4, 5, 6, 9)), near)
    far = run(plain, indices(0, 10, 20, 30))
    values = floats(9, WIDTH)[1:5, 2 * WIDTH // 3 :]
    np.testing.assert_allclose(far, values, rtol=1e-6)  # each token sees itself alone
    assert not np.allclose(near[:3], far[:3])


def append(kind: str, *fields: object, **named: object) -> Callable[[_fbg.Graph], object]:
    return lambda graph: graph.append(kind, *fields, **named)


def step(function: str, columns: int, *operands: int) -> Callable[[_fbg.Graph], object]:
    return lambda graph: append_step(graph, function, columns, *operands)


def output(*buffers: int) -> Callable[[_fbg.Graph], object]:
    return lambda graph: [graph.output(buffer) for buffer in buffers]


X, HALF, _, NARROW, BYTES, SEQUENCES, POOLED = range(7)  # buffers of the graph below


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (append("attention", X, shape(2, 2, 4, window=-1)), "window must be within"),
        (append("attention", X, shape(2, 2, 4, window=2**40)), "window must be within"),
        (append("attention", X, HEADS, False, floats(3, 5)), "distance_bias must have a row"),
        (append("attention", X, HEADS, False, floats(2, 4)), "distance_bias must have a row"),
        (append("attention", X, shape(5, 5, 1)), r"\(q_heads \+ 2 \* kv_heads\) \* head_dim"),
        (append("attention", X, shape(0, 1, 4)), "must be at least 1"),
        (append("attention", X, shape(2, 2, 0)), "must be at least 1, got 2, 2, 0"),
        (append("rotate", X, shape(0, 0, 0), floats(5, 4)), "must be at least 1, got 0, 0, 0"),
        (append("attention", X, shape(3, 2, 4)), "kv_heads must divide q_heads"),
        (append("attention", X, shape(2, 4, 3)), "kv_heads must divide q_heads, got 4 and 2"),
        # q_heads + 2 * kv_heads is 2**63 + 4.
        (append("attention", X, shape(2**62 + 2, 2**61 + 1, 4)), "qkv must have"),
        (append("rotate", X, HEADS, floats(5, 3)), "an even number of columns"),
        (append("rotate", X, shape(8, 8, 1), floats(5, 1)), "an even number"),
        (append("rotate", X, HEADS, floats(5, 6)), "at most head_dim, here 4"),
        (append("rotate", HALF, HEADS, floats(5, 4)), "qkv must have"),
        (step("add", 12, X, POOLED), "operands must have the same rows, of as many columns"),
        (step("add", 24, X, HALF), "operands must have the same rows, of as many columns"),
        (step("add", 12, HALF, BYTES), "operands must have the same rows, of as many columns"),
        (step("add", 4, HALF, BYTES), "rows must be dense floats"),
        (step("swish", 24, X), "there is no function 'swish'"),
        (append("norm", X, "swish"), "function must be layer_norm, .* or log_softmax, got swish"),
        (append("norm", X, "rms_norm", floats(1, 5)), "gamma must be 1-D"),
        (append("norm", X, "rms_norm", np.ones(5, np.float32)), r"gamma must have shape \(1, 24"),
        (append("norm", X, "rms_norm", ONES, None, 0, 3), "gamma must have whole heads of 3"),
        (append("norm", HALF, "rms_norm", floats(16), None, 0, 4), "at most 12, got"),
        (append("norm", X, "normalize", floats(24)), "normalize: takes no weights"),
        (append("attention", X, HEADS, scale=0.0), "scale must be positive"),
        (append("attention", X, HEADS, softcap=-1.0), "softcap must be positive"),
        (append("attention", X, HEADS, softcap=np.inf), "softcap must be positive"),
        (append("norm", X, "layer_norm", ONES[:1], ONES[:1]), r"gamma must have shape \(1, 24\)"),
        (append("unfold", 7, 3), "graph: no buffer 7"),
        (append("unfold", -1, 3), "graph: no buffer -1"),
        (append("unfold", BYTES, 3), "x must hold float32, got uint8"),
        (append("linear", X, packed(31)), "x has 24 columns, w has 31 rows"),
        (append("linear", X, packed(WIDTH), channel_scale=floats(WIDTH)), "channel_scale"),
        (append("linear", X, quantized(), channel_scale=floats(WIDTH - 1)), "channel_scale"),
        (append("pool", POOLED, "cls"), "x must have one row per"),
        (append("pool", SEQUENCES, "cls"), "x must have one row per"),
        (output(X, X), "buffer 0 is an output already"),
        (output(BYTES), "buffer 4 is an input of the graph"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(op: Any, message: str) -> None:
    graph = _fbg.Graph()
    x = graph.append("embed", floats(9, WIDTH))
    for columns in (12, 6, 3):
        x = append_gated(graph, x, "gelu", columns)
    graph.append("input", 4, "token", "uint8")
    graph.append("input", 4, "sequence")
    graph.append("pool", X, "cls")
    with pytest.raises(ValueError, match=message):
        op(graph)


def test_fields_that_a_kind_does_not_have_are_refused() -> None:
    graph = _fbg.Graph()
    x = graph.append("input", WIDTH)
    for fields, named, message in (
        (("swish", x), {}, "graph: there is no op swish"),
        (("unfold",), {}, "unfold: x is missing"),
        (("unfold", 0.5), {}, "unfold: x must be an integer"),
        (("unfold", x, 1, 1), {}, "unfold: takes 2 fields, got 3"),
        (("unfold", x, 1), {"scale": 1}, "unfold: there is no field scale"),
        (("rotate", x, (2, 2), floats(5, 4)), {}, "rotate: heads: head_dim is missing"),
        (("norm", x, "rms_norm", floats(WIDTH).astype(np.float64)), {}, "gamma must hold float32"),
        (("input", 3), {"bytes": 1}, "input: there is no field bytes"),
    ):
        with pytest.raises(ValueError, match=message):
            graph.append(*fields, **named)
    assert graph.append("unfold", x, 1) == 1  # what was refused left nothing behind
    with pytest.raises(TypeError, match="graph: no field of an op can be"):
        graph.append("unfold", {})


def test_a_run_checks_what_an_input_is() -> None:
    graph = _fbg.Graph()
    x = graph.append("input", WIDTH)
    graph.output(append_step(graph, "tanh", WIDTH, x))
    plan = _fbg.Plan(graph, tokens=8, sequences=8, length=8, threads=1)
    out = np.empty((3, WIDTH), np.float32)

    def run_on(*inputs: np.ndarray) -> None:
        plan.run(None, None, None, None, indices(0, 3), [out], 1, inputs=inputs)

    run_on(floats(3, WIDTH))
    np.testing.assert_allclose(out, np.tanh(floats(3, WIDTH)), atol=1e-6)
    for wrong in (floats(2, WIDTH), floats(3, WIDTH).astype(np.float64), floats(WIDTH, 3).T):
        with pytest.raises(ValueError, match=r"input 0 must be contiguous float32 of shape \(3,"):
            run_on(wrong)
    with pytest.raises(ValueError, match="wanted 1 input, got 0"):
        run_on()


@pytest.mark.parametrize("rows", ["token", "sequence"])
def test_a_float_input_goes_through_a_linear_layer_and_a_norm(rows: str) -> None:
    graph = _fbg.Graph()
    x = graph.append("input", WIDTH, rows)
    w, bias, gamma = floats(WIDTH, 7), floats(7), floats(8)[1:]
    y = graph.append("linear", x, _fbg.pack_b_convert(w, "float32"), bias=bias, activation="relu")
    graph.output(graph.append("norm", y, "layer_norm", gamma, bias, 1e-6))
    graph.output(append_step(graph, "tanh", WIDTH, x))  # in place, if the memory were the arena's
    plan = _fbg.Plan(graph, tokens=8, sequences=8, length=8, threads=2)
    count = {"token": 5, "sequence": 2}[rows]
    given, out = floats(count, WIDTH), np.empty((count, 7), np.float32)
    bent = np.empty_like(given)
    plan.run(None, None, None, None, indices(0, 3, 5), [out, bent], 2, inputs=[given])
    np.testing.assert_array_equal(given, floats(count, WIDTH))
    np.testing.assert_allclose(bent, np.tanh(given), atol=1e-6)
    want = np.maximum(given @ w + bias, 0).astype(np.float64)
    centred = want - want.mean(axis=1, keepdims=True)
    deviation = np.sqrt(centred.var(axis=1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(out, centred / deviation * gamma + bias, atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "at least one column"),
        ((4, "row"), "rows must be token, sequence or tensor, got row"),
        ((4, "token", "int32"), "dtype must be float32, bfloat16, uint8 or int8, got int32"),
    ],
)
def test_inputs_that_no_buffer_can_hold_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"input: .*{message}"):
        _fbg.Graph().append("input", *arguments)


@pytest.mark.parametrize("name", ["tokens", "sequences", "length", "threads"])
def test_plans_of_nothing_are_refused(name: str) -> None:
    sizes = {"tokens": 1, "sequences": 1, "length": 1, "threads": 1, name: 0}
    with pytest.raises(ValueError, match=f"capacity of {name} must be at least 1, got 0"):
        _fbg.Plan(local_graph(), **sizes)
