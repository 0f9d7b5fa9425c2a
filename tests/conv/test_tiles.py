"""The tiles of convolutions on vectors of 512 bits: their shapes, and that they change no bit."""

from __future__ import annotations

import numpy as np
import pytest

import fbg

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
