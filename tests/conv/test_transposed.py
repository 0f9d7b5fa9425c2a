"""Transposed convolutions against their definition: every product goes where it belongs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg

Array = npt.NDArray[Any]


def definition(x: Array, w: Array, pad_value: float, geometry: dict[str, Any]) -> Array:
    """Return the transposed convolution of (N, *spatial, I) and (I, O / groups, *kernel).

    Each pixel adds its products to the outputs that it reaches. A tap of an output that would read
    a pixel outside x reads `pad_value`; so x is surrounded by enough of them.
    """
    stride, dilation, groups = (geometry[k] for k in ("stride", "dilation", "groups"))
    kind: Any = np.float64 if x.dtype == np.float32 else np.int64
    kernel, axes = w.shape[2:], w.ndim - 2
    around = [d * (k - 1) // s + 2 for k, d, s in zip(kernel, dilation, stride, strict=True)]
    size = [
        (n - 1) * s + d * (k - 1) + 1 - sum(p) + extra
        for n, s, d, k, p, extra in zip(
            x.shape[1:-1], stride, dilation, kernel, geometry["padding"],
            geometry["output_padding"], strict=True,
        )
    ]  # fmt: skip
    around = [a + e for a, e in zip(around, geometry["output_padding"], strict=True)]
    wide = np.pad(
        x.astype(kind), ((0, 0), *((a, a) for a in around), (0, 0)), constant_values=pad_value
    )
    reach = [
        (n - 1) * s + d * (k - 1) + 1
        for n, s, d, k in zip(wide.shape[1:-1], stride, dilation, kernel, strict=True)
    ]
    inputs, outputs = w.shape[0] // groups, w.shape[1]
    y = np.zeros((x.shape[0], *reach, outputs * groups), kind)
    for tap in np.ndindex(*kernel):
        window = tuple(
            slice(t * d, t * d + (n - 1) * s + 1, s)
            for t, d, n, s in zip(tap, dilation, wide.shape[1:-1], stride, strict=True)
        )
        for g in range(groups):
            part = wide[..., g * inputs : (g + 1) * inputs]
            weights = w[(slice(g * inputs, (g + 1) * inputs), slice(None), *tap)].astype(kind)
            y[(slice(None), *window, slice(g * outputs, (g + 1) * outputs))] += part @ weights
    first = [a * s + p[0] for a, s, p in zip(around, stride, geometry["padding"], strict=True)]
    shown = tuple(slice(f, f + n) for f, n in zip(first, size, strict=True))
    assert len(shown) == axes
    return y[(slice(None), *shown)]


@st.composite
def problems(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    """Return the shapes of x and w, and the other arguments of PackedConv."""
    axes = draw(st.integers(1, 3))
    kernel = [draw(st.integers(1, 5 if axes < 3 else 3)) for _ in range(axes)]
    stride = [draw(st.integers(1, 3)) for _ in range(axes)]
    dilation = [draw(st.integers(1, 3)) for _ in range(axes)]
    extra = [draw(st.integers(0, max(s, d) - 1)) for s, d in zip(stride, dilation, strict=True)]
    spatial = [draw(st.integers(1, 9)) for _ in range(axes)]
    padding = []
    for n, s, d, k in zip(spatial, stride, dilation, kernel, strict=True):
        before = draw(st.integers(0, 3))
        most = (n - 1) * s + d * (k - 1) + 1 - before
        before = min(before, most + before)
        padding.append((before, draw(st.integers(0, max(0, min(3, most))))))
    groups = draw(st.sampled_from([1, 1, 2, 3, 33]))
    inputs = draw(st.integers(1, 4) if groups > 1 else st.integers(1, 40))
    outputs = draw(st.integers(1, 3) if groups > 1 else st.integers(1, 50))
    geometry = {
        "stride": stride,
        "dilation": dilation,
        "padding": padding,
        "groups": groups,
        "output_padding": extra,
    }
    return (
        (draw(st.integers(1, 2)), *spatial, inputs * groups),
        (inputs * groups, outputs, *kernel),
        geometry,
    )


def packed(w: Array, geometry: dict[str, Any], **options: Any) -> fbg.PackedConv:
    return fbg.PackedConv(w, transposed=True, **geometry, **options)


@given(problem=problems(), seed=st.integers(0, 2**32 - 1), signed=st.booleans())
def test_integer_sums_are_exact(isa: str, problem: Any, seed: int, signed: bool) -> None:
    x_shape, w_shape, geometry = problem
    rng = np.random.default_rng(seed)
    limits = np.iinfo(np.int8 if signed else np.uint8)
    x = rng.integers(limits.min, limits.max + 1, x_shape).astype(limits.dtype)
    w = rng.integers(-128, 128, w_shape).astype(np.int8)
    zero_point = int(rng.integers(limits.min, limits.max + 1))
    wc = packed(w, geometry)
    expected = definition(x, w, zero_point, geometry)
    assert wc.output_shape(x.shape) == expected.shape
    for algorithm in wc.algorithms(x.shape):
        for threads in (1, 2):
            y = fbg.conv(
                x, wc, zero_point=zero_point, algorithm=algorithm.name, num_threads=threads
            )
            np.testing.assert_array_equal(y, expected, err_msg=algorithm.name)


@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_float_sums_are_near_those_in_double(isa: str, problem: Any, seed: int) -> None:
    x_shape, w_shape, geometry = problem
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(x_shape, np.float32)
    w = rng.standard_normal(w_shape, np.float32)
    wc = packed(w, geometry, dtype="float32")
    expected = definition(x, w, 0, geometry)
    bound = 1e-5 * definition(np.abs(x), np.abs(w), 0, geometry) + 1e-30
    for algorithm in wc.algorithms(x.shape, exact=True):
        y = fbg.conv(x, wc, algorithm=algorithm.name)
        assert (np.abs(y - expected) <= bound).all(), algorithm.name


@pytest.mark.parametrize("granularity", ["column", "tensor"])
def test_quantized_results_follow_the_formula(isa: str, granularity: Any) -> None:
    rng = np.random.default_rng(4)
    geometry = {
        "stride": [2, 3], "dilation": [1, 1], "padding": [(1, 1), (0, 2)], "groups": 2,
        "output_padding": [1, 2],
    }  # fmt: skip
    w = rng.standard_normal((24, 20, 4, 3)).astype(np.float32)
    wc = packed(w, geometry, granularity=granularity)
    x = rng.integers(0, 256, (2, 7, 6, 24)).astype(np.uint8)
    real = definition(x.astype(np.int64) - 77, wc.unpack(), 0, geometry)
    residual = rng.standard_normal(real.shape, np.float32)
    bias = rng.standard_normal(40, np.float32)
    stages = fbg.Dequantize() >> fbg.Bias(bias) >> fbg.Add(residual) >> fbg.ReLU()
    expected = real.astype(np.float32) * (np.float32(0.02) * wc.scale) + bias + residual
    for algorithm in wc.algorithms(x.shape, zero_points=True):
        y = fbg.conv(x, wc, stages, scale=0.02, zero_point=77, algorithm=algorithm.name)
        np.testing.assert_allclose(y, np.maximum(expected, 0), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("kernel", [2, 4, 5])
def test_winograd_computes_parts_with_kernels_of_two_or_more(isa: str, kernel: int) -> None:
    rng = np.random.default_rng(kernel)
    x = rng.standard_normal((2, 13, 10, 30), np.float32)
    w = rng.standard_normal((30, 21, kernel, kernel), np.float32)
    geometry = {
        "stride": [2, 2], "dilation": [1, 1], "padding": [(1, 1), (1, 0)], "groups": 1,
        "output_padding": [0, 1],
    }  # fmt: skip
    wc = packed(w, geometry, dtype="float32")
    names = [a.name for a in wc.algorithms(x.shape)]
    assert ("winograd2" in names) == (kernel > 3)
    expected = definition(x, w, 0, geometry)
    for name in names:
        y = fbg.conv(x, wc, algorithm=name, num_threads=2)
        assert np.abs(y - expected).max() <= 1e-4 * expected.std(), name


def test_a_residual_and_an_output_among_other_channels(isa: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 6, 5, 8), np.float32)
    w = rng.standard_normal((8, 16, 3, 3), np.float32)
    wc = fbg.PackedConv(w, stride=2, padding=1, output_padding=1, transposed=True, dtype="float32")
    residual = rng.standard_normal((2, 12, 10, 16), np.float32)
    for name in [a.name for a in wc.algorithms(x.shape)]:
        wide = np.zeros((2, 12, 10, 40), np.float32)
        y = fbg.conv(x, wc, [fbg.Add(residual), fbg.ReLU()], out=wide[..., 10:26], algorithm=name)
        plain = fbg.conv(x, wc, algorithm=name)
        np.testing.assert_array_equal(y, np.maximum(plain + residual, 0))
        assert not wide[..., :10].any() and not wide[..., 26:].any()


def test_outputs_without_taps_are_zero_whatever_the_image_holds() -> None:
    x = np.full((1, 3, 3, 4), np.inf, np.float32)
    wc = fbg.PackedConv(
        np.ones((4, 5, 1, 1), np.float32), stride=2, transposed=True, dtype="float32"
    )
    y = fbg.conv(x, wc, bias=np.full(5, 2.0, np.float32))
    assert np.isinf(y[0, ::2, ::2]).all()
    np.testing.assert_array_equal(y[0, 1::2], np.full((2, 5, 5), 2.0))
    np.testing.assert_array_equal(y[0, :, 1::2], np.full((5, 2, 5), 2.0))


def test_it_is_the_adjoint_of_the_convolution() -> None:
    """<conv(x), y> = <x, transposed(y)>, with the same weights."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((1, 9, 11, 6))
    w = rng.standard_normal((5, 6, 3, 4))
    geometry: dict[str, Any] = {"stride": (2, 3), "padding": (1, 2)}
    forward = fbg.PackedConv(w.astype(np.float32), dtype="float32", **geometry)
    y = fbg.conv(x.astype(np.float32), forward)
    g = rng.standard_normal(y.shape).astype(np.float32)
    extra = [
        n - ((m - 1) * s + k - 2 * p)
        for n, m, s, k, p in zip((9, 11), y.shape[1:3], (2, 3), (3, 4), (1, 2), strict=True)
    ]
    backward = fbg.PackedConv(
        w.astype(np.float32), transposed=True, output_padding=extra, dtype="float32", **geometry
    )
    back = fbg.conv(g, backward)
    assert back.shape == x.shape
    assert np.vdot(y, g) == pytest.approx(np.vdot(x, back), rel=1e-4)
