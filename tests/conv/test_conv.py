"""fbg.conv: stages, batches, scales and arguments; tests/differential draws the geometries."""

from __future__ import annotations

import numpy as np
import pytest

import fbg
from helpers.convolutions import definition


def integers(rng, shape, dtype):
    """Return values of the whole range, extremes often."""
    limits = np.iinfo(dtype)
    values = rng.integers(limits.min, limits.max + 1, shape)
    extremes = rng.random(shape) < 0.2
    return np.where(extremes, rng.choice([limits.min, limits.max], shape), values).astype(dtype)


@pytest.mark.parametrize("groups", [1, 4, 32])
def test_integer_biases_count_before_and_after_an_integer_relu(isa, groups):
    rng = np.random.default_rng(groups)
    x = integers(rng, (2, 5, 6, 32), np.uint8)
    w = integers(rng, (64, 32 // groups, 3, 3), np.int8)
    scale = rng.uniform(0.001, 0.1, 64).astype(np.float32)
    geometry = {**_plain(2, padding=1), "groups": groups}
    wc = fbg.PackedConv(w, scale=scale, **geometry)
    sums = definition(x, w, 77, geometry) - 77 * w.reshape(64, -1).sum(axis=1, dtype=np.int64)
    first, second = rng.integers(-9999, 9999, (2, 64), np.int32)
    stages = fbg.CorrectZeroPoints() >> fbg.Bias(first) >> fbg.ReLU() >> fbg.Bias(second)
    corrected = np.maximum(sums + first, 0) + second
    real = corrected.astype(np.float32) * ((np.float32(0.5) * scale) / np.float32(90))
    results = {
        fbg.Requantize(90.0, -3, np.int8): np.clip(np.rint(real) - 3, -128, 127),
        fbg.Dequantize(): corrected.astype(np.float32) * (np.float32(0.5) * scale),
    }
    for last, expected in results.items():
        for algorithm in wc.algorithms(x.shape):
            y = fbg.conv(x, wc, stages >> last, scale=0.5, zero_point=77, algorithm=algorithm.name)
            np.testing.assert_array_equal(y, expected.astype(y.dtype), err_msg=algorithm.name)


@pytest.mark.parametrize(
    ("channels", "outputs", "groups", "dilation"),
    [(3, 38, 1, 1), (64, 38, 1, 1), (24, 38, 2, 2), (40, 40, 40, 1)],
)
def test_every_algorithm_subtracts_the_zero_points_of_weights(
    isa, channels, outputs, groups, dilation
):
    rng = np.random.default_rng(channels)
    x = integers(rng, (2, 23, 25, channels), np.uint8)
    w = integers(rng, (outputs, channels // groups, 3, 3), np.int8)
    points = rng.integers(-128, 128, outputs)
    geometry = {**_plain(2, padding=1), "dilation": [dilation] * 2, "groups": groups}
    wc = fbg.PackedConv(w, scale=np.float32(0.5), zero_point=points, **geometry)
    raw = definition(x, w, 77, geometry)
    real = w - points.reshape(-1, 1, 1, 1)
    sums = definition(x, real, 77, geometry) - 77 * real.reshape(outputs, -1).sum(axis=1)
    scaled = sums.astype(np.float32) * (np.float32(0.125) / np.float32(90))
    results = {
        fbg.CorrectZeroPoints(): sums,
        fbg.Requantize(90.0, 0): np.clip(np.rint(scaled), 0, 255),
        fbg.Dequantize() >> fbg.ReLU(): np.maximum(sums, 0) * np.float32(0.125),
    }
    names = {algorithm.name for algorithm in wc.algorithms(x.shape)}
    if groups < channels and channels > 3:
        assert "implicit_gemm" in names
    if groups == channels and isa.startswith("avx"):
        assert "sliding_window" in names
    for name in names:
        np.testing.assert_array_equal(fbg.conv(x, wc, zero_point=77, algorithm=name), raw)
        for stages, expected in results.items():
            options = {"scale": 0.25, "zero_point": 77, "algorithm": name}
            for threads in (1, 2):
                y = fbg.conv(x, wc, stages, num_threads=threads, **options)
                np.testing.assert_array_equal(y, expected.astype(y.dtype), err_msg=name)


def test_float_images_with_int8_weights_do_not_depend_on_the_batch(isa):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((3, 9, 9, 12), np.float32) * np.array([1, 10, 0]).reshape(3, 1, 1, 1)
    x = x.astype(np.float32)
    wc = fbg.PackedConv(rng.standard_normal((20, 12, 3, 3), np.float32), padding=1)
    y = fbg.conv(x, wc, bias=np.ones(20, np.float32), activation="relu", num_threads=2)
    for n in range(3):
        alone = fbg.conv(x[n : n + 1], wc, bias=np.ones(20, np.float32), activation="relu")
        np.testing.assert_array_equal(alone[0], y[n])
    exact = definition(x, wc.unpack(), 0, _plain(2, padding=1)) * wc.scale
    assert np.abs(fbg.conv(x, wc) - exact).max() < 0.05 * np.abs(exact).max()


def _plain(axes, padding=0):
    return {
        "stride": [1] * axes,
        "dilation": [1] * axes,
        "padding": [(padding, padding)] * axes,
        "groups": 1,
    }


@pytest.mark.parametrize("granularity", ["column", "group", "tensor"])
def test_scales_follow_their_granularity(granularity):
    w = np.random.default_rng(3).standard_normal((12, 2, 3, 3)).astype(np.float32)
    wc = fbg.PackedConv(w, groups=3, granularity=granularity)
    assert wc.scale is not None
    axes = {"column": (12, 1), "group": (3, 4), "tensor": (1, 12)}[granularity]
    largest = np.abs(w).reshape(axes[0], -1).max(axis=1) / np.float32(127)
    np.testing.assert_array_equal(wc.scale, np.repeat(largest, axes[1]))
    error = np.abs(wc.unpack() * wc.scale.reshape(12, 1, 1, 1) - w)
    assert (error <= wc.scale.reshape(12, 1, 1, 1) * 0.5001).all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"stride": 0}, ValueError, "stride"),
        ({"stride": -1}, ValueError, "stride"),
        ({"dilation": 0}, ValueError, "dilation"),
        ({"groups": 5}, ValueError, "groups must divide"),
        ({"padding": (1, 2, 3)}, ValueError, "padding"),
        ({"padding": -1}, ValueError, "padding"),
        ({"stride": 1.5}, TypeError, "stride"),
        ({"dtype": "int4"}, ValueError, "dtype"),
        ({"granularity": "row"}, ValueError, "granularity"),
        ({"output_padding": 1}, ValueError, "output_padding"),
        ({"scale": np.float32(1)}, TypeError, "scale and zero_point require an int8 w"),
    ],
)
def test_bad_geometries_are_named(change, error, message):
    with pytest.raises(error, match=message):
        fbg.PackedConv(np.zeros((8, 4, 3, 3), np.float32), **change)


