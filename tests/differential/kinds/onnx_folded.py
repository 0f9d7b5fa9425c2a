"""Single operators of ONNX files whose inputs are all known, against the same inputs in a run.

A value that is computed when a file is loaded must be what a run gives, to the bit, and so must its
type: the operator, its inputs and attributes are those of the kind `onnx_ops`, with infinities,
NaN and numbers beyond the ranges of integers among the floats.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np

from differential.kinds.onnx_ops import attempt, drawn, same, text
from differential.onnx_cases.draw import Array, Draw
from fbg.importers.backends.native import OPS
from helpers.random_cases import Different, Kind

EXTREMES = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e10, -1e10, 1e-40, 300.0, -0.0])


def with_extremes(d: Draw, x: Array | None) -> Array | None:
    """Return an array with some extreme values, if it has floats."""
    if x is None or x.dtype != np.float32 or x.size == 0 or d.random.random() < 0.5:
        return x
    chosen = d.rng.random(x.shape) < 0.2
    return np.where(chosen, d.rng.choice(EXTREMES, x.shape), x).astype(np.float32)


def same_bits(a: Array, b: Array) -> bool:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    return a.tobytes() == b.tobytes() or (
        a.dtype.kind in "fV"
        and bool(np.array_equal(a.astype(float), b.astype(float), equal_nan=True))
    )


def run(random: Random) -> str:
    d = Draw(random)
    case = drawn(d)
    needed = OPS["", case.op].constants if ("", case.op) in OPS else ()
    inputs = [x if i in needed else with_extremes(d, x) for i, x in enumerate(case.inputs)]
    backends = d.one((None, None, None, ("onnxruntime",)))
    # Inputs that fbg must know are bound when a plan is made: they are no constants in a run.
    fed = replace(case, inputs=inputs, constant=frozenset())
    folded = replace(fed, constant=frozenset(range(len(inputs))))
    wanted, got = (attempt(lambda case=case: case.on_fbg(backends)) for case in (fed, folded))
    if isinstance(wanted, Exception):
        return "refused"
    # onnxruntime lays out the weights of convolutions if it knows them, and adds up differently.
    near = backends is not None and "Conv" in case.op
    if isinstance(got, Exception) or not all(
        same(a, b, case.op) if near else same_bits(a, b) for a, b in zip(got, wanted, strict=True)
    ):
        raise Different(f"{folded} {backends or ''}: folded {text(got)}, run {text(wanted)}")
    return "same"


KIND = Kind("differential.onnx_folded", run, cases=300, seconds=20)
