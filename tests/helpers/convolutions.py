"""Convolutions by their definition, as the tests of all algorithms expect them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def definition(x, w, pad_value, geometry):
    """Return the convolution of (N, *spatial, I) and (O, I / groups, *kernel), tap by tap."""
    axes = w.ndim - 2
    stride, dilation, groups = (geometry[k] for k in ("stride", "dilation", "groups"))
    kind = np.float64 if x.dtype == np.float32 else np.int64
    padded = np.pad(
        x.astype(kind), ((0, 0), *geometry["padding"], (0, 0)), constant_values=pad_value
    )
    kernel = w.shape[2:]
    out = [
        (padded.shape[1 + a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1
        for a in range(axes)
    ]
    inputs, outputs = w.shape[1], w.shape[0] // groups
    y = np.zeros((x.shape[0], *out, w.shape[0]), kind)
    for tap in np.ndindex(*kernel):
        window = tuple(
            slice(t * d, t * d + (o - 1) * s + 1, s)
            for t, d, o, s in zip(tap, dilation, out, stride, strict=True)
        )
        part = padded[(slice(None), *window)]
        for g in range(groups):
            weights = w[(slice(g * outputs, (g + 1) * outputs), slice(None), *tap)].astype(kind)
            channels = part[..., g * inputs : (g + 1) * inputs]
            y[..., g * outputs : (g + 1) * outputs] += channels @ weights.T
    return y
