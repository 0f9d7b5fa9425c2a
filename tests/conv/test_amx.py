"""Convolutions in int8 on AMX: which kernels compute them, also in tiles across lines."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import fbg
from helpers.convolutions import definition

# Dense convolutions in int8 on AMX: which kernels compute them, and that the bits are the same.

pytestmark = pytest.mark.skipif(
    "avx512_amx" not in fbg.isa.supported(),
    reason="needs AMX; make check emulates it on CPUs with AVX-512",
)


def test_groups_of_a_transposed_convolution_are_merged_whatever_its_padding():
    rng = np.random.default_rng(3)  # its parts begin within the image: less than no padding
    x = rng.integers(-128, 128, (1, 3, 2, 64), np.int8)
    w = rng.integers(-128, 128, (64, 9, 1, 1), np.int8)
    padding = ((0, 1), (1, 0))
    wc = fbg.PackedConv(w, (1, 3), padding, groups=8, transposed=True, output_padding=(0, 1))
    plain, merged = (fbg.conv(x, wc, algorithm=name) for name in ("im2col", "block_diagonal"))
    np.testing.assert_array_equal(merged, plain)


# Channels, outputs, size, kernel, padding, stride, dilation, tile rows x columns of the AMX kernel.
LAYERS = [
    (64, 64, 56, (3, 3), 1, 1, 1, "28x32"),
    (64, 50, 28, (3, 3), 2, 1, 2, "28x32"),
    (64, 96, 28, (3, 3), 1, 2, 1, "14x64"),
    (64, 64, 17, (1, 7), (0, 3), 1, 1, "17x32"),
    (128, 40, 56, (1, 1), 0, 1, 1, "28x32"),
    (128, 32, 7, (3, 3), 1, 1, 1, "25x32"),  # lines of 7 pixels are short for tiles of taps
    (36, 64, 33, (3, 3), 1, 1, 1, "17x32"),  # 27 k-groups in a row of the kernel: a rest
]


@pytest.mark.parametrize(
    ("channels", "outputs", "size", "kernel", "padding", "stride", "dilation", "tile"), LAYERS
)
def test_dense_layers_run_on_amx_with_the_bits_of_vnni(
    channels, outputs, size, kernel, padding, stride, dilation, tile
):
    rng = np.random.default_rng(channels)
    x = rng.integers(0, 256, (2, size, size, channels), np.uint8)
    w = rng.integers(-128, 128, (outputs, channels, *kernel), np.int8)
    wc = fbg.PackedConv(
        w, scale=np.float32(0.01), stride=stride, padding=padding, dilation=dilation
    )
    stages = fbg.Requantize(40.0, 9)
    results = []
    for isa in ("avx512_amx", "avx512_vnni"):
        with fbg.isa.limit(isa):
            call = fbg.prepare(
                wc,
                stages,
                shape=x.shape,
                x_dtype=np.uint8,
                scale=0.5,
                zero_point=7,
                algorithm="implicit_gemm" if size > 7 else "im2col",
            )
            results.append(call(x))
            if isa == "avx512_amx":
                assert f"_{tile}_avx512_amx" in call.kernel
            else:
                assert "_avx512_vnni" in call.kernel
    assert np.array_equal(*results)


# Convolutions of bytes on AMX whose tiles go on from one line of the output to the next.

pytestmark = pytest.mark.skipif(
    "avx512_amx" not in fbg.isa.supported(),
    reason="needs AMX; make check emulates it on CPUs with AVX-512",
)


def test_a_plane_that_reads_padding_alone_is_zero():
    x = np.full((1, 1, 16, 16, 64), 200, np.uint8)
    geometry = {"stride": (3, 1, 1), "padding": ((2, 0), (1, 1), (1, 1))}
    wc = fbg.PackedConv(np.ones((64, 64, 1, 3, 3), np.int8), **geometry)
    for name in (None, *(algorithm.name for algorithm in wc.algorithms(x.shape))):
        assert not fbg.conv(x, wc, algorithm=name).any(), name


def test_lines_of_images_with_gaps_between_pixels_and_lines():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 256, (2, 30, 40, 64), np.uint8)[:, ::2, 1:-2:3]
    w = rng.integers(-128, 128, (40, 64, 3, 3), np.int8)
    wc = fbg.PackedConv(w, padding=1)
    expected = fbg.conv(np.ascontiguousarray(x), wc, algorithm="im2col")
    np.testing.assert_array_equal(fbg.conv(x, wc, algorithm="flattened_rows"), expected)


@pytest.mark.parametrize("size", [(40, 1024), (4, 1500), (150, 256)])
def test_large_images_take_several_blocks(size):
    rng = np.random.default_rng(2)
    x = rng.integers(0, 256, (1, *size, 64), np.uint8)
    wc = fbg.PackedConv(rng.integers(-128, 128, (33, 64, 3, 3), np.int8), padding=1)
    expected = fbg.conv(x, wc, zero_point=9, algorithm="im2col")
    for threads in (1, 2):
        y = fbg.conv(x, wc, zero_point=9, algorithm="flattened_rows", num_threads=threads)
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("outputs", [10, 16, 48, 100])
def test_tiles_of_every_height(outputs):
    # Kernels skip the gap after each line of the output by a mask of rows, in steps of some rows.
    rng = np.random.default_rng(4)
    w = rng.integers(-128, 128, (outputs, 128, 1, 3), np.int8)
    padding = ((0, 0), (1, 1))
    integers = fbg.PackedConv(w, padding=padding)
    floats = fbg.PackedConv(w.astype(np.float32), padding=padding, dtype="bfloat16")
    for width in range(2, 40):
        x = rng.integers(0, 256, (1, 1, width, 128), np.uint8)
        expected = fbg.conv(x, integers, algorithm="im2col")
        for wc, image in ((integers, x), (floats, x.astype(ml_dtypes.bfloat16))):
            for algorithm in wc.algorithms(image.shape, x_dtype=image.dtype):
                y = fbg.conv(image, wc, algorithm=algorithm.name)
                np.testing.assert_array_equal(y, expected, f"{algorithm.name} of {width} pixels")


@pytest.mark.parametrize("outputs", [16, 33, 64])
@pytest.mark.parametrize("channels", [320, 448])
@pytest.mark.parametrize("dilation", [1, 2])
def test_results_do_not_depend_on_the_parts_of_the_depth(outputs, channels, dilation):
    # Parts end within runs of k; the sums of the last part reach all stages, those of others none.
    rng = np.random.default_rng(3)
    twice = [dilation, dilation]
    geometry = {"stride": [1, 1], "dilation": twice, "padding": [twice, twice], "groups": 1}
    x = rng.integers(0, 256, (2, 25, 23, channels), np.uint8)
    w = rng.integers(-128, 128, (outputs, channels, 3, 3), np.int8)
    wc = fbg.PackedConv(w, scale=np.float32(0.01), **geometry)
    assert (
        "_last"
        in fbg.prepare(wc, shape=x.shape, x_dtype=np.uint8, algorithm="flattened_rows").kernel
    )
    expected = definition(x, w, 7, geometry)
    bias = rng.integers(-1000, 1000, outputs, np.int32)
    stages = fbg.CorrectZeroPoints() >> fbg.Bias(bias) >> fbg.Requantize(20.0, 9)
    with fbg.isa.limit("avx512_vnni"):
        quantized = fbg.conv(x, wc, stages, scale=0.5, zero_point=7)
    for threads in (1, 2):
        options = {"zero_point": 7, "algorithm": "flattened_rows", "num_threads": threads}
        np.testing.assert_array_equal(fbg.conv(x, wc, **options), expected)
        np.testing.assert_array_equal(fbg.conv(x, wc, stages, scale=0.5, **options), quantized)


@pytest.mark.parametrize("shape", [(1, 1080, 1920, 64), (1, 832, 832, 128)])
def test_lines_that_do_not_stay_near_are_left_to_other_algorithms(shape):
    channels = shape[-1]
    wc = fbg.PackedConv(np.ones((channels, channels, 3, 3), np.int8), padding=1)
    found = {algorithm.name: algorithm.cost for algorithm in wc.algorithms(shape)}
    assert found.get("flattened_rows", np.inf) > found["implicit_gemm"]


def test_a_long_line_is_not_copied_for_every_tile():
    wc = fbg.PackedConv(np.ones((64, 64, 3), np.int8), padding=1)
    assert "flattened_rows" not in [algorithm.name for algorithm in wc.algorithms((1, 16000, 64))]


@pytest.mark.parametrize(
    ("size", "channels"), [((256, 256), 256), ((200, 320), 128), ((256, 256), 128)]
)
def test_wide_images_run_lines(size, channels):
    # The costs of lines and taps were nearly equal there, and lines take 12 to 18 % less time.
    wc = fbg.PackedConv(
        np.zeros((channels, channels, 3, 3), np.int8), scale=np.float32(1), padding=1
    )
    stages = fbg.CorrectZeroPoints() >> fbg.Requantize(1.0, 0)
    shape = (1, *size, channels)
    call = fbg.prepare(wc, stages, shape=shape, x_dtype=np.uint8, scale=1.0)
    assert call.algorithm == "flattened_rows"
