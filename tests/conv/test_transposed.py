"""Transposed convolutions: what holds whatever their sums, which tests/differential compares."""

from __future__ import annotations

import numpy as np
import pytest

import fbg


def packed(w, geometry, **options):
    return fbg.PackedConv(w, transposed=True, **geometry, **options)


@pytest.mark.parametrize("kernel", [2, 4, 5])
def test_winograd_computes_parts_with_kernels_of_two_or_more(isa, kernel):
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
    expected = fbg.conv(x, wc, exact=True)
    for name in names:
        y = fbg.conv(x, wc, algorithm=name, num_threads=2)
        assert np.abs(y - expected).max() <= 1e-4 * expected.std(), name


def test_outputs_without_taps_are_zero_whatever_the_image_holds():
    x = np.full((1, 3, 3, 4), np.inf, np.float32)
    wc = fbg.PackedConv(
        np.ones((4, 5, 1, 1), np.float32), stride=2, transposed=True, dtype="float32"
    )
    y = fbg.conv(x, wc, bias=np.full(5, 2.0, np.float32))
    assert np.isinf(y[0, ::2, ::2]).all()
    np.testing.assert_array_equal(y[0, 1::2], np.full((2, 5, 5), 2.0))
    np.testing.assert_array_equal(y[0, :, 1::2], np.full((5, 2, 5), 2.0))


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize(
    ("stride", "kernel", "groups", "channels"),
    [(2, 4, 1, 24), ((1, 3), (1, 5), 1, 33), ((3, 2), (3, 3), 40, 40), (2, 3, 8, 64)],
)
def test_stages_with_an_operand_for_each_row_find_the_rows_of_every_pixel(
    isa, dtype, stride, kernel, groups, channels
):
    """Results of a tile are some rows of C apart, as are residuals and the extents of rows."""
    rng = np.random.default_rng(channels)
    height, width = (kernel, kernel) if isinstance(kernel, int) else kernel
    x = rng.standard_normal((2, 6, 11, channels), np.float32)
    w = rng.standard_normal((channels, channels // groups, height, width), np.float32)
    wc = packed(w, {"stride": stride, "padding": 0, "groups": groups}, dtype=dtype)
    first = [fbg.Dequantize()] if dtype == "int8" else []
    for algorithm in wc.algorithms(x.shape):
        plain = fbg.conv(x, wc, algorithm=algorithm.name)
        residual = rng.standard_normal((plain.size // channels, channels), np.float32)
        extents = np.empty((len(residual), 2), np.float32)
        stages = [*first, fbg.Add(residual), fbg.RowRange(extents)]
        y = fbg.conv(x, wc, stages, algorithm=algorithm.name, num_threads=2)
        rows = y.reshape(residual.shape)
        np.testing.assert_array_equal(rows, plain.reshape(residual.shape) + residual)
        np.testing.assert_array_equal(extents[:, 0], rows.min(axis=1), algorithm.name)
        np.testing.assert_array_equal(extents[:, 1], rows.max(axis=1), algorithm.name)
