"""Images of bfloat16: sums of their products, arguments, and plans that hold them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from fbg import _fbg
from helpers.convolutions import definition

Array = npt.NDArray[Any]
HALF = ml_dtypes.bfloat16
# kernel, stride, padding, groups, inputs and outputs of a group
SHAPES = [
    (1, 1, 0, 1, 24, 40),
    (3, 1, 1, 1, 16, 33),
    (3, 2, 1, 1, 3, 16),
    (3, 1, 1, 8, 1, 1),
    (5, 1, 2, 2, 6, 5),
    (3, 1, 1, 4, 16, 16),  # groups that a matrix unit multiplies side by side
    (3, 1, 1, 1, 64, 40),  # runs of whole blocks of such a unit
]


def drawn(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape, np.float32).astype(HALF)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(SHAPES),
    st.integers(1, 13),
    st.integers(1, 13),
    st.integers(0, 2**32 - 1),
    st.sampled_from(fbg.isa.supported()),
)
def test_every_algorithm_sums_products_of_bfloat16(
    shape: Any, height: int, width: int, seed: int, isa: str
) -> None:
    kernel, stride, padding, groups, inputs, outputs = shape
    rng = np.random.default_rng(seed)
    x = drawn(rng, 2, height + kernel, width + kernel, groups * inputs)
    w = drawn(rng, groups * outputs, inputs, kernel, kernel)
    wc = fbg.PackedConv(w, stride=stride, padding=padding, groups=groups, dtype="bfloat16")
    geometry = {
        "stride": [stride] * 2,
        "dilation": [1, 1],
        "padding": [(padding, padding)] * 2,
        "groups": groups,
    }
    wide_x, wide_w = x.astype(np.float32), w.astype(np.float32)
    expected = definition(wide_x, wide_w, 0, geometry)
    magnitude = definition(np.abs(wide_x), np.abs(wide_w), 0, geometry)
    bound = (inputs * kernel**2 + 2) * 2.0**-24 * magnitude + 1e-30
    with fbg.isa.limit(isa):
        found = wc.algorithms(x.shape, x_dtype="bfloat16")
        assert {"im2col"} <= {algorithm.name for algorithm in found}
        for algorithm in found:
            y = fbg.conv(x, wc, algorithm=algorithm.name, num_threads=2)
            assert y.dtype == np.float32
            assert (np.abs(y - expected) <= bound).all(), algorithm
            alone = fbg.conv(x[1:], wc, algorithm=algorithm.name, num_threads=1)
            np.testing.assert_array_equal(alone, y[1:])


def rounded_plan(x: Array, wc: fbg.PackedConv, keeps: bool) -> tuple[list[str], Array]:
    """Two convolutions with a function between them, whose weights round x. keeps: a run hands back
    what is between them, too, so that it stays float32.
    """
    graph = _fbg.Graph()
    fields = {
        "weights": wc._native_for("round"),
        "batch": x.shape[0],
        "spatial": (1, *x.shape[1:3]),
        "stages": (),
        "source": "round",
    }
    a = graph.append("convolve", graph.append("input", x.nbytes, "tensor"), **fields)
    steps = [("relu", 0, 0, 0, 0)]
    b = graph.append("elementwise", [x.size], [(a, "float32", [1])], steps, "float32")
    for buffer in (*[b] * keeps, graph.append("convolve", b, **fields)):
        graph.output(buffer)
    plan = _fbg.Plan(graph, 1, 1, 1, 2)
    results = [np.empty(x.shape, np.float32) for _ in range(1 + keeps)]
    _fbg.run_tensors(plan, [x], results, 2)
    return [op[0] for op in plan.ops], results[-1]


def test_plans_hold_as_bfloat16_what_all_readers_round(isa: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 9, 7, 32), np.float32)
    wc = fbg.PackedConv(drawn(rng, 32, 32, 3, 3), padding=1, dtype="bfloat16")
    names, y = rounded_plan(x, wc, keeps=False)
    kept, same = rounded_plan(x, wc, keeps=True)
    assert [name.endswith("-> bfloat16") for name in names] == [False, False, True, False]
    assert not any(name.endswith("-> bfloat16") for name in kept)
    np.testing.assert_array_equal(y, same)
    between = np.maximum(fbg.conv(x.astype(HALF), wc), 0).astype(HALF)
    np.testing.assert_array_equal(y, fbg.conv(between, wc))


def test_results_may_be_bfloat16_and_calls_prepared(isa: str) -> None:
    rng = np.random.default_rng(2)
    x = drawn(rng, 1, 6, 5, 8)
    wc = fbg.PackedConv(drawn(rng, 12, 8, 3, 3), dtype="bfloat16")
    pipeline = fbg.Bias(np.ones(12, np.float32)) >> fbg.ReLU() >> fbg.Cast("bfloat16")
    exact = np.maximum(fbg.conv(x, wc) + 1, 0)
    y = fbg.conv(x, wc, pipeline)
    assert y.dtype == HALF
    np.testing.assert_array_equal(y, exact.astype(HALF))
    call = fbg.prepare(wc, pipeline, shape=x.shape, x_dtype="bfloat16")
    out = np.empty_like(y)
    for _ in range(3):
        np.testing.assert_array_equal(call(x, out), y)
    rows = fbg.gemm(fbg.PackAWithIm2Col(x, wc), wc)
    np.testing.assert_array_equal(rows, fbg.conv(x, wc, algorithm="im2col").reshape(rows.shape))
    turned = np.asfortranarray(x)
    np.testing.assert_array_equal(fbg.conv(turned, wc, pipeline), y)


def test_float_images_of_such_weights_are_not_rounded() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1, 4, 4, 8), np.float32)
    wc = fbg.PackedConv(drawn(rng, 8, 8, 1, 1), dtype="bfloat16")
    widened = fbg.PackedConv(wc.unpack(), dtype="float32")
    np.testing.assert_allclose(fbg.conv(x, wc), fbg.conv(x, widened), rtol=1e-5, atol=1e-5)
    before = wc.nbytes
    fbg.conv(x.astype(HALF), wc)
    assert wc.nbytes > before


def test_what_does_not_go_with_bfloat16_is_refused() -> None:
    x = np.zeros((1, 4, 4, 8), HALF)
    w = np.ones((8, 8, 1, 1), np.float32)
    wc = fbg.PackedConv(w, dtype="bfloat16")
    for dtype in ("float32", "float16", "int8"):
        with pytest.raises(TypeError, match=r"x must be .*, got bfloat16"):
            fbg.conv(x, fbg.PackedConv(w, dtype=dtype))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="x must be float32 or bfloat16, got uint16"):
        fbg.conv(x.view(np.uint16), wc)
    with pytest.raises(TypeError, match="scale and zero_point require a quantized x"):
        fbg.conv(x, wc, scale=0.5)
    call = fbg.prepare(wc, shape=x.shape, x_dtype=HALF)
    for wrong in (np.uint16, np.float32):
        call(x)
        with pytest.raises(TypeError, match="x must be bfloat16"):
            call(np.zeros(x.shape, wrong))
    with pytest.raises(TypeError, match="x_dtype must be float32 or bfloat16, got float16"):
        wc.algorithms(x.shape, x_dtype="float16")


def test_padded_depths_read_nothing_but_their_own_pixels() -> None:
    """Pixels that are not finite reach no output but those that read them."""
    rng = np.random.default_rng(7)
    x = drawn(rng, 1, 12, 12, 24)
    wc = fbg.PackedConv(drawn(rng, 40, 24, 3, 3), padding=1, dtype="bfloat16")
    spoilt = x.copy()
    spoilt[0, 5, 7] = np.nan
    spoilt[0, 11, 11] = np.inf
    reads = np.zeros((12, 12), bool)
    reads[4:7, 6:9] = reads[10:, 10:] = True
    for algorithm in wc.algorithms(x.shape, x_dtype="bfloat16", exact=True):
        y = fbg.conv(x, wc, algorithm=algorithm.name)
        bad = fbg.conv(spoilt, wc, algorithm=algorithm.name)
        np.testing.assert_array_equal(np.isfinite(bad).all(-1)[0], ~reads, algorithm.name)
        np.testing.assert_array_equal(bad[0][~reads], y[0][~reads], algorithm.name)


def test_exact_convolutions_keep_groups_apart() -> None:
    rng = np.random.default_rng(8)
    x = drawn(rng, 1, 6, 6, 64)
    x[..., 3] = np.inf
    wc = fbg.PackedConv(drawn(rng, 64, 16, 3, 3), padding=1, groups=4, dtype="bfloat16")
    for algorithm in wc.algorithms(x.shape, x_dtype="bfloat16", exact=True):
        assert algorithm.name != "block_diagonal"
        y = fbg.conv(x, wc, algorithm=algorithm.name)
        assert np.isfinite(y[..., 16:]).all(), algorithm.name
