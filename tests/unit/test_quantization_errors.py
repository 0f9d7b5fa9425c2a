"""Bad arguments of the quantization toolbox are refused with a message that names them."""

import numpy as np

from fbg.quantization import (
    HistogramObserver,
    MinMaxObserver,
    PercentileObserver,
    RowwiseMatrix,
    choose_qparams,
    choose_qparams_mse,
    dequantize,
    quantize,
    quantize_rowwise,
    requantize,
)
from helpers.quantization import F32, INF, NAN, OBSERVERS, X
from helpers.refusals import refusals

ACC = np.ones((2, 3), np.int32)
FUSED = quantize_rowwise(X).fused()


def observe(observer, *batches):
    for batch in batches:
        observer.update(batch)


@refusals(
    type_errors={
        "choose_qparams: minimum must be a real number, got <U1": lambda: choose_qparams("a", 1.0),
        "quantize: x must be an array, got list": lambda: quantize([1.0], 1.0),
        "quantize: x must be float32, float16 or bfloat16, got float64": lambda: quantize(
            X.astype(np.float64), 1.0
        ),
        "dequantize: q must be uint8, int8 or int32, got float32": lambda: dequantize(X, 1.0),
        "requantize: acc must be int32, got int64": lambda: requantize(ACC.astype(np.int64), 1.0),
        "requantize: dtype must be uint8 or int8, got int16": lambda: requantize(
            ACC, 1.0, 0, np.int16
        ),
        "choose_qparams_mse: dtype must be uint8 or int8, got int32": lambda: choose_qparams_mse(
            X, np.int32
        ),
        "PercentileObserver.update: batch must be float32, float16 or bfloat16, got float64": [
            lambda: observe(PercentileObserver(), X.astype(np.float64)),
        ],
        "PercentileObserver: percentile must be a number, got '99'": lambda: PercentileObserver(
            "99"
        ),
        "HistogramObserver.qparams: dtype must be uint8 or int8, got int16": lambda: (
            HistogramObserver().qparams(np.int16)
        ),
        "quantize_rowwise: scale_dtype must be float32 or float16, got float64": lambda: (
            quantize_rowwise(X, 8, np.float64)
        ),
        "fused must be uint8, got int8": lambda: RowwiseMatrix.from_fused(FUSED.astype(np.int8), 3),
    },
    value_errors={
        "choose_qparams: symmetric cannot be combined with preserve_sparsity": lambda: (
            choose_qparams(-1.0, 1.0, symmetric=True, preserve_sparsity=True)
        ),
        r"the same shape, got \(2,\) and \(3,\)": lambda: choose_qparams(np.zeros(2), np.ones(3)),
        "minimum and maximum must be finite and in this order": lambda: choose_qparams(
            np.zeros(2), np.array([1, np.inf])
        ),
        r"quantize: scale must broadcast to the data's shape \(2, 3\), got \(2,\)": lambda: (
            quantize(X, np.ones(2, F32))
        ),
        r"quantize: zero_point must broadcast to the data's shape \(2, 3\), got \(4, 2, 3\)": [
            lambda: quantize(X, 1.0, np.ones((4, 2, 3), int)),
        ],
        "dequantize: scale must be finite and positive": lambda: dequantize(ACC, 0.0),
        r"dequantize: zero_point must be within \[0, 255\], got -1": lambda: dequantize(
            ACC.astype(np.uint8), 1.0, -1
        ),
        "requantize: multiplier must be finite and positive, got -1.0": lambda: requantize(
            ACC, -1.0
        ),
        r"requantize: zero_point must be within \[-128, 127\], got 128": lambda: requantize(
            ACC, 1.0, 128, np.int8
        ),
        r"choose_qparams_mse: x must be finite, got (nan|-?inf) at \(\d, \d\)$": [
            lambda bad=bad: choose_qparams_mse(bad) for bad in (NAN, INF)
        ],
        r"choose_qparams_mse: axis must be within \[-2, 1\], got 2": lambda: choose_qparams_mse(
            X, axis=2
        ),
        "choose_qparams_mse: steps must be": lambda: choose_qparams_mse(X, steps=0),
        "must have been called with at least one value": [
            lambda kind=kind: OBSERVERS[kind]().qparams() for kind in OBSERVERS
        ],
        "update: batch must be finite": [
            lambda bad=bad: observe(MinMaxObserver(), bad) for bad in (NAN, INF)
        ],
        "MinMaxObserver.update: batch must have 2 channels along axis 0, got 1": lambda: observe(
            MinMaxObserver(axis=0), X, X[:1]
        ),
        r"MinMaxObserver.update: axis must be within \[-2, 1\], got 2": lambda: observe(
            MinMaxObserver(axis=2), X
        ),
        r"percentile must be within \[50, 100\]": [
            lambda p=p: PercentileObserver(p) for p in (0, 49.9, 100.1, np.nan)
        ],
        "HistogramObserver: criterion must be 'entropy' or 'mse', got 'kl'": lambda: (
            HistogramObserver("kl")
        ),
        "HistogramObserver: bins must be a power of two, got 1000": lambda: HistogramObserver(
            bins=1000
        ),
        "quantize_rowwise: bits must be 2, 4 or 8, got 3": lambda: quantize_rowwise(X, 3),
        r"x must be 2-D \(M, N\), got shape \(3,\)": lambda: quantize_rowwise(X[0]),
        "quantize_rowwise: x must be finite": lambda: quantize_rowwise(NAN),
        r"x must fit a float16 scale and bias, got row 1 within \[-100000, -100000\]": lambda: (
            quantize_rowwise(np.array([[0], [-1e5]], F32), 8, np.float16)
        ),
        "x must fit a float16 scale and bias, got row 0": lambda: quantize_rowwise(
            np.array([[0, 1e9]], F32), 8, np.float16
        ),
        "fused must have 12 bytes per row for 4 columns of 8 bits and float32, got 11": lambda: (
            RowwiseMatrix.from_fused(FUSED, 4)
        ),
        "from_fused: scale and bias of each row must be finite, got": lambda: (
            RowwiseMatrix.from_fused(np.full((1, 11), 255, np.uint8), 3)
        ),
    },
)
def test_bad_arguments_are_refused(refuse):
    refuse()
