"""Single operators of ONNX files whose inputs are all known, against the same inputs in a run.

A value that is computed when a file is loaded must be what a run gives, to the bit, and so must its
type: the operator, its inputs and attributes are those of the kind `onnx_ops`, with infinities,
NaN and numbers beyond the ranges of integers among the floats. Neither shows a warning of NumPy.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from differential.kinds.onnx_ops import attempt, drawn, same, text
from differential.onnx_cases.draw import Draw
from helpers.random_cases import Different, Kind

# Operators of which onnxruntime lays out the weights if it knows them: it then adds up differently.
LAID_OUT = ("Conv", "ConvTranspose", "GRU", "Gemm", "LSTM", "MatMul", "RNN")
TINY = float(np.finfo(np.float32).tiny)
EXTREMES = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e10, -1e10, 1e-40, 300.0, -0.0])


def with_extremes(d, x):
    """Return an array with some extreme values, if it has floats."""
    if x is None or x.dtype != np.float32 or x.size == 0 or d.random.random() < 0.5:
        return x
    chosen = d.rng.random(x.shape) < 0.2
    return np.where(chosen, d.rng.choice(EXTREMES, x.shape), x).astype(np.float32)


def same_bits(a, b):
    """Whether arrays are the same but for subnormal numbers, which kernels of networks flush."""
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if a.tobytes() == b.tobytes() or a.dtype.kind not in "fV":
        return a.tobytes() == b.tobytes()
    flushed = [np.where(np.abs(x) < TINY, 0, x) for x in (a.astype(float), b.astype(float))]
    return bool(np.array_equal(*flushed, equal_nan=True))


def run(random):
    d = Draw(random)
    case = drawn(d)
    backends = d.one((None, None, None, ("onnxruntime",)))
    near = backends is not None and case.op in LAID_OUT
    # Sums in another order overflow elsewhere.
    inputs = [x if near else with_extremes(d, x) for x in case.inputs]
    # Inputs that fbg must know are bound when a plan is made: they are no constants in a run.
    fed = replace(case, inputs=inputs, constant=frozenset())
    folded = replace(fed, constant=frozenset(range(len(inputs))))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # of NumPy
        wanted, got = (attempt(lambda case=case: case.on_fbg(backends)) for case in (fed, folded))
    if isinstance(wanted, RuntimeWarning) or isinstance(got, RuntimeWarning):
        raise Different(f"{folded} {backends or ''}: folded {text(got)}, run {text(wanted)}")
    if isinstance(wanted, Exception):
        return "refused"
    if isinstance(got, Exception) or not all(
        same(a, b, case.op) if near else same_bits(a, b) for a, b in zip(got, wanted, strict=True)
    ):
        raise Different(f"{folded} {backends or ''}: folded {text(got)}, run {text(wanted)}")
    return "same"


KIND = Kind("differential.onnx_folded", run, cases=300, seconds=20)
