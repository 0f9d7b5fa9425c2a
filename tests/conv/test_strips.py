"""Convolutions by strips: few input channels for each output channel, in floating point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from helpers.convolutions import definition


@st.composite
def problems(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    """Return the shapes of x and w, and the geometry: vectors of channels, borders of any width."""
    kernel = [draw(st.integers(1, 5)), draw(st.integers(2, 7))]
    stride = [draw(st.integers(1, 5)), draw(st.integers(1, 4))]
    dilation = [draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2, 5, 16]))]
    padding = [(draw(st.integers(0, 5)), draw(st.integers(0, 20))) for _ in kernel]
    groups, inputs = draw(st.integers(1, 3)), draw(st.integers(1, 17))
    outputs = draw(st.integers(8, 50))
    spatial = [
        max(1, d * (k - 1) + 1 - sum(p)) + draw(st.integers(0, 40))
        for k, d, p in zip(kernel, dilation, padding, strict=True)
    ]
    geometry = {"stride": stride, "dilation": dilation, "padding": padding, "groups": groups}
    x_shape = (draw(st.integers(1, 2)), *spatial, inputs * groups)
    return x_shape, (outputs * groups, inputs, *kernel), geometry


@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_sums_are_near_those_in_double(isa: str, problem: Any, seed: int) -> None:
    x_shape, w_shape, geometry = problem
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(x_shape, np.float32)
    w = rng.standard_normal(w_shape, np.float32)
    wc = fbg.PackedConv(w, dtype="float32", **geometry)
    assert ("strips" in [a.name for a in wc.algorithms(x.shape)]) == (isa != "generic")
    if isa == "generic":
        return
    bound = 1e-5 * definition(np.abs(x), np.abs(w), 0, geometry) + 1e-30
    y = fbg.conv(x, wc, algorithm="strips")
    assert (np.abs(y - definition(x, w, 0, geometry)) <= bound).all()
    alone = [fbg.conv(image[None], wc, algorithm="strips", num_threads=2)[0] for image in x]
    np.testing.assert_array_equal(y, alone)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_gaps_and_stages_change_no_sum(isa: str, dtype: str) -> None:
    if isa == "generic":
        assert "strips" not in [a.name for a in small(dtype).algorithms((2, 7, 33, 32))]
        return
    rng = np.random.default_rng(4)
    wide = rng.standard_normal((2, 9, 36, 50), np.float32)
    x = wide[:, 1:8, 2:35, 9:41]
    wc = small(dtype)
    plain = fbg.conv(np.ascontiguousarray(x), wc, algorithm="strips")
    np.testing.assert_allclose(plain, fbg.conv(x, wc, algorithm="im2col"), rtol=1e-4, atol=1e-4)
    bias = rng.standard_normal(40, np.float32)
    residual = rng.standard_normal(plain.shape, np.float32)
    room = np.zeros((*plain.shape[:-1], 47), np.float32)
    stages = fbg.Bias(bias) >> fbg.Add(residual) >> fbg.ReLU()
    fbg.conv(x, wc, stages, algorithm="strips", out=room[..., 3:43], num_threads=2)
    np.testing.assert_array_equal(room[..., 3:43], np.maximum(plain + bias + residual, 0))
    assert not room[..., :3].any() and not room[..., 43:].any()


def small(dtype: str) -> fbg.PackedConv:
    """Return two groups of 16 channels, each with 20 outputs: a whole vector and a partial one."""
    w = np.random.default_rng(3).standard_normal((40, 16, 3, 3), np.float32)
    return fbg.PackedConv(w, dtype=dtype, stride=(1, 2), padding=1, groups=2)


def test_stems_wide_groups_and_wide_kernels_choose_them() -> None:
    with fbg.isa.limit("avx2"):
        for w_shape, x_shape, geometry in (
            ((64, 3, 7, 7), (1, 112, 112, 3), {"stride": 2, "padding": 3}),
            ((256, 16, 3, 3), (1, 14, 14, 256), {"padding": 1, "groups": 16}),
            ((384, 1, 7, 7), (1, 14, 14, 384), {"padding": 3, "groups": 384}),
        ):
            wc = fbg.PackedConv(np.ones(w_shape, np.float32), dtype="float32", **geometry)
            assert fbg.prepare(wc, shape=x_shape).algorithm == "strips"


@pytest.mark.parametrize(("channels", "kernel", "stride"), [(48, 7, 1), (32, 5, 2), (16, 3, 1)])
def test_depthwise_lanes_have_channels_of_their_own(
    isa: str, channels: int, kernel: int, stride: int
) -> None:
    rng = np.random.default_rng(kernel)
    wide = rng.standard_normal((2, 9, 37, channels + 3), np.float32)
    x = wide[:, 1:8, 2:35, 1 : channels + 1]
    w = rng.standard_normal((channels, 1, kernel, kernel), np.float32)
    geometry = {
        "stride": [stride] * 2,
        "dilation": [1, 2],
        "padding": [(kernel, 1)] * 2,
        "groups": channels,
    }
    wc = fbg.PackedConv(w, dtype="float32", **geometry)
    assert ("strips" in [a.name for a in wc.algorithms(x.shape)]) == (isa != "generic")
    if isa != "generic":
        y = fbg.conv(x, wc, algorithm="strips", num_threads=2)
        np.testing.assert_allclose(y, definition(x, w, 0, geometry), rtol=1e-4, atol=1e-4)
