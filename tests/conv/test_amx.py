"""Dense convolutions in int8 on AMX: which kernels compute them, and that the bits are the same."""

from __future__ import annotations

import numpy as np
import pytest

import fbg

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
