"""What the native graphs and plans check before they compute: no caller gets them out of bounds."""

from typing import Any

import numpy as np
import pytest

from fbg import _fbg

WIDTH, LENGTH = 24, 10
HEADS = _fbg.AttentionShape(2, 2, 4)
NEAR = _fbg.AttentionShape(2, 2, 4, window=3)


shape = _fbg.AttentionShape
ONES = np.ones(4, np.float32)


def packed(rows: int) -> _fbg.PackedB:
    return _fbg.pack_b_convert(floats(rows, 2), "float32")


def quantized() -> _fbg.PackedB:
    return _fbg.pack_b_quantize(floats(WIDTH, 2), True, True)


def halved(graph: _fbg.Graph, x: int, times: int) -> int:
    for _ in range(times):
        x = graph.gated(x, "gelu")
    return x


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def indices(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def local_graph() -> _fbg.Graph:
    graph = _fbg.Graph()
    turned = graph.rotate(graph.embedding(floats(9, WIDTH)), HEADS, floats(LENGTH, 4))
    graph.output(graph.attention(turned, NEAR))
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
    plain.output(plain.attention(plain.embedding(floats(9, WIDTH)), NEAR))
    near = run(plain, indices(0, 1, 2, 0))
    np.testing.assert_array_equal(run(plain, indices(4, 5, 6, 9)), near)
    far = run(plain, indices(0, 10, 20, 30))
    values = floats(9, WIDTH)[1:5, 2 * WIDTH // 3 :]
    np.testing.assert_allclose(far, values, rtol=1e-6)  # each token sees itself alone
    assert not np.allclose(near[:3], far[:3])


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (lambda g, x: g.attention(x, shape(2, 2, 4, window=-1)), "window must be within"),
        (lambda g, x: g.attention(x, shape(2, 2, 4, window=2**40)), "window must be within"),
        (lambda g, x: g.attention(x, HEADS, False, floats(3, 5)), "distance_bias must have a row"),
        (lambda g, x: g.attention(x, HEADS, False, floats(2, 4)), "distance_bias must have a row"),
        (lambda g, x: g.attention(x, shape(5, 5, 1)), r"\(q_heads \+ 2 \* kv_heads\) \* head_dim"),
        (lambda g, x: g.attention(x, shape(0, 1, 4)), "must be at least 1"),
        (lambda g, x: g.attention(x, shape(2, 2, 0)), "must be at least 1, got 2, 2, 0"),
        (lambda g, x: g.rotate(x, shape(0, 0, 0), floats(5, 4)), "must be at least 1, got 0, 0, 0"),
        (lambda g, x: g.attention(x, shape(3, 2, 4)), "kv_heads must divide q_heads"),
        (lambda g, x: g.attention(x, shape(2, 4, 3)), "kv_heads must divide q_heads, got 4 and 2"),
        # q_heads + 2 * kv_heads is 2**63 + 4.
        (lambda g, x: g.attention(x, shape(2**62 + 2, 2**61 + 1, 4)), "qkv must have"),
        (lambda g, x: g.rotate(x, HEADS, floats(5, 3)), "an even number of columns"),
        (lambda g, x: g.rotate(x, shape(8, 8, 1), floats(5, 1)), "an even number"),
        (lambda g, x: g.rotate(x, HEADS, floats(5, 6)), "at most head_dim, here 4"),
        (lambda g, x: g.rotate(g.gated(x, "gelu"), HEADS, floats(5, 4)), "qkv must have"),
        (lambda g, x: g.gated(halved(g, x, 3), "silu"), "even number of columns, got 3"),
        (lambda g, x: g.gated(x, "swish"), "gate must be gelu, gelu_tanh, silu or relu, got swish"),
        (lambda g, x: g.rms_norm(x, floats(1, 5), 0), "gamma must be 1-D"),
        (lambda g, x: g.rms_norm(x, np.ones(5, np.float32), 0), r"gamma must have shape \(1, 24"),
        (lambda g, x: g.norm_heads(x, HEADS, ONES, np.ones(3, np.float32), 0), "k_gamma must have"),
        (lambda g, x: g.norm_heads(x, shape(3, 2, 4), ONES, ONES, 0), "kv_heads must divide"),
        (lambda g, x: g.add(x, g.gated(x, "relu")), "a and b must have the same shape"),
        (lambda g, x: g.attention(x, HEADS, scale=0.0), "scale must be positive"),
        (lambda g, x: g.attention(x, HEADS, softcap=-1.0), "softcap must be positive"),
        (lambda g, x: g.attention(x, HEADS, softcap=np.inf), "softcap must be positive"),
        (lambda g, x: g.layer_norm(x, ONES[:1], ONES[:1], 1.0), r"gamma must have shape \(1, 24\)"),
        (lambda g, x: g.tanh(5), "graph: no buffer 5"),
        (lambda g, x: g.tanh(-1), "graph: no buffer -1"),
        (lambda g, x: g.tanh(g.input(4, "token", "uint8")), "x must hold float32, got uint8"),
        (lambda g, x: g.linear(x, packed(31)), "x has 24 columns, w has 31 rows"),
        (lambda g, x: g.linear(x, packed(WIDTH), channel_scale=floats(WIDTH)), "channel_scale"),
        (lambda g, x: g.linear(x, quantized(), channel_scale=floats(WIDTH - 1)), "channel_scale"),
        (lambda g, x: g.pool(g.pool(x, "cls"), "cls"), "x must have one row per"),
        (lambda g, x: g.pool(g.input(4, "sequence"), "cls"), "x must have one row per"),
        (lambda g, x: [g.output(x), g.output(x)], "buffer 0 is an output already"),
        (lambda g, x: g.output(g.input(4, "token", "uint8")), "buffer 1 is an input of the graph"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(op: Any, message: str) -> None:
    graph = _fbg.Graph()
    x = graph.embedding(floats(9, WIDTH))
    with pytest.raises(ValueError, match=message):
        op(graph, x)


def test_a_run_checks_what_an_input_is() -> None:
    graph = _fbg.Graph()
    x = graph.input(WIDTH)
    graph.output(graph.tanh(x))
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
    x = graph.input(WIDTH, rows)
    w, bias, gamma = floats(WIDTH, 7), floats(7), floats(8)[1:]
    y = graph.linear(x, _fbg.pack_b_convert(w, "float32"), bias=bias, activation="relu")
    graph.output(graph.layer_norm(y, gamma, bias, 1e-6))
    graph.output(graph.tanh(x))  # in place, if the memory were the arena's
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
        ((4, "row"), "rows must be token or sequence, got row"),
        ((4, "token", "int32"), "dtype must be float32, bfloat16, uint8 or int8, got int32"),
    ],
)
def test_inputs_that_no_buffer_can_hold_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"input: .*{message}"):
        _fbg.Graph().input(*arguments)


@pytest.mark.parametrize("name", ["tokens", "sequences", "length", "threads"])
def test_plans_of_nothing_are_refused(name: str) -> None:
    sizes = {"tokens": 1, "sequences": 1, "length": 1, "threads": 1, name: 0}
    with pytest.raises(ValueError, match=f"capacity of {name} must be at least 1, got 0"):
        _fbg.Plan(local_graph(), **sizes)
