"""Depthwise and groupwise convolutions, and tiles: which kernels compute them, images with gaps."""

from __future__ import annotations

import numpy as np
import pytest

import fbg

# Depthwise and groupwise convolutions: which kernels compute them, and images with gaps.


@pytest.mark.parametrize(("channels", "inputs", "kernel"), [(150, 1, 3), (24, 1, 5), (128, 4, 3)])
@pytest.mark.parametrize("scale", [0.5, 300.0, 1e-30])
@pytest.mark.parametrize("largest", [1000, 1 << 22, 1 << 23, (1 << 31) - 1])
def test_results_without_a_zero_point_are_those_of_any_sums_and_scales(
    channels, inputs, kernel, scale, largest
):
    rng = np.random.default_rng(kernel)
    x = rng.integers(0, 256, (1, 6, 20, channels), np.uint8)
    w = rng.integers(-128, 128, (channels, inputs, kernel, kernel), np.int8)
    scales = rng.uniform(0.1, 1.0, channels).astype(np.float32)
    wc = fbg.PackedConv(w, scale=scales, padding=kernel // 2, groups=channels // inputs)
    bias = rng.integers(-largest, largest, channels, np.int32)
    bias[:2] = -largest, largest
    stages = fbg.CorrectZeroPoints() >> fbg.Bias(bias) >> fbg.Requantize(100.0, 0)
    results = [
        fbg.conv(x, wc, stages, algorithm=name, scale=scale, zero_point=3)
        for name in ("sliding_window", "im2col")
        if name in [algorithm.name for algorithm in wc.algorithms(x.shape)]
    ]
    np.testing.assert_array_equal(results[0], results[-1])


@pytest.mark.parametrize(
    ("size", "kernel", "stride"),
    [
        ((11, 40), (5, 5), 1),  # four lines of a window
        ((10, 40), (6, 5), 1),
        ((10, 40), (2, 3), 1),
        ((9, 13), (5, 4), (2, 1)),
        ((5, 9, 150), (3, 3, 3), 1),  # lanes of two planes are there already, parts of a row
        ((6, 7, 9), (3, 3, 3), (2, 1, 1)),
        ((5, 7, 9), (2, 5, 3), 1),
        ((7, 6, 9), (3, 2, 3), 1),
    ],
)
@pytest.mark.parametrize("channels", [16, 40, 96, 288])
def test_lanes_in_memory_are_those_of_the_rows_under_each_line(size, kernel, stride, channels):
    rng = np.random.default_rng(channels)
    x = rng.integers(0, 256, (2, *size, channels), np.uint8)
    w = rng.integers(-128, 128, (channels, 1, *kernel), np.int8)
    padding = tuple(k // 2 for k in kernel)
    wc = fbg.PackedConv(w, scale=np.float32(0.01), stride=stride, padding=padding, groups=channels)
    names = [algorithm.name for algorithm in wc.algorithms(x.shape)]
    for stages in (None, fbg.Requantize(20.0, 0), fbg.Requantize(20.0, 9, dtype="int8")):
        quantization = {} if stages is None else {"scale": 0.5, "zero_point": 7}
        expected = fbg.conv(x, wc, stages, algorithm="im2col", **quantization)
        for name in {"sliding_window", "channel_vectorized"} & set(names):
            for threads in (1, 2):
                y = fbg.conv(x, wc, stages, algorithm=name, num_threads=threads, **quantization)
                np.testing.assert_array_equal(y, expected, err_msg=name)


# The last block has one or two vectors, or begins with channels of the one before.
@pytest.mark.parametrize("channels", [5, 9, 12, 17, 20, 24, 27, 32, 96, 160])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(("dtype", "zero_point"), [("uint8", 0), ("uint8", 9), ("int8", -3)])
def test_narrow_blocks_write_only_their_own_pixels(channels, stride, dtype, zero_point):
    rng = np.random.default_rng(channels)
    x = rng.integers(0, 256, (2, 9, 13, channels), np.uint8)
    w = rng.integers(-128, 128, (channels, 1, 3, 3), np.int8)
    wc = fbg.PackedConv(w, scale=np.float32(0.01), stride=stride, padding=1, groups=channels)
    stages = fbg.Requantize(20.0, zero_point, dtype=dtype)
    expected = fbg.conv(x, wc, stages, algorithm="im2col", scale=0.5, zero_point=7)
    for name in [algorithm.name for algorithm in wc.algorithms(x.shape)]:
        room = np.full((*expected.shape[:-1], channels + 64), 77, dtype)
        out = room[..., 32:-32]
        fbg.conv(x, wc, stages, algorithm=name, out=out, scale=0.5, zero_point=7)
        np.testing.assert_array_equal(out, expected, err_msg=name)
        assert (room[..., :32] == 77).all() and (room[..., -32:] == 77).all()


@pytest.mark.parametrize("times", [2, 3, 4, 5])
@pytest.mark.parametrize("channels", [3, 24, 70])
def test_channels_with_several_outputs(isa, times, channels):
    rng = np.random.default_rng(times)
    wide = rng.integers(0, 256, (2, 9, 40, channels + 5), np.uint8)
    for kernel, stride in ((3, 1), (3, 2), (5, 1)):
        w = rng.integers(-128, 128, (channels * times, 1, kernel, kernel), np.int8)
        wc = fbg.PackedConv(
            w, scale=np.float32(0.01), stride=stride, padding=kernel // 2, groups=channels
        )
        for x in (wide[..., 2:-3], np.ascontiguousarray(wide[..., 2:-3])):
            names = [algorithm.name for algorithm in wc.algorithms(x.shape)]
            assert channels == 3 or ("sliding_window" in names) == isa.startswith("avx")
            for stages in (None, fbg.Requantize(20.0, 9)):
                quantization = {} if stages is None else {"scale": 0.5, "zero_point": 7}
                expected = fbg.conv(x, wc, stages, algorithm="im2col", **quantization)
                for name in names:
                    y = fbg.conv(x, wc, stages, algorithm=name, num_threads=2, **quantization)
                    np.testing.assert_array_equal(y, expected, err_msg=name)


@pytest.mark.parametrize("channels", [9, 12, 20, 27])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_residual_in_the_memory_of_the_results_is_added_once(channels, threads):
    rng = np.random.default_rng(channels)
    x = rng.integers(0, 256, (1, 9, 13, channels), np.uint8)
    w = rng.integers(-128, 128, (channels, 1, 3, 3), np.int8)
    wc = fbg.PackedConv(w, scale=np.float32(0.01), padding=1, groups=channels)
    residual = rng.standard_normal((1, 9, 13, channels), np.float32)
    quantization = {"scale": 0.5, "zero_point": 7}
    expected = fbg.conv(x, wc, fbg.Dequantize(), algorithm="im2col", **quantization) + residual
    for name in [algorithm.name for algorithm in wc.algorithms(x.shape)]:
        y = residual.copy()
        stages = fbg.Dequantize() >> fbg.Add(y.reshape(-1, channels))
        fbg.conv(x, wc, stages, algorithm=name, out=y, num_threads=threads, **quantization)
        np.testing.assert_array_equal(y, expected, err_msg=name)


@pytest.mark.parametrize(
    ("kernel", "stride"),
    [((3, 3), 1), ((3, 3), 2), ((5, 5), 1), ((7, 7), 1), ((5, 1), 1), ((3, 3, 3), 1)],
)
@pytest.mark.parametrize("weight", [-128, 127])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_sums_of_the_largest_bytes_do_not_saturate(kernel, stride, weight, dtype):
    channels, lowest = 24, np.iinfo(dtype).min
    x = np.full((1, *(9 for _ in kernel), channels), np.iinfo(dtype).max, dtype)
    w = np.full((channels, 1, *kernel), weight, np.int8)
    w[1::2, :, ::2] = ~w[1::2, :, ::2]  # neighbouring rows cancel each other in every second one
    wc = fbg.PackedConv(w, stride=stride, padding=tuple(k // 2 for k in kernel), groups=channels)
    expected = fbg.conv(x, wc, algorithm="im2col", scale=1.0, zero_point=int(lowest))
    inside = int(np.iinfo(dtype).max) * w[:, 0].astype(np.int64).reshape(channels, -1).sum(axis=1)
    middle = expected[(0, *(n // 2 for n in expected.shape[1:-1]))]
    np.testing.assert_array_equal(middle, inside)
    for name in [algorithm.name for algorithm in wc.algorithms(x.shape)]:
        y = fbg.conv(x, wc, algorithm=name, scale=1.0, zero_point=int(lowest))
        np.testing.assert_array_equal(y, expected, err_msg=name)


FLOAT_SHAPES = [
    (64, 1, 3, 1),
    (50, 1, 3, 2),
    (9, 1, 5, 1),
    (40, 1, 7, 1),
    (12, 2, 3, 1),
    (64, 4, 3, 2),
    (136, 8, 3, 1),
    (48, 16, 3, 1),
    (96, 32, 3, 1),
]


@pytest.mark.parametrize(("channels", "inputs", "kernel", "stride"), FLOAT_SHAPES)
def test_floats_with_a_bias_and_bounds(isa, channels, inputs, kernel, stride):
    rng = np.random.default_rng(kernel)
    x = rng.standard_normal((2, 9, 13, channels), np.float32)
    x[0, 4, 4, 1] = np.nan
    w = rng.standard_normal((channels, inputs, kernel, kernel), np.float32)
    geometry = {"stride": stride, "padding": kernel // 2, "groups": channels // inputs}
    wc = fbg.PackedConv(w, dtype="float32", **geometry)
    names = [algorithm.name for algorithm in wc.algorithms(x.shape)]
    fits = isa.startswith("avx512") or (isa != "generic" and inputs < 32)  # in registers
    assert ("sliding_window" in names) == fits
    bias = rng.standard_normal(channels, np.float32)
    for stages in (
        [fbg.Bias(bias)],
        [fbg.ReLU()],
        [fbg.Bias(bias), fbg.Clip(-0.5, 1.0)],
        [fbg.Bias(bias), fbg.ReLU(), fbg.Scale(2.0)],
    ):
        expected = fbg.conv(x, wc, stages, algorithm="im2col")
        for name in names:
            y = fbg.conv(x, wc, stages, algorithm=name, num_threads=2)
            np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4, err_msg=name)


@pytest.mark.parametrize(("channels", "kernel", "stride"), [(72, 3, 1), (40, 3, 2), (24, 5, 1)])
def test_rows_of_floats_are_the_same_whatever_shares_their_window(isa, channels, kernel, stride):
    rng = np.random.default_rng(stride)
    x = rng.standard_normal((1, 8 * stride + kernel, 11, channels), np.float32)
    w = rng.standard_normal((channels, 1, kernel, kernel), np.float32)
    wc = fbg.PackedConv(
        w, dtype="float32", stride=stride, padding=[0, kernel // 2], groups=channels
    )
    algorithm = "im2col" if isa == "generic" else "sliding_window"  # which needs vectors
    expected = fbg.conv(x, wc, algorithm=algorithm)
    for rows in range(1, 9):
        part = x[:, : (rows - 1) * stride + kernel]
        y = fbg.conv(part, wc, algorithm=algorithm, num_threads=2)
        np.testing.assert_array_equal(y, expected[:, :rows])


# The tiles of convolutions on vectors of 512 bits: their shapes, and that they change no bit.

# Channels, outputs, size; rows x columns of the tallest tile, and whether the weights are few
# enough for the L2.
LAYERS = [
    (64, 64, 20, "5x64", True),
    (36, 96, 18, "6x64", True),
    (20, 32, 24, "12x32", True),  # too few columns for wide tiles
    (64, 128, 7, "7x32", True),  # lines too short for them
    (1024, 320, 9, "9x32", False),
]


@pytest.mark.parametrize(("isa_limit", "dtype"), [("avx512_vnni", "int8"), ("avx512", "float32")])
@pytest.mark.parametrize(("channels", "outputs", "size", "tile", "kept"), LAYERS)
def test_wide_outputs_are_computed_in_tiles_that_load_least(
    isa_limit, dtype, channels, outputs, size, tile, kept
):
    if isa_limit not in fbg.isa.supported():
        pytest.skip(f"needs {isa_limit}")
    rng = np.random.default_rng(channels)
    x = rng.integers(0, 256, (2, size, size, channels), np.uint8)
    w = rng.integers(-128, 128, (outputs, channels, 3, 3), np.int8)
    bias = rng.integers(-1000, 1000, outputs, np.int32)
    results = []
    for isa in (isa_limit, "avx2"):
        with fbg.isa.limit(isa):
            if dtype == "int8":
                wc = fbg.PackedConv(w, scale=np.float32(0.01), padding=1)
                stages = fbg.CorrectZeroPoints() >> fbg.Bias(bias) >> fbg.Requantize(40.0, 9)
                call = fbg.prepare(
                    wc,
                    stages,
                    shape=x.shape,
                    x_dtype=np.uint8,
                    scale=0.5,
                    zero_point=7,
                    algorithm="implicit_gemm",
                )
                results.append(call(x))
            else:
                floats = fbg.PackedConv(w / np.float32(128), dtype="float32", padding=1)
                call = fbg.prepare(floats, shape=x.shape, algorithm="implicit_gemm")
                results.append(call(x / np.float32(255)))
            if isa == isa_limit:
                assert f"_{tile}_{isa}" in call.kernel
                assert ("_kept" in call.kernel) == kept
    assert np.array_equal(*results)
