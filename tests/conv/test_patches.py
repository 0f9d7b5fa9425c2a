"""Convolutions of bytes with few input channels, whose patches are gathered for a product."""

from __future__ import annotations

import numpy as np
import pytest

import fbg

# input channels, output channels, kernel, stride, padding
SHAPES = [
    (3, 64, (7, 7), 2, 3),
    (3, 33, (3, 3), 2, 1),
    (4, 16, (5, 3), 1, 0),
    (1, 40, (3, 15), 3, 9),
    (9, 70, (2, 7), 1, 1),
    (64, 70, (1, 1), 1, 0),  # read in place
    (12, 33, (1, 1), 1, 0),
]


@pytest.mark.parametrize(("inputs", "outputs", "kernel", "stride", "padding"), SHAPES)
def test_patches_give_the_bits_of_every_other_algorithm(
    isa: str, inputs: int, outputs: int, kernel: tuple[int, int], stride: int, padding: int
) -> None:
    rng = np.random.default_rng(outputs)
    wide = rng.integers(0, 256, (2, 21, 40, inputs), np.uint8)
    w = rng.integers(-128, 128, (outputs, inputs, *kernel), np.int8)
    wc = fbg.PackedConv(w, scale=np.float32(0.01), stride=stride, padding=padding)
    bias = rng.integers(-1000, 1000, outputs, np.int32)
    stages = fbg.CorrectZeroPoints() >> fbg.Bias(bias) >> fbg.Requantize(20.0, 9)
    for x in (wide, wide[:, :, 1:-2], wide[:, ::2, ::3]):  # dense, with gaps in lines, in pixels
        names = [algorithm.name for algorithm in wc.algorithms(x.shape)]
        assert ("patches" in names) == (isa not in ("avx2", "avx512"))
        for pipeline, scale in ((None, {}), (stages, {"scale": 0.5, "zero_point": 7})):
            expected = fbg.conv(np.ascontiguousarray(x), wc, pipeline, algorithm="im2col", **scale)
            for name in names:
                y = fbg.conv(x, wc, pipeline, algorithm=name, num_threads=2, **scale)
                np.testing.assert_array_equal(y, expected, err_msg=name)
