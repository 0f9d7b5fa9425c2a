"""Convolutions by narrow int8 weights: exact in every algorithm, with kernels of their own."""

from __future__ import annotations

import numpy as np
import pytest

import fbg
from fbg.matmul.narrow import NARROW_LIMIT, lane_sums
from helpers.convolutions import definition

GAINS = ("avx2", "avx512")  # ISAs whose kernels tell narrow weights from others

# Channels, outputs, kernel, size, groups, stride, dilation. Runs of an odd number of k-groups, of
# fewer than are unrolled, groups, strides, kernels of one pixel, and channels that fill no k-group.
LAYERS = [
    (64, 64, (3, 3), (9, 13), 1, 1, 1),
    (4, 33, (3, 3), (7, 11), 1, 1, 1),
    (12, 40, (3, 3), (7, 6), 1, 2, 1),
    (20, 16, (5, 3), (9, 9), 1, 1, 2),
    (36, 70, (1, 1), (5, 7), 1, 1, 1),
    (64, 64, (3, 3), (6, 9), 4, 1, 1),
    (24, 8, (3, 3), (6, 9), 2, 1, 1),
    (3, 32, (7, 7), (15, 17), 1, 2, 1),
    (6, 32, (3, 3), (8, 9), 1, 1, 1),
]


def narrow_weights(rng, shape):
    w = rng.integers(0, 33, shape).astype(np.int8)
    w[::3] = 32
    w[rng.random(w.shape) < 0.5] *= -1
    w[1::3] = -32
    return w


def in_order(w):
    return np.moveaxis(w, 1, -1).reshape(w.shape[0], -1)


@pytest.mark.parametrize(
    ("channels", "outputs", "kernel", "size", "groups", "stride", "dilation"), LAYERS
)
def test_every_algorithm_is_exact(isa, channels, outputs, kernel, size, groups, stride, dilation):
    rng = np.random.default_rng(channels)
    geometry = {
        "stride": [stride] * 2,
        "dilation": [dilation] * 2,
        "padding": [[k // 2, k // 2] for k in kernel],
        "groups": groups,
    }
    w = narrow_weights(rng, (outputs, channels // groups, *kernel))
    assert lane_sums(in_order(w)).max() <= NARROW_LIMIT
    wide = w.copy()
    wide[-1] = 127
    for x in (
        rng.integers(0, 256, (2, *size, channels)).astype(np.uint8),
        np.full((2, *size, channels), 255, np.uint8),
    ):
        for weights in (w, wide):
            wc = fbg.PackedConv(weights, **geometry)
            expected = definition(x, weights, 255, geometry)
            for algorithm in wc.algorithms(x.shape):
                y = fbg.conv(x, wc, zero_point=255, algorithm=algorithm.name)
                np.testing.assert_array_equal(y, expected, err_msg=algorithm.name)


@pytest.mark.parametrize("algorithm", ["implicit_gemm", "im2col"])
def test_kernels_for_narrow_weights_are_used_for_these_alone(isa, algorithm):
    w = narrow_weights(np.random.default_rng(1), (64, 32, 3, 3))
    wide = w.copy()
    wide[5, 7, 1, 1] = 127
    wide[5, 6, 1, 1] = 127
    for weights, narrow in ((w, True), (wide, False)):
        wc = fbg.PackedConv(weights, padding=1)
        call = fbg.prepare(wc, shape=(1, 12, 12, 32), x_dtype=np.uint8, algorithm=algorithm)
        assert ("_narrow" in call.kernel) == (narrow and isa in GAINS)


def test_one_wide_group_makes_all_wide(isa):
    rng = np.random.default_rng(2)
    x = np.full((1, 6, 6, 64), 255, np.uint8)
    for wide in range(2):
        w = narrow_weights(rng, (64, 32, 3, 3))
        w[wide * 32 + 3] = -128
        geometry = {"stride": [1, 1], "dilation": [1, 1], "padding": [[1, 1]] * 2, "groups": 2}
        wc = fbg.PackedConv(w, **geometry)
        for algorithm in wc.algorithms(x.shape):
            y = fbg.conv(x, wc, algorithm=algorithm.name)
            np.testing.assert_array_equal(y, definition(x, w, 0, geometry))


@pytest.mark.parametrize("wide_phase", [False, True])
def test_phases_of_transposed_convolutions(isa, wide_phase):
    rng = np.random.default_rng(3)
    x = np.full((1, 5, 6, 16), 255, np.uint8)
    w = narrow_weights(rng, (16, 24, 4, 4))
    if wide_phase:
        w[:, :, 1, 1] = 127
    wc = fbg.PackedConv(w, stride=2, padding=1, transposed=True)
    y = fbg.conv(x, wc)
    with fbg.isa.limit("generic"):
        expected = fbg.conv(x, fbg.PackedConv(w, stride=2, padding=1, transposed=True))
    np.testing.assert_array_equal(y, expected)


def test_requantized_results_equal_those_of_portable_code(isa):
    rng = np.random.default_rng(4)
    x = rng.integers(0, 256, (2, 9, 10, 32)).astype(np.uint8)
    w = narrow_weights(rng, (48, 32, 3, 3))
    bias = rng.integers(-1000, 1000, 48, np.int32)
    stages = fbg.CorrectZeroPoints() >> fbg.Bias(bias) >> fbg.Requantize(20.0, 9)
    results = []
    for name in (isa, "generic"):
        with fbg.isa.limit(name):
            for zero_point in (0, 5):
                wc = fbg.PackedConv(w, scale=np.float32(0.01), zero_point=zero_point, padding=1)
                results.append(fbg.conv(x, wc, stages, scale=0.5, zero_point=7))
    np.testing.assert_array_equal(results[:2], results[2:])
