"""Row-blocked convolutions: few input channels for each output channel, in floating point."""

from __future__ import annotations

import numpy as np

import fbg


def test_stems_wide_groups_and_wide_kernels_choose_them():
    with fbg.isa.limit("avx2"):
        for w_shape, x_shape, geometry in (
            ((64, 3, 7, 7), (1, 112, 112, 3), {"stride": 2, "padding": 3}),
            ((256, 16, 3, 3), (1, 14, 14, 256), {"padding": 1, "groups": 16}),
            ((384, 1, 7, 7), (1, 14, 14, 384), {"padding": 3, "groups": 384}),
        ):
            wc = fbg.PackedConv(np.ones(w_shape, np.float32), dtype="float32", **geometry)
            assert fbg.prepare(wc, shape=x_shape).algorithm == "row_blocked"
