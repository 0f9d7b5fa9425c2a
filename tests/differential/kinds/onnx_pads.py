"""Pads of ONNX files that cut and pad, by any number of elements, as NumPy computes them.

Negative pads cut first; then `numpy.pad` pads what is left, any number of times its size. Where
nothing is left, an edge is that of the axis before it was cut, and the other modes that repeat are
refused by name.
"""

from __future__ import annotations

import numpy as np

from differential.onnx_cases.draw import Draw
from fbg.errors import ModelError
from helpers.one_op import OneOp
from helpers.poison import unwritten
from helpers.random_cases import Different, Kind

MODES = ("constant", "edge", "reflect", "wrap")
NUMPY_MODES = ("reflect", "wrap")


def wanted(x, before, after, mode, fill):
    """Return the result, or None where it has no meaning."""
    sizes = [n + b + a for n, b, a in zip(x.shape, before, after, strict=True)]
    if min(sizes) <= 0:
        return None if min(sizes) < 0 else np.empty(sizes, x.dtype)
    for axis, (b, a) in enumerate(zip(before, after, strict=True)):
        extent = x.shape[axis]
        left = extent + min(b, 0) + min(a, 0)
        if left <= 0 and mode in NUMPY_MODES:
            return None
        positions = np.arange(-max(b, 0), left + max(a, 0)) - min(b, 0)
        if mode == "edge":
            x = x.take(np.clip(positions, 0, extent - 1), axis)
        elif mode == "constant":
            inside = (positions >= -min(b, 0)) & (positions < extent + min(a, 0))
            shape = [-1 if i == axis else 1 for i in range(x.ndim)]
            picked = x.take(np.clip(positions, 0, extent - 1), axis)
            x = np.where(inside.reshape(shape), picked, x.dtype.type(fill))
        elif b or a:
            cut = x.take(range(max(-b, 0), extent - max(-a, 0)), axis)
            widths = [(max(b, 0), max(a, 0)) if i == axis else (0, 0) for i in range(x.ndim)]
            x = np.pad(cut, widths, mode=mode)
    return x


def run(random):
    d = Draw(random)
    shape = tuple(random.randint(1, 6) for _ in range(random.randint(1, 4)))
    mode, dtype = d.one(MODES), d.one(("float32", "uint8", "int64"))
    # Often most axes stay as they are, so that few cases are refused.
    chance = d.one((0.1, 0.5))
    pads = [
        [random.randint(-n - 2, n + 2) if random.random() < chance else 0 for n in shape]
        for _ in ("before", "after")
    ]
    fill, x = random.randint(0, 9), d.array(dtype, shape)
    inputs = [x, np.int64(pads[0] + pads[1]), np.asarray(fill, dtype)]
    constant = frozenset({1, 2}) if d.random.random() < 0.8 else frozenset({0, 1, 2})
    case = OneOp("Pad", 19, inputs, {"mode": mode}, constant)
    case.declared = [(x.dtype, None)]
    right = wanted(x, *pads, mode, fill)
    try:
        got = unwritten(lambda: case.on_fbg(("fbg",)), str(case))[0]
    except ModelError as error:
        if right is None:
            return "refused"
        raise Different(f"{case} {pads}: {error}, wanted {right.tolist()}") from error
    if right is None:
        raise Different(f"{case} {pads}: got {got.tolist()}, wanted a refusal")
    if got.shape != right.shape or got.dtype != right.dtype or (got != right).any():
        raise Different(f"{case} {pads}: got {got.tolist()}, wanted {right.tolist()}")
    return "same"


KIND = Kind("differential.onnx_pads", run, cases=200)
