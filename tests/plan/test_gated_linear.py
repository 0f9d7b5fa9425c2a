"""Gated linear layers have the bits of a linear layer whose result is gated."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fbg import _fbg
from helpers.row_plans import append_gated, compute, draw, plan_of, run_rows

GATES = ("gelu", "gelu_tanh", "silu", "relu")
HALVES = st.sampled_from([32, 64, 96, 160, 544, 1120])  # columns of the output: whole panels


def int4(w: np.ndarray, symmetric: bool = True) -> Any:
    values = np.clip(np.rint(2 * w), -8, 7).astype(np.int8)
    groups = (-(-len(w) // 32), w.shape[1])
    scales = (0.5 + np.abs(draw(7, *groups))).astype(np.float16).view(np.uint16)
    offsets = None if symmetric else draw(8, *groups).astype(np.float16).view(np.uint16)
    return _fbg.pack_b_int4(values, scales, offsets, 32)


PACKERS: dict[str, Callable[[np.ndarray], Any]] = {
    "float32": lambda w: _fbg.pack_b_convert(w, "float32"),
    "bfloat16": lambda w: _fbg.pack_b_convert(w, "bfloat16"),
    "float16": lambda w: _fbg.pack_b_convert(w, "float16"),
    "int8": lambda w: _fbg.pack_b_quantize(w, per_column=True, symmetric=True),
    "int4": int4,
    "int4_offset": lambda w: int4(w, symmetric=False),
}


@pytest.mark.parametrize("dtype", PACKERS)
@given(
    rows=st.integers(1, 60),
    half=HALVES,
    depth=st.integers(1, 90),
    gate=st.sampled_from(GATES),
    seed=st.integers(0, 99),
)
@example(rows=450, half=96, depth=70, gate="gelu", seed=1)  # several blocks of rows
@example(rows=40, half=544, depth=1100, gate="silu", seed=2)  # K is cut in float32
@example(rows=40, half=288, depth=2100, gate="relu", seed=3)  # and in bfloat16
@example(rows=700, half=64, depth=20, gate="gelu_tanh", seed=4)  # one panel at a time
@settings(deadline=None, max_examples=12)
def test_gating_a_block_of_columns_at_a_time_changes_no_bit(
    isa: str, dtype: str, rows: int, half: int, depth: int, gate: str, seed: int
) -> None:
    if isa == "generic" and rows * half * depth > 10**6:
        rows, depth = min(rows, 14), min(depth, 40)
    x, w = draw(seed, rows, depth), draw(seed + 1, depth, 2 * half)
    packed = PACKERS[dtype](w)
    options: dict[str, Any] = {"bias": draw(seed + 2, 2 * half)} if seed % 3 else {}
    if dtype.startswith("int") and seed % 2:
        options["channel_scale"] = np.exp(draw(seed + 3, depth))
    apart = _fbg.Graph()
    y = apart.append("linear", apart.append("input", depth), packed, **options)
    y = append_gated(apart, y, gate, half)
    wanted = compute(apart, x, y, half, 1)
    for threads in (1, 2, 3):
        graph = _fbg.Graph()
        y = graph.append("linear", graph.append("input", depth), packed, gate=gate, **options)
        np.testing.assert_array_equal(compute(graph, x, y, half, threads), wanted)


def test_runs_of_few_rows_of_a_large_plan_have_the_same_bits() -> None:
    x, packed = draw(1, 400, 48), _fbg.pack_b_quantize(draw(2, 48, 1088), True, True)
    graph = _fbg.Graph()
    graph.output(graph.append("linear", graph.append("input", 48), packed, gate="gelu"))
    plan = plan_of(graph, 400, 2)
    results = [run_rows(plan, x[:rows], 544, 2) for rows in (400, 1, 13)]
    for part in results[1:]:
        np.testing.assert_array_equal(part, results[0][: len(part)])


def test_tuned_blockings_and_copies_of_weights_change_no_bit() -> None:
    x, packed = draw(1, 100, 40), _fbg.pack_b_convert(draw(2, 40, 256), "float32")
    graph = _fbg.Graph()
    graph.output(graph.append("linear", graph.append("input", 40), packed, gate="silu"))
    kind = ("float32", 40, 256)
    tuner = _fbg.Tuner(graph, kind, 2)
    candidates = tuner.candidates(100)
    assert all(seconds > 0 for seconds in tuner.seconds(100, candidates, 0.001))
    results = []
    for blocking in candidates:
        plan = plan_of(graph, 100, 2, tuned=[(kind, 1, 100, blocking)])
        results.append(run_rows(plan, x, 128, 2))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("rows", [1, 12, 13, 200])
def test_what_a_product_of_bfloat16_reads_is_rounded_when_it_is_gated(rows: int) -> None:
    x, w, v = draw(1, rows, 48), draw(2, 48, 1088), draw(3, 544, 40)
    gamma = np.ones(48, np.float32)
    first, second = (_fbg.pack_b_convert(m, "bfloat16") for m in (w, v))
    results = []
    for fused in (True, False):
        graph = _fbg.Graph()
        source = graph.append("input", 48)
        a = graph.append(
            "norm", source, "rms_norm", gamma, None, 1e-6
        )  # which writes bfloat16, too
        y = graph.append("linear", a, first, gate="silu") if fused else None
        if y is None:
            y = append_gated(graph, graph.append("linear", a, first), "silu", 544)
        out = graph.append("linear", y, second)
        results.append(compute(graph, x, out, 40, 2))
        plan = _fbg.Plan(graph, tokens=9, sequences=1, length=9, threads=1)
        assert plan.ops[y][0].endswith("-> bfloat16")
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (64, {"gate": "swish"}, "gate must be gelu, gelu_tanh, silu or relu, got swish"),
        (65, {"gate": "silu"}, "must be a multiple of 64, got 65"),
        (96, {"gate": "silu"}, "must be a multiple of 64, got 96"),
        (64, {"gate": "silu", "activation": "gelu"}, "neither an activation nor a residual"),
        (64, {"gate": "silu", "residual": 0}, "neither an activation nor a residual"),
    ],
)
def test_what_does_not_fit_is_refused(columns: int, options: dict[str, Any], message: str) -> None:
    graph = _fbg.Graph()
    x = graph.append("input", 16)
    with pytest.raises(ValueError, match=message):
        graph.append("linear", x, _fbg.pack_b_convert(draw(1, 16, columns), "float32"), **options)