def test_bad_operands_are_named():
    wc = fbg.PackedConv(np.zeros((8, 4, 3, 3), np.float32), dtype="float32")
    x = np.zeros((1, 6, 6, 4), np.float32)
    with pytest.raises(ValueError, match=r"pass x.transpose\(0, 2, 3, 1\)"):
        fbg.conv(np.zeros((1, 4, 6, 6), np.float32), wc)
    with pytest.raises(ValueError, match="channels last"):
        fbg.conv(x[0], wc)
    with pytest.raises(ValueError, match="larger than that of the padded input"):
        fbg.conv(np.zeros((1, 2, 6, 4), np.float32), wc)
    with pytest.raises(TypeError, match="x must be float32, got float64"):
        fbg.conv(x.astype(np.float64), wc)
    with pytest.raises(ValueError, match="algorithm must be"):
        fbg.conv(x, wc, algorithm="magic")
    with pytest.raises(ValueError, match="does not apply"):
        fbg.conv(x, wc, algorithm="pointwise")
    with pytest.raises(ValueError, match="out must have shape"):
        fbg.conv(x, wc, out=np.zeros((1, 4, 4, 9), np.float32))
    with pytest.raises(TypeError, match="wc must be a PackedConv"):
        fbg.conv(x, fbg.PackedB(np.zeros((4, 8), np.float32)))
    with pytest.raises(TypeError, match="scale and zero_point require a quantized x"):
        fbg.conv(x, wc, scale=1.0)


def test_empty_results_have_their_shape():
    wc = fbg.PackedConv(np.zeros((8, 4, 3, 3), np.float32), dtype="float32")
    assert fbg.conv(np.zeros((0, 6, 6, 4), np.float32), wc).shape == (0, 4, 4, 8)
    assert fbg.conv(np.zeros((2, 0, 6, 4), np.float32), wc).shape == (2, 0, 4, 8)
    point = fbg.PackedConv(np.zeros((8, 4, 1, 1), np.float32), dtype="float32")
    for algorithm in point.algorithms((2, 6, 0, 4)):
        y = fbg.conv(np.zeros((2, 6, 0, 4), np.float32), point, algorithm=algorithm.name)
        assert y.shape == (2, 6, 0, 8)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_every_call_of_a_prepared_convolution_checks_its_arrays(dtype):
    rng = np.random.default_rng(3)
    w = rng.standard_normal((8, 8, 1, 1), np.float32)
    wc = fbg.PackedConv(w, dtype=dtype)
    residual = rng.standard_normal((20, 8), np.float32)
    stages = [fbg.Dequantize(), fbg.Add(residual)] if dtype == "int8" else [fbg.Add(residual)]
    call = fbg.prepare(wc, stages, shape=(1, 4, 5, 8))
    x = rng.standard_normal((1, 4, 5, 8), np.float32)
    expected = call(x)
    out = np.empty_like(expected)
    wide = np.zeros((1, 4, 5, 16), np.float32)
    for _ in range(3):
        assert call(x, out) is out
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(call(wide[..., :8] + x), expected)
        call(x, wide[..., 8:])
        np.testing.assert_array_equal(wide[..., 8:], expected)
        wide[...] = 0
        with pytest.raises(ValueError, match="PreparedConv: x must have shape"):
            call(x[:, :3], out)
        with pytest.raises(TypeError, match="PreparedConv: x must be float32, got float64"):
            call(x.astype(np.float64), out)
        with pytest.raises(ValueError, match="out must have shape"):
            call(x, out[:, :3])
        with pytest.raises(TypeError, match="out must be"):
            call(x, out.tolist())
        with pytest.raises((TypeError, ValueError), match="out"):
            call(x, out.astype(np.float64))
        with pytest.raises(ValueError, match="overlap"):
            call(x, x)
        frozen = out.copy()
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            call(x, frozen)
        in_place = residual.reshape(expected.shape)
        saved = in_place.copy()
        np.testing.assert_array_equal(call(x, in_place), expected)
        in_place[...] = saved


def test_prepared_calls_do_not_take_uint16_for_bfloat16():
    wc = fbg.PackedConv(np.ones((8, 8, 1, 1), np.float32), dtype="float32")
    call = fbg.prepare(wc, [fbg.Cast("bfloat16")], shape=(1, 4, 5, 8))
    x = np.ones((1, 4, 5, 8), np.float32)
    for _ in range(3):
        expected = call(x)
        with pytest.raises(TypeError, match="out must be bfloat16, got uint16"):
            call(x, np.zeros(expected.shape, np.uint16))
        assert (call(x, np.zeros_like(expected)) == expected).all()


FORMER_NAMES = {
    "taps": "implicit_gemm", "lines": "flattened_rows", "patches": "blocked_im2col",
    "merged": "block_diagonal", "strips": "row_blocked", "lanewise": "channel_vectorized",
    "sliding": "sliding_window",
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("groups", [1, 4, 64])
def test_former_names_of_algorithms_choose_the_same_ones(isa, dtype, groups):
    rng = np.random.default_rng(groups)
    w = rng.standard_normal((64, 64 // groups, 3, 3), np.float32)
    wc = fbg.PackedConv(w, padding=1, groups=groups, dtype=dtype)
    shape = (1, 20, 20, 64)
    names = {algorithm.name for algorithm in wc.algorithms(shape)}
    assert not names & set(FORMER_NAMES)
    for former, name in FORMER_NAMES.items():
        if name in names:
            assert fbg.prepare(wc, shape=shape, algorithm=former).algorithm == name
        else:
            with pytest.raises(ValueError, match=f"algorithm.*{former}"):
                fbg.prepare(wc, shape=shape, algorithm=former)
